//===- RowPattern.cpp - Pieces of decomposed norms and softmax ------------===//

#include "RowPattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace swage;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value swage::widened(Value value) {
  while (auto cast = value.getDefiningOp<arith::ExtFOp>()) {
    if (!tensorType(value).getElementType().isF32())
      break;
    value = cast.getIn();
  }
  return value;
}

std::optional<double> swage::splatOf(Value value) {
  for (Operation *op = value.getDefiningOp(); op && isa<BroadcastOp, ReshapeOp, arith::ExtFOp>(op);
       op = value.getDefiningOp())
    value = op->getOperand(0);
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  APFloat number = elements.getSplatValue<APFloat>();
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

std::string swage::textOf(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", number);
  return text;
}

double swage::roundedAs(double number, Value like) {
  APFloat rounded(number);
  bool losesInfo;
  rounded.convert(cast<FloatType>(tensorType(like).getElementType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Rows::Rows(ArrayRef<int64_t> shape, ArrayRef<int64_t> reduced) : full(shape), dims(reduced) {
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
    if (!llvm::is_contained(reduced, dim))
      keptDims.push_back(dim);
}

SmallVector<int64_t> Rows::kept() const {
  SmallVector<int64_t> shape;
  for (int64_t dim : keptDims)
    shape.push_back(full[dim]);
  return shape;
}

SmallVector<int64_t> Rows::keptAsOne() const {
  SmallVector<int64_t> shape(full);
  for (int64_t dim : dims)
    shape[dim] = 1;
  return shape;
}

std::optional<int64_t> Rows::length() const {
  int64_t n = 1;
  for (int64_t dim : dims) {
    if (ShapedType::isDynamic(full[dim]))
      return std::nullopt;
    n *= full[dim];
  }
  return n;
}

std::optional<int64_t> Rows::trailingAxis() const {
  int64_t axis = static_cast<int64_t>(full.size() - dims.size());
  return dims.front() == axis ? std::optional(axis) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// RowPattern
//===----------------------------------------------------------------------===//

bool RowPattern::miss(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return false;
}

void RowPattern::record(Operation *op, Stat stat) {
  matched.insert(op);
  if (stat != Stat::None)
    stats[op] = stat;
}

bool RowPattern::equivalent(Value a, Value b, int depth) {
  a = widened(a);
  b = widened(b);
  if (a == b)
    return true;
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (!depth || !opA || !opB || opA->getNumOperands() != opB->getNumOperands() ||
      opA->getName() != opB->getName() || opA->getNumRegions() || opA->getNumResults() != 1 ||
      opA->getAttrDictionary() != opB->getAttrDictionary() || a.getType() != b.getType())
    return false;
  return attempt([&] {
    for (auto [operandA, operandB] : llvm::zip_equal(opA->getOperands(), opB->getOperands()))
      if (!equivalent(operandA, operandB, depth - 1))
        return false;
    if (!isa<arith::ConstantOp>(opA))
      record(opA);
    return true;
  });
}

ReduceOp RowPattern::findReduce(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || !depth)
    return {};
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::Max && reduce.getKind() != ReduceKind::Min &&
                   tensorType(reduce.getX()).getShape() == tensorType(root->getResult(0)).getShape()
               ? reduce
               : ReduceOp();
  if (!isa<BroadcastOp, ReshapeOp, arith::ExtFOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
           arith::DivFOp, arith::MaximumFOp, math::SqrtOp, math::RsqrtOp, math::PowFOp>(op))
    return {};
  for (Value operand : op->getOperands())
    if (auto reduce = findReduce(operand, depth - 1))
      return reduce;
  return {};
}

Value RowPattern::rowValue(Value value, Stat stat) {
  SmallVector<int64_t> kept = rows->kept(), ones = rows->keptAsOne();
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
      ArrayRef<int64_t> in = tensorType(broadcast.getX()).getShape(),
                        out = tensorType(value).getShape();
      bool spreads = out == ArrayRef<int64_t>(rows->full) || out == ArrayRef<int64_t>(ones);
      bool fromKept =
          in == ArrayRef<int64_t>(kept) && broadcast.getDims() == ArrayRef<int64_t>(rows->keptDims);
      bool fromOnes = in == ArrayRef<int64_t>(ones) && in.size() == out.size();
      if (!spreads || !(fromKept || fromOnes))
        return value;
    } else if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
      ArrayRef<int64_t> in = tensorType(reshape.getX()).getShape(),
                        out = tensorType(value).getShape();
      auto known = [&](ArrayRef<int64_t> shape) {
        return shape == ArrayRef<int64_t>(kept) || shape == ArrayRef<int64_t>(ones);
      };
      if (!known(in) || !known(out) || llvm::count_if(kept, ShapedType::isDynamic) > 1)
        return value;
    } else if (!isa_and_nonnull<arith::ExtFOp>(op) || !tensorType(value).getElementType().isF32()) {
      return value;
    }
    record(op, stat);
    value = op->getOperand(0);
  }
}

Value RowPattern::reducedBy(ReduceKind kind, Value value) {
  auto reduce = rowValue(value).getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != kind ||
      tensorType(reduce.getX()).getShape() != ArrayRef<int64_t>(rows->full))
    return {};
  if (reduce.getDims() != ArrayRef<int64_t>(rows->dims)) {
    miss("reduces other dimensions than the rest of the pattern");
    return {};
  }
  record(reduce);
  return reduce.getX();
}

