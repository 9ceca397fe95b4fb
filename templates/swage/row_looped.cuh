// Class Looped of row.cuh: kBlocksPerRow blocks walk a row of any length, once for each collective
// and once more for the epilogue.  kStaged: the row is read once, and waits in shared memory; of a
// row of more than kShelvedSteps steps, only those.  More blocks than a cluster holds are a crowd.
#pragma once

#include "swage/row_crowd.cuh"
#include "swage/shelf.cuh"

namespace swage::detail {

/// The element, of those that no whole vector has, that a thread has for itself.
template <class Spec> struct RowEnd {
  __device__ __forceinline__ RowEnd(const typename Spec::Coord &, int, typename Spec::Index, bool,
                                    int) {}
  template <class Work> __device__ __forceinline__ void with(const Work &) {}
};
template <class Spec>
  requires IsAligned<Spec>
struct RowEnd<Spec> {
  /// `isHere`: this is the block whose threads have them.
  __device__ __forceinline__ RowEnd(const typename Spec::Coord &row, int phase, int length,
                                    bool isHere, int thread) {
    const RowEnds<Spec::kVector> ends(phase, length);
    element.placeElement(row, ends.at(thread, length), isHere && thread < ends.count());
  }
  template <class Work> __device__ __forceinline__ void with(const Work &work) {
    if (element.valid[0])
      work(element);
  }

private:
  RowChunk<Spec, 1, true, ElementCoord<typename Spec::Coord>> element;
};

/// Gives work(chunk, step, u) each step's vectors from number u on.  ByThread: as many as exists(step, u)
/// says; a thread that has all of them takes them together and has nothing to check, another one takes
/// them one by one.
template <class Spec, class At, bool ByThread, int Unroll, class Index, class Exists, class Work>
__device__ __forceinline__ void walkRow(Index first, Index last, bool isForward,
                                        const Exists &exists, const Work &work) {
  constexpr int U = Spec::kVectorsPerThread;
#pragma unroll Unroll
  for (Index i = first; i < last; ++i) {
    const Index step = isForward ? i : first + last - 1 - i;
    if (!ByThread || exists(step, U - 1)) {
      RowChunk<Spec, U, ByThread, At> chunk;
      work(chunk, step, 0);
    } else if constexpr (U > 1) {
#pragma unroll 1
      for (int u = 0; exists(step, u); ++u) {
        RowChunk<Spec, 1, true, At> chunk;
        work(chunk, step, u);
      }
    }
  }
}

/// Brings a vector of the first collective's elements to those of the last of these stages.
template <class Spec, class... Stages, class Chunk, class Results, class Pointers>
__device__ __forceinline__ void advance(List<Stages...>, Chunk &chunk, const Results &results,
                                        const Pointers &pointers,
                                        const typename Spec::Sizes &sizes) {
  (
      [&] {
        chunk.template between<Stages>(results, pointers, sizes, false);
        applyEach<StageStats<Spec, Stages>>(
            chunk.values, static_cast<const ResultOf<Spec, Stages> &>(results).result);
      }(),
      ...);
}

/// `scratch`: for a crowd, memory of the launch alone.
template <class Spec, class Pointers>
__device__ __forceinline__ void rowLooped(const Pointers &pointers, [[maybe_unused]] void *scratch,
                                          const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using First = FirstStats<Spec>;
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
  constexpr auto kFixedSteps = (wholeVectors<Spec>(Reduced::kCount) + kStep - 1) / kStep;
  const Index steps =
      Reduced::kFixed ? static_cast<Index>(kFixedSteps) : ceilDiv<Index>(vectors, kStep);
  RowBlocks<Spec> blocks(scratch);
  const int rank = blocks.rank, thread = Team::placeOf(threadIndex());
  int part = rank; // a block of a crowd may work on another one's
  auto isOwn = [&] { return !IsCrowd<Spec> || part == rank; };
  typename Spec::Coord row{};
  kept.split(static_cast<Index>(blockIndex()) / kBlocks * kRows + Team::rowOf(threadIndex()), row);
  const int phase = phaseOf<Spec>(pointers, row, sizes);
  const RowRange<Index> range = rangeOf<Spec>(pointers, row, vectors * unitOf<Spec>(), phase, sizes);
  // Where rows begin anywhere, vectors are counted from the one that the row begins in, which is left
  // out if it begins before the row.
  const Index whole = IsAligned<Spec> ? (vectors + phase - 1) / V : vectors, skipped = phase > 0;
  auto firstOf = [&](Index step, int u) { return skipped + step * kStep + part * (T * U) + u * T; };
  auto exists = [&](Index step, int u) { return firstOf(step, u) + thread < whole; };
  auto place = [&](auto &chunk, Index step, int u) {
    chunk.template place<kFull>(row, reduced, range, firstOf(step, u), thread, phase);
  };
  constexpr bool kByThread = !kExact && groupOf<Spec>() == 0;
  const auto total = static_cast<Compute>(vectors) * Compute(unitOf<Spec>());
  constexpr bool kStaged = IsStaged<Spec>;
  constexpr int kAll = kStaged ? static_cast<int>(kFixedSteps) : 0;
  constexpr int kSteps = shelvedSteps<Spec>(kAll);
  using Shelf = swage::Shelf<typename Spec::PrologueLoads, V, Spec::kThreads>;
  using Bundles = swage::Bundles<kSteps>;
  // Without the loops, what depends on the step is a constant.
  constexpr int kUnroll = !kByThread && kSteps == kAll && kAll > 0 && kAll <= 4 ? kAll : 1;
  constexpr int kShelf = kSteps * U * Shelf::kBytes;
  static_assert(!kStaged || (Reduced::kFixed && Shelf::kBytes > 0));
  char *const storage = arenaOf<arenaBytes<Spec, kShelf + exchangeBytes<Spec>()>()>();
  char *const exchange = storage + kShelf;
  openRowExchanges<Spec>(exchange);
  const Shelf shelf{storage};
  // What a mask leaves of the row, from the beginning of a bundle on.
  const Index begin = IsBounded<Spec> && range.first > skipped
                          ? (range.first - skipped) / (kStep * Bundles::kSteps) * Bundles::kSteps
                          : 0;
  const Index end = IsBounded<Spec> ? ceilDiv<Index>(range.last, kStep) : steps;
  // Operands of which nothing is known wait there only where they turn out to be in step.
  bool fitsShelf = true;
  if constexpr (kStaged && IsAligned<Spec>)
    fitsShelf = RowChunk<Spec>::Prologue::template areInStep<Access::StagedInStep>(
        pointers, wholeVector<Spec, RowCoord<Spec>>(row, phase, 0, 0), sizes);
#pragma unroll kUnroll
  for (int step = 0; step < kSteps; ++step) {
    RowChunk<Spec, U, kByThread> chunk;
    place(chunk, step, 0);
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (fitsShelf && chunk.isRead[u] && (!kByThread || exists(step, u)))
        shelf.template start<RowChunk<Spec>::kLast>(step * U + u, pointers, chunk.coord[u], sizes);
    Bundles::commit(step);
  }
  // Few threads have the elements that no whole vector has: in the block with the fewest vectors.
  auto endOf = [&](int block) {
    RowEnd<Spec> end(row, phase, vectors, block == kBlocks - 1, thread);
    end.with([&](auto &element) { element.load(pointers, sizes, block == rank); });
    return end;
  };
  auto rowEnd = endOf(rank);
  /// Gives `work` what there is of that in the part, made ready as the block's own one is.
  auto withEnd = [&](const auto &ready, const auto &work) {
    if (isOwn()) {
      rowEnd.with(work);
    } else {
      auto end = endOf(part);
      end.with(ready);
      end.with(work);
    }
  };

  auto load = [&](auto &chunk, Index step, int u, bool isFirst) {
    place(chunk, step, u);
    if constexpr (kStaged) {
      const bool isShelved = fitsShelf && isOwn() && (kSteps == kAll || step < kSteps);
      if (isFirst && isShelved)
        Bundles::wait(step);
      chunk.fetchBy([&](auto &in, int v) {
        if (isShelved)
          shelf.take(in, step * U + u + v, pointers, chunk.coord[v], sizes);
        else
          shelf.pass(in, pointers, chunk.coord[v], sizes);
      });
      chunk.prologue(pointers, sizes, isFirst && isOwn());
    } else {
      chunk.load(pointers, sizes, isFirst && isOwn());
    }
  };

  auto stateOf = [&](int of, Compute &count, char *at) {
    part = of;
    Running<First, Compute, kExact> parts;
    auto add = [&](auto &chunk, Index step, int u) {
      load(chunk, step, u, true);
      parts.add(chunk.values, chunk.counted(), chunk.count);
    };
    walkRow<Spec, RowCoord<Spec>, kByThread, kUnroll>(begin, end, true, exists, add);
    withEnd([](auto &) {},
            [&](auto &element) { parts.add(element.values, element.valid, element.count); });
    typename First::State state = parts.state();
    count = parts.count;
    // Said once more, as a constant: equal counts merge in few instructions.
    if constexpr (kExact && !IsBounded<Spec>)
      count = Compute(Reduced::kCount / (kBlocks * T) * V);
    state = mergeLanes<First, typename Team::Lanes, kExact>(state, count);
    return mergeWarps<First, Team, kExact, true>(state, count, at);
  };
  Compute count;
  const auto state = blocks.template meet<Spec>(count, exchange, stateOf);
  part = rank;
  const auto first = First::result(state, total, Compute(Spec::epsilon()));
  auto reload = [&](auto &chunk, Index step, int u) {
    load(chunk, step, u, false);
    applyEach<First>(chunk.values, first);
  };
  auto applyFirst = [&](auto &element) { applyEach<First>(element.values, first); };
  rowEnd.with(applyFirst);

  // Each pass begins where the last one ended: if the row is read again, that end is still in cache.
  auto collectLater = [&]<class Stage, class... Seen>(const auto &results, List<Stage>,
                                                      List<Seen...> seen) {
    using S = StageStats<Spec, Stage>;
    constexpr bool kForward = sizeof...(Seen) % 2 == 1;
    auto stateOfLater = [&](int of, Compute &laterCount, char *at) {
      part = of;
      Running<S, Compute, kExact> parts;
      auto add = [&](auto &chunk) {
        chunk.template between<Stage>(results, pointers, sizes, isOwn());
        parts.add(chunk.values, chunk.valid, chunk.count);
      };
      auto reloadAndAdd = [&](auto &chunk, Index step, int u) {
        reload(chunk, step, u);
        advance<Spec>(seen, chunk, results, pointers, sizes);
        add(chunk);
      };
      walkRow<Spec, RowCoord<Spec>, kByThread, 1>(Index(0), steps, kForward, exists, reloadAndAdd);
      auto ready = [&](auto &element) {
        applyFirst(element);
        advance<Spec>(seen, element, results, pointers, sizes);
      };
      withEnd(ready, add);
      laterCount = parts.count;
      auto later = mergeLanes<S, typename Team::Lanes, kExact>(parts.state(), laterCount);
      return mergeWarps<S, Team, kExact, false>(later, laterCount, at);
    };
    Compute laterCount;
    const auto later =
        blocks.template meet<Stage>(laterCount, exchange + exchangeOf<Spec, Stage>(), stateOfLater);
    part = rank;
    const ResultOf<Spec, Stage> result{S::result(later, total, Compute(epsilonOf<Stage>()))};
    rowEnd.with([&](auto &element) { applyEach<S>(element.values, result.result); });
    return results.joined(result);
  };
  const auto results = eachStage(collectLater, Statistics<ResultOf<Spec, Spec>>{{first}}, List<>{},
                                 LaterOfRow<Spec>{});
  constexpr bool kForward = LaterOfRow<Spec>::count() % 2 == 1;

  blocks.draw();

  if constexpr (!Spec::FinishStores::empty())
    if (thread == 0 && rank == 0)
      finishRow<Spec>(results, pointers, row, sizes);

  if constexpr (!Spec::EpilogueStores::empty() || groupOf<Spec>() != 0) {
    auto finish = [&](auto &chunk, Index step, int u) {
      reload(chunk, step, u);
      advance<Spec>(LaterOfRow<Spec>{}, chunk, results, pointers, sizes);
      if constexpr (groupOf<Spec>() != 0) {
        ResultOf<Spec, LastStage<Spec>> groups[U];
        chunk.template between<LastStage<Spec>>(results, pointers, sizes, true);
        chunk.collectGroups(groups, pointers, sizes, true);
        if constexpr (!Spec::EpilogueStores::empty())
          chunk.template epilogue<kStaged>([&](int v) { return results.joined(groups[v]); },
                                           pointers, sizes, true);
      } else {
        chunk.template epilogue<kStaged>([&](int) { return results; }, pointers, sizes, true);
      }
    };
    byPlace<Spec, typename Spec::EpilogueLoads, typename Spec::PrologueLoads>(
        pointers, row, phase, sizes, [&](auto at) {
          walkRow<Spec, decltype(at), kByThread, 1>(Index(0), steps, kForward, exists, finish);
        });
    rowEnd.with([&](auto &element) {
      element.epilogue([&](int) { return results; }, pointers, sizes, true);
    });
  }
  blocks.leave();
}

} // namespace swage::detail
