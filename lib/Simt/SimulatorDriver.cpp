//===- SimulatorDriver.cpp - The driver's functions, by the simulator -----===//
//
// Launches run before the call returns, or are kept where their stream captures. A failed call
// leaves a text that Driver::failure takes: a finding's report, or what the simulator does not do.
//
//===----------------------------------------------------------------------===//
#include "SimulatorDriver.h"
#include "GlobalMemory.h"
#include "HostCompiler.h"
#include "swage/Simt/Simulator.h"

#include <chrono>
#include <cstring>
#include <deque>
#include <elf.h>
#include <fmt/format.h>
#include <functional>

using namespace swage;
using namespace swage::simt;
using namespace swage::cuda;

namespace {
struct SimulatedDevice;

/// The values of a launch's parameters, each aligned as any type may ask.
class Arguments {
public:
  Arguments(const KernelInfo &kernel, void *const *values);
  void *const *get() const { return pointers.data(); }

private:
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines;
  std::vector<void *> pointers;
};

/// Work on a stream.
using Operation = std::function<Result()>;
} // namespace

struct CUctx_st {
  SimulatedDevice *device;
};
struct CUfunc_st {
  CUkern_st *kernel;
  SimulatedDevice *device;
};
struct CUkern_st {
  std::shared_ptr<Module> module;
  const KernelInfo *info;
  unsigned dynamicSharedLimit;
  std::deque<CUfunc_st> functions; ///< one for each device that asked
};
struct CUlib_st {
  std::shared_ptr<Module> module;
  std::deque<CUkern_st> kernels;
};
struct CUstream_st {
  SimulatedDevice *device;
  CaptureStatus capture = kCaptureNone;
  std::vector<Operation> captured;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};
struct CUgraph_st {
  std::vector<Operation> operations;
};
struct CUgraphExec_st {
  std::vector<Operation> operations;
};

namespace {
struct SimulatedDevice {
  int number;
  SimulatorOptions options;
  DeviceProperties properties;
  CUctx_st context;
};

/// What the whole process shares; never destroyed, as buffers may be freed until its end.
struct Global {
  std::mutex mutex; ///< of devices, and of the kernels and functions of libraries
  std::deque<SimulatedDevice> devices;
  GlobalMemory memory;
};
} // namespace

static Global &global() {
  static auto *instance = new Global;
  return *instance;
}

static thread_local std::vector<ContextHandle> contexts;
static thread_local std::string report;

static std::string takeReport() { return std::exchange(report, std::string()); }

/// A result with what there is to say about it.
static Result fail(Result result, std::string text) {
  report = std::move(text);
  return result;
}

static constexpr Result kNotSupported = Result(801);
static constexpr unsigned kUsualDynamicShared = 48 << 10;

//===----------------------------------------------------------------------===//
// Driver, devices, contexts
//===----------------------------------------------------------------------===//

static Result init(unsigned) { return kSuccess; }

static Result driverVersion(int *version) {
  *version = simulatorDriver()->version();
  return kSuccess;
}

static Result errorName(Result result, const char **name) {
  *name = "simulator";
  return kSuccess;
}

static Result errorString(Result result, const char **text) {
  switch (int(result)) {
  case kInvalidValue:
    *text = "a value that the call cannot take";
    return kSuccess;
  case kOutOfMemory:
    *text = "the host is out of memory";
    return kSuccess;
  case kInvalidContext:
    *text = "no context is current on this thread";
    return kSuccess;
  case kNotFound:
    *text = "there is no kernel of this name";
    return kSuccess;
  case kStreamCaptureUnsupported:
    *text = "not while a stream captures";
    return kSuccess;
  }
  *text = "the simulator does not do this";
  return kSuccess;
}

static Result deviceCount(int *count) {
  std::lock_guard<std::mutex> lock(global().mutex);
  *count = int(global().devices.size());
  return kSuccess;
}

static Result getDevice(DeviceOrdinal *device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}

static SimulatedDevice &deviceAt(DeviceOrdinal number) {
  std::lock_guard<std::mutex> lock(global().mutex);
  return global().devices[size_t(number)];
}

static Result deviceName(char *name, int length, DeviceOrdinal number) {
  std::string text = "simulator of " + deviceAt(number).properties.name;
  std::strncpy(name, text.c_str(), size_t(length));
  return kSuccess;
}

