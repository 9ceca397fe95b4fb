//===- ScoreTerms.cpp - A score function as a sum -------------------------===//
//
// Nothing that is done for each score is hidden under the products: an instruction costs 6 % of a
// kernel's speed (docs/notes/attention.md). But a thread's scores of a block differ by less than a
// function says. A bias by distance is
//
//   scale * s + slope * float(j - i) = scale * ((s + slope / scale * steps) + slope / scale *
//   first)
//
// of which the last term may be added to the highest score instead of all of them, and the scale is
// multiplied in the exponential anyway: one instruction. A bound by tanh is a logistic function,
// times twice the bound, and the bound less. Where scores are well within the bound it is a
// polynomial, whose coefficients take scale and log2(e); and as it rises with the score, no
// weight's exponent is above that of the score of largest magnitude, which is all that is asked of
// it, to within the polynomial's error. The further below the bound scores are the shorter the
// polynomial: there are two.
//
//===----------------------------------------------------------------------===//

#include "ScoreTerms.h"
#include "StepPositions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include <cmath>

using namespace mlir;
using namespace swage;

/// Other numbers may leave the range of f32 when one is divided by the other.
static constexpr double kLeastScale = 0x1p-40, kMostConstant = 0x1p+40;
/// tanh(x) = x (c0 + c1 x^2 + c2 x^4) within 1e-5 up to the first reach, and within 1.4e-5 without
/// c2 up to the second. Times `kMostBound` that is less than half the rounding of a weight of bf16.
static constexpr double kTanhReach = 0.55, kTanhFactors[] = {0.999872, -0.329829, 0.108799};
static constexpr double kNearTanhReach = 0.28, kNearTanhFactors[] = {0.999756, -0.320708};
/// The largest bound by tanh for which exponents within that reach, which then differ by up to
/// twice of log2(e) / 2 times the bound, leave weights that an f32 and a bf16 hold.
static constexpr double kMostBound = 64;

namespace {

class Splitter {
public:
  Splitter(KernelOp kernel)
      : kernel(kernel), softmax(kernel.getCollective()), score(scoresOf(kernel)), builder(softmax),
        loc(softmax.getLoc()), steps(stepPositions(kernel)) {}

