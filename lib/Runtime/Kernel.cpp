//===- Kernel.cpp - Machine code that is loaded ---------------------------===//
//
// cuLibrary loads lazily; prepare makes the driver do the work now, on the given device.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/Kernel.h"

#include "Process.h"

#include <fmt/format.h>

using namespace swage;
using namespace swage::cuda;

Kernel::Kernel(std::shared_ptr<const Driver> driver, const KernelBinary &binary)
    : driver(std::move(driver)), entryName(binary.name), targetArch(binary.arch),
      reported(binary.resources), generation(processGeneration()) {}

Kernel::~Kernel() {
  // At process exit the driver may be gone already; then there is nothing to unload.
  if (library && generation == processGeneration())
    (void)driver->cuLibraryUnload(library);
}

Expected<std::shared_ptr<Kernel>> Kernel::load(std::shared_ptr<const Driver> driver,
                                               const KernelBinary &binary) {
  std::shared_ptr<Kernel> kernel(new Kernel(std::move(driver), binary));
  const Driver &cuda = *kernel->driver;
  if (bool simulated = binary.target() == KernelTarget::Simulator; simulated != cuda.isSimulator())
    return makeError(Stage::Load,
                     fmt::format("cannot load kernel @{}: it was compiled for {} ({}) and the "
                                 "device is {}",
                                 binary.name, simulated ? "the simulator" : "a GPU", binary.arch,
                                 simulated ? "a GPU" : "a simulator"));
  Status status = cuda.check(Stage::Load, "cuLibraryLoadData",
                             cuda.cuLibraryLoadData(&kernel->library, binary.image.data(), nullptr,
                                                    nullptr, 0, nullptr, nullptr, 0));
  if (status)
    status =
        cuda.check(Stage::Load, "cuLibraryGetKernel",
                   cuda.cuLibraryGetKernel(&kernel->kernel, kernel->library, binary.name.c_str()));
  if (!status) {
    Error error = status.takeError();
    error.message = fmt::format("cannot load kernel @{} ({}, {} bytes): {}", binary.name,
                                binary.arch, binary.image.size(), error.message);
    return error;
  }
  return kernel;
}

Expected<FunctionHandle> Kernel::prepare(const Device &device, unsigned dynamicSharedBytes,
                                         unsigned clusterSize) {
  // Before the lock, which a thread of the parent process may have held for ever.
  if (!device.isHealthy())
    return device.health().takeError();
  std::lock_guard<std::mutex> lock(mutex);
  Prepared *entry = nullptr;
  for (Prepared &candidate : prepared)
    if (candidate.device.context() == device.context())
      entry = &candidate;

  ScopedContext scope(device);
  Status status = scope.status();
  if (status && !entry) {
    FunctionHandle function = nullptr;
    status = device.check(Stage::Load, "cuKernelGetFunction",
                          driver->cuKernelGetFunction(&function, kernel));
    // Before 12.4 asking for the function is all that can be done, and loads it.
    if (status && driver->cuFuncLoad)
      status = device.check(Stage::Load, "cuFuncLoad", driver->cuFuncLoad(function));
    if (status)
      entry = &prepared.emplace_back(Prepared{device, function});
  }
  auto set = [&](FunctionAttribute attribute, int value) {
    return device.check(Stage::Load, "cuKernelSetAttribute",
                        driver->cuKernelSetAttribute(attribute, value, kernel, device.handle()));
  };
  if (status && dynamicSharedBytes > entry->dynamicSharedBytes) {
    status = set(kMaxDynamicSharedSizeBytes, int(dynamicSharedBytes));
    if (status)
      entry->dynamicSharedBytes = dynamicSharedBytes;
  }
  if (status && clusterSize > kPortableClusterSize && !entry->takesLargeClusters) {
    status = set(kNonPortableClusterSizeAllowed, 1);
    entry->takesLargeClusters = bool(status);
  }
  if (!status) {
    Error error = status.takeError();
    error.message = fmt::format("cannot prepare kernel @{} ({}) on device {} ({}, {}): {}",
                                entryName, targetArch, device.ordinal(), device.properties().name,
                                device.properties().arch, error.message);
    return error;
  }
  return entry->function;
}

bool Kernel::isPrepared(const Device &device) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Prepared &candidate : prepared)
    if (candidate.device.context() == device.context())
      return true;
  return false;
}

Expected<size_t> Kernel::parameterBytes(const Device &device, size_t index) const {
  if (!driver->cuKernelGetParamInfo)
    return makeError(Stage::Load, fmt::format("driver {} cannot describe kernel parameters; "
                                              "needed: 12.4",
                                              Driver::versionString(driver->version())));
  // The kernel belongs to no context, but the question needs one.
  ScopedContext scope(device);
  if (!scope.status())
    return scope.status().error();
  size_t offset = 0, bytes = 0;
  Result result = driver->cuKernelGetParamInfo(kernel, index, &offset, &bytes);
  if (result == kInvalidValue)
    return size_t{0};
  if (Status status = driver->check(Stage::Load, "cuKernelGetParamInfo", result); !status)
    return status.takeError();
  return bytes;
}
