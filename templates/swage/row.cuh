// Row kernels: a collective (norm, softmax, sum, max, ...) over the innermost dimensions, with
// elementwise work fused in front of it, behind it, and once per row.
//
// What it computes.  For every kept position: value = prologue(inputs) for each element of the row,
// the collective over the values, then epilogue per element and finish per row.
//
// Why it is fast.  The row is read once and stays in registers as f32 (classes Group and Block): a
// thread issues all its 16-byte loads before it uses the first, statistics are local to the thread
// and merged by shuffles and at most one barrier, softmax takes one exponential per element.
//   Group   kThreadsPerRow = 1, 2, ..., 32 lanes per row, kThreads / kThreadsPerRow rows per block,
//   no barrier.
//           Rows of up to about 4 KB.
//   Block   the whole block on one row, one exchange of per-warp results.  Rows of up to about 32
//   KB. Looped  one block per row, any length: one pass for statistics, kept per thread and merged
//   chunk by chunk, and one
//           that reads again, backwards, so that the end of the row is still in cache.
//   Column  the collective is not over the innermost dimension: see columns.cuh.
// A row shorter than kThreadsPerRow * kVectorsPerThread vectors (capacity class) is handled by
// clamped loads and masks; where the number of vectors is fixed and fits exactly there are no
// checks.
//
// When chosen.  Every collective over the innermost dimensions, and norms and softmax over any.
//
// Contract: CollectiveSpec (phases.cuh) plus the constants below; reduced(sizes) counts its last
// extent in vectors of kVector (Column: kept(sizes) does).  Grid: Group ceil(rows / (kThreads /
// kThreadsPerRow)), Block and Looped one block per row.  Looped and Column evaluate the prologue
// twice: none of their outputs may overlap a prologue input.
#pragma once

#include "swage/columns.cuh"
#include "swage/phases.cuh"

