// Permutations of any rank, order and extents: boxes of several dimensions through shared memory.
//
// What it computes.  Spec::body once per point, where the one input (Access::Boxed) and the one
// output are contiguous along different dimensions, or the dimensions that are innermost are too
// short or too odd for vectors.
//
// Why it is fast.  A block's box has an extent along every dimension, most of them 1.  It is read
// in the input's order and written in the output's, 16 bytes at a time on both sides:
// - A read run is what the box has in one piece in the input.  Aligned 16-byte chunks that cover it
//   go to shared memory; what they hold of others comes along.
// - A window is an aligned 16-byte vector of the output.  One thread gathers its elements from
//   shared memory.  Windows begin where memory is aligned and not where the box does: the last ones
//   reach over its end, and for them the block has read more than its box (Spec::Reach).  Only
//   where a run of the output ends there are windows with a part of their elements.
// In shared memory the step between neighbours along a dimension is Spec::Steps, the same modulo 16
// as in the input, so that a chunk is aligned in both, and the place of an element is a sum over
// its coordinates.  Along one dimension the elements of a window are immediate offsets; where it
// crosses dimensions they are carries, not divisions.
//
// When chosen.  Where tiles (permute.cuh) have no wide vectors or short runs
// (docs/notes/permute.md).
//
// Contract: see BoxSpec.  Steps leave room between the covers of read runs, and loads stay within
// mapped memory as those of row_aligned.cuh do.
#pragma once

#include "swage/box.cuh"

namespace swage {

/// extents(sizes): the iteration space; boxes(sizes): the same counted in boxes, the grid.
/// Box: the extents of what a block writes, Reach: of what it reads, the same but along one
/// dimension; Steps: bytes in shared memory; ReadOrder: dimensions by the input's strides, smallest first.
/// kReadRun, kWriteRun: how many dimensions are one run of the input or of the output, all but the
/// outermost of them whole.  kReadAligned, kWriteAligned: all runs begin at multiples of 16 bytes.
/// kLanes: neighbouring windows that go to the lanes of a warp; the others take neighbouring runs.
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
  typename Spec::Steps;
  typename Spec::ReadOrder;
  Spec::kThreads + Spec::kReadRun + Spec::kWriteRun + Spec::kLanes;
  Spec::kReadAligned || Spec::kWriteAligned || Spec::kSkewed;
  Spec::extents(sizes);
  Spec::boxes(sizes);
};

namespace detail {

/// The elements of a window, one after the other, where it crosses dimensions.
template <class Spec> struct BoxWalk {
  using B = Boxes<Spec>;
  int place, at[B::kRank];

  __device__ __forceinline__ BoxWalk(const WriteRun<Spec> &run, int element)
      : place(run.placeOf(element)) {
#pragma unroll
    for (int dim = B::kLast; dim > B::kOuter; --dim) {
      at[dim] = element % B::box(dim);
      element /= B::box(dim);
    }
  }
  __device__ __forceinline__ void advance() {
    place += B::step(B::kLast);
    bool carry = true;
#pragma unroll
    for (int dim = B::kLast; dim > B::kOuter; --dim) {
      at[dim] += carry;
      carry = at[dim] == B::box(dim);
      place += carry ? B::step(dim - 1) - B::box(dim) * B::step(dim) : 0;
      at[dim] = carry ? 0 : at[dim];
    }
  }
};

/// The window that begins with element `first` of a run; with Partial, of which only those from 0
/// on and before `end` are there.
template <class Spec, bool Partial>
__device__ __forceinline__ auto gatherWindow(const char *arena, const WriteRun<Spec> &run,
                                             int first, [[maybe_unused]] int end) {
  using B = Boxes<Spec>;
  using In = typename B::In;
  using Out = typename B::Out;
  typename Out::Value values[B::V];
  auto make = [&](int i, int place) {
    Vector<typename In::Element, 1> element;
    element.fetchShared(reinterpret_cast<const typename In::Element *>(arena + B::skewed(place)));
    Spec::body(element.value(0), values[i]);
  };
  if constexpr (Partial) {
#pragma unroll
    for (int i = 0; i < B::V; ++i) {
      const int element = first + i;
      make(i, run.placeOf(element < 0 ? 0 : element < end ? element : end - 1));
    }
  } else if constexpr (B::isStraight()) {
    const int place = run.placeOf(first);
#pragma unroll
    for (int i = 0; i < B::V; ++i)
      make(i, place + i * B::step(B::kLast));
  } else {
    BoxWalk<Spec> walk(run, first);
#pragma unroll
    for (int i = 0; i < B::V; ++i) {
      make(i, walk.place);
      walk.advance();
    }
  }
  Vector<typename Out::Element, B::V> window;
  window.assign(values);
  return window;
}

/// Reads the box into shared memory, where its first element is at `begin`, less than 16.
template <class Spec>
__device__ __forceinline__ void readBox(char *arena, const typename Boxes<Spec>::In::Element *from,
                                        int begin, const BoxOfBlock<Spec> &box,
                                        const typename Spec::Sizes &sizes) {
  using B = Boxes<Spec>;
  constexpr int kChunks = B::chunks(), kAll = B::readRuns() * kChunks,
                kSteps = (kAll + Spec::kThreads - 1) / Spec::kThreads;
  using Chunk = Vector<signed char, 16>;
  Chunk chunks[kSteps];
  int places[kSteps];
  const int length = box.readRun() * B::kInSize;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int number = static_cast<int>(threadIndex()) + step * Spec::kThreads;
    const int ahead = number % kChunks * 16;
    int rest = number / kChunks, place = begin;
    bool exists = kAll % Spec::kThreads == 0 || number < kAll;
    auto at = box.origin;
#pragma unroll
    for (int k = Spec::kReadRun; k < B::kRank; ++k)
      if (const int dim = B::readDim(k); B::reach(dim) > 1) {
        const int coordinate = rest % B::reach(dim);
        rest /= B::reach(dim);
        at[dim] += coordinate;
        place += coordinate * B::step(dim);
        exists = exists && coordinate < box.read[dim];
      }
    const int phase = Spec::kReadAligned ? 0 : place % 16;
    exists = exists && ahead < phase + length;
    places[step] = exists ? place - phase + ahead : -1;
    if (exists)
      chunks[step].template fetchAround<B::In::traffic()>(
          reinterpret_cast<const signed char *>(from + B::In::offset(at, sizes)) - phase + ahead,
          phase - ahead, phase + length - ahead);
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step)
    if (places[step] >= 0) {
      constexpr int kPiece = Spec::kSkewed ? B::pad() : 16;
#pragma unroll
      for (int byte = 0; byte < 16; byte += kPiece)
        storeShared<kPiece>(arena + B::skewed(places[step]) + byte, chunks[step].words + byte / 4);
    }
}

