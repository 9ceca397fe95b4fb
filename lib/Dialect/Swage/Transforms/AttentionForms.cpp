//===- AttentionForms.cpp - One form of attention for kernels -------------===//
//
// What means the same is brought to one form: fusion and schedules know one batch dimension, and
// what is known of a mask they read off comparisons in its region.
//
//===----------------------------------------------------------------------===//

#include "AttentionForms.h"
#include "ElementBuilder.h"
#include "RowPattern.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace swage;

//===----------------------------------------------------------------------===//
// Repeated heads
//===----------------------------------------------------------------------===//

namespace {
/// Heads, each of which stands `times` times in a row in some other value.
struct Repeated {
  Value heads;
  int64_t times;
};
} // namespace

/// What a broadcast repeats along dimension `dim` and no other; null if that is not what it does.
static Value repeatedAlong(BroadcastOp op, int64_t dim) {
  RankedTensorType from = tensorType(op.getX()), to = tensorType(op.getResult());
  for (int64_t k = 0; k < to.getRank(); ++k) {
    auto at = llvm::find(op.getDims(), k);
    bool isKept =
        at != op.getDims().end() && from.getDimSize(at - op.getDims().begin()) == to.getDimSize(k);
    if (!isKept && k != dim)
      return {};
  }
  return op.getX();
}

/// The heads that dimension `dim` of a value repeats, as repeat_kv and repeat_interleave do, in
/// front of permutes or behind them.
static std::optional<Repeated> repeatedHeads(OpBuilder &builder, Value value, int64_t dim) {
  RankedTensorType type = tensorType(value);
  auto reshaped = [&](Value heads, int64_t count) -> Value {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = count;
    RankedTensorType wanted = type.clone(shape);
    if (heads.getType() == wanted)
      return heads;
    if (!ReshapeOp::keepsDynamicExtents(tensorType(heads), wanted))
      return {};
    return ReshapeOp::create(builder, value.getLoc(), wanted, heads, ValueRange());
  };
  if (auto permute = value.getDefiningOp<PermuteOp>()) {
    std::optional<Repeated> found =
        repeatedHeads(builder, permute.getX(), permute.getPermutation()[dim]);
    if (!found)
      return std::nullopt;
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= found->times;
    found->heads = PermuteOp::create(builder, permute.getLoc(), type.clone(shape), found->heads,
                                     permute.getPermutation());
    return found;
  }
  int64_t heads = type.getDimSize(dim), times = heads;
  Value source;
  if (ShapedType::isDynamic(heads))
    return std::nullopt;
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    source = repeatedAlong(broadcast, dim);
  } else if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    // [.., heads, times, ..] as [.., heads * times, ..]
    auto inner = reshape.getX().getDefiningOp<BroadcastOp>();
    ArrayRef<int64_t> from = tensorType(reshape.getX()).getShape(), to = type.getShape();
    if (!inner || from.size() != to.size() + 1 || from.take_front(dim) != to.take_front(dim) ||
        from.drop_front(dim + 2) != to.drop_front(dim + 1) || ShapedType::isDynamic(from[dim + 1]))
      return std::nullopt;
    times = from[dim + 1];
    source = repeatedAlong(inner, dim + 1);
  }
  if (!source || times < 2)
    return std::nullopt;
  source = reshaped(source, heads / times);
  return source ? std::optional<Repeated>({source, times}) : std::nullopt;
}

