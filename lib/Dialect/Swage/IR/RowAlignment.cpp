//===- RowAlignment.cpp - Rows that begin anywhere ------------------------===//
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"

using namespace mlir;
using namespace swage;

static ViewAttr viewOf(KernelOp kernel, OperandRef operand) {
  return operand.isOutput ? kernel.getOutput(operand.position) : kernel.getInput(operand.position);
}

std::optional<OperandRef> swage::alignedOperand(KernelOp kernel) {
  for (bool isOutput : {true, false})
    for (unsigned i = 0; i < (isOutput ? kernel.getOutputs() : kernel.getInputs()).size(); ++i)
      if (hasOwnRows(kernel, viewOf(kernel, {isOutput, i}), kernel.getRank() - 1))
        return OperandRef{isOutput, i};
  return std::nullopt;
}

bool swage::isAlignable(KernelOp kernel) {
  // Places within a row are of 32 bits.
  std::optional<int64_t> length = constantSize(kernel.getExtents().getResults().back());
  return kernel.getReduced().size() == 1 && kernel.getReduced().front() != 0 &&
         !kernel.hasGroups() && length && *length < int64_t(1) << 30 && alignedOperand(kernel);
}

static bool isAligned(ViewAttr view, int64_t vector) {
  return view.getAlign() >= vector * elementBytes(view.getElement());
}

bool swage::beginsAligned(KernelOp kernel, OperandRef operand, int64_t vector) {
  ViewAttr view = viewOf(kernel, operand);
  LinearAccess access = *LinearAccess::of(view.getAccess());
  SizeFacts facts = factsOf(kernel);
  return isAligned(view, vector) && isMultipleOf(access.offset, vector, facts) &&
         llvm::all_of(ArrayRef(access.strides).drop_back(),
                      [&](AffineExpr stride) { return isMultipleOf(stride, vector, facts); });
}

bool swage::isInStep(KernelOp kernel, OperandRef operand, int64_t vector) {
  return operand == *alignedOperand(kernel) ||
         (mayBeInStep(kernel, operand, vector) && isAligned(viewOf(kernel, operand), vector));
}

bool swage::mayBeInStep(KernelOp kernel, OperandRef operand, int64_t vector) {
  OperandRef first = *alignedOperand(kernel);
  if (operand == first)
    return true;
  ViewAttr view = viewOf(kernel, operand), reference = viewOf(kernel, first);
  if (!hasOwnRows(kernel, view, kernel.getRank() - 1) ||
      isAligned(view, vector) != isAligned(reference, vector))
    return false;
  LinearAccess mine = *LinearAccess::of(view.getAccess()),
               other = *LinearAccess::of(reference.getAccess());
  SizeFacts facts = factsOf(kernel);
  for (auto [a, b] : llvm::zip_equal(mine.strides, other.strides))
    if (a != b && !isMultipleOf(a - b, vector, facts))
      return false;
  return mine.offset == other.offset || isMultipleOf(mine.offset - other.offset, vector, facts);
}
