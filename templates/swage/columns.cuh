// The engine of reduce.cuh and of row.cuh's class Column: a collective over dimensions outside the
// innermost kept one.
//
// A block is Groups thread rows of kThreads / Groups lanes.  A lane owns kVector neighbouring kept
// positions, so each row that is read is a run of accesses side by side; thread row g takes every
// Groups-th reduced coordinate, Unroll of them in flight at a time; of kBlocksPerRow blocks, a
// cluster or a crowd, each has its Groups of them all.  Partial results live in registers, per
// position, and meet once in shared memory, those of blocks in each other's, or of more than a
// cluster holds in global memory, in a fixed order (the result does not depend on timing).  Columns
// of at most Groups * Unroll coordinates a block stay in registers for the epilogue, kStaged ones
// in shared memory; others are then read again, backwards.
#pragma once

#include "swage/column_crowd.cuh"
#include "swage/column_parts.cuh"
#include "swage/shelf.cuh"

namespace swage::detail {

/// `scratch`: for a crowd, memory of the launch alone.
template <class Spec, int Groups, int Unroll, class Pointers>
__device__ __forceinline__ void columns(const Pointers &pointers, void *scratch,
                                        const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using S = FirstStats<Spec>;
  constexpr int kBlocks = blocksPerRow<Spec>(), kPerStep = kBlocks * Groups * Unroll;
  using Chunk = ColumnChunk<Spec, kBlocks * Groups, Unroll>;
  using Kept = typename Chunk::Kept;
  using Reduced = typename Chunk::Reduced;
  constexpr int V = Spec::kVector, kLanes = Spec::kThreads / Groups, kLast = Chunk::kLast;
  static_assert(Spec::kThreads % Groups == 0);
  constexpr bool kAllLanes = Kept::kFixed && Kept::kCount % kLanes == 0;
  constexpr bool kStaged = IsStaged<Spec>, kStays = !kStaged && !IsCrowd<Spec> && Reduced::kFixed &&
                                                    Reduced::kCount > 0 &&
                                                    Reduced::kCount <= kPerStep;
  static_assert(!kStaged || (Reduced::kFixed && !IsCrowd<Spec>));

  const auto kept = Spec::kept(sizes);
  const auto reduced = Spec::reduced(sizes);
  const int lane = threadIndex() % kLanes, row = threadIndex() / kLanes;
  const Index positions = kept.template count<Index>(), length = reduced.template count<Index>();
  const Index steps =
      Reduced::kFixed
          ? static_cast<Index>((Reduced::kCount + kPerStep - 1) / kPerStep)
          : ceilDiv<Index>(length, kPerStep);
  const Index wanted = static_cast<Index>(blockIndex()) / kBlocks * kLanes + lane;
  const bool exists = kAllLanes || wanted < positions;
  typename Spec::Coord column{};
  kept.split(exists ? wanted : positions - 1, column);
  column[kLast] *= V;

  using State = typename S::State;
  using Shelf = swage::Shelf<typename Spec::PrologueLoads, V, Spec::kThreads>;
  constexpr int kShelf =
      kStaged ? static_cast<int>((Reduced::kCount + kPerStep - 1) / kPerStep) * Unroll * Shelf::kBytes
              : 0;
  using Blocks = ColumnBlocks<Spec, Groups, kLanes>;
  char *const storage = arenaOf<arenaBytes<Spec, kShelf + int(Blocks::kBytes)>()>();
  const Shelf shelf{storage};
  Blocks blocks(storage + kShelf, scratch);
  Chunk chunk;
  auto place = [&](Index step, int part) {
    chunk.place(column, reduced, step, part * Groups + row);
  };
  // A block of a crowd may work on another one's part, of which it stores nothing.
  auto load = [&](Index step, int part, auto &more, bool store) {
    place(step, part);
    chunk.load(
        [&](auto &in, int u) {
          if constexpr (kStaged)
            shelf.take(in, static_cast<int>(step) * Unroll + u, pointers, chunk.coord[u], sizes);
          else
            in.load(pointers, chunk.coord[u], sizes);
        },
        more, pointers, sizes, store && (!IsCrowd<Spec> || part == blocks.rank));
  };
  if constexpr (kStaged) {
    for (Index step = 0; step < steps; ++step) {
      place(step, blocks.rank);
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
        shelf.template start<kLast>(static_cast<int>(step) * Unroll + u, pointers, chunk.coord[u],
                                    sizes);
    }
    copyAsyncCommit();
    copyAsyncWait<0>();
  }

  using More = Inputs<typename Spec::EpilogueLoads, V, kLast>;
  [[maybe_unused]] More more[Unroll];
  Compute origins[V] = {};
  State states[V];
  auto statesOf = [&](int part) {
    if constexpr (kStays) {
      load(0, part, more, exists);
#pragma unroll
      for (int i = 0; i < V; ++i)
        states[i] = stateOf<S>(chunk.values[i], chunk.valid, chunk.count, origins[i]);
    } else {
#pragma unroll
      for (int i = 0; i < V; ++i)
        states[i] = S::identity();
      Compute count = 0;
      for (Index step = 0; step < steps; ++step) {
        Inputs<List<>, V, kLast> nothing[Unroll];
        load(step, part, nothing, exists);
#pragma unroll
        for (int i = 0; i < V; ++i)
          states[i] = S::merge(states[i], count, S::of(chunk.values[i], chunk.valid, chunk.count),
                               chunk.count);
        count += chunk.count;
      }
    }
  };
  blocks.template meet<Chunk::kExact, Compute>(states, length, statesOf);
  const bool isFirst = blocks.rank == 0 && row == 0;
  if (!IsCrowd<Spec> && kBlocks * Groups > 1 && Spec::EpilogueStores::empty() && !isFirst)
    return;
  const auto total = static_cast<Compute>(length);
  typename S::Result results[V];
#pragma unroll
  for (int i = 0; i < V; ++i)
    results[i] = S::result(states[i], total, Compute(Spec::epsilon()));

  if constexpr (!Spec::FinishStores::empty())
    if (isFirst && exists)
      runFinish<Spec, V, kLast>(typename Spec::FinishLoads{}, typename Spec::FinishStores{},
                                ColumnStatistics<S, V>{results}, pointers, column, sizes);

  if constexpr (Spec::EpilogueStores::empty()) {
  } else if constexpr (kStays) {
#pragma unroll
    for (int i = 0; i < V; ++i)
      applyCollected<S>(chunk.values[i], results[i], origins[i]);
    chunk.epilogue(results, more, pointers, sizes, exists);
  } else {
    for (Index step = steps - 1; step >= 0; --step) {
      load(step, blocks.rank, more, false);
#pragma unroll
      for (int i = 0; i < V; ++i)
        applyEach<S>(chunk.values[i], results[i]);
      chunk.epilogue(results, more, pointers, sizes, exists);
    }
  }
  blocks.leave();
}

} // namespace swage::detail
