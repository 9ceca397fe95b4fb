//===- SimulatorDriver.cpp - The driver's functions, by the simulator -----===//
//
// Devices and contexts here; memory and streams, modules and launches in files of their own. A
// failed call leaves a text that Driver::failure takes: a finding's report, or what the simulator
// does not do.
//
//===----------------------------------------------------------------------===//
#include "SimulatorDriver.h"
#include "HostCompiler.h"
#include "SimulatorObjects.h"
#include "swage/Simt/Simulator.h"

#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;
using namespace swage::cuda;

Global &swage::simt::global() {
  static auto *instance = new Global;
  return *instance;
}

static thread_local std::vector<ContextHandle> contexts;
static thread_local std::string report;

SimulatedDevice *swage::simt::currentDevice() {
  return contexts.empty() || !contexts.back() ? nullptr : contexts.back()->device;
}

static std::string takeReport() { return std::exchange(report, std::string()); }

Result swage::simt::fail(Result result, std::string text) {
  report = std::move(text);
  return result;
}

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

SimulatedDevice &swage::simt::deviceAt(DeviceOrdinal number) {
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
  addStreamFunctions(*driver);
  addKernelFunctions(*driver);
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
