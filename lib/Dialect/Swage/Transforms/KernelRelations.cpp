//===- KernelRelations.cpp - Which element belongs to which point ---------===//
//
// The first half of KernelBuilder: a seed value lends the kernel its iteration space, and relations
// are propagated from it to every value of the group, through index ops in both directions. Where a
// reshape cuts a dimension, a split of the iteration space is asked for.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace swage;

//===----------------------------------------------------------------------===//
// Relations
//===----------------------------------------------------------------------===//

/// What of an output the iteration space has an element of at each point: of a cache that is the
/// rows that are added, and of a concatenation a part.
Value KernelBuilder::firstWritten(Value output) const {
  if (auto append = output.getDefiningOp<AppendOp>())
    output = append.getRows();
  ConcatOp concat = concatBehind(output);
  return concat ? concat.getParts().front() : output;
}

/// The iteration space is a collective's input, or else the largest output: anything smaller would
/// leave some output unwritten.
Value KernelBuilder::chooseSeed() const {
  if (!collectives.empty())
    return collectives.front()->getOperand(0);
  Value best;
  AffineExpr most;
  for (Value output : outputs) {
    Value candidate = firstWritten(output);
    AffineExpr count = getAffineConstantExpr(1, context());
    for (AffineExpr extent : shapes.shapeOf(candidate))
      count = multiplySizes(count, extent);
    std::optional<int64_t> a = count ? constantSize(count) : std::nullopt,
                           b = most ? constantSize(most) : std::nullopt;
    if (!best || (a && b && *a > *b))
      best = candidate, most = count;
  }
  return best;
}

Relation KernelBuilder::identityOf(Value seed) const {
  AffineExpr zero = getAffineConstantExpr(0, context()), one = getAffineConstantExpr(1, context());
  size_t rank = shapes.shapeOf(seed).size();
  Relation relation(rank, LinearAccess{SmallVector<AffineExpr>(rank, zero), zero});
  for (size_t i = 0; i < rank; ++i)
    relation[i].strides[i] = one;
  for (const Split &split : splits)
    for (LinearAccess &access : relation) {
      AffineExpr inner = access.strides[split.dim];
      access.strides[split.dim] = multiplySizes(inner, split.inner);
      access.strides.insert(access.strides.begin() + split.dim + 1, inner);
    }
  return relation;
}

LinearAccess KernelBuilder::flatten(const Relation &relation, Value tensor) const {
  AffineExpr zero = getAffineConstantExpr(0, context());
  LinearAccess flat{SmallVector<AffineExpr>(extents.size(), zero), zero};
  SmallVector<AffineExpr> strides = rowMajorStrides(shapes.shapeOf(tensor), context());
  for (auto [access, stride] : llvm::zip_equal(relation, strides)) {
    for (auto [to, from] : llvm::zip_equal(flat.strides, access.strides))
      to = addSizes(to, multiplySizes(from, stride));
    flat.offset = addSizes(flat.offset, multiplySizes(access.offset, stride));
  }
  return flat;
}

/// Follows a reshape: the flat position stays, and is taken apart again along the other shape. A
/// coordinate that crosses a boundary of that shape asks for a split.
std::optional<Relation> KernelBuilder::reshape(const Relation &from, Value fromValue,
                                               Value toValue) {
  LinearAccess flat = flatten(from, fromValue);
  ArrayRef<AffineExpr> shape = shapes.shapeOf(toValue);
  SmallVector<AffineExpr> strides = rowMajorStrides(shape, context());
  AffineExpr zero = getAffineConstantExpr(0, context()), one = getAffineConstantExpr(1, context());
  Relation result(shape.size(), LinearAccess{SmallVector<AffineExpr>(extents.size(), zero), zero});
  for (unsigned j = 0; j < extents.size(); ++j) {
    AffineExpr stride = flat.strides[j], extent = extents[j];
    if (constantSize(stride) == 0 || extent == one)
      continue;
    bool placed = false;
    for (unsigned k = 0; k < shape.size() && !placed; ++k) {
      if (shape[k] == one)
        continue;
      AffineExpr step = divideSizes(stride, strides[k]);
      if (!step)
        continue;
      // Dimension k holds `room` steps of this coordinate.
      AffineExpr room = divideSizes(shape[k], step);
      std::optional<int64_t> stepValue = constantSize(step), kExtent = constantSize(shape[k]),
                             jExtent = constantSize(extent);
      bool fits = room == extent ||
                  (stepValue && kExtent && jExtent && *stepValue * (*jExtent - 1) < *kExtent) ||
                  (k == 0 && step == one && !kExtent) || (room && divideSizes(room, extent));
      if (fits) {
        result[k].strides[j] = addSizes(result[k].strides[j], step);
        placed = true;
      } else if (room && constantSize(room) != 1 && divideSizes(extent, room)) {
        if (!wanted)
          wanted = Split{j, room};
        return refuse("a reshape cuts a dimension");
      } else if (room && constantSize(room) == 1) {
        continue;
      } else {
        break;
      }
    }
    if (!placed)
      return refuse("a reshape regroups elements across a boundary that no dimension of the "
                    "iteration space has");
  }
  // The offset is taken apart by constants; a slice can only have put it inside a dimension.
  std::optional<int64_t> offset = constantSize(flat.offset);
  if (!offset)
    return refuse("a slice of a dynamic extent lies under a reshape");
  for (unsigned k = 0; k < shape.size() && *offset; ++k)
    if (std::optional<int64_t> stride = constantSize(strides[k]); stride && *stride) {
      result[k].offset = getAffineConstantExpr(*offset / *stride, context());
      offset = *offset % *stride;
    }
  if (*offset)
    return refuse("a slice of a dynamic extent lies under a reshape");
  for (auto [access, extent] : llvm::zip_equal(result, shape)) {
    std::optional<int64_t> bound = constantSize(extent), last = constantSize(access.offset);
    for (auto [stride, count] : llvm::zip_equal(access.strides, extents))
      if (constantSize(stride) != 0 && bound && last) {
        std::optional<int64_t> s = constantSize(stride), n = constantSize(count);
        last = s && n ? std::optional(*last + *s * (*n - 1)) : std::nullopt;
      }
    if (bound && last && *last >= *bound && *bound > 0)
      return refuse("a reshape regroups elements of a slice");
  }
  return result;
}

