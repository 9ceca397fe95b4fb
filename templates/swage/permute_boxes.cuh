// Permutations of any rank, order and extents: boxes of several dimensions through shared memory.
//
// What it computes.  Spec::body once per point, where inputs (Access::Boxed) are contiguous along
// other dimensions than the outputs, or the dimensions that are innermost are too short or too odd
// for vectors.  Inputs that lie as the outputs do (Access::Vector) are read where they are needed;
// all others, also what is the same along some dimensions, go through shared memory.
//
// Why it is fast.  A block's box has an extent along every dimension, most of them 1.  It is read
// in each input's order and written in the outputs', 16 bytes at a time on both sides:
// - A read run is what the box has in one piece in an input.  Aligned 16-byte chunks that cover it
//   go to shared memory; what they hold of others comes along.
// - A window is an aligned vector of each output, 16 bytes of the widest.  One thread gathers its
//   elements from shared memory.  Windows begin where memory is aligned and not where the box does:
//   the last ones reach over its end, and for them the block has read more than its box
//   (Spec::Reach).  Only where a run of the output begins or ends are there fewer elements, which
//   are stored in pieces.
// - Runs of 1- and 2-byte elements that neighbour each other in an input share words in shared
//   memory: a thread makes windows of two to four of them at once.
// In shared memory the step between neighbours along a dimension is that of Steps, the same modulo
// 16 as in the input, so that a chunk is aligned in both, and the place of an element is a sum over
// its coordinates.  Along one dimension the elements of a window are immediate offsets; where it
// crosses dimensions they are two such pieces, or come from a table, up to where the inner ones
// repeat.
//
// When chosen.  Where tiles (permute.cuh) have no wide vectors or short runs
// (docs/notes/permute.md).
//
// Contract: see BoxSpec.  Steps leave room between the covers of read runs, and loads stay within
// mapped memory as those of row_aligned.cuh do.
#pragma once

#include "swage/box_turn.cuh"