static Result deviceAttribute(int *value, DeviceAttribute attribute, DeviceOrdinal number) {
  const DeviceProperties &properties = deviceAt(number).properties;
  switch (attribute) {
  case kMaxThreadsPerBlock:
    *value = properties.maxThreadsPerBlock;
    return kSuccess;
  case kMaxSharedMemoryPerBlock:
    *value = properties.sharedBytesPerBlock;
    return kSuccess;
  case kWarpSize:
    *value = properties.warpSize;
    return kSuccess;
  case kMultiprocessorCount:
    *value = properties.smCount;
    return kSuccess;
  case kMemoryClockRate: // with the width below, the product that the bandwidth is made of
    *value = int(properties.memoryBandwidth / (2e3 * 1024 / 8));
    return kSuccess;
  case kMemoryBusWidth:
    *value = 1024;
    return kSuccess;
  case kL2CacheSize:
    *value = int(properties.l2Bytes);
    return kSuccess;
  case kMaxThreadsPerMultiprocessor:
    *value = properties.maxThreadsPerSm;
    return kSuccess;
  case kComputeCapabilityMajor:
    *value = properties.ccMajor;
    return kSuccess;
  case kComputeCapabilityMinor:
    *value = properties.ccMinor;
    return kSuccess;
  case kMaxSharedMemoryPerMultiprocessor:
    *value = properties.sharedBytesPerSm;
    return kSuccess;
  case kMaxRegistersPerMultiprocessor:
    *value = properties.registersPerSm;
    return kSuccess;
  case kMaxSharedMemoryPerBlockOptIn:
    *value = properties.sharedBytesPerBlockOptIn;
    return kSuccess;
  case kMaxBlocksPerMultiprocessor:
    *value = properties.maxBlocksPerSm;
    return kSuccess;
  }
  return kInvalidValue;
}

static Result totalMemory(size_t *bytes, DeviceOrdinal number) {
  *bytes = size_t(deviceAt(number).properties.memoryBytes);
  return kSuccess;
}

static Result retainContext(ContextHandle *context, DeviceOrdinal number) {
  *context = &deviceAt(number).context;
  return kSuccess;
}

static Result releaseContext(DeviceOrdinal) { return kSuccess; }

static Result currentContext(ContextHandle *context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return kSuccess;
}

static Result setContext(ContextHandle context) {
  if (!contexts.empty())
    contexts.pop_back();
  contexts.push_back(context);
  return kSuccess;
}

static Result pushContext(ContextHandle context) {
  contexts.push_back(context);
  return kSuccess;
}

static Result popContext(ContextHandle *context) {
  if (contexts.empty())
    return kInvalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return kSuccess;
}

static Result synchronizeContext() { return kSuccess; }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static char *hostPointer(DevicePointer pointer) { return reinterpret_cast<char *>(pointer); }

static Result memoryInfo(size_t *free, size_t *total) {
  if (contexts.empty() || !contexts.back())
    return kInvalidContext;
  *total = size_t(contexts.back()->device->properties.memoryBytes);
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

/// Does it now, or keeps it where the stream captures.
static Result put(StreamHandle stream, Operation operation) {
  if (!stream || stream->capture == kCaptureNone)
    return operation();
  stream->captured.push_back(std::move(operation));
  return kSuccess;
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
  if (contexts.empty() || !contexts.back())
    return kInvalidContext;
  *stream = new CUstream_st{contexts.back()->device, kCaptureNone, {}};
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

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// The size of an ELF file: it ends with a section, a segment or its table of sections.
static uint64_t elfBytes(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, EI_NIDENT);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  std::memcpy(&header, image, sizeof header);
  const char *bytes = static_cast<const char *>(image);
  uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + uint64_t(i) * header.e_shentsize,
                sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = std::max<uint64_t>(end, section.sh_offset + section.sh_size);
  }
  return end;
}

static Result loadLibrary(LibraryHandle *library, const void *image, void *, void **, unsigned,
                          void *, void **, unsigned) {
  uint64_t bytes = elfBytes(image);
  if (bytes == 0)
    return fail(kInvalidImage, "cuLibraryLoadData: not a module for the simulator");
  auto module = Module::load({static_cast<const char *>(image), bytes});
  if (!module)
    return fail(kInvalidImage, module.error().message);
  *library = new CUlib_st{*module, {}};
  return kSuccess;
}

static Result unloadLibrary(LibraryHandle library) {
  delete library;
  return kSuccess;
}

static Result getKernel(KernelHandle *kernel, LibraryHandle library, const char *name) {
  const KernelInfo *info = library->module->find(name);
  if (!info)
    return kNotFound;
  std::lock_guard<std::mutex> lock(global().mutex);
  for (CUkern_st &known : library->kernels)
    if (known.info == info) {
      *kernel = &known;
      return kSuccess;
    }
  library->kernels.push_back({library->module, info, kUsualDynamicShared, {}});
  *kernel = &library->kernels.back();
  return kSuccess;
}

