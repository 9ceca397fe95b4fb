//===- PlanTable.h - Plans by exact shapes --------------------------------===//
//
// The hot path of Program::run: from the caller's extents to a plan, without an allocation, a text
// or a lock that threads fight over.  A thread's last plan is remembered apart from the table, in a
// slot that few threads share.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_PLANTABLE_H
#define SWAGE_LIB_RUNTIME_PLANTABLE_H

#include "swage/Runtime/Variant.h"

#include <array>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace swage {

/// An array on the stack; only an unusually long one is on the heap.
template <class T, size_t N> class StackArray {
public:
  explicit StackArray(size_t size) : count(size) {
    if (size > N)
      heap.reset(new T[size]);
  }
  T *data() { return heap ? heap.get() : fixed; }
  const T *data() const { return heap ? heap.get() : fixed; }
  size_t size() const { return count; }
  T &operator[](size_t index) { return data()[index]; }

private:
  size_t count;
  T fixed[N];
  std::unique_ptr<T[]> heap;
};

/// Which plan: the device, the dynamic extents, and a bit for each tensor whose address is aligned
/// to 16 bytes.
using PlanKey = StackArray<uint64_t, 64>;

/// A plan and what a call is checked against.
struct PlanEntry {
  std::vector<uint64_t> key;
  Plan plan;
  std::vector<TensorType> results; ///< with the actual extents
  std::shared_ptr<const Variant> variant;

  bool isFor(const PlanKey &wanted) const {
    return std::memcmp(key.data(), wanted.data(), key.size() * sizeof(uint64_t)) == 0;
  }
};

/// Keys of one table have one length.  Safe to use from several threads.
class PlanTable {
public:
  using Entry = std::shared_ptr<const PlanEntry>;

  /// Holds at least `limit` plans, and at most 32 more that threads used last.
  explicit PlanTable(size_t limit);

  /// Null if there is none.  Counts as a use.
  Entry find(const PlanKey &key);
  /// Whether there is one, which is no use.
  bool contains(const PlanKey &key) const;
  /// Keeps the entry, unless there is one for its key, and gives the one kept.  `evicted` receives
  /// what made room, if anything did.
  Entry insert(Entry entry, Entry &evicted, bool &isNew);

private:
  /// Entries in the order of their last use, latest first.
  struct Shard {
    mutable std::mutex mutex;
    std::list<Entry> entries;
    std::unordered_multimap<uint64_t, std::list<Entry>::iterator> byHash;

    std::list<Entry>::iterator find(uint64_t hash, const PlanKey &key);
  };
  /// The plan that a thread used last.
  struct alignas(64) Slot {
    std::mutex mutex;
    Entry last;
  };

  static constexpr size_t kSlots = 32;
  Shard &shardOf(uint64_t hash) const { return shards[(hash >> 32) % shards.size()]; }

  mutable std::vector<Shard> shards;
  size_t shardLimit;
  std::array<Slot, kSlots> slots;
};

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_PLANTABLE_H
