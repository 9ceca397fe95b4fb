//===- NumericsSuite.h - Awkward rows through every class of rows -*- C++ -*-===//
#ifndef SWAGE_TEST_LIB_NUMERICSSUITE_H
#define SWAGE_TEST_LIB_NUMERICSSUITE_H

#include "swage/JIT/Program.h"

namespace swage::test {

struct NumericsOptions {
  unsigned threads = 16; ///< that compile
  /// Null: NVRTC.
  std::shared_ptr<const KernelCompiler> compiler;
  std::string only; ///< part of a case's name, "layer_norm f16 cluster"
};

/// Norms and softmax of rows as docs/numerics.md lists them, in every row class, against what that
/// page promises.  Returns the number of failures.
int runNumerics(const Device &device, const NumericsOptions &options);

} // namespace swage::test

#endif // SWAGE_TEST_LIB_NUMERICSSUITE_H
