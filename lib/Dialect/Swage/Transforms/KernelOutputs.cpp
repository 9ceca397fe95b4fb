//===- KernelOutputs.cpp - What a kernel writes ---------------------------===//
//
// The part of KernelBuilder that evaluates outputs: each element once, the parts of a concatenation
// one by one, and of a cache the rows that are added to it, where positions in memory say.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"

using namespace mlir;
using namespace swage;

/// Whether the iteration space, less the reduced dimensions, walks every element of the tensor
/// exactly once, or again and again along dimension `repeated`. What attention has for each query
/// has no value dim.
bool KernelBuilder::coversOnce(const Relation &relation, Value tensor,
                               std::optional<unsigned> repeated) {
  LinearAccess flat = flatten(relation, tensor);
  if (constantSize(flat.offset) != 0)
    return false;
  AffineExpr one = getAffineConstantExpr(1, context()), next = one;
  SmallVector<unsigned> open;
  for (unsigned j = 0; j < extents.size(); ++j)
    if (extents[j] != one)
      open.push_back(j);
  // Take the dimensions from the innermost stride outwards: each must begin where the last one
  // ended.
  for (;;) {
    auto it = llvm::find_if(open, [&](unsigned j) { return flat.strides[j] == next; });
    if (it == open.end())
      break;
    next = multiplySizes(next, extents[*it]);
    open.erase(it);
  }
  bool uniform = llvm::all_of(open, [&](unsigned j) {
    return constantSize(flat.strides[j]) == 0 &&
           (llvm::is_contained(reduced, static_cast<int64_t>(j)) || j == repeated ||
            (attention && j == AttentionDim::ValueDim));
  });
  AffineExpr count = one;
  for (AffineExpr extent : shapes.shapeOf(tensor))
    count = multiplySizes(count, extent);
  return uniform && count == next;
}

/// The part of a concatenation that all elements of a relation are of, and which ones of it.
std::optional<std::pair<Value, Relation>> KernelBuilder::partAt(ConcatOp op, Relation relation) {
  LinearAccess &axis = relation[op.getAxis()];
  std::optional<int64_t> part = constantSize(shapes.shapeOf(op.getParts().front())[op.getAxis()]),
                         first = constantSize(axis.offset);
  if (!part || *part == 0 || !first)
    return std::nullopt;
  int64_t last = *first;
  for (auto [stride, extent] : llvm::zip_equal(axis.strides, extents)) {
    std::optional<int64_t> step = constantSize(stride), count = constantSize(extent);
    if (step == 0)
      continue;
    if (!step || !count)
      return std::nullopt;
    last += *step * (*count - 1);
  }
  if (*first / *part != last / *part)
    return std::nullopt;
  axis.offset = getAffineConstantExpr(*first % *part, context());
  return std::pair(Value(op.getParts()[*first / *part]), relation);
}

/// The concatenation of the group that a value is, or that index ops and copies of these have
/// moved; or null.
ConcatOp KernelBuilder::concatBehind(Value value) const {
  Operation *op = value.getDefiningOp();
  while (op && (isIndexOp(op) || (isa<CopyOp>(op) && ops.contains(op))))
    op = op->getOperand(0).getDefiningOp();
  return op && ops.contains(op) ? dyn_cast<ConcatOp>(op) : ConcatOp();
}

/// What a point of the iteration space has of a value: one element, or of a concatenation one of
/// each part.
std::optional<SmallVector<KernelBuilder::Element>> KernelBuilder::elementsOf(Value value) {
  SmallVector<Element> elements;
  auto add = [&](Value part, StringRef isNotRelated, StringRef isNotCovered) {
    if (relations.find(part) == relations.end())
      return refuse(isNotRelated), false;
    if (!coversOnce(relations[part], part))
      return refuse(isNotCovered), false;
    Relation relation = relations[part];
    Value scalar = evaluate(part, relation);
    elements.push_back({std::move(relation), scalar});
    return static_cast<bool>(scalar);
  };
  ConcatOp concat = concatBehind(value);
  if (!concat) {
    if (!add(value, "an output does not follow the iteration space",
             "an output is not written once by the iteration space"))
      return std::nullopt;
    return elements;
  }
  if (concat.getResult() != value) {
    Operation *moved = value.getDefiningOp();
    std::optional<SmallVector<Element>> operand = elementsOf(moved->getOperand(0));
    for (unsigned i = 0; operand && i < operand->size(); ++i) {
      std::optional<Relation> relation = push(moved, (*operand)[i].relation);
      if (!relation)
        return std::nullopt;
      (*operand)[i].relation = *relation;
    }
    locations.push_back(moved->getLoc());
    return operand;
  }
  AffineExpr part = shapes.shapeOf(concat.getParts().front())[concat.getAxis()];
  for (auto [i, value] : llvm::enumerate(concat.getParts())) {
    constexpr StringRef isNotRelated =
        "a part of a concatenation does not follow the iteration space";
    if (!add(value, isNotRelated, isNotRelated))
      return std::nullopt;
    LinearAccess &axis = elements.back().relation[concat.getAxis()];
    axis.offset = addSizes(axis.offset, part * static_cast<int64_t>(i));
  }
  locations.push_back(concat.getLoc());
  return elements;
}

