//===- FusionGraph.h - What fusion does to the graph first ------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_FUSIONGRAPH_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_FUSIONGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace swage {

/// Whether a kernel is made of ops like this one; index ops and constants only shape how they read.
bool isKernelNode(mlir::Operation *op);

/// Every op of the function must be one that a kernel can hold; what is not is an error at the op.
mlir::LogicalResult checkKernelOps(mlir::func::FuncOp function);

/// Pattern: f(concat(a, b)) -> concat(f(a), f(b)) for a permute, a cast or another elementwise op of one operand, so that
/// the parts are written where they end up.
void sinkConcats(mlir::func::FuncOp function);

/// Function results that no op of a kernel gives get a copy; without fusion, so does every index op.
void insertResultCopies(mlir::func::FuncOp function, bool fuse);
/// A cache that rows are added to and that is in no memory, a constant or a view that no
/// canonicalisation has moved behind the rows, is copied first.
void insertCacheCopies(mlir::func::FuncOp function);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_FUSIONGRAPH_H
