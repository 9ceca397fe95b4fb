//===- RowBounds.cpp - What a mask leaves of a row ------------------------===//
//
// Walks from the collective's operand through what keeps -inf as it is to the selects that put it
// there, and from their conditions through and, or and not to comparisons. Bounds are computed in
// 64 bits; a comparison whose own arithmetic might wrap sets none.
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/Analysis/RowBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace swage;

namespace {

using P = arith::CmpIPredicate;

/// Inclusive.
struct Range {
  int64_t low, high;
};

/// sign * (position in the row) + rest, exactly.
struct Linear {
  int sign;
  Value rest; ///< i64
};

/// The range of positions that a condition leaves, and whether it holds in all of it.
struct Where {
  RowBounds bounds;
  bool isExact = false;
};

/// Expressions of a kernel body are followed this far; every step may double the work.
constexpr int kDepth = 10;
/// What may be added to a position, and what is beyond every sum of that kind.
constexpr int64_t kNear = int64_t(1) << 33, kFar = int64_t(1) << 40;
/// What positions may be divided by: products of that and what is beyond them do not wrap.
constexpr int64_t kMostDivisor = int64_t(1) << 20;

/// With its sides exchanged.
P swapped(P predicate) {
  static constexpr P of[] = {P::eq,  P::ne,  P::sgt, P::sge, P::slt,
                             P::sle, P::ugt, P::uge, P::ult, P::ule};
  return of[static_cast<unsigned>(predicate)];
}

class Finder {
public:
  Finder(KernelOp kernel, OpBuilder &builder)
      : kernel(kernel), builder(builder), loc(kernel.getCollective().getLoc()),
        row(kernel.isAttention() ? unsigned(AttentionDim::Key) : kernel.getRank() - 1) {}

  /// Where a scalar of the body may be other than -inf.
  RowBounds ofValue(Value value, int depth = kDepth) {
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0)
      return {};
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      if (isNegativeInfinity(select.getFalseValue()))
        return both(ofMask(select.getCondition(), false, depth - 1).bounds,
                    ofValue(select.getTrueValue(), depth - 1));
      if (isNegativeInfinity(select.getTrueValue()))
        return both(ofMask(select.getCondition(), true, depth - 1).bounds,
                    ofValue(select.getFalseValue(), depth - 1));
      return {};
    }
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      return ofValue(op->getOperand(0), depth - 1);
    if (auto product = dyn_cast<arith::MulFOp>(op))
      for (auto [a, b] : {std::pair(product.getLhs(), product.getRhs()),
                          std::pair(product.getRhs(), product.getLhs())}) {
        APFloat factor(0.0);
        if (matchPattern(b, m_ConstantFloat(&factor)) && factor.isFiniteNonZero() &&
            !factor.isNegative())
          return ofValue(a, depth - 1);
      }
    return {};
  }

  /// The value where all comparisons hold that set bounds.
  Value inside(Value value) {
    if (auto known = implied.find(value); known != implied.end())
      return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(known->second));
    Operation *op = value.getDefiningOp();
    if (!op || isa<CollectiveOp, ContractOp>(op))
      return value;
    if (Value known = rebuilt.lookup(value))
      return known;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(inside(operand));
    if (llvm::equal(operands, op->getOperands()))
      return rebuilt[value] = value;
    Operation *clone = builder.clone(*op);
    clone->setOperands(operands);
    SmallVector<Value> folded;
    if (failed(builder.tryFold(clone, folded)) || folded.empty())
      return rebuilt[value] = clone->getResult(0);
    clone->erase();
    return rebuilt[value] = folded.front();
  }

  /// What the mask wants to be equal of queries and keys, and the value where it is.
  void setAlike(RowBounds &bounds, Value value) {
    if (!equality)
      return;
    Value a = equality.getLhs(), b = equality.getRhs();
    if (!isUniform(a, kDepth))
      std::swap(a, b);
    auto wide = [&](Value x) {
      Type type = builder.getI64Type();
      return x.getType() == type ? x : builder.createOrFold<arith::ExtSIOp>(loc, type, x);
    };
    bounds.ofQuery = wide(a);
    bounds.ofKey = wide(b);
    implied[equality] = equality.getPredicate() == P::eq;
    rebuilt.clear();
    bounds.alike = inside(value);
  }

