//===- ScoreTerms.h - A score function as a sum -----------------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_SCORETERMS_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_SCORETERMS_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// What the softmax of a kernel with attention takes is, where no mask hides it,
/// scale * (its operand + offset).
struct ScoreTerms {
  double scale = 1;    ///< positive
  mlir::Value offset;  ///< the same for all keys that a thread has of a block; or null
  mlir::Value visible; ///< the operand behind its masks
  /// For scores of at most `reach` in magnitude: the binary logarithm of a weight, to which `base`
  /// is added, an operand that is not made yet; or null. It rises with the score, and with the key
  /// throughout or nowhere.
  mlir::Value exponent, base;
  double reach = 0;
  /// The same in fewer instructions, for scores of at most `nearReach`; or null. It is the same
  /// along queries, from one of which to the next `offset` changes by as much for all keys.
  mlir::Value nearExponent;
  double nearReach = 0;
};

/// Takes from the softmax's operand what need not be added, or multiplied, for each score.
ScoreTerms splitScore(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_SCORETERMS_H
