//===- SwageOps.cpp - Verifiers of the graph-level ops --------------------===//
//
// One section per op, in the order of SwageOps.td. Labels in comments are those of the op's
// description; what ODS already guarantees is not checked again.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#define GET_OP_CLASSES
#include "swage/Dialect/Swage/IR/SwageOps.cpp.inc"

using namespace mlir;
using namespace swage;

namespace {

ShapedType shaped(Value value) { return cast<ShapedType>(value.getType()); }

/// Static extents must be equal; a dynamic one agrees with anything.
bool agree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

/// `what` must have the shape `expected`; dynamic extents agree with anything.
LogicalResult verifyShape(Operation *op, StringRef what, ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> expected) {
  if (shape.size() != expected.size())
    return op->emitOpError() << what << " has rank " << shape.size() << ", but must have rank "
                             << expected.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (!agree(shape[i], expected[i]))
      return op->emitOpError() << what << " has extent " << shape[i] << " in dimension " << i
                               << ", but must have " << expected[i];
  return success();
}

LogicalResult verifyElement(Operation *op, Value x, Value result) {
  if (shaped(x).getElementType() != shaped(result).getElementType())
    return op->emitOpError() << "result has element type " << shaped(result).getElementType()
                             << ", but x has " << shaped(x).getElementType();
  return success();
}

LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return op->emitOpError() << "axis is " << axis << ", but x has rank " << rank;
  return success();
}

LogicalResult verifyStats(Operation *op, Value x, ArrayRef<int64_t> rows, ValueRange stats) {
  bool wide = shaped(x).getElementType().isF64();
  for (Value stat : stats) {
    if (failed(verifyShape(op, "a statistic", shaped(stat).getShape(), rows)))
      return failure();
    if (shaped(stat).getElementType().isF64() != wide ||
        shaped(stat).getElementType().getIntOrFloatBitWidth() < 32)
      return op->emitOpError() << "a statistic has element type " << shaped(stat).getElementType()
                               << ", but must have " << (wide ? "f64" : "f32");
  }
  return success();
}

LogicalResult verifyEpsilon(Operation *op, const APFloat &epsilon) {
  if (epsilon.isNegative() || !epsilon.isFinite())
    return op->emitOpError() << "eps is " << epsilon.convertToDouble()
                             << ", but must be finite and not negative";
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  ArrayRef<int64_t> shape = shaped(getX()).getShape();
  if (failed(verifyAxis(*this, getAxis(), shape.size()))) // C1
    return failure();
  ArrayRef<int64_t> normalized = shape.drop_front(getAxis());
  if (getGamma() &&
      failed(verifyShape(*this, "gamma", shaped(getGamma()).getShape(), normalized))) // C2
    return failure();
  if (getBeta() &&
      failed(verifyShape(*this, "beta", shaped(getBeta()).getShape(), normalized))) // C3
    return failure();
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), shape))) // C4
    return failure();
  if (getStats().size() != 0 && getStats().size() != 2) // C5
    return emitOpError() << "has " << getStats().size()
                         << " statistics, but must have none or mean and rstd";
  if (failed(verifyStats(*this, getX(), shaped(getX()).getShape().take_front(getAxis()),
                         getStats()))) // C5, C6
    return failure();
  return verifyEpsilon(*this, getEpsilon()); // C7
}

//===----------------------------------------------------------------------===//
// RmsNormOp
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  ArrayRef<int64_t> shape = shaped(getX()).getShape();
  if (failed(verifyAxis(*this, getAxis(), shape.size()))) // C1
    return failure();
  if (getGamma() && failed(verifyShape(*this, "gamma", shaped(getGamma()).getShape(),
                                       shape.drop_front(getAxis())))) // C2
    return failure();
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), shape))) // C3
    return failure();
  if (getStats().size() > 1) // C4
    return emitOpError() << "has " << getStats().size()
                         << " statistics, but must have none or rstd";
  if (failed(verifyStats(*this, getX(), shaped(getX()).getShape().take_front(getAxis()),
                         getStats()))) // C4, C5
    return failure();
  return verifyEpsilon(*this, getEpsilon()); // C6
}

