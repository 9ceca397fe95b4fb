//===- Workspace.cpp - Where intermediate tensors lie ---------------------===//
//
// The problem is to pack rectangles of given times into the least height, which is hard in general.
// Values are placed one after the other, each into the gap that it fills best, and the order
// decides: the largest first is mostly right, because small ones find room between them and not the
// other way round.  Where the result is above the lower bound, whatever stands out goes first and
// all are placed again.
//
//===----------------------------------------------------------------------===//
#include "Workspace.h"

#include <algorithm>

using namespace swage;

namespace {
/// A value with all that take its place, one after the other.
struct Block {
  size_t firstUse, lastUse;
  uint64_t bytes;
  uint64_t offset = 0;
};

class Placement {
public:
  explicit Placement(std::vector<Block> &blocks) : blocks(blocks) {}

  /// Keeps the offsets that are found from the order of `before` if they need less than any yet.
  template <class Less> void improve(uint64_t lowerBound, Less before);

  uint64_t bytes = UINT64_MAX;
  std::vector<uint64_t> offsets;

private:
  uint64_t place(const std::vector<Block *> &order);

  std::vector<Block> &blocks;
  std::vector<const Block *> placed; ///< in order of offset
};
} // namespace

/// Times that an order is changed, and the steps that all of that may take.
static constexpr size_t kRounds = 16, kSteps = 1 << 20;

static uint64_t alignUp(uint64_t offset) {
  return (offset + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

static bool liveTogether(const Block &a, const Block &b) {
  return a.firstUse <= b.lastUse && b.firstUse <= a.lastUse;
}

/// The offset of the smallest gap between `placed`, in order of offset, that holds `block`; else
/// behind them.
static uint64_t bestOffset(const Block &block, const std::vector<const Block *> &placed) {
  uint64_t end = 0, best = UINT64_MAX, smallest = UINT64_MAX;
  for (const Block *other : placed) {
    if (!liveTogether(block, *other))
      continue;
    uint64_t gap = other->offset > end ? other->offset - end : 0;
    if (gap >= block.bytes && gap < smallest) {
      smallest = gap;
      best = end;
    }
    end = std::max(end, alignUp(other->offset + other->bytes));
  }
  return best == UINT64_MAX ? end : best;
}

uint64_t Placement::place(const std::vector<Block *> &order) {
  uint64_t total = 0;
  placed.clear();
  for (Block *block : order) {
    block->offset = bestOffset(*block, placed);
    total = std::max(total, block->offset + block->bytes);
    auto behind = std::upper_bound(placed.begin(), placed.end(), block,
                                   [](auto *a, auto *b) { return a->offset < b->offset; });
    placed.insert(behind, block);
  }
  return total;
}

template <class Less> void Placement::improve(uint64_t lowerBound, Less before) {
  std::vector<Block *> order;
  for (Block &block : blocks)
    order.push_back(&block);
  std::stable_sort(order.begin(), order.end(),
                   [&](const Block *a, const Block *b) { return before(*a, *b); });
  size_t perRound = blocks.size() * blocks.size() + 1;
  size_t rounds = std::clamp<size_t>(kSteps / perRound, 1, kRounds);
  for (size_t round = 0; round < rounds && bytes > lowerBound; ++round) {
    uint64_t total = place(order);
    if (total < bytes) {
      bytes = total;
      offsets.clear();
      for (const Block &block : blocks)
        offsets.push_back(block.offset);
    }
    auto highest = std::find_if(order.begin(), order.end(), [&](const Block *block) {
      return block->offset + block->bytes == total;
    });
    std::rotate(order.begin(), highest, highest + 1);
  }
}

/// The most is in use where some block begins.
static uint64_t mostInUse(const std::vector<Block> &blocks) {
  uint64_t most = 0;
  for (const Block &first : blocks) {
    uint64_t live = 0;
    for (const Block &other : blocks)
      if (other.firstUse <= first.firstUse && first.firstUse <= other.lastUse)
        live += other.bytes;
    most = std::max(most, live);
  }
  return most;
}

WorkspaceSize swage::placeValues(std::vector<WorkspaceValue> &values) {
  std::vector<size_t> order(values.size()), blockOf(values.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  // A value comes after the one whose place it takes.
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a].firstUse < values[b].firstUse; });
  std::vector<Block> blocks;
  for (size_t i : order) {
    const WorkspaceValue &value = values[i];
    if (value.takesPlaceOf) {
      blockOf[i] = blockOf[*value.takesPlaceOf];
      blocks[blockOf[i]].lastUse = value.lastUse;
    } else {
      blockOf[i] = blocks.size();
      blocks.push_back({value.firstUse, value.lastUse, value.bytes});
    }
  }
  WorkspaceSize size;
  if (values.empty())
    return size;
  size.lowerBound = mostInUse(blocks);
  Placement best(blocks);
  auto area = [](const Block &block) {
    return double(block.bytes) * double(block.lastUse - block.firstUse + 1);
  };
  auto duration = [](const Block &block) { return block.lastUse - block.firstUse; };
  best.improve(size.lowerBound, [](auto &a, auto &b) { return a.bytes > b.bytes; });
  best.improve(size.lowerBound, [&](auto &a, auto &b) { return area(a) > area(b); });
  best.improve(size.lowerBound, [&](auto &a, auto &b) {
    return duration(a) != duration(b) ? duration(a) > duration(b) : a.bytes > b.bytes;
  });
  size.bytes = best.bytes;
  for (size_t i = 0; i < values.size(); ++i)
    values[i].offset = best.offsets[blockOf[i]];
  return size;
}
