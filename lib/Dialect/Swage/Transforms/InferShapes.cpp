//===- InferShapes.cpp - Static extents from operands ---------------------===//
//
// One walk in program order: each op's results take every static extent that its operands imply.
// Only extents change, so a refined value stays valid for its users, except where an op wants equal
// types or a type is fixed from outside; there a tensor.cast joins the two.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace swage {
#define GEN_PASS_DEF_INFERSHAPESPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

using Shape = SmallVector<int64_t>;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

static Shape shapeOf(Value value) { return Shape(tensorType(value).getShape()); }

/// Takes into `shape` what `other` knows from dimension `offset` on.
static LogicalResult refine(Operation *op, Shape &shape, ArrayRef<int64_t> other,
                            size_t offset = 0) {
  for (auto [i, extent] : llvm::enumerate(other)) {
    int64_t &known = shape[offset + i];
    if (ShapedType::isDynamic(extent) || known == extent)
      continue;
    if (!ShapedType::isDynamic(known))
      return op->emitOpError() << "has extents " << known << " and " << extent << " in dimension "
                               << offset + i << ", but they must be equal";
    known = extent;
  }
  return success();
}

/// The extent that an index value is, or dynamic.
static int64_t extentOf(Value size) {
  APInt constant;
  if (matchPattern(size, m_ConstantInt(&constant)) && constant.isNonNegative())
    return constant.getSExtValue();
  if (auto dim = size.getDefiningOp<tensor::DimOp>()) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (type && index && *index >= 0 && *index < type.getRank())
      return type.getDimSize(*index);
  }
  return ShapedType::kDynamic;
}

/// Gives the dynamic extents of `shape` what `sizes` know.
static LogicalResult refineFromSizes(Operation *op, Shape &shape, ValueRange sizes) {
  if (sizes.empty())
    return success();
  Shape given(shape.size(), ShapedType::kDynamic);
  size_t next = 0;
  for (auto [extent, known] : llvm::zip_equal(given, shape))
    if (ShapedType::isDynamic(known))
      extent = extentOf(sizes[next++]);
  return refine(op, shape, given);
}

/// The sizes that are left when `type` becomes `shape`.
static SmallVector<Value> remainingSizes(RankedTensorType type, ArrayRef<int64_t> shape,
                                         ValueRange sizes) {
  SmallVector<Value> remaining;
  size_t next = 0;
  for (auto [old, now] : llvm::zip_equal(type.getShape(), shape)) {
    if (!ShapedType::isDynamic(old) || sizes.empty())
      continue;
    Value size = sizes[next++];
    if (ShapedType::isDynamic(now))
      remaining.push_back(size);
  }
  return remaining;
}

namespace {

class Inference {
public:
  /// Refines the results of one op.
  LogicalResult visit(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<LayerNormOp, RmsNormOp>([&](auto norm) { return visitNorm(norm); })
        .Case([&](SoftmaxOp softmax) { return visitSoftmax(softmax); })
        .Case([&](MatmulOp matmul) { return visitMatmul(matmul); })
        .Case([&](AttentionOp attention) { return visitAttention(attention); })
        .Case<IotaOp, RandomOp>([&](auto source) { return visitSource(source); })
        .Case([&](ReduceOp reduce) { return visitReduce(reduce); })
        .Case([&](PermuteOp permute) { return visitPermute(permute); })
        .Case([&](ReshapeOp reshape) { return visitReshape(reshape); })
        .Case([&](BroadcastOp broadcast) { return visitBroadcast(broadcast); })
        .Case([&](SliceOp slice) { return visitSlice(slice); })
        .Case([&](ConcatOp concat) { return visitConcat(concat); })
        .Case([&](PagesOp pages) { return visitPages(pages); })
        .Case([&](AppendOp append) { return visitAppend(append); })
        .Case([&](tensor::CastOp cast) { return visitCast(cast); })
        .Case([](tensor::DimOp) { return success(); })
        .Default([&](Operation *other) {
          return OpTrait::hasElementwiseMappableTraits(other) ? visitElementwise(other)
                                                              : restoreOperands(other);
        });
  }

private:
  /// The types that refined values had.
  llvm::DenseMap<Value, Type> original;

