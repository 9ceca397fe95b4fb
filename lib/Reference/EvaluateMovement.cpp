//===- EvaluateMovement.cpp - Ops of the oracle that move elements --------===//
#include "Evaluator.h"

using namespace mlir;

namespace swage::reference {

/// An op that makes a tensor from nothing but its shape and, perhaps, a few numbers.
LogicalResult Evaluator::evaluateSource(Operation *op, ValueRange sizes,
                                        llvm::function_ref<Value(ArrayRef<int64_t>)> make) {
  Shape shape(declaredShape(op->getResult(0).getType()));
  if (failed(resolveSizes(op, shape, sizes)) || failed(reserve(op, shape, false)))
    return failure();
  return define(op, op->getResult(0), make(shape));
}

LogicalResult Evaluator::evaluateReshape(Operation *op, Shape shape, ValueRange sizes) {
  Value x = operandOf(op->getOperand(0));
  if (failed(resolveSizes(op, shape, sizes)))
    return failure();
  auto from = cast<ShapedType>(op->getOperand(0).getType()),
       to = cast<ShapedType>(op->getResult(0).getType());
  if (sizes.empty() && ReshapeOp::keepsDynamicExtents(from, to)) {
    Shape kept;
    for (auto [dim, extent] : llvm::enumerate(x.shape()))
      if (from.isDynamicDim(dim))
        kept.push_back(extent);
    const int64_t *next = kept.begin();
    for (int64_t &extent : shape)
      if (ShapedType::isDynamic(extent))
        extent = *next++;
  }
  auto dynamic = llvm::find(shape, ShapedType::kDynamic);
  if (dynamic != shape.end()) {
    *dynamic = 1;
    int64_t rest = elementCount(shape);
    *dynamic = rest > 0 ? x.size() / rest : 0;
  }
  if (elementCount(shape) != x.size())
    return op->emitOpError() << "is given " << describe(x.shape(), x.type())
                             << ", which does not have the elements of "
                             << describe(shape, x.type());
  return define(op, op->getResult(0), x.reshaped(shape));
}

LogicalResult Evaluator::evaluateBroadcast(BroadcastOp op) {
  Value x = operandOf(op.getX());
  Shape shape(declaredShape(op.getType()));
  if (failed(resolveSizes(op, shape, op.getSizes())))
    return failure();
  Shape from = rowMajorStrides(x.shape()), strides(shape.size(), 0);
  for (auto [k, dim] : llvm::enumerate(op.getDims())) {
    int64_t extent = x.shape()[k];
    if (ShapedType::isDynamic(shape[dim]))
      shape[dim] = extent;
    if (extent != 1 && extent != shape[dim])
      return op.emitOpError() << "is given x with extent " << extent << " in dimension " << k
                              << ", but it must be 1 or the result's " << shape[dim];
    if (extent != 1)
      strides[dim] = from[k];
  }
  if (failed(reserve(op, shape, x.isSplat())))
    return failure();
  // One element for all takes no memory.
  if (x.size() == 1)
    return define(op, op.getResult(), Value::splat(x.type(), shape, x.load(0)));
  return define(op, op.getResult(), gather(x, shape, 0, strides));
}

LogicalResult Evaluator::evaluateSlice(SliceOp op) {
  Value x = operandOf(op.getX());
  Shape shape(x.shape()), strides = rowMajorStrides(x.shape());
  int64_t offset = op.getFrom() * strides[op.getAxis()];
  shape[op.getAxis()] = op.getSize();
  strides[op.getAxis()] *= op.getStep();
  return define(op, op.getResult(), gather(x, shape, offset, strides));
}

LogicalResult Evaluator::evaluateConcat(ConcatOp op) {
  SmallVector<Value> parts;
  Shape shape;
  for (GraphValue part : op.getParts()) {
    parts.push_back(operandOf(part));
    Shape extents(parts.back().shape());
    if (parts.size() == 1) {
      shape = extents;
      continue;
    }
    extents[op.getAxis()] += shape[op.getAxis()];
    shape[op.getAxis()] = extents[op.getAxis()];
    if (shape != extents)
      return op.emitOpError() << "is given parts of different extents: "
                              << describe(parts.front().shape(), parts.front().type()) << " and "
                              << describe(parts.back().shape(), parts.back().type());
  }
  if (failed(reserve(op, shape, false)))
    return failure();
  return define(op, op.getResult(), concat(parts, op.getAxis(), shape));
}

LogicalResult Evaluator::evaluatePages(PagesOp op) {
  Value pool = operandOf(op.getPool()), table = operandOf(op.getTable());
  Shape shape(table.shape());
  int64_t positions;
  if (llvm::MulOverflow(shape.pop_back_val(), pool.shape().end()[-2], positions))
    return op.emitOpError() << "table is given as " << describe(table.shape(), table.type())
                            << ", whose positions are beyond 64 bits";
  shape.append(pool.shape().begin() + 1, pool.shape().end() - 2);
  shape.append({positions, pool.shape().back()});
  if (failed(reserve(op, shape, false)))
    return failure();
  return define(op, op.getResult(), pages(pool, table, shape));
}

LogicalResult Evaluator::evaluateAppend(AppendOp op) {
  Value cache = operandOf(op.getCache()), rows = operandOf(op.getRows()),
        positions = operandOf(op.getPositions());
  int64_t axis = op.getAxis(), places = 1;
  Shape expected(cache.shape());
  if (op.getPaged())
    expected.front() = rows.shape().front(), expected[axis] = rows.shape()[axis];
  else
    expected[axis] = std::min(expected[axis], rows.shape()[axis]);
  for (unsigned dim : op.getPositionDims())
    places *= rows.shape()[dim];
  if (rows.shape() != ArrayRef<int64_t>(expected) || positions.size() != places)
    return op.emitOpError() << "is given cache as " << describe(cache.shape(), cache.type())
                            << ", rows as " << describe(rows.shape(), rows.type())
                            << " and positions as " << describe(positions.shape(), positions.type())
                            << ", which do not fit";
  return define(op, op.getResult(),
                op.getPaged() ? appendPaged(cache, rows, positions, axis)
                              : append(cache, rows, positions, axis, op.getCircular()));
}

LogicalResult Evaluator::evaluateDim(tensor::DimOp op) {
  Value source = operandOf(op.getSource());
  int64_t dim = operandOf(op.getIndex()).load(0).integer;
  if (dim < 0 || dim >= static_cast<int64_t>(source.shape().size()))
    return op.emitOpError() << "asks for dimension " << dim << " of "
                            << describe(source.shape(), source.type());
  Number extent;
  extent.integer = source.shape()[dim];
  return define(op, op.getResult(), Value::splat(ElementType::I64, {}, extent));
}

} // namespace swage::reference
