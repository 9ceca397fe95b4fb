//===- HostLatency.cpp - What Swage adds to a host's own time -------------===//
//
// Calls: cuLaunchKernel by itself, Plan::launch and Program::run of the same kernel with five
// tensors.  Starts: from a graph's text to its first launch, in processes of their own: with
// nothing kept, from the disk cache, and from a bundle.
//
//===----------------------------------------------------------------------===//
#include "Modes.h"

#include "swage/Support/Text.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace swage;
using namespace swage::test;

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point begin, double unitsPerSecond) {
  return std::chrono::duration<double>(Clock::now() - begin).count() * unitsPerSecond;
}

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Device memory for tensors, and pointers to it.
struct Memory {
  std::vector<Buffer> buffers;
  std::vector<void *> pointers;

  Status add(const Device &device, uint64_t bytes) {
    auto buffer = device.allocate(std::max<uint64_t>(bytes, 256));
    if (!buffer)
      return buffer.takeError();
    pointers.push_back(buffer->data());
    buffers.push_back(std::move(*buffer));
    return {};
  }
  Status add(const Device &device, const std::vector<BufferSpec> &specs) {
    for (const BufferSpec &spec : specs)
      if (Status added = add(device, spec.bytes); !added)
        return added;
    return {};
  }
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static const char *const kFiveTensors = R"(
func.func @main(%x: tensor<?x768xf16>, %r: tensor<?x768xf16>, %g: tensor<768xf16>,
                %b: tensor<768xf16>) -> tensor<?x768xf16> {
  %s = arith.addf %x, %r : tensor<?x768xf16>
  %y = swage.layer_norm %s gamma %g beta %b axis 1 eps 1.0e-5
      : (tensor<?x768xf16>, tensor<768xf16>, tensor<768xf16>) -> tensor<?x768xf16>
  return %y : tensor<?x768xf16>
})";

