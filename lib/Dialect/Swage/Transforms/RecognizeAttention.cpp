//===- RecognizeAttention.cpp - Decomposed attention ----------------------===//
//
// Matches backwards from the product of weights and values, after softmax was recognised: softmax,
// what changes the scores, the product of queries and keys, and what frameworks put in front of its
// operands. What changes scores becomes the region `score`, whatever it is, except where it says
// -inf, which becomes `mask`: a select, or the sum with one between 0 and -inf. Such a sum is NaN
// for a score that is NaN; the mask ignores it, as every attention kernel does.
//
// What weights are multiplied by behind the softmax, or replaced by 0 where a condition says so,
// becomes the region `weight`: dropout.
//
// Roundings move as they do in kernels: weights are rounded to the operands' type before they are
// divided by their sum, whether a cast says so after it or nothing does. Operands that are widened
// and a result that is narrowed again are how frameworks write out attention of 16-bit operands.
//
//===----------------------------------------------------------------------===//

#include "RecognizeAttention.h"
#include "ElementBuilder.h"
#include "EmptyRows.h"
#include "KernelBuilder.h"
#include "RowPattern.h"
#include "WeightFactors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <cmath>

using namespace mlir;
using namespace swage;

/// Whether a reshape leaves the matrices of the last two dimensions as they are.
static bool keepsMatrices(ReshapeOp op) {
  RankedTensorType from = tensorType(op.getX()), to = tensorType(op.getResult());
  if (from.getRank() < 2 || to.getRank() < 2 ||
      from.getShape().take_back(2) != to.getShape().take_back(2))
    return false;
  return llvm::none_of(from.getShape().take_back(2), ShapedType::isDynamic) ||
         (op.getSizes().empty() && ReshapeOp::keepsDynamicExtents(from, to));
}

/// Whether a permutation transposes the matrices of the last two dimensions and does nothing else.
static bool transposesMatrices(PermuteOp op) {
  SmallVector<int64_t> transposed =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorType(op).getRank()));
  if (transposed.size() < 2)
    return false;
  std::swap(transposed.back(), transposed[transposed.size() - 2]);
  return op.getPermutation() == ArrayRef<int64_t>(transposed);
}

static Value transpose(OpBuilder &builder, Value value) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(order.back(), order[order.size() - 2]);
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape.back(), shape[shape.size() - 2]);
  return PermuteOp::create(builder, value.getLoc(), type.clone(shape), value, order);
}

namespace {

/// An operand of one of the products, without what attention does itself.
struct Operand {
  Value value;
  bool isTransposed; ///< the last two dimensions are the other way round
  double scale = 1;
  Value repeated = {}; ///< a value whose heads, by `group`, `value` repeats
  int64_t group = 1;
};

class Matcher {
public:
  explicit Matcher(MatmulOp product) : product(product), builder(product) {}

  void run() {
    if (!match()) {
      if (!reason.empty())
        product.emitRemark() << "not recognised as attention: " << reason;
      return;
    }
    product.emitRemark() << "recognised attention";
    build();
  }

private:
  MatmulOp product, scoreProduct;
  SoftmaxOp softmax;
  Type type; ///< of the elements of queries, keys and values
  /// Where softmax is replaced by zeros, and what decides that.
  arith::SelectOp guard;
  llvm::SmallPtrSet<Operation *, 16> guardOps;
  OpBuilder builder;
  std::string reason;
  /// What depends on the product of queries and keys, up to the softmax.
  llvm::SmallDenseMap<Operation *, bool> dependent;
  /// The scores as attention has them, and what softmax reads but for masks.
  Value scores, changed;
  double scale = 1;
  Operand q, k, v;

  /// A condition, or what is added to scores: 0 or -inf.
  struct MaskPart {
    Value tensor;
    bool isAdded, keeps; ///< keeps where the condition is true
  };
  SmallVector<MaskPart> masks;
  WeightFactors factors;

  bool miss(const Twine &why) {
    if (reason.empty())
      reason = why.str();
    return false;
  }

