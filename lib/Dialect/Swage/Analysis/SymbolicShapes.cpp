//===- SymbolicShapes.cpp - Extents of a function's tensors ---------------===//

#include "swage/Dialect/Swage/Analysis/SymbolicShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir;
using namespace swage;

AffineExpr SymbolicShapes::resolve(AffineExpr expr) const {
  // Each symbol's meaning only names symbols with a smaller position, so one round for each is
  // enough.
  for (size_t round = 0; round <= symbols.size(); ++round) {
    AffineExpr next = expr.replaceDimsAndSymbols({}, meaning);
    if (next == expr)
      break;
    expr = next;
  }
  return normalizeSize(expr);
}

/// Whether `expr` names the symbol.
static bool names(AffineExpr expr, AffineSymbolExpr symbol) {
  bool found = false;
  expr.walk([&](AffineExpr inner) { found |= inner == symbol; });
  return found;
}

LogicalResult SymbolicShapes::equate(Operation *op, AffineExpr a, AffineExpr b) {
  a = resolve(a);
  b = resolve(b);
  if (a && a == b)
    return success();
  // A symbol takes the other's meaning; the launch then checks the argument that the symbol is an
  // extent of. The later argument gives way, so that names stay those of the first.
  auto symbolA = dyn_cast_or_null<AffineSymbolExpr>(a),
       symbolB = dyn_cast_or_null<AffineSymbolExpr>(b);
  if (symbolA && symbolB && symbolA.getPosition() < symbolB.getPosition()) {
    std::swap(symbolA, symbolB);
    std::swap(a, b);
  }
  if (symbolA && b && !names(b, symbolA)) {
    meaning[symbolA.getPosition()] = b;
    return success();
  }
  if (symbolB && a && !names(a, symbolB)) {
    meaning[symbolB.getPosition()] = a;
    return success();
  }
  // A product with one symbol too many: s0 * 64 = 256 says what s0 is.
  for (auto [product, other] : {std::pair(a, b), std::pair(b, a)})
    for (unsigned i = 0; product && other && i < symbols.size(); ++i) {
      auto symbol = cast<AffineSymbolExpr>(getAffineSymbolExpr(i, op->getContext()));
      AffineExpr factor = names(product, symbol) ? divideSizes(product, symbol) : AffineExpr();
      AffineExpr quotient =
          factor && constantSize(factor) != 0 ? divideSizes(other, factor) : AffineExpr();
      if (quotient && !names(quotient, symbol)) {
        meaning[i] = quotient;
        return success();
      }
    }
  auto diagnostic = op->emitOpError() << "needs equal extents, but ";
  if (!a || !b)
    return diagnostic << "one is beyond 64 bits";
  std::string text;
  llvm::raw_string_ostream(text) << "nothing makes " << a << " and " << b << " equal";
  return diagnostic << text;
}

AffineExpr SymbolicShapes::sizeOf(Value index) const {
  if (auto known = sizes.find(index); known != sizes.end())
    return known->second;
  return {};
}

/// The size expression of an index op's result, from those of its operands, which come before it.
AffineExpr SymbolicShapes::computeSize(Operation *op) const {
  MLIRContext *context = op->getContext();
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    return constant.isNegative() ? AffineExpr()
                                 : getAffineConstantExpr(constant.getSExtValue(), context);
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto shape = shapes.find(dim.getSource());
    std::optional<int64_t> position = dim.getConstantIndex();
    if (shape == shapes.end() || !position || *position < 0 ||
        *position >= static_cast<int64_t>(shape->second.size()))
      return {};
    return resolve(shape->second[*position]);
  }
  if (!isa<arith::AddIOp, arith::MulIOp>(op))
    return {};
  AffineExpr lhs = sizeOf(op->getOperand(0)), rhs = sizeOf(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  return isa<arith::AddIOp>(op) ? addSizes(lhs, rhs) : multiplySizes(lhs, rhs);
}

