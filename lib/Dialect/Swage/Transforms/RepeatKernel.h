//===- RepeatKernel.h - A kernel over another's iteration space -*- C++ -*-===//
#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_REPEATKERNEL_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_REPEATKERNEL_H

#include "mlir/IR/OwningOpRef.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// `kernel`, which reduces nothing, over the iteration space of `like`, where that is its own but
/// for extents of 1 and one that is shorter by a whole factor: its body is there that many times,
/// so that a point computes what that many did. Null where that is not so.
mlir::OwningOpRef<KernelOp> repeatOver(KernelOp kernel, KernelOp like);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_REPEATKERNEL_H
