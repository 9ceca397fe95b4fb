//===- swage-simt-graphs.cpp - Generated kernels on the simulator ---------===//
//
//   swage-simt-graphs random [COUNT [FIRST]]
//       random graphs against the reference; --fused, --brief: less of it
//   swage-simt-graphs numerics [--only=PART]
//       rows that break careless arithmetic, in every row class
//   swage-simt-graphs bench [KERNELS_DIR] [--only=PART]
//       how fast the simulator is with one host thread and with two, plain and checked
//
// With --sim=OPTIONS and --threads=N (that compile).  The last line is the summary.
//
//===----------------------------------------------------------------------===//
#include "KernelProblem.h"
#include "NumericsSuite.h"
#include "RandomGraphSuite.h"

#include "swage/Simt/Simulator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <thread>

using namespace swage;
using namespace swage::test;

static int fail(const Error &error) {
  std::printf("%s\n", error.str().c_str());
  return 1;
}

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// Throughput
//===----------------------------------------------------------------------===//

namespace {
/// A graph, and of what it does how many.
struct GraphCase {
  const char *name, *text;
  double amount;
  const char *unit;
  double needed; ///< per second and host thread
};

struct Speed {
  double seconds = 0, compileSeconds = 0;
  double cpuSeconds = 0; ///< of all host threads
};

class Bench {
public:
  explicit Bench(std::string only) : only(std::move(only)) {}
  void graph(const GraphCase &test);
  void kernel(const std::string &path, const std::string &line, double needed);
  int finish();

private:
  void line(const std::string &name, double amount, const char *unit, double needed,
            const Speed &one, const Speed &two, const Speed &checked);
  void failed(const std::string &name, const Error &error) {
    ++failures;
    std::printf("FAILED %s: %s\n", name.c_str(), error.str().c_str());
  }
  std::string only; ///< part of a name
  int failures = 0, slow = 0;
  std::vector<double> compileTimes;
};
} // namespace

static double cpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// The least of at least five, and of half a second, after one to warm up: what else the machine
/// does only adds.
static Status measure(Speed &speed, const std::function<Expected<double>()> &run) {
  speed.seconds = speed.cpuSeconds = 1e30;
  double total = 0;
  for (int i = 0; i < 6 || total < 0.5; ++i) {
    double begin = cpuSeconds();
    auto seconds = run();
    if (!seconds)
      return seconds.takeError();
    if (i == 0)
      continue;
    total += *seconds;
    speed.seconds = std::min(speed.seconds, *seconds);
    speed.cpuSeconds = std::min(speed.cpuSeconds, cpuSeconds() - begin);
    if (i > 1 && speed.seconds > 2)
      break;
  }
  return {};
}

static Expected<Speed> speedOf(const GraphCase &test, const simt::SimulatorOptions &options) {
  auto compiler = simt::simulatorCompiler(options);
  if (!compiler)
    return compiler.takeError();
  auto device = simt::openSimulator(options);
  if (!device)
    return device.takeError();
  auto program = Program::parse(test.text);
  if (!program)
    return program.takeError();
  Options caching = Options::get();
  caching.cacheMode = CacheMode::Off;
  CompileOptions compile;
  compile.compiler = *compiler;
  compile.cache = std::make_shared<KernelCache>(caching);
  auto start = std::chrono::steady_clock::now();
  auto executable = program->compile(compile);
  if (!executable)
    return executable.takeError();
  Speed speed;
  speed.compileSeconds = secondsSince(start);
  std::vector<Dims> dims;
  std::vector<Buffer> inputs, outputs;
  auto allocate = [&](const TensorType &type, std::vector<Buffer> &buffers) -> Status {
    auto buffer = device->allocate(type.bytes());
    if (!buffer)
      return buffer.takeError();
    std::vector<float> ones(type.bytes() / 4, 1.0f);
    if (Status copied = buffer->copyFrom(ones.data(), type.bytes()); !copied)
      return copied;
    buffers.push_back(std::move(*buffer));
    return {};
  };
  for (const TensorType &type : program->inputs()) {
    dims.push_back(type.shape);
    if (Status status = allocate(type, inputs); !status)
      return status.takeError();
  }
  for (const TensorType &type : program->results())
    if (Status status = allocate(type, outputs); !status)
      return status.takeError();
  auto plan = executable->plan(*device, dims);
  if (!plan)
    return plan.takeError();
  auto workspace = device->allocate(std::max<uint64_t>(plan->workspaceBytes(), 1));
  auto stream = device->createStream();
  if (!workspace || !stream)
    return workspace ? stream.takeError() : workspace.takeError();
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const Buffer &buffer : inputs)
    from.push_back(buffer.data());
  for (const Buffer &buffer : outputs)
    to.push_back(buffer.data());
  Status measured = measure(speed, [&]() -> Expected<double> {
    auto begin = std::chrono::steady_clock::now();
    if (Status done = plan->launch(stream->handle(), from.data(), to.data(), workspace->data());
        !done)
      return done.takeError();
    if (Status done = stream->synchronize(); !done)
      return done.takeError();
    return secondsSince(begin);
  });
  if (!measured)
    return measured.takeError();
  return speed;
}

