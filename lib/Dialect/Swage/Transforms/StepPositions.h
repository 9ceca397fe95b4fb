//===- StepPositions.h - Floats of positions by steps -----------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_STEPPOSITIONS_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_STEPPOSITIONS_H

#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include <array>

namespace swage {

/// A number plus numbers of each coordinate.
struct Position {
  std::array<int64_t, AttentionDim::Count> strides = {};
  int64_t offset = 0;
};
/// a + sign b.
Position sumOf(Position a, const Position &b, int64_t sign);

/// What an integer of attention's body is, modulo 2 to the power of its bits, if it is a position.
std::optional<Position> positionOf(KernelOp kernel, mlir::Value value);

/// What attention's scores take of their key's position as a float becomes the same of the first
/// key that a thread has of a block, which it converts once, and a step from there, whose float is
/// a constant. Gives the sums of products that this made: fma(factor, step, factor * first).
llvm::DenseSet<mlir::Operation *> stepPositions(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_STEPPOSITIONS_H