namespace swage {

enum class RowClass { Group, Block, Looped, Column };

template <class Spec>
concept RowSpec = CollectiveSpec<Spec> && requires {
  Spec::kClass == RowClass::Group;
  Spec::kThreadsPerRow + Spec::kVectorsPerThread;
};

namespace detail {

/// A vector of the current row.
template <class Spec, class Reduced>
__device__ __forceinline__ typename Spec::Coord
vectorOfRow(typename Spec::Coord row, const Reduced &reduced, typename Spec::Index vector) {
  constexpr int kKept = decltype(Spec::kept(typename Spec::Sizes{}))::kRank;
  reduced.template split<kKept>(vector, row);
  row[kKept + Reduced::kRank - 1] *= Spec::kVector;
  return row;
}

/// A row of no elements has nothing to load and no epilogue, only statistics.
template <class Spec, class Kept, class Pointers>
__device__ __forceinline__ void emptyRow(const Pointers &pointers, const Kept &kept,
                                         typename Spec::Index row,
                                         const typename Spec::Sizes &sizes) {
  using Compute = typename Spec::Compute;
  using S = Stats<Spec::kCollective, Compute>;
  if constexpr (!Spec::FinishStores::kEmpty) {
    typename Spec::Coord coord{};
    kept.split(row, coord);
    const typename S::Result results[1] = {
        S::result(S::identity(), Compute(0), Compute(Spec::kEpsilon))};
    runFinish<Spec, S, 0>(typename Spec::FinishLoads{}, typename Spec::FinishStores{}, results,
                          pointers, coord, sizes);
  }
}

/// Classes Group and Block.
template <class Spec, class Pointers>
__device__ __forceinline__ void rowInRegisters(const Pointers &pointers,
                                               const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using Coord = typename Spec::Coord;
  using S = Stats<Spec::kCollective, Compute>;
  constexpr bool kGroup = Spec::kClass == RowClass::Group;
  constexpr int T = Spec::kThreadsPerRow, U = Spec::kVectorsPerThread, V = Spec::kVector;
  constexpr int kRowsPerBlock = Spec::kThreads / T, kLanes = kGroup ? T : kWarpSize;
  static_assert(kGroup ? T <= kWarpSize && powerOfTwoAbove(T) == T && Spec::kThreads % T == 0
                       : T == Spec::kThreads);

  const auto kept = Spec::kept(sizes);
  const auto reduced = Spec::reduced(sizes);
  using Kept = decltype(Spec::kept(sizes));
  using Reduced = decltype(Spec::reduced(sizes));
  constexpr int kLast = Kept::kRank + Reduced::kRank - 1;
  constexpr bool kAllRows = !kGroup || (Kept::kFixed && Kept::kCount % kRowsPerBlock == 0);
  constexpr bool kExact = Reduced::kFixed && Reduced::kCount == T * U;
  static_assert(!Reduced::kFixed || Reduced::kCount <= T * U, "the row does not fit");

  const Index rows = kept.template count<Index>(), vectors = reduced.template count<Index>();
  const Index wanted =
      static_cast<Index>(blockIndex()) * kRowsPerBlock + static_cast<Index>(threadIndex() / T);
  const bool rowExists = kAllRows || wanted < rows;
  const int thread = threadIndex() % T;
  if constexpr (!Reduced::kFixed)
    if (vectors == 0) {
      if (thread == 0 && rowExists)
        emptyRow<Spec>(pointers, kept, wanted, sizes);
      return;
    }
  Coord row{};
  kept.split(rowExists ? wanted : rows - 1, row);

  Coord coord[U];
  bool valid[U];
  Inputs<typename Spec::PrologueLoads, V, kLast> in[U];
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const Index vector = thread + u * T;
    const bool always = Reduced::kFixed && Reduced::kCount >= T * (u + 1);
    valid[u] = always || vector < vectors;
    coord[u] = vectorOfRow<Spec>(row, reduced, valid[u] ? vector : vectors - 1);
    in[u].load(pointers, coord[u], sizes);
  }
  Compute values[U][V];
  Compute count = 0;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], values[u], rowExists && valid[u],
                      pointers, coord[u], sizes);
    count += valid[u] ? Compute(V) : Compute(0);
  }

  typename S::State state;
  [[maybe_unused]] Compute origin = 0;
  if constexpr (Spec::kCollective == Collective::Softmax) {
    // One exponential per element, relative to the maximum of the lanes at hand, kept in place of
    // the value.
    state.max = S::maxOf(values, valid);
#pragma unroll
    for (int mask = 1; mask < kLanes; mask *= 2)
      state.max = maximumNumber(state.max, shuffleXor(state.max, mask));
    origin = state.max;
    state.sum = S::exponentiate(values, valid, S::origin(origin));
#pragma unroll
    for (int mask = 1; mask < kLanes; mask *= 2)
      state.sum += shuffleXor(state.sum, mask);
  } else {
    state = mergeLanes<S, kLanes, kExact>(S::of(values, valid, count), count);
  }
  if constexpr (!kGroup)
    state = mergeWarps<S, T, kExact>(state, count);
  const auto total = static_cast<Compute>(vectors) * Compute(V);
  const typename S::Result results[1] = {S::result(state, total, Compute(Spec::kEpsilon))};

  if constexpr (!Spec::FinishStores::kEmpty)
    if (thread == 0 && rowExists)
      runFinish<Spec, S, 0>(typename Spec::FinishLoads{}, typename Spec::FinishStores{}, results,
                            pointers, row, sizes);

  if constexpr (!Spec::EpilogueStores::kEmpty) {
    [[maybe_unused]] Compute factor = 1;
    if constexpr (Spec::kCollective == Collective::Softmax)
      factor = exp(origin - results[0].max) * results[0].inverse;
#pragma unroll
    for (int u = 0; u < U; ++u) {
      Inputs<typename Spec::EpilogueLoads, V, kLast> more;
      more.load(pointers, coord[u], sizes);
#pragma unroll
      for (int i = 0; i < V; ++i) {
        if constexpr (Spec::kCollective == Collective::Softmax)
          values[u][i] *= factor;
        else
          values[u][i] = S::apply(results[0], values[u][i]);
      }
      runEpilogue<Spec>(typename Spec::EpilogueStores{}, more, values[u], rowExists && valid[u],
                        pointers, coord[u], sizes);
    }
  }
}

