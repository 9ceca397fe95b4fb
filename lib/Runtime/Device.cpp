//===- Device.cpp - A GPU, its memory, streams and graphs -----------------===//
//
// The primary context is retained, never created: whatever else uses CUDA in this process shares it
// with us.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/Device.h"

#include "Process.h"

#include <atomic>
#include <fmt/format.h>
#include <mutex>

using namespace swage;
using namespace swage::cuda;

struct Device::State {
  std::shared_ptr<const Driver> driver;
  int ordinal = 0;
  DeviceOrdinal handle = 0;
  ContextHandle context = nullptr;
  DeviceProperties properties;
  const unsigned generation = processGeneration();
  mutable std::atomic<bool> hasFailed{false};
  mutable std::mutex mutex;
  mutable Error firstFailure; ///< set once, before hasFailed

  // At process exit the driver may be gone already (kDeinitialized); then there is nothing to
  // release.
  ~State() {
    if (context && generation == processGeneration())
      (void)driver->cuDevicePrimaryCtxRelease_v2(handle);
  }
};

ScopedContext::ScopedContext(const Device &device)
    : driver(device.driver()), outcome(device.health()) {
  if (outcome)
    outcome =
        device.check(Stage::Load, "cuCtxPushCurrent", driver.cuCtxPushCurrent_v2(device.context()));
}

ScopedContext::~ScopedContext() {
  ContextHandle popped = nullptr;
  if (outcome)
    (void)driver.cuCtxPopCurrent_v2(&popped);
}

/// One driver call with the device's context current.
template <class Call>
static Status inContext(const Device &device, Stage stage, const char *name, Call call) {
  ScopedContext scope(device);
  if (!scope.status())
    return scope.status();
  return device.check(stage, name, call(device.driver()));
}

