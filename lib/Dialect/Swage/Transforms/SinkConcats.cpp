//===- SinkConcats.cpp - Concatenations move to where they are written ----===//
//
// A kernel writes the parts of a concatenation where they end up, but does not read them as a
// whole. So what is computed from one is computed from its parts instead, as in x * cos +
// concat(-b, a) * sin, the rotary embedding of many models.
//
//===----------------------------------------------------------------------===//

#include "FusionGraph.h"
#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace swage;

/// Ops in front of an operand that are computed part by part as well: a bound for recursion.
constexpr int kMaxDepth = 64;
/// Bounds for what becomes of a graph: parts that readers are copied for, and such copies.
constexpr size_t kMaxParts = 16, kMaxCopies = 2048;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static RankedTensorType withShape(ArrayRef<int64_t> shape, Type like) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(like).getElementType());
}
static bool isComputed(Operation *op) { return isElementwiseOp(op) && !isa<CopyOp>(op); }

/// Whether no reader of a concatenation needs it whole: those that do could read it as well.
static bool maySink(ConcatOp concat) {
  return concat.getParts().size() <= kMaxParts &&
         llvm::all_of(concat->getUsers(), [](Operation *user) {
           return isComputed(user) || isa<PermuteOp>(user) ||
                  (isa<ReshapeOp>(user) && llvm::all_of(user->getUsers(), isComputed));
         });
}

namespace {
/// Gives the parts of values along an axis, of which there are `count` equal ones.
struct Parts {
  OpBuilder &builder;
  int64_t axis, count;
  size_t copies = 0; ///< ops that were made for parts

  SmallVector<int64_t> shape(RankedTensorType whole) const {
    SmallVector<int64_t> shape(whole.getShape());
    shape[axis] /= count;
    return shape;
  }
  /// Pattern: f(x, y) -> f(part of x, part of y)
  Value compute(Operation *op, int64_t part, int depth) {
    ++copies;
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, get(operand, part, depth + 1));
    Operation *moved = builder.clone(*op, mapping);
    RankedTensorType type = typeOf(op->getResult(0));
    moved->getResult(0).setType(withShape(shape(type), type));
    return moved->getResult(0);
  }
  Value get(Value value, int64_t part, int depth) {
    RankedTensorType type = typeOf(value), result = withShape(shape(type), type);
    Location loc = value.getLoc();
    Operation *op = value.getDefiningOp();
    if (auto concat = dyn_cast_or_null<ConcatOp>(op);
        concat && int64_t(concat.getAxis()) == axis && int64_t(concat.getParts().size()) == count)
      return concat.getParts()[part];
    if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        return arith::ConstantOp::create(builder, loc, splat.resizeSplat(result));
    if (op && op->hasOneUse() && isComputed(op) && depth < kMaxDepth)
      return compute(op, part, depth);
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op);
        broadcast && broadcast.getSizes().empty() && repeatsAlongAxis(broadcast))
      return BroadcastOp::create(builder, loc, result, broadcast.getX(), broadcast.getDims(),
                                 ValueRange());
    int64_t size = result.getDimSize(axis);
    return SliceOp::create(builder, loc, result, value, axis, part * size, size, 1);
  }

private:
  bool repeatsAlongAxis(BroadcastOp op) const {
    const auto *dim = llvm::find(op.getDims(), axis);
    return dim == op.getDims().end() ||
           typeOf(op.getX()).getDimSize(dim - op.getDims().begin()) == 1;
  }
};
} // namespace

/// What ends in results that may lie where arguments do (`swage.alias`): one kernel for all parts
/// would read those behind its own writes.
static llvm::SetVector<Operation *> endingInPlace(func::FuncOp function) {
  llvm::SetVector<Operation *> found;
  auto add = [&](Value value) {
    if (Operation *op = value.getDefiningOp(); op && (isComputed(op) || isIndexOp(op)))
      found.insert(op);
  };
  for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands())
    if (function.getResultAttr(result.getOperandNumber(), "swage.alias"))
      add(result.get());
  for (size_t i = 0; i < found.size(); ++i)
    for (Value operand : found[i]->getOperands())
      add(operand);
  return found;
}

