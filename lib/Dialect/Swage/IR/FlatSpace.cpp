//===- FlatSpace.cpp - Points that are counted through --------------------===//
#include "swage/Dialect/Swage/IR/FlatSpace.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace swage;

bool swage::isFlat(KernelOp kernel, ViewAttr view) {
  if (view.getSource() != Source::Memory && view.getSource() != Source::Random)
    return false;
  LinearAccess access = *LinearAccess::of(view.getAccess());
  SmallVector<AffineExpr> dense =
      rowMajorStrides(kernel.getExtents().getResults(), kernel.getContext());
  return dense.size() == access.strides.size() &&
         llvm::all_of(llvm::zip_equal(access.strides, dense), [](auto strides) {
           auto [stride, wanted] = strides;
           if (stride == wanted)
             return true;
           AffineExpr difference = normalizeSize(stride - wanted);
           return difference && constantSize(difference) == 0;
         });
}

bool swage::isFlatSpace(KernelOp kernel) {
  auto standsStill = [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    return llvm::any_of(llvm::seq<unsigned>(0, kernel.getRank()),
                        [&](unsigned dim) { return access.isBroadcast(dim); });
  };
  return kernel.getRank() > 0 && kernel.getReduced().empty() &&
         llvm::all_of(kernel.getOutputs().getAsRange<ViewAttr>(),
                      [&](ViewAttr view) { return isFlat(kernel, view); }) &&
         llvm::all_of(kernel.getInputs().getAsRange<ViewAttr>(), [&](ViewAttr view) {
           return view.getSource() != Source::Memory || isFlat(kernel, view) || standsStill(view);
         });
}

Access swage::countedAccess(KernelOp kernel, ViewAttr view) {
  if (isFlat(kernel, view))
    return Access::Vector;
  return LinearAccess::of(view.getAccess())->isConstant() ? Access::Splat : Access::Gather;
}
