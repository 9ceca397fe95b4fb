//===- KernelChecks.cpp - What compiles and runs kernels ------------------===//

#include "Checks.h"
#include "HostCompiler.h"

#include "swage/Codegen/TemplateLibrary.h"
#include "swage/JIT/Nvrtc.h"
#include "swage/Runtime/Plan.h"
#include "swage/Simt/Simulator.h"
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <chrono>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

using namespace swage;
using namespace swage::doctor;

//===----------------------------------------------------------------------===//
// A kernel that says whether a machine can run kernels
//===----------------------------------------------------------------------===//

static constexpr unsigned kBlocks = 4, kThreads = 64;

/// Each block reverses its elements through shared memory, with the headers that generated kernels
/// include.
static constexpr const char *kSource = R"(#include "swage/device/device.cuh"

extern "C" __global__ void doctor(const float *x, float *y) {
  float *row = reinterpret_cast<float *>(swage::arena<64 * sizeof(float)>());
  const unsigned i = swage::threadIndex(), at = swage::blockIndex() * 64 + i;
  row[i] = x[at];
  swage::barrier();
  y[at] = 2 * row[63 - i];
}
)";

namespace {
class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};
} // namespace

static std::string formatTime(double milliseconds) {
  return milliseconds < 10     ? fmt::format("{:.2f} ms", milliseconds)
         : milliseconds < 1000 ? fmt::format("{:.0f} ms", milliseconds)
                               : fmt::format("{:.1f} s", milliseconds / 1000);
}

static Expected<KernelBinary> compileKernel(const KernelCompiler &compiler,
                                            const std::string &arch) {
  CompileRequest request;
  request.source = kSource;
  request.name = "doctor.cu";
  request.entry = "doctor";
  request.arch = arch;
  request.headers = headersFor(compiler.target(), embeddedTemplates());
  return compiler.compile(request);
}

/// Whether the kernel loads, runs and computes what it should.
static Status runKernel(const Device &device, const KernelBinary &binary) {
  float x[kBlocks * kThreads], y[kBlocks * kThreads] = {};
  for (unsigned i = 0; i < kBlocks * kThreads; ++i)
    x[i] = float(i) + 0.5f;
  auto kernel = Kernel::load(device.sharedDriver(), binary);
  if (!kernel)
    return kernel.takeError();
  auto input = device.allocate(sizeof x), output = device.allocate(sizeof y);
  auto stream = device.createStream();
  if (!input)
    return input.takeError();
  if (!output)
    return output.takeError();
  if (!stream)
    return stream.takeError();
  PlanSpec spec;
  spec.inputs = {{"x", sizeof x, 4}};
  spec.outputs = {{"y", sizeof y, 4}};
  LaunchSpec launch;
  launch.kernel = *kernel;
  launch.grid[0] = kBlocks;
  launch.threads = kThreads;
  launch.arguments = {LaunchArgument::input(0), LaunchArgument::output(0)};
  spec.launches = {launch};
  auto plan = Plan::create(device, std::move(spec));
  if (!plan)
    return plan.takeError();
  const void *inputs[] = {input->data()};
  void *outputs[] = {output->data()};
  Status status = input->copyFrom(x, sizeof x);
  if (status)
    status = output->fill(0xff);
  if (status)
    status = plan->launch(stream->handle(), inputs, outputs);
  if (status)
    status = stream->synchronize();
  if (status)
    status = output->copyTo(y, sizeof y);
  if (!status)
    return status;
  for (unsigned i = 0; i < kBlocks * kThreads; ++i)
    if (float expected = 2 * x[i / kThreads * kThreads + kThreads - 1 - i % kThreads];
        !(y[i] == expected))
      return makeError(Stage::Run, fmt::format("the kernel ran, and element {} of its result is {} "
                                               "instead of {}",
                                               i, y[i], expected));
  return {};
}

//===----------------------------------------------------------------------===//
// CUDA driver and devices
//===----------------------------------------------------------------------===//

static bool exists(const char *path) { return access(path, F_OK) == 0; }

/// The file that a function is in, links followed.
static std::string fileOf(void *function, const std::string &otherwise) {
  Dl_info info = {};
  if (!dladdr(function, &info) || !info.dli_fname)
    return otherwise;
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : path.string();
}

static Finding driverFailure(const Error &error) {
  const Options &options = Options::get();
  bool isNamed = !options.cudaDriver.empty();
  bool isThere = isNamed || dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  bool hasGpu = exists("/dev/nvidiactl") || exists("/dev/dxg");
  bool noDevice = error.message.find("CUDA_ERROR_NO_DEVICE") != std::string::npos;
  // A machine that was not made for it is none that is broken.
  Level level = noDevice || (!isThere && !hasGpu) ? Level::Warning : Level::Problem;
  Finding finding = findingOf(level, "CUDA driver", error);
  if (isNamed)
    finding.facts += " (SWAGE_CUDA_DRIVER)";
  if (!isThere && hasGpu)
    finding.advice = "there is a GPU, but its driver library is not visible here: in a container, "
                     "start it with the GPU (--gpus all); else install the driver's libraries";
  else if (noDevice)
    finding.advice = "without a GPU kernels run on the simulator; if there is one, look at "
                     "CUDA_VISIBLE_DEVICES and at how this container was started";
  else if (!isThere)
    finding.advice += "; without a GPU kernels run on the simulator";
  return finding;
}

