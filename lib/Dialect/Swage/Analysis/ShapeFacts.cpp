//===- ShapeFacts.cpp - What promises about sizes do to a kernel ----------===//

#include "swage/Dialect/Swage/Analysis/ShapeFacts.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/FlatSpace.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace swage;

/// Elements of all operands' vectors together that a thread holds at once without spilling.
static constexpr int64_t kVectorElements = 128;

/// What is read and written; what is computed puts no bounds on vectors.
static SmallVector<ViewAttr> viewsOf(KernelOp kernel) {
  SmallVector<ViewAttr> views;
  for (ArrayAttr array : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : array.getAsRange<ViewAttr>())
      if (view.getSource() == Source::Memory)
        views.push_back(view);
  return views;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// What a vector along `dim` must divide: the extent and wherever else an operand that is
/// contiguous there can start one; with a tail, where it begins.
static SmallVector<AffineExpr> dividedSizes(KernelOp kernel, unsigned dim, bool tail,
                                            function_ref<bool(ViewAttr)> takesPart) {
  SmallVector<AffineExpr> sizes;
  if (!tail)
    sizes.push_back(kernel.getExtents().getResult(dim));
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (isRow(view.getSource()))
      sizes.push_back(LinearAccess::of(view.getAccess())->offset);
  for (ViewAttr view : viewsOf(kernel)) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (constantSize(access.strides[dim]) != 1 || !takesPart(view))
      continue;
    for (unsigned other = 0; other < kernel.getRank() && !tail; ++other)
      if (other != dim)
        sizes.push_back(access.strides[other]);
    sizes.push_back(access.offset);
  }
  return sizes;
}

int64_t swage::vectorAlong(KernelOp kernel, unsigned dim, const SizeFacts &facts, bool tail,
                           function_ref<bool(ViewAttr)> takesPart) {
  int64_t narrow = 16, wide = 1, moving = 0;
  for (ViewAttr view : viewsOf(kernel)) {
    if (LinearAccess::of(view.getAccess())->isBroadcast(dim) || !takesPart(view))
      continue;
    // Bools live in predicate registers, of which there are few.
    moving += view.getElement().isInteger(1) ? 2 : 1;
    narrow = std::min(narrow, elementBytes(view.getElement()));
    wide = std::max(wide, elementBytes(view.getElement()));
  }
  // What only comes from coordinates and random bits comes in fours, as the words of a counter do.
  if (moving == 0)
    narrow = 4;
  int64_t vector = std::min<int64_t>(16 / narrow, std::max<int64_t>(1, 32 / wide));
  while (vector > 1 && vector * moving > kVectorElements)
    vector /= 2;
  for (ViewAttr view : viewsOf(kernel)) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (constantSize(access.strides[dim]) == 1 && takesPart(view))
      while (vector > 1 &&
             std::min<int64_t>(16, vector * elementBytes(view.getElement())) > view.getAlign())
        vector /= 2;
  }
  for (AffineExpr size : dividedSizes(kernel, dim, tail, takesPart))
    while (!isMultipleOf(size, vector, facts))
      vector /= 2;
  return vector;
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

SmallVector<SymbolNeeds> swage::symbolNeeds(KernelOp kernel) {
  SmallVector<SymbolNeeds> needs(kernel.getSymbols());
  auto mark = [&](AffineExpr expr, bool SymbolNeeds::*need) {
    expr.walk([&](AffineExpr inner) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(inner))
        needs[symbol.getPosition()].*need = true;
    });
  };
  // The vector that the best of all promises would give: sizes that need not be multiples of it
  // are worth a promise.
  SmallVector<int64_t> best(kernel.getSymbols(), 16);
  auto markAlong = [&](unsigned dim, bool tail, function_ref<bool(ViewAttr)> takesPart) {
    int64_t vector = vectorAlong(kernel, dim, {best, {}}, tail, takesPart);
    for (AffineExpr size : dividedSizes(kernel, dim, tail, takesPart))
      if (!isMultipleOf(size, vector, {}))
        mark(size, &SymbolNeeds::multiple);
  };
  auto all = [](ViewAttr) { return true; };
  unsigned inner = kernel.getRank() - 1;
  // Of more dimensions whole vectors of each are better than those that are counted through.
  bool hasTail = kernel.getRank() == 1 && isFlatSpace(kernel);
  Attribute schedule = kernel.getScheduleAttr();
  if (isa<BoxScheduleAttr>(schedule))
    return needs; // strides and boxes are constants
  if (isa<PointwiseScheduleAttr>(schedule)) {
    markAlong(inner, hasTail, all);
  } else if (auto permute = dyn_cast<PermuteScheduleAttr>(schedule)) {
    if (permute.getKind() == PermuteClass::Runs) {
      markAlong(inner, hasTail, all);
      return needs;
    }
    // Tiles: each side for itself.
    auto isTransposed = [&](ViewAttr view) {
      LinearAccess access = *LinearAccess::of(view.getAccess());
      return constantSize(access.strides[permute.getTransposed()]) == 1 &&
             !access.isBroadcast(inner);
    };
    markAlong(permute.getTransposed(), false, isTransposed);
    markAlong(inner, false, [&](ViewAttr view) { return !isTransposed(view); });
  } else if (auto row = dyn_cast<RowScheduleAttr>(schedule);
             row && row.getKind() != RowClass::Column) {
    markAlong(inner, false, all);
    for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
      mark(kernel.getExtents().getResult(dim),
           llvm::is_contained(kernel.getReduced(), int64_t(dim)) ? &SymbolNeeds::limit
                                                                 : &SymbolNeeds::count);
  } else if (kernel.isAttention()) {
    for (unsigned dim : {AttentionDim::Batch, AttentionDim::Query})
      mark(kernel.getExtents().getResult(dim), &SymbolNeeds::count);
  } else {
    markAlong(kernel.getReduced().front() - 1, false, all);
  }
  return needs;
}

std::string swage::factSuffix(KernelOp kernel) {
  SizeFacts facts = factsOf(kernel);
  std::string suffix;
  for (unsigned symbol = 0; symbol < kernel.getSymbols(); ++symbol) {
    std::string name = "_s" + std::to_string(symbol);
    if (int64_t multiple = facts.multipleOf(symbol); multiple != 1)
      suffix += name + "x" + std::to_string(multiple);
    if (int64_t limit = facts.limitOf(symbol))
      suffix += name + "to" + std::to_string(limit);
  }
  return suffix;
}
