//===- Wrappers.cpp - The device layer on a GPU ---------------------------===//
//
// The only test of the PTX in the wrappers: the same kernels, inputs and outputs as on the
// simulator.
//
//===----------------------------------------------------------------------===//
#include "KernelSuites.h"
#include "Modes.h"

#include <cstdio>
#include <thread>

using namespace swage;
using namespace swage::test;

static int fail(const Error &error) {
  std::printf("%s\n", error.str().c_str());
  return 1;
}

int swage::test::runWrappers(const WrapperOptions &options) {
  std::string root = options.root.empty() ? SWAGE_SOURCE_DIR : options.root;
  auto gpu = Machine::gpu();
  if (!gpu)
    return fail(gpu.error());
  auto cases = wrappersIn(root + "/test/Wrappers");
  if (!cases)
    return fail(cases.error());
  SuiteOptions suite;
  suite.threads = options.threads;
  suite.seeds = options.seeds;
  suite.only = options.only;

  std::vector<std::string> files = kernelFiles(root + "/test/Simt/Kernels");
  for (const std::string &file : kernelFiles(root + "/test/Templates"))
    files.push_back(file);
  int failed = judgeKernels(**gpu, files, suite);
  if (!options.recorded.empty()) {
    auto recording = Recording::read(options.recorded);
    if (!recording)
      return fail(recording.error());
    return failed + compareWrappers(**gpu, *cases, fromRecording(*recording), suite);
  }
  auto simulator = Machine::simulator({});
  if (!simulator)
    return fail(simulator.error());
  return failed + compareWrappers(**gpu, *cases, fromMachine(**simulator), suite);
}
