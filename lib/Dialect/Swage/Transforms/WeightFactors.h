//===- WeightFactors.h - What softmax is multiplied by ----------*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_WEIGHTFACTORS_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_WEIGHTFACTORS_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// What the results of a softmax are multiplied by: a number, tensors, and conditions without which
/// they are 0. Dropout is the first and the last.
class WeightFactors {
public:
  /// Takes the factor of a product, or the number that a quotient divides by. Returns what is
  /// multiplied or divided; null where that is made of no softmax, or nothing of this kind is.
  mlir::Value take(mlir::Operation *op);
  /// Takes a tensor of conditions: results are 0 where one is not `keeps`.
  void keep(mlir::Value condition, bool keeps) { kept.push_back({condition, keeps}); }

  bool empty() const { return number == 1 && tensors.empty() && kept.empty(); }
  /// Why `softmax` is not multiplied by these, element by element; empty if it is.
  std::string problem(SoftmaxOp softmax) const;
  /// The factor of the element at these coordinates.
  mlir::Value at(llvm::ArrayRef<mlir::Value> coordinates, mlir::FloatType type,
                 mlir::OpBuilder &builder, mlir::Location loc) const;

private:
  struct Kept {
    mlir::Value condition;
    bool keeps; ///< where it is true
  };
  double number = 1;
  llvm::SmallVector<mlir::Value> tensors;
  llvm::SmallVector<Kept> kept;
};

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_WEIGHTFACTORS_H