namespace swage {

/// extents(sizes): the iteration space; boxes(sizes): the same counted in boxes, the grid, but with
/// kFastest, the dimension that blocks count first, as the last one.
/// Box: the extents of what a block writes, Reach: of what it reads, the same but along one
/// dimension.  kWriteRun: how many dimensions are one run of the outputs, all but the outermost of
/// them whole.  kWriteAligned: all runs begin at multiples of 16 bytes.  kLanes: neighbouring
/// windows that go to the lanes of a warp; the others take neighbouring runs, as Principal has
/// them.  kTurned: how many runs are one thread's: those of which elements that neighbour each
/// other in Principal are a word, or 1; kSplit: such words begin anywhere, and of the last group
/// some runs may not exist; kApart: the outputs' stride between them, modulo 16.  kTabled: places
/// of elements come from a table (PlaceTable).  All outputs have the same strides, and where there
/// are several, or inputs that lie as they do, all of them begin at multiples of 16 bytes.
///
/// A boxed input has Steps: bytes in shared memory, 0 where it is the same all along a dimension;
/// ReadOrder: dimensions by its strides, smallest first; kReadRun and kReadAligned, as for writing;
/// kSkewed: 4 bytes (or an element) are left free in shared memory behind every 128, against bank
/// conflicts.
template <class Spec>
concept BoxSpec = requires(const typename Spec::Sizes &sizes) {
  typename Spec::Index;
  typename Spec::Coord;
  typename Spec::Loads;
  typename Spec::Stores;
  typename Spec::Box;
  typename Spec::Reach;
  typename Spec::Principal::Steps;
  typename Spec::Principal::ReadOrder;
  Spec::kThreads + Spec::kFastest + Spec::kWriteRun + Spec::kLanes + Spec::kTurned + Spec::kApart +
      Spec::kSplit + Spec::kTabled + Spec::Principal::kReadRun;
  Spec::kWriteAligned || Spec::Principal::kReadAligned || Spec::Principal::kSkewed;
  Spec::extents(sizes);
  Spec::boxes(sizes);
};

namespace detail {

/// Elements of a run in front of its first window.
template <class Spec, class Pointers>
__device__ __forceinline__ int headOf(const Pointers &pointers, const WriteRun<Spec> &run,
                                      const typename Spec::Sizes &sizes) {
  using B = Boxes<Spec>;
  using Out = typename B::Out;
  if constexpr (Spec::kWriteAligned)
    return 0;
  else
    return (B::V - skewOf<B::V>(static_cast<const Slot<Out> &>(pointers).pointer +
                                Out::offset(run.at, sizes))) %
           B::V;
}

/// What a run has in front of its first window, in the box in which it begins, and its last window
/// where that is not whole, in the box in which that begins.  Both are made from a vector's worth
/// of the run's elements, and stored in pieces.
template <class Spec, class Pointers, class... L>
__device__ __forceinline__ void
writeEnds(const Pointers &pointers, const BoxInputs<Spec, List<L...>> &inputs,
          const BoxOfBlock<Spec> &box, bool begins, bool ends, const typename Spec::Sizes &sizes) {
  using B = Boxes<Spec>;
  const int own = box.writeRun(box.own), all = box.writeRun(box.read);
#pragma unroll 1
  for (int task = threadIndex() + (begins ? 0 : B::writeRuns());
       task < (ends ? 2 : 1) * B::writeRuns(); task += Spec::kThreads) {
    const bool isHead = task < B::writeRuns();
    const WriteRun<Spec> run(box, task - (isHead ? 0 : B::writeRuns()));
    if (!run.exists)
      continue;
    const int head = headOf(pointers, run, sizes);
    BoxWindow<Spec, typename Spec::Stores> window;
    if (!B::hasShortRuns() || all >= B::V) {
      const int count = isHead ? head : (all - head) % B::V;
      if (count == 0 || (!isHead && all - count >= own))
        continue;
      window.make(WindowInput<Spec, L, L::access() != Access::Boxed>(
          inputs, run, isHead ? 0 : all - B::V, all, sizes)...);
      window.storeEnd(pointers, run, isHead, all, count, sizes);
    } else if (isHead || own > head) {
      const int first = isHead ? head - B::V : head;
      const int end = isHead && head < all ? head : all;
      window.make(WindowInput<Spec, L, true>(inputs, run, first, all, sizes)...);
      window.storeSome(pointers, run, first, sizes, -first, end - first);
    }
  }
}

/// The windows that begin in the box: in a turn a warp has kLanes windows beside each other of each
/// of 32 / kLanes neighbouring runs, or groups of those.
template <class Spec, class Pointers, class... L>
__device__ __forceinline__ void
writeWindows(const Pointers &pointers, const BoxInputs<Spec, List<L...>> &inputs,
             const BoxOfBlock<Spec> &box, const typename Spec::Sizes &sizes) {
  using B = Boxes<Spec>;
  using Group = RunGroup<Spec>;
  constexpr int kTurned = Spec::kTurned;
  constexpr int kLanes = Spec::kLanes, kRunLanes = kWarpSize / kLanes;
  constexpr int kWindows = B::windows() + Group::more();
  constexpr int kAcross = (kWindows + kLanes - 1) / kLanes;
  constexpr int kTurns = (Group::count() + kRunLanes - 1) / kRunLanes * kAcross;
  // Windows begin in the box, and end in what has been read.
  const int own = box.writeRun(box.own), all = box.writeRun(box.read);
  const int last = all - B::V < own ? all - B::V + 1 : own;
  const auto limit = static_cast<unsigned>(last < 0 ? 0 : last);
  const unsigned lane = threadIndex() % kWarpSize;
#pragma unroll 1
  for (unsigned turn = threadIndex() / kWarpSize; turn < kTurns;
       turn += Spec::kThreads / kWarpSize) {
    const WriteRun<Spec> run(box, turn / kAcross * kRunLanes + lane / kLanes, kTurned);
    const int window = static_cast<int>(turn % kAcross * kLanes + lane % kLanes) - Group::before();
    const int first = window * B::V + headOf(pointers, run, sizes);
    bool exists[kTurned], any = false;
#pragma unroll
    for (int i = 0; i < kTurned; ++i) {
      exists[i] = run.next(box, i).exists && static_cast<unsigned>(first + Group::shift(i)) < limit;
      any = any || exists[i];
    }
    if (!any)
      continue;
    const GroupWindows<Spec> windows(inputs, run, first, exists);
#pragma unroll
    for (int i = 0; i < kTurned; ++i)
      if (exists[i]) {
        const WriteRun<Spec> next = run.next(box, i);
        const int begin = first + Group::shift(i);
        BoxWindow<Spec, typename Spec::Stores> results;
        results.make(windows.window(List<L>{}, i, inputs, next, begin, all, sizes)...);
        results.store(pointers, next, begin, sizes);
      }
  }
}

} // namespace detail

template <BoxSpec Spec, class Pointers>
__device__ __forceinline__ void permuteBoxes(const Pointers &pointers,
                                             const typename Spec::Sizes &sizes) {
  using B = detail::Boxes<Spec>;
  const detail::BoxOfBlock<Spec> box(sizes);
  detail::BoxInputs<Spec, typename Spec::Loads> inputs;
  inputs.read(pointers, box, sizes);
  barrier();
  if constexpr (!B::isWhole()) {
    constexpr int dim = B::kOuter;
    const auto extent = Spec::extents(sizes).template extent<typename Spec::Index, dim>();
    const bool begins = box.origin[dim] == 0, ends = box.origin[dim] + box.read[dim] == extent;
    if (begins || ends)
      detail::writeEnds<Spec>(pointers, inputs, box, begins, ends, sizes);
  }
  detail::writeWindows<Spec>(pointers, inputs, box, sizes);
}

} // namespace swage
