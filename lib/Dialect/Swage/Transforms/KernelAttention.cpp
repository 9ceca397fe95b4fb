//===- KernelAttention.cpp - Attention in a kernel ------------------------===//
//
// The part of KernelBuilder that knows attention: its iteration space has dimensions that no value
// has all of, so that it comes from the op itself, and its regions become scalars of the body.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"

using namespace mlir;
using namespace swage;

using Dim = AttentionDim;

SmallVector<Value> swage::readBy(Operation *op) {
  SmallVector<Value> values(op->operand_begin(), op->operand_end());
  llvm::SetVector<Value> captured;
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, captured);
  values.append(captured.begin(), captured.end());
  return values;
}

SmallVector<Operation *> swage::readersOf(Value value) {
  SmallVector<Operation *> readers;
  for (Operation *user : value.getUsers())
    if (Operation *top = value.getParentBlock()->findAncestorOpInBlock(*user))
      readers.push_back(top);
  return readers;
}

bool KernelBuilder::spanAttention() {
  keyRun = splits.size() == 1 && splits[0].dim == Dim::HeadDim ? splits[0].inner : AffineExpr();
  if (!splits.empty() && !keyRun)
    return refuse("a reshape cuts a dimension of attention"), false;
  ArrayRef<AffineExpr> q = shapes.shapeOf(attention.getQ()), k = shapes.shapeOf(attention.getK()),
                       v = shapes.shapeOf(attention.getV());
  if (q.size() > 4)
    return refuse("attention with more than one batch dimension"), false;
  AffineExpr zero = getAffineConstantExpr(0, context()), one = getAffineConstantExpr(1, context());
  size_t batches = q.size() - 3;
  AffineExpr group =
      constantSize(k[batches]) == 0 ? AffineExpr() : divideSizes(q[batches], k[batches]);
  if (!group)
    return refuse("the query heads are no known multiple of the key heads"), false;
  extents = {batches ? q[0] : one, k[batches],     group,         q[batches + 1],
             v[batches + 2],       k[batches + 1], q[batches + 2]};
  auto along = [&](unsigned dim, AffineExpr stride) {
    LinearAccess access{SmallVector<AffineExpr>(Dim::Count, zero), zero};
    access.strides[dim] = stride;
    return access;
  };
  LinearAccess queryHead = along(Dim::KeyHead, group);
  queryHead.strides[Dim::Group] = one;
  auto relationOf = [&](LinearAccess head, std::initializer_list<unsigned> inner) {
    Relation relation;
    if (batches)
      relation.push_back(along(Dim::Batch, one));
    relation.push_back(head);
    for (unsigned dim : inner)
      relation.push_back(along(dim, one));
    return relation;
  };
  LinearAccess keyHead = along(Dim::KeyHead, one);
  relations.clear();
  operandPlaces = {relationOf(queryHead, {Dim::Query, Dim::HeadDim}),
                   relationOf(keyHead, {Dim::Key, Dim::HeadDim}),
                   relationOf(keyHead, {Dim::Key, Dim::ValueDim})};
  relate(attention.getResult(), relationOf(queryHead, {Dim::Query, Dim::ValueDim}));
  if (Value logSum = attention.getLogSumExp())
    relate(logSum, relationOf(queryHead, {Dim::Query}));
  scorePlace = relationOf(queryHead, {Dim::Query, Dim::Key});
  if (Value probabilities = attention.getProbabilities())
    relate(probabilities, scorePlace);
  sinkPlace = {queryHead};
  reduced = {Dim::Key, Dim::HeadDim};
  return findAppends();
}

