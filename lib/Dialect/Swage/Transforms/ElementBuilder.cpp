//===- ElementBuilder.cpp - Elements of tensors as scalars ----------------===//

#include "ElementBuilder.h"
#include "KernelBuilder.h"
#include "RowPattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace swage;

/// More ops than this are not computed again for each element.
static constexpr size_t kMaxOps = 256;

Value ElementBuilder::index(int64_t number, Location loc) {
  return arith::ConstantIndexOp::create(builder, loc, number);
}

Value ElementBuilder::at(Value tensor, ArrayRef<Value> coordinates) {
  if (Value scalar = defined.lookup(tensor))
    return scalar;
  std::vector<const void *> key = {tensor.getAsOpaquePointer()};
  for (Value coordinate : coordinates)
    key.push_back(coordinate.getAsOpaquePointer());
  auto found = known.find(key);
  if (found != known.end())
    return found->second;
  Value scalar;
  if (Operation *op = tensor.getDefiningOp(); op && known.size() < kMaxOps)
    scalar = compute(op, coordinates);
  if (!scalar)
    scalar = widen(tensor::ExtractOp::create(builder, tensor.getLoc(), tensor, coordinates));
  return known[key] = scalar;
}

/// A scalar of a tensor's element type as a kernel body holds it.
Value ElementBuilder::widen(Value scalar) {
  Type held = scalarType(scalar.getType());
  if (held == scalar.getType())
    return scalar;
  return arith::ExtFOp::create(builder, scalar.getLoc(), held, scalar);
}

/// Where the element at `coordinates` of the result stands in the operand; nothing where the
/// extents do not say. Runs of dimensions with equally many elements correspond.
static std::optional<SmallVector<Value>> beforeReshape(ReshapeOp op, ArrayRef<Value> coordinates,
                                                       OpBuilder &builder) {
  RankedTensorType from = tensorType(op.getX()), to = tensorType(op.getResult());
  bool isKnown = (from.hasStaticShape() && to.hasStaticShape()) ||
                 (op.getSizes().empty() && ReshapeOp::keepsDynamicExtents(from, to));
  if (!isKnown)
    return std::nullopt;
  Location loc = op.getLoc();
  auto index = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  SmallVector<Value> result;
  int64_t i = 0, k = 0;
  while (i < to.getRank() || k < from.getRank()) {
    bool haveBoth = i < to.getRank() && k < from.getRank();
    if (haveBoth && to.getDimSize(i) == from.getDimSize(k)) {
      result.push_back(coordinates[i++]);
      ++k;
    } else if (i < to.getRank() && to.getDimSize(i) == 1) {
      ++i;
    } else if (k < from.getRank() && from.getDimSize(k) == 1) {
      result.push_back(index(0));
      ++k;
    } else {
      if (!haveBoth)
        return std::nullopt;
      int64_t first = k, left = to.getDimSize(i), right = from.getDimSize(k++);
      Value linear = coordinates[i++];
      while (left != right) {
        RankedTensorType shorter = left < right ? to : from;
        int64_t &next = left < right ? i : k;
        if (next == shorter.getRank() || left == ShapedType::kDynamic ||
            right == ShapedType::kDynamic || shorter.isDynamicDim(next))
          return std::nullopt;
        int64_t extent = shorter.getDimSize(next);
        if (left < right) {
          Value whole = arith::MulIOp::create(builder, loc, linear, index(extent));
          linear = arith::AddIOp::create(builder, loc, whole, coordinates[next]);
        }
        (left < right ? left : right) *= extent;
        ++next;
      }
      SmallVector<Value> inner(k - first);
      for (int64_t dim = k; --dim > first;) {
        Value extent = index(from.getDimSize(dim));
        inner[dim - first] = arith::RemUIOp::create(builder, loc, linear, extent);
        linear = arith::DivUIOp::create(builder, loc, linear, extent);
      }
      inner[0] = linear;
      result.append(inner);
    }
  }
  return result;
}

/// The element computed from others, or null where it can only be read.
Value ElementBuilder::compute(Operation *op, ArrayRef<Value> coordinates) {
  Location loc = op->getLoc();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      return {};
    return widen(arith::ConstantOp::create(builder, loc, splat.getSplatValue<TypedAttr>()));
  }
  if (auto iota = dyn_cast<IotaOp>(op))
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      coordinates[iota.getDim()]);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return at(cast.getSource(), coordinates);
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    auto before = beforeReshape(reshape, coordinates, builder);
    return before ? at(reshape.getX(), *before) : Value();
  }
  SmallVector<Value> moved(coordinates);
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    for (auto [to, from] : llvm::enumerate(permute.getPermutation()))
      moved[from] = coordinates[to];
    return at(permute.getX(), moved);
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    Value &along = moved[slice.getAxis()];
    if (slice.getStep() != 1)
      along = arith::MulIOp::create(builder, loc, along, index(slice.getStep(), loc));
    if (slice.getFrom() != 0)
      along = arith::AddIOp::create(builder, loc, along, index(slice.getFrom(), loc));
    return at(slice.getX(), moved);
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    moved.clear();
    for (auto [k, dim] : llvm::enumerate(broadcast.getDims()))
      moved.push_back(tensorType(broadcast.getX()).getDimSize(k) == 1 ? index(0, loc)
                                                                      : coordinates[dim]);
    return at(broadcast.getX(), moved);
  }
  // A copy is there to be rounded as it is stored; a bit pattern is that of the narrow type.
  if (!isElementwiseOp(op) || isa<CopyOp, arith::BitcastOp>(op))
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(at(operand, coordinates));
  // Coordinates are compared as what they are.
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    auto a = operands[0].getDefiningOp<arith::IndexCastOp>(),
         b = operands[1].getDefiningOp<arith::IndexCastOp>();
    if (a && b && a.getIn().getType().isIndex() && b.getIn().getType().isIndex())
      return arith::CmpIOp::create(builder, loc, compare.getPredicate(), a.getIn(), b.getIn());
  }
  return computeScalar(builder, op, operands);
}
