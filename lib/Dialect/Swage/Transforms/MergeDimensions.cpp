//===- MergeDimensions.cpp - --swage-merge-dimensions ----------------------===//

#include "swage/Dialect/Swage/Transforms/MergeDimensions.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"

namespace swage {
#define GEN_PASS_DEF_MERGEDIMENSIONSPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

/// Whether stride `a` belongs outside stride `b`. Symbolic strides compare where one divides the
/// other.
static bool isOuter(AffineExpr a, AffineExpr b) {
  std::optional<int64_t> x = constantSize(a), y = constantSize(b);
  if (x && y)
    return *x > *y;
  if (a == b || x == 0)
    return false;
  if (y == 0)
    return true;
  return static_cast<bool>(divideSizes(a, b));
}

IterationSpace swage::mergeDimensions(const IterationSpace &space, unsigned keptLeader,
                                      unsigned reducedLeader, MLIRContext *context) {
  AffineExpr one = getAffineConstantExpr(1, context), zero = getAffineConstantExpr(0, context);
  SmallVector<unsigned> order;
  auto isGrouped = [](const IterationSpace &space, unsigned dim) {
    return !space.grouped.empty() && space.grouped[dim];
  };
  for (auto [reduced, grouped] : {std::pair(false, false), {true, false}, {true, true}}) {
    // Insertion sort: the order of symbolic strides is partial, and ties must keep the program
    // order. A dimension along which the leader stands still goes where it was, outside of
    // everything.
    SmallVector<unsigned> part;
    const LinearAccess *leader =
        space.accesses.empty() ? nullptr : &space.accesses[reduced ? reducedLeader : keptLeader];
    for (unsigned dim = 0; dim < space.extents.size(); ++dim) {
      if (space.reduced[dim] != reduced || isGrouped(space, dim) != grouped ||
          space.extents[dim] == one)
        continue;
      auto at = part.end();
      while (leader && at != part.begin() && constantSize(leader->strides[*(at - 1)]) != 0 &&
             isOuter(leader->strides[dim], leader->strides[*(at - 1)]))
        --at;
      part.insert(at, dim);
    }
    order.append(part);
  }

  IterationSpace merged;
  for (const LinearAccess &access : space.accesses)
    merged.accesses.push_back({{}, access.offset});
  for (unsigned dim : order) {
    bool grouped = isGrouped(space, dim);
    bool joins = !merged.extents.empty() && merged.reduced.back() == space.reduced[dim] &&
                 (merged.grouped.empty() || merged.grouped.back() == grouped);
    AffineExpr product =
        joins ? multiplySizes(merged.extents.back(), space.extents[dim]) : AffineExpr();
    for (auto [to, from] : llvm::zip_equal(merged.accesses, space.accesses))
      joins = joins && to.strides.back() == multiplySizes(from.strides[dim], space.extents[dim]);
    if (joins && product) {
      merged.extents.back() = product;
      for (auto [to, from] : llvm::zip_equal(merged.accesses, space.accesses))
        to.strides.back() = from.strides[dim];
      continue;
    }
    merged.extents.push_back(space.extents[dim]);
    merged.reduced.push_back(space.reduced[dim]);
    if (!space.grouped.empty())
      merged.grouped.push_back(grouped);
    for (auto [to, from] : llvm::zip_equal(merged.accesses, space.accesses))
      to.strides.push_back(from.strides[dim]);
  }
  // A template needs a kept and, if anything is reduced, a reduced dimension.
  bool anyReduced = llvm::is_contained(space.reduced, true);
  auto insertOne = [&](size_t at, bool reduced) {
    merged.extents.insert(merged.extents.begin() + at, one);
    merged.reduced.insert(merged.reduced.begin() + at, reduced);
    if (!space.grouped.empty())
      merged.grouped.insert(merged.grouped.begin() + at, false);
    for (LinearAccess &access : merged.accesses)
      access.strides.insert(access.strides.begin() + at, zero);
  };
  if (!llvm::is_contained(merged.reduced, false))
    insertOne(0, false);
  if (anyReduced && !llvm::is_contained(merged.reduced, true))
    insertOne(merged.extents.size(), true);
  return merged;
}

namespace {
struct MergeDimensionsPass : swage::impl::MergeDimensionsPassBase<MergeDimensionsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!kernel.getSchedule() && !kernel.isAttention()) // either names dimensions
        rewrite(kernel);
  }

  void rewrite(KernelOp kernel) {
    IterationSpace space;
    space.extents.assign(kernel.getExtents().getResults().begin(),
                         kernel.getExtents().getResults().end());
    space.reduced.assign(space.extents.size(), false);
    for (int64_t dim : kernel.getReduced())
      space.reduced[dim] = true;
    SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
    if (kernel.hasGroups()) {
      space.grouped.assign(space.extents.size(), false);
      ArrayRef<int64_t> dims = *collectives.back().getDims();
      for (int64_t dim : dims)
        space.grouped[dim] = true;
    }
    SmallVector<ViewAttr> views;
    for (ArrayAttr array : {kernel.getInputs(), kernel.getOutputs()})
      for (ViewAttr view : array.getAsRange<ViewAttr>()) {
        views.push_back(view);
        space.accesses.push_back(*LinearAccess::of(view.getAccess()));
      }
    // Stores lead, because they are pickier than loads; what is reduced follows the operand that is
    // read along it.
    unsigned keptLeader = kernel.getInputs().size(), reducedLeader = 0;
    std::optional<unsigned> principal = principalDim(kernel);
    for (unsigned i = 0; i < views.size(); ++i)
      if (variesInRow(kernel, views[i]) && principal &&
          contiguousDim(kernel, views[i]) == principal) {
        reducedLeader = i;
        break;
      }
    for (unsigned i = kernel.getInputs().size(); i < views.size(); ++i)
      if (kernel.getReduced().empty() ? principal && contiguousDim(kernel, views[i]) == principal
                                      : variesInRow(kernel, views[i])) {
        keptLeader = i;
        break;
      }
    IterationSpace merged = mergeDimensions(space, keptLeader, reducedLeader, &getContext());
    unsigned symbols = kernel.getSymbols(), inputs = kernel.getInputs().size();
    SmallVector<Attribute> newInputs, newOutputs;
    for (auto [i, view] : llvm::enumerate(views))
      (i < inputs ? newInputs : newOutputs)
          .push_back(ViewAttr::get(&getContext(), view.getTensor(), view.getElement(),
                                   view.getShape(), merged.accesses[i].map(symbols),
                                   view.getAlign(), view.getSource()));
    SmallVector<int64_t> reduced, grouped;
    for (auto [dim, isReduced] : llvm::enumerate(merged.reduced))
      if (isReduced)
        reduced.push_back(dim);
    for (auto [dim, isGrouped] : llvm::enumerate(merged.grouped))
      if (isGrouped)
        grouped.push_back(dim);
    if (kernel.hasGroups())
      collectives.back().setDims(grouped);
    Builder builder(&getContext());
    kernel.setExtents(AffineMap::get(0, symbols, merged.extents, &getContext()));
    kernel.setReduced(reduced);
    kernel.setInputsAttr(builder.getArrayAttr(newInputs));
    kernel.setOutputsAttr(builder.getArrayAttr(newOutputs));
  }
};
} // namespace
