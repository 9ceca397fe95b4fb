//===- FakeCuda.cpp - A stand-in driver that records calls ----------------===//
//
// Just enough of libcuda: memory is host memory, streams run nothing, capture counts launches, and
// what a real driver forbids during capture is forbidden here too.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "swage/Runtime/Driver.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>

using namespace swage::cuda;

#define FAKE_API extern "C" __attribute__((visibility("default")))

struct CUctx_st {
  int device;
};
struct CUlib_st {
  std::string image;
};
struct CUkern_st {
  std::string name;
};
struct CUfunc_st {
  std::string name;
  int device;
};
struct CUgraph_st {
  std::vector<FakeLaunch> launches;
};
struct CUgraphExec_st {
  std::vector<FakeLaunch> launches;
};
struct CUgraphNode_st {};
struct CUevent_st {};
struct CUstream_st {
  int device;
  CaptureStatus capture;
  std::vector<FakeLaunch> captured;
};

/// For tools: FAKE_CUDA_FAILURE="cuGraphLaunch 700" makes that call fail with that result.
static FakeCuda fromEnvironment() {
  FakeCuda initial;
  std::string failure = std::getenv("FAKE_CUDA_FAILURE") ? std::getenv("FAKE_CUDA_FAILURE") : "";
  if (size_t space = failure.find(' '); space != std::string::npos)
    initial.failures[failure.substr(0, space)] = {std::atoi(failure.c_str() + space), -1};
  return initial;
}

// Never destroyed: threads may call a driver while the process ends.
static FakeCuda &fake = *new FakeCuda(fromEnvironment());
static std::mutex mutex;
static std::atomic<int> capturing{0};
static CUctx_st contexts[16];
static thread_local std::vector<CUctx_st *> current;
static std::map<DevicePointer, size_t> &allocations = *new std::map<DevicePointer, size_t>;

static constexpr Result kInvalidHandle = Result(400);
static constexpr Result kNotSupported = Result(801);

FAKE_API FakeCuda *fakeCuda() { return &fake; }

static void countObjects(int change) {
  std::lock_guard<std::mutex> lock(mutex);
  fake.liveObjects += change;
}

/// Records the call and gives its planned failure.
static Result record(const std::string &name, const std::string &detail = {}) {
  std::lock_guard<std::mutex> lock(mutex);
  fake.calls.push_back(detail.empty() ? name : name + " " + detail);
  if (fake.stickyError)
    return Result(fake.stickyError);
  auto planned = fake.failures.find(name);
  if (planned == fake.failures.end() || planned->second.times == 0)
    return kSuccess;
  if (planned->second.times > 0)
    --planned->second.times;
  return Result(planned->second.result);
}

/// As record, for calls that capture forbids.
static Result recordUncapturable(const std::string &name, const std::string &detail = {}) {
  Result result = record(name, detail);
  return result == kSuccess && capturing ? kStreamCaptureUnsupported : result;
}

#define FAKE_TRY(EXPRESSION)                                                                       \
  if (Result result = EXPRESSION; result != kSuccess)                                              \
    return result;

//===----------------------------------------------------------------------===//
// Driver, devices, contexts
//===----------------------------------------------------------------------===//

FAKE_API Result cuInit(unsigned) { return record("cuInit"); }

FAKE_API Result cuDriverGetVersion(int *version) {
  *version = fake.version;
  return kSuccess;
}

FAKE_API Result cuGetErrorName(Result result, const char **name) {
  switch (int(result)) {
  case 1:
    *name = "CUDA_ERROR_INVALID_VALUE";
    return kSuccess;
  case 2:
    *name = "CUDA_ERROR_OUT_OF_MEMORY";
    return kSuccess;
  case 100:
    *name = "CUDA_ERROR_NO_DEVICE";
    return kSuccess;
  case 200:
    *name = "CUDA_ERROR_INVALID_IMAGE";
    return kSuccess;
  case 500:
    *name = "CUDA_ERROR_NOT_FOUND";
    return kSuccess;
  case 700:
    *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return kSuccess;
  case 701:
    *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    return kSuccess;
  case 900:
    *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    return kSuccess;
  }
  return kInvalidValue;
}

