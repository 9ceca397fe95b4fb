// Ends of runs: some of a vector's elements, in few stores, to memory on one side of which aligned
// vectors lie.
#pragma once

#include "swage/vector.cuh"

namespace swage {
namespace detail {

/// Moves all of a vector by Count bytes, towards its first or its last one.
template <int Count, class T, int V>
__device__ __forceinline__ void moveDown(Vector<T, V> &vector) {
  constexpr int kWords = Vector<T, V>::kWords, kAhead = Count / 4;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const unsigned next = i + kAhead < kWords ? vector.words[i + kAhead] : 0;
    const unsigned behind = i + kAhead + 1 < kWords ? vector.words[i + kAhead + 1] : 0;
    vector.words[i] =
        Count % 4 == 0 ? next : permuteBytes(next, behind, 0x3210 + Count % 4 * 0x1111);
  }
}
template <int Count, class T, int V> __device__ __forceinline__ void moveUp(Vector<T, V> &vector) {
  constexpr int kWords = Vector<T, V>::kWords, kAhead = Count / 4;
#pragma unroll
  for (int i = kWords - 1; i >= 0; --i) {
    const unsigned next = i >= kAhead ? vector.words[i - kAhead] : 0;
    const unsigned before = i > kAhead ? vector.words[i - kAhead - 1] : 0;
    vector.words[i] =
        Count % 4 == 0 ? next : permuteBytes(before, next, 0x7654 - Count % 4 * 0x1111);
  }
}

} // namespace detail

/// The first `count` elements, fewer than all (of all nothing is stored), to `to`, behind which an
/// aligned vector begins: pieces of one element, of two, of four, ..., each aligned.
template <int Piece = 1, class T, int V>
__device__ __forceinline__ void storeFirst(Vector<T, V> vector, T *to, int count) {
  if constexpr (Piece < V) {
    constexpr int kBytes = Piece * int(sizeof(T));
    if (count & Piece) {
      storeGlobal<kBytes>(to, vector.words);
      to += Piece;
      detail::moveDown<kBytes>(vector);
    }
    storeFirst<2 * Piece>(vector, to, count);
  }
}
/// The last `count` elements, fewer than all, to those before `end`, which begin an aligned vector.
template <int Piece = 1, class T, int V>
__device__ __forceinline__ void storeLast(Vector<T, V> vector, T *end, int count) {
  if constexpr (Piece < V) {
    constexpr int kBytes = Piece * int(sizeof(T)), kAll = V * int(sizeof(T));
    if (count & Piece) {
      auto top = vector;
      detail::moveDown<kAll - kBytes>(top);
      end -= Piece;
      storeGlobal<kBytes>(end, top.words);
      detail::moveUp<kBytes>(vector);
    }
    storeLast<2 * Piece>(vector, end, count);
  }
}

} // namespace swage
