//===- Workspace.cpp - Where intermediate tensors lie ---------------------===//
//
// The problem is to pack rectangles of given times into the least height, which is hard in general.
// The largest are placed first, because small ones find room between them and not the other way
// round; each goes into the gap that it fills best.
//
//===----------------------------------------------------------------------===//
#include "Workspace.h"

#include <algorithm>

using namespace swage;

static uint64_t alignUp(uint64_t offset) {
  return (offset + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

static bool liveTogether(const WorkspaceValue &a, const WorkspaceValue &b) {
  return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse;
}

/// The offset of the smallest gap between `placed`, in order of offset, that holds `value`; else
/// behind them.
static uint64_t bestOffset(const WorkspaceValue &value,
                           const std::vector<const WorkspaceValue *> &placed) {
  uint64_t end = 0, best = UINT64_MAX, smallest = UINT64_MAX;
  for (const WorkspaceValue *other : placed) {
    if (!liveTogether(value, *other))
      continue;
    uint64_t gap = other->offset > end ? other->offset - end : 0;
    if (gap >= value.bytes && gap < smallest) {
      smallest = gap;
      best = end;
    }
    end = std::max(end, alignUp(other->offset + other->bytes));
  }
  return best == UINT64_MAX ? end : best;
}

WorkspaceSize swage::placeValues(std::vector<WorkspaceValue> &values) {
  std::vector<WorkspaceValue *> order;
  for (WorkspaceValue &value : values)
    order.push_back(&value);
  std::stable_sort(order.begin(), order.end(),
                   [](auto *a, auto *b) { return a->bytes > b->bytes; });
  WorkspaceSize size;
  std::vector<const WorkspaceValue *> placed; // in order of offset
  for (WorkspaceValue *value : order) {
    value->offset = bestOffset(*value, placed);
    size.bytes = std::max(size.bytes, value->offset + value->bytes);
    auto behind = std::upper_bound(placed.begin(), placed.end(), value,
                                   [](auto *a, auto *b) { return a->offset < b->offset; });
    placed.insert(behind, value);
  }
  // The most is in use where some value begins.
  for (const WorkspaceValue &first : values) {
    uint64_t live = 0;
    for (const WorkspaceValue &other : values)
      if (other.firstUse <= first.firstUse && first.firstUse <= other.lastUse)
        live += other.bytes;
    size.lowerBound = std::max(size.lowerBound, live);
  }
  return size;
}
