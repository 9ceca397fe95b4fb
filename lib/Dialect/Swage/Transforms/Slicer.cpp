//===- Slicer.cpp - A range of one axis of a value ------------------------===//

#include "Slicer.h"
#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace swage;

/// A bound for recursion.
constexpr int kMaxDepth = 64;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static RankedTensorType sliceOf(RankedTensorType type, const Slicer &slicer) {
  SmallVector<int64_t> shape(type.getShape());
  shape[slicer.axis] = slicer.size;
  return RankedTensorType::get(shape, type.getElementType());
}
static bool repeatsAlong(BroadcastOp op, int64_t axis) {
  const auto *dim = llvm::find(op.getDims(), axis);
  return dim == op.getDims().end() || typeOf(op.getX()).getDimSize(dim - op.getDims().begin()) == 1;
}

Value Slicer::compute(Operation *op, int depth) {
  ++copies;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, of(operand, depth + 1));
  Operation *part = builder.clone(*op, mapping);
  part->getResult(0).setType(sliceOf(typeOf(op->getResult(0)), *this));
  return part->getResult(0);
}

Value swage::partOf(ConcatOp concat, int64_t axis, int64_t from, int64_t size) {
  bool isPart = int64_t(concat.getAxis()) == axis && size > 0 && from % size == 0 &&
                typeOf(concat.getParts().front()).getDimSize(axis) == size;
  return isPart ? concat.getParts()[from / size] : Value();
}

Value Slicer::of(Value value, int depth) {
  RankedTensorType type = sliceOf(typeOf(value), *this);
  Location loc = value.getLoc();
  Operation *op = value.getDefiningOp();
  if (auto concat = dyn_cast_or_null<ConcatOp>(op))
    if (Value part = partOf(concat, axis, from, size))
      return part;
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(builder, loc, splat.resizeSplat(type));
  if (op && op->hasOneUse() && isElementwiseOp(op) && !isa<CopyOp>(op) && depth < kMaxDepth)
    return compute(op, depth);
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    if (broadcast.getSizes().empty() && repeatsAlong(broadcast, axis))
      return BroadcastOp::create(builder, loc, type, broadcast.getX(), broadcast.getDims(),
                                 ValueRange());
  return SliceOp::create(builder, loc, type, value, axis, from, size);
}
