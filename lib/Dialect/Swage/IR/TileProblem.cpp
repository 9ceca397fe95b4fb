//===- TileProblem.cpp - What tiles turn ----------------------------------===//
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// What the kernel reads and writes.
static SmallVector<ViewAttr> viewsOf(KernelOp kernel) {
  SmallVector<ViewAttr> views(kernel.getInputs().getAsRange<ViewAttr>());
  llvm::append_range(views, kernel.getOutputs().getAsRange<ViewAttr>());
  return views;
}

TileProblem TileProblem::of(KernelOp kernel, unsigned in, int64_t merged) {
  TileProblem problem{kernel, in, merged};
  auto add = [&](ArrayAttr views, bool &areTurned) {
    for (ViewAttr view : views.getAsRange<ViewAttr>())
      if (view.getSource() == Source::Memory && problem.isTurned(view)) {
        int64_t bytes = elementBytes(view.getElement());
        problem.widest = std::max(problem.widest, bytes);
        problem.bytes += bytes;
        areTurned = true;
      }
  };
  add(kernel.getInputs(), problem.areInputs);
  add(kernel.getOutputs(), problem.areOutputs);
  return problem;
}

TileProblem TileProblem::merging(KernelOp kernel, unsigned in) {
  int64_t merged = int64_t(kernel.getRank()) - 1 - in;
  while (merged > 1 && !of(kernel, in, merged).canMerge())
    --merged;
  return of(kernel, in, merged);
}

bool TileProblem::isTurned(ViewAttr view) const {
  return LinearAccess::of(view.getAccess())->isTransposed(in, kernel.getRank() - 1);
}

bool TileProblem::canMerge() const {
  if (merged == 1)
    return true;
  unsigned rank = kernel.getRank(), first = rank - unsigned(merged);
  if (merged > rank || in >= first || kernel.getSymbols() != 0 || !areInputs)
    return false;
  int64_t points = 1;
  for (AffineExpr extent : kernel.getExtents().getResults().take_back(size_t(merged)))
    if (llvm::MulOverflow(points, *constantSize(extent), points))
      return false;
  auto lies = [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    bool isSame = true, isDense = constantSize(access.strides[rank - 1]) == 1;
    for (unsigned dim = first; dim < rank; ++dim) {
      isSame = isSame && access.isBroadcast(dim);
      if (dim + 1 < rank)
        isDense = isDense && constantSize(access.strides[dim]) ==
                                 *constantSize(access.strides[dim + 1]) *
                                     *constantSize(kernel.getExtents().getResult(dim + 1));
    }
    return isSame || isDense;
  };
  return llvm::all_of(viewsOf(kernel), [&](ViewAttr view) {
    return view.getSource() == Source::Memory && (isTurned(view) || lies(view));
  });
}

bool TileProblem::fitsOut(int64_t vector) const {
  SizeFacts facts = factsOf(kernel);
  if (!isMultipleOf(extents().back(), vector, facts))
    return false;
  return llvm::all_of(viewsOf(kernel), [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (isTurned(view) || access.isBroadcast(kernel.getRank() - 1))
      return true;
    auto isMultiple = [&](AffineExpr size) { return isMultipleOf(size, vector, facts); };
    return std::min<int64_t>(16, vector * elementBytes(view.getElement())) <= view.getAlign() &&
           isMultiple(access.offset) &&
           llvm::all_of(ArrayRef(access.strides).drop_back(size_t(merged)), isMultiple);
  });
}

int64_t TileProblem::vectorOut() const {
  int64_t vector = std::max<int64_t>(1, 16 / widest);
  while (vector > 1 && !fitsOut(vector))
    vector /= 2;
  return vector;
}

SmallVector<AffineExpr> TileProblem::extents() const {
  SmallVector<AffineExpr> extents(kernel.getExtents().getResults());
  for (int64_t i = 1; i < merged; ++i) {
    AffineExpr inner = extents.pop_back_val();
    extents.back() = extents.back() * inner;
  }
  return extents;
}

AffineExpr TileProblem::offset(ViewAttr view) const {
  if (merged == 1)
    return view.getAccess().getResult(0);
  MLIRContext *context = kernel->getContext();
  LinearAccess access = *LinearAccess::of(view.getAccess());
  unsigned rank = kernel.getRank(), first = rank - unsigned(merged);
  AffineExpr offset = access.offset, last = getAffineDimExpr(first, context);
  for (unsigned dim = 0; dim < first; ++dim)
    offset = offset + getAffineDimExpr(dim, context) * access.strides[dim];
  if (!isTurned(view))
    return offset + last * access.strides[rank - 1];
  int64_t inner = 1;
  for (unsigned dim = rank; dim-- > first;) {
    int64_t extent = std::max<int64_t>(1, *constantSize(kernel.getExtents().getResult(dim)));
    AffineExpr coordinate = last.floorDiv(inner);
    offset = offset + (dim > first ? coordinate % extent : coordinate) * access.strides[dim];
    inner *= extent;
  }
  return offset;
}

std::pair<int64_t, int64_t> TileProblem::shares(int64_t tileIn, int64_t tileOut, int64_t vectorIn,
                                                int64_t vectorOut) const {
  // Rows of a micro-block, as in the templates.
  if (!areInputs)
    return {tileIn / std::min<int64_t>(4, vectorIn) * (tileOut / vectorOut),
            tileOut * (tileIn / vectorIn)};
  int64_t rows = widest == 1 ? std::min<int64_t>(4, vectorOut) : vectorOut;
  return {tileIn / vectorIn * (tileOut / rows), tileIn * (tileOut / vectorOut)};
}