static void absorbRepeatedHeads(AttentionOp op) {
  OpBuilder builder(op);
  int64_t head = tensorType(op.getQ()).getRank() - 3;
  std::optional<Repeated> k = repeatedHeads(builder, op.getK(), head),
                          v = repeatedHeads(builder, op.getV(), head);
  // Keys and values have one number of heads.
  if (!k || !v || k->times != v->times)
    return;
  op.emitRemark() << "each head of keys and values is read " << k->times << " times, not repeated";
  op.getKMutable().assign(k->heads);
  op.getVMutable().assign(v->heads);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// An element of a tensor that the graph computes is computed instead, if that reads at most one
/// tensor with as many coordinates, and takes none apart.
static void computeInRegion(tensor::ExtractOp op) {
  if (!op.getTensor().getDefiningOp())
    return;
  Block *block = op->getBlock();
  Operation *before = op->getPrevNode();
  OpBuilder builder(op);
  ElementBuilder elements(builder);
  Value scalar = elements.at(op.getTensor(), llvm::to_vector(op.getIndices()));
  Block::iterator first = before ? std::next(before->getIterator()) : block->begin();
  auto coordinates = [](tensor::ExtractOp read) {
    return llvm::count_if(read.getIndices(),
                          [](Value index) { return !matchPattern(index, m_Constant()); });
  };
  int64_t large = 0;
  bool isLinear = true;
  for (Operation &made : llvm::make_range(first, op->getIterator())) {
    if (auto read = dyn_cast<tensor::ExtractOp>(made))
      large += coordinates(read) >= coordinates(op);
    isLinear &= !isa<arith::DivUIOp, arith::RemUIOp>(made);
  }
  if (large <= 1 && isLinear) {
    Type type = op.getType();
    if (scalar.getType() != type) {
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (isa<arith::ExtFOp>(user) && user->getResult(0).getType() == scalar.getType())
          user->getResult(0).replaceAllUsesWith(scalar);
      scalar = arith::TruncFOp::create(builder, op.getLoc(), type, scalar);
    }
    op.getResult().replaceAllUsesWith(scalar);
  }
}

static void eraseDead(Region &region) {
  if (!region.empty())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(region.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
}

namespace {
/// Takes from the end of a score function what only says -inf.
class MaskMover {
public:
  explicit MaskMover(AttentionOp op) : op(op), builder(op) {}
  void run();

private:
  static bool isNumber(Value value, double wanted) {
    while (isa_and_present<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    APFloat number(0.0);
    return matchPattern(value, m_ConstantFloat(&number)) && number.convertToDouble() == wanted;
  }
  bool dependsOnScore(Value value);
  bool take(Value condition, bool keeps);
  Value peel(Value changed);

  AttentionOp op;
  OpBuilder builder;
};
} // namespace

bool MaskMover::dependsOnScore(Value value) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = options.omitBlockArguments = true;
  options.filter = [&](Operation *inner) { return inner->getParentRegion() == &op.getScore(); };
  if (value == op.getScore().getArgument(0) || failed(getBackwardSlice(value, &slice, options)))
    return true;
  return llvm::any_of(slice, [&](Operation *inner) {
    return llvm::is_contained(inner->getOperands(), op.getScore().getArgument(0));
  });
}

/// The mask is what it was, and the condition of the score function.
bool MaskMover::take(Value condition, bool keeps) {
  if (dependsOnScore(condition))
    return false;
  Location loc = condition.getLoc();
  Block &score = op.getScore().front();
  if (op.getMask().empty()) {
    SmallVector<Type> types(score.getNumArguments() - 1, builder.getIndexType());
    builder.createBlock(&op.getMask(), {}, types, SmallVector<Location>(types.size(), loc));
    YieldOp::create(builder, loc,
                    arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)).getResult());
  }
  Block &mask = op.getMask().front();
  auto yield = cast<YieldOp>(mask.getTerminator());
  builder.setInsertionPoint(yield);
  IRMapping mapping;
  mapping.map(score.getArguments().drop_front(), mask.getArguments());
  for (Operation &inner : score.without_terminator())
    if (!llvm::is_contained(inner.getOperands(), score.getArgument(0)) &&
        !dependsOnScore(inner.getResult(0)))
      builder.clone(inner, mapping);
  Value own = mapping.lookupOrDefault(condition);
  if (!keeps)
    own = arith::XOrIOp::create(
        builder, loc, own,
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)).getResult());
  yield->setOperand(0, arith::AndIOp::create(builder, loc, yield.getOperand(0), own).getResult());
  return true;
}

