// Slabs: what a block reads or writes of one tensor, when that is contiguous, in shared memory.
//
// A row whose length is no multiple of 16 bytes starts anywhere, and its elements would go one by
// one.  A slab moves by aligned 16-byte accesses instead, whatever it starts at: it lies in shared
// memory with the same position within 16 bytes as in global memory, so its whole chunks are
// aligned on both sides, and only the elements before the first and after the last go by
// themselves.  Threads then take from it in any order; short rows, which would leave lanes idle or
// accesses narrow, cost no more than long ones.
//
// A template calls Slabs::load and ::store around its work.  In between, the pointers of operands
// with Access::Staged point into shared memory, where the same element offsets hold.
#pragma once

#include "swage/device/copy_async.cuh"
#include "swage/operand.cuh"

namespace swage {

namespace detail {

/// A slab of `count` elements from `at` on: the elements before its first whole 16-byte chunk, the
/// chunks, and the elements after the last.
template <class T> struct SlabShape {
  int head, chunks, tail;

  static __device__ __forceinline__ int skewOf(const T *at) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(at) % 16);
  }
  __device__ __forceinline__ SlabShape(const T *at, int count) {
    constexpr int kPerChunk = 16 / int(sizeof(T));
    head = (16 - skewOf(at)) % 16 / int(sizeof(T));
    head = head < count ? head : count;
    chunks = (count - head) / kPerChunk;
    tail = count - head - chunks * kPerChunk;
  }
  /// The element beside whole chunks that this thread moves, or -1.  Those in front go to the first
  /// lanes of the block, those behind to the next.
  __device__ __forceinline__ int single(int count) const {
    constexpr int kPerChunk = 16 / int(sizeof(T));
    const int thread = static_cast<int>(threadIndex());
    const int behind = thread - kPerChunk;
    return thread < head ? thread : behind >= 0 && behind < tail ? count - tail + behind : -1;
  }
};

} // namespace detail

/// The staged operands of a kernel whose blocks of `Threads` threads move at most `Elements` of
/// each.
template <int Threads, int Elements> struct Slabs {
  /// Shared memory for all of a Bind's.
  template <class Pointers> static __device__ constexpr int bytesOf() {
    return decltype(sum(static_cast<Pointers *>(nullptr)))::kValue;
  }

  /// Points `pointers` into their slabs in `arena`, each of `count` elements from the one at `first`
  /// on, and starts to fill those of inputs.  After copyAsyncWait<0> and a barrier they are filled.
  template <class... Operands, class Coord, class Sizes>
  static __device__ __forceinline__ void load(Bind<Operands...> &pointers,
                                              const Bind<Operands...> &given, char *arena,
                                              const Coord &first, int count, const Sizes &sizes) {
    (fill<Operands>(static_cast<Slot<Operands> &>(pointers).pointer,
                    static_cast<const Slot<Operands> &>(given).pointer, arena, first, count,
                    sizes),
     ...);
    copyAsyncCommit();
  }

  /// Writes the outputs' slabs to where they belong.  Before it a barrier.
  template <class... Operands, class Coord, class Sizes>
  static __device__ __forceinline__ void store(const Bind<Operands...> &given,
                                               const Bind<Operands...> &pointers,
                                               const Coord &first, int count, const Sizes &sizes) {
    (drain<Operands>(static_cast<const Slot<Operands> &>(given).pointer,
                     static_cast<const Slot<Operands> &>(pointers).pointer, first, count, sizes),
     ...);
  }

private:
  template <class Operand> static __device__ constexpr int bytes() {
    return Operand::access() != Access::Staged
               ? 0
               : (Elements * int(sizeof(typename Operand::Element)) + 16 + 127) / 128 * 128;
  }
  template <class... Operands>
  static __device__ Fixed<(0 + ... + bytes<Operands>())> sum(const Bind<Operands...> *);

  static __device__ constexpr int rounds(int elementBytes) {
    return (Elements * elementBytes / 16 + Threads - 1) / Threads;
  }

  /// The arena behind this slab is the next one's.
  template <class Operand, class Coord, class Sizes>
  static __device__ __forceinline__ void fill(typename Operand::Pointer &pointer,
                                              typename Operand::Pointer given, char *&arena,
                                              const Coord &first, int count, const Sizes &sizes) {
    using T = typename Operand::Element;
    if constexpr (Operand::access() == Access::Staged) {
      const auto offset = Operand::offset(first, sizes);
      const typename Operand::Pointer from = given + offset;
      T *to = reinterpret_cast<T *>(arena + detail::SlabShape<T>::skewOf(from));
      pointer = to - offset;
      arena += bytes<Operand>();
      if constexpr (IsInput<Operand>) {
        const detail::SlabShape<T> shape(from, count);
#pragma unroll
        for (int round = 0; round < rounds(sizeof(T)); ++round) {
          const int chunk = round * Threads + static_cast<int>(threadIndex());
          if (chunk < shape.chunks)
            copyAsync<16>(sharedAddress(reinterpret_cast<const char *>(to + shape.head) + chunk * 16),
                          reinterpret_cast<const char *>(from + shape.head) + chunk * 16);
        }
        if (const int element = shape.single(count); element >= 0) {
          Vector<T, 1> one;
          one.template fetch<Operand::traffic()>(from + element);
          one.storeShared(to + element);
        }
      }
    }
  }

  template <class Operand, class Coord, class Sizes>
  static __device__ __forceinline__ void drain(typename Operand::Pointer given,
                                               typename Operand::Pointer pointer,
                                               const Coord &first, int count, const Sizes &sizes) {
    using T = typename Operand::Element;
    if constexpr (Operand::access() == Access::Staged && !IsInput<Operand>) {
      const auto offset = Operand::offset(first, sizes);
      T *to = given + offset;
      const T *from = pointer + offset;
      const detail::SlabShape<T> shape(to, count);
#pragma unroll
      for (int round = 0; round < rounds(sizeof(T)); ++round) {
        const int chunk = round * Threads + static_cast<int>(threadIndex());
        if (chunk < shape.chunks) {
          unsigned words[4];
          loadShared<16>(reinterpret_cast<const char *>(from + shape.head) + chunk * 16, words);
          storeGlobal<16>(reinterpret_cast<char *>(to + shape.head) + chunk * 16, words);
        }
      }
      if (const int element = shape.single(count); element >= 0) {
        Vector<T, 1> one;
        one.fetchShared(from + element);
        one.store(to + element);
      }
    }
  }
};

} // namespace swage