/// What the body yields for an element of a tensor.
Value KernelBuilder::storedScalar(Value scalar, Value output) {
  // The store rounds; what was only rounded for it need not be.
  while (auto wide = scalar.getDefiningOp<arith::ExtFOp>()) {
    auto narrow = wide.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrow || narrow.getType() != getElementTypeOrSelf(output) ||
        narrow.getIn().getType() != wide.getType())
      break;
    scalar = narrow.getIn();
  }
  Type type = scalar.getType(), held = scalarType(getElementTypeOrSelf(output));
  if (isa<FloatType>(type) && held != type)
    scalar = type.isF64()
                 ? arith::TruncFOp::create(*builder, output.getLoc(), held, scalar).getResult()
                 : arith::ExtFOp::create(*builder, output.getLoc(), held, scalar).getResult();
  return scalar;
}

/// Adds an output view and what the body yields for it.
void KernelBuilder::store(const Element &element, Value output, SmallVectorImpl<Value> &yields) {
  int64_t position = llvm::find(outputs, output) - outputs.begin();
  unsigned symbols = shapes.getSymbols().size();
  outputViews.push_back(ViewAttr::get(context(), position, getElementTypeOrSelf(output),
                                      AffineMap::get(0, symbols, shapes.shapeOf(output), context()),
                                      flatten(element.relation, output).map(symbols),
                                      alignmentOf(output), Source::Memory, element.extents));
  yields.push_back(storedScalar(element.scalar, output));
}

Value swage::memoryOf(Value cache) {
  while (auto cast = cache.getDefiningOp<tensor::CastOp>())
    cache = cast.getSource();
  return cache;
}

/// An element of the rows that are added to a cache, whose row number comes from memory.
bool KernelBuilder::storeRow(AppendOp op, Element element, SmallVectorImpl<Value> &yields) {
  Value cache = memoryOf(op.getCache());
  if (isComputed(cache))
    return refuse("rows are added to what is in memory"), false;
  unsigned symbols = shapes.getSymbols().size();
  AffineExpr zero = getAffineConstantExpr(0, context()), one = getAffineConstantExpr(1, context());
  LinearAccess nowhere{SmallVector<AffineExpr>(extents.size(), zero), zero};
  Relation place(shapes.shapeOf(op.getPositions()).size(), nowhere);
  for (auto [i, dim] : llvm::enumerate(op.getPositionDims()))
    place[i] = element.relation[dim];
  LinearAccess within = std::exchange(element.relation[op.getAxis()], nowhere);
  Value row = evaluate(op.getPositions(), place);
  if (!row)
    return false;
  if (op.getPaged())
    element.relation.front() = nowhere;
  bool isFirst = constantSize(within.offset) == 0 &&
                 llvm::all_of(llvm::zip_equal(within.strides, extents), [&](auto pair) {
                   return constantSize(std::get<0>(pair)) == 0 || std::get<1>(pair) == one;
                 });
  if (!isFirst && !op.getPaged()) {
    auto view = ViewAttr::get(context(), /*tensor=*/-1, row.getType(),
                              AffineMap::get(0, symbols, {}, context()), within.map(symbols),
                              /*align=*/1, Source::Coordinate);
    Value step = addInput(view, row.getType(), op.getLoc());
    Value &sum = rowNumbers[{row, step}];
    if (!sum)
      sum = arith::AddIOp::create(*builder, op.getLoc(), row, step);
    row = sum;
  }
  store(element, op.getResult(), yields);
  ArrayRef<AffineExpr> shape = shapes.shapeOf(op.getResult());
  SmallVector<AffineExpr> strides = rowMajorStrides(shape, context());
  AffineExpr count = shape[op.getAxis()];
  SmallVector<AffineExpr> rows{count, shapes.shapeOf(op.getRows())[op.getAxis()]};
  Source source = op.getCircular() ? Source::CircularRow : Source::Row;
  if (op.getPaged()) {
    AffineExpr apart = count, pages = addSizes(shape.front(), zero - 1);
    for (AffineExpr extent : shape.slice(1, op.getAxis() - 1))
      apart = apart ? multiplySizes(apart, extent) : apart;
    AffineExpr last = apart ? multiplySizes(pages, apart) : apart;
    if (last = last ? addSizes(last, count) : last; !last)
      return refuse("a pool's places are beyond 64 bits"), false;
    rows = {last, count, apart};
    source = Source::PagedRow;
  }
  LinearAccess step = nowhere;
  step.offset = strides[op.getAxis()];
  outputViews.push_back(ViewAttr::get(context(), numberOf(cache), row.getType(),
                                      AffineMap::get(0, symbols, rows, context()),
                                      step.map(symbols), /*align=*/1, source));
  yields.push_back(row);
  locations.push_back(op.getLoc());
  return true;
}

bool KernelBuilder::storeOutput(Value output, SmallVectorImpl<Value> &yields) {
  auto append = output.getDefiningOp<AppendOp>();
  if (append && attention)
    return storeAppended(append, yields);
  std::optional<SmallVector<Element>> elements = elementsOf(append ? append.getRows() : output);
  if (!elements)
    return false;
  for (Element &element : *elements)
    if (!append)
      store(element, output, yields);
    else if (!storeRow(append, std::move(element), yields))
      return false;
  return true;
}
