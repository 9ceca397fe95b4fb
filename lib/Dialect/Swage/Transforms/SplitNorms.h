//===- SplitNorms.h - Norms that are read part by part ----------*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SPLITNORMS_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SPLITNORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace swage {

/// Pattern: slices of f(norm(x)) -> slices of f(concat(norm's part of x, norm's part of x))
///
/// For RMSNorms of one dimension of which all that is read are equal parts, slices and behind ops
/// that `mayMove` behind a concatenation: what is computed of several parts, as a rotary embedding
/// is, is then one kernel with the norm. Says whether it found any.
bool splitNorms(mlir::func::FuncOp function, llvm::function_ref<bool(mlir::Operation *)> mayMove);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SPLITNORMS_H