static Expected<Speed> speedOf(const KernelProblem &problem,
                               const simt::SimulatorOptions &options) {
  auto machine = Machine::simulator(options);
  if (!machine)
    return machine.takeError();
  Speed speed;
  Status measured = measure(speed, [&]() -> Expected<double> {
    RunReport report;
    auto buffers = (*machine)->run(problem.run, &report);
    if (!buffers)
      return buffers.takeError();
    speed.compileSeconds = std::max(speed.compileSeconds, report.compileSeconds);
    return report.runSeconds;
  });
  if (!measured)
    return measured.takeError();
  return speed;
}

void Bench::line(const std::string &name, double amount, const char *unit, double needed,
                 const Speed &one, const Speed &two, const Speed &checked) {
  compileTimes.push_back(one.compileSeconds);
  // By the time of the processor: what else the machine does leaves it alone, more or less.
  double rate = amount / one.cpuSeconds, both = amount / two.seconds;
  double ratio = checked.cpuSeconds / one.cpuSeconds;
  std::string verdict;
  if (rate < needed)
    verdict += " SLOW";
  if (ratio > 10)
    verdict += " SLOW-CHECKED";
  slow += !verdict.empty();
  std::printf(
      "%-24s %8.4g %s/s (needed %.4g), two workers %8.4g (x%.2f, each %3.0f %% of one alone), "
      "checked x%.1f; compiled in %.0f ms, checked %.0f ms%s\n",
      name.c_str(), rate, unit, needed, both, one.seconds / two.seconds,
      100 * one.cpuSeconds / two.cpuSeconds, ratio, one.compileSeconds * 1e3,
      checked.compileSeconds * 1e3, verdict.c_str());
  std::fflush(stdout);
}

/// With one host thread, with two, and checked with one.
template <class Case> static Expected<std::vector<Speed>> speedsOf(const Case &test) {
  std::vector<Speed> speeds;
  for (int mode = 0; mode < 3; ++mode) {
    simt::SimulatorOptions options;
    options.workers = mode == 1 ? 2 : 1;
    options.check = mode == 2;
    auto speed = speedOf(test, options);
    if (!speed)
      return speed.takeError();
    speeds.push_back(*speed);
  }
  return speeds;
}

void Bench::graph(const GraphCase &test) {
  if (std::string(test.name).find(only) == std::string::npos)
    return;
  auto speeds = speedsOf(test);
  if (!speeds)
    return failed(test.name, speeds.error());
  line(test.name, test.amount, test.unit, test.needed, (*speeds)[0], (*speeds)[1], (*speeds)[2]);
}

void Bench::kernel(const std::string &path, const std::string &line, double needed) {
  if (path.find(only) == std::string::npos)
    return;
  auto text = readText(path);
  auto problem = text ? makeProblem(path, *text, line) : Expected<KernelProblem>(text.takeError());
  if (!problem)
    return failed(path, problem.error());
  auto speeds = speedsOf(*problem);
  if (!speeds)
    return failed(problem->title, speeds.error());
  this->line(problem->run.kernel, problem->flops / 1e9, "GFLOP", needed, (*speeds)[0], (*speeds)[1],
             (*speeds)[2]);
}

int Bench::finish() {
  std::sort(compileTimes.begin(), compileTimes.end());
  if (!compileTimes.empty())
    std::printf("compile: median %.0f ms, most %.0f ms (needed: 350 and 1000)\n",
                compileTimes[compileTimes.size() / 2] * 1e3, compileTimes.back() * 1e3);
  std::printf("bench: %zu measured, %d below what is needed, %d failed\n", compileTimes.size(),
              slow, failures);
  return failures != 0;
}

