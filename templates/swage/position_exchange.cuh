// How thread rows, of which each thread has neighbouring positions, become one for each position:
// by way of the block's shared memory, and of that of the other blocks of a cluster.
#pragma once

#include "swage/team.cuh"

namespace swage::detail {

/// How many of `length` reduced coordinates the `width` thread rows from `first` on take, of
/// `groups` in all.
template <class T, class Index>
__device__ __forceinline__ T share(Index length, int first, int width, int groups) {
  const Index rest = length % groups - first;
  return T(length / groups * width + (rest < 0 ? 0 : rest < width ? rest : width));
}

/// Where a thread row keeps its entries of Positions, of which `Beside` are read by neighbouring
/// lanes, those of the next thread rows by the next ones: all of a warp's in banks of their own, if
/// Positions is a power of two and an entry 4 bytes.  The first thread row's are in order.
template <unsigned Positions, unsigned Beside>
constexpr __device__ unsigned entryOf(unsigned group, unsigned position) {
  constexpr unsigned kRows = Positions < kWarpSize ? kWarpSize / Positions : 1;
  constexpr bool kMayShift = (Positions & (Positions - 1)) == 0 && Beside < Positions;
  const unsigned shift = kMayShift ? group / kRows * Beside % Positions : 0;
  return group * Positions + (position ^ shift);
}

/// What neighbouring threads merge of a position of `Count` thread rows, or blocks: four entries or
/// more each.
template <int Count> struct PositionParts {
  enum : int {
    kParts = powerOfTwoAbove(Count) == Count && Count > 4 ? Count / 4 : 1,
    kEach = Count / kParts,
    kBeside = kWarpSize / kParts
  };
  static_assert(kParts <= kWarpSize);
};

/// Where thread row, or block, `of` of so many leaves its state of a position.
template <int Positions, int Count>
constexpr __device__ unsigned stateAt(unsigned of, unsigned position) {
  return entryOf<Positions, PositionParts<Count>::kBeside>(of, position);
}

/// Merges the states that `Count` thread rows, or blocks, have left of each position; that of the
/// first one becomes that of all.  `countOf(k)`: the coordinates of number k; Equal: the same for
/// all.
template <class S, int Count, int Positions, int Threads, bool Equal, class T, class CountOf>
__device__ __forceinline__ void mergePositions(typename S::State *entries, const CountOf &countOf) {
  using Parts = PositionParts<Count>;
  constexpr int kParts = Parts::kParts, kEach = Parts::kEach, kTogether = Threads / kParts;
  const unsigned thread = threadIndex();
#pragma unroll 1
  for (unsigned first = 0; first < Positions; first += kTogether) {
    const unsigned position = first + thread / kParts;
    const bool exists = Positions % kTogether == 0 || position < Positions;
    typename S::State part[kEach];
    T count[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const unsigned other = k * kParts + thread % kParts;
      // The first one's entries change meanwhile; the last one's do not.
      const unsigned at =
          exists ? stateAt<Positions, Count>(other, position) : (Count - 1) * Positions;
      part[k] = entries[at];
      count[k] = countOf(other);
    }
#pragma unroll
    for (int stride = 1; stride < kEach; stride *= 2)
#pragma unroll
      for (int k = 0; k + stride < kEach; k += 2 * stride) {
        part[k] = S::merge(part[k], count[k], part[k + stride], count[k + stride]);
        count[k] += count[k + stride];
      }
    part[0] = mergeLanes<S, LaneGroup<kParts>, Equal>(part[0], count[0]);
    if (thread % kParts == 0 && exists)
      entries[position] = part[0];
  }
  barrier();
}

/// Where the states of a lane's V positions meet, or V = 1 of its row's: behind an mbarrier, if
/// there is a cluster, those of the thread rows, and then those of the blocks.
template <class S, int Groups, int Blocks, int Lanes, int V> struct PositionExchange {
  using State = typename S::State;
  enum : int { kPositions = Lanes * V, kHead = Blocks > 1 ? kExchangeHead : 0 };
  enum : int {
    kOfGroups = Groups * kPositions * int(sizeof(State)),
    kOfBlocks = Blocks > 1 ? Blocks *kPositions *int(sizeof(State)) : 0,
    kBytes = kHead + kOfGroups + kOfBlocks
  };
  char *storage; ///< for openExchanges, if there is a cluster

  /// Merges what the block's thread rows have of each position; `countOf(k)`: the coordinates of
  /// thread row k.
  template <bool Equal, class T, class CountOf>
  __device__ __forceinline__ State *meetInBlock(const State (&states)[V],
                                                const CountOf &countOf) const {
    State *const entries = reinterpret_cast<State *>(storage + kHead);
    const unsigned lane = threadIndex() % Lanes, group = threadIndex() / Lanes;
#pragma unroll
    for (int i = 0; i < V; ++i)
      entries[stateAt<kPositions, Groups>(group, i * Lanes + lane)] = states[i];
    barrier();
    mergePositions<S, Groups, kPositions, Groups * Lanes, Equal, T>(entries, countOf);
    return entries;
  }
  /// Merges what the thread rows have of each position of `length` elements, and gives the states
  /// of the positions.  Equal: each of them has as many elements.  First: see mergeWarps.
  template <bool Equal, bool First, class T, class Index>
  __device__ __forceinline__ const State *meet(const State (&states)[V], Index length) const {
    constexpr int kAll = Groups * Blocks;
    const int rank = rankInCluster<Blocks>();
    State *const entries = meetInBlock<Equal, T>(states, [&](unsigned of) {
      return Equal ? T(length / kAll) : share<T>(length, rank * Groups + int(of), 1, kAll);
    });
    if constexpr (Blocks == 1) {
      return entries;
    } else {
      State *const ofBlocks = entries + Groups * kPositions;
      const SharedAddress mbarrier = sharedAddress(storage);
      if constexpr (First)
        clusterBarrierWait();
      if (threadIndex() == 0)
        mbarrierArriveExpect(mbarrier, kOfBlocks);
#pragma unroll 1
      for (unsigned i = threadIndex(); i < Blocks * kPositions; i += Groups * Lanes) {
        const unsigned position = i % kPositions;
        pushEntry(ofBlocks + stateAt<kPositions, Blocks>(rank, position), entries[position],
                  mbarrier, static_cast<int>(i / kPositions));
      }
      mbarrierWait(mbarrier, 0);
      mergePositions<S, Blocks, kPositions, Groups * Lanes, Equal, T>(ofBlocks, [&](unsigned of) {
        return Equal ? T(length / Blocks) : share<T>(length, int(of) * Groups, Groups, kAll);
      });
      return ofBlocks;
    }
  }
};

} // namespace swage::detail
