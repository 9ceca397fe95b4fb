//===- Approximation.cpp - What may be computed in fewer steps ------------===//
//
// The exact forms of functions (device/math.cuh) are worth a digit that elements of 16 bits do not
// have: a division that is right to the last bit takes a dozen instructions and a branch, one that
// is off by two units in the last place of an f32 takes 8, or 2 by what is the same for a row. So
// they do where no step between there and the results makes more of a small error than it was:
// comparisons jump. The exponential in two instructions has an error that grows with its argument,
// by 2^-24 of that; nothing may magnify it, as differences do and sums of numbers of one sign do
// not.
//
// Quotients that become 8 bits, or whole numbers of these, are often halfway between two of them:
// there the division has to be right, which takes three instructions more.
//
// Attention's scores end in weights of 16 bits, unless the sums of these are asked for.
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/Analysis/Approximation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cmath>

using namespace mlir;
using namespace swage;

namespace {

/// What may become of an error on its way to the results.
enum class Growth {
  Smooth,  ///< any multiple of it
  Relative ///< no more of a value than it was of those before it
};

class Sight {
public:
  Sight(KernelOp kernel, Growth growth) : kernel(kernel), growth(growth) {}

  /// Whether everything that is made of `value` ends as the growth allows.
  bool endsNarrow(Value value) {
    return !seen.insert(value).second ||
           llvm::all_of(value.getUses(), [&](OpOperand &use) { return mayUse(use); });
  }
  /// Whether something is rounded to 8 bits, or to whole numbers, on its way there.
  bool becomesBytes = false, becomesWhole = false;

private:
  static bool isNarrow(Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 16;
  }
  bool mayUse(OpOperand &use);

  KernelOp kernel;
  Growth growth;
  llvm::SmallPtrSet<Value, 16> seen;
};

} // namespace

/// Followed this far.
static constexpr int kDepth = 8;

/// Whether a scalar of the body is at least 0, or NaN.
static bool isNonNegative(Value value, int depth = kDepth) {
  FloatAttr number;
  if (matchPattern(value, m_Constant(&number)))
    return !number.getValue().isNegative();
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<math::ExpOp, math::Exp2Op, math::AbsFOp, math::SqrtOp, math::RsqrtOp>(op))
    return true;
  if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
    return true;
  return isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::ExtFOp, arith::TruncFOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value x) { return isNonNegative(x, depth - 1); });
}

bool Sight::mayUse(OpOperand &use) {
  Operation *op = use.getOwner();
  bool mayPass = growth == Growth::Smooth;
  if (isa<YieldOp>(op)) {
    Type element = kernel.getOutput(use.getOperandNumber()).getElement();
    becomesBytes |= element.getIntOrFloatBitWidth() == 8;
    return isNarrow(element) || (becomesWhole && element.isInteger(8));
  }
  if (isa<ContractOp>(op)) // rounds to what is in memory
    return isNarrow(kernel.getInput(AttentionInput::Values).getElement());
  if (kernel.isAttention() && isa<CollectiveOp>(op))
    return mayPass && llvm::all_of(op->getResults(), [&](Value x) { return endsNarrow(x); });
  // What is rounded in the middle of a graph may come out as a neighbour. A few units of an f32 are
  // allowed for that, more are not.
  if (isa<arith::TruncFOp>(op) && isNarrow(op->getResult(0).getType())) {
    becomesBytes |= op->getResult(0).getType().getIntOrFloatBitWidth() == 8;
    return mayPass;
  }
  if (auto collective = dyn_cast<CollectiveOp>(op))
    mayPass |= llvm::is_contained(
        {Collective::RmsNorm, Collective::AbsMax, Collective::Max, Collective::Min},
        collective.getKind());
  else if (isa<arith::AddFOp>(op))
    mayPass |= llvm::all_of(op->getOperands(), [](Value x) { return isNonNegative(x); });
  else if (isa<arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::SelectOp, math::AbsFOp,
               math::SqrtOp, math::RsqrtOp>(op))
    mayPass = true;
  else if (isa<math::RoundEvenOp, arith::FPToSIOp>(op))
    becomesWhole = true;
  else if (isa<math::Log1pOp>(op)) // steep only near -1
    mayPass = isNonNegative(op->getOperand(0));
  else if (!isa<arith::SubFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                arith::MinNumFOp, math::ClampFOp, math::FmaOp, math::ExpOp, math::Exp2Op,
                math::ExpM1Op, math::TanhOp, math::ErfOp>(op))
    return false;
  // A norm's or softmax's first result is the element; what nobody has of it is not narrow.
  return mayPass && !op->getResult(0).use_empty() && endsNarrow(op->getResult(0));
}