//===----------------------------------------------------------------------===//
// SoftmaxOp
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  ArrayRef<int64_t> shape = shaped(getX()).getShape();
  if (failed(verifyAxis(*this, getAxis(), shape.size()))) // C1
    return failure();
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), shape))) // C2
    return failure();
  if (getMask() && failed(verifyShape(*this, "mask", shaped(getMask()).getShape(), shape))) // C3
    return failure();
  SmallVector<int64_t> rows(shape);
  rows.erase(rows.begin() + getAxis());
  if (getStats().size() > 1) // C4
    return emitOpError() << "has " << getStats().size() << " statistics, but must have at most 1";
  if (failed(verifyStats(*this, getX(), rows, getStats()))) // C4, C5
    return failure();
  if (getNanRows() && !getMask()) // C6
    return emitOpError() << "has nan_rows, but no mask";
  return success();
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::verify() {
  ShapedType a = shaped(getA()), b = shaped(getB());
  if (a.getRank() < 2) // C1
    return emitOpError() << "a has rank " << a.getRank() << ", but must have at least 2";
  size_t column = a.getRank() - 1, row = column - 1;
  size_t summed = getTransposeB() ? column : row, free = getTransposeB() ? row : column;
  SmallVector<int64_t> expected(a.getShape());
  expected[summed] = a.getDimSize(column); // C4
  expected[free] = ShapedType::kDynamic;
  if (failed(verifyShape(*this, "b", b.getShape(), expected))) // C1, C3, C4
    return failure();
  if (a.getElementType() != b.getElementType()) // C2
    return emitOpError() << "a and b have element types " << a.getElementType() << " and "
                         << b.getElementType() << ", but must have one";
  expected[row] = a.getDimSize(row);
  expected[column] = b.getDimSize(free);
  return verifyShape(*this, "result", shaped(getResult()).getShape(), expected); // C1, C3, C5
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

FloatType AttentionOp::getScoreType() {
  auto element = cast<FloatType>(shaped(getQ()).getElementType());
  return element.isF64() ? element : Float32Type::get(getContext());
}

static int64_t rankOf(Value value) { return cast<ShapedType>(value.getType()).getRank(); }

Value AttentionOp::getProbabilities() {
  bool hasLast = !getStats().empty() && rankOf(getStats().back()) == rankOf(getQ());
  return hasLast ? Value(getStats().back()) : Value();
}

Value AttentionOp::getLogSumExp() {
  bool hasFirst = !getStats().empty() && getStats().front() != getProbabilities();
  return hasFirst ? Value(getStats().front()) : Value();
}

LogicalResult AttentionOp::verify() {
  ShapedType q = shaped(getQ()), k = shaped(getK()), v = shaped(getV());
  int64_t rank = q.getRank(), head = rank - 3, column = rank - 1;
  if (rank < 3) // C1
    return emitOpError() << "q has rank " << rank << ", but must have at least 3";
  // What k and v must look like, where q or k says.
  SmallVector<int64_t> expectedK(k.getRank() == rank ? k.getShape() : q.getShape());
  llvm::copy(q.getShape().take_front(head), expectedK.begin()); // C3
  expectedK[column] = q.getDimSize(column);                     // C5
  if (failed(verifyShape(*this, "k", k.getShape(), expectedK))) // C1, C3, C5
    return failure();
  SmallVector<int64_t> expectedV(expectedK);
  expectedV[column] = v.getRank() == rank ? v.getDimSize(column) : 0;
  if (failed(verifyShape(*this, "v", v.getShape(), expectedV))) // C1, C3, C4, C5
    return failure();
  for (ShapedType other : {k, v})
    if (other.getElementType() != q.getElementType()) // C2
      return emitOpError() << "q, k and v have element types " << q.getElementType() << ", "
                           << k.getElementType() << " and " << v.getElementType()
                           << ", but must have one";
  int64_t queryHeads = q.getDimSize(head), keyHeads = k.getDimSize(head);
  if (!ShapedType::isDynamic(queryHeads) && !ShapedType::isDynamic(keyHeads) &&
      (keyHeads == 0 ? queryHeads != 0 : queryHeads % keyHeads != 0)) // C4
    return emitOpError() << "q has " << queryHeads << " heads, but must have a multiple of the "
                         << keyHeads << " of k";
  SmallVector<int64_t> expected(q.getShape());
  expected[column] = v.getDimSize(column);
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), expected))) // C6
    return failure();
  Value probabilities = getProbabilities();
  ValueRange statistics = probabilities ? getStats().drop_back() : getStats();
  if (statistics.size() == 2 && rankOf(statistics.front()) == rank) // C7
    return emitOpError() << "has probabilities in front of its statistic, but must have them last";
  if (statistics.size() > 1) // C7
    return emitOpError() << "has " << statistics.size() << " statistics, but must have at most 1";
  if (failed(verifyStats(*this, getQ(), q.getShape().take_front(column), statistics))) // C7, C8
    return failure();
  expected[column] = k.getDimSize(column - 1);
  if (probabilities && failed(verifyShape(*this, "the result of probabilities",
                                          shaped(probabilities).getShape(), expected))) // C7
    return failure();
  if (probabilities && shaped(probabilities).getElementType() != getScoreType()) // C8
    return emitOpError() << "the result of probabilities has element type "
                         << shaped(probabilities).getElementType() << ", but must have "
                         << getScoreType();
  if (Value sinks = getSinks();
      sinks && failed(verifyShape(*this, "sinks", shaped(sinks).getShape(), {queryHeads}))) // C13
    return failure();
  std::optional<APFloat> scale = getScale();
  if (scale && (scale->isNegative() || scale->isZero() || !scale->isFinite())) // C9
    return emitOpError() << "scale is " << scale->convertToDouble()
                         << ", but must be positive and finite";
  return success();
}