  bool match();
  bool matchWeights();
  bool matchScores();
  bool matchOperands();
  bool matchSelect(arith::SelectOp select);
  void peelMasks();
  bool dependsOnScores(Value value);
  MatmulOp findProduct(Value value, llvm::SmallPtrSetImpl<Operation *> &seen);
  std::optional<double> factorOf(Operation *op, Value operand);
  Operand peel(Value value, bool isTransposed, bool takesScale);
  SmallVector<int64_t> leading();
  Value shaped(Value value, ArrayRef<int64_t> lead, bool isTransposed);
  void build();
  void buildScore(AttentionOp op);
  void buildMask(AttentionOp op);
  void buildWeight(AttentionOp op);
  SmallVector<Value> startRegion(Region &region, ArrayRef<Type> first, int64_t rank);
};

/// The factor of a product or quotient of `operand` and one positive number.
std::optional<double> Matcher::factorOf(Operation *op, Value operand) {
  std::optional<double> factor;
  if (auto multiply = dyn_cast<arith::MulFOp>(op))
    factor = splatOf(multiply.getLhs() == operand ? multiply.getRhs() : multiply.getLhs());
  else if (auto divide = dyn_cast<arith::DivFOp>(op); divide && divide.getLhs() == operand)
    if ((factor = splatOf(divide.getRhs())))
      factor = 1 / *factor;
  return factor && *factor > 0 && std::isfinite(*factor) ? factor : std::nullopt;
}

/// The type to which the result is narrowed, wherever it is moved before; null if it is not.
static Type narrowedTo(Value value) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (isa<arith::TruncFOp>(user))
      return tensorType(user->getResult(0)).getElementType();
    if (!isa<ReshapeOp, PermuteOp>(user))
      break;
    value = user->getResult(0);
  }
  return {};
}

bool Matcher::match() {
  if (!matchWeights() || !matchScores())
    return false;
  Type own = tensorType(product.getB()).getElementType();
  type = narrowedTo(product.getResult());
  if (!type || !own.isF32() || !matchOperands()) {
    type = own;
    if (!matchOperands())
      return miss("queries, keys and values have different element types");
  }
  scale *= q.scale * k.scale;
  if (!std::isfinite(scale) || scale == 0)
    return miss("the scale is not finite");
  SmallVector<int64_t> lead = leading();
  bool isStatic = llvm::all_of(ArrayRef{q.value, k.value, v.value},
                               [](Value value) { return tensorType(value).hasStaticShape(); });
  for (Value value : {q.value, k.value, v.value})
    if (!isStatic && tensorType(value).getShape().drop_back(2) != ArrayRef<int64_t>(lead))
      return miss("leading dimensions of dynamic operands are reshaped");
  return true;
}

/// Whether the operands have one element type, without what attention does itself.
bool Matcher::matchOperands() {
  q = peel(scoreProduct.getA(), false, true);
  k = peel(scoreProduct.getB(), !scoreProduct.getTransposeB(), true);
  v = peel(product.getB(), product.getTransposeB(), false);
  // Both or none: attention has one number of key heads.
  SmallVector<int64_t> lead = leading();
  if (k.group != v.group || ShapedType::isDynamic(lead.back()) || lead.back() % k.group != 0)
    k.group = v.group = 1;
  for (Operand *operand : {&k, &v})
    if (operand->group > 1)
      operand->value = operand->repeated;
  return llvm::all_of(ArrayRef{q.value, k.value, v.value},
                      [&](Value value) { return tensorType(value).getElementType() == type; });
}

/// The softmax behind the product's left operand.
bool Matcher::matchWeights() {
  Value weights = product.getA();
  Type narrowest = tensorType(product.getB()).getElementType();
  SmallVector<Operation *> path;
  SmallVector<arith::SelectOp> selects;
  for (;;) {
    Operation *op = weights.getDefiningOp();
    if (!op)
      return false;
    path.push_back(op);
    if ((softmax = dyn_cast<SoftmaxOp>(op)))
      break;
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      bool isFirst = splatOf(select.getTrueValue()) == 0.0;
      if (!isFirst && splatOf(select.getFalseValue()) != 0.0)
        return false;
      selects.push_back(select);
      weights = isFirst ? select.getFalseValue() : select.getTrueValue();
      continue;
    }
    if (isa<arith::MulFOp, arith::DivFOp>(op)) {
      if (!(weights = factors.take(op)))
        return false;
      continue;
    }
    auto reshape = dyn_cast<ReshapeOp>(op);
    auto narrow = dyn_cast<arith::TruncFOp>(op);
    if (!(reshape && keepsMatrices(reshape)) && !isa<arith::ExtFOp>(op) &&
        !(narrow && tensorType(narrow).getElementType() == narrowest))
      return false;
    weights = op->getOperand(0);
  }
  if (softmax.getLog())
    return miss("the weights are logarithms");
  int64_t rank = tensorType(softmax.getX()).getRank();
  if (rank < 2 || static_cast<int64_t>(softmax.getAxis()) != rank - 1)
    return miss("softmax is along dimension " + Twine(softmax.getAxis()) +
                ", but keys are along the last");
  for (Operation *op : path)
    if (!op->getResult(0).hasOneUse())
      return miss("the weights are used elsewhere");
  if (!llvm::all_of(selects, [&](arith::SelectOp select) { return matchSelect(select); }))
    return false;
  if (std::string problem = factors.problem(softmax); !problem.empty())
    return miss(problem);
  if (!factors.empty() && elementBytes(narrowest) == 1)
    return miss("the weights of 8 bits are multiplied");
  return true;
}

