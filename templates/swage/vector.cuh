// A vector of neighbouring elements as it lies in memory: 32-bit words, converted element by
// element.  Vectors longer than 16 bytes are moved in 16-byte pieces.
#pragma once

#include "swage/numeric.cuh"

namespace swage {

/// The aligned vector that `at` lies in, and how many elements it begins before that.
template <int V, class T> __device__ __forceinline__ const T *alignedAt(const T *at) {
  constexpr auto kBytes = static_cast<unsigned long long>(V) * sizeof(T);
  return reinterpret_cast<const T *>(reinterpret_cast<unsigned long long>(at) & ~(kBytes - 1));
}
template <int V, class T> __device__ __forceinline__ int skewOf(const T *at) {
  return static_cast<int>(reinterpret_cast<unsigned long long>(at) / sizeof(T) % V);
}

template <class T, int V> struct Vector {
  enum : int {
    kBytes = V * int(sizeof(T)),
    kPiece = kBytes < 16 ? kBytes : 16,
    kPieces = kBytes / kPiece,
    kWords = kPieces * wordsOf(kPiece)
  };
  static_assert(kBytes % kPiece == 0, "a vector is a power of two of bytes");
  using Value = typename Widened<T>::Type;

  unsigned words[kWords];

  template <Traffic Use> __device__ __forceinline__ void fetch(const T *from) {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
      loadGlobal<kPiece, Use>(reinterpret_cast<const char *>(from) + piece * kPiece,
                              words + piece * wordsOf(kPiece));
  }

  /// The same where only the elements from `begin` on and before `end` matter: loadAround.
  template <Traffic Use>
  __device__ __forceinline__ void fetchAround(const T *from, int begin, int end) {
    static_assert(kPieces == 1);
    loadAround<kBytes, Use>(from, words, begin * int(sizeof(T)), end * int(sizeof(T)));
  }
  /// V elements out of `low` and `high` behind it, from number `skew` on, 0 to V - 1.  Quarter: that of
  /// the vector which this number is in, if it is known.
  template <int Quarter = -1>
  static __device__ __forceinline__ Vector between(const Vector &low, const Vector &high, int skew) {
    static_assert(kPieces == 1 && kBytes >= 4 && (Quarter < 0 || V % 4 == 0));
    // The elements of a word, and the words of an element.
    constexpr int kEach = sizeof(T) < 4 ? 4 / int(sizeof(T)) : 1;
    constexpr int kOne = sizeof(T) < 4 ? 1 : int(sizeof(T)) / 4;
    unsigned all[2 * kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      all[i] = low.words[i];
      all[kWords + i] = high.words[i];
    }
    // By half of the words, by a quarter, ..., and by bytes.  Byte permutes: of selections the compiler
    // would make branches.
    constexpr int kFirst = Quarter < 0 ? 0 : Quarter * (V / 4) / kEach * kOne;
#pragma unroll
    for (int step = Quarter < 0 ? kWords / 2 : 0; step >= kOne; step /= 2) {
      const unsigned which = (skew & (step / kOne * kEach)) != 0 ? 0x7654u : 0x3210u;
#pragma unroll
      for (int i = 0; i < kWords + step; ++i)
        all[i] = permuteBytes(all[i], all[i + step], which);
    }
    const unsigned bytes = 0x3210u + 0x1111u * static_cast<unsigned>(skew % kEach * int(sizeof(T)));
    Vector result;
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      result.words[i] = kEach == 1 ? all[kFirst + i]
                                   : permuteBytes(all[kFirst + i], all[kFirst + i + 1], bytes);
    return result;
  }

  __device__ __forceinline__ void store(T *to) const {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
      storeGlobal<kPiece>(reinterpret_cast<char *>(to) + piece * kPiece,
                          words + piece * wordsOf(kPiece));
  }

  /// Element i, to where it belongs in the vector at `to`.
  __device__ __forceinline__ void storeOne(T *to, int i) const {
    if constexpr (sizeof(T) == 8) {
      storeGlobal<8>(to + i, words + 2 * i);
    } else {
      constexpr int kEach = 4 / int(sizeof(T));
      const unsigned word = words[i / kEach] >> (i % kEach * int(sizeof(T)) * 8);
      storeGlobal<int(sizeof(T))>(to + i, &word);
    }
  }

  /// The elements from `begin` on and before `end`, each where it belongs.
  __device__ __forceinline__ void storeSome(T *to, int begin, int end) const {
#pragma unroll
    for (int i = 0; i < V; ++i)
      if (i >= begin && i < end)
        storeOne(to, i);
  }

  __device__ __forceinline__ void fetchShared(const T *from) {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
      swage::loadShared<kPiece>(reinterpret_cast<const char *>(from) + piece * kPiece,
                                words + piece * wordsOf(kPiece));
  }

  __device__ __forceinline__ void storeShared(T *to) const {
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
      swage::storeShared<kPiece>(reinterpret_cast<char *>(to) + piece * kPiece,
                                 words + piece * wordsOf(kPiece));
  }

  /// Element i, widened.  `i` is a constant after unrolling.
  __device__ __forceinline__ Value value(int i) const {
    if constexpr (sizeof(T) == 1 && sizeof(Value) > 1)
      return widenByte(T{}, words[i / 4], i % 4);
    else if constexpr (sizeof(T) == 1)
      return Value(static_cast<signed char>(words[i / 4] >> (8 * (i % 4))));
    else if constexpr (sizeof(T) == 2)
      return widenHalf(T{}, words[i / 2], i % 2 != 0);
    else if constexpr (sizeof(T) == 4)
      return __builtin_bit_cast(T, words[i]);
    else
      return __builtin_bit_cast(T, static_cast<unsigned long long>(words[2 * i + 1]) << 32 |
                                       words[2 * i]);
  }

  /// Replaces all elements, rounding to nearest even.
  __device__ __forceinline__ void assign(const Value (&values)[V]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      if constexpr (sizeof(T) == 1 && sizeof(Value) > 1) {
        constexpr int kEach = V < 4 ? V : 4;
        Value bytes[kEach];
#pragma unroll
        for (int byte = 0; byte < kEach; ++byte)
          bytes[byte] = values[4 * i + byte];
        words[i] = narrowBytes(T{}, bytes);
      } else if constexpr (sizeof(T) == 1) {
        unsigned packed = 0;
#pragma unroll
        for (int byte = 0; byte < 4 && 4 * i + byte < V; ++byte)
          packed |= (static_cast<unsigned>(values[4 * i + byte]) & 0xffu) << (8 * byte);
        words[i] = packed;
      } else if constexpr (sizeof(T) == 2) {
        words[i] = V == 1 ? narrow<T>(values[0]).bits
                          : narrowPair(T{}, values[2 * i], values[(2 * i + 1) % V]);
      } else if constexpr (sizeof(T) == 4) {
        words[i] = __builtin_bit_cast(unsigned, values[i]);
      } else {
        words[i] = static_cast<unsigned>(__builtin_bit_cast(unsigned long long, values[i / 2]) >>
                                         (32 * (i % 2)));
      }
    }
  }
};

} // namespace swage
