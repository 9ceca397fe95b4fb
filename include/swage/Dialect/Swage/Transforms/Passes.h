//===- Passes.h - The passes from a graph to kernels ------------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_PASSES_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Support/Options.h"

namespace swage {

#define GEN_PASS_DECL
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_PASSES_H
