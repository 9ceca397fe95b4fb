// 8-bit floats as storage types: `widen`, `narrow` and `narrowPair` as for the 16-bit ones.  Rounds
// to nearest even; what is too large, infinity included, becomes the largest number; NaN is 0x7f.
// Compute capability 8.9.
#pragma once

#include "swage/device/cuda/elements.cuh"

namespace swage {

template <> struct Widened<e4m3> { using Type = float; };
template <> struct Widened<e5m2> { using Type = float; };

/// Two elements from one 16-bit word, the first in the low byte.
__device__ __forceinline__ void widenPair(e4m3, unsigned short pair, float &low, float &high) {
  unsigned halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  low = widenHalf(f16{}, halves, false);
  high = widenHalf(f16{}, halves, true);
}
__device__ __forceinline__ void widenPair(e5m2, unsigned short pair, float &low, float &high) {
  unsigned halves;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  low = widenHalf(f16{}, halves, false);
  high = widenHalf(f16{}, halves, true);
}
__device__ __forceinline__ float widen(e4m3 value) {
  float low, high;
  widenPair(e4m3{}, value.bits, low, high);
  return low;
}
__device__ __forceinline__ float widen(e5m2 value) {
  float low, high;
  widenPair(e5m2{}, value.bits, low, high);
  return low;
}

/// Two elements rounded into one 16-bit word, `low` in the low byte.
__device__ __forceinline__ unsigned short narrowPair(e4m3, float low, float high) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ __forceinline__ unsigned short narrowPair(e5m2, float low, float high) {
  unsigned short pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
template <> struct Narrow<e4m3> {
  static __device__ __forceinline__ e4m3 from(float value) {
    return {static_cast<unsigned char>(narrowPair(e4m3{}, value, 0.0f))};
  }
};
template <> struct Narrow<e5m2> {
  static __device__ __forceinline__ e5m2 from(float value) {
    return {static_cast<unsigned char>(narrowPair(e5m2{}, value, 0.0f))};
  }
};

} // namespace swage
