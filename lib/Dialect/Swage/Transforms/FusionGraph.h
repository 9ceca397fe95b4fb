//===- FusionGraph.h - What fusion does to the graph first ------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_FUSIONGRAPH_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_FUSIONGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace swage {

/// Whether a kernel is made of ops like this one; index ops and constants only shape how they read.
bool isKernelNode(mlir::Operation *op);

/// Erases an op whose results nobody reads, and what computes what it alone has read.
void eraseUnread(mlir::Operation *op);

/// Every op of the function must be one that a kernel can hold; what is not is an error at the op.
mlir::LogicalResult checkKernelOps(mlir::func::FuncOp function);

/// Pattern: f(concat(a, b), y) -> concat(f(a, part of y), f(b, part of y)) for a permute or an
/// elementwise op, also behind a reshape, so that the parts are written where they end up
/// (SinkConcats.cpp).
void sinkConcats(mlir::func::FuncOp function);

/// Function results that no op of a kernel gives get a copy; without fusion, so does every index op.
void insertResultCopies(mlir::func::FuncOp function, bool fuse);
/// A cache that rows are added to and that is in no memory, a constant or a view that no
/// canonicalisation has moved behind the rows, is copied first.
void insertCacheCopies(mlir::func::FuncOp function);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_FUSIONGRAPH_H
