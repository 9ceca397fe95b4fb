// Row kernels: a collective (norm, softmax, sum, max, ...) over the innermost dimensions, with
// elementwise work fused in front of it, behind it, and once per row; and, on demand, further
// collectives over the same row, the last one perhaps over groups of it.
//
// What it computes.  For every kept position: value = prologue(inputs) for each element of the row,
// the collective over the values; for each further one value = between(value), and that over those
// values; then epilogue per element and finish per row.
//
// Why it is fast.  The row is read once and stays on chip: a thread issues all its 16-byte loads
// before it uses the first, statistics are local to the thread and merged by shuffles, at most one
// barrier and at most one cluster barrier for each collective, softmax takes one exponential per
// element.
// - Group: kThreadsPerRow = 1, 2, ..., 32 lanes per row, many rows per block, no barrier.  Rows of
//   up to about 4 KB.
// - Block: kBlocksPerRow blocks (a cluster, if there is more than one) of kThreadsPerRow threads on
//   one row.  Up to about 1 MB a row.
// - Looped: the same for rows of any length: one pass for statistics, kept per thread, and one that
//   reads again, backwards, so that the end of the row is still in cache; for each further
//   collective one pass more.  More than 16 blocks, which no cluster holds, meet in global memory
//   (crowd.cuh). kStaged: the block's part of the row is read once and waits in shared memory
//   (shelf.cuh). Rows whose innermost runs are short lie kThreads / kThreadsPerRow beside each
//   other in a block, which then reads whole cache lines (team.cuh, woven_team.cuh).
// - Column: the collective is not over the innermost dimension: kBlocksPerRow blocks, a cluster or
//   more than that holds, share neighbouring rows; see columns.cuh.
// A row shorter than the threads' vectors is handled by clamped loads and masks; where the number
// of vectors is fixed and fits exactly there are no checks.  kStaged Groups and Blocks: rows that
// start at no multiple of 16 bytes go through shared memory by aligned accesses (slab.cuh).
//
// When chosen.  Every collective over the innermost dimensions; norms and softmax over any, and so
// other collectives whose results come back to the elements.
//
// Contract: CollectiveSpec (phases.cuh) plus the constants below; reduced(sizes) counts its last
// extent in vectors of kVector (Column: kept(sizes) does).  Optional: kBlocksPerRow (1), kStaged,
// kShelvedSteps, kSharedBytes, what the launch asks for where that is more than a kernel may
// declare, Later, a list of structs that are further collectives (phases.cuh), kGroup, the elements
// of the groups that the last of them goes over; kZeroRows and kRounded (softmax.cuh); BoundsLoads
// and bounds, what a mask leaves of a row (row_bounds.cuh), which is all that is read. Grid: Group
// ceil(rows / (kThreads / kThreadsPerRow)), Block and Looped kBlocksPerRow blocks per row, Column
// kBlocksPerRow per kThreads / kThreadsPerRow vectors of rows.  An output may lie where an input
// does, element on element, if no later phase reads that; Looped and Column evaluate the prologue
// twice: only outputs of their epilogue may.
#pragma once

#include "swage/columns.cuh"
#include "swage/row_looped.cuh"
#include "swage/row_registers.cuh"

namespace swage {

template <class Spec>
concept RowSpec = CollectiveSpec<Spec> && requires {
  Spec::rowClass() == RowClass::Group;
  Spec::kThreadsPerRow + Spec::kVectorsPerThread;
};

/// `scratch`: global memory for this launch alone, that holds anything; only for a crowd.
template <RowSpec Spec, class Pointers>
__device__ __forceinline__ void row(const Pointers &pointers, void *scratch,
                                    const typename Spec::Sizes &sizes) {
  static_assert(!detail::IsCrowd<Spec> || Spec::rowClass() == RowClass::Looped ||
                Spec::rowClass() == RowClass::Column);
  if constexpr (Spec::rowClass() == RowClass::Looped)
    detail::rowLooped<Spec>(pointers, scratch, sizes);
  else if constexpr (Spec::rowClass() == RowClass::Column)
    detail::columns<Spec, Spec::kThreadsPerRow, Spec::kVectorsPerThread>(pointers, scratch, sizes);
  else
    detail::rowInRegisters<Spec>(pointers, sizes);
}
template <RowSpec Spec, class Pointers>
__device__ __forceinline__ void row(const Pointers &pointers, const typename Spec::Sizes &sizes) {
  row<Spec>(pointers, nullptr, sizes);
}

} // namespace swage
