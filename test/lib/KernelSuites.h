//===- KernelSuites.h - Kernels of the device layer, judged ------*- C++ -*-===//
//
// What swage-simt-tests does on the simulator and swage-gpu-tests on a GPU. Failures are printed as
// they come; the last line of each suite is its summary.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_KERNELSUITES_H
#define SWAGE_TEST_LIB_KERNELSUITES_H

#include "KernelProblem.h"
#include "WrapperCase.h"

#include <functional>
#include <optional>

namespace swage::test {

struct SuiteOptions {
  uint64_t seeds = 1;
  unsigned threads = 2; ///< that compile
  bool verbose = false;
  std::string only; ///< part of a name
};

Expected<std::vector<KernelProblem>> problemsIn(const std::vector<std::string> &files);

/// The problems of hand-written kernels against their references. Returns the number of failures.
int judgeKernels(Machine &machine, const std::vector<std::string> &files,
                 const SuiteOptions &options);

/// Whence the expected output of a wrapper's kernel comes; null: there is none.
using ExpectedOutput =
    std::function<Expected<std::optional<std::string>>(const WrapperCase &, uint64_t seed)>;
ExpectedOutput fromRecording(const Recording &recording);
/// What another machine computes: the simulator for a GPU.
ExpectedOutput fromMachine(Machine &machine);
/// From the references of WrapperReference.h.
ExpectedOutput fromReferences();

/// The kernels of test/Wrappers. Returns the number of failures; a kernel whose expected output is
/// missing is one.
int compareWrappers(Machine &machine, const std::vector<WrapperCase> &cases,
                    const ExpectedOutput &expected, const SuiteOptions &options);
/// Hand-written kernels, and those of the wrappers, in every order of threads and at every time of
/// asynchronous effects, `seeds` times each, checked too: the outputs must be the same to the bit,
/// and nothing may be found. Returns the number of failures.
int compareSchedules(const std::vector<KernelProblem> &problems,
                     const std::vector<WrapperCase> &cases, const SuiteOptions &options);

/// Keeps the outputs of this machine. Returns the number of failures.
int recordWrappers(Machine &machine, const std::vector<WrapperCase> &cases, Recording &recording,
                   const SuiteOptions &options);

} // namespace swage::test

#endif // SWAGE_TEST_LIB_KERNELSUITES_H