/// Whether zeros take the place of rows that are -inf throughout, and of no others; or where some
/// other condition says so.
bool Matcher::matchSelect(arith::SelectOp select) {
  bool zeroWhere = splatOf(select.getTrueValue()) == 0.0;
  llvm::SmallPtrSet<Operation *, 16> ops;
  if (!guard && tellsEmptyRows(select.getCondition(), zeroWhere, softmax.getX(), ops)) {
    guard = select;
    guardOps = ops;
    for (Operation *op : guardOps)
      for (Operation *user : op->getUsers())
        if (user != guard && !guardOps.contains(user))
          return miss("the scores are used elsewhere");
    return true;
  }
  if (!isa<RankedTensorType>(select.getCondition().getType()))
    return miss("the weights are replaced by zeros as a whole");
  factors.keep(select.getCondition(), !zeroWhere);
  return true;
}

/// The first product that a value is made from by elementwise and index ops.
MatmulOp Matcher::findProduct(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return {};
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return matmul;
  if (isElementwiseOp(op) || isIndexOp(op))
    for (Value operand : op->getOperands())
      if (MatmulOp found = findProduct(operand, seen))
        return found;
  return {};
}

bool Matcher::dependsOnScores(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op == scoreProduct)
    return op != nullptr;
  if (!isElementwiseOp(op) && !isIndexOp(op))
    return false;
  auto known = dependent.find(op);
  if (known != dependent.end())
    return known->second;
  bool depends = false;
  for (Value operand : op->getOperands())
    depends |= dependsOnScores(operand);
  return dependent[op] = depends;
}

bool Matcher::matchScores() {
  llvm::SmallPtrSet<Operation *, 16> seen;
  scoreProduct = findProduct(softmax.getX(), seen);
  if (!scoreProduct)
    return false;
  dependsOnScores(softmax.getX());
  if (softmax.getMask() && dependsOnScores(softmax.getMask()))
    return miss("the mask depends on the scores");
  dependent[scoreProduct] = true;
  bool isWide = tensorType(scoreProduct.getA()).getElementType().isF64();
  for (auto [op, depends] : dependent) {
    if (!depends)
      continue;
    if (op != scoreProduct && isIndexOp(op) &&
        !(isa<ReshapeOp>(op) && keepsMatrices(cast<ReshapeOp>(op))))
      return miss("the scores are moved by " + op->getName().getStringRef().str() +
                  " in front of the softmax");
    if (isa<CopyOp, arith::BitcastOp>(op))
      return miss("the scores are stored");
    if (tensorType(op->getResult(0)).getElementType().isF64() != isWide)
      return miss("the scores are not of one precision");
    for (Operation *user : op->getUsers())
      if (user != softmax && !dependent.lookup(user) && !guardOps.contains(user))
        return miss("the scores are used elsewhere");
  }

  // A factor at the beginning is the scale.
  scores = scoreProduct.getResult();
  while (scores != softmax.getX() && scores.hasOneUse()) {
    Operation *user = *scores.user_begin();
    std::optional<double> factor = factorOf(user, scores);
    if (!factor && !isa<ReshapeOp, arith::ExtFOp>(user))
      break;
    scale *= factor.value_or(1);
    scores = user->getResult(0);
  }
  changed = softmax.getX();
  peelMasks();
  double factor = softmax.getScale() ? softmax.getScale()->convertToDouble() : 1;
  if (changed == scores)
    scale *= factor;
  return factor > 0 || miss("the scale is not positive");
}

