//===- SplitNorms.cpp - Norms that are read part by part ------------------===//
//
// A kernel has one element of a row at hand at a time. Of a row in equal parts it has an element of
// each, if its rows are as long as a part is: sums over the row are sums over what the parts add up
// to, so that a norm becomes a reduction of these, and its elements are made from the row's
// results.
//
//===----------------------------------------------------------------------===//

#include "SplitNorms.h"
#include "KernelBuilder.h"
#include "Slicer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"

using namespace mlir;
using namespace swage;

/// A thread has an element of each part.
constexpr int64_t kMaxParts = 8;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The extent along the axis of the parts that are all that is read of a value, or 0.
static int64_t extentOfParts(Value whole, int64_t axis,
                             llvm::function_ref<bool(Operation *)> mayMove) {
  int64_t size = 0, extent = typeOf(whole).getDimSize(axis);
  SmallVector<std::pair<Value, int64_t>> values = {{whole, axis}};
  while (!values.empty()) {
    auto [value, at] = values.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (auto slice = dyn_cast<SliceOp>(user)) {
        int64_t part = slice.getSize();
        if (int64_t(slice.getAxis()) != at || slice.getStep() != 1 || part == 0 ||
            slice.getFrom() % part != 0 || extent % part != 0 || (size != 0 && part != size))
          return 0;
        size = part;
      } else if (mayMove(user) && user->getNumResults() == 1) {
        auto permute = dyn_cast<PermuteOp>(user);
        ArrayRef<int64_t> order = permute ? permute.getPermutation() : ArrayRef<int64_t>();
        values.push_back(
            {user->getResult(0), permute ? llvm::find(order, at) - order.begin() : at});
      } else {
        return 0;
      }
    }
  }
  return size;
}

namespace {

/// Writes a norm of the last dimension as reductions over parts of it.
class NormSplitter {
public:
  NormSplitter(Operation *norm, int64_t size)
      : builder(norm), loc(norm->getLoc()), x(norm->getOperand(0)), axis(typeOf(x).getRank() - 1),
        extent(typeOf(x).getDimSize(axis)), size(size),
        compute(typeOf(x).getElementType().isF64() ? builder.getF64Type() : builder.getF32Type()) {
    for (int64_t dim = 0; dim < axis; ++dim)
      if (typeOf(x).isDynamicDim(dim))
        sizes.push_back(tensor::DimOp::create(builder, loc, x, dim));
    for (int64_t from = 0; from < extent; from += size)
      parts.push_back(converted(Slicer{builder, axis, from, size}.of(x), compute));
  }

  void split(RmsNormOp op) {
    Value rstd = rstdOf(op.getEpsilon().convertToDouble());
    replace(op.getResult(), rstd, op.getGamma(), Value());
    if (Value result = op.getRstd())
      result.replaceAllUsesWith(rstd);
  }
  void split(LayerNormOp op) {
    Value mean = meanOf(ArrayRef(parts));
    Value all = broadcastAlongRow(mean);
    for (Value &part : parts)
      part = arith::SubFOp::create(builder, loc, part, all);
    Value rstd = rstdOf(op.getEpsilon().convertToDouble());
    replace(op.getResult(), rstd, op.getGamma(), op.getBeta());
    if (Value result = op.getMean())
      result.replaceAllUsesWith(mean);
    if (Value result = op.getRstd())
      result.replaceAllUsesWith(rstd);
  }

private:
  RankedTensorType partType(Type element) const {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    shape[axis] = size;
    return RankedTensorType::get(shape, element);
  }
  RankedTensorType rowType() const {
    return RankedTensorType::get(typeOf(x).getShape().drop_back(), compute);
  }
  Value number(double value) {
    Value one = arith::ConstantOp::create(
        builder, loc,
        SplatElementsAttr::get(RankedTensorType::get({}, compute), FloatAttr::get(compute, value)));
    return broadcast(one, rowType(), {});
  }
  /// To a wider or a narrower float type.
  Value converted(Value value, Type element) {
    RankedTensorType type = typeOf(value).clone(element);
    unsigned from = typeOf(value).getElementTypeBitWidth(), to = element.getIntOrFloatBitWidth();
    if (from < to)
      return arith::ExtFOp::create(builder, loc, type, value);
    if (from == to)
      return value;
    auto narrow = arith::TruncFOp::create(builder, loc, type, value);
    narrow->setAttr(kRoundsAsStored, builder.getUnitAttr());
    return narrow;
  }
  Value broadcast(Value value, RankedTensorType type, ArrayRef<int64_t> dims) {
    return BroadcastOp::create(builder, loc, type, value, dims, sizes);
  }
  Value broadcastAlongRow(Value row) {
    return broadcast(row, partType(compute), llvm::to_vector(llvm::seq<int64_t>(0, axis)));
  }
  Value meanOf(ArrayRef<Value> terms) {
    Value sum = terms.front();
    for (Value term : terms.drop_front())
      sum = arith::AddFOp::create(builder, loc, sum, term);
    Value ofRow = ReduceOp::create(builder, loc, rowType(), ReduceKind::Sum, sum, axis);
    return arith::MulFOp::create(builder, loc, ofRow, number(1.0 / double(extent)));
  }
  Value rstdOf(double epsilon) {
    SmallVector<Value> squares;
    for (Value part : parts)
      squares.push_back(arith::MulFOp::create(builder, loc, part, part));
    return math::RsqrtOp::create(
        builder, loc, arith::AddFOp::create(builder, loc, meanOf(squares), number(epsilon)));
  }
  /// What a parameter has for a part.
  Value parameterOf(Value parameter, int64_t from) {
    Value part = converted(Slicer{builder, 0, from, size}.of(parameter), compute);
    return broadcast(part, partType(compute), axis);
  }
  void replace(Value result, Value rstd, Value gamma, Value beta) {
    Value all = broadcastAlongRow(rstd);
    for (auto [i, part] : llvm::enumerate(parts)) {
      part = arith::MulFOp::create(builder, loc, part, all);
      if (gamma)
        part = arith::MulFOp::create(builder, loc, part, parameterOf(gamma, i * size));
      if (beta)
        part = arith::AddFOp::create(builder, loc, part, parameterOf(beta, i * size));
      part = converted(part, typeOf(result).getElementType());
    }
    result.replaceAllUsesWith(ConcatOp::create(builder, loc, typeOf(result), parts, axis));
  }

  OpBuilder builder;
  Location loc;
  Value x;
  int64_t axis, extent, size;
  FloatType compute;
  SmallVector<Value> sizes; ///< the dynamic ones of x
  SmallVector<Value> parts; ///< of x, then of what the norm makes of it
};

} // namespace

bool swage::splitNorms(func::FuncOp function, llvm::function_ref<bool(Operation *)> mayMove) {
  bool found = false;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isa<RmsNormOp, LayerNormOp>(op))
      continue;
    Value x = op.getOperand(0);
    int64_t last = typeOf(x).getRank() - 1;
    if (op.getAttrOfType<IntegerAttr>("axis").getInt() != last || typeOf(x).isDynamicDim(last))
      continue;
    int64_t size = extentOfParts(op.getResult(0), last, mayMove);
    if (size == 0 || typeOf(x).getDimSize(last) / size > kMaxParts)
      continue;
    NormSplitter splitter(&op, size);
    if (auto norm = dyn_cast<RmsNormOp>(op))
      splitter.split(norm);
    else
      splitter.split(cast<LayerNormOp>(op));
    op.erase();
    found = true;
  }
  return found;
}
