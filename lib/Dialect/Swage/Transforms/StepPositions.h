//===- StepPositions.h - Floats of positions by steps -----------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_STEPPOSITIONS_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_STEPPOSITIONS_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// What attention's scores take of their key's position as a float becomes the same of the first
/// key that a thread has of a block, which it converts once, and a step from there, whose float is
/// a constant. Gives the sums of products that this made: fma(factor, step, factor * first).
llvm::DenseSet<mlir::Operation *> stepPositions(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_STEPPOSITIONS_H
