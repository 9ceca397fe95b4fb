// Shelves: where a thread's share of a row is more than its registers hold, the vectors that it
// reads wait in shared memory, each in a place that no other thread looks at.
//
// All copies are under way before the first is waited for, however long the row is; no barrier is
// needed; and to walk the row again costs no global memory.
#pragma once

#include "swage/device/copy_async.cuh"
#include "swage/operand.cuh"

namespace swage {

/// A thread's copies go in at most four bundles, of `Steps` steps in all, so that work on the first
/// begins while the last are under way.
template <int Steps> struct Bundles {
  enum : int {
    kSteps = powerOfTwoAbove(Steps < 4 ? 1 : (Steps + 3) / 4),
    kCount = (Steps + kSteps - 1) / kSteps
  };

  /// After the copies of a step have been started.
  static __device__ __forceinline__ void commit(int step) {
    if ((step + 1) % kSteps == 0 || step == Steps - 1)
      copyAsyncCommit();
  }
  /// Before the first look at a step: until its bundle is there.
  template <int Bundle = 0> static __device__ __forceinline__ void wait(int step) {
    if (Bundle == 0 && step % kSteps != 0)
      return;
    if constexpr (Bundle + 1 < kCount)
      if (step >= (Bundle + 1) * kSteps)
        return wait<Bundle + 1>(step);
    copyAsyncWait<kCount - 1 - Bundle>();
  }
};

/// The shelves of a block's threads, for vectors of those operands that are Staged; `at` is in the
/// arena, at a multiple of 16 bytes.
template <class Operands, int V, int Threads> struct Shelf;
template <class... Operands, int V, int Threads> struct Shelf<List<Operands...>, V, Threads> {
  template <class Operand> using Data = Vector<typename Operand::Element, V>;
  template <class Operand> static constexpr __device__ bool isShelved() {
    return Operand::access() == Access::Staged || Operand::access() == Access::StagedInStep;
  }
  /// What one vector of every operand takes, for all threads.
  enum : int {
    kBytes = (0 + ... + (isShelved<Operands>() ? Data<Operands>::kBytes : 0)) * Threads
  };

  char *at;

  /// Starts the copies of vector number `n`.
  template <int Dim, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void start(int n, const Pointers &pointers, const Coord &coord,
                                        const Sizes &sizes) const {
    char *place = at + n * kBytes;
    (copy<Operands, Dim>(place, static_cast<const Slot<Operands> &>(pointers).pointer, coord, sizes),
     ...);
  }
  /// Vector number `n`, once it has been waited for; operands that do not wait there are read.
  template <int Dim, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void take(Inputs<List<Operands...>, V, Dim> &in, int n,
                                       const Pointers &pointers, const Coord &coord,
                                       const Sizes &sizes) const {
    const char *place = at + n * kBytes;
    (takeOne<Operands, Dim>(in, place, static_cast<const Slot<Operands> &>(pointers).pointer,
                            coord, sizes),
     ...);
  }
  /// A vector that has no place on the shelf.
  template <int Dim, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void pass(Inputs<List<Operands...>, V, Dim> &in,
                                       const Pointers &pointers, const Coord &coord,
                                       const Sizes &sizes) const {
    (
        [&] {
          const auto pointer = static_cast<const Slot<Operands> &>(pointers).pointer;
          auto &fragment = static_cast<Fragment<Operands, V> &>(in);
          if constexpr (Operands::access() == Access::StagedInStep)
            fragment.template load<Dim>(pointer, coord, sizes);
          else if constexpr (isShelved<Operands>() && IsPartial<Coord>)
            fragment.template fetchAround<Operands::traffic()>(
                partialAt<Operands, Dim>(pointer, coord, sizes), coord.begin, coord.end);
          else if constexpr (isShelved<Operands>())
            fragment.template fetch<Operands::traffic()>(pointer + Operands::offset(coord, sizes));
          else
            fragment.template load<Dim>(pointer, coord, sizes);
        }(),
        ...);
  }

private:
  /// Neighbouring threads have neighbouring places.
  template <class Operand> static __device__ __forceinline__ int placeOf(int piece) {
    return (piece * Threads + static_cast<int>(threadIndex())) * Data<Operand>::kPiece;
  }
  template <class Operand, int Dim, class Coord, class Sizes>
  static __device__ __forceinline__ void copy(char *&place, typename Operand::Pointer pointer,
                                              const Coord &coord, const Sizes &sizes) {
    using D = Data<Operand>;
    if constexpr (isShelved<Operand>() && IsPartial<Coord>) {
      const auto *from = partialAt<Operand, Dim>(pointer, coord, sizes);
      constexpr int kElement = sizeof(typename Operand::Element);
      copyAsyncAround<D::kBytes>(place + placeOf<Operand>(0), from, coord.begin * kElement,
                                 coord.end * kElement);
      place += D::kBytes * Threads;
    } else if constexpr (isShelved<Operand>()) {
      const auto *from = reinterpret_cast<const char *>(pointer + Operand::offset(coord, sizes));
#pragma unroll
      for (int piece = 0; piece < D::kPieces; ++piece)
        copyAsync<D::kPiece>(sharedAddress(place + placeOf<Operand>(piece)),
                             from + piece * D::kPiece);
      place += D::kBytes * Threads;
    }
  }
  template <class Operand, int Dim, class Coord, class Sizes>
  static __device__ __forceinline__ void takeOne(Fragment<Operand, V> &in, const char *&place,
                                                 typename Operand::Pointer pointer,
                                                 const Coord &coord, const Sizes &sizes) {
    using D = Data<Operand>;
    if constexpr (isShelved<Operand>()) {
#pragma unroll
      for (int piece = 0; piece < D::kPieces; ++piece)
        loadShared<D::kPiece>(place + placeOf<Operand>(piece),
                              in.words + piece * wordsOf(D::kPiece));
      place += D::kBytes * Threads;
    } else {
      in.template load<Dim>(pointer, coord, sizes);
    }
  }
};

} // namespace swage
