//===- EmitCuda.h - A prepared kernel as CUDA source ------------*- C++ -*-===//
//
// The text is a small Spec struct and an entry point over one of the templates in templates/swage;
// codegen/README.md describes it. Emission only prints what attributes say and never changes IR.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_CODEGEN_EMITCUDA_H
#define SWAGE_CODEGEN_EMITCUDA_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include <string>

namespace swage {

struct KernelSource {
  std::string name; ///< of the extern "C" entry point: the kernel's symbol
  std::string text;
};

/// Prints a kernel that `swage-prepare-for-emission` has been through; errors are diagnostics at
/// the op that has no CUDA form.
///
/// The entry point takes one pointer for each input view, in order, then one for each output view,
/// each to the beginning of the view's tensor; then, where the kernel has runtime sizes, one struct
/// by value: the sizes as integers of the schedule's index width, then one Divider
/// (templates/swage/ index.cuh) for each result of the geometry's `dividers`.
mlir::FailureOr<KernelSource> emitCuda(KernelOp kernel);

} // namespace swage

#endif // SWAGE_CODEGEN_EMITCUDA_H
