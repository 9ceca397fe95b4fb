//===- RowStaging.cpp - What a staged row schedule moves ------------------===//
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// What the exchanges of a row kernel take, at most: two of 32 warps and 16 blocks each, in f64.
static constexpr int64_t kExchangeBytes = 2304;

bool swage::isStaged(KernelOp kernel, RowScheduleAttr schedule, ViewAttr view) {
  if (!schedule.getStaged() || view.getSource() != Source::Memory)
    return false;
  LinearAccess access = *LinearAccess::of(view.getAccess());
  unsigned firstReduced = kernel.getReduced().front();
  AffineExpr dense = getAffineConstantExpr(1, kernel.getContext());
  for (unsigned dim = kernel.getRank(); dim-- > 0 && dense;) {
    AffineExpr extent = kernel.getExtents().getResult(dim);
    if (constantSize(extent) == 1)
      continue;
    // Blocks of one row need only that to be contiguous.
    bool together = dim >= firstReduced || schedule.getRowsPerBlock() > 1;
    if (together ? access.strides[dim] != dense : access.isBroadcast(dim))
      return false;
    dense = multiplySizes(dense, extent);
  }
  return dense != nullptr;
}

int64_t swage::stagedBytes(KernelOp kernel, RowScheduleAttr schedule) {
  int64_t elements = schedule.getRowsPerBlock() * schedule.getThreadsPerRow() *
                     schedule.getVector() * schedule.getVectorsPerThread(),
          slabs = 0;
  for (ArrayAttr views : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : views.getAsRange<ViewAttr>())
      if (isStaged(kernel, schedule, view))
        slabs += llvm::alignTo(elements * elementBytes(view.getElement()) + 16, 128);
  return slabs == 0 ? 0 : slabs + kExchangeBytes;
}