static Finding examineDevice(const std::shared_ptr<const cuda::Driver> &driver, int ordinal) {
  std::string what = fmt::format("device {}", ordinal);
  Stopwatch watch;
  auto device = Device::open(driver, ordinal);
  if (!device) {
    Finding finding = findingOf(Level::Problem, what, device.error());
    if (finding.advice.empty())
      finding.advice = "nvidia-smi tells what occupies or ails it; another process may hold it in "
                       "exclusive mode";
    return finding;
  }
  double milliseconds = watch.milliseconds();
  const DeviceProperties &properties = device->properties();
  constexpr double kGiB = 1 << 30;
  std::string memory = fmt::format("{:.1f} GiB", double(properties.memoryBytes) / kGiB);
  if (auto free = device->freeMemory())
    memory = fmt::format("{:.1f} of {} free", double(*free) / kGiB, memory);
  Finding finding(Level::Ok, what,
                  fmt::format("{}, {}, {} SMs, {}; context in {}", properties.name, properties.arch,
                              properties.smCount, memory, formatTime(milliseconds)));
  finding.with("name", properties.name)
      .with("architecture", properties.arch)
      .with("memory_bytes", std::to_string(properties.memoryBytes))
      .with("context_ms", fmt::format("{:.3f}", milliseconds));
  if (properties.ccMajor >= 8) {
    finding.with(kSupported, properties.arch);
  } else {
    finding.level = Level::Warning;
    finding.facts += "; it is older than sm_80";
    finding.advice = "Swage's kernels need sm_80 (A100) or newer; on this machine use another "
                     "device or the simulator";
  }
  return finding;
}

void doctor::checkDriver(Report &report) {
  const Options &options = Options::get();
  std::string name = options.cudaDriver.empty() ? "libcuda.so.1" : options.cudaDriver;
  report.step(fmt::format("opening '{}'", name));
  Stopwatch watch;
  auto driver = cuda::Driver::get();
  if (!driver)
    return report.add(driverFailure(driver.error()));
  double milliseconds = watch.milliseconds();
  std::string path = fileOf(reinterpret_cast<void *>((*driver)->cuInit), (*driver)->path());
  std::string version = cuda::Driver::versionString((*driver)->version());
  report.step(fmt::format("cuDeviceGetCount of '{}'", path));
  auto count = (*driver)->deviceCount();
  if (!count)
    return report.add(findingOf(Level::Problem, "CUDA driver", count.error()));
  Finding finding(*count > 0 ? Level::Ok : Level::Warning, "CUDA driver",
                  fmt::format("'{}'{}, for CUDA {} (least: {}), opened in {}; {} device{}", path,
                              options.cudaDriver.empty() ? "" : " (SWAGE_CUDA_DRIVER)", version,
                              cuda::Driver::versionString(cuda::Driver::kLeastVersion),
                              formatTime(milliseconds), *count, *count == 1 ? "" : "s"),
                  *count > 0 ? "" : "without a GPU kernels run on the simulator");
  if (std::string visible = environmentVariable("CUDA_VISIBLE_DEVICES"); !visible.empty())
    finding.facts += fmt::format("; CUDA_VISIBLE_DEVICES is '{}'", visible);
  report.add(finding.with("path", path)
                 .with("version", version)
                 .with("devices", std::to_string(*count))
                 .with("open_ms", fmt::format("{:.3f}", milliseconds)));
  for (int i = 0; i < *count; ++i) {
    report.step(fmt::format("opening device {}", i));
    report.add(examineDevice(*driver, i));
  }
}

void doctor::checkDevices(Report &report) {
  auto driver = cuda::Driver::get();
  auto nvrtc = Nvrtc::get();
  auto count = driver ? (*driver)->deviceCount() : Expected<int>(0);
  // What is missing has had its line.
  if (!driver || !nvrtc || !count)
    return;
  for (int i = 0; i < *count; ++i) {
    std::string what = fmt::format("kernel on device {}", i);
    report.step(fmt::format("running a kernel on device {}", i));
    auto device = Device::open(*driver, i);
    if (!device || device->properties().ccMajor < 8)
      continue;
    Stopwatch compiling;
    auto binary = compileKernel(**nvrtc, device->properties().arch);
    if (!binary)
      continue;
    double compileTime = compiling.milliseconds();
    Stopwatch running;
    Status ran = runKernel(*device, *binary);
    double firstTime = running.milliseconds();
    if (!ran) {
      Finding finding = findingOf(Level::Problem, what, ran.error());
      if (finding.advice.empty())
        finding.advice = "nvidia-smi and the system's log (dmesg: Xid) tell whether the GPU is "
                         "well; a driver older than NVRTC refuses what it compiles";
      report.add(finding);
      continue;
    }
    Stopwatch again;
    ran = runKernel(*device, *binary);
    double laterTime = again.milliseconds();
    report.add(
        Finding(Level::Ok, what,
                fmt::format("compiled in {}, loaded, run and read back in {}, again in {}",
                            formatTime(compileTime), formatTime(firstTime), formatTime(laterTime)))
            .with(kRuns, "yes")
            .with("compile_ms", fmt::format("{:.3f}", compileTime))
            .with("run_ms", fmt::format("{:.3f}", firstTime)));
  }
}

