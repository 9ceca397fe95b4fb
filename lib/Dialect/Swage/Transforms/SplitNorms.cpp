//===- SplitNorms.cpp - Norms that are read part by part ------------------===//
//
// A kernel has one element of a row at hand at a time. Of a row in equal parts it has an element of
// each, if its rows are as long as a part is: sums over the row are sums over what the parts add up
// to, so that an RMSNorm becomes a reduction of these, and its elements are made from the row's
// results. Not a LayerNorm, whose mean a plain sum does not give as exactly as its collective does
// (docs/numerics.md).
//
//===----------------------------------------------------------------------===//

#include "SplitNorms.h"
#include "FusionGraph.h"
#include "KernelBuilder.h"
#include "Slicer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace swage;

/// A thread has an element of each part.
constexpr int64_t kMaxParts = 8;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The extent along the axis of the parts that are all that is read of a value, or 0.
static int64_t extentOfParts(Value whole, int64_t axis,
                             llvm::function_ref<bool(Operation *)> mayMove) {
  int64_t size = 0, extent = typeOf(whole).getDimSize(axis);
  llvm::SetVector<std::pair<Value, int64_t>> values;
  values.insert({whole, axis});
  for (size_t i = 0; i < values.size(); ++i) {
    auto [value, at] = values[i];
    for (Operation *user : value.getUsers()) {
      if (auto slice = dyn_cast<SliceOp>(user)) {
        int64_t part = slice.getSize();
        if (!mayMove(slice) || int64_t(slice.getAxis()) != at || slice.getStep() != 1 ||
            part == 0 || slice.getFrom() % part != 0 || extent % part != 0 ||
            (size != 0 && part != size))
          return 0;
        size = part;
      } else if (mayMove(user) && user->getNumResults() == 1) {
        auto permute = dyn_cast<PermuteOp>(user);
        ArrayRef<int64_t> order = permute ? permute.getPermutation() : ArrayRef<int64_t>();
        values.insert({user->getResult(0), permute ? llvm::find(order, at) - order.begin() : at});
      } else {
        return 0;
      }
    }
  }
  return size;
}

namespace {

/// Writes an RMSNorm of the last dimension as a reduction over parts of it.
class NormSplitter {
public:
  NormSplitter(RmsNormOp norm, int64_t size)
      : norm(norm), builder(norm), loc(norm.getLoc()), x(norm.getX()),
        axis(typeOf(x).getRank() - 1), extent(typeOf(x).getDimSize(axis)), size(size),
        compute(typeOf(x).getElementType().isF64() ? builder.getF64Type() : builder.getF32Type()) {
    for (int64_t dim = 0; dim < axis; ++dim)
      if (typeOf(x).isDynamicDim(dim))
        sizes.push_back(tensor::DimOp::create(builder, loc, x, dim));
    for (int64_t from = 0; from < extent; from += size)
      parts.push_back(converted(Slicer{builder, axis, from, size}.of(x), compute));
  }

  void split() {
    Value ofRow = rstd(),
          all = broadcast(ofRow, partType(compute), llvm::to_vector(llvm::seq<int64_t>(0, axis)));
    SmallVector<Value> results;
    for (auto [i, part] : llvm::enumerate(parts)) {
      Value y = arith::MulFOp::create(builder, loc, part, all);
      if (Value gamma = norm.getGamma())
        y = arith::MulFOp::create(builder, loc, y, parameterOf(gamma, i * size));
      results.push_back(converted(y, typeOf(norm.getResult()).getElementType()));
    }
    norm.getResult().replaceAllUsesWith(
        ConcatOp::create(builder, loc, norm.getResult().getType(), results, axis));
    if (Value result = norm.getRstd())
      result.replaceAllUsesWith(ofRow);
    eraseUnread(norm);
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
  /// 1 / sqrt(mean of squares + epsilon)
  Value rstd() {
    Value sum;
    for (Value part : parts) {
      Value square = arith::MulFOp::create(builder, loc, part, part);
      sum = sum ? arith::AddFOp::create(builder, loc, sum, square).getResult() : square;
    }
    Value ofRow = ReduceOp::create(builder, loc, rowType(), ReduceKind::Sum, sum, axis);
    Value mean = arith::MulFOp::create(builder, loc, ofRow, number(1.0 / double(extent)));
    Value epsilon = number(norm.getEpsilon().convertToDouble());
    return math::RsqrtOp::create(builder, loc, arith::AddFOp::create(builder, loc, mean, epsilon));
  }
  /// What a parameter has for a part.
  Value parameterOf(Value parameter, int64_t from) {
    Value part = converted(Slicer{builder, 0, from, size}.of(parameter), compute);
    return broadcast(part, partType(compute), axis);
  }

  RmsNormOp norm;
  OpBuilder builder;
  Location loc;
  Value x;
  int64_t axis, extent, size;
  FloatType compute;
  SmallVector<Value> sizes; ///< the dynamic ones of x
  SmallVector<Value> parts; ///< of x
};

} // namespace

bool swage::splitNorms(func::FuncOp function, llvm::function_ref<bool(Operation *)> mayMove) {
  bool found = false;
  for (RmsNormOp norm : llvm::to_vector(function.getOps<RmsNormOp>())) {
    RankedTensorType x = typeOf(norm.getX()), result = typeOf(norm.getResult());
    int64_t last = x.getRank() - 1;
    if (int64_t(norm.getAxis()) != last || x.isDynamicDim(last) ||
        x.getElementType().isF64() != result.getElementType().isF64())
      continue;
    int64_t size = extentOfParts(norm.getResult(), last, mayMove);
    if (size == 0 || x.getDimSize(last) / size > kMaxParts)
      continue;
    NormSplitter(norm, size).split();
    found = true;
  }
  return found;
}
