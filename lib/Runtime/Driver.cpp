//===- Driver.cpp - The CUDA driver, opened at run time -------------------===//
//
// Finds libcuda, checks its version before anything else is asked of it, and turns its results into
// errors that say what to do.  The library is never closed: kernels, contexts and other users of
// CUDA may outlive us.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/Driver.h"
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

using namespace swage;
using namespace swage::cuda;

static const char kNeeded[] = "needed: an NVIDIA driver for CUDA 12.0 (525.60) or newer";

std::string Driver::versionString(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Opens the library; on success `name` is the one that was found.
static void *openLibrary(const std::string &path, std::string &name, std::string &reason) {
  // The second place is where Windows puts the driver of its Linux subsystem, outside the loader's
  // path.
  const std::string usual[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
  if (!path.empty()) {
    name = path;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      reason = dlerror();
    return library;
  }
  for (const std::string &candidate : usual) {
    name = candidate;
    if (void *library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    if (reason.empty())
      reason = dlerror();
  }
  return nullptr;
}

Expected<std::shared_ptr<const Driver>> Driver::load(const std::string &path) {
  auto driver = std::make_shared<Driver>();
  std::string reason;
  void *library = openLibrary(path, driver->libraryPath, reason);
  if (!library)
    return makeError(Stage::Load,
                     fmt::format("CUDA driver: {}; {}, or SWAGE_CUDA_DRIVER naming its libcuda",
                                 reason, kNeeded));
  auto tooOld = [&](const std::string &found) {
    return makeError(Stage::Load, fmt::format("CUDA driver: {} {}; {}",
                                              printable(driver->libraryPath), found, kNeeded));
  };

  // The version first: an old driver lacks some of the functions, and its version says more than a
  // missing name.
  driver->cuDriverGetVersion =
      reinterpret_cast<decltype(driver->cuDriverGetVersion)>(dlsym(library, "cuDriverGetVersion"));
  if (!driver->cuDriverGetVersion)
    return tooOld("is not a CUDA driver (it lacks cuDriverGetVersion)");
  Result result = driver->cuDriverGetVersion(&driver->driverVersion);
  if (result == kStubLibrary)
    return tooOld("is the toolkit's stub library for linking, not a driver");
  if (result != kSuccess)
    return tooOld(fmt::format("fails in cuDriverGetVersion ({})", int(result)));
  if (driver->driverVersion < kLeastVersion)
    return tooOld(fmt::format("supports CUDA {}", versionString(driver->driverVersion)));

  const char *missing = nullptr;
#define SWAGE_DRIVER_FUNCTION(NAME, PARAMETERS)                                                    \
  driver->NAME = reinterpret_cast<decltype(driver->NAME)>(dlsym(library, #NAME));                  \
  if (!driver->NAME && !missing)                                                                   \
    missing = #NAME;
  SWAGE_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)
#undef SWAGE_DRIVER_FUNCTION
  if (missing)
    return tooOld(
        fmt::format("says CUDA {} but lacks {}", versionString(driver->driverVersion), missing));
#define SWAGE_DRIVER_FUNCTION(NAME, PARAMETERS)                                                    \
  driver->NAME = reinterpret_cast<decltype(driver->NAME)>(dlsym(library, #NAME));
  SWAGE_OPTIONAL_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)
#undef SWAGE_DRIVER_FUNCTION

  driver->initProcess = getpid();
  if (Status initialized = driver->check(Stage::Load, "cuInit", driver->cuInit(0)); !initialized)
    return initialized.takeError();
  return std::shared_ptr<const Driver>(driver);
}

Expected<std::shared_ptr<const Driver>> Driver::get() {
  // Leaked on purpose: objects with static storage may hold a device until after our own statics
  // are gone.
  static const auto *outcome =
      new Expected<std::shared_ptr<const Driver>>(load(Options::get().cudaDriver));
  return *outcome;
}

Expected<int> Driver::deviceCount() const {
  int count = 0;
  if (Status status = check(Stage::Load, "cuDeviceGetCount", cuDeviceGetCount(&count)); !status)
    return status.takeError();
  return count;
}

/// What usually stands behind a result, for those where the driver's own text does not say it.
static const char *hintFor(Result result, bool forked) {
  if (forked)
    return "; CUDA was initialised before this process was forked and cannot be used in the child";
  switch (result) {
  case kNoDevice:
    return "; is CUDA_VISIBLE_DEVICES empty, or the GPU hidden from this container?";
  case kInvalidContext:
    return "; call Device::makeCurrent() on this thread or pass a stream";
  case kInvalidImage:
  case kNoBinaryForGpu:
    return "; the machine code is damaged or made for another architecture";
  case kIllegalAddress:
  case kLaunchFailed:
    return "; a kernel launched earlier may have caused it, and the context stays unusable";
  default:
    return "";
  }
}

Error Driver::failure(Stage stage, const char *call, Result result) const {
  if (std::string report = takeReport ? takeReport() : ""; !report.empty()) {
    size_t end = report.find('\n');
    std::string rest = end == std::string::npos ? "" : report.substr(end + 1);
    return makeError(stage, report.substr(0, end), std::move(rest));
  }
  const char *name = nullptr;
  const char *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  bool forked = !simulates && initProcess != getpid();
  return makeError(stage, fmt::format("{}: {} ({}): {}{}", call, name ? name : "unknown result",
                                      int(result), text ? text : "no description",
                                      hintFor(result, forked)));
}