/// Whether an exponential or the like is in what a value is made of: no quotient of it is halfway
/// between two numbers of few bits.
static bool isTranscendental(Value value, int depth = kDepth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || isa<CollectiveOp>(op))
    return false;
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::TanhOp, math::ErfOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value x) { return isTranscendental(x, depth - 1); });
}

/// Whether a scalar is only added to numbers beside which the denormal ones vanish.
static bool mayLoseDenormals(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    FloatAttr number;
    return isa<arith::AddFOp>(user) && llvm::any_of(user->getOperands(), [&](Value x) {
             return matchPattern(x, m_Constant(&number)) && number.getValueAsDouble() >= 0x1p-100;
           });
  });
}

/// What a sum of 1 and a hyperbolic tangent adds to 1, or null.
static math::TanhOp tanhBesideOne(arith::AddFOp sum) {
  FloatAttr number;
  for (auto [x, y] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (auto tanh = x.getDefiningOp<math::TanhOp>();
        tanh && matchPattern(y, m_Constant(&number)) && number.getValue().isExactlyValue(1.0))
      return tanh;
  return {};
}

/// The largest factor between a bound on attention's scores and these.
static constexpr double kMostBound = 256;

/// Whether a value is only multiplied by numbers and added to others on its way to the softmax,
/// where an error counts by its size, and is at most `kMostBound` times what it was at the end.
static bool isPartOfScore(Value value, double factor) {
  if (factor > kMostBound)
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    FloatAttr number;
    if (isa<CollectiveOp>(user))
      return true;
    if (isa<arith::MulFOp>(user))
      return llvm::any_of(user->getOperands(),
                          [&](Value x) { return matchPattern(x, m_Constant(&number)); }) &&
             isPartOfScore(user->getResult(0), factor * std::fabs(number.getValueAsDouble()));
    return isa<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::SelectOp>(user) &&
           isPartOfScore(user->getResult(0), factor);
  });
}

/// What a value is multiplied by, where that is known: x and b of x * b or x / (1 / b).
static std::optional<std::pair<Value, double>> factorOf(Value value) {
  FloatAttr number;
  if (auto product = value.getDefiningOp<arith::MulFOp>();
      product && matchPattern(product.getRhs(), m_Constant(&number)))
    return std::pair(product.getLhs(), number.getValueAsDouble());
  if (auto quotient = value.getDefiningOp<arith::DivFOp>();
      quotient && matchPattern(quotient.getRhs(), m_Constant(&number)))
    return std::pair(quotient.getLhs(), 1 / number.getValueAsDouble());
  return std::nullopt;
}

/// Pattern: a tanh(b x) in a score -> 2 a / (1 + exp2(-2 b log2(e) x)) - a, within 2^-22 a.
static void replaceScoreTanh(KernelOp kernel) {
  for (auto tanh : llvm::make_early_inc_range(kernel.getBody().front().getOps<math::TanhOp>())) {
    if (!bitEnumContainsAll(tanh.getFastmath(), arith::FastMathFlags::afn) ||
        !isPartOfScore(tanh.getResult(), 1))
      continue;
    OpBuilder builder(tanh);
    Location loc = tanh.getLoc();
    auto constant = [&](double number) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getF32FloatAttr(static_cast<float>(number)));
    };
    Value x = tanh.getOperand();
    double factor = -2 * M_LOG2E;
    FloatAttr number;
    for (auto product = factorOf(x);
         product && std::isfinite(static_cast<float>(factor * product->second));
         product = factorOf(x)) {
      factor *= product->second;
      x = product->first;
    }
    Value power =
        math::Exp2Op::create(builder, loc, arith::MulFOp::create(builder, loc, x, constant(factor)),
                             arith::FastMathFlags::afn);
    Value divisor = arith::AddFOp::create(builder, loc, power, constant(1));
    auto bounded = [&](double a) -> Value {
      auto part = arith::DivFOp::create(builder, loc, constant(2 * a), divisor,
                                        arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
      return arith::AddFOp::create(builder, loc, part, constant(-a));
    };
    for (Operation *user : llvm::make_early_inc_range(tanh->getUsers()))
      if (auto product = dyn_cast<arith::MulFOp>(user);
          product && matchPattern(product.getRhs(), m_Constant(&number))) {
        builder.setInsertionPoint(product);
        product.replaceAllUsesWith(bounded(number.getValueAsDouble()));
        product.erase();
      }
    builder.setInsertionPoint(tanh);
    if (!tanh.use_empty())
      tanh.replaceAllUsesWith(bounded(1));
    tanh.erase();
  }
}

