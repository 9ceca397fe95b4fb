// Classes Group and Block of row.cuh: the row stays in registers.
#pragma once

#include "swage/row_parts.cuh"
#include "swage/slab.cuh"

namespace swage::detail {

template <class Spec, class Pointers>
__device__ __forceinline__ void rowInRegisters(const Pointers &given,
                                               const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using First = FirstStats<Spec>;
  using Team = RowTeam<Spec>;
  constexpr bool kGroup = Spec::rowClass() == RowClass::Group, kStaged = IsStaged<Spec>;
  constexpr int T = Spec::kThreadsPerRow, U = Spec::kVectorsPerThread, V = Spec::kVector;
  constexpr int kRowsPerBlock = Spec::kThreads / T, kBlocks = blocksPerRow<Spec>();
  static_assert(kGroup ? T <= kWarpSize && powerOfTwoAbove(T) == T && Spec::kThreads % T == 0 &&
                             kBlocks == 1
                       : T == Spec::kThreads && T % kWarpSize == 0);

  const auto kept = Spec::kept(sizes);
  const auto reduced = Spec::reduced(sizes);
  using Kept = decltype(Spec::kept(sizes));
  using Reduced = decltype(Spec::reduced(sizes));
  constexpr bool kAllRows = !kGroup || (Kept::kFixed && Kept::kCount % kRowsPerBlock == 0);
  constexpr bool kAligned = IsAligned<Spec>;
  // An instruction less for each element; but what the prologue stores is at hand as it was stored,
  // in fewer registers.
  constexpr bool kDistances = kAligned || Spec::PrologueStores::empty();
  constexpr bool kExact = !kAligned && Reduced::kFixed && Reduced::kCount == kBlocks * T * U;
  constexpr long long kFull = kExact ? T * U : kBlocks == 1 && Reduced::kFixed ? Reduced::kCount : 0;
  static_assert(!Reduced::kFixed || mostVectors<Spec>(Reduced::kCount) <= kBlocks * T * U,
                "the row does not fit");

  const Index rows = kept.template count<Index>(), vectors = reduced.template count<Index>();
  const Index firstRow = static_cast<Index>(blockIndex()) / kBlocks * kRowsPerBlock;
  const Index wanted = firstRow + static_cast<Index>(threadIndex() / T);
  const bool exists = kAllRows || wanted < rows;
  const int thread = threadIndex() % T;
  const Index firstVector = static_cast<Index>(rankInCluster<kBlocks>()) * (T * U);
  if constexpr (!Reduced::kFixed)
    if (vectors == 0) {
      if (thread == 0 && exists && firstVector == 0)
        emptyRow<Spec>(given, kept, wanted, sizes);
      return;
    }
  typename Spec::Coord row{};
  kept.split(exists ? wanted : rows - 1, row);

  // The block's elements, if they pass through shared memory: whole rows, or a part of one.
  constexpr int kPart = Reduced::kFixed && kBlocks == 1 ? int(Reduced::kCount) : T * U;
  using Slabs = swage::Slabs<Spec::kThreads, kRowsPerBlock * kPart * V>;
  constexpr int kExchange = exchangeBytes<Spec>();
  constexpr int kBytes = (kStaged ? Slabs::template bytesOf<Pointers>() : 0) + kExchange;
  char *const storage = arenaOf<arenaBytes<Spec, kBytes>()>();
  char *const exchange = storage + (kBytes - kExchange);
  openRowExchanges<Spec>(exchange);
  Pointers pointers = given;
  [[maybe_unused]] typename Spec::Coord slab{};
  [[maybe_unused]] int slabElements = 0;
  [[maybe_unused]] const bool hasPart = kBlocks == 1 || firstVector < vectors;
  if constexpr (kStaged) {
    // A block behind the row's end holds the last vector: its threads read that (RowChunk::place).
    const Index slabVector = hasPart ? firstVector : vectors - 1;
    kept.split(firstRow, slab);
    slab = vectorOfRow<Spec>(slab, reduced, slabVector);
    const Index rowsHere = rows - firstRow < kRowsPerBlock ? rows - firstRow : kRowsPerBlock;
    const Index left = vectors - slabVector;
    const Index vectorsHere = kBlocks == 1 ? vectors : left < T * U ? left : T * U;
    slabElements = static_cast<int>(rowsHere * vectorsHere) * V;
    Slabs::load(pointers, given, storage, slab, slabElements, sizes);
    copyAsyncWait<0>();
    barrier();
  }

  RowChunk<Spec> chunk;
  const int phase = phaseOf<Spec>(given, row, sizes);
  chunk.template place<kFull>(row, reduced,
                              rangeOf<Spec>(given, row, vectors * unitOf<Spec>(), phase, sizes),
                              firstVector, thread, phase);
  chunk.load(pointers, sizes, exists);

  const auto total = static_cast<Compute>(vectors) * Compute(unitOf<Spec>());
  Compute origin = 0;
  const auto first = collect<First, Team, kExact, true, kAligned, kDistances>(
      chunk.values, chunk.counted(), chunk.count, total, Compute(Spec::epsilon()), origin,
      exchange);
  applyCollected<First, kDistances>(chunk.values, first, origin);
  auto collectLater = [&]<class Stage>(const auto &before, List<Stage>, auto) {
    using S = StageStats<Spec, Stage>;
    chunk.template between<Stage>(before, pointers, sizes, exists);
    const auto result = collect<S, Team, kExact, false, kAligned, kDistances>(
        chunk.values, chunk.valid, chunk.count, total, Compute(epsilonOf<Stage>()), origin,
        exchange + exchangeOf<Spec, Stage>());
    applyCollected<S, kDistances>(chunk.values, result, origin);
    return before.joined(ResultOf<Spec, Stage>{result});
  };
  const auto results = eachStage(collectLater, Statistics<ResultOf<Spec, Spec>>{{first}}, List<>{},
                                 LaterOfRow<Spec>{});
  constexpr bool kGrouped = groupOf<Spec>() != 0;
  [[maybe_unused]] ResultOf<Spec, LastStage<Spec>> ofGroups[kGrouped ? U : 1];
  if constexpr (kGrouped) {
    chunk.template between<LastStage<Spec>>(results, pointers, sizes, exists);
    chunk.collectGroups(ofGroups, pointers, sizes, exists);
  }

  if constexpr (!Spec::FinishStores::empty())
    if (thread == 0 && exists && firstVector == 0)
      finishRow<Spec>(results, pointers, row, sizes);
  if constexpr (!Spec::EpilogueStores::empty()) {
    using Place = RowCoord<Spec>;
    auto resultsOf = [&](int u) {
      if constexpr (kGrouped)
        return results.joined(ofGroups[u]);
      else
        return results;
    };
    auto finish = [&](auto place) {
      chunk.template epilogue<false, decltype(place)>(resultsOf, pointers, sizes, exists);
    };
    using Late = typename RowChunk<Spec>::Late;
    // Of the rows of a warp some are in step and others are not.
    if constexpr (kGroup || !Late::kIsAnywhere)
      finish(Place{});
    else if (Late::template areInStep<Access::Anywhere>(pointers, chunk.coord[0], sizes))
      finish(PlacedCoord<Place, kInStep>{});
    else
      finish(Place{});
  }
  if constexpr (kStaged) {
    barrier();
    if (hasPart)
      Slabs::store(given, pointers, slab, slabElements, sizes);
  }
}

} // namespace swage::detail
