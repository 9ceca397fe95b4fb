//===- Clock.h - What is known to have happened ---------------------------===//
//
// A vector clock of a cluster.  Agents are the threads and the engines; 32 of them, a warp's lanes
// for instance, make a group.  Time is one counter for the cluster: who meets others begins a new
// epoch with the next number, so that the lanes of a warp usually share theirs, and most groups are
// one number instead of 32.
//
// A clock says of each agent: what it did in epochs before this one is known.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_CLOCK_H
#define SWAGE_LIB_SIMT_CLOCK_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace swage::simt {

constexpr unsigned kGroupAgents = 32;

/// One of the things that happen: a thread, or an engine's operations that complete in order.
struct Agent {
  uint16_t group = 0, lane = 0;
  bool operator==(Agent other) const { return group == other.group && lane == other.lane; }
};

/// A number for each agent, 0 unless set.
class EpochVector {
public:
  uint32_t get(unsigned group, unsigned lane) const {
    if (group >= groups.size())
      return 0;
    const Group &entry = groups[group];
    return entry.lanes ? lanes[entry.lanes - 1][lane] : entry.all;
  }
  /// Whether the number is above `epoch` for all lanes of the mask.
  bool isAbove(unsigned group, uint32_t mask, uint32_t epoch) const {
    if (group >= groups.size())
      return false;
    const Group &entry = groups[group];
    if (!entry.lanes)
      return epoch < entry.all;
    for (; mask; mask &= mask - 1)
      if (epoch >= lanes[entry.lanes - 1][unsigned(__builtin_ctz(mask))])
        return false;
    return true;
  }
  bool empty() const { return groups.empty(); }
  size_t size() const { return groups.size(); }

  /// The larger number of both, or the smaller.
  void join(const EpochVector &other);
  void intersect(const EpochVector &other);
  /// Whether no number of the other is larger.
  bool covers(const EpochVector &other) const;
  void raise(unsigned group, unsigned lane, uint32_t epoch);
  void raiseGroup(unsigned group, uint32_t epoch);

private:
  using Lanes = std::array<uint32_t, kGroupAgents>;
  struct Group {
    uint32_t all = 0;   ///< of each lane
    uint32_t lanes = 0; ///< unless this is an index + 1 of `lanes`
  };
  void reach(unsigned group) {
    if (group >= groups.size())
      groups.resize(group + 1);
  }
  Lanes &split(Group &entry);

  std::vector<Group> groups;
  std::vector<Lanes> lanes;
};

/// What one knows of all others.  Shared by those who know the same; never changed while shared.
struct ClockData {
  EpochVector seen;
  EpochVector fenced; ///< what the async proxy sees of it
  uint32_t mark = 0;  ///< of the last loop that visited it

  void join(const ClockData &other) {
    seen.join(other.seen);
    fenced.join(other.fenced);
  }

private:
  friend class ClockRef;
  uint32_t references = 0;
};

/// Like std::shared_ptr, for one host thread.
class ClockRef {
public:
  ClockRef() = default;
  explicit ClockRef(ClockData *clock) : clock(clock) { retain(); }
  ClockRef(const ClockRef &other) : clock(other.clock) { retain(); }
  ClockRef(ClockRef &&other) noexcept : clock(std::exchange(other.clock, nullptr)) {}
  ClockRef &operator=(const ClockRef &other) {
    if (clock != other.clock)
      ClockRef(other).swap(*this);
    return *this;
  }
  ClockRef &operator=(ClockRef &&other) noexcept {
    ClockRef(std::move(other)).swap(*this);
    return *this;
  }
  ~ClockRef() {
    if (clock && --clock->references == 0)
      delete clock;
  }

  static ClockRef copyOf(const ClockData *other) {
    auto *copy = other ? new ClockData(*other) : new ClockData;
    copy->references = 0;
    return ClockRef(copy);
  }

  explicit operator bool() const { return clock; }
  const ClockData *get() const { return clock; }
  const ClockData *operator->() const { return clock; }
  /// For changes: a copy unless nobody shares it.
  ClockData &own() {
    if (!clock || clock->references != 1)
      *this = copyOf(clock);
    return *clock;
  }
  bool operator==(const ClockRef &other) const { return clock == other.clock; }
  bool operator!=(const ClockRef &other) const { return clock != other.clock; }

  /// True once for each value of `mark`.
  bool visit(uint32_t mark) const { return std::exchange(clock->mark, mark) != mark; }

private:
  void retain() {
    if (clock)
      ++clock->references;
  }
  void swap(ClockRef &other) { std::swap(clock, other.clock); }

  ClockData *clock = nullptr;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_CLOCK_H
