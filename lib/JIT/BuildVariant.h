//===- BuildVariant.h - A prepared module as plain data -------------------===//
#ifndef SWAGE_LIB_JIT_BUILDVARIANT_H
#define SWAGE_LIB_JIT_BUILDVARIANT_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/JIT/ProgramIR.h"

namespace swage {

/// A copy of a program's module on its way through the passes, and the variant that it becomes.
struct LoweredModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<KernelOp> kernels; ///< of `module`, in the order of the variant's
  std::shared_ptr<Variant> variant = std::make_shared<Variant>();
  std::optional<size_t> failedKernel; ///< the first that the compiler refused
};

/// Fills the variant of a prepared module: launches, what they need to know of sizes, guards, and
/// all that is known of its kernels without their source and machine code. The program's mutex must
/// be held.
Status buildVariant(ProgramIR &program, const std::string &arch, int indexBits,
                    LoweredModule &lowered);

/// What a function promises of its arguments' dynamic extents, in the order of Guards::extents.
std::vector<Guards::Extent> promisesOf(mlir::func::FuncOp entry);

/// Whether all outputs are empty whatever the runtime sizes are.
bool isAlwaysEmpty(KernelOp kernel);

} // namespace swage

#endif // SWAGE_LIB_JIT_BUILDVARIANT_H