static int runBench(const std::string &kernels, const std::string &only) {
  Bench bench(only);
  const GraphCase cases[] = {
      {"layer_norm 1024x1024 f32",
       "func.func @main(%x: tensor<1024x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> "
       "tensor<1024x1024xf32> {\n"
       "  %y = swage.layer_norm %x gamma %g beta %b axis 1 eps 1.0e-5 : (tensor<1024x1024xf32>, "
       "tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024x1024xf32>\n"
       "  return %y : tensor<1024x1024xf32>\n}\n",
       1024, "rows", 4500},
      {"rms_norm 1024x1024 f32",
       "func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n"
       "  %y = swage.rms_norm %x axis 1 eps 1.0e-5 : (tensor<1024x1024xf32>) -> "
       "tensor<1024x1024xf32>\n"
       "  return %y : tensor<1024x1024xf32>\n}\n",
       1024, "rows", 4500},
      {"softmax 1024x1024 f32",
       "func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n"
       "  %y = swage.softmax %x axis 1 : tensor<1024x1024xf32> -> tensor<1024x1024xf32>\n"
       "  return %y : tensor<1024x1024xf32>\n}\n",
       1024, "rows", 4500},
      {"add 1Mi f32",
       "func.func @main(%x: tensor<1048576xf32>, %y: tensor<1048576xf32>) -> tensor<1048576xf32> "
       "{\n"
       "  %z = arith.addf %x, %y : tensor<1048576xf32>\n"
       "  return %z : tensor<1048576xf32>\n}\n",
       1048576 / 1e6, "M elements", 150},
      {"negate 1Mi f32",
       "func.func @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {\n"
       "  %z = arith.negf %x : tensor<1048576xf32>\n"
       "  return %z : tensor<1048576xf32>\n}\n",
       1048576 / 1e6, "M elements", 150},
      {"transpose 2048x2048 f32",
       "func.func @main(%x: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {\n"
       "  %y = swage.permute %x [1, 0] : tensor<2048x2048xf32> -> tensor<2048x2048xf32>\n"
       "  return %y : tensor<2048x2048xf32>\n}\n",
       4194304 / 1e6, "M elements", 0},
  };
  for (const GraphCase &test : cases)
    bench.graph(test);
  if (!kernels.empty()) {
    bench.kernel(kernels + "/attention_mma.cu", "attention heads=4 queries=512 keys=512 causal=0",
                 0.7);
    bench.kernel(kernels + "/attention_wgmma.cu", "attention heads=4 queries=512 keys=512 causal=0",
                 3.5);
    bench.kernel(kernels + "/attention_wgmma.cu", "attention heads=4 queries=512 keys=512 causal=1",
                 3.5);
    bench.kernel(kernels + "/matmul_multicast.cu", "matmul m=512 n=512 k=512", 0);
  }
  return bench.finish();
}

int main(int argc, char **argv) {
  std::vector<std::string> plain;
  std::string sim, only;
  RandomGraphOptions graphs;
  graphs.threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.compare(0, 6, "--sim=") == 0)
      sim = word.substr(6);
    else if (word.compare(0, 10, "--threads=") == 0)
      graphs.threads = unsigned(std::max(1, std::atoi(word.c_str() + 10)));
    else if (word.compare(0, 7, "--only=") == 0)
      only = word.substr(7);
    else if (word == "--brief")
      graphs.brief = true;
    else if (word == "--fused")
      graphs.unfused = false;
    else
      plain.push_back(word);
  }
  if (!plain.empty() && plain[0] == "bench")
    return runBench(plain.size() > 1 ? plain[1] : "", only);
  bool numerics = !plain.empty() && plain[0] == "numerics";
  if (plain.empty() || (plain[0] != "random" && !numerics)) {
    std::fputs("usage: swage-simt-graphs random [COUNT [FIRST]] [--brief] [--fused] "
               "[--sim=OPTIONS] [--threads=N]\n"
               "       swage-simt-graphs numerics [--only=PART] [--sim=OPTIONS] [--threads=N]\n"
               "       swage-simt-graphs bench [KERNELS_DIR]\n",
               stderr);
    return 1;
  }
  graphs.count = plain.size() < 2 ? 100 : std::strtoull(plain[1].c_str(), nullptr, 10);
  graphs.begin = plain.size() < 3 ? 0 : std::strtoull(plain[2].c_str(), nullptr, 10);
  auto options = simt::SimulatorOptions::parse(sim);
  if (!options)
    return fail(options.error());
  auto device = simt::openSimulator(*options);
  if (!device)
    return fail(device.error());
  auto compiler = simt::simulatorCompiler(*options);
  if (!compiler)
    return fail(compiler.error());
  graphs.compiler = *compiler;
  if (numerics)
    return runNumerics(*device, {graphs.threads, *compiler, only}) != 0;
  return runRandomGraphs(*device, graphs) != 0;
}
