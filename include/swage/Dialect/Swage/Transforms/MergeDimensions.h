//===- MergeDimensions.h - Least rank of an iteration space -----*- C++ -*-===//
//
// The rule behind --swage-merge-dimensions, free of IR so that it can be tested against brute
// force.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_MERGEDIMENSIONS_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_MERGEDIMENSIONS_H

#include "swage/Dialect/Swage/IR/SizeExpr.h"

namespace swage {

/// Dimensions in program order, and how each operand walks them.
struct IterationSpace {
  llvm::SmallVector<mlir::AffineExpr> extents;
  llvm::SmallVector<bool> reduced;
  /// Those of the reduced dimensions that a last collective goes over by themselves; empty if none
  /// are.
  llvm::SmallVector<bool> grouped;
  llvm::SmallVector<LinearAccess> accesses;
};

/// The equivalent space of least rank: extents of 1 are gone, kept dimensions stand before reduced
/// ones and grouped ones come last, each sorted by the stride of `leader` (an index into
/// `accesses`, one for the kept and one for the reduced dimensions), and neighbours that every
/// operand walks as one are merged. Visits the same set of operand offsets together; never wraps (a
/// product beyond 64 bits is not merged). Has at least one dimension.
IterationSpace mergeDimensions(const IterationSpace &space, unsigned keptLeader,
                               unsigned reducedLeader, mlir::MLIRContext *context);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_MERGEDIMENSIONS_H
