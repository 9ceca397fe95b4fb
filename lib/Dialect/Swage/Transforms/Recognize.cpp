//===- Recognize.cpp - Decomposed norms and softmax -----------------------===//
//
// Matches backwards from the multiplication or division that ends a normalisation. A match only
// ever adds an op that computes the same value from the same operands, so that a mistake about uses
// costs time but never meaning; what decides about meaning are the constants, the dimensions and
// the places of casts. Widening casts are exact and looked through; rounding ones end a match.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace swage {
#define GEN_PASS_DEF_RECOGNIZEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The value before casts to f32. A cast to f64 stays: a structured op on the narrower value would
/// be evaluated in f32.
static Value widened(Value value) {
  while (auto cast = value.getDefiningOp<arith::ExtFOp>()) {
    if (!typeOf(value).getElementType().isF32())
      break;
    value = cast.getIn();
  }
  return value;
}

/// The number that every element is, if that is known.
static std::optional<double> splatOf(Value value) {
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

static std::string textOf(double number) {
  return llvm::formatv("{0}", llvm::format("%.6g", number)).str();
}

/// `number` rounded to the element type of `like`.
static double roundedAs(double number, Value like) {
  APFloat rounded(number);
  bool losesInfo;
  rounded.convert(cast<FloatType>(typeOf(like).getElementType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

/// Calls `match` with the operands of a commutative op in both orders.
template <class Op> static bool eitherOrder(Value value, function_ref<bool(Value, Value)> match) {
  auto op = value.getDefiningOp<Op>();
  return op && (match(op.getLhs(), op.getRhs()) || match(op.getRhs(), op.getLhs()));
}

namespace {

/// The rows that a match is about: a full shape, and the dimensions that make one row.
struct Rows {
  SmallVector<int64_t> full, dims, keptDims;

  Rows(ArrayRef<int64_t> shape, ArrayRef<int64_t> reduced) : full(shape), dims(reduced) {
    for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
      if (!llvm::is_contained(reduced, dim))
        keptDims.push_back(dim);
  }
  bool isReduced(int64_t dim) const { return llvm::is_contained(dims, dim); }

  /// One element for each row.
  SmallVector<int64_t> kept() const {
    SmallVector<int64_t> shape;
    for (int64_t dim : keptDims)
      shape.push_back(full[dim]);
    return shape;
  }
  /// The same at full rank.
  SmallVector<int64_t> keptAsOne() const {
    SmallVector<int64_t> shape(full);
    for (int64_t dim : dims)
      shape[dim] = 1;
    return shape;
  }
  std::optional<int64_t> length() const {
    int64_t n = 1;
    for (int64_t dim : dims) {
      if (ShapedType::isDynamic(full[dim]))
        return std::nullopt;
      n *= full[dim];
    }
    return n;
  }
  /// The first dimension where the rows are trailing dimensions.
  std::optional<int64_t> trailingAxis() const {
    int64_t axis = static_cast<int64_t>(full.size() - dims.size());
    return dims.front() == axis ? std::optional(axis) : std::nullopt;
  }
};

/// Statistics of a norm, as numbered among its results.
enum Stat { None = -1, Mean = 0, Rstd = 1 };

/// One attempt to recognise what ends at an op.
class Matcher {
public:
  explicit Matcher(Operation *root) : root(root), last(root) {}

  /// Raises the op; says whether it did. Reports both success and near misses as remarks.
  bool run() {
    Value lhs = root->getOperand(0), rhs = root->getOperand(1);
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
  Operation *root;
  /// The op whose result the structured op replaces: the root, or what was absorbed after it.
  Operation *last;
  std::optional<Rows> rows;
  /// Ops whose values the structured op computes inside, and which of them are statistics.
  llvm::SetVector<Operation *> matched;
  llvm::DenseMap<Operation *, Stat> stats;
  Value x, gamma, beta;
  bool mean = false;
  double epsilon = 0, scale = 1;
  StringRef what;
  std::string reason;

  bool miss(const Twine &why) {
    if (reason.empty())
      reason = why.str();
    return false;
  }
  void record(Operation *op, Stat stat = None) {
    matched.insert(op);
    if (stat != None)
      stats[op] = stat;
  }
  /// Runs `match` and forgets what it recorded where it comes to nothing.
  template <class F> auto attempt(F match) {
    size_t before = matched.size();
    auto result = match();
    while (!result && matched.size() > before) {
      stats.erase(matched.back());
      matched.pop_back();
    }
    return result;
  }
  void start() {
    matched.clear();
    stats.clear();
    rows.reset();
    x = gamma = beta = {};
    mean = false;
    epsilon = 0;
    scale = 1;
  }

  //===--------------------------------------------------------------------===//
  // Pieces
  //===--------------------------------------------------------------------===//

  /// Whether two values are the same but for widening; computing one twice does not matter.
  bool equivalent(Value a, Value b, int depth = 6) {
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

  /// The first sum or mean over the root's shape that the row value is computed from.
  ReduceOp findReduce(Value value, int depth = 10) {
    Operation *op = value.getDefiningOp();
    if (!op || !depth)
      return {};
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return reduce.getKind() != ReduceKind::Max && reduce.getKind() != ReduceKind::Min &&
                     typeOf(reduce.getX()).getShape() == typeOf(root->getResult(0)).getShape()
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

  /// The value before index ops that only spread one element a row over the row, or back, and
  /// before widening casts.
  Value rowValue(Value value, Stat stat = None) {
    SmallVector<int64_t> kept = rows->kept(), ones = rows->keptAsOne();
    for (;;) {
      Operation *op = value.getDefiningOp();
      if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
        ArrayRef<int64_t> in = typeOf(broadcast.getX()).getShape(), out = typeOf(value).getShape();
        bool spreads = out == ArrayRef<int64_t>(rows->full) || out == ArrayRef<int64_t>(ones);
        bool fromKept = in == ArrayRef<int64_t>(kept) &&
                        broadcast.getDims() == ArrayRef<int64_t>(rows->keptDims);
        bool fromOnes = in == ArrayRef<int64_t>(ones) && in.size() == out.size();
        if (!spreads || !(fromKept || fromOnes))
          return value;
      } else if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
        ArrayRef<int64_t> in = typeOf(reshape.getX()).getShape(), out = typeOf(value).getShape();
        auto known = [&](ArrayRef<int64_t> shape) {
          return shape == ArrayRef<int64_t>(kept) || shape == ArrayRef<int64_t>(ones);
        };
        if (!known(in) || !known(out) || llvm::count_if(kept, ShapedType::isDynamic) > 1)
          return value;
      } else if (!isa_and_nonnull<arith::ExtFOp>(op) || !typeOf(value).getElementType().isF32()) {
        return value;
      }
      record(op, stat);
      value = op->getOperand(0);
    }
  }

  /// What `value` is the row mean of, or null.
  Value meanOf(Value value, Stat stat = None) {
    return attempt([&] { return matchMean(rowValue(value, stat), stat); });
  }
  Value matchMean(Value value, Stat stat) {
    Operation *op = value.getDefiningOp();
    auto reduced = [&](Value sum, ReduceKind kind) -> Value {
      auto reduce = rowValue(sum).getDefiningOp<ReduceOp>();
      if (!reduce || reduce.getKind() != kind ||
          typeOf(reduce.getX()).getShape() != ArrayRef<int64_t>(rows->full))
        return {};
      if (reduce.getDims() != ArrayRef<int64_t>(rows->dims)) {
        miss("reduces other dimensions than the rest of the pattern");
        return {};
      }
      record(reduce);
      return reduce.getX();
    };
    if (isa_and_nonnull<ReduceOp>(op)) {
      Value whole = reduced(value, ReduceKind::Mean);
      if (whole)
        record(op, stat);
      else if (reduced(value, ReduceKind::Sum))
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
    Value whole = by ? reduced(sum, ReduceKind::Sum) : Value();
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

  /// What `value` is the square of, or null.
  Value squareOf(Value value) {
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

  /// The x of `x - mean(x)`, or null.
  Value centeredOf(Value value) {
    value = widened(value);
    auto difference = value.getDefiningOp<arith::SubFOp>();
    if (!difference)
      return {};
    return attempt([&]() -> Value {
      Value whole = meanOf(difference.getRhs(), Mean);
      if (!whole || !equivalent(whole, difference.getLhs()))
        return {};
      record(difference);
      return difference.getLhs();
    });
  }

  /// What gamma or beta a full-shape operand repeats, in the shape of a row; null if none.
  Value parameter(Value value) {
    auto broadcast = widened(value).getDefiningOp<BroadcastOp>();
    std::optional<int64_t> axis = rows->trailingAxis();
    if (!broadcast || !axis)
      return {};
    Value small = widened(broadcast.getX());
    ArrayRef<int64_t> row = ArrayRef<int64_t>(rows->full).drop_front(*axis);
    ArrayRef<int64_t> shape = typeOf(small).getShape();
    if (shape == row && broadcast.getDims() == ArrayRef<int64_t>(rows->dims))
      return small;
    // At full rank with leading ones.
    if (shape.size() == rows->full.size() && shape.drop_front(*axis) == row &&
        llvm::all_of(shape.take_front(*axis), [](int64_t extent) { return extent == 1; }))
      if (auto reshape = small.getDefiningOp<ReshapeOp>();
          reshape && typeOf(reshape.getX()).getShape() == row)
        return widened(reshape.getX());
    return {};
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
    rows.emplace(typeOf(reduce.getX()).getShape(), reduce.getDims());
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
    if (!rows->trailingAxis())
      return miss("normalises dimension " + Twine(rows->dims.front()) +
                  ", but only trailing dimensions can be");
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
    Value whole = meanValue ? meanOf(meanValue, Mean) : Value();
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
    value = rowValue(value, Rstd);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<math::RsqrtOp>(op)) {
      record(op, Rstd);
      return op->getOperand(0);
    }
    if (auto power = dyn_cast_or_null<math::PowFOp>(op); power && splatOf(power.getRhs()) == -0.5) {
      record(op, Rstd);
      return power.getLhs();
    }
    if (auto division = dyn_cast_or_null<arith::DivFOp>(op);
        division && splatOf(division.getLhs()) == 1.0) {
      record(op, Rstd);
      return rootOf(division.getRhs());
    }
    return missOutsideRoot(value);
  }

  Value missOutsideRoot(Value value) {
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
    rows.emplace(typeOf(reduce.getX()).getShape(), reduce.getDims());
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
    auto maximum = rowValue(difference.getRhs()).getDefiningOp<ReduceOp>();
    if (!maximum || maximum.getKind() != ReduceKind::Max)
      return miss("subtracts something other than the maximum");
    if (typeOf(maximum.getX()).getShape() != ArrayRef<int64_t>(rows->full) ||
        maximum.getDims() != ArrayRef<int64_t>(rows->dims))
      return miss("takes the maximum and the sum over different dimensions");
    if (!equivalent(maximum.getX(), difference.getLhs()))
      return miss("subtracts the maximum of another value");
    record(difference);
    record(maximum);

    // A scaled value that is needed elsewhere is a value of its own, and x itself.
    x = widened(difference.getLhs());
    while (Operation *scaling = x.getDefiningOp()) {
      if (!llvm::all_of(scaling->getUsers(), [&](Operation *user) {
            return matched.contains(user) || isa<arith::ExtFOp>(user);
          }))
        break;
      std::optional<Value> inner = unscaled(x, hasLog2e);
      if (!inner)
        break;
      record(scaling);
      x = widened(*inner);
    }
    // 2^t = e^(t ln 2)
    if (isa<math::Exp2Op>(exponential) != hasLog2e)
      scale *= hasLog2e ? kLog2e : 1 / kLog2e;
    return true;
  }

  static constexpr double kLog2e = 1.4426950408889634074;

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
      if (typeOf(value).getElementType().isF64() && std::frexp(*number, &exponent) != 0.5)
        return std::nullopt;
      inner = division.getLhs();
      factor = 1 / *number;
    }
    if (!(factor > 0) || std::isinf(factor))
      return std::nullopt;
    if (product && !hasLog2e && typeOf(constant).getElementTypeBitWidth() >= 32 &&
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
    if (name != "softmax") {
      if (!gamma)
        absorbParameter<arith::MulFOp>(gamma);
      if (mean)
        absorbParameter<arith::AddFOp>(beta);
    }
    if (auto cast = onlyUser<arith::TruncFOp>()) {
      record(last);
      last = cast;
    }
    matched.insert(last);

    // Statistics that are used elsewhere become results; nothing else may be.
    Type statElement = typeOf(x).getElementType().isF64() ? typeOf(x).getElementType()
                                                          : Float32Type::get(root->getContext());
    SmallVector<Operation *> given, users;
    for (Operation *op : matched) {
      if (op == last)
        continue;
      for (Operation *user : op->getUsers()) {
        if (matched.contains(user))
          continue;
        auto stat = stats.find(op);
        if (stat == stats.end() || name == "softmax" ||
            typeOf(op->getResult(0)).getElementType() != statElement)
          return refuse("an intermediate, " + op->getName().getStringRef().str() +
                        ", is used elsewhere");
        ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
        if (shape != ArrayRef<int64_t>(rows->kept()) && !typeOf(op->getResult(0)).hasStaticShape())
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
    Operation *op = build(builder, name, statElement, !given.empty());
    for (Operation *stat : given) {
      Value value =
          spread(builder, op->getResult(1 + (mean ? stats[stat] : 0)), typeOf(stat->getResult(0)));
      stat->getResult(0).replaceUsesWithIf(
          value, [&](OpOperand &use) { return !matched.contains(use.getOwner()); });
    }
    last->getResult(0).replaceAllUsesWith(op->getResult(0));
    return true;
  }

  bool refuse(const Twine &why) {
    root->emitRemark() << "not recognised as " << what << ": " << why;
    return false;
  }

  Operation *build(OpBuilder &builder, StringRef name, Type statElement, bool withStats) {
    SmallVector<Type> statTypes;
    if (withStats)
      statTypes.assign(mean ? 2 : 1, RankedTensorType::get(rows->kept(), statElement));
    Type type = last->getResult(0).getType();
    Location loc = root->getLoc();
    if (name == "softmax")
      return SoftmaxOp::create(builder, loc, type, x, rows->dims.front(),
                               scale == 1 ? FloatAttr() : builder.getF64FloatAttr(scale));
    int64_t axis = *rows->trailingAxis();
    APFloat eps(epsilon);
    if (name == "rms_norm")
      return RmsNormOp::create(builder, loc, type, statTypes, x, gamma, axis, eps);
    return LayerNormOp::create(builder, loc, type, statTypes, x, gamma, beta, axis, eps);
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
        if (isa<arith::MulFOp, arith::DivFOp>(op) &&
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
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }
};

} // namespace