/// Whether what is made of a value ends in few bits, and is not rounded to whole numbers before.
static bool endsNarrow(KernelOp kernel, Value value, Growth growth = Growth::Smooth) {
  Sight sight(kernel, growth);
  return sight.endsNarrow(value) && !sight.becomesWhole;
}

/// Pattern: 1 + tanh(x) -> 2 / (1 + exp(-2 x)), which does not cancel.
static void replaceTanh(KernelOp kernel) {
  for (auto sum : llvm::make_early_inc_range(kernel.getBody().front().getOps<arith::AddFOp>())) {
    math::TanhOp tanh = tanhBesideOne(sum);
    if (!tanh || !sum.getType().isF32() || !endsNarrow(kernel, sum.getResult()))
      continue;
    OpBuilder builder(sum);
    Location loc = sum.getLoc();
    auto constant = [&](float number) {
      return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(number)).getResult();
    };
    Value twice = arith::MulFOp::create(builder, loc, tanh.getOperand(), constant(-2));
    Value power = math::ExpOp::create(builder, loc, twice, arith::FastMathFlags::afn);
    Value divisor = arith::AddFOp::create(builder, loc, power, constant(1));
    sum.replaceAllUsesWith(
        arith::DivFOp::create(builder, loc, constant(2), divisor, arith::FastMathFlags::arcp)
            .getResult());
    sum.erase();
    if (tanh.use_empty())
      tanh.erase();
  }
}

void swage::allowApproximations(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (op.getNumResults() != 1 || !op.getResult(0).getType().isF32())
      continue;
    auto mayBeOff = [&](Growth growth) { return endsNarrow(kernel, op.getResult(0), growth); };
    auto allow = [&](auto typed, bool allowed, arith::FastMathFlags flag) {
      typed.setFastmath(allowed ? flag : arith::FastMathFlags::none);
    };
    if (auto division = dyn_cast<arith::DivFOp>(op)) {
      Sight sight(kernel, Growth::Smooth);
      bool mayBeOff = sight.endsNarrow(op.getResult(0)),
           isClose =
               sight.becomesWhole || (sight.becomesBytes && !isTranscendental(op.getResult(0)));
      allow(division, mayBeOff,
            isClose ? arith::FastMathFlags::arcp | arith::FastMathFlags::contract
                    : arith::FastMathFlags::arcp);
    } else if (auto tanh = dyn_cast<math::TanhOp>(op))
      allow(tanh, mayBeOff(Growth::Smooth), arith::FastMathFlags::afn);
    else if (auto erf = dyn_cast<math::ErfOp>(op))
      allow(erf, mayBeOff(Growth::Smooth), arith::FastMathFlags::afn);
    else if (auto expm1 = dyn_cast<math::ExpM1Op>(op))
      allow(expm1, mayBeOff(Growth::Smooth), arith::FastMathFlags::afn);
    else if (auto log1p = dyn_cast<math::Log1pOp>(op))
      allow(log1p, mayBeOff(Growth::Smooth), arith::FastMathFlags::afn);
    else if (auto exp = dyn_cast<math::ExpOp>(op))
      allow(exp, mayLoseDenormals(exp) && mayBeOff(Growth::Relative), arith::FastMathFlags::afn);
  }
  replaceTanh(kernel);
  if (kernel.isAttention())
    replaceScoreTanh(kernel);
}
