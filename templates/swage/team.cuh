// The threads that share a row, and how their partial results become one.
//
// Lanes meet by shuffles; the warps of a block through shared memory, with one barrier; the blocks
// of a cluster by writing to each other's shared memory, with one cluster barrier.  Every thread
// ends with the same result, merged in an order that does not depend on timing.
#pragma once

#include "swage/collective.cuh"
#include "swage/device/cluster.cuh"

namespace swage {

template <int Lanes, int Warps = 1, int Blocks = 1> struct Team {
  static constexpr int kLanes = Lanes, kWarps = Warps, kBlocks = Blocks;
  static_assert(Warps <= kWarpSize && Blocks <= kWarpSize && powerOfTwoAbove(Blocks) == Blocks);

  template <class S, class T> struct Entry {
    typename S::State state;
    T count;
  };
  /// Shared memory that one exchange takes; no two exchanges of a kernel share theirs.
  template <class S, class T> static __device__ constexpr int exchangeBytes() {
    return ((Warps > 1 ? Warps : 0) + (Blocks > 1 ? Blocks : 0)) * int(sizeof(Entry<S, T>));
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

/// Merges one entry of each of `Count` warps or blocks; `count` becomes that of all.
template <class S, int Count, bool Equal, class Entry, class T>
__device__ __forceinline__ typename S::State mergeEntries(const Entry *entries, T &count) {
  constexpr int kLanes = powerOfTwoAbove(Count);
  constexpr bool kEven = Equal && Count == kLanes;
  const int slot = static_cast<int>(laneIndex()) % kLanes;
  const bool filled = Count == kLanes || slot < Count;
  const Entry entry = entries[filled ? slot : 0];
  if constexpr (!kEven)
    count = filled ? entry.count : T(0);
  return mergeLanes<S, kLanes, kEven>(filled ? entry.state : S::identity(), count);
}

/// Writes `entry` to the same place in block `rank` of the cluster.
template <class Entry>
__device__ __forceinline__ void pushEntry(Entry *at, const Entry &entry, int rank) {
  struct Words {
    unsigned word[sizeof(Entry) / 4];
  };
  const auto words = __builtin_bit_cast(Words, entry);
  const SharedAddress to = mapShared(sharedAddress(at), static_cast<unsigned>(rank));
#pragma unroll
  for (int i = 0; i < int(sizeof(Entry) / 4); ++i)
    storeCluster<unsigned>(to + 4 * i, words.word[i]);
}

} // namespace detail

/// Merges the states of a team's warps and blocks, each the same in all lanes.  `count`, the
/// elements behind a state, becomes the row's.  Equal: all have the same count.  The first exchange
/// of a kernel waits for the cluster's blocks to have started: every thread has called
/// clusterBarrierArrive.
template <class S, class Team, bool Equal, bool First, class T>
__device__ __forceinline__ typename S::State mergeWarps(typename S::State state, T &count,
                                                        char *exchange) {
  using Entry = typename Team::template Entry<S, T>;
  [[maybe_unused]] auto *entries = reinterpret_cast<Entry *>(exchange);
  if constexpr (Team::kWarps > 1) {
    if (threadIndex() % kWarpSize == 0)
      entries[threadIndex() / kWarpSize] = {state, count};
    barrier();
    state = detail::mergeEntries<S, Team::kWarps, Equal>(entries, count);
    entries += Team::kWarps;
  }
  if constexpr (Team::kBlocks > 1) {
    if constexpr (First)
      clusterBarrierWait();
    if (threadIndex() < Team::kBlocks)
      detail::pushEntry(entries + rankInCluster<Team::kBlocks>(), Entry{state, count},
                        threadIndex());
    clusterBarrier();
    state = detail::mergeEntries<S, Team::kBlocks, Equal>(entries, count);
  }
  return state;
}

/// The collective over what the threads of a team hold, `count` elements each, `total` in all.
/// Softmax leaves in place of the values their exponentials relative to `origin`.
template <class S, class Team, bool Equal, bool First, int U, int V, class T>
__device__ __forceinline__ typename S::Result collect(T (&values)[U][V], const bool (&valid)[U],
                                                      T count, T total, T epsilon, T &origin,
                                                      char *exchange) {
  typename S::State state;
  if constexpr (requires { S::maxOf(values); }) {
    // One exponential per element, relative to the maximum of the lanes at hand.
    state.max = S::maxOf(values);
#pragma unroll
    for (int mask = 1; mask < Team::kLanes; mask *= 2)
      state.max = maximumNumber(state.max, shuffleXor(state.max, mask));
    origin = state.max;
    state.sum = S::exponentiate(values, valid, S::origin(origin));
#pragma unroll
    for (int mask = 1; mask < Team::kLanes; mask *= 2)
      state.sum += shuffleXor(state.sum, mask);
  } else {
    state = mergeLanes<S, Team::kLanes, Equal>(S::of(values, valid, count), count);
  }
  state = mergeWarps<S, Team, Equal, First>(state, count, exchange);
  return S::result(state, total, epsilon);
}

/// Makes of the values the elements that the collective gives.
template <class S, int U, int V, class T>
__device__ __forceinline__ void applyEach(T (&values)[U][V], const typename S::Result &result) {
#pragma unroll
  for (int u = 0; u < U; ++u)
#pragma unroll
    for (int i = 0; i < V; ++i)
      values[u][i] = S::apply(result, values[u][i]);
}

/// The same of the values that `collect` left.
template <class S, int U, int V, class T>
__device__ __forceinline__ void applyCollected(T (&values)[U][V], const typename S::Result &result,
                                               [[maybe_unused]] T origin) {
  if constexpr (requires { S::origin(origin); }) {
    const T factor = S::factor(result, origin);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i)
        values[u][i] *= factor;
  } else {
    applyEach<S>(values, result);
  }
}

} // namespace swage
