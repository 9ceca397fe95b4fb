//===- Magnitude.cpp - How large a scalar may be --------------------------===//

#include "swage/Dialect/Swage/Analysis/Magnitude.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace swage;

/// Followed this far.
static constexpr int kDepth = 12;
/// What roundings on the way may add: of three to bf16, a maximum, a scale and its inverse.
static constexpr double kGrowth = 1 + 0x1p-6;
/// From here on a quotient by the largest absolute value, and one of such a quotient, has all of
/// its digits; constants are within this of 1.
static constexpr double kLeastMaximum = 1e-30, kMostConstant = 1e6;

static std::optional<double> constantOf(Value value) {
  FloatAttr number;
  if (!matchPattern(value, m_Constant(&number)))
    return std::nullopt;
  return number.getValueAsDouble();
}
/// Whether numbers may be scaled by a constant.
static bool isScale(double number) {
  return number >= 1 / kMostConstant && number <= kMostConstant;
}

/// What a number of a row is but for roundings to bf16, which has the exponents of f32.
static Value beforeRounding(Value value) {
  while (auto wide = value.getDefiningOp<arith::ExtFOp>()) {
    auto narrow = wide.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrow || !narrow.getType().isBF16() || narrow.getIn().getType() != wide.getType())
      break;
    value = narrow.getIn();
  }
  return value;
}

/// The operand beside a positive constant, which `constant` becomes; or null.
static Value besideConstant(Operation *op, double &constant) {
  for (unsigned i : {0, 1})
    if (std::optional<double> number = constantOf(op->getOperand(i)); number && *number > 0) {
      constant = *number;
      return op->getOperand(1 - i);
    }
  return {};
}

/// Whether a value is the largest absolute value of what `x` is one of, or more, and not tiny.
/// (Were x rounded and the largest one not, x alone might become infinite.)
static bool isLargestOf(Value value, Value x) {
  bool isKept = false;
  for (value = beforeRounding(value);;) {
    double least = 0;
    auto maximum = value.getDefiningOp<arith::MaximumFOp>();
    Value other = maximum ? besideConstant(maximum, least) : Value();
    if (!other)
      break;
    isKept |= least >= kLeastMaximum;
    value = beforeRounding(other);
  }
  auto collective = value.getDefiningOp<CollectiveOp>();
  return isKept && collective && collective.getKind() == Collective::AbsMax &&
         collective.getValue() == x;
}

/// The most that x / divisor can be in magnitude, by a largest absolute value in the divisor.
static std::optional<double> quotientBy(Value divisor, Value x) {
  divisor = beforeRounding(divisor);
  if (isLargestOf(divisor, x))
    return 1;
  if (auto quotient = divisor.getDefiningOp<arith::DivFOp>()) {
    std::optional<double> by = constantOf(quotient.getRhs());
    if (by && isScale(*by) && isLargestOf(quotient.getLhs(), x))
      return *by;
  }
  double factor = 0;
  if (auto product = divisor.getDefiningOp<arith::MulFOp>())
    if (Value most = besideConstant(product, factor);
        most && isScale(factor) && isLargestOf(most, x))
      return 1 / factor;
  return std::nullopt;
}

/// The most that x * factor can be in magnitude, where that is a quotient by such a value.
static std::optional<double> productWith(Value factor, Value x) {
  auto quotient = beforeRounding(factor).getDefiningOp<arith::DivFOp>();
  std::optional<double> over = quotient ? constantOf(quotient.getLhs()) : std::nullopt,
                        each = over && isScale(*over) ? quotientBy(quotient.getRhs(), x)
                                                      : std::nullopt;
  return each ? std::optional(*over * *each) : std::nullopt;
}

namespace {
struct Interval {
  double low = -INFINITY, high = INFINITY;
};
} // namespace

static Interval rangeOf(Value value, int depth = kDepth) {
  if (std::optional<double> number = constantOf(value))
    return {*number, *number};
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return {};
  auto within = [](std::optional<double> most) {
    return most ? Interval{-*most * kGrowth, *most * kGrowth} : Interval();
  };
  if (isa<arith::MinimumFOp, arith::MaximumFOp>(op)) {
    Interval a = rangeOf(op->getOperand(0), depth - 1), b = rangeOf(op->getOperand(1), depth - 1);
    return isa<arith::MinimumFOp>(op) ? Interval{std::min(a.low, b.low), std::min(a.high, b.high)}
                                      : Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  if (Value wide = beforeRounding(value); wide != value) {
    Interval range = rangeOf(wide, depth - 1);
    return {range.low < 0 ? range.low * kGrowth : range.low,
            range.high > 0 ? range.high * kGrowth : range.high};
  }
  if (auto quotient = dyn_cast<arith::DivFOp>(op))
    return within(quotientBy(quotient.getRhs(), quotient.getLhs()));
  if (auto product = dyn_cast<arith::MulFOp>(op)) {
    if (std::optional<double> most = productWith(product.getRhs(), product.getLhs()))
      return within(most);
    return within(productWith(product.getLhs(), product.getRhs()));
  }
  return {};
}

bool swage::isWithinLargest(KernelOp kernel, unsigned output) {
  auto type = dyn_cast<FloatType>(kernel.getOutput(output).getElement());
  if (!type || type.getIntOrFloatBitWidth() != 8)
    return false;
  Value value = cast<YieldOp>(kernel.getBody().front().getTerminator()).getValues()[output];
  // To the last numbers that still round to the largest one, but for half of the way.
  double largest = APFloat::getLargest(type.getFloatSemantics()).convertToDouble() * (1 + 0x1p-5);
  Interval range = rangeOf(value);
  return range.low > -largest && range.high < largest;
}
