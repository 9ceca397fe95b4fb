// 8-bit floats as storage types.
#pragma once

#include "swage/device/cpu/elements.cuh"
#include "swage/device/cpu/pairs.cuh"
#include "swage/device/float8_parts.cuh"

namespace swage {

template <> struct Widened<e4m3> { using Type = float; };
template <> struct Widened<e5m2> { using Type = float; };

__device__ __forceinline__ float widen(e4m3 value) {
  return widenByParts<3, 7>(value.bits, 0x7e);
}
__device__ __forceinline__ float widen(e5m2 value) {
  return widen(f16{static_cast<unsigned short>(value.bits << 8)});
}

/// The two elements of the lower half of a word, or the upper one, as a pair of f16.
template <bool Upper> __device__ __forceinline__ unsigned halvesOf(e4m3, unsigned word) {
  return halvesByParts<Upper>(word);
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
    return {static_cast<unsigned char>(narrowByParts<3, 7>(value, 0x7e))};
  }
};
template <> struct Narrow<e5m2> {
  static __device__ __forceinline__ e5m2 from(float value) {
    return {static_cast<unsigned char>(narrowByParts<2, 15>(value, 0x7b))};
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
