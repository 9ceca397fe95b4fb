//===- Evaluator.h - One run of the oracle ----------------------*- C++ -*-===//
//
// The values of a function's one block, in order. What it does with values and the ops that compute
// is in Interpreter.cpp, ops that make or move elements are in EvaluateMovement.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_REFERENCE_EVALUATOR_H
#define SWAGE_LIB_REFERENCE_EVALUATOR_H

#include "Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Reference/Interpreter.h"
#include "llvm/ADT/DenseMap.h"

namespace swage::reference {

using GraphValue = mlir::Value;

class Evaluator {
public:
  Evaluator(mlir::func::FuncOp function, llvm::ArrayRef<const Tensor *> inputs,
            const EvaluateOptions &options)
      : function(function), inputs(inputs), options(options) {}

  mlir::FailureOr<std::vector<Value>> run();

private:
  mlir::LogicalResult checkInputs();

  static bool isReturn(mlir::Operation *op) { return mlir::isa<mlir::func::ReturnOp>(op); }

  /// Returned values are kept apart.
  void countUses(GraphValue value);

  /// Drops the value if this was its last use.
  void release(GraphValue value);

  /// By value, which is cheap, since a later insertion moves the map's entries.
  Value operandOf(GraphValue value);

  /// Refuses what would not fit, before it is allocated.
  mlir::LogicalResult reserve(mlir::Operation *op, llvm::ArrayRef<int64_t> shape, bool isSplat);

  /// Whether the passes make a constant of the op, which is rounded to its type whatever it would
  /// be in a kernel.
  bool isFolded(mlir::Operation *op);

  /// Takes over the value of a result: what the precision rule says about stored values.
  mlir::LogicalResult define(mlir::Operation *op, GraphValue result, Value value);

  static Value rounded(const Value &value, Number (*round)(ElementType, const Number &));

  mlir::LogicalResult evaluateOp(mlir::Operation *op);
  mlir::LogicalResult evaluateConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult evaluateElementwise(mlir::Operation *op, const Scalar &scalar);
  mlir::LogicalResult evaluateNorm(mlir::Operation *op);
  mlir::LogicalResult evaluateSoftmax(SoftmaxOp op, Precision precision);
  mlir::LogicalResult evaluateMatmul(MatmulOp op);
  mlir::LogicalResult evaluateAttention(AttentionOp op);
  mlir::LogicalResult evaluateSource(mlir::Operation *op, mlir::ValueRange sizes,
                                     llvm::function_ref<Value(llvm::ArrayRef<int64_t>)> make);
  mlir::LogicalResult evaluateReshape(mlir::Operation *op, Shape shape, mlir::ValueRange sizes);
  mlir::LogicalResult evaluateBroadcast(BroadcastOp op);
  mlir::LogicalResult evaluateSlice(SliceOp op);
  mlir::LogicalResult evaluateConcat(ConcatOp op);
  mlir::LogicalResult evaluatePages(PagesOp op);
  mlir::LogicalResult evaluateAppend(AppendOp op);
  mlir::LogicalResult evaluateDim(mlir::tensor::DimOp op);

  /// Replaces the dynamic extents of a shape by the values of `sizes`, in order.
  mlir::LogicalResult resolveSizes(mlir::Operation *op, Shape &shape, mlir::ValueRange sizes);

  static ElementType typeOf(GraphValue value);
  /// The extents of a type; a scalar has none.
  static llvm::ArrayRef<int64_t> declaredShape(mlir::Type type);

  mlir::func::FuncOp function;
  llvm::ArrayRef<const Tensor *> inputs;
  const EvaluateOptions &options;
  llvm::DenseMap<GraphValue, Value> values;
  llvm::DenseMap<GraphValue, Value> outputs; ///< returned values, as they were before rounding
  llvm::DenseMap<GraphValue, unsigned> uses;
  llvm::DenseMap<GraphValue, mlir::Attribute> constants; ///< known before anything runs
};

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_EVALUATOR_H