/// Output 0 is the one with a value dim, whichever op gives it.
void KernelBuilder::putResultFirst() {
  SmallVector<Value> order = outputs.takeVector();
  llvm::stable_sort(order, [&](Value a, Value b) {
    auto isResult = [&](Value output) {
      auto relation = relations.find(output);
      return relation != relations.end() && llvm::any_of(relation->second, [](LinearAccess access) {
               return constantSize(access.strides[Dim::ValueDim]) != 0;
             });
    };
    return isResult(a) && !isResult(b);
  });
  outputs.insert(order.begin(), order.end());
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The linear expressions of the iteration space that a region's coordinates and what is computed
/// of them stand for, as far as they are such.
void KernelBuilder::placeArguments(Block &region) {
  positions.clear();
  for (BlockArgument argument : region.getArguments())
    if (argument.getType().isIndex())
      positions[argument] =
          scorePlace[scorePlace.size() - (region.getNumArguments() - argument.getArgNumber())];
}

std::optional<LinearAccess> KernelBuilder::positionOf(Value index) const {
  if (APInt number; matchPattern(index, m_ConstantInt(&number))) {
    AffineExpr zero = getAffineConstantExpr(0, context());
    return LinearAccess{SmallVector<AffineExpr>(Dim::Count, zero),
                        getAffineConstantExpr(number.getSExtValue(), context())};
  }
  auto known = positions.find(index);
  return known == positions.end() ? std::nullopt : std::optional(known->second);
}

/// Notes where the result of an op stands, once for each op: what is before it is known by then.
void KernelBuilder::place(Operation &op) {
  if (!isa<arith::IndexCastOp, arith::ExtSIOp, arith::AddIOp, arith::MulIOp>(op))
    return;
  std::optional<LinearAccess> a = positionOf(op.getOperand(0)),
                              b = positionOf(op.getOperands().back());
  if (!a || !b)
    return;
  if (isa<arith::AddIOp>(op)) {
    for (auto [to, from] : llvm::zip_equal(a->strides, b->strides))
      to = addSizes(to, from);
    a->offset = addSizes(a->offset, b->offset);
  } else if (isa<arith::MulIOp>(op)) {
    if (a->isConstant())
      std::swap(a, b);
    if (!b->isConstant())
      return;
    for (AffineExpr &stride : a->strides)
      stride = multiplySizes(stride, b->offset);
    a->offset = multiplySizes(a->offset, b->offset);
  }
  // Null: beyond 64 bits.
  if (a->offset && llvm::all_of(a->strides, [](AffineExpr stride) { return bool(stride); }))
    positions[op.getResult(0)] = *a;
}

/// An element of a tensor around the region.
Value KernelBuilder::extract(tensor::ExtractOp op) {
  Relation relation;
  for (Value index : op.getIndices()) {
    std::optional<LinearAccess> position = positionOf(index);
    if (!position)
      return refuse("a region reads a tensor where no linear function of its coordinates is"),
             Value();
    relation.push_back(*position);
  }
  return evaluate(op.getTensor(), relation);
}

/// The value that a region yields, with what computes it in the body. Indices are 32-bit integers
/// there, as coordinates are, and narrow floats are wide.
Value KernelBuilder::inlineRegion(Region &region, Value score) {
  Block &block = region.front();
  IRMapping mapping;
  unsigned symbols = shapes.getSymbols().size();
  placeArguments(block);
  for (BlockArgument argument : block.getArguments()) {
    if (!argument.getType().isIndex()) {
      mapping.map(argument, score);
      continue;
    }
    if (argument.use_empty())
      continue;
    Type type = scalarType(argument.getType());
    auto view =
        ViewAttr::get(context(), /*tensor=*/-1, type, AffineMap::get(0, symbols, {}, context()),
                      positionOf(argument)->map(symbols), /*align=*/1, Source::Coordinate);
    static constexpr const char *names[] = {"batch", "head", "query", "key"};
    StringRef name = names[4 - (block.getNumArguments() - argument.getArgNumber())];
    mapping.map(
        argument,
        addInput(view, type, NameLoc::get(StringAttr::get(context(), name), argument.getLoc())));
  }
  auto valueOf = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    TypedAttr attr;
    if (!matchPattern(value, m_Constant(&attr)))
      return refuse("a region uses a scalar that is no constant"), Value();
    if (auto number = dyn_cast<IntegerAttr>(attr);
        number && attr.getType().isIndex() && !number.getValue().isSignedIntN(32))
      return refuse("a region uses an index of more than 32 bits"), Value();
    Value scalar = constant(attr, value.getLoc());
    mapping.map(value, scalar);
    return scalar;
  };
  for (Operation &op : block.without_terminator()) {
    if (matchPattern(&op, m_Constant()))
      continue;
    locations.push_back(op.getLoc());
    place(op);
    Value scalar;
    if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
      scalar = extract(read);
    } else {
      SmallVector<Value> operands;
      for (Value operand : op.getOperands()) {
        operands.push_back(valueOf(operand));
        if (!operands.back())
          return {};
      }
      scalar = computeScalar(*builder, &op, operands);
    }
    if (!scalar)
      return refuse("a region takes the bits of a narrow float"), Value();
    mapping.map(op.getResult(0), scalar);
  }
  return valueOf(block.getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Views with extents of their own
//===----------------------------------------------------------------------===//

/// Of an iteration space with other extents along two dimensions.
Value KernelBuilder::evaluateWithin(Value value, const Relation &relation,
                                    std::array<std::pair<unsigned, AffineExpr>, 2> own) {
  SmallVector<AffineExpr> whole = extents;
  for (auto [dim, extent] : own)
    extents[dim] = extent;
  hasOwnExtents = true;
  Value scalar = evaluate(value, relation);
  hasOwnExtents = false;
  extents = whole;
  return scalar;
}

/// An element of queries, keys or values. Keys may have the head dim in runs, which lie apart: what
/// is within a run counts along HeadDim then, and runs along ValueDim, which keys do not have.
Value KernelBuilder::evaluateOperand(unsigned input) {
  Value tensor = attention->getOperand(input);
  Relation relation = operandPlaces[input];
  if (input != AttentionInput::Keys || !keyRun)
    return evaluate(tensor, relation);
  relation.back().strides[Dim::ValueDim] = keyRun;
  return evaluateWithin(
      tensor, relation,
      {{{Dim::HeadDim, keyRun}, {Dim::ValueDim, divideSizes(extents[Dim::HeadDim], keyRun)}}});
}

/// Keys or values in pages: what the template finds in the table counts along Batch, and positions
/// of a page along Key.
Value KernelBuilder::evaluatePages(PagesOp op, const Relation &relation) {
  if (keyRun)
    return refuse("keys in pages are whole there, not in runs of the head dim"), Value();
  if (!attention || hasOwnExtents)
    return refuse("pages are read by attention, for its keys and values"), Value();
  auto isAlong = [](const LinearAccess &access, unsigned dim) {
    for (auto [other, stride] : llvm::enumerate(access.strides))
      if (constantSize(stride) != (other == dim ? 1 : 0))
        return false;
    return constantSize(access.offset) == 0;
  };
  size_t batches = cast<ShapedType>(op.getTable().getType()).getRank() - 1;
  if (batches > 1 || (batches == 1 && !isAlong(relation[0], Dim::Batch)) ||
      !isAlong(relation.end()[-2], Dim::Key))
    return refuse("attention's keys and values do not follow the pages that they are in"), Value();
  LinearAccess page = relation.end()[-2];
  std::swap(page.strides[Dim::Batch], page.strides[Dim::Key]);
  Relation pool{page};
  pool.append(relation.begin() + batches, relation.end());
  pages.push_back(op);
  return evaluateWithin(op.getPool(), pool,
                        {{{Dim::Batch, shapes.shapeOf(op.getPool()).front()},
                          {Dim::Key, getAffineConstantExpr(op.getPageSize(), context())}}});
}

/// Loads the table of the operands' pages, as the first input behind these.
bool KernelBuilder::evaluateTable() {
  if (pages.empty())
    return true;
  PagesOp op = pages.front();
  if (pages.size() != 2 || op.getTable() != pages.back().getTable() ||
      op.getPageSize() != pages.back().getPageSize())
    return refuse("attention's keys and values are in pages of one table and one size, or neither "
                  "are"),
           false;
  AffineExpr zero = getAffineConstantExpr(0, context()), one = getAffineConstantExpr(1, context());
  Relation relation;
  for (unsigned dim : {Dim::Batch, Dim::Key}) {
    if (dim == Dim::Batch && cast<ShapedType>(op.getTable().getType()).getRank() == 1)
      continue;
    relation.push_back({SmallVector<AffineExpr>(Dim::Count, zero), zero});
    relation.back().strides[dim] = one;
  }
  Value number = evaluateWithin(op.getTable(), relation,
                                {{{Dim::Batch, extents[Dim::Batch]},
                                  {Dim::Key, shapes.shapeOf(op.getTable()).back()}}});
  auto argument = dyn_cast_or_null<BlockArgument>(number);
  if (!argument || argument.getArgNumber() != AttentionInput::Table)
    return refuse("a table of pages comes from memory"), false;
  return true;
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// Loads the element of 8 bits that keys or values are made of by conversions and products, if that
/// is so.
void KernelBuilder::loadCache(Value tensor, const Relation &place) {
  SmallVector<std::pair<Value, Relation>> worklist{{tensor, place}};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    auto [value, relation] = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second)
      continue;
    if (op && isIndexOp(op)) {
      if (std::optional<Relation> operand = pull(op, relation))
        worklist.push_back({op->getOperand(0), *operand});
    } else if (!isComputed(value)) {
      if (elementBytes(getElementTypeOrSelf(value)) == 1)
        return void(evaluate(value, relation));
    } else if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::MulFOp>(op)) {
      for (Value operand : op->getOperands())
        worklist.push_back({operand, relation});
    }
  }
}