FAKE_API Result cuGetErrorString(Result result, const char **text) {
  *text = "as the test asked";
  return kSuccess;
}

FAKE_API Result cuDeviceGetCount(int *count) {
  *count = fake.deviceCount;
  return record("cuDeviceGetCount");
}

FAKE_API Result cuDeviceGet(DeviceOrdinal *device, int ordinal) {
  *device = ordinal;
  return record("cuDeviceGet", std::to_string(ordinal));
}

FAKE_API Result cuDeviceGetName(char *name, int length, DeviceOrdinal device) {
  std::string text = "Fake GPU " + std::to_string(device);
  std::strncpy(name, text.c_str(), size_t(length));
  return record("cuDeviceGetName");
}

FAKE_API Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute, DeviceOrdinal) {
  const std::map<int, int> values = {
      {kMaxThreadsPerBlock, 1024},
      {kMaxSharedMemoryPerBlock, 49152},
      {kWarpSize, 32},
      {kMultiprocessorCount, 132},
      {kMemoryClockRate, 3201000},
      {kMemoryBusWidth, 6144},
      {kL2CacheSize, 62914560},
      {kMaxThreadsPerMultiprocessor, 2048},
      {kComputeCapabilityMajor, fake.ccMajor},
      {kComputeCapabilityMinor, fake.ccMinor},
      {kMaxSharedMemoryPerMultiprocessor, 233472},
      {kMaxRegistersPerMultiprocessor, 65536},
      {kMaxSharedMemoryPerBlockOptIn, 232448},
      {kMaxBlocksPerMultiprocessor, 32},
  };
  auto known = values.find(attribute);
  if (known == values.end())
    return kInvalidValue;
  *value = known->second;
  return record("cuDeviceGetAttribute", std::to_string(attribute));
}

FAKE_API Result cuDeviceTotalMem_v2(size_t *bytes, DeviceOrdinal) {
  *bytes = fake.memoryBytes;
  return record("cuDeviceTotalMem");
}

FAKE_API Result cuDevicePrimaryCtxRetain(ContextHandle *context, DeviceOrdinal device) {
  FAKE_TRY(record("cuDevicePrimaryCtxRetain", std::to_string(device)));
  std::lock_guard<std::mutex> lock(mutex);
  contexts[device].device = device;
  *context = &contexts[device];
  ++fake.liveObjects;
  return kSuccess;
}

FAKE_API Result cuDevicePrimaryCtxRelease_v2(DeviceOrdinal device) {
  countObjects(-1);
  return record("cuDevicePrimaryCtxRelease", std::to_string(device));
}

FAKE_API Result cuCtxGetCurrent(ContextHandle *context) {
  *context = current.empty() ? nullptr : current.back();
  return record("cuCtxGetCurrent");
}

FAKE_API Result cuCtxSetCurrent(ContextHandle context) {
  if (!current.empty())
    current.pop_back();
  current.push_back(context);
  return record("cuCtxSetCurrent");
}

FAKE_API Result cuCtxPushCurrent_v2(ContextHandle context) {
  FAKE_TRY(record("cuCtxPushCurrent"));
  current.push_back(context);
  return kSuccess;
}

FAKE_API Result cuCtxPopCurrent_v2(ContextHandle *context) {
  if (current.empty())
    return kInvalidContext;
  *context = current.back();
  current.pop_back();
  return record("cuCtxPopCurrent");
}

FAKE_API Result cuCtxSynchronize() { return recordUncapturable("cuCtxSynchronize"); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FAKE_API Result cuMemGetInfo_v2(size_t *free, size_t *total) {
  *total = fake.memoryBytes;
  *free = fake.memoryBytes - fake.allocatedBytes;
  return record("cuMemGetInfo");
}

FAKE_API Result cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) {
  FAKE_TRY(recordUncapturable("cuMemAlloc", std::to_string(bytes)));
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes > fake.memoryBytes - fake.allocatedBytes)
    return kOutOfMemory;
  *pointer = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocations[*pointer] = bytes;
  fake.allocatedBytes += bytes;
  ++fake.liveObjects;
  return kSuccess;
}