/// A region with arguments of the types `arguments` that yields one `result`.
static LogicalResult verifyScalarRegion(Operation *op, StringRef name, Region &region,
                                        TypeRange arguments, Type result) {
  if (region.empty())
    return success();
  Block &block = region.front();
  if (block.getArgumentTypes() != arguments)
    return op->emitOpError() << name << " takes (" << block.getArgumentTypes()
                             << "), but must take (" << arguments << ")";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().getTypes() != TypeRange(result))
    return op->emitOpError() << name << " ends with '" << block.getTerminator()->getName()
                             << "' of (" << block.getTerminator()->getOperandTypes()
                             << "), but must end with 'swage.yield' of " << result;
  for (Operation &inner : block.without_terminator()) { // C12
    bool isScalar = isa<tensor::ExtractOp, arith::ConstantOp>(inner) ||
                    (isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
                     llvm::none_of(inner.getOperandTypes(), llvm::IsaPred<ShapedType>));
    if (!isScalar)
      return inner.emitOpError() << "is in the region " << name
                                 << ", which must hold scalar arith and math, constants and "
                                    "'tensor.extract' only";
  }
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  SmallVector<Type> types(shaped(getQ()).getRank(), IndexType::get(getContext()));
  Type decision = IntegerType::get(getContext(), 1), score = getScoreType();
  if (failed(verifyScalarRegion(*this, "mask", getMask(), types, decision)) || // C11
      failed(verifyScalarRegion(*this, "weight", getWeight(), types, score)))  // C14
    return failure();
  if (!getWeight().empty() && elementBytes(shaped(getQ()).getElementType()) == 1) // C14
    return emitOpError() << "has a weight, but operands of " << shaped(getQ()).getElementType()
                         << " take none";
  if (getTf32() && !shaped(getQ()).getElementType().isF32()) // C15
    return emitOpError() << "has tf32, but operands of " << shaped(getQ()).getElementType();
  types.insert(types.begin(), score);
  return verifyScalarRegion(*this, "score", getScore(), types, score); // C10
}

//===----------------------------------------------------------------------===//
// IotaOp, RandomOp
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (static_cast<int64_t>(getDim()) < 0 || static_cast<int64_t>(getDim()) >= type.getRank()) // C1
    return emitOpError() << "dim is " << getDim() << ", but the result has rank " << type.getRank();
  if (getSizes().size() != static_cast<size_t>(type.getNumDynamicDims())) // C2
    return emitOpError() << "has " << getSizes().size() << " sizes, but the result has "
                         << type.getNumDynamicDims() << " dynamic extents";
  return success();
}

