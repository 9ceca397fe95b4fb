// The engine of reduce.cuh and of row.cuh's class Column: a collective over dimensions outside the
// innermost kept one.
//
// A block is Groups thread rows of kThreads / Groups lanes.  A lane owns kVector neighbouring kept
// positions, so each row that is read is a run of 16-byte accesses; thread row g takes every
// Groups-th reduced coordinate, Unroll of them in flight at a time.  Partial results live in
// registers, per position, and meet once in shared memory, in a fixed order (the result does not
// depend on timing).  With an epilogue the columns are then read again, backwards.
#pragma once

#include "swage/phases.cuh"

namespace swage::detail {

/// How many of `length` reduced coordinates thread row `group` takes.
template <class Index> __device__ __forceinline__ float share(Index length, int group, int groups) {
  return group < length ? static_cast<float>((length - 1 - group) / groups + 1) : 0.0f;
}

template <class Spec, int Groups, int Unroll, class Pointers>
__device__ __forceinline__ void columns(const Pointers &pointers,
                                        const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using Coord = typename Spec::Coord;
  using S = FirstStats<Spec>;
  using State = typename S::State;
  constexpr int V = Spec::kVector, kLanes = Spec::kThreads / Groups;
  static_assert(Spec::kThreads % Groups == 0);

  const auto kept = Spec::kept(sizes);
  const auto reduced = Spec::reduced(sizes);
  using Kept = decltype(Spec::kept(sizes));
  using Reduced = decltype(Spec::reduced(sizes));
  constexpr int kLast = Kept::kRank - 1; // the vectorised dimension
  constexpr bool kAllLanes = Kept::kFixed && Kept::kCount % kLanes == 0;
  constexpr bool kExact = Reduced::kFixed && Reduced::kCount % (Groups * Unroll) == 0;

  const int lane = threadIndex() % kLanes, group = threadIndex() / kLanes;
  const Index positions = kept.template count<Index>(), length = reduced.template count<Index>();
  const Index steps =
      Reduced::kFixed
          ? static_cast<Index>((Reduced::kCount + Groups * Unroll - 1) / (Groups * Unroll))
          : ceilDiv<Index>(length, Groups * Unroll);
  const Index wanted = static_cast<Index>(blockIndex()) * kLanes + lane;
  const bool exists = kAllLanes || wanted < positions;
  Coord column{};
  kept.split(exists ? wanted : positions - 1, column);
  column[kLast] *= V;

  State states[V];
#pragma unroll
  for (int i = 0; i < V; ++i)
    states[i] = S::identity();
  Compute count = 0;

  for (Index step = 0; step < steps; ++step) {
    Coord coord[Unroll];
    bool valid[Unroll];
    Inputs<typename Spec::PrologueLoads, V, kLast> in[Unroll];
    Compute values[Unroll][V];
    Compute chunk = 0;
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      const Index at = (step * Unroll + u) * Groups + group;
      valid[u] = kExact || at < length;
      coord[u] = column;
      reduced.template split<Kept::kRank>(valid[u] ? at : length - 1, coord[u]);
      in[u].load(pointers, coord[u], sizes);
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], values[u], exists && valid[u],
                        pointers, coord[u], sizes);
      chunk += valid[u] ? Compute(1) : Compute(0);
    }
#pragma unroll
    for (int i = 0; i < V; ++i) {
      Compute own[Unroll][1];
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
        own[u][0] = values[u][i];
      states[i] = S::merge(states[i], count, S::of(own, valid, chunk), chunk);
    }
    count += chunk;
  }

  const auto total = static_cast<Compute>(length);
  if constexpr (Groups > 1) {
    // Position-major, so that neighbouring threads touch neighbouring entries.  Each position is
    // merged by one thread, which leaves the result in the first group's place.
    constexpr int kPositions = kLanes * V;
    constexpr int kBytes = Groups * kPositions * sizeof(State);
    auto *entries = reinterpret_cast<State *>(arena<kBytes>());
#pragma unroll
    for (int i = 0; i < V; ++i)
      entries[group * kPositions + i * kLanes + lane] = states[i];
    barrier();
#pragma unroll 1
    for (int position = threadIndex(); position < kPositions; position += Spec::kThreads) {
      State merged = entries[position];
      Compute mergedCount = share(length, 0, Groups);
#pragma unroll
      for (int other = 1; other < Groups; ++other) {
        const Compute otherCount = share(length, other, Groups);
        merged = S::merge(merged, mergedCount, entries[other * kPositions + position], otherCount);
        mergedCount += otherCount;
      }
      entries[position] = merged;
    }
    barrier();
    if (Spec::EpilogueStores::kEmpty && group != 0)
      return;
#pragma unroll
    for (int i = 0; i < V; ++i)
      states[i] = entries[i * kLanes + lane];
  }
  typename S::Result results[V];
#pragma unroll
  for (int i = 0; i < V; ++i)
    results[i] = S::result(states[i], total, Compute(Spec::kEpsilon));

  if constexpr (!Spec::FinishStores::kEmpty)
    if (group == 0 && exists)
      runFinish<Spec, V, kLast>(typename Spec::FinishLoads{}, typename Spec::FinishStores{},
                                ColumnStatistics<S, V>{results}, pointers, column, sizes);

  if constexpr (!Spec::EpilogueStores::kEmpty)
    for (Index step = steps - 1; step >= 0; --step) {
      Coord coord[Unroll];
      bool valid[Unroll];
      Inputs<typename Spec::PrologueLoads, V, kLast> in[Unroll];
      Inputs<typename Spec::EpilogueLoads, V, kLast> more[Unroll];
#pragma unroll
      for (int u = 0; u < Unroll; ++u) {
        const Index at = (step * Unroll + u) * Groups + group;
        valid[u] = kExact || at < length;
        coord[u] = column;
        reduced.template split<Kept::kRank>(valid[u] ? at : length - 1, coord[u]);
        in[u].load(pointers, coord[u], sizes);
        more[u].load(pointers, coord[u], sizes);
      }
#pragma unroll
      for (int u = 0; u < Unroll; ++u) {
        Compute values[V];
        runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], values, false, pointers, coord[u],
                          sizes);
#pragma unroll
        for (int i = 0; i < V; ++i)
          values[i] = S::apply(results[i], values[i]);
        if constexpr (kEpilogueTakesStatistics<Spec>)
          runEpilogue<Spec>(typename Spec::EpilogueStores{}, more[u], values,
                            ColumnStatistics<S, V>{results}, exists && valid[u], pointers, coord[u],
                            sizes);
        else
          runEpilogue<Spec>(typename Spec::EpilogueStores{}, more[u], values, Statistics<>{},
                            exists && valid[u], pointers, coord[u], sizes);
      }
    }
}

} // namespace swage::detail
