//===- swage-simt-tests.cpp - Kernels of the device layer, without a GPU --===//
//
//   swage-simt-tests kernels FILE|DIR... [--sim=OPTIONS] [--seeds=N]: hand-written kernels on the
//   simulator against
//                                                       references in double precision
//   swage-simt-tests compile FILE|DIR...: with NVRTC for sm_90a, without spills and without
//   warnings about wgmma
//
// The last line says what passed; every failure has a line before it.
//
//===----------------------------------------------------------------------===//
#include "KernelProblem.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

using namespace swage;
using namespace swage::test;

namespace {
struct Options {
  std::vector<std::string> paths;
  std::string sim;
  uint64_t seeds = 1;
  bool verbose = false;
};
} // namespace

static std::vector<std::string> filesOf(const Options &options) {
  std::vector<std::string> files;
  for (const std::string &path : options.paths) {
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

static int runKernels(const Options &options) {
  auto parsed = simt::SimulatorOptions::parse(options.sim);
  if (!parsed)
    return fail(parsed.error());
  auto machine = Machine::simulator(*parsed);
  if (!machine)
    return fail(machine.error());
  int passed = 0, failed = 0;
  for (const std::string &file : filesOf(options)) {
    auto problems = problemsOf(file);
    if (!problems)
      return fail(problems.error());
    for (KernelProblem &problem : *problems) {
      RunReport report;
      auto buffers = (*machine)->run(problem.run, &report);
      Judgement judgement;
      if (buffers)
        judgement = problem.judge(*buffers);
      else
        judgement.failure = buffers.error().str();
      ++(judgement.failure.empty() ? passed : failed);
      if (!judgement.failure.empty())
        std::printf("FAILED %s: %s\n", problem.title.c_str(), judgement.failure.c_str());
      else if (options.verbose)
        std::printf("%s: %.2f of the bound; compiled in %.0f ms, ran in %.1f ms\n",
                    problem.title.c_str(), judgement.worst, report.compileSeconds * 1e3,
                    report.runSeconds * 1e3);
      std::fflush(stdout);
    }
  }
  std::printf("kernels on the simulator (%s): %d passed, %d failed\n",
              options.sim.empty() ? "default" : options.sim.c_str(), passed, failed);
  return failed != 0;
}

static int compileKernels(const Options &options) {
  auto machine = Machine::gpuCompiler();
  if (!machine) {
    std::printf("skipped: %s\n", machine.error().message.c_str());
    return 77;
  }
  int passed = 0, failed = 0;
  for (const std::string &file : filesOf(options)) {
    auto problems = problemsOf(file);
    if (!problems)
      return fail(problems.error());
    std::string last;
    for (const KernelProblem &problem : *problems) {
      if (problem.run.text == last)
        continue;
      last = problem.run.text;
      RunReport report;
      std::string failure;
      if (Status status = (*machine)->compile(problem.run, &report); !status)
        failure = status.error().str();
      else if (report.spillBytes != 0)
        failure = fmt::format("spills {} bytes", report.spillBytes);
      else if (report.log.find("C75") != std::string::npos)
        failure = report.log;
      ++(failure.empty() ? passed : failed);
      if (!failure.empty())
        std::printf("FAILED %s: %s\n", problem.title.c_str(), failure.c_str());
      else if (options.verbose)
        std::printf("%s\n%s\n", problem.title.c_str(), report.log.c_str());
    }
  }
  std::printf("compiled for sm_90a: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}

int main(int argc, char **argv) {
  Options options;
  std::string mode;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.compare(0, 6, "--sim=") == 0)
      options.sim = word.substr(6);
    else if (word.compare(0, 8, "--seeds=") == 0)
      options.seeds = std::strtoull(word.c_str() + 8, nullptr, 10);
    else if (word == "-v")
      options.verbose = true;
    else if (mode.empty())
      mode = word;
    else
      options.paths.push_back(word);
  }
  if (mode == "kernels")
    return runKernels(options);
  if (mode == "compile")
    return compileKernels(options);
  std::fputs("usage: swage-simt-tests kernels|compile FILE|DIR... [--sim=OPTIONS] [-v]\n", stderr);
  return 1;
}