/// Class Looped: kVectorsPerThread vectors of the row per thread and step.
template <class Spec, class Pointers>
__device__ __forceinline__ void rowLooped(const Pointers &pointers,
                                          const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using Coord = typename Spec::Coord;
  using S = Stats<Spec::kCollective, Compute>;
  constexpr int T = Spec::kThreads, U = Spec::kVectorsPerThread, V = Spec::kVector;
  static_assert(Spec::kThreadsPerRow == T);

  const auto kept = Spec::kept(sizes);
  const auto reduced = Spec::reduced(sizes);
  using Reduced = decltype(Spec::reduced(sizes));
  constexpr int kLast = decltype(Spec::kept(sizes))::kRank + Reduced::kRank - 1;
  constexpr bool kExact = Reduced::kFixed && Reduced::kCount % (T * U) == 0;

  const Index vectors = reduced.template count<Index>();
  const Index steps = Reduced::kFixed ? static_cast<Index>((Reduced::kCount + T * U - 1) / (T * U))
                                      : ceilDiv<Index>(vectors, T * U);
  Coord row{};
  kept.split(static_cast<Index>(blockIndex()), row);

  typename S::State state = S::identity();
  Compute count = 0;
  for (Index step = 0; step < steps; ++step) {
    Coord coord[U];
    bool valid[U];
    Inputs<typename Spec::PrologueLoads, V, kLast> in[U];
    Compute values[U][V];
    Compute chunk = 0;
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const Index vector = (step * U + u) * T + static_cast<Index>(threadIndex());
      valid[u] = kExact || vector < vectors;
      coord[u] = vectorOfRow<Spec>(row, reduced, valid[u] ? vector : vectors - 1);
      in[u].load(pointers, coord[u], sizes);
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], values[u], valid[u], pointers,
                        coord[u], sizes);
      chunk += valid[u] ? Compute(V) : Compute(0);
    }
    state = S::merge(state, count, S::of(values, valid, chunk), chunk);
    count += chunk;
  }
  state = mergeLanes<S, kWarpSize, kExact>(state, count);
  state = mergeWarps<S, T, kExact>(state, count);
  const auto total = static_cast<Compute>(vectors) * Compute(V);
  const typename S::Result results[1] = {S::result(state, total, Compute(Spec::kEpsilon))};

  if constexpr (!Spec::FinishStores::kEmpty)
    if (threadIndex() == 0)
      runFinish<Spec, S, 0>(typename Spec::FinishLoads{}, typename Spec::FinishStores{}, results,
                            pointers, row, sizes);

  if constexpr (!Spec::EpilogueStores::kEmpty)
    for (Index step = steps - 1; step >= 0; --step) {
      Coord coord[U];
      bool valid[U];
      Inputs<typename Spec::PrologueLoads, V, kLast> in[U];
      Inputs<typename Spec::EpilogueLoads, V, kLast> more[U];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        const Index vector = (step * U + u) * T + static_cast<Index>(threadIndex());
        valid[u] = kExact || vector < vectors;
        coord[u] = vectorOfRow<Spec>(row, reduced, valid[u] ? vector : vectors - 1);
        in[u].load(pointers, coord[u], sizes);
        more[u].load(pointers, coord[u], sizes);
      }
#pragma unroll
      for (int u = 0; u < U; ++u) {
        Compute values[V];
        runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], values, false, pointers, coord[u],
                          sizes);
#pragma unroll
        for (int i = 0; i < V; ++i)
          values[i] = S::apply(results[0], values[i]);
        runEpilogue<Spec>(typename Spec::EpilogueStores{}, more[u], values, valid[u], pointers,
                          coord[u], sizes);
      }
    }
}

} // namespace detail

template <RowSpec Spec, class Pointers>
__device__ __forceinline__ void row(const Pointers &pointers, const typename Spec::Sizes &sizes) {
  if constexpr (Spec::kClass == RowClass::Looped)
    detail::rowLooped<Spec>(pointers, sizes);
  else if constexpr (Spec::kClass == RowClass::Column)
    detail::columns<Spec, Spec::kThreadsPerRow, Spec::kVectorsPerThread>(pointers, sizes);
  else
    detail::rowInRegisters<Spec>(pointers, sizes);
}

} // namespace swage