/// The select between 0 and -inf that an added value repeats, or null.
static arith::SelectOp selectOfAdded(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      std::optional<double> yes = splatOf(select.getTrueValue()),
                            no = splatOf(select.getFalseValue());
      bool isMask = isa<RankedTensorType>(select.getCondition().getType()) &&
                    ((yes == 0.0 && no == -INFINITY) || (yes == -INFINITY && no == 0.0));
      return isMask ? select : arith::SelectOp();
    }
    if (!isIndexOp(op) && !isa<arith::ExtFOp, arith::TruncFOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// Takes away what only says -inf, from the softmax on.
void Matcher::peelMasks() {
  if (softmax.getMask())
    masks.push_back({softmax.getMask(), false, true});
  while (changed != scores) {
    Operation *op = changed.getDefiningOp();
    if (isa<arith::ExtFOp>(op)) {
      changed = op->getOperand(0);
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      bool keeps = splatOf(select.getFalseValue()) == -INFINITY;
      if ((!keeps && splatOf(select.getTrueValue()) != -INFINITY) ||
          dependsOnScores(select.getCondition()) ||
          !isa<RankedTensorType>(select.getCondition().getType()))
        return;
      masks.push_back({select.getCondition(), false, keeps});
      changed = keeps ? select.getTrueValue() : select.getFalseValue();
    } else {
      Value inner;
      eitherOrder<arith::AddFOp>(changed, [&](Value a, Value added) {
        auto select = selectOfAdded(added);
        if (!select || !dependsOnScores(a))
          return false;
        masks.push_back({added, true, splatOf(select.getTrueValue()) == 0.0});
        inner = a;
        return true;
      });
      if (!inner)
        return;
      changed = inner;
    }
  }
}

Operand Matcher::peel(Value value, bool isTransposed, bool takesScale) {
  Operand result = {value, isTransposed};
  auto isWidening = [&](Operation *op) {
    auto wide = dyn_cast_or_null<arith::ExtFOp>(op);
    return wide && tensorType(wide.getIn()).getElementType() == type;
  };
  while (Operation *op = result.value.getDefiningOp()) {
    if (auto permute = dyn_cast<PermuteOp>(op); permute && transposesMatrices(permute)) {
      result.isTransposed = !result.isTransposed;
    } else if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && keepsMatrices(reshape)) {
    } else if (isWidening(op)) {
    } else if (takesScale && isa<arith::MulFOp, arith::DivFOp>(op)) {
      std::optional<double> factor = factorOf(op, op->getOperand(0));
      unsigned scaled = 0;
      if (!factor && (factor = factorOf(op, op->getOperand(1))))
        scaled = 1;
      if (!factor)
        break;
      result.scale *= *factor;
      result.value = op->getOperand(scaled);
      continue;
    } else {
      break;
    }
    result.value = op->getOperand(0);
  }
  // Heads that are repeated: [.., heads, matrix] as [.., heads, group, matrix].
  auto broadcast = result.value.getDefiningOp<BroadcastOp>();
  if (!broadcast || !tensorType(broadcast).hasStaticShape())
    return result;
  RankedTensorType from = tensorType(broadcast.getX()), to = tensorType(broadcast);
  SmallVector<int64_t> repeats(to.getShape());
  for (auto [k, dim] : llvm::enumerate(broadcast.getDims()))
    repeats[dim] = from.getDimSize(k) == to.getDimSize(dim) ? 1 : to.getDimSize(dim);
  int64_t at = to.getRank() - 3;
  if (at < 0 || from.getRank() < 2 ||
      llvm::any_of(llvm::seq<int64_t>(0, to.getRank()),
                   [&](int64_t dim) { return dim != at && repeats[dim] != 1; }))
    return result;
  ArrayRef<int64_t> dims = broadcast.getDims();
  if (dims.back() != at + 2 || dims[dims.size() - 2] != at + 1)
    return result;
  result.repeated = broadcast.getX();
  if (isWidening(result.repeated.getDefiningOp()))
    result.repeated = result.repeated.getDefiningOp()->getOperand(0);
  result.group = repeats[at];
  return result;
}

/// The leading dimensions of the attention: those of the softmax, or one head.
SmallVector<int64_t> Matcher::leading() {
  SmallVector<int64_t> lead(tensorType(softmax.getX()).getShape().drop_back(2));
  if (lead.empty())
    lead.push_back(1);
  return lead;
}

Value Matcher::shaped(Value value, ArrayRef<int64_t> lead, bool isTransposed) {
  if (isTransposed)
    value = transpose(builder, value);
  SmallVector<int64_t> shape(lead);
  llvm::append_range(shape, tensorType(value).getShape().take_back(2));
  RankedTensorType type = tensorType(value).clone(shape);
  return type == value.getType()
             ? value
             : ReshapeOp::create(builder, value.getLoc(), type, value, ValueRange()).getResult();
}

