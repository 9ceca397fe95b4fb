//===- swage-gpu-tests.cpp - What only a GPU can show ---------------------===//
//
//   swage-gpu-tests random [COUNT [FIRST]] [--threads=N]
//   swage-gpu-tests compile [COUNT [FIRST]]: the same graphs, without a GPU
//   swage-gpu-tests numerics [--only=PART]: rows that break careless arithmetic, in every row class
//   swage-gpu-tests latency
//   swage-gpu-tests wrappers [--root=DIR] [--recorded=FILE] [--seeds=N] [--only=PART]
//       the kernels of test/Wrappers against what `swage-simt-tests record` has kept, or the
//       simulator here; those of test/Simt/Kernels and test/Templates against references.  DIR is
//       the source tree
//
// Exit code 77, which ctest counts as skipped, without a GPU or NVRTC.
//
//===----------------------------------------------------------------------===//
#include "Modes.h"
#include "NumericsSuite.h"
#include "RandomGraphSuite.h"

#include "swage/JIT/Nvrtc.h"
#include "swage/Support/Text.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace swage;

static int usage() {
  std::fputs(
      "usage: swage-gpu-tests random [COUNT [FIRST]] [--threads=N]\n"
      "       swage-gpu-tests numerics [--only=PART] [--threads=N]\n"
      "       swage-gpu-tests latency\n"
      "       swage-gpu-tests wrappers [--root=DIR] [--recorded=FILE] [--seeds=N] [--only=PART]\n"
      "       swage-gpu-tests compile [COUNT [FIRST]]\n",
      stderr);
  return 1;
}

static int report(const Status &status) {
  if (status)
    return 0;
  std::printf("%s\n", status.error().str().c_str());
  return 1;
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc), plain;
  test::WrapperOptions wrappers;
  unsigned threads = 16;
  for (const std::string &word : words) {
    if (word.compare(0, 10, "--threads=") == 0)
      threads = unsigned(std::max(1, std::atoi(word.c_str() + 10)));
    else if (word.compare(0, 7, "--root=") == 0)
      wrappers.root = word.substr(7);
    else if (word.compare(0, 11, "--recorded=") == 0)
      wrappers.recorded = word.substr(11);
    else if (word.compare(0, 8, "--seeds=") == 0)
      wrappers.seeds = unsigned(std::max(1, std::atoi(word.c_str() + 8)));
    else if (word.compare(0, 7, "--only=") == 0)
      wrappers.only = word.substr(7);
    else if (word.compare(0, 1, "-") == 0)
      return usage();
    else
      plain.push_back(word);
  }
  if (plain.empty())
    return usage();
  std::string mode = plain[0];
  plain.erase(plain.begin());
  test::RandomGraphOptions graphs;
  graphs.count = plain.empty() ? 300 : std::strtoull(plain[0].c_str(), nullptr, 10);
  graphs.begin = plain.size() < 2 ? 0 : std::strtoull(plain[1].c_str(), nullptr, 10);
  graphs.threads = threads;
  if (mode == "compile")
    return test::compileRandomGraphs("sm_90a", graphs) == 0 ? 0 : 1;
  auto device = Device::open();
  if (!device) {
    std::printf("skipped: %s\n", device.error().message.c_str());
    return 77;
  }
  if (auto nvrtc = Nvrtc::get(); !nvrtc) {
    std::printf("skipped: %s\n", nvrtc.error().message.c_str());
    return 77;
  }
  if (mode != "start-child")
    std::printf("%s\n", device->properties().name.c_str());
  std::fflush(stdout);
  if (mode == "random")
    return test::runRandomGraphs(*device, graphs) == 0 ? 0 : 1;
  if (mode == "numerics")
    return test::runNumerics(*device, {threads, nullptr, wrappers.only}) == 0 ? 0 : 1;
  if (mode == "wrappers") {
    wrappers.threads = threads;
    return test::runWrappers(wrappers) == 0 ? 0 : 1;
  }
  if (mode == "latency")
    return report(test::runLatency(*device, "/proc/self/exe"));
  if (mode == "latency-child" && plain.size() == 1)
    return report(test::runLatencyChild(*device, plain[0]));
  if (mode == "start-child" && plain.size() == 2)
    return report(test::runStartChild(*device, plain[0], plain[1]));
  return usage();
}
