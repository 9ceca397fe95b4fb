//===- ExecutableState.h - What Executable holds --------------------------===//
#ifndef SWAGE_LIB_JIT_EXECUTABLESTATE_H
#define SWAGE_LIB_JIT_EXECUTABLESTATE_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/JIT/ProgramIR.h"

#include <map>
#include <optional>

namespace swage {

/// A launch as the module has it: everything symbolic.
struct SymbolicLaunch {
  /// An extent of an argument: what a runtime size is.
  struct Size {
    unsigned argument;
    unsigned dim;
  };
  /// Where a tensor comes from or goes to: an argument, a result of the function, or a result of a
  /// launch that stays in the workspace.
  struct Place {
    BufferKind kind;
    unsigned index; ///< for the workspace: of the value, counted over all launches
  };

  unsigned kernel = 0;
  std::vector<Size> sizes;
  std::vector<Place> inputs, outputs;
};

/// The kernels for one index width.
struct Variant {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<KernelOp> ops; ///< of `module`, in the order of `kernels`
  std::vector<KernelInfo> kernels;
  std::vector<SymbolicLaunch> launches;
  unsigned workspaceValues = 0;
  std::vector<std::string> remarks, stored;
};

struct Executable::State {
  std::shared_ptr<Program::State> program;
  CompileOptions options;
  Variant narrow;
  std::mutex mutex; ///< of what follows
  std::optional<Variant> wide;
  std::map<std::pair<const KernelBinary *, const cuda::Driver *>, std::shared_ptr<Kernel>> loaded;

  const Variant &variant(int indexBits);
  Expected<std::shared_ptr<Kernel>> load(const KernelInfo &kernel, const Device &device);
};

/// Passes, emission and the compiler. The program's mutex must be held.
Expected<Variant> compileVariant(Program::State &program, const CompileOptions &options,
                                 int indexBits);

/// What a run with these shapes looks like, or nothing where an offset does not fit the kernels'
/// index type.
Expected<std::optional<Layout>> layOut(const Program::State &program, Variant &variant,
                                       const std::vector<Dims> &inputs);

/// Width of the index type of a kernel's schedule.
int indexBitsOf(KernelOp kernel);

} // namespace swage

#endif // SWAGE_LIB_JIT_EXECUTABLESTATE_H
