//===- RandomGraphSuite.h - Random graphs against the reference -*- C++ -*-===//
#ifndef SWAGE_TEST_LIB_RANDOMGRAPHSUITE_H
#define SWAGE_TEST_LIB_RANDOMGRAPHSUITE_H

#include "swage/JIT/Program.h"

namespace swage::test {

struct RandomGraphOptions {
  uint64_t begin = 0, count = 300; ///< seeds
  unsigned threads = 16;           ///< that compile
  /// Null: NVRTC.
  std::shared_ptr<const KernelCompiler> compiler;
  bool unfused = true; ///< each graph a second time, one kernel for each op
  /// Only on inputs of the graph's own family, and with one poison: enough for numerics.
  bool brief = false;
};

/// Compiles and runs the graphs on the device, and judges every result.  Returns the number of
/// failures.
int runRandomGraphs(const Device &device, const RandomGraphOptions &options);

/// Only compiles them, which needs no device.
int compileRandomGraphs(const std::string &arch, const RandomGraphOptions &options);

} // namespace swage::test

#endif // SWAGE_TEST_LIB_RANDOMGRAPHSUITE_H
