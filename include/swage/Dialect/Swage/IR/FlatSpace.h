//===- FlatSpace.h - Points that are counted through ------------*- C++ -*-===//
//
// A pointwise schedule with `tail` counts its vectors over all points, wherever rows end
// (templates/swage/pointwise.cuh). What lies in memory as the points are counted goes by whole
// vectors, and what is the same along some dimension by single elements.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_FLATSPACE_H
#define SWAGE_DIALECT_SWAGE_IR_FLATSPACE_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Whether an operand's elements lie in memory, or its random bits in their stream, as the kernel's
/// points are counted, innermost dimension first, without gaps.
bool isFlat(KernelOp kernel, ViewAttr view);

/// Whether a kernel's points may be counted through: nothing is reduced, results are flat, and
/// each input is, stands still along some dimension, or is computed.
bool isFlatSpace(KernelOp kernel);

/// How an operand of a flat space is accessed where its points are counted through: flat ones by
/// Vector, what is the same everywhere as Splat, all others by Gather.
Access countedAccess(KernelOp kernel, ViewAttr view);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_FLATSPACE_H
