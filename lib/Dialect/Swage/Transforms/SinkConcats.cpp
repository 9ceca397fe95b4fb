//===- SinkConcats.cpp - Concatenations move to where they are written ----===//
//
// A kernel writes the parts of a concatenation where they end up, but does not read them as a
// whole. So what is computed from one is computed from its parts instead, as in x * cos +
// concat(-b, a) * sin, the rotary embedding of many models.
//
//===----------------------------------------------------------------------===//

#include "FusionGraph.h"
#include "KernelBuilder.h"
#include "Slicer.h"
#include "SplitNorms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace swage;

/// Bounds for what becomes of a graph: parts that readers are copied for, and such copies.
constexpr size_t kMaxParts = 16, kMaxCopies = 2048;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static RankedTensorType withShape(ArrayRef<int64_t> shape, Type like) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(like).getElementType());
}
static bool isComputed(Operation *op) { return isElementwiseOp(op) && !isa<CopyOp>(op); }

/// The part of a concatenation that a slice takes, or null.
static Value partTakenBy(SliceOp slice) {
  auto concat = slice.getX().getDefiningOp<ConcatOp>();
  return concat && slice.getStep() == 1
             ? partOf(concat, slice.getAxis(), slice.getFrom(), slice.getSize())
             : Value();
}

/// Whether no reader of a concatenation needs it whole: those that do could read it as well.
static bool maySink(ConcatOp concat) {
  return concat.getParts().size() <= kMaxParts &&
         llvm::all_of(concat->getUsers(), [](Operation *user) {
           return isComputed(user) || isa<PermuteOp>(user) ||
                  (isa<SliceOp>(user) && partTakenBy(cast<SliceOp>(user))) ||
                  (isa<ReshapeOp>(user) && llvm::all_of(user->getUsers(), isComputed));
         });
}

/// What ends in results that may lie where arguments do (`swage.alias`), behind concatenations as
/// well or not: one kernel for all parts would read those behind its own writes.
static llvm::SetVector<Operation *> endingInPlace(func::FuncOp function, bool behindConcats) {
  llvm::SetVector<Operation *> found;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && (isComputed(op) || isIndexOp(op) || (behindConcats && isa<ConcatOp>(op))))
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
    size_t copies = 0;
    SmallVector<Value> values;
    for (auto [i, part] : llvm::enumerate(concat.getParts())) {
      int64_t size = result.getDimSize(axis) / int64_t(concat.getParts().size());
      Slicer slicer{builder, axis, int64_t(i) * size, size};
      if (isa<PermuteOp>(op)) {
        SmallVector<int64_t> shape(result.getShape());
        shape[axis] = size;
        values.push_back(PermuteOp::create(builder, op->getLoc(), withShape(shape, result), part,
                                           cast<PermuteOp>(op).getPermutation()));
      } else {
        values.push_back(slicer.compute(op));
      }
      copies += std::max<size_t>(slicer.copies, 1);
    }
    op->getResult(0).replaceAllUsesWith(
        ConcatOp::create(builder, op->getLoc(), result, values, axis));
    eraseUnread(op);
    return copies;
  }
  return 0;
}

void swage::sinkConcats(func::FuncOp function) {
  size_t copies = 0;
  auto sink = [&] {
    llvm::SetVector<Operation *> inPlace = endingInPlace(function, /*behindConcats=*/false);
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
      auto slice = dyn_cast<SliceOp>(op);
      if (Value part = slice ? partTakenBy(slice) : Value()) {
        slice.getResult().replaceAllUsesWith(part);
        eraseUnread(slice);
      } else if (copies > kMaxCopies) {
        return;
      } else if (isa<PermuteOp>(op)) {
        copies += moveConcatBehind(&op);
      } else if (isComputed(&op) && (op.getNumOperands() == 1 || !inPlace.contains(&op))) {
        copies += moveConcatBehind(moveReshapeBehind(&op));
      }
    }
  };
  sink();
  // Readers of parts are known by now; the parts of a norm go the same way.
  llvm::SetVector<Operation *> inPlace = endingInPlace(function, /*behindConcats=*/true);
  auto mayMove = [&](Operation *op) {
    return (isa<PermuteOp, SliceOp>(op) || isComputed(op)) && !inPlace.contains(op);
  };
  if (splitNorms(function, mayMove))
    sink();
}
