//===- InPlace.cpp - Outputs that may take an input's memory --------------===//

#include "swage/Dialect/Swage/Analysis/InPlace.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"

using namespace mlir;
using namespace swage;

/// Whether a view goes through its tensor row by row, so that no two points share an element.
static bool isDense(KernelOp kernel, ViewAttr view) {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  ArrayRef<AffineExpr> extents = kernel.getExtents().getResults();
  SmallVector<AffineExpr> strides = rowMajorStrides(extents, kernel.getContext());
  if (strides.empty() || constantSize(access.offset) != 0)
    return false;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    if (constantSize(extents[dim]) != 1 && access.strides[dim] != strides[dim])
      return false;
  return true;
}

/// Whether no other view of the list is of the same tensor.
static bool isAlone(ArrayAttr views, ViewAttr view) {
  return llvm::count_if(views.getAsRange<ViewAttr>(),
                        [&](ViewAttr other) { return other.getTensor() == view.getTensor(); }) == 1;
}

SmallVector<std::pair<unsigned, unsigned>> swage::inPlacePairs(KernelOp kernel) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  if (!isa_and_nonnull<PointwiseScheduleAttr>(kernel.getScheduleAttr()) ||
      !kernel.getReduced().empty())
    return pairs;
  for (ViewAttr output : kernel.getOutputs().getAsRange<ViewAttr>()) {
    if (!isDense(kernel, output) || !isAlone(kernel.getOutputs(), output))
      continue;
    for (ViewAttr input : kernel.getInputs().getAsRange<ViewAttr>())
      if (input.getSource() == Source::Memory && isAlone(kernel.getInputs(), input) &&
          input.getAccess() == output.getAccess() && input.getShape() == output.getShape() &&
          elementBytes(input.getElement()) == elementBytes(output.getElement()))
        pairs.push_back({unsigned(output.getTensor()), unsigned(input.getTensor())});
  }
  return pairs;
}

int64_t swage::elementsPerBlock(KernelOp kernel) {
  auto schedule = dyn_cast_or_null<PointwiseScheduleAttr>(kernel.getScheduleAttr());
  return schedule ? schedule.getThreads() * schedule.getVector() * schedule.getUnroll() : 1;
}
