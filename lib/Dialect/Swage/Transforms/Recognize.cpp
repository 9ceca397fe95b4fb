//===- Recognize.cpp - Decomposed norms, softmax and attention ------------===//
//
// Matches backwards from the multiplication or division that ends a normalisation. A match only
// ever adds an op that computes the same value from the same operands, so that a mistake about uses
// costs time but never meaning; what decides about meaning are the constants, the dimensions and
// the places of casts. Widening casts are exact and looked through; rounding ones end a match.
//
//===----------------------------------------------------------------------===//

#include "AttentionForms.h"
#include "RecognizeAttention.h"
#include "RowPattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include <cmath>

namespace swage {
#define GEN_PASS_DEF_RECOGNIZEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

namespace {

/// Recognises what ends at one multiplication, division or subtraction.
class Matcher : RowPattern {
public:
  explicit Matcher(Operation *root) : RowPattern(root), last(root) {}

  /// Raises the op; says whether it did. Reports both success and near misses as remarks.
  bool run() {
    Value lhs = root->getOperand(0), rhs = root->getOperand(1);
    if (isa<arith::SubFOp>(root))
      return matchLogSoftmax(lhs, rhs) && raise("log_softmax");
    bool divides = isa<arith::DivFOp>(root);
    if (matchSoftmax(lhs, rhs, divides) || (!divides && matchSoftmax(rhs, lhs, divides)))
      return raise("softmax");
    if (matchNorm(lhs, rhs, divides) || (!divides && matchNorm(rhs, lhs, divides)))
      return raise(mean ? "layer_norm" : "rms_norm");
    // (x - mean) * gamma * rstd: the factor in between is gamma.
    if (!divides)
      for (auto [product, row] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
        if (auto inner = product.getDefiningOp<arith::MulFOp>(); inner && inner->hasOneUse())
          for (auto [value, factor] : {std::pair(inner.getLhs(), inner.getRhs()),
                                       std::pair(inner.getRhs(), inner.getLhs())})
            if (matchNorm(value, row, false) && (gamma = parameter(factor))) {
              matched.insert(inner);
              return raise(mean ? "layer_norm" : "rms_norm");
            }
    if (!reason.empty())
      root->emitRemark() << "not recognised as " << what << ": " << reason;
    return false;
  }

  /// Ops that a successful run may have left without uses.
  ArrayRef<Operation *> leftOver() const { return matched.getArrayRef(); }

private:
  /// The op whose result the structured op replaces: the root, or what was absorbed after it.
  Operation *last;
  Value x, gamma, beta;
  bool mean = false;
  double epsilon = 0, scale = 1;
  /// What softmax keeps, or leaves out.
  Value mask;
  bool maskKeeps = true;

  void start() {
    matched.clear();
    stats.clear();
    rows.reset();
    x = gamma = beta = mask = {};
    mean = false;
    epsilon = 0;
    scale = 1;
  }

  //===--------------------------------------------------------------------===//
  // Norms
  //===--------------------------------------------------------------------===//

  /// value * row or value / row, where row is one over, or is, sqrt(variance + eps).
  bool matchNorm(Value value, Value row, bool divides) {
    start();
    ReduceOp reduce = findReduce(row);
    if (!reduce)
      return false;
    rows.emplace(tensorType(reduce.getX()).getShape(), reduce.getDims());
    Value radicand = divides ? rootOf(row) : reciprocalRootOf(row);
    if (!radicand)
      return false;
    what = "rms_norm or layer_norm";

    Value variance = radicand;
    eitherOrder<arith::AddFOp>(rowValue(radicand), [&](Value a, Value b) {
      std::optional<double> constant = splatOf(b);
      if (!constant)
        return false;
      record(rowValue(radicand).getDefiningOp());
      epsilon = *constant;
      variance = a;
      return true;
    });
    if (!(epsilon >= 0) || std::isinf(epsilon))
      return miss("eps is " + textOf(epsilon) + ", but must be finite and not negative");
    // Rounding may make a variance negative; it never is.
    eitherOrder<arith::MaximumFOp>(rowValue(variance), [&](Value a, Value b) {
      if (splatOf(b) != 0.0)
        return false;
      record(rowValue(variance).getDefiningOp());
      variance = a;
      return true;
    });
    if (!matchVariance(value, rowValue(variance)))
      return miss("the value under the root is not the mean square or the variance of what is "
                  "normalised");
    x = widened(x);
    return true;
  }

  bool matchVariance(Value value, Value variance) {
    // mean((x - mean)^2), or mean(x^2)
    if (Value squares = meanOf(variance)) {
      Value base = squareOf(squares);
      if (!base)
        return false;
      if (!equivalent(value, base))
        return miss("normalises one value by the mean square of another");
      if (Value whole = centeredOf(base)) {
        mean = true;
        x = whole;
        return true;
      }
      x = base;
      // A dimension that the mean is taken over elsewhere is no near miss: c * rsqrt(mean(c^2)) is.
      reason.clear();
      return true;
    }
    // mean(x^2) - mean(x)^2
    auto difference = variance.getDefiningOp<arith::SubFOp>();
    if (!difference)
      return false;
    Value squares = meanOf(difference.getLhs());
    Value base = squares ? squareOf(squares) : Value();
    Value meanValue = squareOf(rowValue(difference.getRhs()));
    Value whole = meanValue ? meanOf(meanValue, Stat::Mean) : Value();
    if (!base || !whole)
      return false;
    Value centered = centeredOf(value);
    if (!equivalent(base, whole) || !centered || !equivalent(centered, whole))
      return miss("normalises one value by the variance of another");
    record(difference);
    mean = true;
    x = whole;
    return true;
  }

  /// The a of sqrt(a).
  Value rootOf(Value value) {
    value = rowValue(value);
    Operation *op = value.getDefiningOp();
    if (auto power = dyn_cast_or_null<math::PowFOp>(op); power && splatOf(power.getRhs()) == 0.5) {
      record(op);
      return power.getLhs();
    }
    if (isa_and_nonnull<math::SqrtOp>(op)) {
      record(op);
      return op->getOperand(0);
    }
    return missOutsideRoot(value);
  }

  /// The a of 1 / sqrt(a).
  Value reciprocalRootOf(Value value) {
    value = rowValue(value, Stat::Rstd);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<math::RsqrtOp>(op)) {
      record(op, Stat::Rstd);
      return op->getOperand(0);
    }
    if (auto power = dyn_cast_or_null<math::PowFOp>(op); power && splatOf(power.getRhs()) == -0.5) {
      record(op, Stat::Rstd);
      return power.getLhs();
    }
    if (auto division = dyn_cast_or_null<arith::DivFOp>(op);
        division && splatOf(division.getLhs()) == 1.0) {
      record(op, Stat::Rstd);
      return rootOf(division.getRhs());
    }
    return missOutsideRoot(value);
  }

