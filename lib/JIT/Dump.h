//===- Dump.h - Files that show how a kernel came to be -------------------===//
#ifndef SWAGE_LIB_JIT_DUMP_H
#define SWAGE_LIB_JIT_DUMP_H

#include "mlir/Pass/PassManager.h"
#include "swage/JIT/Program.h"

#include <utility>

namespace swage {

struct LoweredModule;

/// Text of the IR after each pass: (file name, text).
struct IRSnapshots {
  /// Of the whole module; kernels are in it from fusion on.
  std::vector<std::pair<std::string, std::string>> modules;
  /// Of each kernel: (kernel, file name, text).
  struct OfKernel {
    std::string kernel, file, text;
  };
  std::vector<OfKernel> kernels;
};

/// Records the IR after each pass of `manager` into `snapshots`.
void recordPasses(mlir::PassManager &manager, IRSnapshots &snapshots);

/// An error now rather than after a minute of compiling.
Status checkDumpDir(const std::string &directory);

/// Where the dump has the source of a kernel.
std::string dumpedSource(const std::string &directory, const std::string &kernel);

/// Writes what `environment.dump` asks for, as far as it is there, each file complete or not at
/// all. `failureLog`: of the kernel that the compiler refused.
Status writeDump(const Options &environment, const IRSnapshots &snapshots,
                 const LoweredModule &lowered, const std::string &failureLog = {});

} // namespace swage

#endif // SWAGE_LIB_JIT_DUMP_H
