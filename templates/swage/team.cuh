// The threads that share a row, and how their partial results become one.
//
// Lanes meet by shuffles; the warps of a block through shared memory, with one barrier; the blocks
// of a cluster by writing to each other's shared memory, where an mbarrier counts what has come: a
// cluster barrier would wait for all writes under way.  Every thread ends with the same result,
// merged in an order that does not depend on timing.
//
// Several rows may lie beside each other in a block, so that it reads whole cache lines of rows
// that are made of short runs: each takes Run lanes of every warp in turn, if Run is a power of two
// (others: woven_team.cuh).
#pragma once

#include "swage/collective.cuh"
#include "swage/exchange.cuh"

namespace swage {

/// Rows of a block, each of which has Run lanes in turn.
template <int Rows, int Run> struct RowsBeside {
  enum : int { kRows = Rows, kRun = Run };

  /// The row of those beside each other that a thread of the block belongs to, and which of its
  /// threads it is.
  static __device__ __forceinline__ int rowOf(int thread) {
    return Rows == 1 ? 0 : thread / Run % Rows;
  }
  static __device__ __forceinline__ int placeOf(int thread) {
    return Rows == 1 ? thread : thread / (Run * Rows) * Run + thread % Run;
  }
};

template <int LanesOfWarp, int Warps = 1, int Blocks = 1, int Rows = 1, int Run = 1>
struct Team : RowsBeside<Rows, Run> {
  using Lanes = LaneGroup<LanesOfWarp, Rows, Run>;
  enum : int { kLanes = LanesOfWarp, kWarps = Warps, kBlocks = Blocks };
  static_assert(Warps <= kWarpSize && Blocks <= kWarpSize && powerOfTwoAbove(Blocks) == Blocks);
  static_assert(Rows == 1 || LanesOfWarp * Rows == kWarpSize);

  template <class S, class T> struct Entry {
    typename S::State state;
    T count;
  };
  /// In front of the entries is the mbarrier, if there is one.
  enum : int { kHead = Blocks > 1 ? kExchangeHead : 0 };
  /// Shared memory that one exchange takes; no two exchanges of a kernel share theirs.
  template <class S, class T> static __device__ constexpr int exchangeBytes() {
    return kHead +
           ((Warps > 1 ? Warps : 0) + (Blocks > 1 ? Blocks : 0)) * Rows * int(sizeof(Entry<S, T>));
  }
};

/// The block's part of the row: its place in the cluster, if there is one.
template <int Blocks> __device__ __forceinline__ int rankInCluster() {
  if constexpr (Blocks == 1)
    return 0;
  else
    return static_cast<int>(clusterRank());
}

namespace detail {

/// Merges one entry of each of `Count` warps or blocks, of the thread's row; `count` becomes that of
/// all.
template <class S, class Team, int Count, bool Equal, class Entry, class T>
__device__ __forceinline__ typename S::State mergeEntries(const Entry *entries, T &count) {
  // Few uneven ones each thread goes through itself: shuffles would wait for each other.  More of them
  // take registers, and so blocks.
  if constexpr (S::kCounted && !Equal && Count <= 4 && Team::kRows == 1)
    return S::template ofEntries<Count>(entries, count);
  constexpr int kAll = powerOfTwoAbove(Count);
  constexpr int kOfRow = kWarpSize / Team::kRows, kLanes = kAll < kOfRow ? kAll : kOfRow;
  constexpr bool kEven = Equal && Count % kLanes == 0;
  const int lane = static_cast<int>(laneIndex()), row = Team::rowOf(lane);
  const int slot = Team::placeOf(lane) % kLanes;
  typename S::State state = S::identity();
  T merged = 0;
#pragma unroll
  for (int at = 0; at < Count; at += kLanes) {
    const bool filled = Count % kLanes == 0 || at + slot < Count;
    const Entry entry = entries[(filled ? at + slot : 0) * Team::kRows + row];
    const T entryCount = kEven ? count : filled ? entry.count : T(0);
    const auto other = filled ? entry.state : S::identity();
    state = at == 0 ? other : S::merge(state, merged, other, entryCount);
    merged += entryCount;
  }
  count = merged;
  return mergeLanes<S, LaneGroup<kLanes, Team::kRows, Team::kRun>, kEven>(state, count);
}

} // namespace detail

/// Merges the states of a team's warps and blocks, each the same in all lanes.  `count`, the
/// elements behind a state, becomes the row's.  Equal: all have the same count.  The first exchange
/// of a kernel waits for the cluster's blocks to be ready: every thread has called openExchanges.
template <class S, class Team, bool Equal, bool First, class T>
requires requires { Team::kWarps; }
__device__ __forceinline__ typename S::State mergeWarps(typename S::State state, T &count,
                                                        char *exchange) {
  using Entry = typename Team::template Entry<S, T>;
  [[maybe_unused]] auto *entries = reinterpret_cast<Entry *>(exchange + Team::kHead);
  const int thread = static_cast<int>(threadIndex()), row = Team::rowOf(thread);
  if constexpr (Team::kWarps > 1) {
    if (Team::placeOf(thread % kWarpSize) == 0)
      entries[thread / kWarpSize * Team::kRows + row] = {state, count};
    barrier();
    state = detail::mergeEntries<S, Team, Team::kWarps, Equal>(entries, count);
    entries += Team::kWarps * Team::kRows;
  }
  if constexpr (Team::kBlocks > 1) {
    if constexpr (First)
      clusterBarrierWait();
    const SharedAddress mbarrier = sharedAddress(exchange);
    if (thread == 0)
      mbarrierArriveExpect(mbarrier, Team::kBlocks * Team::kRows * sizeof(Entry));
    if (const int to = Team::placeOf(thread); to < Team::kBlocks)
      detail::pushEntry(entries + rankInCluster<Team::kBlocks>() * Team::kRows + row,
                        Entry{state, count}, mbarrier, to);
    mbarrierWait(mbarrier, 0);
    state = detail::mergeEntries<S, Team, Team::kBlocks, Equal>(entries, count);
  }
  return state;
}

/// The collective over what the threads of a team hold, `count` elements each, `total` in all.
/// Softmax leaves in place of the values their exponentials relative to `origin`, LayerNorm of
/// Padded ones, or with Distances, their distances from it.
template <class S, class Team, bool Equal, bool First, bool Padded = false, bool Distances = false,
          int U, int V, class T>
__device__ __forceinline__ typename S::Result collect(T (&values)[U][V], const bool (&valid)[U],
                                                      T count, T total, T epsilon, T &origin,
                                                      char *exchange) {
  typename S::State state;
  if constexpr (requires { S::maxOf(values); }) {
    // One exponential per element, relative to the maximum of the lanes at hand.
    origin = Team::Lanes::largest(S::maxOf(values));
    state = {origin, Team::Lanes::sum(S::exponentiate(values, valid, S::origin(origin)))};
  } else if constexpr (S::kCounted && Padded) {
    state = S::template ofPadded<typename Team::Lanes>(values, count, origin);
  } else {
    if constexpr (S::kCounted && Distances) {
      state = S::distancesOf(values, valid, count);
      origin = state.mean;
    } else {
      state = S::of(values, valid, count);
    }
    state = mergeLanes<S, typename Team::Lanes, Equal>(state, count);
  }
  state = mergeWarps<S, Team, Equal, First>(state, count, exchange);
  return S::result(state, total, epsilon);
}

} // namespace swage
