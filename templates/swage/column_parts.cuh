// What the engine of columns.cuh does with a lane's columns: some coordinates of them from the loads
// to the stores, and how the thread rows of a block, and of a cluster, meet.
#pragma once

#include "swage/phases.cuh"
#include "swage/row_team.cuh"

namespace swage::detail {

/// How many of `length` reduced coordinates the `width` thread rows from `first` on take, of
/// `groups` in all.
template <class Index>
__device__ __forceinline__ float share(Index length, int first, int width, int groups) {
  const Index rest = length % groups - first;
  return static_cast<float>(length / groups * width + (rest < 0 ? 0 : rest < width ? rest : width));
}

/// Unroll reduced coordinates of a lane's positions.
template <class Spec, int Groups, int Unroll> struct ColumnChunk {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using S = FirstStats<Spec>;
  using Kept = decltype(Spec::kept(typename Spec::Sizes{}));
  using Reduced = decltype(Spec::reduced(typename Spec::Sizes{}));
  enum : int { V = Spec::kVector, kLast = Kept::kRank - 1 }; ///< the vectorised dimension
  enum : bool { kExact = Reduced::kFixed && Reduced::kCount % (Groups * Unroll) == 0 };

  typename Spec::Coord coord[Unroll];
  bool valid[Unroll];
  Compute values[V][Unroll][1]; ///< a column of each position
  Compute count;

  /// Those of thread row `group` in step `step`.
  __device__ __forceinline__ void place(const typename Spec::Coord &column, const Reduced &reduced,
                                        Index step, int group) {
    const Index length = reduced.template count<Index>();
    count = 0;
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      const Index at = (step * Unroll + u) * Groups + group;
      valid[u] = kExact || at < length;
      coord[u] = column;
      reduced.template split<Kept::kRank>(valid[u] ? at : length - 1, coord[u]);
      count += valid[u] ? Compute(1) : Compute(0);
    }
  }
  /// Fetches the inputs of the prologue by `read(in, u)`, and reads those of the epilogue where `more`
  /// has any, all of them before the first is used; makes the values.
  template <class Read, class More, class Pointers>
  __device__ __forceinline__ void load(const Read &read, More (&more)[Unroll],
                                       const Pointers &pointers, const typename Spec::Sizes &sizes,
                                       bool store) {
    Inputs<typename Spec::PrologueLoads, V, kLast> in[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      read(in[u], u);
      more[u].load(pointers, coord[u], sizes);
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      Compute made[V];
      runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], made, store && valid[u], pointers,
                        coord[u], sizes);
#pragma unroll
      for (int i = 0; i < V; ++i)
        values[i][u][0] = MayRepeatStored<Spec> && !valid[u] ? lowest<Compute>() : made[i];
    }
  }
  template <class More, class Pointers>
  __device__ __forceinline__ void epilogue(const typename S::Result (&results)[V],
                                           const More (&more)[Unroll], const Pointers &pointers,
                                           const typename Spec::Sizes &sizes, bool exists) const {
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      Compute elements[V];
#pragma unroll
      for (int i = 0; i < V; ++i)
        elements[i] = values[i][u][0];
      auto run = [&](const auto &statistics) {
        runEpilogue<Spec>(typename Spec::EpilogueStores{}, more[u], elements,
                          perElement(statistics, EpilogueOf<Spec>{}), exists && valid[u], pointers,
                          coord[u], sizes);
      };
      if constexpr (EpilogueTakesStatistics<Spec>)
        run(ColumnStatistics<S, V>{results});
      else
        run(Statistics<>{});
    }
  }
};

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
/// first one becomes that of all.  `countOf(k)`: the coordinates of number k; Equal: the same for all.
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
      part[k] = entries[exists ? stateAt<Positions, Count>(other, position)
                               : (Count - 1) * Positions];
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

/// Where the states of a lane's positions meet: in front those of the thread rows, then, of a
/// cluster, an mbarrier and those of its blocks.
template <class S, int Groups, int Blocks, int Lanes, int V> struct ColumnExchange {
  using State = typename S::State;
  enum : int { kPositions = Lanes * V };
  enum : int {
    kOfGroups = Groups * Blocks > 1 ? (Groups * kPositions * int(sizeof(State)) + 15) / 16 * 16 : 0,
    kBytes = kOfGroups + (Blocks > 1 ? 16 + Blocks * kPositions * int(sizeof(State)) : 0)
  };
  char *storage;

  /// Every thread calls it once, before it has anything else to do.
  __device__ __forceinline__ void open() const {
    if constexpr (Blocks > 1)
      openExchanges(storage + kOfGroups);
  }
  /// Merges what the thread rows have of each position of `length` coordinates; all of them get the
  /// same.  Equal: each of them has as many coordinates.
  template <bool Equal, class T, class Index>
  __device__ __forceinline__ void meet(State (&states)[V], Index length) const {
    constexpr int kAll = Groups * Blocks;
    State *const entries = reinterpret_cast<State *>(storage);
    const int rank = rankInCluster<Blocks>();
    const unsigned lane = threadIndex() % Lanes, group = threadIndex() / Lanes;
#pragma unroll
    for (int i = 0; i < V; ++i)
      entries[stateAt<kPositions, Groups>(group, i * Lanes + lane)] = states[i];
    barrier();
    mergePositions<S, Groups, kPositions, Groups * Lanes, Equal, T>(entries, [&](unsigned of) {
      return Equal ? T(length / kAll) : T(share(length, rank * Groups + int(of), 1, kAll));
    });
    const State *merged = entries;
    if constexpr (Blocks > 1) {
      State *const ofBlocks = reinterpret_cast<State *>(storage + kOfGroups + 16);
      const SharedAddress mbarrier = sharedAddress(storage + kOfGroups);
      clusterBarrierWait();
      if (threadIndex() == 0)
        mbarrierArriveExpect(mbarrier, Blocks * kPositions * sizeof(State));
#pragma unroll 1
      for (unsigned i = threadIndex(); i < Blocks * kPositions; i += Groups * Lanes) {
        const unsigned position = i % kPositions;
        pushEntry(ofBlocks + stateAt<kPositions, Blocks>(rank, position), entries[position],
                  mbarrier, static_cast<int>(i / kPositions));
      }
      mbarrierWait(mbarrier, 0);
      mergePositions<S, Blocks, kPositions, Groups * Lanes, Equal, T>(ofBlocks, [&](unsigned of) {
        return Equal ? T(length / Blocks) : T(share(length, int(of) * Groups, Groups, kAll));
      });
      merged = ofBlocks;
    }
#pragma unroll
    for (int i = 0; i < V; ++i)
      states[i] = merged[i * Lanes + lane];
  }
};

} // namespace swage::detail
