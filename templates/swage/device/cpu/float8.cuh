// 8-bit floats as storage types.
#pragma once

#include "swage/device/cpu/elements.cuh"

namespace swage {

template <> struct Widened<e4m3> { using Type = float; };
template <> struct Widened<e5m2> { using Type = float; };

namespace simt {
/// The float with 8 bits, of which Mantissa are the mantissa, that is nearest; `largest` where that
/// is too small.
template <int Mantissa, int Bias>
__forceinline__ unsigned char narrow8(float value, unsigned largest) {
  const unsigned bits = __builtin_bit_cast(unsigned, value), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return 0x7f;
  unsigned narrow;
  if (magnitude < static_cast<unsigned>(128 - Bias) << 23) {
    // Denormal: adding a number whose last bit is the least denormal rounds to multiples of it.
    const unsigned magic = static_cast<unsigned>(127 + 1 - Bias - Mantissa + 23) << 23;
    const float shifted = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, magic);
    narrow = __builtin_bit_cast(unsigned, shifted) - magic;
  } else {
    constexpr int kDropped = 23 - Mantissa;
    const unsigned even = magnitude >> kDropped & 1u;
    const unsigned rounded = magnitude + ((1u << (kDropped - 1)) - 1) + even;
    narrow = (rounded - (static_cast<unsigned>(127 - Bias) << 23)) >> kDropped;
  }
  return static_cast<unsigned char>((bits >> 24 & 0x80u) | (narrow < largest ? narrow : largest));
}
} // namespace simt

__device__ __forceinline__ float widen(e4m3 value) {
  const unsigned sign = static_cast<unsigned>(value.bits & 0x80u) << 24;
  const unsigned magnitude = value.bits & 0x7fu;
  if (magnitude == 0x7fu)
    return __builtin_bit_cast(float, 0x7fffffffu);
  // The exponent's bias is mended by a multiplication, which also normalises.
  const float scaled = __builtin_bit_cast(float, magnitude << 20) * 0x1p120f;
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(unsigned, scaled));
}
__device__ __forceinline__ float widen(e5m2 value) {
  return widen(f16{static_cast<unsigned short>(value.bits << 8)});
}

/// Two elements from one 16-bit word, the first in the low byte.
__device__ __forceinline__ void widenPair(e4m3, unsigned short pair, float &low, float &high) {
  low = widen(e4m3{static_cast<unsigned char>(pair)});
  high = widen(e4m3{static_cast<unsigned char>(pair >> 8)});
}
__device__ __forceinline__ void widenPair(e5m2, unsigned short pair, float &low, float &high) {
  low = widen(e5m2{static_cast<unsigned char>(pair)});
  high = widen(e5m2{static_cast<unsigned char>(pair >> 8)});
}

template <> struct Narrow<e4m3> {
  static __device__ __forceinline__ e4m3 from(float value) {
    return {simt::narrow8<3, 7>(value, 0x7e)};
  }
};
template <> struct Narrow<e5m2> {
  static __device__ __forceinline__ e5m2 from(float value) {
    return {simt::narrow8<2, 15>(value, 0x7b)};
  }
};

/// Two elements rounded into one 16-bit word, `low` in the low byte.
__device__ __forceinline__ unsigned short narrowPair(e4m3, float low, float high) {
  return static_cast<unsigned short>(Narrow<e4m3>::from(high).bits << 8 |
                                     Narrow<e4m3>::from(low).bits);
}
__device__ __forceinline__ unsigned short narrowPair(e5m2, float low, float high) {
  return static_cast<unsigned short>(Narrow<e5m2>::from(high).bits << 8 |
                                     Narrow<e5m2>::from(low).bits);
}

} // namespace swage
