//===- swage-simt-tests.cpp - Kernels of the device layer, without a GPU --===//
//
//   swage-simt-tests kernels FILE|DIR...
//       hand-written kernels against references in double precision
//   swage-simt-tests wrappers FILE|DIR...
//       the kernels of test/Wrappers against scalar references
//   swage-simt-tests schedules FILE|DIR...
//       both kinds in --seeds=N orders, plain and checked: the same bits, no finding
//   swage-simt-tests record RECORDING FILE|DIR...
//       keeps the outputs of the kernels of test/Wrappers
//   swage-simt-tests check RECORDING FILE|DIR...
//       compares them with those of another run
//   swage-simt-tests compile FILE|DIR...
//       both kinds with NVRTC for sm_90a: no spills, no warnings about wgmma
//
// With --sim=OPTIONS (as swage-run), --device (through the driver, as on a GPU), --seeds=N,
// --only=PART (of a name), --threads=N (that compile), -v.  The last line says what passed; every
// failure has a line before it.
//
//===----------------------------------------------------------------------===//
#include "KernelSuites.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <set>

using namespace swage;
using namespace swage::test;

namespace {
struct Options {
  std::string mode, sim;
  std::vector<std::string> paths;
  bool device = false;
  SuiteOptions suite;
};
} // namespace

static std::vector<std::string> filesOf(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (std::filesystem::is_directory(path))
      for (const std::string &file : kernelFiles(path))
        files.push_back(file);
    else
      files.push_back(path);
  }
  return files;
}

static int fail(const Error &error) {
  std::printf("%s\n", error.str().c_str());
  return 1;
}

/// Where there is no compiler: the code that ctest counts as skipped.
static int skip(const Error &error) {
  std::printf("skipped: %s\n", error.message.c_str());
  return 77;
}

static Expected<std::vector<WrapperCase>> casesOf(const std::vector<std::string> &paths) {
  std::vector<WrapperCase> cases;
  for (const std::string &file : filesOf(paths)) {
    auto some = wrappersOf(file);
    if (!some)
      return some.takeError();
    std::move(some->begin(), some->end(), std::back_inserter(cases));
  }
  return cases;
}

static int compileKernels(const Options &options) {
  auto machine = Machine::gpuCompiler();
  if (!machine) {
    std::printf("skipped: %s\n", machine.error().message.c_str());
    return 77;
  }
  auto problems = problemsIn(filesOf(options.paths));
  auto cases = casesOf(options.paths);
  if (!problems || !cases)
    return fail(problems ? cases.error() : problems.error());
  std::vector<const KernelRun *> runs;
  for (const KernelProblem &problem : *problems)
    runs.push_back(&problem.run);
  for (const WrapperCase &test : *cases)
    runs.push_back(&test.run);
  int passed = 0, failed = 0;
  std::set<std::pair<std::string, std::string>> seen;
  for (const KernelRun *run : runs) {
    if (!seen.insert({run->kernel, run->text}).second)
      continue;
    RunReport report;
    std::string failure;
    if (Status status = (*machine)->compile(*run, &report); !status)
      failure = status.error().str();
    else if (report.spillBytes != 0)
      failure = fmt::format("spills {} bytes", report.spillBytes);
    else if (report.log.find("C75") != std::string::npos) // about wgmma
      failure = report.log;
    ++(failure.empty() ? passed : failed);
    if (!failure.empty())
      std::printf("FAILED %s: %s\n", run->kernel.c_str(), failure.c_str());
    else if (options.suite.verbose && report.compileSeconds > 0)
      std::printf("%s: %.0f ms\n%s\n", run->file.c_str(), report.compileSeconds * 1e3,
                  report.log.c_str());
  }
  std::printf("kernels compiled for sm_90a: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}

static int runSchedules(const Options &options) {
  if (auto machine = Machine::simulator({}); !machine)
    return skip(machine.error());
  auto problems = problemsIn(filesOf(options.paths));
  auto cases = casesOf(options.paths);
  if (!problems || !cases)
    return fail(problems ? cases.error() : problems.error());
  return compareSchedules(*problems, *cases, options.suite) != 0;
}

static int runOnSimulator(const Options &options) {
  auto parsed = simt::SimulatorOptions::parse(options.sim);
  if (!parsed)
    return fail(parsed.error());
  auto machine = options.device ? Machine::simulatedDevice(*parsed) : Machine::simulator(*parsed);
  if (!machine)
    return skip(machine.error());
  std::vector<std::string> paths = options.paths;
  if (options.mode == "kernels")
    return judgeKernels(**machine, filesOf(paths), options.suite) != 0;
  std::string recorded;
  if (options.mode != "wrappers" && !paths.empty()) {
    recorded = paths.front();
    paths.erase(paths.begin());
  }
  auto cases = casesOf(paths);
  if (!cases)
    return fail(cases.error());
  if (options.mode == "wrappers")
    return compareWrappers(**machine, *cases, fromReferences(), options.suite) != 0;
  if (options.mode == "check") {
    auto recording = Recording::read(recorded);
    if (!recording)
      return fail(recording.error());
    return compareWrappers(**machine, *cases, fromRecording(*recording), options.suite) != 0;
  }
  Recording recording;
  int failed = recordWrappers(**machine, *cases, recording, options.suite);
  if (Status written = recording.write(recorded); !written)
    return fail(written.error());
  return failed != 0;
}

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&](const char *name) {
      size_t length = std::strlen(name);
      return word.compare(0, length, name) == 0 ? argv[i] + length : nullptr;
    };
    if (const char *text = value("--sim="))
      options.sim = text;
    else if (const char *text = value("--seeds="))
      options.suite.seeds = std::strtoull(text, nullptr, 10);
    else if (const char *text = value("--threads="))
      options.suite.threads = unsigned(std::strtoul(text, nullptr, 10));
    else if (const char *text = value("--only="))
      options.suite.only = text;
    else if (word == "--device")
      options.device = true;
    else if (word == "-v")
      options.suite.verbose = true;
    else if (options.mode.empty())
      options.mode = word;
    else
      options.paths.push_back(word);
  }
  if (options.mode == "compile")
    return compileKernels(options);
  if (options.mode == "schedules")
    return runSchedules(options);
  for (const char *mode : {"kernels", "wrappers", "record", "check"})
    if (options.mode == mode)
      return runOnSimulator(options);
  std::fputs(
      "usage: swage-simt-tests kernels|wrappers|schedules|compile FILE|DIR... [--sim=OPTIONS]\n"
      "       swage-simt-tests record|check RECORDING FILE|DIR... [--sim=OPTIONS]\n"
      "       with [--seeds=N] [--only=PART] [--threads=N] [-v]\n",
      stderr);
  return 1;
}
