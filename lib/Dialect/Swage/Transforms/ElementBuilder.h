//===- ElementBuilder.h - Elements of tensors as scalars --------*- C++ -*-===//
//
// What a region that runs once for each element needs: the element of a graph value at coordinates,
// computed where that takes a few scalar ops, read by tensor.extract otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ELEMENTBUILDER_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ELEMENTBUILDER_H

#include "mlir/IR/Builders.h"
#include <map>
#include <vector>

namespace swage {

class ElementBuilder {
public:
  explicit ElementBuilder(mlir::OpBuilder &builder) : builder(builder) {}

  /// Says what the elements of `tensor` are; the caller answers for the coordinates.
  void define(mlir::Value tensor, mlir::Value scalar) { defined[tensor] = scalar; }

  /// The element at `coordinates`, one index for each dimension, as a kernel body holds it: floats
  /// are f32 or f64.
  mlir::Value at(mlir::Value tensor, llvm::ArrayRef<mlir::Value> coordinates);

private:
  mlir::Value compute(mlir::Operation *op, llvm::ArrayRef<mlir::Value> coordinates);
  mlir::Value widen(mlir::Value scalar);
  mlir::Value index(int64_t number, mlir::Location loc);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> defined;
  /// By the tensor and its coordinates.
  std::map<std::vector<const void *>, mlir::Value> known;
};

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ELEMENTBUILDER_H