/// Whether the driver returns this result for ever after: the context is lost with all it holds.
static bool isSticky(Result result) {
  switch (int(result)) {
  case 214: // ECC error that could not be corrected
  case 220: // NVLink error
  case kIllegalAddress:
  case 702: // launch timeout
  case 709: // context destroyed
  case 710: // assertion in a kernel
  case 714: // hardware stack error
  case 715: // illegal instruction
  case 716: // misaligned address
  case 717: // invalid address space
  case 718: // invalid program counter
  case kLaunchFailed:
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

static Status queryProperties(const Driver &driver, DeviceOrdinal handle,
                              DeviceProperties &properties) {
  char name[256] = {};
  if (Status status = driver.check(Stage::Load, "cuDeviceGetName",
                                   driver.cuDeviceGetName(name, sizeof name - 1, handle));
      !status)
    return status;
  properties.name = name;

  int l2Bytes = 0, memoryClock = 0, busWidth = 0;
  const struct {
    DeviceAttribute attribute;
    int &value;
  } wanted[] = {
      {kComputeCapabilityMajor, properties.ccMajor},
      {kComputeCapabilityMinor, properties.ccMinor},
      {kMultiprocessorCount, properties.smCount},
      {kWarpSize, properties.warpSize},
      {kMaxThreadsPerBlock, properties.maxThreadsPerBlock},
      {kMaxThreadsPerMultiprocessor, properties.maxThreadsPerSm},
      {kMaxBlocksPerMultiprocessor, properties.maxBlocksPerSm},
      {kMaxRegistersPerMultiprocessor, properties.registersPerSm},
      {kMaxSharedMemoryPerMultiprocessor, properties.sharedBytesPerSm},
      {kMaxSharedMemoryPerBlock, properties.sharedBytesPerBlock},
      {kMaxSharedMemoryPerBlockOptIn, properties.sharedBytesPerBlockOptIn},
      {kL2CacheSize, l2Bytes},
      {kMemoryClockRate, memoryClock},
      {kMemoryBusWidth, busWidth},
  };
  for (const auto &row : wanted)
    if (Status status =
            driver.check(Stage::Load, "cuDeviceGetAttribute",
                         driver.cuDeviceGetAttribute(&row.value, row.attribute, handle));
        !status)
      return status;
  size_t memoryBytes = 0;
  if (Status status = driver.check(Stage::Load, "cuDeviceTotalMem",
                                   driver.cuDeviceTotalMem_v2(&memoryBytes, handle));
      !status)
    return status;

  properties.arch = archForComputeCapability(properties.ccMajor, properties.ccMinor);
  properties.l2Bytes = l2Bytes;
  properties.memoryBytes = int64_t(memoryBytes);
  // Kilohertz, two transfers per clock, bits to bytes.
  properties.memoryBandwidth = memoryClock * 1e3 * 2 * busWidth / 8;
  return {};
}

Expected<Device> Device::open(int ordinal) {
  Expected<std::shared_ptr<const Driver>> driver = Driver::get();
  if (!driver)
    return driver.takeError();
  return open(*driver, ordinal);
}

Expected<Device> Device::open(std::shared_ptr<const Driver> driver, int ordinal) {
  Expected<int> count = driver->deviceCount();
  if (!count)
    return count.takeError();
  if (ordinal < 0 || ordinal >= *count)
    return makeError(
        Stage::Load,
        fmt::format("there is no CUDA device {}; found {}, numbered from 0", ordinal, *count));
  auto state = std::make_shared<State>();
  state->driver = std::move(driver);
  state->ordinal = ordinal;
  const Driver &cuda = *state->driver;
  Status status = cuda.check(Stage::Load, "cuDeviceGet", cuda.cuDeviceGet(&state->handle, ordinal));
  if (status)
    status = queryProperties(cuda, state->handle, state->properties);
  if (status)
    status = cuda.check(Stage::Load, "cuDevicePrimaryCtxRetain",
                        cuda.cuDevicePrimaryCtxRetain(&state->context, state->handle));
  if (!status)
    return status.takeError();
  return Device(std::move(state));
}

int Device::ordinal() const { return state->ordinal; }
const DeviceProperties &Device::properties() const { return state->properties; }
const Driver &Device::driver() const { return *state->driver; }
const std::shared_ptr<const Driver> &Device::sharedDriver() const { return state->driver; }
DeviceOrdinal Device::handle() const { return state->handle; }
ContextHandle Device::context() const { return state->context; }

bool Device::isOwn() const { return state->generation == processGeneration(); }

bool Device::isHealthy() const {
  return !state->hasFailed.load(std::memory_order_relaxed) && isOwn();
}

Status Device::health() const {
  if (isHealthy())
    return {};
  if (!isOwn())
    return makeError(Stage::Input,
                     fmt::format("device {} was opened before this process was forked; CUDA cannot "
                                 "be used in the child: start processes with exec instead",
                                 ordinal()));
  std::lock_guard<std::mutex> lock(state->mutex);
  return state->firstFailure;
}

Status Device::check(Stage stage, const char *call, Result result, const std::string &doing) const {
  if (result == kSuccess)
    return {};
  Error error = driver().failure(stage, call, result);
  if (!doing.empty())
    error.message = doing + ": " + error.message;
  // The simulator gives up a launch, never a device.
  if (!isSticky(result) || driver().isSimulator())
    return error;
  std::lock_guard<std::mutex> lock(state->mutex);
  if (!state->hasFailed.load(std::memory_order_relaxed)) {
    state->firstFailure = error;
    state->firstFailure.message = fmt::format("device {} cannot be used since an earlier error: {}",
                                              ordinal(), error.message);
    state->hasFailed.store(true, std::memory_order_relaxed);
  }
  return error;
}

Status Device::makeCurrent() const {
  if (!isHealthy())
    return health();
  return check(Stage::Load, "cuCtxSetCurrent", driver().cuCtxSetCurrent(context()));
}

Status Device::synchronize() const {
  return inContext(*this, Stage::Run, "cuCtxSynchronize",
                   [](const Driver &cuda) { return cuda.cuCtxSynchronize(); });
}

Expected<bool> Device::isCapturing(StreamHandle stream) const {
  ScopedContext scope(*this);
  if (!scope.status())
    return scope.status().error();
  CaptureStatus capture = kCaptureNone;
  Result result = driver().cuStreamIsCapturing(stream, &capture);
  // Of the null stream while another one captures in a mode that forbids its use.
  if (result == kStreamCaptureImplicit)
    return true;
  if (Status asked = check(Stage::Launch, "cuStreamIsCapturing", result); !asked)
    return asked.takeError();
  return capture != kCaptureNone;
}

Expected<Buffer> Device::allocate(size_t bytes) const {
  DevicePointer pointer = 0;
  Status status = inContext(*this, Stage::Run, "cuMemAlloc", [&](const Driver &cuda) {
    return bytes ? cuda.cuMemAlloc_v2(&pointer, bytes) : kSuccess;
  });
  if (!status) {
    Error error = status.takeError();
    error.message +=
        fmt::format("; {} bytes asked for on device {} ({})", bytes, ordinal(), properties().name);
    return error;
  }
  return Buffer(*this, pointer, bytes);
}

Expected<Stream> Device::createStream() const {
  StreamHandle stream = nullptr;
  // Not the non-blocking kind: plain copies, which use the null stream, stay ordered with it.
  Status status = inContext(*this, Stage::Load, "cuStreamCreate",
                            [&](const Driver &cuda) { return cuda.cuStreamCreate(&stream, 0); });
  if (!status)
    return status.takeError();
  return Stream(*this, stream);
}

Expected<Event> Device::createEvent(bool timing) const {
  EventHandle event = nullptr;
  Status status = inContext(*this, Stage::Load, "cuEventCreate", [&](const Driver &cuda) {
    return cuda.cuEventCreate(&event, timing ? kEventDefault : kEventDisableTiming);
  });
  if (!status)
    return status.takeError();
  return Event(*this, event);
}

Expected<size_t> Device::freeMemory() const {
  size_t free = 0, total = 0;
  Status status = inContext(*this, Stage::Run, "cuMemGetInfo", [&](const Driver &cuda) {
    return cuda.cuMemGetInfo_v2(&free, &total);
  });
  if (!status)
    return status.takeError();
  return free;
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

/// Whether [offset, offset + count) lies within the buffer.
static Status checkRange(const Buffer &buffer, const char *verb, size_t count, size_t offset) {
  if (offset <= buffer.size() && count <= buffer.size() - offset)
    return {};
  return makeError(Stage::Input,
                   fmt::format("cannot {} {} bytes at offset {}: the buffer has {} bytes", verb,
                               count, offset, buffer.size()));
}

Status Buffer::copyFrom(const void *host, size_t count, size_t offset) {
  if (Status range = checkRange(*this, "write", count, offset); !range || count == 0)
    return range;
  return inContext(device, Stage::Run, "cuMemcpyHtoD", [&](const Driver &cuda) {
    return cuda.cuMemcpyHtoD_v2(handle() + offset, host, count);
  });
}

Status Buffer::copyTo(void *host, size_t count, size_t offset) const {
  if (Status range = checkRange(*this, "read", count, offset); !range || count == 0)
    return range;
  return inContext(device, Stage::Run, "cuMemcpyDtoH", [&](const Driver &cuda) {
    return cuda.cuMemcpyDtoH_v2(host, handle() + offset, count);
  });
}

Status Buffer::fill(unsigned char value, StreamHandle stream) {
  return inContext(device, Stage::Run, "cuMemsetD8Async", [&](const Driver &cuda) {
    return bytes ? cuda.cuMemsetD8Async(handle(), value, bytes, stream) : kSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Event, Graph, Stream
//===----------------------------------------------------------------------===//

Status Event::record(StreamHandle stream) {
  return inContext(device, Stage::Run, "cuEventRecord",
                   [&](const Driver &cuda) { return cuda.cuEventRecord(handle(), stream); });
}

Status Event::synchronize() const {
  return inContext(device, Stage::Run, "cuEventSynchronize",
                   [&](const Driver &cuda) { return cuda.cuEventSynchronize(handle()); });
}

Expected<float> Event::elapsedSince(const Event &start) const {
  float milliseconds = 0;
  Status status = inContext(device, Stage::Run, "cuEventElapsedTime", [&](const Driver &cuda) {
    return cuda.cuEventElapsedTime(&milliseconds, start.handle(), handle());
  });
  if (!status)
    return status.takeError();
  return milliseconds;
}

Status GraphExec::launch(StreamHandle stream) const {
  return inContext(device, Stage::Launch, "cuGraphLaunch",
                   [&](const Driver &cuda) { return cuda.cuGraphLaunch(handle(), stream); });
}

Expected<size_t> Graph::nodeCount() const {
  size_t count = 0;
  Status status = inContext(device, Stage::Run, "cuGraphGetNodes", [&](const Driver &cuda) {
    return cuda.cuGraphGetNodes(handle(), nullptr, &count);
  });
  if (!status)
    return status.takeError();
  return count;
}

Expected<GraphExec> Graph::instantiate() const {
  GraphExecHandle exec = nullptr;
  Status status = inContext(device, Stage::Launch, "cuGraphInstantiate", [&](const Driver &cuda) {
    return cuda.cuGraphInstantiateWithFlags(&exec, handle(), 0);
  });
  if (!status)
    return status.takeError();
  return GraphExec(device, exec);
}

Status Stream::synchronize() const {
  return inContext(device, Stage::Run, "cuStreamSynchronize",
                   [&](const Driver &cuda) { return cuda.cuStreamSynchronize(handle()); });
}

Status Stream::beginCapture() {
  return inContext(device, Stage::Launch, "cuStreamBeginCapture", [&](const Driver &cuda) {
    return cuda.cuStreamBeginCapture_v2(handle(), kCaptureThreadLocal);
  });
}

Expected<Graph> Stream::endCapture() {
  GraphHandle graph = nullptr;
  Status status = inContext(device, Stage::Launch, "cuStreamEndCapture", [&](const Driver &cuda) {
    return cuda.cuStreamEndCapture(handle(), &graph);
  });
  if (!status)
    return status.takeError();
  return Graph(device, graph);
}

Expected<bool> Stream::isCapturing() const { return device.isCapturing(handle()); }