void Matcher::build() {
  Location loc = product.getLoc();
  SmallVector<int64_t> lead = leading(), keyLead(lead);
  keyLead.back() /= k.group;
  Value queries = shaped(q.value, lead, q.isTransposed),
        keys = shaped(k.value, keyLead, k.isTransposed),
        values = shaped(v.value, keyLead, v.isTransposed);
  SmallVector<int64_t> shape(tensorType(queries).getShape());
  RankedTensorType rows = RankedTensorType::get(ArrayRef<int64_t>(shape).drop_back(),
                                                Float32Type::get(product.getContext()));
  shape.back() = tensorType(values).getShape().back();
  Value logSumExp = softmax.getLogSumExp();
  SmallVector<Type> stats;
  if (logSumExp && !logSumExp.use_empty())
    stats.push_back(rows.clone(tensorType(logSumExp).getElementType()));
  // A row that nothing is left of gives what softmax gave for it.
  auto op = AttentionOp::create(
      builder, loc, tensorType(product.getResult()).clone(shape), stats, queries, keys, values,
      /*sinks=*/Value(), scale == 1 ? FloatAttr() : builder.getF64FloatAttr(scale),
      /*nan_rows=*/!guard && (!softmax.getMask() || softmax.getNanRows()),
      /*batch_invariant=*/false, /*tf32=*/false);
  buildScore(op);
  buildMask(op);
  buildWeight(op);
  builder.setInsertionPointAfter(op);
  auto replace = [&](Value from, Value to) {
    if (from.getType() != to.getType())
      to = ReshapeOp::create(builder, loc, from.getType(), to, ValueRange());
    from.replaceAllUsesWith(to);
  };
  replace(product.getResult(), op.getResult());
  if (!stats.empty())
    replace(logSumExp, op.getLogSumExp());
}

/// Gives the region its block; returns the coordinates that scores have in front of the softmax.
SmallVector<Value> Matcher::startRegion(Region &region, ArrayRef<Type> first, int64_t rank) {
  SmallVector<Type> types(first);
  types.append(rank, builder.getIndexType());
  Block *block = builder.createBlock(&region, {}, types,
                                     SmallVector<Location>(types.size(), product.getLoc()));
  return llvm::to_vector_of<Value>(
      block->getArguments().take_back(tensorType(softmax.getX()).getRank()));
}

void Matcher::buildScore(AttentionOp op) {
  if (changed == scores)
    return;
  Location loc = op.getLoc();
  SmallVector<Value> at =
      startRegion(op.getScore(), op.getScoreType(), tensorType(op.getQ()).getRank());
  ElementBuilder elements(builder);
  elements.define(scores, op.getScore().getArgument(0));
  Value score = elements.at(changed, at);
  if (FloatAttr factor = softmax.getScaleAttr()) {
    Value constant = arith::ConstantOp::create(
        builder, loc, FloatAttr::get(op.getScoreType(), factor.getValueAsDouble()));
    score = arith::MulFOp::create(builder, loc, score, constant);
  }
  YieldOp::create(builder, loc, score);
}

void Matcher::buildMask(AttentionOp op) {
  if (masks.empty())
    return;
  Location loc = op.getLoc();
  SmallVector<Value> at = startRegion(op.getMask(), {}, tensorType(op.getQ()).getRank());
  ElementBuilder elements(builder);
  Value all;
  for (const MaskPart &part : masks) {
    Value condition = elements.at(part.tensor, at);
    if (part.isAdded) {
      while (!isa<arith::SelectOp>(condition.getDefiningOp()))
        condition = condition.getDefiningOp()->getOperand(0);
      condition = condition.getDefiningOp()->getOperand(0);
    }
    if (!part.keeps) {
      Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
      condition = arith::XOrIOp::create(builder, loc, condition, yes);
    }
    all = all ? arith::AndIOp::create(builder, loc, all, condition).getResult() : condition;
  }
  YieldOp::create(builder, loc, all);
  // What was added is not: only its condition counts.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(op.getMask().front())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

void Matcher::buildWeight(AttentionOp op) {
  if (factors.empty())
    return;
  SmallVector<Value> at = startRegion(op.getWeight(), {}, tensorType(op.getQ()).getRank());
  YieldOp::create(builder, op.getLoc(), factors.at(at, op.getScoreType(), builder, op.getLoc()));
}

} // namespace

void swage::recognizeAttention(MatmulOp product) { Matcher(product).run(); }