static Result getFunction(FunctionHandle *function, KernelHandle kernel) {
  if (contexts.empty() || !contexts.back())
    return kInvalidContext;
  SimulatedDevice *device = contexts.back()->device;
  if (bool checked = kernel->module->info().checked; checked != device->options.check)
    return fail(kInvalidImage,
                fmt::format("it was compiled {} and the simulator runs {} checks: compile with "
                            "the compiler for the same options",
                            checked ? "for checks" : "without checks",
                            device->options.check ? "with" : "without"));
  std::lock_guard<std::mutex> lock(global().mutex);
  for (CUfunc_st &known : kernel->functions)
    if (known.device == device) {
      *function = &known;
      return kSuccess;
    }
  kernel->functions.push_back({kernel, device});
  *function = &kernel->functions.back();
  return kSuccess;
}

static Result loadFunction(FunctionHandle) { return kSuccess; }

static Result setAttribute(FunctionAttribute attribute, int value, KernelHandle kernel,
                           DeviceOrdinal number) {
  if (attribute != kMaxDynamicSharedSizeBytes ||
      value > deviceAt(number).properties.sharedBytesPerBlockOptIn)
    return kInvalidValue;
  kernel->dynamicSharedLimit = std::max(kernel->dynamicSharedLimit, unsigned(value));
  return kSuccess;
}