LogicalResult RandomOp::verify() {
  auto state = cast<RankedTensorType>(getState().getType()),
       type = cast<RankedTensorType>(getResult().getType());
  if (state.getRank() != 1 || !agree(state.getDimSize(0), 2)) // C1
    return emitOpError() << "state is " << state << ", but must be tensor<2xi64>";
  if (getSizes().size() != static_cast<size_t>(type.getNumDynamicDims())) // C2
    return emitOpError() << "has " << getSizes().size() << " sizes, but the result has "
                         << type.getNumDynamicDims() << " dynamic extents";
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  ArrayRef<int64_t> shape = shaped(getX()).getShape();
  int64_t previous = -1;
  for (int64_t dim : getDims()) {
    if (dim <= previous || dim >= static_cast<int64_t>(shape.size())) // C1
      return emitOpError() << "dims has " << dim << " after " << previous
                           << ", but must increase and stay below the rank " << shape.size();
    previous = dim;
  }
  if (getDims().empty()) // C2
    return emitOpError() << "dims is empty, but must name at least one dimension";
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (!llvm::is_contained(getDims(), i))
      kept.push_back(shape[i]);
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), kept))) // C3
    return failure();
  Type in = shaped(getX()).getElementType(), out = shaped(getResult()).getElementType();
  bool floats = isa<FloatType>(in) && isa<FloatType>(out);
  bool integers = in.isInteger(32) && out.isInteger(32) && getKind() != ReduceKind::Mean;
  if (!floats && !integers) // C4
    return emitOpError()
           << "has element types " << in << " and " << out
           << ", but must have two float types, or i32 twice and a kind other than mean";
  return success();
}

//===----------------------------------------------------------------------===//
// PermuteOp
//===----------------------------------------------------------------------===//

LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> shape = shaped(getX()).getShape();
  ArrayRef<int64_t> permutation = getPermutation();
  llvm::SmallBitVector seen(shape.size());
  if (permutation.size() != shape.size()) // C1
    return emitOpError() << "permutation has " << permutation.size() << " entries, but x has rank "
                         << shape.size();
  SmallVector<int64_t> permuted;
  for (int64_t dim : permutation) {
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size()) || seen.test(dim)) // C1
      return emitOpError() << "permutation has " << dim << ", which is out of 0.."
                           << static_cast<int64_t>(shape.size()) - 1 << " or there twice";
    seen.set(dim);
    permuted.push_back(shape[dim]);
  }
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), permuted))) // C2
    return failure();
  return verifyElement(*this, getX(), getResult()); // C3
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

bool ReshapeOp::keepsDynamicExtents(ShapedType x, ShapedType result) {
  // The static elements in front of the first dynamic extent, between two of them, and behind the
  // last.
  auto between = [](ShapedType type) {
    SmallVector<int64_t> products = {1};
    for (int64_t extent : type.getShape())
      if (ShapedType::isDynamic(extent))
        products.push_back(1);
      else if (llvm::MulOverflow(products.back(), extent, products.back()))
        products.back() = 0;
    return products;
  };
  SmallVector<int64_t> products = between(x);
  return !llvm::is_contained(products, 0) && products == between(result);
}

LogicalResult ReshapeOp::verify() {
  ShapedType in = shaped(getX()), out = shaped(getResult());
  if (in.hasStaticShape() && out.hasStaticShape() &&
      in.getNumElements() != out.getNumElements()) // C1
    return emitOpError() << "result has " << out.getNumElements() << " elements, but x has "
                         << in.getNumElements();
  if (failed(verifyElement(*this, getX(), getResult()))) // C2
    return failure();
  int64_t dynamic = out.getNumDynamicDims();
  bool complete = getSizes().empty() ? dynamic <= 1 || keepsDynamicExtents(in, out)
                                     : static_cast<int64_t>(getSizes().size()) == dynamic;
  if (!complete) // C3
    return emitOpError() << "has " << getSizes().size() << " sizes, but the result has " << dynamic
                         << " dynamic extents";
  return success();
}

