// 16-bit storage types.  They only store: arithmetic happens on the float that `widen` gives, and
// `narrow` rounds to nearest even.
#pragma once

namespace swage {

struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
/// A 16-bit element that is only moved: every bit pattern, NaNs included, arrives as it was.
struct bits16 {
  unsigned short bits;
};

/// The type in which a stored element is computed with.
template <class T> struct Widened { using Type = T; };
template <> struct Widened<f16> { using Type = float; };
template <> struct Widened<bf16> { using Type = float; };
template <> struct Widened<bits16> { using Type = unsigned short; };

template <class T> __device__ __forceinline__ T widen(T value) { return value; }
__device__ __forceinline__ float widen(f16 value) {
  const unsigned sign = (value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return __builtin_bit_cast(float, magnitude > 0x7c00u ? 0x7fffffffu : sign | 0x7f800000u);
  // The exponent's bias is mended by a multiplication, which also normalises.
  const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(unsigned, scaled));
}
__device__ __forceinline__ float widen(bf16 value) {
  return __builtin_bit_cast(float, static_cast<unsigned>(value.bits) << 16);
}
__device__ __forceinline__ unsigned short widen(bits16 value) { return value.bits; }

/// One half of a register that holds two elements, the first in the low half.
__device__ __forceinline__ float widenHalf(f16, unsigned pair, bool high) {
  return widen(f16{static_cast<unsigned short>(high ? pair >> 16 : pair)});
}
__device__ __forceinline__ float widenHalf(bf16, unsigned pair, bool high) {
  return __builtin_bit_cast(float, high ? pair & 0xffff0000u : pair << 16);
}
__device__ __forceinline__ unsigned short widenHalf(bits16, unsigned pair, bool high) {
  return static_cast<unsigned short>(high ? pair >> 16 : pair);
}

/// Rounds to the storage type.
template <class T> struct Narrow {
  static __device__ __forceinline__ T from(T value) { return value; }
};
template <> struct Narrow<f16> {
  static __device__ __forceinline__ f16 from(float value) {
    const unsigned bits = __builtin_bit_cast(unsigned, value), sign = bits >> 16 & 0x8000u;
    const unsigned magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
      return {0x7fff};
    if (magnitude >= 0x477ff000u) // 65520, halfway to 2^16
      return {static_cast<unsigned short>(sign | 0x7c00u)};
    if (magnitude < 0x38800000u) { // below 2^-14: adding 1/2 rounds to multiples of 2^-24
      const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
      return {static_cast<unsigned short>(sign | (__builtin_bit_cast(unsigned, shifted) - 0x3f000000u))};
    }
    const unsigned rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return {static_cast<unsigned short>(sign | (rounded - 0x38000000u) >> 13)};
  }
};
template <> struct Narrow<bf16> {
  static __device__ __forceinline__ bf16 from(float value) {
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
      return {0x7fff};
    return {static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
  }
};
template <> struct Narrow<bits16> {
  static __device__ __forceinline__ bits16 from(unsigned short value) { return {value}; }
};
template <class T> __device__ __forceinline__ T narrow(typename Widened<T>::Type value) {
  return Narrow<T>::from(value);
}

/// Two elements rounded into one register, `low` in the low half.
__device__ __forceinline__ unsigned narrowPair(f16, float low, float high) {
  return static_cast<unsigned>(narrow<f16>(high).bits) << 16 | narrow<f16>(low).bits;
}
__device__ __forceinline__ unsigned narrowPair(bf16, float low, float high) {
  return static_cast<unsigned>(narrow<bf16>(high).bits) << 16 | narrow<bf16>(low).bits;
}
__device__ __forceinline__ unsigned narrowPair(bits16, unsigned short low, unsigned short high) {
  return static_cast<unsigned>(high) << 16 | low;
}

/// `value` as it reads back after being stored as a T.
template <class T>
__device__ __forceinline__ typename Widened<T>::Type roundTo(typename Widened<T>::Type value) {
  return widen(narrow<T>(value));
}
template <> __device__ __forceinline__ float roundTo<bf16>(float value) {
  return widen(narrow<bf16>(value));
}

} // namespace swage