Value RowPattern::meanOf(Value value, Stat stat) {
  return attempt([&] { return matchMean(rowValue(value, stat), stat); });
}

Value RowPattern::matchMean(Value value, Stat stat) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ReduceOp>(op)) {
    Value whole = reducedBy(ReduceKind::Mean, value);
    if (whole)
      record(op, stat);
    else if (reducedBy(ReduceKind::Sum, value))
      miss("does not divide the sum by the length of a row");
    return whole;
  }
  Value sum, divisor;
  bool divides = isa_and_nonnull<arith::DivFOp>(op);
  if (divides)
    sum = op->getOperand(0), divisor = op->getOperand(1);
  else
    eitherOrder<arith::MulFOp>(value, [&](Value a, Value b) {
      sum = a, divisor = b;
      return splatOf(b).has_value();
    });
  std::optional<double> by = divisor ? splatOf(divisor) : std::nullopt;
  Value whole = by ? reducedBy(ReduceKind::Sum, sum) : Value();
  if (!whole)
    return {};
  std::optional<int64_t> length = rows->length();
  if (!length) {
    miss("divides by a constant, but the length of a row is dynamic");
    return {};
  }
  double n = static_cast<double>(*length);
  // A reciprocal may be rounded as constants of its type are, unless that is coarser than f32.
  bool right =
      divides ? *by == n : *by == roundedAs(1 / n, divisor) && std::abs(*by * n - 1) <= 0x1p-23;
  if (!right) {
    miss("divides a sum by " + textOf(divides ? *by : 1 / *by) + ", but a row has " +
         Twine(*length) + " elements");
    return {};
  }
  record(op, stat);
  return whole;
}

Value RowPattern::squareOf(Value value) {
  value = widened(value);
  if (auto product = value.getDefiningOp<arith::MulFOp>();
      product && equivalent(product.getLhs(), product.getRhs())) {
    record(product);
    return product.getLhs();
  }
  if (auto power = value.getDefiningOp<math::PowFOp>(); power && splatOf(power.getRhs()) == 2.0) {
    record(power);
    return power.getLhs();
  }
  return {};
}

Value RowPattern::centeredOf(Value value) {
  value = widened(value);
  auto difference = value.getDefiningOp<arith::SubFOp>();
  if (!difference)
    return {};
  return attempt([&]() -> Value {
    Value whole = meanOf(difference.getRhs(), Stat::Mean);
    if (!whole || !equivalent(whole, difference.getLhs()))
      return {};
    record(difference);
    return difference.getLhs();
  });
}

Value RowPattern::parameter(Value value) {
  auto broadcast = widened(value).getDefiningOp<BroadcastOp>();
  std::optional<int64_t> axis = rows->trailingAxis();
  if (!broadcast || !axis)
    return {};
  Value small = widened(broadcast.getX());
  ArrayRef<int64_t> row = ArrayRef<int64_t>(rows->full).drop_front(*axis);
  ArrayRef<int64_t> shape = tensorType(small).getShape();
  if (shape == row && broadcast.getDims() == ArrayRef<int64_t>(rows->dims))
    return small;
  // At full rank with leading ones.
  if (shape.size() == rows->full.size() && shape.drop_front(*axis) == row &&
      llvm::all_of(shape.take_front(*axis), [](int64_t extent) { return extent == 1; }))
    if (auto reshape = small.getDefiningOp<ReshapeOp>();
        reshape && tensorType(reshape.getX()).getShape() == row)
      return widened(reshape.getX());
  return {};
}
