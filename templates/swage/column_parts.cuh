// What the engine of columns.cuh does with a lane's columns: some coordinates of them from the loads
// to the stores, and how the thread rows of a block meet.
#pragma once

#include "swage/phases.cuh"

namespace swage::detail {

/// How many of `length` reduced coordinates thread row `group` takes.
template <class Index> __device__ __forceinline__ float share(Index length, int group, int groups) {
  return group < length ? static_cast<float>((length - 1 - group) / groups + 1) : 0.0f;
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

/// Merges what the thread rows have of each position, by way of one of `entries` for each; all of
/// them get the same.  Equal: each of them has as many coordinates.
template <class S, int Groups, int Lanes, bool Equal, class T, int V, class Index>
__device__ __forceinline__ void mergeGroups(typename S::State (&states)[V],
                                            typename S::State *entries, Index length) {
  constexpr int kPositions = Lanes * V;
  // Neighbouring threads share a position, four entries or more each.
  constexpr int kParts = powerOfTwoAbove(Groups) == Groups && Groups > 4 ? Groups / 4 : 1;
  constexpr int kEach = Groups / kParts, kTogether = Groups * Lanes / kParts;
  static_assert(kParts <= kWarpSize);
  const auto entry = [](unsigned group, unsigned position) {
    return entryOf<kPositions, kWarpSize / kParts>(group, position);
  };
  const unsigned thread = threadIndex(), lane = thread % Lanes, group = thread / Lanes;
#pragma unroll
  for (int i = 0; i < V; ++i)
    entries[entry(group, i * Lanes + lane)] = states[i];
  barrier();
#pragma unroll 1
  for (unsigned first = 0; first < kPositions; first += kTogether) {
    const unsigned position = first + thread / kParts;
    const bool exists = kPositions % kTogether == 0 || position < kPositions;
    typename S::State part[kEach];
    T count[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const unsigned other = k * kParts + thread % kParts;
      // The first thread row's entries change meanwhile; the last one's do not.
      part[k] = entries[exists ? entry(other, position) : (Groups - 1) * kPositions];
      count[k] = Equal ? T(length / Groups) : T(share(length, other, Groups));
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
#pragma unroll
  for (int i = 0; i < V; ++i)
    states[i] = entries[i * Lanes + lane];
}

} // namespace swage::detail