Status swage::test::runCallLatency(const Device &device) {
  const std::vector<Dims> dims = {{16, 768}, {16, 768}, {768}, {768}};
  auto program = Program::parse(kFiveTensors);
  if (!program)
    return program.takeError();
  auto plan = program->plan(device, dims);
  if (!plan)
    return plan.takeError();
  CompileOptions options;
  options.arch = device.properties().arch;
  auto executable = program->compile(options);
  if (!executable)
    return executable.takeError();
  auto layout = executable->layout(dims);
  if (!layout)
    return layout.takeError();
  if (layout->launches.size() != 1 || plan->kernels().size() != 1)
    return makeError(Stage::Run, "the graph is not one kernel");
  const LaunchInfo &launch = layout->launches[0];
  auto kernel = Kernel::load(device.sharedDriver(), *executable->kernels()[launch.kernel].binary);
  if (!kernel)
    return kernel.takeError();
  auto function = (*kernel)->prepare(device, 0);
  if (!function)
    return function.takeError();
  auto stream = device.createStream();
  if (!stream)
    return stream.takeError();

  Memory memory;
  for (const auto *specs : {&plan->inputs(), &plan->outputs()})
    if (Status added = memory.add(device, *specs); !added)
      return added;
  std::vector<void *> parameters;
  for (const LaunchView &view : launch.inputViews)
    parameters.push_back(&memory.pointers[launch.inputs[view.tensor].index]);
  for (const LaunchView &view : launch.outputViews)
    parameters.push_back(&memory.pointers[4 + launch.outputs[view.tensor].index]);
  std::string sizes = launch.sizes;
  if (!sizes.empty())
    parameters.push_back(sizes.data());
  std::vector<TensorView> views;
  for (size_t i = 0; i < 5; ++i) {
    const Dims &shape = i < 4 ? dims[i] : dims[0];
    views.push_back(
        {memory.pointers[i], ElementType::F16, unsigned(shape.size()), shape.data(), nullptr});
  }

  const cuda::Driver &cuda = device.driver();
  const struct {
    const char *name;
    std::function<Status()> call;
    double limit; ///< microseconds more than the first
  } ways[] = {
      {"cuLaunchKernel",
       [&] {
         return cuda.check(Stage::Launch, "cuLaunchKernel",
                           cuda.cuLaunchKernel(*function, unsigned(launch.blocks), 1, 1,
                                               launch.threads, 1, 1, 0, stream->handle(),
                                               parameters.data(), nullptr));
       },
       0},
      {"Plan::launch",
       [&] { return plan->launch(stream->handle(), memory.pointers.data(), &memory.pointers[4]); },
       0.3},
      {"Program::run",
       [&] {
         return program->run(device, stream->handle(), views.data(), 4, &views[4], 1, nullptr, 0);
       },
       1.0},
  };
  // In turns, so that whatever drifts drifts for all; the stream is empty before each.
  std::vector<double> rounds[3];
  for (int round = 0; round < 60; ++round)
    for (size_t way = 0; way < 3; ++way) {
      constexpr int kCalls = 200;
      auto begin = Clock::now();
      for (int i = 0; i < kCalls; ++i)
        if (Status launched = ways[way].call(); !launched)
          return launched;
      double nanoseconds = since(begin, 1e9) / kCalls;
      if (Status done = stream->synchronize(); !done)
        return done;
      if (round >= 10)
        rounds[way].push_back(nanoseconds);
    }
  double raw = median(rounds[0]);
  std::printf("five tensors: %s %.0f ns", ways[0].name, raw);
  for (size_t way = 1; way < 3; ++way)
    std::printf(", %s %+.0f ns (at most %+.0f)", ways[way].name, median(rounds[way]) - raw,
                ways[way].limit * 1e3);
  std::printf("\n");
  return {};
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

/// The example, from the folder that this runs in or from where it was built.
static Expected<std::string> exampleText() {
  auto here = readFile("examples/gpt2_block.mlir");
  return here ? std::move(here) : readFile(SWAGE_SOURCE_DIR "/examples/gpt2_block.mlir");
}

static std::vector<Dims> declaredShapes(const Program &program) {
  std::vector<Dims> shapes;
  for (const TensorType &type : program.inputs())
    shapes.push_back(type.shape);
  return shapes;
}

Status swage::test::runStartChild(const Device &device, const std::string &way,
                                  const std::string &argument) {
  auto text = exampleText();
  if (!text)
    return text.takeError();
  ContextOptions options;
  options.environment.cacheMode = way == "cold" ? CacheMode::Off : CacheMode::ReadWrite;
  if (way == "cold")
    options.compileThreads = unsigned(std::max(1, std::atoi(argument.c_str())));
  if (way == "disk") {
    options.environment.cacheDir = argument;
    options.environment.cacheBase.clear();
  }
  options.events = [](const TraceEvent &) {};
  auto stream = device.createStream();
  if (!stream)
    return stream.takeError();
  auto begin = Clock::now();
  Context context(options);
  auto program =
      way == "bundle" ? Program::load(argument, context) : Program::parse(*text, {}, context);
  if (!program)
    return program.takeError();
  double parsed = since(begin, 1e3);
  auto plan = program->plan(device, declaredShapes(*program));
  if (!plan)
    return plan.takeError();
  double planned = since(begin, 1e3);
  Memory inputs, outputs, workspace;
  Status allocated = inputs.add(device, plan->inputs());
  if (allocated)
    allocated = outputs.add(device, plan->outputs());
  if (allocated)
    allocated = workspace.add(device, plan->workspaceBytes());
  if (!allocated)
    return allocated;
  begin = Clock::now();
  if (Status launched = plan->launch(stream->handle(), inputs.pointers.data(),
                                     outputs.pointers.data(), workspace.pointers[0]);
      !launched)
    return launched;
  double launched = since(begin, 1e3);
  ContextStats stats = context.stats();
  std::printf("gpt2_block %s %s: %.2f ms to the first launch: %s %.2f, plan %.2f, launch %.3f; "
              "of all threads passes %.2f, compiling %.1f; %zu kernels compiled\n",
              way.c_str(), way == "cold" ? (argument + " threads").c_str() : "", planned + launched,
              way == "bundle" ? "load" : "parse", parsed, planned - parsed, launched,
              stats.lowerMilliseconds, stats.compileMilliseconds, size_t(stats.kernelsCompiled));
  return stream->synchronize();
}

Status swage::test::runStartLatency(const Device &device, const std::string &self,
                                    const std::string &folder) {
  auto text = exampleText();
  if (!text)
    return text.takeError();
  ContextOptions options;
  options.environment.cacheMode = CacheMode::ReadWrite;
  options.environment.cacheDir = folder + "/programs";
  options.environment.cacheBase.clear();
  Context context(options);
  auto program = Program::parse(*text, {}, context);
  if (!program)
    return program.takeError();
  std::string bundle = folder + "/gpt2.bundle";
  if (Status saved = program->save(bundle, {device.properties().arch}, {declaredShapes(*program)});
      !saved)
    return saved;
  std::fflush(stdout);
  const std::pair<std::string, std::string> ways[] = {
      {"cold", "1"}, {"cold", "8"}, {"disk", options.environment.cacheDir}, {"bundle", bundle}};
  for (const auto &[way, argument] : ways)
    for (int repeat = 0; repeat < (way == "cold" ? 1 : 3); ++repeat) {
      std::vector<std::string> words = {self, "start-child", way, argument};
      std::vector<char *> arguments;
      for (std::string &word : words)
        arguments.push_back(word.data());
      arguments.push_back(nullptr);
      pid_t child = 0;
      int status = 1;
      if (posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(), environ) != 0 ||
          waitpid(child, &status, 0) != child || status != 0)
        return makeError(Stage::Run, "the process for a start '" + way + "' failed");
    }
  return {};
}
