// Windows of neighbouring runs: of 1- and 2-byte elements a thread of permute_boxes.cuh takes words
// that hold one element of each of kTurned runs, aligned ones or (kSplit) parts of two, and turns
// them in registers.
#pragma once

#include "swage/box_window.cuh"
#include "swage/tile.cuh"

namespace swage {
namespace detail {

/// The runs of which a thread makes windows: kTurned of them.
template <class Spec> struct RunGroup {
  using B = Boxes<Spec>;
  enum : int { V = B::V, kTurned = Spec::kTurned };

  /// Groups in a box.
  static constexpr __device__ int count() {
    constexpr int kBox = B::box(B::runDim(0));
    return kTurned == 1 ? B::writeRuns() : B::writeRuns() / kBox * ((kBox + kTurned - 1) / kTurned);
  }
  /// How far ahead of the first run's windows those of another begin, so that all are aligned.
  static constexpr __device__ int shift(int run) {
    return Spec::kWriteAligned ? 0 : (run * (V - Spec::kApart % V) + V / 2) % V - V / 2;
  }
  static constexpr __device__ int lowest() {
    int least = 0;
    for (int run = 0; run < kTurned; ++run)
      least = shift(run) < least ? shift(run) : least;
    return least;
  }
  static constexpr __device__ int highest() {
    int most = 0;
    for (int run = 0; run < kTurned; ++run)
      most = shift(run) > most ? shift(run) : most;
    return most;
  }
  /// Windows that begin before those of the first run, and all that there are beyond its own.
  static constexpr __device__ int before() { return highest() > 0; }
  static constexpr __device__ int more() { return before() + (lowest() < 0); }
};

/// What a thread has of the inputs for windows of a group.
template <class Spec, bool IsTurned = (Spec::kTurned > 1)> struct GroupWindows {
  template <class Inputs>
  __device__ __forceinline__ GroupWindows(const Inputs &, const WriteRun<Spec> &, int,
                                          const bool (&)[1]) {}
  template <class In, class Inputs>
  __device__ __forceinline__ WindowInput<Spec, In, false>
  window(List<In>, int, const Inputs &inputs, const WriteRun<Spec> &run, int begin, int end,
         const typename Spec::Sizes &sizes) const {
    return {inputs, run, begin, end, sizes};
  }
};

/// The same with vectors of the principal input, turned.
template <class Spec> struct GroupWindows<Spec, true> : GroupWindows<Spec, false> {
  using Group = RunGroup<Spec>;
  using In = typename Spec::Principal;
  using Element = typename In::Element;
  enum : int { V = Group::V, kTurned = Spec::kTurned };
  Vector<Element, V> windows[kTurned];

  __device__ __forceinline__ GroupWindows(const BoxInput<Spec, In> &input,
                                          const WriteRun<Spec> &run, int first,
                                          const bool (&exists)[kTurned])
      : GroupWindows<Spec, false>(input, run, first, {}) {
    constexpr int kLowest = Group::lowest(), kHighest = Group::highest();
    constexpr int kWords = V + kHighest - kLowest;
    const WordsOfRuns<Spec, In, kWords> places({input, run, unsigned(first + kLowest)},
                                               input.arena);
    Vector<Element, kTurned> words[kWords];
    int runs = 0;
#pragma unroll
    for (int number = 0; number < kTurned; ++number)
      runs = exists[number] ? number + 1 : runs;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      // Of what all windows have one is there; what only others have may lie anywhere.
      bool isNeeded = i + kLowest >= kHighest && i < V;
#pragma unroll
      for (int number = 0; number < kTurned; ++number)
        if (const int at = i + kLowest - Group::shift(number); at >= 0 && at < V)
          isNeeded = isNeeded || exists[number];
      if (isNeeded)
        words[i].words[0] = places.load(i, runs);
    }
#pragma unroll
    for (int number = 0; number < kTurned; ++number) {
      Vector<Element, kTurned> rows[V];
#pragma unroll
      for (int i = 0; i < V; ++i)
        rows[i] = words[i + Group::shift(number) - kLowest];
      gatherColumn(rows, number, windows[number]);
    }
  }
  using GroupWindows<Spec, false>::window;
  template <class Inputs>
  __device__ __forceinline__ const Vector<Element, V> &window(List<In>, int number, const Inputs &,
                                                              const WriteRun<Spec> &, int, int,
                                                              const typename Spec::Sizes &) const {
    return windows[number];
  }
};

} // namespace detail
} // namespace swage
