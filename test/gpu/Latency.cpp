//===- Latency.cpp - What a caller waits for ------------------------------===//
//
// One LayerNorm kernel: source to loaded kernel with an empty cache, before and after NVRTC's own
// first compile; the disk cache in a second process; and one launch.
//
//===----------------------------------------------------------------------===//
#include "CaseGraphs.h"
#include "Modes.h"

#include "swage/Codegen/TemplateLibrary.h"
#include "swage/JIT/CompileKernel.h"
#include "swage/JIT/Nvrtc.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace swage;
using namespace swage::test;

namespace {
class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

/// A LayerNorm, and how its compiling went.
struct Compiled {
  std::optional<Program> program;
  std::optional<Executable> executable;
  double milliseconds = 0; ///< from text to machine code

  std::vector<Dims> dims() const {
    std::vector<Dims> dims;
    for (const TensorType &type : program->inputs())
      dims.push_back(type.shape);
    return dims;
  }
};

static Expected<Compiled> compile(const Device &device, const Options &cacheOptions) {
  std::string text = layerNormText(8192, 768, "f32");
  CompileOptions options;
  options.arch = device.properties().arch;
  options.cache = std::make_shared<KernelCache>(cacheOptions);
  Compiled compiled;
  Stopwatch watch;
  auto program = Program::parse(text);
  if (!program)
    return program.takeError();
  auto executable = program->compile(options);
  if (!executable)
    return executable.takeError();
  compiled.milliseconds = watch.milliseconds();
  compiled.program = *program;
  compiled.executable = *executable;
  return compiled;
}

/// Milliseconds from the generated source to a kernel that is ready to launch, through a new cache
/// object: compiled or from disk.
static Expected<double> sourceToKernel(const Device &device, const KernelInfo &kernel,
                                       const Options &cacheOptions) {
  auto nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.takeError();
  CompileRequest request;
  request.source = kernel.source;
  request.name = kernel.name + ".cu";
  request.entry = kernel.name;
  request.arch = device.properties().arch;
  request.headers = headersFor(KernelTarget::Gpu, embeddedTemplates());
  Stopwatch watch;
  KernelCache cache(cacheOptions);
  auto binary = compileKernel(**nvrtc, cache, request);
  if (!binary)
    return binary.takeError();
  auto loaded = Kernel::load(device.sharedDriver(), **binary);
  if (!loaded)
    return loaded.takeError();
  auto function = (*loaded)->prepare(device, 0);
  if (!function)
    return function.takeError();
  return watch.milliseconds();
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

static Options cacheIn(const std::string &directory) {
  Options options = Options::get();
  options.cacheDir = directory;
  options.cacheBase.clear();
  options.cacheMode = CacheMode::ReadWrite;
  return options;
}

Status swage::test::runLatencyChild(const Device &device, const std::string &cacheDir) {
  auto compiled = compile(device, cacheIn(cacheDir));
  if (!compiled)
    return compiled.takeError();
  auto loaded = sourceToKernel(device, compiled->executable->kernels().front(), cacheIn(cacheDir));
  if (!loaded)
    return loaded.takeError();
  std::printf("second process, kernel in the disk cache: source to loaded kernel %.2f ms (needed: "
              "at most 2); text to machine code %.2f ms\n",
              *loaded, compiled->milliseconds);
  return {};
}

/// Host time of one launch in microseconds.
static Expected<double> launchTime(const Device &device, const Compiled &compiled) {
  auto plan = compiled.executable->plan(device, compiled.dims());
  if (!plan)
    return plan.takeError();
  std::vector<Buffer> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (const BufferSpec &spec : plan->inputs()) {
    auto buffer = device.allocate(spec.bytes);
    if (!buffer)
      return buffer.takeError();
    inputs.push_back(buffer->data());
    buffers.push_back(std::move(*buffer));
  }
  for (const BufferSpec &spec : plan->outputs()) {
    auto buffer = device.allocate(spec.bytes);
    if (!buffer)
      return buffer.takeError();
    outputs.push_back(buffer->data());
    buffers.push_back(std::move(*buffer));
  }
  auto stream = device.createStream();
  if (!stream)
    return stream.takeError();
  std::vector<double> rounds;
  for (int round = 0; round < 20; ++round) {
    constexpr int kLaunches = 100;
    Stopwatch watch;
    for (int i = 0; i < kLaunches; ++i)
      if (Status launched = plan->launch(stream->handle(), inputs.data(), outputs.data());
          !launched)
        return launched.takeError();
    rounds.push_back(watch.milliseconds() * 1e3 / kLaunches);
    if (Status done = stream->synchronize(); !done)
      return done.takeError();
  }
  return median(rounds);
}

Status swage::test::runLatency(const Device &device, const std::string &self) {
  char name[] = "/tmp/swage-latency-XXXXXX";
  if (!mkdtemp(name))
    return makeError(Stage::Run, "cannot make a temporary directory");
  struct Remove {
    std::string path;
    ~Remove() {
      std::error_code error;
      std::filesystem::remove_all(path, error);
    }
  } remove{name};
  std::string cacheDir = std::string(name) + "/cache";
  auto first = compile(device, cacheIn(cacheDir));
  if (!first)
    return first.takeError();
  std::printf("first compile of the process (NVRTC starts): text to machine code %.1f ms\n",
              first->milliseconds);
  Options none = Options::get();
  none.cacheMode = CacheMode::Off;
  std::vector<double> times, whole;
  for (int i = 0; i < 7; ++i) {
    auto time = sourceToKernel(device, first->executable->kernels().front(), none);
    if (!time)
      return time.takeError();
    times.push_back(*time);
    auto again = compile(device, none);
    if (!again)
      return again.takeError();
    whole.push_back(again->milliseconds);
  }
  std::printf("later: source to loaded kernel %.1f ms (needed: at most 100); text to machine code "
              "%.1f ms (medians of 7, no cache)\n",
              median(times), median(whole));
  auto launch = launchTime(device, *first);
  if (!launch)
    return launch.takeError();
  std::printf("Plan::launch: %.2f us of host time\n", *launch);
  std::fflush(stdout);

  std::vector<std::string> words = {self, "latency-child", cacheDir};
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 1;
  if (posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(), environ) != 0 ||
      waitpid(child, &status, 0) != child || status != 0)
    return makeError(Stage::Run, "the second process failed");
  if (Status calls = runCallLatency(device); !calls)
    return calls;
  return runStartLatency(device, self, name);
}