/// Elements of a run in front of its first window.
template <class Spec>
__device__ __forceinline__ int headOf(const typename Boxes<Spec>::Out::Element *run) {
  constexpr int V = Boxes<Spec>::V;
  return Spec::kWriteAligned ? 0 : (V - skewOf<V>(run)) % V;
}

/// What a run has in front of its first window, in the box in which it begins, and its last window where
/// that is not whole, in the box in which that begins.
template <class Spec>
__device__ __forceinline__ void writeEnds(const char *arena,
                                          typename Boxes<Spec>::Out::Element *to, int begin,
                                          const BoxOfBlock<Spec> &box, bool begins, bool ends,
                                          const typename Spec::Sizes &sizes) {
  using B = Boxes<Spec>;
  const int own = box.writeRun(box.own), all = box.writeRun(box.read);
#pragma unroll 1
  for (int task = threadIndex(); task < 2 * B::writeRuns(); task += Spec::kThreads) {
    const WriteRun<Spec> run(box, task / 2, begin);
    auto *const start = to + B::Out::offset(run.at, sizes);
    const int head = headOf<Spec>(start);
    const bool isHead = task % 2 == 0;
    const int first = isHead ? head - B::V : head + (own - 1 - head) / B::V * B::V;
    const int end = isHead && head < all ? head : all;
    if (!run.exists || !(isHead ? begins : ends && own > head && first + B::V > all))
      continue;
    const auto window = gatherWindow<Spec, true>(arena, run, first, all);
#pragma unroll
    for (int i = 0; i < B::V; ++i)
      if (first + i >= 0 && first + i < end)
        window.storeOne(start + first, i);
  }
}

/// The windows that begin in the box.
template <class Spec>
__device__ __forceinline__ void
writeWindows(const char *arena, typename Boxes<Spec>::Out::Element *to, int begin,
             const BoxOfBlock<Spec> &box, const typename Spec::Sizes &sizes) {
  using B = Boxes<Spec>;
  constexpr int kLanes = Spec::kLanes, kRunLanes = kWarpSize / kLanes;
  constexpr int kAcross = (B::windows() + kLanes - 1) / kLanes;
  constexpr int kAll = (B::writeRuns() + kRunLanes - 1) / kRunLanes * kAcross * kWarpSize;
  const int own = box.writeRun(box.own), all = box.writeRun(box.read);
#pragma unroll
  for (int step = 0; step < (kAll + Spec::kThreads - 1) / Spec::kThreads; ++step) {
    const int number = static_cast<int>(threadIndex()) + step * Spec::kThreads;
    const int lane = number % kWarpSize, warp = number / kWarpSize;
    const int runNumber = warp / kAcross * kRunLanes + lane / kLanes;
    const WriteRun<Spec> run(box, runNumber, begin);
    auto *const start = to + B::Out::offset(run.at, sizes);
    const int first = (warp % kAcross * kLanes + lane % kLanes) * B::V + headOf<Spec>(start);
    if (run.exists && runNumber < B::writeRuns() && first < own && first + B::V <= all)
      gatherWindow<Spec, false>(arena, run, first, all).store(start + first);
  }
}

} // namespace detail

template <BoxSpec Spec, class Pointers>
__device__ __forceinline__ void permuteBoxes(const Pointers &pointers,
                                             const typename Spec::Sizes &sizes) {
  using B = detail::Boxes<Spec>;
  using In = typename B::In;
  const typename In::Pointer from = static_cast<const Slot<In> &>(pointers).pointer;
  const auto to = static_cast<const Slot<typename B::Out> &>(pointers).pointer;
  const detail::BoxOfBlock<Spec> box(sizes);
  const auto *const first = reinterpret_cast<const char *>(from + In::offset(box.origin, sizes));
  const int begin = Spec::kReadAligned ? 0 : skewOf<16>(first);
  char *const arena = swage::arena<B::bytes()>();
  detail::readBox<Spec>(arena, from, begin, box, sizes);
  barrier();
  if constexpr (!B::isWhole()) {
    constexpr int dim = B::kOuter;
    const auto extent = Spec::extents(sizes).template extent<typename Spec::Index, dim>();
    const bool begins = box.origin[dim] == 0, ends = box.origin[dim] + box.read[dim] == extent;
    if (begins || ends)
      detail::writeEnds<Spec>(arena, to, begin, box, begins, ends, sizes);
  }
  detail::writeWindows<Spec>(arena, to, begin, box, sizes);
}

} // namespace swage