  /// Gives `value` the extents that `shape` knows beyond its own.
  LogicalResult set(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    Shape refined(type.getShape());
    if (failed(refine(value.getDefiningOp(), refined, shape)))
      return failure();
    if (ArrayRef<int64_t>(refined) != type.getShape()) {
      original.try_emplace(value, type);
      value.setType(type.clone(refined));
    }
    return success();
  }

  static void castOperand(OpOperand &operand, Type type) {
    if (operand.get().getType() == type)
      return;
    OpBuilder builder(operand.getOwner());
    operand.set(tensor::CastOp::create(builder, operand.getOwner()->getLoc(), type, operand.get()));
  }

  /// An op that this pass does not know sees the types that it was written for.
  LogicalResult restoreOperands(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto it = original.find(operand.get()); it != original.end())
        castOperand(operand, it->second);
    return success();
  }

  /// All operands and results have one shape, which the types must agree on.
  LogicalResult visitElementwise(Operation *op) {
    std::optional<Shape> shape;
    auto meet = [&](Value value) -> LogicalResult {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        return success();
      if (!shape)
        shape = Shape(type.getShape());
      return refine(op, *shape, type.getShape());
    };
    for (Value operand : op->getOperands())
      if (failed(meet(operand)))
        return failure();
    for (Value result : op->getResults())
      if (failed(meet(result)))
        return failure();
    if (!shape)
      return success();
    for (OpOperand &operand : op->getOpOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
        castOperand(operand, type.clone(*shape));
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()) && failed(set(result, *shape)))
        return failure();
    return success();
  }

  template <class Norm> LogicalResult visitNorm(Norm op) {
    Shape shape = shapeOf(op.getX());
    if (op.getGamma() && failed(refine(op, shape, shapeOf(op.getGamma()), op.getAxis())))
      return failure();
    if constexpr (std::is_same_v<Norm, LayerNormOp>)
      if (op.getBeta() && failed(refine(op, shape, shapeOf(op.getBeta()), op.getAxis())))
        return failure();
    if (failed(set(op.getResult(), shape)))
      return failure();
    for (Value stat : op.getStats())
      if (failed(set(stat, ArrayRef<int64_t>(shape).take_front(op.getAxis()))))
        return failure();
    return success();
  }

  LogicalResult visitSoftmax(SoftmaxOp op) {
    Shape shape = shapeOf(op.getX());
    if (op.getMask() && failed(refine(op, shape, shapeOf(op.getMask()))))
      return failure();
    if (failed(set(op.getResult(), shape)))
      return failure();
    shape.erase(shape.begin() + op.getAxis());
    for (Value stat : op.getStats())
      if (failed(set(stat, shape)))
        return failure();
    return success();
  }

  /// Gives extents of dimension `dim`, which must be equal, what one of them knows.
  static LogicalResult meet(Operation *op, size_t dim, ArrayRef<int64_t *> extents) {
    Shape common(dim + 1, ShapedType::kDynamic);
    for (int64_t *extent : extents)
      if (failed(refine(op, common, *extent, dim)))
        return failure();
    for (int64_t *extent : extents)
      *extent = common[dim];
    return success();
  }

  /// Operands tell one another the leading dimensions and the length of the sums.
  LogicalResult visitMatmul(MatmulOp op) {
    Shape a = shapeOf(op.getA()), b = shapeOf(op.getB());
    size_t column = a.size() - 1, row = column - 1;
    size_t summed = op.getTransposeB() ? column : row, free = op.getTransposeB() ? row : column;
    for (size_t dim = 0; dim < row; ++dim)
      if (failed(meet(op, dim, {&a[dim], &b[dim]})))
        return failure();
    if (failed(meet(op, column, {&a[column], &b[summed]})))
      return failure();
    castOperand(op.getAMutable(), tensorType(op.getA()).clone(a));
    castOperand(op.getBMutable(), tensorType(op.getB()).clone(b));
    a[column] = b[free];
    return set(op.getResult(), a);
  }

  /// Operands tell one another the leading dimensions, D, and the number of keys and their heads.
  LogicalResult visitAttention(AttentionOp op) {
    Shape q = shapeOf(op.getQ()), k = shapeOf(op.getK()), v = shapeOf(op.getV());
    size_t head = q.size() - 3, row = head + 1, column = head + 2;
    for (size_t dim = 0; dim < head; ++dim)
      if (failed(meet(op, dim, {&q[dim], &k[dim], &v[dim]})))
        return failure();
    if (failed(meet(op, head, {&k[head], &v[head]})) || failed(meet(op, row, {&k[row], &v[row]})) ||
        failed(meet(op, column, {&q[column], &k[column]})))
      return failure();
    SmallVector<Shape> shapes = {q, k, v};
    if (op.getSinks()) {
      Shape sinks = shapeOf(op.getSinks());
      if (failed(meet(op, head, {&shapes[0][head], &sinks[0]})))
        return failure();
      q = shapes[0];
      shapes.push_back(sinks);
    }
    for (auto [operand, shape] : llvm::zip_equal(op->getOpOperands(), shapes))
      castOperand(operand, tensorType(operand.get()).clone(shape));
    if (Value logSum = op.getLogSumExp();
        logSum && failed(set(logSum, ArrayRef<int64_t>(q).drop_back())))
      return failure();
    q[column] = k[row];
    if (Value probabilities = op.getProbabilities(); probabilities && failed(set(probabilities, q)))
      return failure();
    q[column] = v[column];
    return set(op.getResult(), q);
  }

  /// What is made of nothing but its sizes.
  template <class Source> LogicalResult visitSource(Source op) {
    auto type = cast<RankedTensorType>(op.getType());
    Shape shape(type.getShape());
    if (failed(refineFromSizes(op, shape, op.getSizes())))
      return failure();
    op.getSizesMutable().assign(remainingSizes(type, shape, op.getSizes()));
    return set(op.getResult(), shape);
  }

  LogicalResult visitReduce(ReduceOp op) {
    Shape kept;
    for (auto [dim, extent] : llvm::enumerate(shapeOf(op.getX())))
      if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
        kept.push_back(extent);
    return set(op.getResult(), kept);
  }

  LogicalResult visitPermute(PermuteOp op) {
    Shape in = shapeOf(op.getX()), out;
    for (int64_t dim : op.getPermutation())
      out.push_back(in[dim]);
    return set(op.getResult(), out);
  }

  LogicalResult visitReshape(ReshapeOp op) {
    RankedTensorType type = cast<RankedTensorType>(op.getType());
    Shape shape(type.getShape());
    if (failed(refineFromSizes(op, shape, op.getSizes())))
      return failure();
    // Extents that are x's own become static with it. The types that the reshape was written for
    // pair them.
    Value x = op.getX();
    auto written = cast<RankedTensorType>(original.lookup_or(x, x.getType()));
    if (op.getSizes().empty() && ReshapeOp::keepsDynamicExtents(written, type)) {
      Shape known = shapeOf(x), fromX(shape.size(), ShapedType::kDynamic);
      const int64_t *next = known.begin();
      for (auto [extent, to] : llvm::zip_equal(type.getShape(), fromX)) {
        if (!ShapedType::isDynamic(extent))
          continue;
        while (!written.isDynamicDim(next - known.begin()))
          ++next;
        to = *next++;
      }
      if (failed(refine(op, shape, fromX)))
        return failure();
    }
    // One unknown extent of a known number of elements is what is left of it.
    auto in = cast<RankedTensorType>(op.getX().getType());
    int64_t *unknown = llvm::find_if(shape, ShapedType::isDynamic);
    if (in.hasStaticShape() && llvm::count_if(shape, ShapedType::isDynamic) == 1) {
      int64_t others = 1;
      for (int64_t extent : shape)
        if (!ShapedType::isDynamic(extent))
          others *= extent;
      if (others != 0) {
        if (in.getNumElements() % others)
          return op.emitOpError() << "x has " << in.getNumElements()
                                  << " elements, but the result's other extents have " << others;
        *unknown = in.getNumElements() / others;
      }
    }
    SmallVector<Value> sizes = remainingSizes(type, shape, op.getSizes());
    op.getSizesMutable().assign(sizes);
    return set(op.getResult(), shape);
  }

  LogicalResult visitBroadcast(BroadcastOp op) {
    RankedTensorType type = cast<RankedTensorType>(op.getType());
    Shape shape(type.getShape()), in = shapeOf(op.getX());
    if (failed(refineFromSizes(op, shape, op.getSizes())))
      return failure();
    // Without sizes every dynamic extent is x's own, even if that turned out to be 1.
    Shape fromX(shape.size(), ShapedType::kDynamic);
    for (auto [k, dim] : llvm::enumerate(op.getDims()))
      if (in[k] != 1 || (ShapedType::isDynamic(shape[dim]) && op.getSizes().empty()))
        fromX[dim] = in[k];
    if (failed(refine(op, shape, fromX)))
      return failure();
    SmallVector<Value> sizes = remainingSizes(type, shape, op.getSizes());
    op.getSizesMutable().assign(sizes);
    return set(op.getResult(), shape);
  }

  LogicalResult visitSlice(SliceOp op) {
    Shape shape = shapeOf(op.getX());
    shape[op.getAxis()] = op.getSize();
    return set(op.getResult(), shape);
  }

  LogicalResult visitConcat(ConcatOp op) {
    Shape shape = shapeOf(op.getParts().front());
    for (Value part : op.getParts())
      if (failed(refine(op, shape, shapeOf(part))))
        return failure();
    for (OpOperand &part : op->getOpOperands())
      castOperand(part, tensorType(part.get()).clone(shape));
    shape[op.getAxis()] *= static_cast<int64_t>(op.getParts().size());
    return set(op.getResult(), shape);
  }

  LogicalResult visitPages(PagesOp op) {
    Shape shape = shapeOf(op.getTable()), pool = shapeOf(op.getPool());
    int64_t pages = shape.pop_back_val(), positions = ShapedType::kDynamic;
    if (!ShapedType::isDynamic(pages) && llvm::MulOverflow(pages, op.getPageSize(), positions))
      return op.emitOpError() << "table names " << pages << " pages of " << op.getPageSize()
                              << " positions, which are beyond 64 bits";
    shape.append(pool.begin() + 1, pool.end() - 2);
    shape.append({positions, pool.back()});
    return set(op.getResult(), shape);
  }

  /// Cache and rows tell one another all extents but the number of rows, and of pages.
  LogicalResult visitAppend(AppendOp op) {
    Shape cache = shapeOf(op.getCache()), rows = shapeOf(op.getRows()),
          positions = shapeOf(op.getPositions());
    for (size_t dim = op.getPaged(); dim < cache.size(); ++dim)
      if (dim != op.getAxis() && failed(meet(op, dim, {&cache[dim], &rows[dim]})))
        return failure();
    if (op.getPaged())
      for (auto [i, dim] : llvm::enumerate(op.getPositionDims()))
        if (failed(meet(op, dim, {&rows[dim], &positions[i]})))
          return failure();
    castOperand(op.getPositionsMutable(), tensorType(op.getPositions()).clone(positions));
    castOperand(op.getCacheMutable(), tensorType(op.getCache()).clone(cache));
    castOperand(op.getRowsMutable(), tensorType(op.getRows()).clone(rows));
    return set(op.getResult(), cache);
  }

  /// A cast carries static extents on; one that no longer adds anything is left to
  /// canonicalisation.
  LogicalResult visitCast(tensor::CastOp op) {
    if (!isa<RankedTensorType>(op.getSource().getType()) || !isa<RankedTensorType>(op.getType()))
      return success();
    return set(op.getDest(), shapeOf(op.getSource()));
  }
};

struct InferShapesPass : swage::impl::InferShapesPassBase<InferShapesPass> {
  using Base::Base;

  void runOnOperation() override {
    Inference inference;
    for (Block &block : getOperation().getBody())
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(inference.visit(&op)))
          return signalPassFailure();
  }
};

} // namespace
