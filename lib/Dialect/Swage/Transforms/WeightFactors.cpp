//===- WeightFactors.cpp - What softmax is multiplied by ------------------===//

#include "WeightFactors.h"
#include "ElementBuilder.h"
#include "KernelBuilder.h"
#include "RowPattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace swage;

/// Whether elementwise and index ops make a value of a softmax.
static bool isOfSoftmax(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return false;
  if (isa<SoftmaxOp>(op))
    return true;
  return (isElementwiseOp(op) || isIndexOp(op)) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return isOfSoftmax(operand, seen); });
}

/// Whether a value is made, by whatever ops, of what `op` gives.
static bool isMadeOf(Value value, Operation *op) {
  SmallVector<Value> worklist = {value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val().getDefiningOp();
    if (next == op)
      return true;
    if (next && seen.insert(next).second)
      llvm::append_range(worklist, readBy(next));
  }
  return false;
}

Value WeightFactors::take(Operation *op) {
  auto isWeight = [](Value value) {
    llvm::SmallPtrSet<Operation *, 16> seen;
    return isOfSoftmax(value, seen);
  };
  bool isQuotient = isa<arith::DivFOp>(op);
  Value weight = op->getOperand(0), factor = op->getOperand(1);
  if (!isQuotient && !isWeight(weight))
    std::swap(weight, factor);
  if (!isWeight(weight) || isWeight(factor))
    return {};
  if (std::optional<double> splat = splatOf(factor)) {
    number *= isQuotient ? 1 / *splat : *splat;
    return std::isfinite(number) ? weight : Value();
  }
  if (isQuotient)
    return {};
  auto ones = factor.getDefiningOp<arith::UIToFPOp>();
  if (ones && tensorType(ones.getIn()).getElementType().isInteger(1))
    keep(ones.getIn(), true);
  else
    tensors.push_back(factor);
  return weight;
}

std::string WeightFactors::problem(SoftmaxOp softmax) const {
  SmallVector<Value> all(tensors);
  for (const Kept &part : kept)
    all.push_back(part.condition);
  for (Value tensor : all) {
    if (tensorType(tensor).getShape() != tensorType(softmax.getX()).getShape())
      return "the weights are reshaped before they are multiplied";
    if (isMadeOf(tensor, softmax))
      return "the weights are multiplied by what is made of them";
  }
  return {};
}

/// Conditions come last, so that what is kept is a select of a number and 0 where it can be.
Value WeightFactors::at(ArrayRef<Value> coordinates, FloatType type, OpBuilder &builder,
                        Location loc) const {
  ElementBuilder elements(builder);
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
  };
  Value factor = constant(number);
  for (Value tensor : tensors)
    factor = arith::MulFOp::create(builder, loc, factor, elements.at(tensor, coordinates));
  for (const Kept &part : kept) {
    Value yes = factor, no = constant(0);
    if (!part.keeps)
      std::swap(yes, no);
    factor =
        arith::SelectOp::create(builder, loc, elements.at(part.condition, coordinates), yes, no);
  }
  return factor;
}