/// A score without one mask on it; null if there is none.
Value MaskMover::peel(Value changed) {
  if (auto select = changed.getDefiningOp<arith::SelectOp>())
    for (bool keeps : {true, false}) {
      Value none = keeps ? select.getFalseValue() : select.getTrueValue();
      if (isNumber(none, -INFINITY))
        return take(select.getCondition(), keeps)
                   ? (keeps ? select.getTrueValue() : select.getFalseValue())
                   : Value();
    }
  auto sum = changed.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return {};
  for (auto [rest, added] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())}) {
    while (isa_and_present<arith::ExtFOp, arith::TruncFOp>(added.getDefiningOp()))
      added = added.getDefiningOp()->getOperand(0);
    auto select = added.getDefiningOp<arith::SelectOp>();
    if (!select)
      continue;
    for (bool keeps : {true, false}) {
      Value yes = keeps ? select.getTrueValue() : select.getFalseValue(),
            no = keeps ? select.getFalseValue() : select.getTrueValue();
      if (isNumber(yes, 0) && isNumber(no, -INFINITY) && take(select.getCondition(), keeps))
        return rest;
    }
  }
  return {};
}

void MaskMover::run() {
  Operation *yield = op.getScore().front().getTerminator();
  while (Value less = peel(yield->getOperand(0)))
    yield->setOperand(0, less);
}

void swage::absorbIntoAttention(AttentionOp op) {
  absorbRepeatedHeads(op);
  for (Region *region : {&op.getScore(), &op.getMask(), &op.getWeight()})
    for (auto read : llvm::to_vector(region->getOps<tensor::ExtractOp>()))
      computeInRegion(read);
  if (!op.getScore().empty())
    MaskMover(op).run();
  for (Region &region : op->getRegions())
    eraseDead(region);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

namespace {
class BatchMerger {
public:
  explicit BatchMerger(AttentionOp op)
      : op(op), builder(op), batches(tensorType(op.getQ()).getRank() - 3),
        extents(tensorType(op.getQ()).getShape().take_front(batches)) {}
  void run();

private:
  Value sizeOf(Value tensor, int64_t dim) {
    return tensor::DimOp::create(builder, op.getLoc(), tensor, dim);
  }
  /// A reshape with sizes for its dynamic extents.
  Value reshape(Value x, ArrayRef<int64_t> shape, ArrayRef<Value> sizes) {
    SmallVector<Value> dynamic;
    for (auto [extent, size] : llvm::zip_equal(shape, sizes))
      if (ShapedType::isDynamic(extent))
        dynamic.push_back(size);
    RankedTensorType type = tensorType(x).clone(shape);
    return ReshapeOp::create(builder, op.getLoc(), type, x, dynamic);
  }
  /// x, whose first dimensions are the batches, with one of them.
  Value merge(Value x);
  bool leavesBatches(PermuteOp op) const;
  Value permute(PermuteOp op, Value x);
  void splitResult(OpResult result);
  void sayBatches(Value x);
  RankedTensorType mergedType(RankedTensorType type) {
    SmallVector<int64_t> shape = {merged};
    llvm::append_range(shape, type.getShape().drop_front(batches));
    return type.clone(shape);
  }
  void mergeRegion(Region &region, unsigned first);
  void mergeRead(tensor::ExtractOp read, Value coordinate, ValueRange old);

  AttentionOp op;
  OpBuilder builder;
  int64_t batches;
  SmallVector<int64_t> extents; ///< of the batch dimensions
  SmallVector<Value> sizes;     ///< the same as values
  int64_t merged = 1;
  Value mergedSize;
};
} // namespace

bool BatchMerger::leavesBatches(PermuteOp op) const {
  return op && op.getPermutation().take_front(batches) ==
                   ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, batches)));
}

/// What a permute that leaves the batches alone does to x, where they are one.
Value BatchMerger::permute(PermuteOp op, Value x) {
  SmallVector<int64_t> order = {0};
  for (int64_t dim : op.getPermutation().drop_front(batches))
    order.push_back(dim - batches + 1);
  return PermuteOp::create(builder, op.getLoc(), mergedType(tensorType(op)), x, order);
}