//===----------------------------------------------------------------------===//
// BroadcastOp
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  ShapedType in = shaped(getX()), out = shaped(getResult());
  if (static_cast<int64_t>(getDims().size()) != in.getRank()) // C1
    return emitOpError() << "dims has " << getDims().size() << " entries, but x has rank "
                         << in.getRank();
  int64_t previous = -1;
  SmallVector<bool> fromX(out.getRank(), false);
  for (auto [k, dim] : llvm::enumerate(getDims())) {
    if (dim <= previous || dim >= out.getRank()) // C2
      return emitOpError() << "dims has " << dim << " after " << previous
                           << ", but must increase and stay below the result's rank "
                           << out.getRank();
    previous = dim;
    int64_t extent = in.getDimSize(k);
    if (extent != 1 && !agree(extent, out.getDimSize(dim))) // C3
      return emitOpError() << "x has extent " << extent << " in dimension " << k
                           << ", but must have 1 or the result's extent " << out.getDimSize(dim);
    fromX[dim] = extent != 1;
  }
  if (failed(verifyElement(*this, getX(), getResult()))) // C4
    return failure();
  if (!getSizes().empty()) { // C5
    if (getSizes().size() != static_cast<size_t>(out.getNumDynamicDims()))
      return emitOpError() << "has " << getSizes().size() << " sizes, but the result has "
                           << out.getNumDynamicDims() << " dynamic extents";
    return success();
  }
  for (int64_t i = 0; i < out.getRank(); ++i)
    if (out.isDynamicDim(i) && !fromX[i])
      return emitOpError() << "result's dimension " << i
                           << " is dynamic and not x's, so sizes must give it";
  return success();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  ShapedType in = shaped(getX());
  if (failed(verifyAxis(*this, getAxis(), in.getRank()))) // C1
    return failure();
  int64_t from = getFrom(), size = getSize(), step = getStep(), extent = in.getDimSize(getAxis());
  if (ShapedType::isDynamic(extent)) // C2
    return emitOpError() << "x is dynamic in dimension " << getAxis()
                         << ", but must be static there";
  if (from < 0 || size < 0 || step < 1 || from > extent || (size > 0 && from >= extent) ||
      (size > 0 && (size - 1) > (extent - 1 - from) / step))
    return emitOpError() << "takes " << size << " elements from " << from << " by step " << step
                         << ", but x has extent " << extent;
  SmallVector<int64_t> expected(in.getShape());
  expected[getAxis()] = size;
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), expected))) // C3
    return failure();
  return verifyElement(*this, getX(), getResult()); // C4
}

//===----------------------------------------------------------------------===//
// AppendOp
//===----------------------------------------------------------------------===//

SmallVector<unsigned, 2> AppendOp::getPositionDims() {
  if (!getPaged())
    return isPerSequence() ? SmallVector<unsigned, 2>{0} : SmallVector<unsigned, 2>{};
  SmallVector<unsigned, 2> dims{0, static_cast<unsigned>(getAxis())};
  dims.resize(cast<ShapedType>(getPositions().getType()).getRank());
  return dims;
}

static LogicalResult verifyPaged(AppendOp op) { // C5
  ShapedType cache = shaped(op.getCache()), rows = shaped(op.getRows()),
             positions = shaped(op.getPositions());
  int64_t axis = op.getAxis();
  if (op.getCircular())
    return op.emitOpError() << "is circular and paged, but must be one of them at most";
  if (axis == 0)
    return op.emitOpError() << "pages are what the first dimension counts, but axis is 0";
  if (ShapedType::isDynamic(cache.getDimSize(axis)) || cache.getDimSize(axis) == 0)
    return op.emitOpError() << "cache has the type " << cache
                            << ", but must have a static number of positions in a page, 1 or more";
  SmallVector<int64_t> expected(cache.getShape());
  if (rows.getRank() == cache.getRank()) {
    expected.front() = rows.getDimSize(0);
    expected[axis] = rows.getDimSize(axis);
  }
  if (failed(verifyShape(op, "rows", rows.getShape(), expected)))
    return failure();
  if (positions.getRank() != 1 && positions.getRank() != 2)
    return op.emitOpError() << "positions has rank " << positions.getRank()
                            << ", but must have 1 or 2";
  SmallVector<int64_t> places;
  for (unsigned dim : op.getPositionDims())
    places.push_back(rows.getDimSize(dim));
  if (positions.getRank() == 1 && rows.getDimSize(axis) != 1)
    return op.emitOpError() << "positions has rank 1, but rows has the type " << rows
                            << ", which does not have a single row along axis " << axis;
  return verifyShape(op, "positions", positions.getShape(), places);
}