/// Elements of 8 bits are converted to the queries' type, which holds them all. What they are
/// multiplied by is taken apart, and with it the rounding of that product: they come in the
/// contraction as they are.
std::optional<KernelBuilder::Contracted> KernelBuilder::contracted(unsigned input) {
  if (input == AttentionInput::Queries && makesQueries)
    return Contracted{addInput(queryView(operandPlaces[input].back(), {}),
                               Float32Type::get(context()), attention.getQ().getLoc()),
                      {}};
  Value scalar = evaluateOperand(input);
  if (!scalar)
    return std::nullopt;
  unsigned inner = input == AttentionInput::Keys ? Dim::HeadDim : Dim::ValueDim;
  Type type = getElementTypeOrSelf(attention.getQ());
  Contracted found{scalar, {}};
  for (;;) {
    if (auto wide = found.element.getDefiningOp<arith::ExtFOp>())
      if (auto narrow = wide.getIn().getDefiningOp<arith::TruncFOp>();
          narrow && narrow.getType() == type) {
        found.element = narrow.getIn();
        continue;
      }
    auto product = found.element.getDefiningOp<arith::MulFOp>();
    if (!product)
      break;
    Value element = product.getLhs(), factor = product.getRhs();
    if (isSameAlong(inputViews, element, inner))
      std::swap(element, factor);
    if (!isSameAlong(inputViews, factor, inner))
      break;
    found.factor =
        found.factor
            ? arith::MulFOp::create(*builder, product.getLoc(), found.factor, factor).getResult()
            : factor;
    found.element = element;
  }
  BlockArgument argument = contractedInput(found.element);
  bool isPlain = scalar == argument,
       isCache = input != AttentionInput::Queries && type.getIntOrFloatBitWidth() == 16;
  if (!argument || argument.getArgNumber() != input || !found.element.getType().isF32() ||
      !(isPlain || (isCache && elementBytes(cast<ViewAttr>(inputViews[input]).getElement()) == 1)))
    return refuse("the operands of attention come from memory, as floats of 8 to 32 bits, or for "
                  "keys and values as 8 bits that are multiplied by what a head or a key has");
  return found;
}