/// Whether a reader of what is computed from a concatenation would read more bytes than it has: a
/// collective computes narrow elements again, but not those of a concatenation.
static bool isReadWider(Operation *op, ConcatOp concat) {
  while (!op->use_empty() && llvm::all_equal(op->getUsers()) && isComputed(*op->user_begin()))
    op = *op->user_begin();
  return elementBytes(typeOf(op->getResult(0)).getElementType()) >
             elementBytes(typeOf(concat.getResult()).getElementType()) &&
         !op->use_empty() && llvm::all_of(op->getUsers(), isCollectiveOp);
}

/// Pattern: f(reshape(concat), y) -> reshape(f(concat, reshape(y)))
static Operation *moveReshapeBehind(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    auto concat = reshape ? reshape.getX().getDefiningOp<ConcatOp>() : ConcatOp();
    if (!concat || !maySink(concat) || !concat.getType().hasStaticShape() ||
        !typeOf(operand).hasStaticShape() || isReadWider(op, concat))
      continue;
    OpBuilder builder(op);
    ArrayRef<int64_t> shape = concat.getType().getShape();
    IRMapping mapping;
    for (Value other : op->getOperands())
      if (!mapping.contains(other))
        mapping.map(other, other == operand ? concat.getResult()
                                            : ReshapeOp::create(builder, other.getLoc(),
                                                                withShape(shape, other.getType()),
                                                                other, ValueRange())
                                                  .getResult());
    Operation *moved = builder.clone(*op, mapping);
    RankedTensorType type = typeOf(op->getResult(0));
    moved->getResult(0).setType(withShape(shape, type));
    op->getResult(0).replaceAllUsesWith(
        ReshapeOp::create(builder, op->getLoc(), type, moved->getResult(0), ValueRange()));
    eraseUnread(op);
    return moved;
  }
  return op;
}

/// Pattern: f(concat(a, b), y) -> concat(f(a, part of y), f(b, part of y)); says how many ops that
/// made of others.
static size_t moveConcatBehind(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto concat = operand.getDefiningOp<ConcatOp>();
    if (!concat || !maySink(concat) || isReadWider(op, concat))
      continue;
    int64_t axis = concat.getAxis();
    if (auto permute = dyn_cast<PermuteOp>(op))
      axis = llvm::find(permute.getPermutation(), axis) - permute.getPermutation().begin();
    RankedTensorType result = typeOf(op->getResult(0));
    if (result.isDynamicDim(axis))
      continue;
    OpBuilder builder(op);
    Parts parts{builder, axis, int64_t(concat.getParts().size())};
    SmallVector<Value> values;
    for (auto [i, part] : llvm::enumerate(concat.getParts()))
      if (isa<PermuteOp>(op)) {
        Operation *moved = builder.clone(*op);
        moved->setOperand(0, part);
        moved->getResult(0).setType(withShape(parts.shape(result), result));
        values.push_back(moved->getResult(0));
      } else {
        values.push_back(parts.compute(op, int64_t(i), 0));
      }
    op->getResult(0).replaceAllUsesWith(
        ConcatOp::create(builder, op->getLoc(), result, values, axis));
    eraseUnread(op);
    return std::max(parts.copies, values.size());
  }
  return 0;
}

void swage::sinkConcats(func::FuncOp function) {
  llvm::SetVector<Operation *> inPlace = endingInPlace(function);
  size_t copies = 0;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (isComputed(&op) && (op.getNumOperands() == 1 || !inPlace.contains(&op)))
      copies += moveConcatBehind(moveReshapeBehind(&op));
    else if (isa<PermuteOp>(op))
      copies += moveConcatBehind(&op);
    if (copies > kMaxCopies)
      return;
  }
}