//===----------------------------------------------------------------------===//
// NVRTC
//===----------------------------------------------------------------------===//

void doctor::checkNvrtc(Report &report, const std::vector<std::string> &archs) {
  const Options &options = Options::get();
  report.step(options.nvrtc.empty() ? "opening NVRTC" : fmt::format("opening '{}'", options.nvrtc));
  Stopwatch watch;
  auto nvrtc = Nvrtc::get();
  if (!nvrtc) {
    bool needed = !archs.empty() || !options.nvrtc.empty();
    Finding finding = findingOf(needed ? Level::Problem : Level::Warning, "NVRTC", nvrtc.error());
    if (!options.nvrtc.empty())
      finding.facts += fmt::format(" (SWAGE_NVRTC is '{}')", options.nvrtc);
    return report.add(finding);
  }
  double milliseconds = watch.milliseconds();
  std::string known = join((*nvrtc)->supportedArchs(), " ");
  report.add(Finding(Level::Ok, "NVRTC",
                     fmt::format("'{}'{}, {} (least: 12.4), opened in {}; for {}", (*nvrtc)->path(),
                                 options.nvrtc.empty() ? "" : " (SWAGE_NVRTC)",
                                 (*nvrtc)->version().str(), formatTime(milliseconds), known))
                 .with("path", (*nvrtc)->path())
                 .with("version", (*nvrtc)->version().str())
                 .with("identity", (*nvrtc)->identity()) // as swage-cache list shows it
                 .with("architectures", known)
                 .with("open_ms", fmt::format("{:.3f}", milliseconds)));
  for (const std::string &arch : archs.empty() ? std::vector<std::string>{"sm_90a"} : archs) {
    std::string what = "NVRTC for " + arch;
    report.step("compiling for " + arch);
    Stopwatch compiling;
    auto binary = compileKernel(**nvrtc, arch);
    double compileTime = compiling.milliseconds();
    if (!binary) {
      Finding finding = findingOf(Level::Problem, what, binary.error());
      if (finding.advice.empty())
        finding.advice = "install an NVRTC that knows this GPU, or name it with SWAGE_NVRTC";
      report.add(finding);
      continue;
    }
    report.add(Finding(Level::Ok, what,
                       fmt::format("compiles a kernel in {} ({} bytes, {} registers)",
                                   formatTime(compileTime), binary->image.size(),
                                   binary->resources.registers))
                   .with("compile_ms", fmt::format("{:.3f}", compileTime)));
  }
}

//===----------------------------------------------------------------------===//
// Simulator
//===----------------------------------------------------------------------===//

void doctor::checkSimulator(Report &report) {
  const std::string &named = Options::get().hostCompiler;
  report.step(named.empty() ? "asking the host's compiler for its version"
                            : fmt::format("asking '{}' for its version", named));
  auto compiler = simt::HostCompiler::get(/*checked=*/false);
  if (!compiler)
    return report.add(findingOf(named.empty() ? Level::Warning : Level::Problem, "host compiler",
                                compiler.error()));
  report.add(
      Finding(Level::Ok, "host compiler",
              fmt::format("'{}'{}: {}", (*compiler)->program(),
                          named.empty() ? "" : " (SWAGE_HOST_COMPILER)", (*compiler)->identity()))
          .with("path", (*compiler)->program())
          .with("identity", (*compiler)->identity()));

  report.step("compiling a kernel for the simulator");
  Stopwatch compiling;
  auto binary = compileKernel(**compiler, "sm_90a");
  double compileTime = compiling.milliseconds();
  report.step("running a kernel on the simulator");
  Status ran;
  Stopwatch running;
  if (!binary)
    ran = binary.takeError();
  else if (auto device = simt::openSimulator(simt::SimulatorOptions()); !device)
    ran = device.takeError();
  else
    ran = runKernel(*device, *binary);
  if (!ran) {
    Finding finding = findingOf(Level::Problem, "simulator", ran.error());
    if (finding.advice.empty())
      finding.advice = "name another g++ or clang++ with SWAGE_HOST_COMPILER; the directory for "
                       "temporary files (TMPDIR) must have room";
    return report.add(finding);
  }
  double runTime = running.milliseconds();
  report.add(Finding(Level::Ok, "simulator",
                     fmt::format("kernel compiled in {}, run in {}", formatTime(compileTime),
                                 formatTime(runTime)))
                 .with(kRuns, "yes")
                 .with("compile_ms", fmt::format("{:.3f}", compileTime))
                 .with("run_ms", fmt::format("{:.3f}", runTime)));
}