FAKE_API Result cuMemFree_v2(DevicePointer pointer) {
  FAKE_TRY(record("cuMemFree"));
  std::lock_guard<std::mutex> lock(mutex);
  auto allocation = allocations.find(pointer);
  if (allocation == allocations.end())
    return kInvalidValue;
  fake.allocatedBytes -= allocation->second;
  allocations.erase(allocation);
  std::free(reinterpret_cast<void *>(pointer));
  --fake.liveObjects;
  return kSuccess;
}

FAKE_API Result cuMemcpyHtoD_v2(DevicePointer to, const void *from, size_t bytes) {
  FAKE_TRY(recordUncapturable("cuMemcpyHtoD", std::to_string(bytes)));
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return kSuccess;
}

FAKE_API Result cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) {
  FAKE_TRY(recordUncapturable("cuMemcpyDtoH", std::to_string(bytes)));
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return kSuccess;
}

FAKE_API Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes,
                                     StreamHandle) {
  FAKE_TRY(record("cuMemcpyDtoDAsync", std::to_string(bytes)));
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return kSuccess;
}

FAKE_API Result cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, StreamHandle) {
  FAKE_TRY(record("cuMemsetD8Async", std::to_string(bytes)));
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Streams, events, graphs
//===----------------------------------------------------------------------===//

/// Null, the legacy default stream and the thread's own: of the current context.
static bool isDefault(StreamHandle stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

FAKE_API Result cuStreamCreate(StreamHandle *stream, unsigned) {
  FAKE_TRY(record("cuStreamCreate"));
  if (current.empty())
    return kInvalidContext;
  *stream = new CUstream_st{current.back()->device, kCaptureNone, {}};
  countObjects(1);
  return kSuccess;
}

FAKE_API Result cuStreamDestroy_v2(StreamHandle stream) {
  if (stream->capture != kCaptureNone)
    --capturing;
  delete stream;
  countObjects(-1);
  return record("cuStreamDestroy");
}

FAKE_API Result cuStreamSynchronize(StreamHandle) {
  return recordUncapturable("cuStreamSynchronize");
}

FAKE_API Result cuStreamBeginCapture_v2(StreamHandle stream, CaptureMode) {
  FAKE_TRY(record("cuStreamBeginCapture"));
  stream->capture = kCaptureActive;
  ++capturing;
  return kSuccess;
}

FAKE_API Result cuStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  FAKE_TRY(record("cuStreamEndCapture"));
  stream->capture = kCaptureNone;
  --capturing;
  *graph = new CUgraph_st{std::move(stream->captured)};
  stream->captured.clear();
  countObjects(1);
  return kSuccess;
}

FAKE_API Result cuStreamIsCapturing(StreamHandle stream, CaptureStatus *status) {
  *status = isDefault(stream) ? kCaptureNone : stream->capture;
  return record("cuStreamIsCapturing");
}

FAKE_API Result cuEventCreate(EventHandle *event, unsigned) {
  FAKE_TRY(record("cuEventCreate"));
  *event = new CUevent_st;
  countObjects(1);
  return kSuccess;
}

FAKE_API Result cuEventDestroy_v2(EventHandle event) {
  delete event;
  countObjects(-1);
  return record("cuEventDestroy");
}

FAKE_API Result cuEventRecord(EventHandle, StreamHandle) { return record("cuEventRecord"); }
FAKE_API Result cuEventSynchronize(EventHandle) { return record("cuEventSynchronize"); }

FAKE_API Result cuEventElapsedTime(float *milliseconds, EventHandle, EventHandle) {
  *milliseconds = 1;
  return record("cuEventElapsedTime");
}

FAKE_API Result cuGraphInstantiateWithFlags(GraphExecHandle *exec, GraphHandle graph,
                                            unsigned long long) {
  FAKE_TRY(record("cuGraphInstantiate"));
  *exec = new CUgraphExec_st{graph->launches};
  countObjects(1);
  return kSuccess;
}

FAKE_API Result cuGraphGetNodes(GraphHandle graph, CUgraphNode_st **, size_t *count) {
  *count = graph->launches.size();
  return record("cuGraphGetNodes");
}

FAKE_API Result cuGraphLaunch(GraphExecHandle exec, StreamHandle) {
  FAKE_TRY(record("cuGraphLaunch"));
  for (FakeLaunch launch : exec->launches) {
    launch.captured = false;
    fake.launches.push_back(launch);
  }
  return kSuccess;
}

FAKE_API Result cuGraphDestroy(GraphHandle graph) {
  delete graph;
  countObjects(-1);
  return record("cuGraphDestroy");
}

FAKE_API Result cuGraphExecDestroy(GraphExecHandle exec) {
  delete exec;
  countObjects(-1);
  return record("cuGraphExecDestroy");
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

#ifndef FAKE_CUDA_WITHOUT_LIBRARIES
/// An image is a C string that lists its kernels, or an ELF file, which has any kernel.
FAKE_API Result cuLibraryLoadData(LibraryHandle *library, const void *image, void *, void **,
                                  unsigned, void *, void **, unsigned) {
  FAKE_TRY(recordUncapturable("cuLibraryLoadData"));
  std::string text = static_cast<const char *>(image);
  if (text.empty())
    return kInvalidImage;
  *library = new CUlib_st{text};
  countObjects(1);
  return kSuccess;
}

FAKE_API Result cuLibraryUnload(LibraryHandle library) {
  delete library;
  countObjects(-1);
  return record("cuLibraryUnload");
}

FAKE_API Result cuLibraryGetKernel(KernelHandle *kernel, LibraryHandle library, const char *name) {
  FAKE_TRY(record("cuLibraryGetKernel", name));
  bool isElf = library->image.compare(0, 4,
                                      "\x7f"
                                      "ELF") == 0;
  if (!isElf && library->image.find(name) == std::string::npos)
    return kNotFound;
  static auto &kernels = *new std::map<std::string, CUkern_st>;
  std::lock_guard<std::mutex> lock(mutex);
  *kernel = &kernels.emplace(name, CUkern_st{name}).first->second;
  return kSuccess;
}
#endif

FAKE_API Result cuKernelGetFunction(FunctionHandle *function, KernelHandle kernel) {
  FAKE_TRY(recordUncapturable("cuKernelGetFunction", kernel->name));
  if (current.empty())
    return kInvalidContext;
  static auto &functions = *new std::map<std::pair<std::string, int>, CUfunc_st>;
  std::lock_guard<std::mutex> lock(mutex);
  int device = current.back()->device;
  *function = &functions.emplace(std::pair(kernel->name, device), CUfunc_st{kernel->name, device})
                   .first->second;
  return kSuccess;
}

FAKE_API Result cuFuncLoad(FunctionHandle function) {
  return recordUncapturable("cuFuncLoad", function->name);
}

FAKE_API Result cuKernelSetAttribute(FunctionAttribute attribute, int value, KernelHandle,
                                     DeviceOrdinal device) {
  return recordUncapturable("cuKernelSetAttribute", std::to_string(attribute) + "=" +
                                                        std::to_string(value) + " on " +
                                                        std::to_string(device));
}

FAKE_API Result cuKernelGetParamInfo(KernelHandle, size_t index, size_t *offset, size_t *bytes) {
  if (!fake.knowsParameters)
    return kNotSupported;
  // As the real one does.
  if (current.empty())
    return kInvalidContext;
  if (index >= fake.parameterSizes.size())
    return kInvalidValue;
  *offset = 0;
  *bytes = fake.parameterSizes[index];
  return record("cuKernelGetParamInfo");
}

FAKE_API Result cuTensorMapEncodeTiled(TensorMap *map, TensorMapElement element, uint32_t rank,
                                       void *address, const uint64_t *extents,
                                       const uint64_t *strides, const uint32_t *box,
                                       const uint32_t *, TensorMapInterleave,
                                       TensorMapSwizzle swizzle, TensorMapPromotion,
                                       TensorMapFill) {
  FAKE_TRY(record("cuTensorMapEncodeTiled", std::to_string(rank)));
  FakeTensorMap content = {};
  if (rank < 1 || rank > 5)
    return kInvalidValue;
  content.address = address;
  std::copy_n(extents, rank, content.extents);
  std::copy_n(strides, rank - 1, content.strides);
  std::copy_n(box, rank, content.box);
  content.element = uint8_t(element);
  content.rank = uint8_t(rank);
  content.swizzle = uint8_t(swizzle);
  static_assert(sizeof content <= sizeof *map);
  std::memcpy(map, &content, sizeof content);
  return kSuccess;
}

FAKE_API Result cuTensorMapReplaceAddress(TensorMap *map, void *address) {
  FAKE_TRY(record("cuTensorMapReplaceAddress"));
  // As the real one does.
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0 || reinterpret_cast<uintptr_t>(address) % 16 != 0)
    return kInvalidValue;
  std::memcpy(map, &address, sizeof address);
  return kSuccess;
}

static Result addLaunch(FakeLaunch launch, FunctionHandle function, StreamHandle stream,
                        void **parameters) {
  if (isDefault(stream) ? current.empty() || current.back()->device != function->device
                        : stream->device != function->device)
    return isDefault(stream) ? kInvalidContext : kInvalidHandle;
  launch.kernel = function->name;
  launch.device = function->device;
  launch.stream = stream;
  for (size_t i = 0; i < fake.parameterSizes.size(); ++i)
    launch.parameters.emplace_back(static_cast<const char *>(parameters[i]),
                                   fake.parameterSizes[i]);
  launch.captured = !isDefault(stream) && stream->capture == kCaptureActive;
  std::lock_guard<std::mutex> lock(mutex);
  (launch.captured ? stream->captured : fake.launches).push_back(launch);
  return kSuccess;
}

FAKE_API Result cuLaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY,
                               unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                               unsigned sharedBytes, StreamHandle stream, void **parameters,
                               void **) {
  FAKE_TRY(record("cuLaunchKernel", function->name));
  FakeLaunch launch;
  const unsigned grid[3] = {gridX, gridY, gridZ}, block[3] = {blockX, blockY, blockZ};
  std::copy(grid, grid + 3, launch.grid);
  std::copy(block, block + 3, launch.block);
  launch.sharedBytes = sharedBytes;
  return addLaunch(std::move(launch), function, stream, parameters);
}