/// Dropout's factor is 0 or a number that all weights have in common: to leave some out takes less
/// than to multiply them all. What remains of a weight, and the number; nulls for another factor.
static std::pair<Value, Value> keepWeight(OpBuilder &builder, Value weight, Value factor) {
  auto isFinite = [](Value value) {
    FloatAttr known;
    return matchPattern(value, m_Constant(&known)) && known.getValue().isFinite();
  };
  if (isFinite(factor))
    return {weight, factor};
  auto select = factor.getDefiningOp<arith::SelectOp>();
  if (!select)
    return {};
  Value kept = select.getTrueValue(), zero = select.getFalseValue();
  bool swapped = matchPattern(kept, m_PosZeroFloat());
  if (swapped)
    std::swap(kept, zero);
  if (!matchPattern(zero, m_PosZeroFloat()) || !isFinite(kept))
    return {};
  Value condition = select.getCondition();
  if (swapped)
    condition = arith::XOrIOp::create(
        builder, factor.getLoc(), condition,
        arith::ConstantOp::create(builder, factor.getLoc(), builder.getBoolAttr(true)).getResult());
  return {arith::SelectOp::create(builder, factor.getLoc(), condition, weight, zero), kept};
}

Value KernelBuilder::computeAttention(OpResult result) {
  Location loc = attention.getLoc();
  auto number = [&](double value) {
    return constant(FloatAttr::get(Float32Type::get(context()), value), loc);
  };
  CollectiveOp &softmax = collectiveScalars[0];
  if (!softmax) {
    locations.push_back(loc);
    std::array<Contracted, 3> operands;
    for (unsigned i = 0; i < operands.size(); ++i) {
      // Keys and values of 8 bits, and the table of their pages, come before their factors.
      if (i == AttentionInput::Keys) {
        for (unsigned input : {AttentionInput::Keys, AttentionInput::Values})
          loadCache(attention->getOperand(input), operandPlaces[input]);
        if (pages.size() == 2 && !evaluateTable())
          return {};
      }
      std::optional<Contracted> operand = contracted(i);
      if (!operand)
        return {};
      operands[i] = *operand;
    }
    if (!evaluateTable())
      return {};
    auto multiply = [&](Value a, Value b) -> Value {
      return arith::MulFOp::create(*builder, loc, a, b);
    };
    const auto &[queries, keys, values] = operands;
    Type type = queries.element.getType();
    Value score = ContractOp::create(*builder, loc, type, queries.element, keys.element,
                                     Dim::HeadDim, attention.getTf32());
    double scale = attention.getScale() ? attention.getScale()->convertToDouble() : 1.0;
    // Times an infinite factor most keys and values are no numbers, but their sums would be.
    auto finite = [&](Value factor) -> Value {
      if (FloatAttr known; matchPattern(factor, m_Constant(&known)) && known.getValue().isFinite())
        return factor;
      return arith::AddFOp::create(*builder, loc, factor, multiply(factor, number(0)));
    };
    FloatAttr ofKeys;
    if (keys.factor && matchPattern(keys.factor, m_Constant(&ofKeys)))
      scale *= ofKeys.getValueAsDouble();
    else if (keys.factor)
      score = multiply(score, finite(keys.factor));
    if (scale != 1)
      score = multiply(score, number(scale));
    if (!attention.getScore().empty() && !(score = inlineRegion(attention.getScore(), score)))
      return {};
    if (!attention.getMask().empty()) {
      Value seen = inlineRegion(attention.getMask(), {});
      if (!seen)
        return {};
      score = arith::SelectOp::create(*builder, loc, seen, score, number(-INFINITY));
    }
    Value sink;
    if (attention.getSinks() && !(sink = evaluate(attention.getSinks(), sinkPlace)))
      return {};
    SmallVector<Type> types(3, type);
    softmax = CollectiveOp::create(
        *builder, loc, types, Collective::Softmax, score, sink, FloatAttr(), DenseI64ArrayAttr(),
        /*zero_rows=*/sink || !attention.getNanRows(), attention.getBatchInvariant());
    // What all keys have in common can wait for the sum.
    bool isCommon = values.factor && isSameAlong(inputViews, values.factor, Dim::Key);
    Value weight = softmax.getValues()[0];
    if (values.factor && !isCommon)
      weight = multiply(weight, finite(values.factor));
    Value common;
    if (!attention.getWeight().empty()) {
      Value factor = inlineRegion(attention.getWeight(), {});
      if (!factor)
        return {};
      Value kept;
      std::tie(kept, common) = keepWeight(*builder, weight, factor);
      weight = kept ? kept : multiply(weight, factor);
    }
    weighted = ContractOp::create(*builder, loc, type, weight, values.element, Dim::Key,
                                  attention.getTf32());
    if (isCommon)
      weighted = multiply(weighted, finite(values.factor));
    if (common)
      weighted = multiply(weighted, common);
  }
  if (result.getResultNumber() == 0)
    return weighted;
  if (result == attention.getProbabilities())
    return softmax.getValues()[0];
  Value logSum = math::LogOp::create(*builder, loc, softmax.getValues()[2]);
  return arith::AddFOp::create(*builder, loc, softmax.getValues()[1], logSum);
}
