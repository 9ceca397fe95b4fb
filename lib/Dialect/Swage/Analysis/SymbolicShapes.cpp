//===- SymbolicShapes.cpp - Extents of a function's tensors ---------------===//

#include "swage/Dialect/Swage/Analysis/SymbolicShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"

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

void SymbolicShapes::equate(AffineExpr a, AffineExpr b) {
  a = resolve(a);
  b = resolve(b);
  if (!a || !b || a == b)
    return;
  auto symbolA = dyn_cast<AffineSymbolExpr>(a), symbolB = dyn_cast<AffineSymbolExpr>(b);
  if (symbolA && symbolB) {
    if (symbolA.getPosition() < symbolB.getPosition())
      std::swap(symbolA, symbolB);
    meaning[symbolA.getPosition()] = symbolB;
  } else if (symbolA && isa<AffineConstantExpr>(b)) {
    meaning[symbolA.getPosition()] = b;
  } else if (symbolB && isa<AffineConstantExpr>(a)) {
    meaning[symbolB.getPosition()] = a;
  }
}

AffineExpr SymbolicShapes::sizeOf(Value index) const {
  MLIRContext *context = index.getContext();
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
    auto shape = shapes.find(dim.getSource());
    std::optional<int64_t> position = dim.getConstantIndex();
    if (shape == shapes.end() || !position || *position < 0 ||
        *position >= static_cast<int64_t>(shape->second.size()))
      return {};
    return resolve(shape->second[*position]);
  }
  if (!op || op->getNumOperands() != 2 || !isa<arith::AddIOp, arith::MulIOp>(op))
    return {};
  AffineExpr lhs = sizeOf(op->getOperand(0)), rhs = sizeOf(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  return isa<arith::AddIOp>(op) ? addSizes(lhs, rhs) : multiplySizes(lhs, rhs);
}

LogicalResult SymbolicShapes::visit(Operation *op) {
  MLIRContext *context = op->getContext();
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
        equate(expr, from[i]);
      if (!expr)
        expr = from[i];
    }
    shapes[result] = exprs;
  };
  auto tensors = llvm::make_filter_range(
      op->getOperands(), [](Value v) { return isa<RankedTensorType>(v.getType()); });

  if (op->getNumResults() == 0)
    return success();
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
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    SmallVector<AffineExpr> exprs;
    for (auto [i, expr] : llvm::enumerate(shapes[reduce.getX()]))
      if (!llvm::is_contained(reduce.getDims(), static_cast<int64_t>(i)))
        exprs.push_back(expr);
    like(reduce.getResult(), exprs);
  } else if (isa<LayerNormOp, RmsNormOp>(op)) {
    SmallVector<AffineExpr> exprs = shapes[op->getOperand(0)];
    for (Value result : op->getResults())
      like(result, ArrayRef(exprs).take_front(cast<ShapedType>(result.getType()).getRank()));
  } else if (isa<ReshapeOp, BroadcastOp>(op)) {
    auto type = cast<ShapedType>(op->getResult(0).getType());
    SmallVector<AffineExpr> exprs = exprsOf(type);
    OperandRange sizes = op->getOperands().drop_front(1);
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
        expr = divideSizes(all, others);
        if (!expr)
          expr = all.floorDiv(others);
      }
    }
    // A runtime extent is never stretched: it is the result's, which the launch checks.
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      for (auto [from, dim] : llvm::zip_equal(shapes[broadcast.getX()], broadcast.getDims()))
        if (constantSize(from) != 1)
          equate(from, exprs[dim]);
    shapes[op->getResult(0)] = exprs;
  } else if (!tensors.empty()) {
    // Elementwise ops, softmax, copy, tensor.cast: every tensor has one shape.
    SmallVector<AffineExpr> exprs = shapes[*tensors.begin()];
    for (Value operand : tensors)
      for (auto [a, b] : llvm::zip_equal(exprs, shapes[operand]))
        equate(a, b);
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
  return success();
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
    }
  }
  for (Operation &op : function.getBody().front())
    if (failed(result.visit(&op)))
      return failure();
  for (auto &entry : result.shapes)
    for (AffineExpr &expr : entry.second)
      if (!(expr = result.resolve(expr)))
        return function.emitOpError() << "has a tensor with more than 2^63 elements";
  return result;
}
