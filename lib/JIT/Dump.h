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

/// Writes everything there is into `directory`, each file complete or not at all; after a failure
/// also the compiler's log, next to the source that it is about.
Status writeDump(const std::string &directory, const IRSnapshots &snapshots,
                 const LoweredModule &lowered, const Error *failure = nullptr);

} // namespace swage

#endif // SWAGE_LIB_JIT_DUMP_H
