// Keys and values of 8 bits, which become fragments of 16 bits in registers.  See
// attention_decode.cuh.
//
// ldmatrix moves pairs of bytes.  Of 16 bytes of a key a thread gets four that lie side by side,
// 4t to 4t + 3, t being lane % 4: they stand for columns 2t, 2t + 1, 2t + 8 and 2t + 9 of a
// fragment, and queries are loaded in the same order, which a sum does not notice.  Of 16 bytes of
// the values of two keys, transposed, it gets two columns, 2n and 2n + 1, n being lane / 4: rows n
// and n + 8 of a fragment.
//
// A conversion takes 1 to 2.5 instructions for two elements (docs/notes/decode.md), to f16.  So
// queries become f16 as well (attention_narrow_warp.cuh), and weights where they are at most 2^8;
// where they are multiplied by a factor of their key they may be of any size.
#pragma once

#include "swage/attention_softmax.cuh"
#include "swage/device/float8.cuh"
#include "swage/device/matrix.cuh"
#include "swage/device/pairs.cuh"

namespace swage::detail {

/// Whether keys and values have 8 bits where queries have 16.
template <class Spec>
concept HasNarrowCache = requires {
  typename Spec::Cache;
};
/// Elements of keys and values.
template <class Spec> struct CacheOf { using Type = typename Spec::Element; };
template <HasNarrowCache Spec> struct CacheOf<Spec> { using Type = typename Spec::Cache; };
template <class Spec> constexpr __device__ int cacheBytes() {
  return sizeof(typename CacheOf<Spec>::Type);
}

/// What queries and keys are multiplied as.
template <class Spec> struct ScoreFactorOf { using Type = typename Spec::Element; };
template <HasNarrowCache Spec> struct ScoreFactorOf<Spec> { using Type = f16; };
/// What weights and values are multiplied as.
template <class Spec> struct WeightOf { using Type = typename Spec::Element; };
template <HasNarrowCache Spec>
requires(!HasWeight<Spec>) struct WeightOf<Spec> { using Type = f16; };

/// Bytes First and Second of a word in the lower halves of a pair, where the upper ones hold
/// anything.
template <int First, int Second> __device__ __forceinline__ unsigned lowerBytes(unsigned word) {
  return First == 0 && Second == 2 ? word : permuteBytes(word, 0, 0x4040 | First | Second << 8);
}
/// The same in the upper halves, where the lower ones hold zeros.
template <int First, int Second> __device__ __forceinline__ unsigned raiseBytes(unsigned word) {
  return First == 1 && Second == 3 ? word & 0xff00ff00u
                                   : permuteBytes(word, 0, 0x0404 | First << 4 | Second << 12);
}

/// Elements First and Second of the four in a word as a pair of 16 bits, exactly.  Behind the bits
/// of 128 and of 1024 there is room for an integer.
template <int First, int Second>
__device__ __forceinline__ unsigned widenTwo(bf16, s8, unsigned word) {
  const unsigned bytes = lowerBytes<First, Second>(word);
  // Less 128, or 256 where the sign is set.
  return subtractPairs(bf16{}, maskedXor(bytes, 0x007f007fu, 0x43004300u),
                       maskedXor(bytes, 0x00800080u, 0x43004300u));
}
template <int First, int Second>
__device__ __forceinline__ unsigned widenTwo(f16, s8, unsigned word) {
  return subtractPairs(f16{}, maskedXor(lowerBytes<First, Second>(word), 0x00ff00ffu, 0x64806480u),
                       0x64806480u);
}
template <int First, int Second>
__device__ __forceinline__ unsigned widenTwo(f16, e5m2, unsigned word) {
  return raiseBytes<First, Second>(word);
}
template <int First, int Second>
__device__ __forceinline__ unsigned widenTwo(f16, e4m3, unsigned word) {
  // Both pairs of a word that is put in order once.
  return halvesOf<First != 0>(
      e4m3{}, First + 1 == Second ? word : permuteBytes(word, 0, 0x3120));
}
template <int First, int Second, class Float8>
__device__ __forceinline__ unsigned widenTwo(bf16, Float8, unsigned word) {
  const unsigned halves = widenTwo<First, Second>(f16{}, Float8{}, word);
  return narrowPair(bf16{}, widenHalf(f16{}, halves, false), widenHalf(f16{}, halves, true));
}

/// Which of a thread's four elements of a key follows the first one in a fragment: a neighbour, or
/// for integers, which are masked in place, the next but one.
template <class Cache> struct NextInKey { enum : int { kNext = 1, kThird = 2 }; };
template <> struct NextInKey<s8> { enum : int { kNext = 2, kThird = 1 }; };

/// Four elements of a query in the order of a key's: two registers.
template <class Cache>
__device__ __forceinline__ void orderAsKeys(unsigned (&words)[2]) {
  if constexpr (NextInKey<Cache>::kNext == 2) {
    const unsigned first = permuteBytes(words[0], words[1], 0x5410);
    words[1] = permuteBytes(words[0], words[1], 0x7632);
    words[0] = first;
  }
}

/// 16 keys and 16 columns as the left operand of a product, of two words of theirs.
template <class Spec>
__device__ __forceinline__ void widenKeys(const unsigned *words, unsigned (&fragments)[4]) {
  using Element = typename ScoreFactorOf<Spec>::Type;
  using Cache = typename Spec::Cache;
  using Order = NextInKey<Cache>;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    fragments[i] = widenTwo<0, Order::kNext>(Element{}, Cache{}, words[i]);
    fragments[2 + i] = widenTwo<Order::kThird, 3>(Element{}, Cache{}, words[i]);
  }
}
/// The same of values: the even columns, then the odd ones, by 16 keys.
template <class Spec>
__device__ __forceinline__ void widenValues(const unsigned *words, unsigned (&fragments)[4]) {
  using Element = typename WeightOf<Spec>::Type;
  using Cache = typename Spec::Cache;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    fragments[2 * i] = widenTwo<0, 2>(Element{}, Cache{}, words[i]);
    fragments[2 * i + 1] = widenTwo<1, 3>(Element{}, Cache{}, words[i]);
  }
}

} // namespace swage::detail
