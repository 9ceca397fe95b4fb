//===- SimulatorStreams.cpp - Memory, streams and graphs of the simulator -===//
//
// Work runs before the call returns, or is kept where its stream captures.
//
//===----------------------------------------------------------------------===//
#include "SimulatorObjects.h"

#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;
using namespace swage::cuda;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static char *hostPointer(DevicePointer pointer) { return reinterpret_cast<char *>(pointer); }

static Result memoryInfo(size_t *free, size_t *total) {
  if (!currentDevice())
    return kInvalidContext;
  *total = size_t(currentDevice()->properties.memoryBytes);
  *free = std::min<size_t>(*total, GlobalMemory::available());
  return kSuccess;
}

static Result allocate(DevicePointer *pointer, size_t bytes) {
  if (bytes == 0)
    return kInvalidValue;
  char *begin = global().memory.allocate(bytes);
  *pointer = reinterpret_cast<DevicePointer>(begin);
  return begin ? kSuccess : kOutOfMemory;
}

static Result release(DevicePointer pointer) {
  return global().memory.free(hostPointer(pointer)) ? kSuccess : kInvalidValue;
}

static Result checkRange(const char *call, DevicePointer begin, size_t bytes) {
  if (global().memory.holds(hostPointer(begin), bytes))
    return kSuccess;
  return fail(kInvalidValue, fmt::format("{}: {} bytes at {:#x} do not lie in one allocation", call,
                                         bytes, begin));
}

static Result copyToDevice(DevicePointer to, const void *from, size_t bytes) {
  Result result = checkRange("cuMemcpyHtoD", to, bytes);
  if (result == kSuccess)
    std::memcpy(hostPointer(to), from, bytes);
  return result;
}

static Result copyToHost(void *to, DevicePointer from, size_t bytes) {
  Result result = checkRange("cuMemcpyDtoH", from, bytes);
  if (result == kSuccess)
    std::memcpy(to, hostPointer(from), bytes);
  return result;
}

Result swage::simt::put(StreamHandle stream, Operation operation) {
  if (!stream || stream->capture == kCaptureNone)
    return operation();
  stream->captured.push_back(std::move(operation));
  return kSuccess;
}

static Result copyOnDevice(DevicePointer to, DevicePointer from, size_t bytes,
                           StreamHandle stream) {
  return put(stream, [=] {
    Result result = checkRange("cuMemcpyDtoDAsync", to, bytes);
    if (result == kSuccess)
      result = checkRange("cuMemcpyDtoDAsync", from, bytes);
    if (result == kSuccess)
      std::memcpy(hostPointer(to), hostPointer(from), bytes);
    return result;
  });
}

static Result fillMemory(DevicePointer to, unsigned char value, size_t bytes, StreamHandle stream) {
  return put(stream, [=] {
    Result result = checkRange("cuMemsetD8Async", to, bytes);
    if (result == kSuccess)
      std::memset(hostPointer(to), value, bytes);
    return result;
  });
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

static Result createStream(StreamHandle *stream, unsigned) {
  if (!currentDevice())
    return kInvalidContext;
  *stream = new CUstream_st{currentDevice(), kCaptureNone, {}};
  return kSuccess;
}

static Result destroyStream(StreamHandle stream) {
  delete stream;
  return kSuccess;
}

static Result synchronizeStream(StreamHandle stream) {
  return stream && stream->capture != kCaptureNone ? kStreamCaptureUnsupported : kSuccess;
}

static Result beginCapture(StreamHandle stream, CaptureMode) {
  if (!stream || stream->capture != kCaptureNone)
    return kInvalidValue;
  stream->capture = kCaptureActive;
  return kSuccess;
}

static Result endCapture(StreamHandle stream, GraphHandle *graph) {
  if (!stream || stream->capture == kCaptureNone)
    return kInvalidValue;
  stream->capture = kCaptureNone;
  *graph = new CUgraph_st{std::exchange(stream->captured, {})};
  return kSuccess;
}

static Result isCapturing(StreamHandle stream, CaptureStatus *status) {
  *status = stream ? stream->capture : kCaptureNone;
  return kSuccess;
}

static Result createEvent(EventHandle *event, unsigned) {
  *event = new CUevent_st{std::chrono::steady_clock::now()};
  return kSuccess;
}

static Result destroyEvent(EventHandle event) {
  delete event;
  return kSuccess;
}

static Result recordEvent(EventHandle event, StreamHandle stream) {
  return put(stream, [=] {
    event->time = std::chrono::steady_clock::now();
    return kSuccess;
  });
}

static Result synchronizeEvent(EventHandle) { return kSuccess; }

static Result elapsedTime(float *milliseconds, EventHandle from, EventHandle to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return kSuccess;
}

static Result instantiateGraph(GraphExecHandle *exec, GraphHandle graph, unsigned long long) {
  *exec = new CUgraphExec_st{graph->operations};
  return kSuccess;
}

static Result graphNodes(GraphHandle graph, CUgraphNode_st **nodes, size_t *count) {
  if (nodes)
    return fail(kNotSupported, "cuGraphGetNodes: the simulator only counts nodes");
  *count = graph->operations.size();
  return kSuccess;
}

static Result launchGraph(GraphExecHandle exec, StreamHandle stream) {
  for (const Operation &operation : exec->operations)
    if (Result result = put(stream, operation); result != kSuccess)
      return result;
  return kSuccess;
}

static Result destroyGraph(GraphHandle graph) {
  delete graph;
  return kSuccess;
}

static Result destroyGraphExec(GraphExecHandle exec) {
  delete exec;
  return kSuccess;
}

void swage::simt::addStreamFunctions(Driver &driver) {
  driver.cuMemGetInfo_v2 = memoryInfo;
  driver.cuMemAlloc_v2 = allocate;
  driver.cuMemFree_v2 = release;
  driver.cuMemcpyHtoD_v2 = copyToDevice;
  driver.cuMemcpyDtoH_v2 = copyToHost;
  driver.cuMemcpyDtoDAsync_v2 = copyOnDevice;
  driver.cuMemsetD8Async = fillMemory;
  driver.cuStreamCreate = createStream;
  driver.cuStreamDestroy_v2 = destroyStream;
  driver.cuStreamSynchronize = synchronizeStream;
  driver.cuStreamBeginCapture_v2 = beginCapture;
  driver.cuStreamEndCapture = endCapture;
  driver.cuStreamIsCapturing = isCapturing;
  driver.cuEventCreate = createEvent;
  driver.cuEventDestroy_v2 = destroyEvent;
  driver.cuEventRecord = recordEvent;
  driver.cuEventSynchronize = synchronizeEvent;
  driver.cuEventElapsedTime = elapsedTime;
  driver.cuGraphInstantiateWithFlags = instantiateGraph;
  driver.cuGraphGetNodes = graphNodes;
  driver.cuGraphLaunch = launchGraph;
  driver.cuGraphDestroy = destroyGraph;
  driver.cuGraphExecDestroy = destroyGraphExec;
}
