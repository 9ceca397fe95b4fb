//===- FusionGraph.cpp - What fusion does to the graph first --------------===//
//
// Rewrites that need no decision: what no kernel can hold is an error, and a function result that
// no op of a kernel gives gets a copy.
//
//===----------------------------------------------------------------------===//

#include "FusionGraph.h"
#include "KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

bool swage::isKernelNode(Operation *op) {
  return isCollectiveOp(op) || isElementwiseOp(op) || isa<ConcatOp, AttentionOp, AppendOp>(op);
}

void swage::eraseUnread(Operation *op) {
  llvm::SetVector<Operation *> unread;
  unread.insert(op);
  while (!unread.empty()) {
    op = unread.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        unread.insert(producer);
    op->erase();
  }
}

LogicalResult swage::checkKernelOps(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << function.getBody().getBlocks().size()
                                  << " blocks, but must have 1";
  // Fusion asks of every pair of neighbours, which takes seconds at this size.
  constexpr size_t kMaxFunctionOps = 8192;
  if (size_t count = llvm::range_size(function.getBody().front()); count > kMaxFunctionOps)
    return function.emitOpError() << "has " << count << " ops, but at most " << kMaxFunctionOps
                                  << " are compiled as one graph";
  auto checkAlignment = [&](Attribute attr) -> LogicalResult {
    auto align = dyn_cast_or_null<IntegerAttr>(attr);
    if (attr && (!align || align.getInt() < 1 || align.getInt() > 4096 ||
                 !llvm::isPowerOf2_64(align.getInt())))
      return function.emitOpError()
             << "has swage.alignment " << attr << ", but it must be a power of two up to 4096";
    return success();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(checkAlignment(function.getArgAttr(i, "swage.alignment"))))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(checkAlignment(function.getResultAttr(i, "swage.alignment"))))
      return failure();
  for (Operation &op : function.getBody().front()) {
    if (auto truncf = dyn_cast<arith::TruncFOp>(op);
        truncf && truncf.getRoundingmode() &&
        *truncf.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return op.emitOpError() << "rounds other than to nearest even, for which there is no kernel";
    for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()))
      if (auto tensor = dyn_cast<RankedTensorType>(type)) {
        Type element = tensor.getElementType();
        bool known = element.isF16() || element.isBF16() || element.isF32() || element.isF64() ||
                     isa<Float8E4M3FNType, Float8E5M2Type>(element) ||
                     (isa<IntegerType>(element) && element.isSignlessInteger() &&
                      llvm::is_contained({1, 8, 32, 64}, element.getIntOrFloatBitWidth()));
        if (!known)
          return op.emitOpError() << "has a tensor of " << element
                                  << ", but kernels hold f16, bf16, f32, f64, f8E4M3FN, "
                                     "f8E5M2, i1, i8, i32 and i64";
      }
    if (auto bitcast = dyn_cast<arith::BitcastOp>(op);
        bitcast && isa<RankedTensorType>(bitcast.getType()))
      for (Type type : {bitcast.getIn().getType(), bitcast.getType()})
        if (Type element = cast<RankedTensorType>(type).getElementType();
            isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
          return op.emitOpError() << "has no kernel for " << element
                                  << ", which a kernel holds as f32";
    if (isKernelNode(&op) || isIndexOp(&op) || isSourceOp(&op) ||
        isa<func::ReturnOp, tensor::DimOp, PagesOp>(op))
      continue;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (!isa<RankedTensorType>(constant.getType()) || isa<SplatElementsAttr>(constant.getValue()))
        continue;
    if (isa<arith::ConstantOp>(op))
      return op.emitOpError() << "is no splat; pass such a tensor as an argument";
    if (llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIndex(); }) &&
        op.getNumResults())
      continue;
    if (isa<MatmulOp>(op))
      return op.emitOpError() << "has no kernel yet outside of attention";
    return op.emitOpError() << "has no kernel";
  }
  return success();
}

/// Function results that no op of a kernel gives get a copy; without fusion, so does every index
/// op.
void swage::insertResultCopies(func::FuncOp function, bool fuse) {
  Operation *terminator = function.getBody().front().getTerminator();
  if (!fuse)
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
      if (isIndexOp(&op) && !isa<tensor::CastOp>(op)) {
        OpBuilder builder(op.getContext());
        builder.setInsertionPointAfter(&op);
        auto copy =
            CopyOp::create(builder, op.getLoc(), op.getResult(0).getType(), op.getResult(0));
        op.getResult(0).replaceAllUsesExcept(copy, copy);
      }
  llvm::DenseSet<Value> returned;
  for (OpOperand &operand : terminator->getOpOperands()) {
    Operation *op = operand.get().getDefiningOp();
    bool first = returned.insert(operand.get()).second;
    if (op && isKernelNode(op) && first)
      continue;
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    OpBuilder builder(terminator);
    operand.set(
        CopyOp::create(builder, operand.get().getLoc(), operand.get().getType(), operand.get()));
  }
}

void swage::insertCacheCopies(func::FuncOp function) {
  for (AppendOp append : function.getOps<AppendOp>()) {
    Value memory = append.getCache();
    while (auto cast = memory.getDefiningOp<tensor::CastOp>())
      memory = cast.getSource();
    Operation *op = memory.getDefiningOp();
    if (!op || isKernelNode(op))
      continue;
    OpBuilder builder(append);
    append.getCacheMutable().assign(
        CopyOp::create(builder, append.getLoc(), append.getCache().getType(), append.getCache()));
  }
}
