//===- KernelStep.cpp - What a step makes before it attends ----------------===//
//
// The part of KernelBuilder for attention that adds its own tokens' keys and values to the caches
// that it reads, and makes its queries. Of a head dim these may be made in pieces: where rotary
// embedding turns pairs of columns, both stand at one point of a space with half as many.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include <set>

using namespace mlir;
using namespace swage;

using Dim = AttentionDim;

/// What adds the new keys and values of the queries' own tokens to caches, of which attention then
/// reads all: both are the kernel's, or neither is.
bool KernelBuilder::findAppends() {
  appends.clear();
  makesQueries = false;
  size_t count = llvm::count_if(ops, llvm::IsaPred<AppendOp>);
  if (count == 0)
    return true;
  auto isAlong = [](const LinearAccess &access, unsigned dim) {
    return constantSize(access.offset) == 0 &&
           llvm::all_of(llvm::enumerate(access.strides), [&](auto stride) {
             return constantSize(stride.value()) == (stride.index() == dim ? 1 : 0);
           });
  };
  for (auto [input, dim] : {std::pair(AttentionInput::Keys, Dim::HeadDim),
                            std::pair(AttentionInput::Values, Dim::ValueDim)}) {
    Value value = attention->getOperand(input);
    std::optional<Relation> relation = operandPlaces[input];
    for (Operation *op = value.getDefiningOp(); op && isIndexOp(op) && relation;
         op = value.getDefiningOp()) {
      relation = pull(op, *relation);
      value = op->getOperand(0);
    }
    auto append = value.getDefiningOp<AppendOp>();
    if (!append || !ops.contains(append) || !relation || appends.contains(append))
      return refuse("attention takes in what adds to its keys and to its values, or neither"),
             false;
    if (!outputs.contains(append.getResult()))
      return refuse("attention adds to caches that are results"), false;
    for (auto &[other, place] : appends)
      if (memoryOf(cast<AppendOp>(other).getCache()) == memoryOf(append.getCache()))
        return refuse("attention adds to its keys and its values, not twice to one cache"), false;
    LinearAccess &row = (*relation)[append.getAxis()];
    if (append.getPaged() || keyRun || !isAlong(row, Dim::Key) ||
        shapes.shapeOf(append.getRows())[append.getAxis()] != extents[Dim::Query])
      return refuse("attention takes in what adds a row for each of its queries to keys and values "
                    "that follow each other in memory"),
             false;
    std::swap(row.strides[Dim::Key], row.strides[Dim::Query]);
    // A row that units share would be read by some of them before others have written it.
    if (!coversOnce(*relation, append.getRows(), Dim::Group))
      return refuse("attention takes in what adds rows that one sequence and head reads, all of "
                    "them"),
             false;
    appends[append] = {*relation, dim};
  }
  if (appends.size() != count)
    return refuse("attention takes in what adds to its keys and values, not to other caches"),
           false;
  Operation *queries = attention.getQ().getDefiningOp();
  while (queries && isIndexOp(queries))
    queries = queries->getOperand(0).getDefiningOp();
  makesQueries = queries && isComputed(queries->getResult(0));
  return true;
}

/// The most parts of a concatenation that a value is made of.
int64_t KernelBuilder::partsBehind(Value value) const {
  int64_t most = 1;
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!seen.insert(next).second || !op || (!isIndexOp(op) && !isComputed(next)))
      continue;
    if (auto concat = dyn_cast<ConcatOp>(op))
      most = std::max<int64_t>(most, concat.getParts().size());
    else
      worklist.append(op->operand_begin(), op->operand_end());
  }
  return most;
}

/// Whether an element is read of one part of each concatenation that it is made of.
bool KernelBuilder::fallsIntoParts(Value value, const Relation &relation) {
  SmallVector<std::pair<Value, Relation>> worklist{{value, relation}};
  std::set<std::vector<const void *>> seen;
  while (!worklist.empty()) {
    auto [next, place] = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || (!isIndexOp(op) && !isComputed(next)) ||
        !seen.insert(keyOf(next, place, AffineMap())).second)
      continue;
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      std::optional<std::pair<Value, Relation>> part = partAt(concat, place);
      if (!part)
        return false;
      worklist.push_back(*part);
      continue;
    }
    std::optional<Relation> operand = pull(op, place);
    if (!operand)
      return false;
    for (Value from : op->getOperands())
      if (isa<RankedTensorType>(from.getType()))
        worklist.push_back({from, *operand});
  }
  return true;
}