/// Follows a reshape of what is loaded or stored: that needs no coordinates of its own, only its
/// place in memory, which a reshape leaves as it is.
Relation KernelBuilder::inMemory(const Relation &from, Value fromValue, Value toValue) {
  wanted.reset();
  AffineExpr zero = getAffineConstantExpr(0, context());
  Relation relation(shapes.shapeOf(toValue).size(),
                    LinearAccess{SmallVector<AffineExpr>(extents.size(), zero), zero});
  relation.back() = flatten(from, fromValue);
  return relation;
}

/// The operand's relation, from the result's.
std::optional<Relation> KernelBuilder::pull(Operation *op, const Relation &result) {
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    Relation operand(result.size());
    for (auto [k, dim] : llvm::enumerate(permute.getPermutation()))
      operand[dim] = result[k];
    return operand;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    AffineExpr zero = getAffineConstantExpr(0, context()),
               one = getAffineConstantExpr(1, context());
    Relation operand;
    for (auto [k, dim] : llvm::enumerate(broadcast.getDims())) {
      bool stretched = shapes.shapeOf(broadcast.getX())[k] == one;
      operand.push_back(stretched
                            ? LinearAccess{SmallVector<AffineExpr>(extents.size(), zero), zero}
                            : result[dim]);
    }
    return operand;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    Relation operand = result;
    LinearAccess &access = operand[slice.getAxis()];
    AffineExpr step = getAffineConstantExpr(slice.getStep(), context());
    for (AffineExpr &stride : access.strides)
      stride = multiplySizes(stride, step);
    access.offset = addSizes(multiplySizes(access.offset, step),
                             getAffineConstantExpr(slice.getFrom(), context()));
    return operand;
  }
  if (isa<ReshapeOp>(op)) {
    Value x = op->getOperand(0);
    std::string before = why;
    std::optional<Relation> operand = reshape(result, op->getResult(0), x);
    bool isLoaded =
        !isComputed(x) &&
        !(x.getDefiningOp() && (isIndexOp(x.getDefiningOp()) || isa<IotaOp>(x.getDefiningOp())));
    if (operand || (wanted && !attention) || !isLoaded || shapes.shapeOf(x).empty())
      return operand;
    why = before;
    return inMemory(result, op->getResult(0), x);
  }
  return result; // elementwise, copy, tensor.cast, softmax
}

/// The result's relation, from the operand's; only where the operand's elements are all of the
/// result's.
std::optional<Relation> KernelBuilder::push(Operation *op, const Relation &operand) {
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    Relation result;
    for (int64_t dim : permute.getPermutation())
      result.push_back(operand[dim]);
    return result;
  }
  if (isa<ReshapeOp>(op)) {
    Value from = op->getOperand(0), to = op->getResult(0);
    std::string before = why;
    std::optional<Relation> result = reshape(operand, from, to);
    // Attention's dimensions are not split for what is only stored.
    bool isStored =
        attention && !shapes.shapeOf(to).empty() &&
        llvm::all_of(to.getUsers(), [&](Operation *user) {
          return !ops.contains(user) || (isa<CopyOp>(user) && outputs.contains(user->getResult(0)));
        });
    if (result || !isStored)
      return result;
    why = before;
    return inMemory(operand, from, to);
  }
  if (isa<BroadcastOp>(op))
    return refuse("a broadcast has more elements than the iteration space gives it");
  if (isa<SliceOp>(op))
    return refuse("a slice leaves out elements of the iteration space");
  return operand;
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

/// Notes a value's relation. The first one found stays; a value that is needed elsewhere in the
/// iteration space as well is simply computed again.
bool KernelBuilder::relate(Value value, const Relation &relation) {
  return relations.insert({value, relation}).second;
}