  ScoreTerms run() {
    SmallVector<arith::SelectOp> masks;
    Value value = softmax.getValue();
    FloatAttr number;
    for (auto mask = value.getDefiningOp<arith::SelectOp>();
         mask && matchPattern(mask.getFalseValue(), m_Constant(&number)) &&
         number.getValue().isInfinity() && number.getValue().isNegative();
         mask = value.getDefiningOp<arith::SelectOp>()) {
      masks.push_back(mask);
      value = mask.getTrueValue();
    }
    terms.visible = value;
    collect(value);
    if (!ofScore)
      return terms;
    Value sum = withoutScale(ofScore);
    for (auto [step, sign] : ofSteps)
      sum = fma(times(step.getA(), sign / terms.scale), step.getB(), sum);
    for (Value other : others)
      sum = arith::AddFOp::create(builder, loc, sum, other);
    for (auto [step, sign] : ofSteps)
      addOffset(times(step.getC(), sign / terms.scale));
    if (constant != 0)
      addOffset(number32(constant / terms.scale));
    findExponent();
    terms.visible = sum;
    for (arith::SelectOp mask : llvm::reverse(masks))
      sum = arith::SelectOp::create(builder, loc, mask.getCondition(), sum, mask.getFalseValue());
    softmax.getValueMutable().assign(sum);
    return terms;
  }

private:
  Value number32(double number) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(static_cast<float>(number)));
  }
  Value times(Value value, double factor) {
    return factor == 1 ? value
                       : arith::MulFOp::create(builder, loc, value, number32(factor)).getResult();
  }
  Value fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
  void addOffset(Value value) {
    terms.offset =
        terms.offset ? arith::AddFOp::create(builder, loc, terms.offset, value).getResult() : value;
  }

  /// Adds a term of the sum, or with a sign of -1 subtracts it.
  void collect(Value value, double sign = 1) {
    FloatAttr number;
    if (auto sum = value.getDefiningOp<arith::AddFOp>()) {
      collect(sum.getLhs(), sign);
      collect(sum.getRhs(), sign);
    } else if (auto difference = value.getDefiningOp<arith::SubFOp>()) {
      collect(difference.getLhs(), sign);
      collect(difference.getRhs(), -sign);
    } else if (auto negated = value.getDefiningOp<arith::NegFOp>()) {
      collect(negated.getOperand(), -sign);
    } else if (auto step = value.getDefiningOp<math::FmaOp>(); step && steps.contains(step)) {
      ofSteps.emplace_back(step, sign);
    } else if (matchPattern(value, m_Constant(&number)) &&
               std::fabs(number.getValueAsDouble()) <= kMostConstant) {
      constant += sign * number.getValueAsDouble();
    } else {
      Value term = sign < 0 ? arith::NegFOp::create(builder, loc, value).getResult() : value;
      if (dependsOn(value, score) && !ofScore)
        ofScore = term;
      else
        others.push_back(term);
    }
  }

  /// The score's own term over its positive factor, if it has one. What else is read may be the
  /// lowest number there is, and stays as it is.
  Value withoutScale(Value value) {
    FloatAttr factor;
    auto isFactor = [&](Value x) {
      return others.empty() && matchPattern(x, m_Constant(&factor)) &&
             factor.getValue().isFinite() && factor.getValueAsDouble() >= kLeastScale;
    };
    if (auto product = value.getDefiningOp<arith::MulFOp>();
        product && isFactor(product.getRhs())) {
      terms.scale = factor.getValueAsDouble();
      return product.getLhs();
    }
    if (auto quotient = value.getDefiningOp<arith::DivFOp>();
        quotient && isFactor(quotient.getLhs())) {
      terms.scale = factor.getValueAsDouble();
      return arith::DivFOp::create(builder, loc, number32(1), quotient.getRhs(),
                                   quotient.getFastmath());
    }
    return value;
  }

  /// Pattern: 2 a / (1 + exp2(-2 b log2(e) score)), which is a + a tanh(b score), and steps.
  void findExponent() {
    FloatAttr twice, one, factor;
    auto quotient = ofScore.getDefiningOp<arith::DivFOp>();
    auto divisor = quotient ? quotient.getRhs().getDefiningOp<arith::AddFOp>() : nullptr;
    auto power = divisor ? divisor.getLhs().getDefiningOp<math::Exp2Op>() : nullptr;
    auto product = power ? power.getOperand().getDefiningOp<arith::MulFOp>() : nullptr;
    if (!product || product.getLhs() != score || !others.empty() ||
        !matchPattern(quotient.getLhs(), m_Constant(&twice)) ||
        twice.getValueAsDouble() != terms.scale ||
        !matchPattern(divisor.getRhs(), m_Constant(&one)) || !one.getValue().isExactlyValue(1.0) ||
        !matchPattern(product.getRhs(), m_Constant(&factor)) ||
        !kernel.getInput(AttentionInput::Values).getElement().isBF16())
      return;
    double bound = terms.scale / 2, by = factor.getValueAsDouble() * -0.5 / M_LOG2E;
    // The square of a score at the end of the reach, and the last coefficient, are ordinary
    // numbers.
    if (bound > kMostBound || !(by > 0x1p-20) || by > 0x1p+20)
      return;
    terms.reach = kTanhReach / by;
    terms.nearReach = kNearTanhReach / by;
    terms.base = number32(0);
    Value square = arith::MulFOp::create(builder, loc, score, score),
          rest = arith::AddFOp::create(builder, loc, terms.base, number32(bound * M_LOG2E));
    for (auto [step, sign] : ofSteps)
      rest = fma(times(step.getA(), sign * M_LOG2E), step.getB(), rest);
    auto exponent = [&](ArrayRef<double> factors) {
      Value factor;
      for (int i = int(factors.size()); i-- > 0;) {
        Value coefficient = number32(bound * M_LOG2E * factors[i] * std::pow(by, 2 * i + 1));
        factor = factor ? fma(factor, square, coefficient) : coefficient;
      }
      return fma(score, factor, rest);
    };
    terms.exponent = exponent(kTanhFactors);
    if (llvm::all_of(ofSteps, [&](auto &step) {
          return isSameAlong(kernel, step.first.getA(), AttentionDim::Query);
        }))
      terms.nearExponent = exponent(kNearTanhFactors);
  }

  KernelOp kernel;
  CollectiveOp softmax;
  Value score;
  OpBuilder builder;
  Location loc;
  llvm::DenseSet<Operation *> steps; ///< factor * steps + factor * first

  Value ofScore; ///< the term with the score, if there is just one
  SmallVector<std::pair<math::FmaOp, double>> ofSteps; ///< each with its sign
  SmallVector<Value> others;
  double constant = 0;
  ScoreTerms terms;
};

} // namespace

ScoreTerms swage::splitScore(KernelOp kernel) { return Splitter(kernel).run(); }