  /// Says what is wrong where a root was looked for, if something is that looks like a mistake.
  Value missOutsideRoot(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<BroadcastOp>(op) &&
        isa_and_nonnull<math::SqrtOp, math::RsqrtOp>(op->getOperand(0).getDefiningOp())) {
      what = "rms_norm or layer_norm";
      miss("the statistic is not repeated along the rows it is of");
      return {};
    }
    eitherOrder<arith::AddFOp>(value, [&](Value a, Value b) {
      Operation *inner = rowValue(a).getDefiningOp();
      if (splatOf(b) && isa_and_nonnull<math::SqrtOp, math::RsqrtOp>(inner)) {
        what = "rms_norm or layer_norm";
        miss("adds eps outside the square root");
      }
      return false;
    });
    return {};
  }

  //===--------------------------------------------------------------------===//
  // Softmax
  //===--------------------------------------------------------------------===//

  /// exponentials / sum, or exponentials * (1 / sum).
  bool matchSoftmax(Value exponentials, Value sum, bool divides) {
    start();
    Operation *exponential = widened(exponentials).getDefiningOp();
    if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exponential))
      return false;
    ReduceOp reduce = findReduce(sum);
    if (!reduce || reduce.getKind() != ReduceKind::Sum)
      return false;
    rows.emplace(tensorType(reduce.getX()).getShape(), reduce.getDims());
    what = "softmax";
    sum = rowValue(sum);
    if (!divides) {
      auto reciprocal = sum.getDefiningOp<arith::DivFOp>();
      if (!reciprocal || splatOf(reciprocal.getLhs()) != 1.0)
        return false;
      record(reciprocal);
      sum = rowValue(reciprocal.getRhs());
    }
    if (sum.getDefiningOp() != reduce)
      return false;
    record(reduce);
    record(exponential);
    if (!equivalent(reduce.getX(), exponentials))
      return miss("divides by the sum of another value");
    if (rows->dims.size() != 1)
      return miss("sums over " + Twine(rows->dims.size()) +
                  " dimensions, but softmax is along one");

