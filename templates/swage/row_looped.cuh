// Class Looped of row.cuh: kBlocksPerRow blocks walk a row of any length, once for each collective
// and once more for the epilogue.  kStaged: the row is read once, and waits in shared memory; of a row
// of more than kShelvedSteps steps, only those.
#pragma once

#include "swage/row_parts.cuh"
#include "swage/shelf.cuh"

namespace swage::detail {

template <class Spec, class Pointers>
__device__ __forceinline__ void rowLooped(const Pointers &pointers,
                                          const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using First = FirstStats<Spec>;
  using Second = SecondStats<Spec>;
  using Team = RowTeam<Spec>;
  constexpr int T = Spec::kThreadsPerRow, U = Spec::kVectorsPerThread, V = Spec::kVector;
  constexpr int kBlocks = blocksPerRow<Spec>(), kStep = kBlocks * T * U;
  constexpr int kRows = rowsBeside<Spec>();
  static_assert(Spec::kThreads % kWarpSize == 0);

  const auto kept = Spec::kept(sizes);
  const auto reduced = Spec::reduced(sizes);
  using Reduced = decltype(Spec::reduced(sizes));
  constexpr bool kExact = !IsAligned<Spec> && Reduced::kFixed && Reduced::kCount % kStep == 0;
  constexpr long long kFull = kExact ? T * U : 0;

  const Index vectors = reduced.template count<Index>();
  constexpr auto kFixedSteps = (mostVectors<Spec>(Reduced::kCount) + kStep - 1) / kStep;
  const Index steps =
      Reduced::kFixed ? static_cast<Index>(kFixedSteps) : ceilDiv<Index>(vectors, kStep);
  const int rank = rankInCluster<kBlocks>(), thread = Team::placeOf(threadIndex());
  typename Spec::Coord row{};
  kept.split(static_cast<Index>(blockIndex()) / kBlocks * kRows + Team::rowOf(threadIndex()), row);
  const int phase = phaseOf<Spec>(pointers, row, sizes);
  const RowRange<Index> range = rangeOf<Spec>(pointers, row, vectors * unitOf<Spec>(), phase, sizes);
  const Index begin = IsBounded<Spec> ? range.first / kStep : 0;
  const Index end = IsBounded<Spec> ? ceilDiv<Index>(range.last, kStep) : steps;
  auto place = [&](auto &chunk, Index step) {
    chunk.template place<kFull>(row, reduced, range, step * kStep + rank * (T * U), thread, phase);
  };
  // Aligned vectors of all steps but the first and the last are in the row.
  constexpr long long kWhole = IsAligned<Spec> ? (Reduced::kCount - 1) / (kStep * V) : 0;
  auto withChunk = [&](Index step, const auto &work) {
    if constexpr (kWhole > 1)
      if (step > 0 && step < kWhole) {
        RowChunk<Spec, true> chunk;
        return work(chunk);
      }
    RowChunk<Spec> chunk;
    work(chunk);
  };
  const auto total = static_cast<Compute>(vectors) * Compute(unitOf<Spec>());
  constexpr bool kStaged = IsStaged<Spec>;
  constexpr int kAll = kStaged ? static_cast<int>(kFixedSteps) : 0;
  constexpr int kSteps = shelvedSteps<Spec>(kAll);
  using Shelf = swage::Shelf<typename Spec::PrologueLoads, V, Spec::kThreads>;
  using Bundles = swage::Bundles<kSteps>;
  // Without the loops, what depends on the step is a constant.
  constexpr int kUnroll = kSteps == kAll && kAll > 0 && kAll <= 4 ? kAll : 1;
  constexpr int kShelf = kSteps * U * Shelf::kBytes;
  static_assert(!kStaged || (Reduced::kFixed && Shelf::kBytes > 0));
  char *const storage = arenaOf<arenaBytes<Spec, kShelf + exchangeBytes<Spec>()>()>();
  char *const exchange = storage + kShelf;
  openRowExchanges<Spec>(exchange);
  const Shelf shelf{storage};
#pragma unroll kUnroll
  for (int step = 0; step < kSteps; ++step) {
    withChunk(step, [&](auto &chunk) {
      place(chunk, step);
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (chunk.isRead[u])
          shelf.template start<RowChunk<Spec>::kLast>(step * U + u, pointers, chunk.coord[u], sizes);
    });
    Bundles::commit(step);
  }
  auto load = [&](auto &chunk, Index step, bool isFirst) {
    place(chunk, step);
    if constexpr (kStaged) {
      if (isFirst && step < kSteps)
        Bundles::wait(step);
      chunk.loadBy(
          [&](auto &in, int u) {
            if (step < kSteps)
              shelf.take(in, step * U + u, pointers, chunk.coord[u], sizes);
            else
              shelf.pass(in, pointers, chunk.coord[u], sizes);
          },
          pointers, sizes, isFirst);
    } else {
      chunk.load(pointers, sizes, isFirst);
    }
  };

  typename First::State state = First::identity();
  Compute count = 0;
#pragma unroll kUnroll
  for (Index step = begin; step < end; ++step) {
    withChunk(step, [&](auto &chunk) {
      load(chunk, step, true);
      state = First::merge(state, count, chunk.template stateOf<First>(chunk.counted()), chunk.count);
      count += chunk.count;
    });
  }
  // Said once more, as a constant: equal counts merge in few instructions.
  if constexpr (kExact && !IsBounded<Spec>)
    count = Compute(Reduced::kCount / (kBlocks * T) * V);
  state = mergeLanes<First, typename Team::Lanes, kExact>(state, count);
  state = mergeWarps<First, Team, kExact, true>(state, count, exchange);
  const auto first = First::result(state, total, Compute(Spec::epsilon()));
  auto reload = [&](auto &chunk, Index step) {
    load(chunk, step, false);
    applyEach<First>(chunk.values, first);
  };

  // Each pass begins where the last one ended: if the row is read again, that end is still in cache.
  [[maybe_unused]] typename Second::Result second{};
  if constexpr (HasSecond<Spec> && groupOf<Spec>() == 0) {
    typename Second::State later = Second::identity();
    Compute laterCount = 0;
    for (Index step = steps - 1; step >= 0; --step) {
      RowChunk<Spec> chunk;
      reload(chunk, step);
      chunk.between(first, pointers, sizes, true);
      later = Second::merge(later, laterCount,
                            chunk.template stateOf<Second>(chunk.valid), chunk.count);
      laterCount += chunk.count;
    }
    later = mergeLanes<Second, typename Team::Lanes, kExact>(later, laterCount);
    later = mergeWarps<Second, Team, kExact, false>(later, laterCount,
                                                    exchange + firstExchangeBytes<Spec>());
    second = Second::result(later, total, Compute(0));
  }

  if constexpr (!Spec::FinishStores::empty())
    if (thread == 0 && rank == 0)
      finishRow<Spec>(first, second, pointers, row, sizes);

  if constexpr (!Spec::EpilogueStores::empty() || groupOf<Spec>() != 0)
#pragma unroll 1
    for (Index i = 0; i < steps; ++i) {
      constexpr bool kForward = HasSecond<Spec> && groupOf<Spec>() == 0;
      const Index step = kForward ? i : steps - 1 - i;
      withChunk(step, [&](auto &chunk) {
        reload(chunk, step);
        if constexpr (groupOf<Spec>() != 0) {
          typename Second::Result groups[U];
          chunk.between(first, pointers, sizes, true);
          chunk.collectGroups(groups, pointers, sizes, true);
          if constexpr (!Spec::EpilogueStores::empty())
            chunk.template epilogue<kStaged>(first, [&](int u) { return groups[u]; }, pointers, sizes,
                                             true);
        } else {
          if constexpr (HasSecond<Spec>) {
            chunk.between(first, pointers, sizes, false);
            applyEach<Second>(chunk.values, second);
          }
          chunk.template epilogue<kStaged>(first, [&](int) { return second; }, pointers, sizes, true);
        }
      });
    }
}

} // namespace swage::detail