/// What queries, or new keys or values, are made of along their head dim: whole columns, or pieces
/// that stand at one point of fewer, halves or alternating columns, as rotary embedding makes them.
std::optional<SmallVector<KernelBuilder::Element>>
KernelBuilder::piecesOf(Value value, const Relation &relation, unsigned dim) {
  std::optional<int64_t> columns = constantSize(extents[dim]);
  int64_t count = partsBehind(value);
  if (!columns || *columns % count != 0)
    return refuse("a head dim is not made of pieces that are as long as each other");
  SmallVector<AffineExpr> whole = extents, own = extents;
  own[dim] = getAffineConstantExpr(*columns / count, context());
  unsigned symbols = shapes.getSymbols().size();
  AffineMap ofPiece = count > 1 ? AffineMap::get(0, symbols, own, context()) : AffineMap();
  for (bool alternate : {false, true}) {
    AffineExpr step = getAffineConstantExpr(alternate ? count : 1, context());
    SmallVector<Element> pieces;
    for (int64_t i = 0; i < count; ++i) {
      Element piece{relation, {}, ofPiece};
      for (LinearAccess &access : piece.relation) {
        AffineExpr offset =
            getAffineConstantExpr(alternate ? i : i * (*columns / count), context());
        access.offset = addSizes(access.offset, multiplySizes(access.strides[dim], offset));
        access.strides[dim] = multiplySizes(access.strides[dim], step);
      }
      pieces.push_back(std::move(piece));
    }
    extents = own;
    std::string before = why;
    bool fits = llvm::all_of(
        pieces, [&](const Element &piece) { return fallsIntoParts(value, piece.relation); });
    extents = whole;
    if (!fits && !alternate) {
      why = before;
      wanted.reset();
      continue;
    }
    for (Element &piece : pieces) {
      piece.scalar =
          count > 1 ? evaluateWithin(value, piece.relation, {{{dim, own[dim]}, {dim, own[dim]}}})
                    : evaluate(value, piece.relation);
      if (!piece.scalar)
        return std::nullopt;
    }
    return pieces;
  }
  return std::nullopt;
}

/// The new rows of a cache that attention reads behind them.
bool KernelBuilder::storeAppended(AppendOp op, SmallVectorImpl<Value> &yields) {
  const auto &[relation, dim] = appends[op];
  std::optional<SmallVector<Element>> pieces = piecesOf(op.getRows(), relation, dim);
  return pieces && llvm::all_of(*pieces, [&](Element &piece) {
           return storeRow(op, std::move(piece), yields);
         });
}

/// Queries in shared memory, those columns of a row that `columns` says.
ViewAttr KernelBuilder::queryView(const LinearAccess &columns, AffineMap own) {
  unsigned symbols = shapes.getSymbols().size();
  LinearAccess place = AttentionProblem::queryPlace(constantSize(extents[Dim::HeadDim]).value_or(0),
                                                    extents[Dim::Query]);
  AffineExpr rows = multiplySizes(extents[Dim::Group], extents[Dim::Query]),
             row = place.strides[Dim::Query];
  place.strides[Dim::HeadDim] = columns.strides[Dim::HeadDim];
  place.offset = columns.offset;
  return ViewAttr::get(context(), /*tensor=*/-1, getElementTypeOrSelf(attention.getQ()),
                       AffineMap::get(0, symbols, {rows, row}, context()), place.map(symbols),
                       /*align=*/16, Source::Shared, own);
}

/// Queries that the kernel makes itself.
bool KernelBuilder::storeQueries(SmallVectorImpl<Value> &yields) {
  if (!makesQueries)
    return true;
  Value queries = attention.getQ();
  Relation flat = operandPlaces[AttentionInput::Queries];
  std::optional<SmallVector<Element>> pieces = piecesOf(queries, flat, Dim::HeadDim);
  if (!pieces)
    return false;
  for (const Element &piece : *pieces) {
    // The head dim is the last one of queries, which says what columns a piece has.
    outputViews.push_back(queryView(piece.relation.back(), piece.extents));
    yields.push_back(storedScalar(piece.scalar, queries));
  }
  return true;
}