/// Where index ops leave the batches alone, these are merged in front of them: what is read from
/// memory may then be strided.
Value BatchMerger::merge(Value x) {
  RankedTensorType type = tensorType(x);
  if (auto op = x.getDefiningOp<PermuteOp>(); leavesBatches(op))
    return permute(op, merge(op.getX()));
  if (auto slice = x.getDefiningOp<SliceOp>();
      slice && static_cast<int64_t>(slice.getAxis()) >= batches)
    return SliceOp::create(builder, slice.getLoc(), mergedType(type), merge(slice.getX()),
                           slice.getAxis() - batches + 1, slice.getFrom(), slice.getSize(),
                           slice.getStep());
  if (auto reshape = x.getDefiningOp<ReshapeOp>(); reshape && type.hasStaticShape())
    x = reshape.getX();
  SmallVector<Value> all = {mergedSize};
  for (int64_t dim = batches; dim < type.getRank(); ++dim)
    all.push_back(type.isDynamicDim(dim) ? sizeOf(x, dim) : Value());
  return reshape(x, mergedType(type).getShape(), all);
}

/// A product of extents does not say of which. A broadcast that repeats nothing, and that nobody
/// reads, tells the analysis of shapes that the batches of x are those of q.
void BatchMerger::sayBatches(Value x) {
  if (!mergedSize)
    return;
  RankedTensorType type = tensorType(x);
  SmallVector<Value> dynamic;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      dynamic.push_back(dim < batches ? sizes[dim] : sizeOf(x, dim));
  BroadcastOp::create(builder, op.getLoc(), type, x,
                      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), dynamic);
}

/// A tensor that is read by batches gets them as one dimension in front: as they lie where they are
/// its first ones, and else as a copy. `coordinate` is the new one, `old` are those it stands for.
void BatchMerger::mergeRead(tensor::ExtractOp read, Value coordinate, ValueRange old) {
  SmallVector<int64_t> place(batches, -1), order, kept, rest, shape(extents);
  SmallVector<Value> indices = {coordinate}, dynamic;
  RankedTensorType type = tensorType(read.getTensor());
  for (auto [dim, index] : llvm::enumerate(read.getIndices())) {
    int64_t batch = llvm::find(old, index) - old.begin();
    if (batch < batches && place[batch] < 0 && type.getDimSize(dim) == extents[batch]) {
      place[batch] = dim;
    } else {
      rest.push_back(dim);
      indices.push_back(index);
    }
  }
  for (int64_t batch = 0; batch < batches; ++batch) {
    if (place[batch] >= 0) {
      order.push_back(place[batch]);
      kept.push_back(batch);
    }
    if (ShapedType::isDynamic(extents[batch]))
      dynamic.push_back(sizes[batch]);
  }
  if (kept.empty())
    return;
  bool isWhole = static_cast<int64_t>(kept.size()) == batches;
  for (auto [i, dim] : llvm::enumerate(rest)) {
    order.push_back(dim);
    kept.push_back(batches + i);
    shape.push_back(type.getDimSize(dim));
    if (type.isDynamicDim(dim))
      dynamic.push_back(sizeOf(read.getTensor(), dim));
  }
  Value x = read.getTensor();
  bool isMoved = !llvm::is_sorted(order);
  if (isMoved)
    x = PermuteOp::create(
        builder, read.getLoc(),
        type.clone(llvm::map_to_vector(order, [&](int64_t dim) { return type.getDimSize(dim); })),
        x, order);
  if (!isWhole)
    x = BroadcastOp::create(builder, read.getLoc(), type.clone(shape), x, kept, dynamic);
  sayBatches(x);
  x = merge(x);
  if (isMoved || !isWhole)
    x = CopyOp::create(builder, read.getLoc(), x.getType(), x);
  OpBuilder inner(read);
  read.getResult().replaceAllUsesWith(
      tensor::ExtractOp::create(inner, read.getLoc(), x, indices).getResult());
  read.erase();
}