FAKE_API Result cuLaunchKernelEx(const LaunchConfig *config, FunctionHandle function,
                                 void **parameters, void **) {
  FAKE_TRY(record("cuLaunchKernelEx", function->name));
  FakeLaunch launch;
  std::copy(config->grid, config->grid + 3, launch.grid);
  std::copy(config->block, config->block + 3, launch.block);
  launch.sharedBytes = config->sharedBytes;
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (config->attributes[i].id == LaunchAttribute::kClusterDimension)
      launch.cluster = config->attributes[i].cluster[0];
    else if (config->attributes[i].id == LaunchAttribute::kProgrammaticStreamSerialization)
      launch.overlap = config->attributes[i].isAllowed != 0;
    else
      return kInvalidValue;
  return addLaunch(std::move(launch), function, config->stream, parameters);
}

FAKE_API Result cuOccupancyMaxActiveClusters(int *clusters, FunctionHandle function,
                                             const LaunchConfig *config) {
  FAKE_TRY(record("cuOccupancyMaxActiveClusters", function->name));
  // As the real one does.
  if (current.empty())
    return kInvalidContext;
  *clusters = config->attributes[0].cluster[0] <= fake.largestCluster ? 132 : 0;
  return kSuccess;
}

// The declarations that Swage uses are the ones that are implemented here.
#ifndef FAKE_CUDA_WITHOUT_LIBRARIES
#define SWAGE_DRIVER_FUNCTION(NAME, PARAMETERS)                                                    \
  static_assert(std::is_same_v<decltype(&NAME), decltype(Driver::NAME)>);
SWAGE_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)
SWAGE_OPTIONAL_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)
#undef SWAGE_DRIVER_FUNCTION
#endif
