//===- Caches.cpp - Keys and values that are made of 8 bits ---------------===//

#include "Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Reference/Interpreter.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace swage::reference {

/// What keys and values of 8 bits become on their way to attention.
static bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::MulFOp, PermuteOp, ReshapeOp,
             BroadcastOp, SliceOp, tensor::CastOp>(op);
}
bool isMadeOf8Bits(mlir::Value value) {
  SmallVector<mlir::Value> worklist{value};
  llvm::DenseSet<mlir::Value> seen;
  while (!worklist.empty()) {
    mlir::Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    std::optional<ElementType> type = elementTypeOf(getElementTypeOrSelf(next.getType()));
    if (type && byteWidth(*type) == 1)
      return true;
    if (Operation *op = next.getDefiningOp(); op && isConversion(op))
      worklist.append(op->operand_begin(), op->operand_end());
  }
  return false;
}
/// Whether a value is for matrix products alone.
static bool isForProducts(mlir::Value value) {
  SmallVector<mlir::Value> worklist{value};
  llvm::DenseSet<mlir::Value> seen;
  while (!worklist.empty()) {
    mlir::Value next = worklist.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      Operation *user = use.getOwner();
      bool isProduct = isa<MatmulOp>(user) || (isa<AttentionOp>(user) && use.getOperandNumber() &&
                                               use.getOperandNumber() <= 2);
      if (!isProduct && !isConversion(user))
        return false;
      if (!isProduct && seen.insert(user->getResult(0)).second)
        worklist.push_back(user->getResult(0));
    }
  }
  return true;
}

Scalar roundingOfCache(Operation *op) {
  auto cast = dyn_cast<arith::TruncFOp>(op);
  std::optional<ElementType> type = elementTypeOf(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!cast || byteWidth(*type) == 1 || !isMadeOf8Bits(cast.getIn()) || !isForProducts(cast))
    return {};
  return [type = *type](const Number *x) { return storedAs(type, x[0]); };
}

} // namespace swage::reference