private:
  static bool isNegativeInfinity(Value value) {
    APFloat number(0.0);
    return matchPattern(value, m_ConstantFloat(&number)) && number.isInfinity() &&
           number.isNegative();
  }

  Value constant(int64_t number) {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(number));
  }
  Value plus(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value minus(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
  Value larger(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
  Value smaller(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }

  RowBounds both(RowBounds a, RowBounds b) {
    return {a.first && b.first ? larger(a.first, b.first)
            : a.first          ? a.first
                               : b.first,
            a.last && b.last ? smaller(a.last, b.last)
            : a.last         ? a.last
                             : b.last};
  }
  /// The range around two ranges, of which either may be empty.
  RowBounds either(RowBounds a, RowBounds b) {
    return {a.first && b.first ? smaller(a.first, b.first) : Value(),
            a.last && b.last ? larger(a.last, b.last) : Value()};
  }

  /// Where a condition may hold, or with `negated` may not.
  Where ofMask(Value mask, bool negated, int depth) {
    Operation *op = mask.getDefiningOp();
    if (!op || depth == 0)
      return {};
    Where where;
    if (isa<arith::AndIOp, arith::OrIOp>(op)) {
      bool isAnd = isa<arith::AndIOp>(op) != negated;
      llvm::SaveAndRestore hold(isConjunction, isConjunction && isAnd);
      Where a = ofMask(op->getOperand(0), negated, depth - 1),
            b = ofMask(op->getOperand(1), negated, depth - 1);
      if (isAnd)
        return {both(a.bounds, b.bounds), a.isExact && b.isExact};
      // Two ranges that go on without an end on the same side leave no gap between them.
      bool meet = (!a.bounds.first && !b.bounds.first) || (!a.bounds.last && !b.bounds.last);
      where = {either(a.bounds, b.bounds), a.isExact && b.isExact && meet};
    } else if (auto flip = dyn_cast<arith::XOrIOp>(op)) {
      for (auto [a, b] :
           {std::pair(flip.getLhs(), flip.getRhs()), std::pair(flip.getRhs(), flip.getLhs())})
        if (matchPattern(b, m_One()))
          return ofMask(a, !negated, depth - 1);
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      P predicate = compare.getPredicate();
      where.bounds = ofComparison(negated ? arith::invertPredicate(predicate) : predicate,
                                  compare.getLhs(), compare.getRhs(), depth - 1);
      where.isExact = bool(where.bounds);
      if (!equality && !where.isExact && isConjunction && predicate == (negated ? P::ne : P::eq) &&
          isBetween(compare))
        equality = compare;
    }
    if (where.isExact && isConjunction)
      implied[mask] = !negated;
    return where;
  }

  /// Whether one side is a query's and the other a key's.
  bool isBetween(arith::CmpIOp compare) {
    auto are = [&](Value query, Value key) {
      return isUniform(query, kDepth) && isSameAlong(kernel, key, AttentionDim::Query);
    };
    return kernel.isAttention() &&
           (are(compare.getLhs(), compare.getRhs()) || are(compare.getRhs(), compare.getLhs()));
  }

  RowBounds ofComparison(P predicate, Value lhs, Value rhs, int depth) {
    if (isUniform(lhs, depth)) {
      std::swap(lhs, rhs);
      predicate = swapped(predicate);
    }
    if (!isUniform(rhs, depth) || !lhs.getType().isSignlessInteger())
      return {};
    bool isUnsigned = predicate >= P::ult;
    // As an unsigned number a position is what it is as a signed one.
    if (isUnsigned && (rangeOf(lhs, depth).low < 0 || !rhs.getType().isInteger(32)))
      return {};
    return ofComparisonWith(predicate, lhs, wide(rhs, isUnsigned), depth);
  }

  /// With a number in 64 bits.
  RowBounds ofComparisonWith(P predicate, Value value, Value number, int depth) {
    if (depth == 0)
      return {};
    if (auto magnitude = value.getDefiningOp<math::AbsIOp>()) {
      Value of = magnitude.getOperand();
      if ((predicate != P::slt && predicate != P::sle) ||
          rangeOf(of, depth).low == allOf(of.getType()).low)
        return {};
      return both(ofComparisonWith(predicate, of, number, depth - 1),
                  ofComparisonWith(swapped(predicate), of, minus(constant(0), number), depth - 1));
    }
    if (std::optional<std::pair<Value, int64_t>> quotient = quotientOf(value, depth)) {
      // q < n if and only if the dividend is below n times the divisor.
      auto times = [&](int64_t more) {
        return builder.createOrFold<arith::MulIOp>(loc, plus(number, constant(more)),
                                                   constant(quotient->second));
      };
      auto from = [&](int64_t more) {
        return ofComparisonWith(P::sge, quotient->first, times(more), depth - 1);
      };
      auto below = [&](int64_t more) {
        return ofComparisonWith(P::slt, quotient->first, times(more), depth - 1);
      };
      switch (predicate) {
      case P::eq:
        return both(from(0), below(1));
      case P::slt:
      case P::ult:
        return below(0);
      case P::sle:
      case P::ule:
        return below(1);
      case P::sgt:
      case P::ugt:
        return from(1);
      case P::sge:
      case P::uge:
        return from(0);
      case P::ne:
        return {};
      }
    }
    std::optional<Linear> linear = linearOf(value, depth);
    if (!linear)
      return {};
    // sign * position < limit
    Value limit = minus(number, linear->rest);
    if (linear->sign < 0) {
      limit = minus(constant(0), limit);
      predicate = swapped(predicate);
    }
    switch (predicate) {
    case P::eq:
      return RowBounds(limit, plus(limit, constant(1)));
    case P::slt:
    case P::ult:
      return {{}, limit};
    case P::sle:
    case P::ule:
      return {{}, plus(limit, constant(1))};
    case P::sgt:
    case P::ugt:
      return {plus(limit, constant(1)), {}};
    case P::sge:
    case P::uge:
      return {limit, {}};
    case P::ne:
      return {};
    }
    return {};
  }

  /// What a value is the quotient of, rounded down, and the positive constant that divides.
  std::optional<std::pair<Value, int64_t>> quotientOf(Value value, int depth) {
    Operation *op = value.getDefiningOp();
    APInt divisor;
    if (!isa_and_nonnull<arith::DivUIOp, arith::DivSIOp>(op) ||
        !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isNonPositive() ||
        divisor.getSExtValue() > kMostDivisor || rangeOf(op->getOperand(0), depth).low < 0)
      return std::nullopt;
    return std::pair(op->getOperand(0), divisor.getSExtValue());
  }

  /// A number in 64 bits, held to where comparisons with positions do not change and sums of a few
  /// of them do not wrap.
  Value wide(Value value, bool isUnsigned) {
    Type type = builder.getI64Type();
    if (value.getType() == type)
      return smaller(larger(value, constant(-kFar)), constant(kFar));
    return isUnsigned ? builder.createOrFold<arith::ExtUIOp>(loc, type, value)
                      : builder.createOrFold<arith::ExtSIOp>(loc, type, value);
  }

  /// Whether a scalar is the same for the whole row and known before the collective.
  bool isUniform(Value value, int depth) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return !variesInRow(kernel, kernel.getInput(argument.getArgNumber()));
    Operation *op = value.getDefiningOp();
    return depth > 0 && !isa<CollectiveOp>(op) &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) { return isUniform(operand, depth - 1); });
  }

  std::optional<Linear> linearOf(Value value, int depth) {
    if (depth == 0 || !value.getType().isSignlessInteger())
      return std::nullopt;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      ViewAttr view = kernel.getInput(argument.getArgNumber());
      LinearAccess access = *LinearAccess::of(view.getAccess());
      std::optional<int64_t> offset = constantSize(access.offset);
      if (view.getSource() != Source::Coordinate || !offset || std::abs(*offset) > kNear)
        return std::nullopt;
      for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
        if (constantSize(access.strides[dim]) != (dim == row ? 1 : 0))
          return std::nullopt;
      return Linear{1, constant(*offset)};
    }
    Operation *op = value.getDefiningOp();
    if (isa<arith::ExtSIOp>(op))
      return linearOf(op->getOperand(0), depth - 1);
    if (!isa<arith::AddIOp, arith::SubIOp>(op) || !isExact(value, depth))
      return std::nullopt;
    Value a = op->getOperand(0), b = op->getOperand(1);
    bool subtracts = isa<arith::SubIOp>(op);
    for (Value term : {a, b})
      if (Range range = rangeOf(term, depth); range.low < -kNear || range.high > kNear)
        return std::nullopt;
    if (isUniform(b, depth)) {
      std::optional<Linear> linear = linearOf(a, depth - 1);
      if (linear)
        linear->rest =
            subtracts ? minus(linear->rest, wide(b, false)) : plus(linear->rest, wide(b, false));
      return linear;
    }
    std::optional<Linear> linear =
        isUniform(a, depth) ? linearOf(b, depth - 1) : std::optional<Linear>();
    if (!linear)
      return std::nullopt;
    if (subtracts)
      return Linear{-linear->sign, minus(wide(a, false), linear->rest)};
    linear->rest = plus(linear->rest, wide(a, false));
    return linear;
  }

  static Range allOf(Type type) {
    return {llvm::minIntN(type.getIntOrFloatBitWidth()),
            llvm::maxIntN(type.getIntOrFloatBitWidth())};
  }

  /// The range of a sum or difference, if nothing in it leaves 64 bits.
  std::optional<Range> sumRange(Operation *op, int depth) {
    Range a = rangeOf(op->getOperand(0), depth - 1), b = rangeOf(op->getOperand(1), depth - 1);
    int64_t low, high;
    bool subtracts = isa<arith::SubIOp>(op);
    if (subtracts ? llvm::SubOverflow(a.low, b.high, low) || llvm::SubOverflow(a.high, b.low, high)
                  : llvm::AddOverflow(a.low, b.low, low) || llvm::AddOverflow(a.high, b.high, high))
      return std::nullopt;
    return Range{low, high};
  }

  /// Whether a sum or difference never wraps.
  bool isExact(Value value, int depth) {
    std::optional<Range> range = sumRange(value.getDefiningOp(), depth);
    Range all = allOf(value.getType());
    return range && range->low >= all.low && range->high <= all.high;
  }

  /// What an integer may be, as a signed number.
  Range rangeOf(Value value, int depth) {
    Range all = allOf(value.getType());
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return {number.getSExtValue(), number.getSExtValue()};
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      ViewAttr view = kernel.getInput(argument.getArgNumber());
      if (view.getSource() != Source::Coordinate)
        return all;
      // A coordinate counts an extent, which i32 holds.
      LinearAccess access = *LinearAccess::of(view.getAccess());
      std::optional<int64_t> high = constantSize(access.offset);
      for (auto [stride, extent] :
           llvm::zip_equal(access.strides, kernel.getExtents().getResults())) {
        std::optional<int64_t> step = constantSize(stride),
                               count = upperBound(extent, factsOf(kernel));
        int64_t reach;
        if (step == 0)
          continue;
        if (!high || !step || !count || *count < 1 || llvm::MulOverflow(*step, *count - 1, reach) ||
            llvm::AddOverflow(*high, reach, *high))
          high = std::nullopt;
      }
      return {0, std::min<int64_t>(high.value_or(INT32_MAX), INT32_MAX)};
    }
    Operation *op = value.getDefiningOp();
    if (depth == 0)
      return all;
    if (isa<arith::ExtSIOp>(op))
      return rangeOf(op->getOperand(0), depth - 1);
    if (std::optional<std::pair<Value, int64_t>> quotient = quotientOf(value, depth - 1)) {
      Range range = rangeOf(quotient->first, depth - 1);
      return {range.low / quotient->second, range.high / quotient->second};
    }
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      if (std::optional<Range> range = sumRange(op, depth);
          range && range->low >= all.low && range->high <= all.high)
        return *range;
    return all;
  }

  KernelOp kernel;
  OpBuilder &builder;
  Location loc;
  unsigned row;
  /// Whether what is at hand must hold, and the conditions of that kind that are bounds and nothing
  /// else, with what they are within these.
  bool isConjunction = true;
  llvm::DenseMap<Value, bool> implied;
  arith::CmpIOp equality;               ///< between queries and keys, that must hold
  llvm::DenseMap<Value, Value> rebuilt; ///< what `inside` has been asked for
};