    return matchExponential(exponential);
  }

  /// (x - maximum) - log(sum of exp(x - maximum)).
  bool matchLogSoftmax(Value shifted, Value logarithm) {
    start();
    Operation *source = logarithm.getDefiningOp();
    while (isa_and_nonnull<BroadcastOp, ReshapeOp, arith::ExtFOp, math::LogOp>(source))
      source = source->getOperand(0).getDefiningOp();
    auto reduce = dyn_cast_or_null<ReduceOp>(source);
    if (!reduce || reduce.getKind() != ReduceKind::Sum || reduce.getDims().size() != 1)
      return false;
    rows.emplace(tensorType(reduce.getX()).getShape(), reduce.getDims());
    auto log = rowValue(logarithm).getDefiningOp<math::LogOp>();
    auto exponential = widened(reduce.getX()).getDefiningOp<math::ExpOp>();
    if (!log || rowValue(log.getOperand()).getDefiningOp() != reduce || !exponential ||
        !equivalent(exponential.getOperand(), shifted))
      return false;
    what = "log_softmax";
    record(log);
    record(reduce);
    record(exponential);
    return matchExponential(exponential);
  }

  /// exp(scale * (x - maximum)), with what makes x of another value.
  bool matchExponential(Operation *exponential) {
    Value argument = widened(exponential->getOperand(0));
    bool hasLog2e = false;
    if (std::optional<Value> inner = unscaled(argument, hasLog2e)) {
      record(argument.getDefiningOp());
      argument = widened(*inner);
    } else if (argument.getDefiningOp<arith::MulFOp>()) {
      return miss("the scale is not one positive constant");
    }
    auto difference = argument.getDefiningOp<arith::SubFOp>();
    if (!difference)
      return miss("subtracts no maximum");
    Value subtracted = rowValue(difference.getRhs());
    if (auto broadcast = subtracted.getDefiningOp<BroadcastOp>())
      return miss("what it subtracts is not repeated along the rows that it sums");
    auto maximum = subtracted.getDefiningOp<ReduceOp>();
    if (!maximum || maximum.getKind() != ReduceKind::Max)
      return miss("subtracts something other than the maximum");
    if (tensorType(maximum.getX()).getShape() != ArrayRef<int64_t>(rows->full) ||
        maximum.getDims() != ArrayRef<int64_t>(rows->dims))
      return miss("takes the maximum and the sum over different dimensions");
    if (!equivalent(maximum.getX(), difference.getLhs()))
      return miss("subtracts the maximum of another value");
    record(difference);
    record(maximum);

    // A scaled value that is needed elsewhere is a value of its own, and x itself.
    x = widened(difference.getLhs());
    while (Operation *op = x.getDefiningOp()) {
      if (!llvm::all_of(op->getUsers(), [&](Operation *user) {
            return matched.contains(user) || isa<arith::ExtFOp>(user);
          }))
        break;
      std::optional<Value> inner = mask ? std::nullopt : unmasked(x);
      if (!inner)
        inner = unscaled(x, hasLog2e);
      if (!inner)
        break;
      record(op);
      for (Operation *widening : op->getUsers())
        record(widening);
      x = widened(*inner);
    }
    // 2^t = e^(t ln 2)
    if (isa<math::Exp2Op>(exponential) != hasLog2e)
      scale *= hasLog2e ? kLog2e : 1 / kLog2e;
    return true;
  }

  static constexpr double kLog2e = 1.4426950408889634074;

  /// The a of select(mask, a, -inf) or select(mask, -inf, a).
  std::optional<Value> unmasked(Value value) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    if (!select || !isa<RankedTensorType>(select.getCondition().getType()))
      return std::nullopt;
    for (bool keeps : {true, false})
      if (splatOf(keeps ? select.getFalseValue() : select.getTrueValue()) == -INFINITY) {
        mask = select.getCondition();
        maskKeeps = keeps;
        return keeps ? select.getTrueValue() : select.getFalseValue();
      }
    return std::nullopt;
  }

  /// The a of a * constant or a / constant, with the constant taken into the scale. log2(e) as an
  /// f32 or f64 constant is meant as the number itself and told apart.
  std::optional<Value> unscaled(Value value, bool &hasLog2e) {
    Value inner, constant;
    double factor = 0;
    bool product = eitherOrder<arith::MulFOp>(value, [&](Value a, Value b) {
      std::optional<double> number = splatOf(b);
      inner = a, constant = b, factor = number.value_or(0);
      return number.has_value();
    });
    if (!product) {
      auto division = value.getDefiningOp<arith::DivFOp>();
      std::optional<double> number = division ? splatOf(division.getRhs()) : std::nullopt;
      if (!number)
        return std::nullopt;
      int exponent;
      // In f64 a product with the reciprocal rounds otherwise than the division.
      if (tensorType(value).getElementType().isF64() && std::frexp(*number, &exponent) != 0.5)
        return std::nullopt;
      inner = division.getLhs();
      factor = 1 / *number;
    }
    if (!(factor > 0) || std::isinf(factor))
      return std::nullopt;
    if (product && !hasLog2e && tensorType(constant).getElementTypeBitWidth() >= 32 &&
        factor == roundedAs(kLog2e, constant))
      hasLog2e = true;
    else
      scale *= factor;
    return inner;
  }

  //===--------------------------------------------------------------------===//
  // Raising
  //===--------------------------------------------------------------------===//

  /// The only user of the last op's result, if it is an `Op`.
  template <class Op> Op onlyUser() const {
    return last->hasOneUse() ? dyn_cast<Op>(*last->user_begin()) : Op();
  }
  template <class Op> bool absorbParameter(Value &to) {
    auto op = onlyUser<Op>();
    if (!op)
      return false;
    Value other = op.getLhs() == last->getResult(0) ? op.getRhs() : op.getLhs();
    if (other == last->getResult(0) || !(to = parameter(other)))
      return false;
    record(last);
    last = op;
    return true;
  }

  bool raise(StringRef name) {
    what = name;
    bool isSoftmax = name.ends_with("softmax");
    if (!isSoftmax) {
      if (!gamma)
        absorbParameter<arith::MulFOp>(gamma);
      if (mean)
        absorbParameter<arith::AddFOp>(beta);
    }
    matched.insert(last);

    // Statistics that are used elsewhere become results; nothing else may be.
    Type statElement = tensorType(x).getElementType().isF64()
                           ? tensorType(x).getElementType()
                           : Float32Type::get(root->getContext());
    SmallVector<Operation *> given, users;
    for (Operation *op : matched) {
      if (op == last)
        continue;
      for (Operation *user : op->getUsers()) {
        if (matched.contains(user))
          continue;
        auto stat = stats.find(op);
        if (stat == stats.end() || isSoftmax ||
            tensorType(op->getResult(0)).getElementType() != statElement)
          return refuse("an intermediate, " + op->getName().getStringRef().str() +
                        ", is used elsewhere");
        ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
        if (shape != ArrayRef<int64_t>(rows->kept()) &&
            !tensorType(op->getResult(0)).hasStaticShape())
          return refuse("a statistic of dynamic shape is used elsewhere after a broadcast");
        users.push_back(user);
        if (!llvm::is_contained(given, op))
          given.push_back(op);
      }
    }
    OpBuilder builder(last);
    if (!given.empty()) {
      // Early enough for the statistics' users.
      Operation *latest = nullptr;
      for (Value operand : {x, gamma, beta})
        if (operand && operand.getDefiningOp() &&
            (!latest || latest->isBeforeInBlock(operand.getDefiningOp())))
          latest = operand.getDefiningOp();
      for (Operation *user : users)
        if (latest && !latest->isBeforeInBlock(root->getBlock()->findAncestorOpInBlock(*user)))
          return refuse("a statistic is used before an operand is there");
      if (latest)
        builder.setInsertionPointAfter(latest);
      else
        builder.setInsertionPointToStart(last->getBlock());
    }
    root->emitRemark() << "recognised " << name;
    auto [op, result] = build(builder, name, statElement, !given.empty());
    for (Operation *stat : given) {
      Value value = spread(builder, op->getResult(1 + (mean ? static_cast<int>(stats[stat]) : 0)),
                           tensorType(stat->getResult(0)));
      stat->getResult(0).replaceUsesWithIf(
          value, [&](OpOperand &use) { return !matched.contains(use.getOwner()); });
    }
    last->getResult(0).replaceAllUsesWith(result);
    return true;
  }

  bool refuse(const Twine &why) {
    root->emitRemark() << "not recognised as " << what << ": " << why;
    return false;
  }

  /// The structured op, and what takes the place of the last op's result.
  std::pair<Operation *, Value> build(OpBuilder &builder, StringRef name, Type statElement,
                                      bool withStats) {
    SmallVector<Type> statTypes;
    if (withStats)
      statTypes.assign(mean ? 2 : 1, RankedTensorType::get(rows->kept(), statElement));
    Type type = last->getResult(0).getType();
    Location loc = root->getLoc();
    if (name.ends_with("softmax")) {
      if (mask && !maskKeeps) {
        Value all = arith::ConstantOp::create(
            builder, loc, DenseElementsAttr::get(cast<ShapedType>(mask.getType()), true));
        mask = arith::XOrIOp::create(builder, loc, mask, all);
      }
      // A row that is masked throughout is one of -inf in what was written.
      auto softmax =
          SoftmaxOp::create(builder, loc, type, /*stats=*/TypeRange(), x, mask, rows->dims.front(),
                            scale == 1 ? FloatAttr() : builder.getF64FloatAttr(scale),
                            /*log=*/name == "log_softmax", /*nan_rows=*/mask != nullptr);
      return {softmax, softmax.getResult()};
    }
    // Norms are over trailing dimensions: others become that.
    bool isTrailing = rows->trailingAxis().has_value();
    SmallVector<int64_t> order(rows->keptDims);
    llvm::append_range(order, rows->dims);
    auto permute = [&](Value value, ArrayRef<int64_t> order) -> Value {
      if (isTrailing)
        return value;
      RankedTensorType type = tensorType(value);
      return PermuteOp::create(builder, loc, type.clone(applyPermutation(type.getShape(), order)),
                               value, order);
    };
    x = permute(x, order);
    type = tensorType(x).clone(cast<RankedTensorType>(type).getElementType());
    auto axis = static_cast<int64_t>(rows->keptDims.size());
    APFloat eps(epsilon);
    Operation *norm;
    if (name == "rms_norm")
      norm = RmsNormOp::create(builder, loc, type, statTypes, x, gamma, axis, eps);
    else
      norm = LayerNormOp::create(builder, loc, type, statTypes, x, gamma, beta, axis, eps);
    return {norm, permute(norm->getResult(0), invertPermutationVector(order))};
  }

  /// A statistic in one of the shapes of a row value.
  Value spread(OpBuilder &builder, Value stat, RankedTensorType type) {
    if (stat.getType() == type)
      return stat;
    if (type.getShape() == ArrayRef<int64_t>(rows->keptAsOne()))
      return ReshapeOp::create(builder, stat.getLoc(), type, stat, ValueRange());
    return BroadcastOp::create(builder, stat.getLoc(), type, stat, rows->keptDims, ValueRange());
  }
};

struct RecognizePass : swage::impl::RecognizePassBase<RecognizePass> {
  using Base::Base;

  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      SmallVector<Operation *> roots;
      for (Operation &op : block)
        if (isa<arith::MulFOp, arith::DivFOp, arith::SubFOp>(op) &&
            isa<RankedTensorType>(op.getResult(0).getType()))
          roots.push_back(&op);
      llvm::DenseSet<Operation *> erased;
      for (Operation *root : roots) {
        if (erased.contains(root) || root->use_empty())
          continue;
        Matcher matcher(root);
        if (!matcher.run())
          continue;
        // Users before what they use.
        SmallVector<Operation *> left(matcher.leftOver());
        llvm::sort(left, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
        for (Operation *op : left)
          if (isOpTriviallyDead(op)) {
            erased.insert(op);
            op->erase();
          }
      }
      eraseDead(block);
      // Softmax is there by now; what is left over of it would count as uses.
      for (MatmulOp product : llvm::to_vector(block.getOps<MatmulOp>()))
        recognizeAttention(product);
      for (AttentionOp attention : llvm::to_vector(block.getOps<AttentionOp>()))
        absorbIntoAttention(attention);
      eraseDead(block);
    }
  }

  static void eraseDead(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