/// The coordinates of the batches become one, taken apart again where something is computed of
/// them.
void BatchMerger::mergeRegion(Region &region, unsigned first) {
  if (region.empty())
    return;
  Block &block = region.front();
  Location loc = op.getLoc();
  Value coordinate = block.insertArgument(first, builder.getIndexType(), loc);
  ValueRange old = block.getArguments().slice(first + 1, batches);
  for (auto read : llvm::to_vector(block.getOps<tensor::ExtractOp>()))
    mergeRead(read, coordinate, old);
  OpBuilder inner = OpBuilder::atBlockBegin(&block);
  auto extent = [&](int64_t batch) -> Value {
    return sizes[batch] ? sizes[batch]
                        : arith::ConstantIndexOp::create(inner, loc, extents[batch]).getResult();
  };
  Value left = coordinate;
  for (int64_t batch = batches; batch-- > 0;) {
    Value own = batch ? arith::RemUIOp::create(inner, loc, left, extent(batch)).getResult() : left;
    if (batch)
      left = arith::DivUIOp::create(inner, loc, left, extent(batch));
    old[batch].replaceAllUsesWith(own);
  }
  block.eraseArguments(first + 1, batches);
  eraseDead(region);
}

void BatchMerger::run() {
  Location loc = op.getLoc();
  for (int64_t batch = 0; batch < batches; ++batch) {
    bool isDynamic = ShapedType::isDynamic(extents[batch]);
    sizes.push_back(isDynamic ? sizeOf(op.getQ(), batch) : Value());
    merged =
        isDynamic || ShapedType::isDynamic(merged) ? ShapedType::kDynamic : merged * extents[batch];
  }
  if (ShapedType::isDynamic(merged))
    for (auto [extent, size] : llvm::zip_equal(extents, sizes)) {
      Value factor = size ? size : arith::ConstantIndexOp::create(builder, loc, extent).getResult();
      mergedSize =
          mergedSize ? arith::MulIOp::create(builder, loc, mergedSize, factor).getResult() : factor;
    }
  for (OpOperand *operand : {&op.getQMutable(), &op.getKMutable(), &op.getVMutable()}) {
    sayBatches(operand->get());
    operand->set(merge(operand->get()));
  }
  mergeRegion(op.getMask(), 0);
  mergeRegion(op.getScore(), 1);
  mergeRegion(op.getWeight(), 0);
  for (OpResult result : op->getResults())
    splitResult(result);
}

/// The batches come apart behind permutes that leave them alone, together with what a reshape does.
void BatchMerger::splitResult(OpResult result) {
  SmallVector<PermuteOp> permutes;
  Value end = result;
  while (end.hasOneUse() && leavesBatches(dyn_cast<PermuteOp>(*end.user_begin()))) {
    permutes.push_back(cast<PermuteOp>(*end.user_begin()));
    end = permutes.back();
  }
  auto last = end.hasOneUse() ? dyn_cast<ReshapeOp>(*end.user_begin()) : ReshapeOp();
  if (last && tensorType(last).hasStaticShape())
    end = last;
  else
    last = {};
  RankedTensorType type = tensorType(end);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : end.getUses())
    uses.push_back(&use);
  builder.setInsertionPointAfter(end.getDefiningOp());
  result.setType(mergedType(tensorType(result)));
  Value moved = result;
  for (PermuteOp op : permutes)
    moved = permute(op, moved);
  SmallVector<Value> all;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    all.push_back(!type.isDynamicDim(dim) ? Value()
                  : dim < batches         ? sizes[dim]
                                          : sizeOf(moved, dim - batches + 1));
  Value apart = reshape(moved, type.getShape(), all);
  for (OpOperand *use : uses)
    use->set(apart);
  if (last)
    last.erase();
  for (PermuteOp op : llvm::reverse(permutes))
    op.erase();
}

void swage::mergeBatches(AttentionOp op) {
  if (tensorType(op.getQ()).getRank() > 4)
    BatchMerger(op).run();
}