/// Whether a reduction whose result alone is related to points goes over rows like the first
/// collective's, though of another tensor, which stay in registers: then it may take them as that
/// does.
bool KernelBuilder::isAlongside(Operation *op) const {
  Operation *first = collectives.front();
  auto result = relations.find(op->getResult(0)), of = relations.find(first->getResult(0));
  if (!isa<ReduceOp>(op) || !isa<ReduceOp>(first) || result == relations.end() ||
      of == relations.end() || result->second != of->second)
    return false;
  ArrayRef<AffineExpr> shape = shapes.shapeOf(op->getOperand(0));
  if (shape != shapes.shapeOf(first->getOperand(0)) ||
      cast<ReduceOp>(op).getDims() != cast<ReduceOp>(first).getDims())
    return false;
  int64_t length = 1;
  for (int64_t dim : cast<ReduceOp>(op).getDims())
    length =
        std::min(kMostInRegisters + 1,
                 length * std::min(kMostInRegisters + 1, constantSize(shape[dim]).value_or(0)));
  return length > 0 && length <= kMostInRegisters;
}

bool KernelBuilder::visitForPropagation(Operation *op, bool &changed) {
  auto known = [&](Value value) { return relations.find(value) != relations.end(); };
  auto note = [&](Value value, std::optional<Relation> relation) {
    if (!relation)
      return !wanted;
    if (!known(value))
      changed |= relate(value, *relation);
    return true;
  };
  // spanAttention has related everything, and of a cache a kernel has only the new rows.
  if (isa<AttentionOp, AppendOp>(op))
    return true;
  if (isCollectiveOp(op)) {
    // A norm or a softmax has an element for each of its operand's.
    if (!known(op->getOperand(0)) && !isa<ReduceOp>(op) && known(op->getResult(0)))
      changed |= relate(op->getOperand(0), Relation(relations[op->getResult(0)]));
    if (!known(op->getOperand(0)) && isAlongside(op))
      changed |= relate(op->getOperand(0), Relation(relations[collectives.front()->getOperand(0)]));
    if (!known(op->getOperand(0)))
      return true;
    Relation x = relations[op->getOperand(0)];
    if (auto softmax = dyn_cast<SoftmaxOp>(op); softmax && softmax.getMask())
      if (!note(softmax.getMask(), x))
        return false;
    for (Value result : op->getResults()) {
      Relation kept;
      if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
        kept = x;
        if (result != softmax.getResult())
          kept.erase(kept.begin() + softmax.getAxis());
      } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
        for (auto [i, access] : llvm::enumerate(x))
          if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(i)))
            kept.push_back(access);
      } else {
        kept.assign(x.begin(), x.begin() + cast<ShapedType>(result.getType()).getRank());
      }
      if (!note(result, kept))
        return false;
    }
    return true;
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    // The parts stand at one point of the iteration space; the outputs are stored part by part.
    for (Value part : concat.getParts())
      if (known(part)) {
        Relation relation = relations[part];
        for (Value other : concat.getParts())
          if (!note(other, relation))
            return false;
      }
    return true;
  }
  Value result = op->getResult(0);
  if (known(result)) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !known(operand) &&
          (followsLoads || isComputed(operand)))
        if (!note(operand, pull(op, Relation(relations[result]))))
          return false;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !known(operand) && operand.getDefiningOp() &&
          isIndexOp(operand.getDefiningOp()))
        if (!note(operand, pull(op, Relation(relations[result]))))
          return false;
    return true;
  }
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && known(operand)) {
      std::string before = why;
      if (!note(result, push(op, Relation(relations[operand]))))
        return false;
      why = before;
      break;
    }
  return true;
}

/// The iteration space is that of the seed, with its splits.
void KernelBuilder::span(Value seed) {
  extents.assign(shapes.shapeOf(seed).begin(), shapes.shapeOf(seed).end());
  for (const Split &split : splits) {
    AffineExpr outer = divideSizes(extents[split.dim], split.inner);
    extents[split.dim] = outer;
    extents.insert(extents.begin() + split.dim + 1, split.inner);
  }
  relations.clear();
  relate(seed, identityOf(seed));
}

bool KernelBuilder::propagate(Value seed) {
  followsLoads = false;
  // Every op of the group, what is inlined into it, and the index ops between them, in program
  // order.
  llvm::SetVector<Operation *> reach;
  SmallVector<Value> worklist;
  for (Operation *op : ops)
    worklist.append(readBy(op));
  worklist.push_back(seed);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || (!isIndexOp(op) && !inlined.contains(op)) || !reach.insert(op))
      continue;
    worklist.append(op->operand_begin(), op->operand_end());
  }
  reach.insert(ops.begin(), ops.end());
  SmallVector<Operation *> order(reach.begin(), reach.end());
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  auto settle = [&] {
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation *op : order)
        if (!visitForPropagation(op, changed))
          return false;
      for (Operation *op : llvm::reverse(order))
        if (!visitForPropagation(op, changed))
          return false;
    }
    return true;
  };
  if (!settle())
    return false;
  // What an output shares with the rest may be a tensor that both load, as in x / norm(x * x).
  followsLoads = llvm::any_of(outputs, [&](Value output) {
    return relations.find(firstWritten(output)) == relations.end();
  });
  return !followsLoads || settle();
}