LogicalResult SymbolicShapes::visit(Operation *op) {
  MLIRContext *context = op->getContext();
  bool equal = true;
  auto exprsOf = [&](ShapedType type) {
    SmallVector<AffineExpr> exprs;
    for (int64_t extent : type.getShape())
      exprs.push_back(ShapedType::isDynamic(extent) ? AffineExpr()
                                                    : getAffineConstantExpr(extent, context));
    return exprs;
  };
  /// The expressions of a result whose extents are those of `from` wherever they are dynamic.
  auto like = [&](Value result, ArrayRef<AffineExpr> from) {
    SmallVector<AffineExpr> exprs = exprsOf(cast<ShapedType>(result.getType()));
    for (auto [i, expr] : llvm::enumerate(exprs)) {
      if (expr && from[i])
        equal &= succeeded(equate(op, expr, from[i]));
      if (!expr)
        expr = from[i];
    }
    shapes[result] = exprs;
  };
  auto tensors = llvm::make_filter_range(
      op->getOperands(), [](Value v) { return isa<RankedTensorType>(v.getType()); });

  if (op->getNumResults() == 0)
    return success();
  if (op->getNumResults() == 1 && op->getResult(0).getType().isIndex()) {
    sizes[op->getResult(0)] = computeSize(op);
    return success();
  }
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    SmallVector<AffineExpr> exprs;
    for (int64_t dim : permute.getPermutation())
      exprs.push_back(shapes[permute.getX()][dim]);
    like(permute.getResult(), exprs);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    SmallVector<AffineExpr> exprs = shapes[slice.getX()];
    exprs[slice.getAxis()] = getAffineConstantExpr(slice.getSize(), context);
    like(slice.getResult(), exprs);
  } else if (auto concat = dyn_cast<ConcatOp>(op)) {
    SmallVector<AffineExpr> exprs = shapes[concat.getParts().front()];
    exprs[concat.getAxis()] =
        exprs[concat.getAxis()] * static_cast<int64_t>(concat.getParts().size());
    like(concat.getResult(), exprs);
  } else if (auto pages = dyn_cast<PagesOp>(op)) {
    SmallVector<AffineExpr> exprs = shapes[pages.getTable()],
                            pool = shapes[pages.getPool()];
    AffineExpr count = exprs.pop_back_val();
    exprs.append(pool.begin() + 1, pool.end() - 2);
    exprs.append({count * pages.getPageSize(), pool.back()});
    like(pages.getResult(), exprs);
  } else if (auto append = dyn_cast<AppendOp>(op)) {
    SmallVector<AffineExpr> cache = shapes[append.getCache()], rows = shapes[append.getRows()];
    for (auto [i, extent] : llvm::enumerate(rows))
      if (i != append.getAxis() && !(append.getPaged() && i == 0))
        equal &= succeeded(equate(op, cache[i], extent));
    for (auto [i, dim] : llvm::enumerate(append.getPositionDims()))
      equal &= succeeded(equate(op, rows[dim], shapes[append.getPositions()][i]));
    like(append.getResult(), cache);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    SmallVector<AffineExpr> exprs;
    for (auto [i, expr] : llvm::enumerate(shapes[reduce.getX()]))
      if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(i)))
        exprs.push_back(expr);
    like(reduce.getResult(), exprs);
  } else if (isa<IotaOp, RandomOp>(op)) {
    auto iota = dyn_cast<IotaOp>(op);
    ValueRange given = iota ? iota.getSizes() : cast<RandomOp>(op).getSizes();
    SmallVector<AffineExpr> exprs = exprsOf(cast<ShapedType>(op->getResult(0).getType()));
    size_t next = 0;
    for (AffineExpr &expr : exprs)
      if (!expr && !(expr = sizeOf(given[next++])))
        return op->emitOpError()
               << "size " << next - 1
               << " is no sum or product of constants and extents of the function's arguments";
    if (!iota)
      equal &= succeeded(
          equate(op, shapes[op->getOperand(0)].front(), getAffineConstantExpr(2, context)));
    shapes[op->getResult(0)] = exprs;
  } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
    SmallVector<AffineExpr> exprs = shapes[softmax.getX()];
    if (softmax.getMask())
      for (auto [a, b] : llvm::zip_equal(exprs, shapes[softmax.getMask()]))
        equal &= succeeded(equate(op, a, b));
    like(softmax.getResult(), exprs);
    exprs.erase(exprs.begin() + softmax.getAxis());
    for (Value stat : softmax.getStats())
      like(stat, exprs);
  } else if (auto attention = dyn_cast<AttentionOp>(op)) {
    SmallVector<AffineExpr> q = shapes[attention.getQ()], k = shapes[attention.getK()],
                            v = shapes[attention.getV()];
    size_t heads = q.size() - 3;
    for (size_t dim = 0; dim < heads; ++dim)
      equal &= succeeded(equate(op, q[dim], k[dim])) && succeeded(equate(op, q[dim], v[dim]));
    equal &= succeeded(equate(op, k[heads], v[heads])) &&
             succeeded(equate(op, k[heads + 1], v[heads + 1])) &&
             succeeded(equate(op, q[heads + 2], k[heads + 2]));
    if (Value sinks = attention.getSinks())
      equal &= succeeded(equate(op, q[heads], shapes[sinks].front()));
    if (Value logSum = attention.getLogSumExp())
      like(logSum, ArrayRef(q).drop_back());
    q.back() = k[heads + 1];
    if (Value probabilities = attention.getProbabilities())
      like(probabilities, q);
    q.back() = v.back();
    like(attention.getResult(), q);
  } else if (isa<LayerNormOp, RmsNormOp>(op)) {
    SmallVector<AffineExpr> exprs = shapes[op->getOperand(0)];
    for (Value result : op->getResults())
      like(result, ArrayRef(exprs).take_front(cast<ShapedType>(result.getType()).getRank()));
  } else if (isa<ReshapeOp, BroadcastOp>(op)) {
    auto type = cast<ShapedType>(op->getResult(0).getType());
    SmallVector<AffineExpr> exprs = exprsOf(type);
    OperandRange sizes = op->getOperands().drop_front(1);
    // The dynamic extents of x, where a reshape keeps them.
    auto fromType = cast<ShapedType>(op->getOperand(0).getType());
    bool keeps = isa<ReshapeOp>(op) && ReshapeOp::keepsDynamicExtents(fromType, type);
    SmallVector<AffineExpr> kept;
    for (auto [i, expr] : llvm::enumerate(shapes[op->getOperand(0)]))
      if (fromType.isDynamicDim(i))
        kept.push_back(expr);
    size_t next = 0;
    for (auto [i, expr] : llvm::enumerate(exprs)) {
      if (expr)
        continue;
      if (!sizes.empty()) {
        if (!(expr = sizeOf(sizes[next++])))
          return op->emitOpError()
                 << "size " << next - 1
                 << " is no sum or product of constants and extents of the function's arguments";
      } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
        expr = shapes[broadcast.getX()][llvm::find(broadcast.getDims(), static_cast<int64_t>(i)) -
                                        broadcast.getDims().begin()];
      } else if (keeps) {
        expr = kept[next++];
      } else {
        // The one dynamic extent of a reshape: all elements over the other extents.
        AffineExpr all = getAffineConstantExpr(1, context), others = all;
        for (AffineExpr from : shapes[op->getOperand(0)])
          all = multiplySizes(all, from);
        for (int64_t extent : type.getShape())
          if (!ShapedType::isDynamic(extent))
            others = others * extent;
        if (constantSize(others) == 0)
          return op->emitOpError() << "has no elements, so its dynamic extent needs a size";
        expr = all && others ? divideSizes(all, others) : AffineExpr();
        if (!expr)
          return op->emitOpError()
                 << "has a dynamic extent that does not follow from x for every size";
      }
    }
    if (isa<ReshapeOp>(op)) {
      AffineExpr before = getAffineConstantExpr(1, context), after = before;
      for (AffineExpr extent : shapes[op->getOperand(0)])
        before = before && extent ? multiplySizes(before, extent) : AffineExpr();
      for (AffineExpr extent : exprs)
        after = after && extent ? multiplySizes(after, extent) : AffineExpr();
      equal &= succeeded(equate(op, before, after));
    }
    // A runtime extent is never stretched: it is the result's, which the launch checks.
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      for (auto [from, dim] : llvm::zip_equal(shapes[broadcast.getX()], broadcast.getDims()))
        if (constantSize(from) != 1)
          equal &= succeeded(equate(op, from, exprs[dim]));
    shapes[op->getResult(0)] = exprs;
  } else if (!tensors.empty()) {
    // Elementwise ops, copy, tensor.cast: every tensor has one shape.
    SmallVector<AffineExpr> exprs = shapes[*tensors.begin()];
    for (Value operand : tensors)
      for (auto [a, b] : llvm::zip_equal(exprs, shapes[operand]))
        equal &= succeeded(equate(op, a, b));
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
        if (type.getRank() != static_cast<int64_t>(exprs.size()))
          return op->emitOpError() << "has no shape rule";
        like(result, exprs);
      }
  } else {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
        if (!type.hasStaticShape())
          return op->emitOpError() << "gives a dynamic extent without a tensor operand";
        shapes[result] = exprsOf(type);
      }
  }
  return success(equal);
}