static Result parameterInfo(KernelHandle kernel, size_t index, size_t *offset, size_t *bytes) {
  if (index >= kernel->info->parameters)
    return kInvalidValue;
  // Parameters lie apart here, and have no offsets in common.
  *offset = 0;
  *bytes = kernel->info->parameter[index].bytes;
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Arguments::Arguments(const KernelInfo &kernel, void *const *values) {
  size_t count = 0;
  for (unsigned i = 0; i < kernel.parameters; ++i)
    count += (kernel.parameter[i].bytes + sizeof(Line) - 1) / sizeof(Line);
  lines.resize(count);
  Line *next = lines.data();
  for (unsigned i = 0; i < kernel.parameters; ++i) {
    unsigned bytes = kernel.parameter[i].bytes;
    std::memcpy(next, values[i], bytes);
    pointers.push_back(next);
    next += (bytes + sizeof(Line) - 1) / sizeof(Line);
  }
}

static Result runNow(const CUfunc_st &function, const Launch &shape, const Arguments &arguments) {
  const KernelInfo &kernel = *function.kernel->info;
  std::vector<const char *> pointers(kernel.parameters, nullptr);
  for (unsigned i = 0; i < kernel.parameters; ++i)
    if (kernel.parameter[i].isPointer)
      std::memcpy(&pointers[i], arguments.get()[i], sizeof(char *));
  std::vector<MemoryRange> memory = global().memory.ranges(pointers);
  Launch launch = shape;
  launch.module = function.kernel->module.get();
  launch.kernel = &kernel;
  launch.arguments = arguments.get();
  launch.memory = &memory;
  std::optional<Finding> finding = simt::run(launch, function.device->options);
  return finding ? fail(kLaunchFailed, finding->str()) : kSuccess;
}

static Result launchEx(const LaunchConfig *config, FunctionHandle function, void **parameters,
                       void **extra) {
  if (extra)
    return fail(kNotSupported, "cuLaunchKernel: the simulator takes no packed parameters");
  for (int axis = 1; axis < 3; ++axis)
    if (config->grid[axis] != 1 || config->block[axis] != 1)
      return fail(kNotSupported, fmt::format("cuLaunchKernel: the simulator runs grids and blocks "
                                             "of one dimension only, and this one has {} blocks of "
                                             "{} threads along {}",
                                             config->grid[axis], config->block[axis], "xyz"[axis]));
  Launch shape;
  shape.blocks = config->grid[0];
  shape.threads = config->block[0];
  shape.dynamicSharedBytes = config->sharedBytes;
  for (unsigned i = 0; i < config->attributeCount; ++i)
    if (config->attributes[i].id == LaunchAttribute::kClusterDimension)
      shape.clusterSize = config->attributes[i].cluster[0];
  if (shape.dynamicSharedBytes > function->kernel->dynamicSharedLimit)
    return fail(kInvalidValue,
                fmt::format("cuLaunchKernel: {} bytes of dynamic shared memory; allowed: {}, more "
                            "with cuKernelSetAttribute",
                            shape.dynamicSharedBytes, function->kernel->dynamicSharedLimit));
  auto arguments = std::make_shared<const Arguments>(*function->kernel->info, parameters);
  return put(config->stream, [=] { return runNow(*function, shape, *arguments); });
}

static Result launch(FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ,
                     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                     StreamHandle stream, void **parameters, void **extra) {
  LaunchConfig config = {
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, stream, nullptr, 0};
  return launchEx(&config, function, parameters, extra);
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

static std::shared_ptr<const Driver> makeDriver() {
  auto driver = std::make_shared<Driver>("the simulator", 13000);
  driver->takeReport = takeReport;
  driver->cuInit = init;
  driver->cuDriverGetVersion = driverVersion;
  driver->cuGetErrorName = errorName;
  driver->cuGetErrorString = errorString;
  driver->cuDeviceGetCount = deviceCount;
  driver->cuDeviceGet = getDevice;
  driver->cuDeviceGetName = deviceName;
  driver->cuDeviceGetAttribute = deviceAttribute;
  driver->cuDeviceTotalMem_v2 = totalMemory;
  driver->cuDevicePrimaryCtxRetain = retainContext;
  driver->cuDevicePrimaryCtxRelease_v2 = releaseContext;
  driver->cuCtxGetCurrent = currentContext;
  driver->cuCtxSetCurrent = setContext;
  driver->cuCtxPushCurrent_v2 = pushContext;
  driver->cuCtxPopCurrent_v2 = popContext;
  driver->cuCtxSynchronize = synchronizeContext;
  driver->cuMemGetInfo_v2 = memoryInfo;
  driver->cuMemAlloc_v2 = allocate;
  driver->cuMemFree_v2 = release;
  driver->cuMemcpyHtoD_v2 = copyToDevice;
  driver->cuMemcpyDtoH_v2 = copyToHost;
  driver->cuMemsetD8Async = fillMemory;
  driver->cuStreamCreate = createStream;
  driver->cuStreamDestroy_v2 = destroyStream;
  driver->cuStreamSynchronize = synchronizeStream;
  driver->cuStreamBeginCapture_v2 = beginCapture;
  driver->cuStreamEndCapture = endCapture;
  driver->cuStreamIsCapturing = isCapturing;
  driver->cuEventCreate = createEvent;
  driver->cuEventDestroy_v2 = destroyEvent;
  driver->cuEventRecord = recordEvent;
  driver->cuEventSynchronize = synchronizeEvent;
  driver->cuEventElapsedTime = elapsedTime;
  driver->cuGraphInstantiateWithFlags = instantiateGraph;
  driver->cuGraphGetNodes = graphNodes;
  driver->cuGraphLaunch = launchGraph;
  driver->cuGraphDestroy = destroyGraph;
  driver->cuGraphExecDestroy = destroyGraphExec;
  driver->cuLibraryLoadData = loadLibrary;
  driver->cuLibraryUnload = unloadLibrary;
  driver->cuLibraryGetKernel = getKernel;
  driver->cuKernelGetFunction = getFunction;
  driver->cuKernelSetAttribute = setAttribute;
  driver->cuLaunchKernel = launch;
  driver->cuLaunchKernelEx = launchEx;
  driver->cuFuncLoad = loadFunction;
  driver->cuKernelGetParamInfo = parameterInfo;
  return driver;
}

std::shared_ptr<const Driver> swage::simt::simulatorDriver() {
  // Leaked on purpose, as the driver of a GPU is.
  static const auto *driver = new std::shared_ptr<const Driver>(makeDriver());
  return *driver;
}

int swage::simt::simulatedDevice(const SimulatorOptions &options,
                                 const DeviceProperties &properties) {
  Global &all = global();
  std::lock_guard<std::mutex> lock(all.mutex);
  for (SimulatedDevice &device : all.devices)
    if (device.options.str() == options.str() && device.properties.arch == properties.arch)
      return device.number;
  SimulatedDevice &device =
      all.devices.emplace_back(SimulatedDevice{int(all.devices.size()), options, properties, {}});
  device.context.device = &device;
  return device.number;
}

Expected<Device> swage::simt::openSimulator(const SimulatorOptions &options,
                                            std::string_view arch) {
  auto properties = DeviceProperties::forArch(arch);
  if (!properties)
    return properties.takeError();
  return Device::open(simulatorDriver(), simulatedDevice(options, *properties));
}

Expected<std::shared_ptr<const KernelCompiler>>
swage::simt::simulatorCompiler(const SimulatorOptions &options) {
  auto compiler = HostCompiler::get(options.check);
  if (!compiler)
    return compiler.takeError();
  return std::shared_ptr<const KernelCompiler>(*compiler);
}