/// Whether an i64 is a number of 32 bits, a constant up to kFar, or a sum of two of these, whose
/// product with a divisor does not wrap.
bool isNear(Value value, bool maySum = true) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return std::abs(number.getSExtValue()) <= kFar;
  Operation *op = value.getDefiningOp();
  if (maySum && isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return isNear(op->getOperand(0), false) && isNear(op->getOperand(1), false);
  return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op);
}

/// Whether it never falls along them, or with `falls` never rises.
bool risesWithQueries(KernelOp kernel, Value value, bool falls = false) {
  if (!value || isSameAlong(kernel, value, AttentionDim::Query))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    ViewAttr view = kernel.getInput(argument.getArgNumber());
    AffineExpr step = LinearAccess::of(view.getAccess())->strides[AttentionDim::Query];
    std::optional<int64_t> known = constantSize(step);
    return view.getSource() == Source::Coordinate && known && (falls ? *known <= 0 : *known >= 0);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::SubIOp>(op))
    return risesWithQueries(kernel, op->getOperand(0), falls) &&
           risesWithQueries(kernel, op->getOperand(1), !falls);
  // Of unsigned numbers coordinates only, which are none of those that are negative as signed ones.
  if (isa<arith::DivSIOp>(op) ||
      (isa<arith::MulIOp>(op) && value.getType().isInteger(64) && isNear(op->getOperand(0))) ||
      (isa<arith::DivUIOp>(op) && isa<BlockArgument>(op->getOperand(0)))) {
    APInt factor;
    return matchPattern(op->getOperand(1), m_ConstantInt(&factor)) && factor.isStrictlyPositive() &&
           (isa<arith::DivSIOp, arith::DivUIOp>(op) || factor.getSExtValue() <= kMostDivisor) &&
           risesWithQueries(kernel, op->getOperand(0), falls);
  }
  return isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp, arith::ExtSIOp, arith::ExtUIOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return risesWithQueries(kernel, operand, falls); });
}

} // namespace

RowBounds swage::rowBounds(KernelOp kernel, OpBuilder &builder) {
  CollectiveOp collective = kernel.getCollective();
  bool isRow = kernel.getReduced().size() == 1 &&
               kernel.getReduced().front() == static_cast<int64_t>(kernel.getRank()) - 1;
  if (!collective || kernel.getCollectives().size() > 1 || !(isRow || kernel.isAttention()) ||
      (collective.getKind() != Collective::Softmax &&
       collective.getKind() != Collective::LogSoftmax))
    return {};
  Finder finder(kernel, builder);
  RowBounds bounds = finder.ofValue(collective.getValue());
  if (!kernel.isAttention())
    return bounds;
  bounds.isScattered =
      !risesWithQueries(kernel, bounds.first) || !risesWithQueries(kernel, bounds.last);
  bounds.inside = bounds ? finder.inside(collective.getValue()) : collective.getValue();
  finder.setAlike(bounds, collective.getValue());
  return bounds;
}