/// Hands the promises about each symbol that was equated with something on to what it stands for.
void SymbolicShapes::combineFacts() {
  for (unsigned i = 0; i < symbols.size(); ++i) {
    AffineExpr expr = resolve(meaning[i]);
    for (unsigned j = 0; j < symbols.size() && expr; ++j) {
      // expr = factor * symbol: what divides expr divides the symbol up to the factor.
      AffineExpr quotient = divideSizes(expr, getAffineSymbolExpr(j, expr.getContext()));
      std::optional<int64_t> factor = quotient ? constantSize(quotient) : std::nullopt;
      if (i == j || !factor || *factor <= 0)
        continue;
      int64_t multiple = multiples[i] / std::gcd(multiples[i], *factor), both;
      if (!llvm::MulOverflow(multiples[j], multiple / std::gcd(multiple, multiples[j]), both))
        multiples[j] = both;
      // No bound below 1, which would be none.
      if (int64_t limit = limits[i] ? std::max<int64_t>(1, limits[i] / *factor) : 0)
        limits[j] = limits[j] ? std::min(limits[j], limit) : limit;
    }
  }
}

FailureOr<SymbolicShapes> SymbolicShapes::of(func::FuncOp function) {
  SymbolicShapes result;
  MLIRContext *context = function.getContext();
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    SmallVector<AffineExpr> &exprs = result.shapes[argument];
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        exprs.push_back(getAffineConstantExpr(type.getDimSize(i), context));
        continue;
      }
      exprs.push_back(getAffineSymbolExpr(result.symbols.size(), context));
      result.meaning.push_back(exprs.back());
      result.symbols.push_back({argument.getArgNumber(), static_cast<unsigned>(i)});
      auto promised = [&](StringRef name, int64_t nothing) {
        auto numbers = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), name);
        return numbers ? numbers[i] : nothing;
      };
      result.multiples.push_back(promised(SwageDialect::kMultipleOf, 1));
      result.limits.push_back(promised(SwageDialect::kAtMost, 0));
    }
  }
  for (Operation &op : function.getBody().front())
    if (failed(result.visit(&op)))
      return failure();
  result.combineFacts();
  for (auto &entry : result.shapes)
    for (AffineExpr &expr : entry.second)
      if (!(expr = result.resolve(expr)))
        return function.emitOpError() << "has a tensor with more than 2^63 elements";
  return result;
}