LogicalResult AppendOp::verify() {
  ShapedType cache = shaped(getCache()), positions = shaped(getPositions());
  if (failed(verifyAxis(*this, getAxis(), cache.getRank()))) // C1
    return failure();
  if (getPaged())
    return failed(verifyPaged(*this)) ? failure() : verifyElement(*this, getCache(), getRows());
  if (positions.getRank() > 1) // C2
    return emitOpError() << "positions has rank " << positions.getRank()
                         << ", but must have 0 or 1";
  if (isPerSequence()) {
    if (getAxis() == 0)
      return emitOpError() << "positions are those of sequences, which the first dimension counts, "
                              "but axis is 0";
    if (failed(
            verifyShape(*this, "positions", positions.getShape(), cache.getShape().take_front())))
      return failure();
  }
  SmallVector<int64_t> expected(cache.getShape());
  int64_t axis = getAxis(), length = expected[axis];
  if (shaped(getRows()).getRank() == cache.getRank())
    expected[axis] = shaped(getRows()).getDimSize(axis);
  if (failed(verifyShape(*this, "rows", shaped(getRows()).getShape(), expected))) // C3
    return failure();
  if (!ShapedType::isDynamic(length) && !ShapedType::isDynamic(expected[axis]) &&
      expected[axis] > length)
    return emitOpError() << "rows has " << expected[axis] << " rows, but the cache has " << length;
  return verifyElement(*this, getCache(), getRows()); // C4
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  if (getParts().empty()) // C1
    return emitOpError() << "has 0 operands, but must have at least 1";
  ShapedType in = shaped(getParts().front());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= in.getRank()) // C2
    return emitOpError() << "axis is " << axis << ", but the operands have rank " << in.getRank();
  for (Value part : getParts())
    if (part.getType() != in) // C3
      return emitOpError() << "has operands of types " << in << " and " << part.getType()
                           << ", but they must have one type";
  int64_t extent = in.getDimSize(getAxis());
  if (ShapedType::isDynamic(extent)) // C3
    return emitOpError() << "operands are dynamic in dimension " << getAxis()
                         << ", but must be static there";
  SmallVector<int64_t> expected(in.getShape());
  if (llvm::MulOverflow(extent, static_cast<int64_t>(getParts().size()), expected[getAxis()]))
    return emitOpError() << "result has more than 2^63 elements in dimension " << getAxis();
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), expected))) // C4
    return failure();
  return verifyElement(*this, getParts().front(), getResult()); // C5
}

//===----------------------------------------------------------------------===//
// PagesOp
//===----------------------------------------------------------------------===//

LogicalResult PagesOp::verify() {
  ShapedType pool = shaped(getPool()), table = shaped(getTable());
  if (pool.getRank() < 3) // C1
    return emitOpError() << "pool has rank " << pool.getRank() << ", but must have 3 at least";
  if (table.getRank() < 1) // C2
    return emitOpError() << "table has rank 0, but must have 1 at least";
  int64_t pageSize = getPageSize(), pages = table.getShape().back();
  if (ShapedType::isDynamic(pageSize) || pageSize < 1) // C3
    return emitOpError() << "pool has "
                         << (pageSize < 1 && !ShapedType::isDynamic(pageSize)
                                 ? "no positions"
                                 : "an unknown number of positions")
                         << " a page, but must have a known one";
  bool isKnown = !ShapedType::isDynamic(pages);
  int64_t positions = ShapedType::kDynamic;
  if (isKnown && llvm::MulOverflow(pages, pageSize, positions))
    return emitOpError() << "table names " << pages << " pages of " << pageSize
                         << " positions, which are beyond 64 bits";
  SmallVector<int64_t> expected(table.getShape().drop_back());
  llvm::append_range(expected, pool.getShape().drop_front().drop_back(2));
  expected.append({positions, pool.getShape().back()});
  if (failed(verifyShape(*this, "result", shaped(getResult()).getShape(), expected))) // C4
    return failure();
  return verifyElement(*this, getPool(), getResult()); // C5
}
