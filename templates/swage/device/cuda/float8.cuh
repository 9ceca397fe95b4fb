// 8-bit floats as storage types: `widen`, `narrow` and `narrowPair` as for the 16-bit ones.  Rounds
// to nearest even; what is too large, infinity included, becomes the largest number; NaN is 0x7f.
// By instructions from compute capability 8.9 on, before by the parts of the numbers.
#pragma once

#include "swage/device/cuda/elements.cuh"
#include "swage/device/cuda/pairs.cuh"
#include "swage/device/float8_parts.cuh"

namespace swage {

template <> struct Widened<e4m3> { using Type = float; };
template <> struct Widened<e5m2> { using Type = float; };

namespace ptx {
enum : bool { kConvertsFloat8 = __CUDA_ARCH__ >= 890 };
} // namespace ptx

/// The two elements of the lower half of a word, or the upper one, as a pair of f16.
template <bool Upper> __device__ __forceinline__ unsigned halvesOf(e4m3, unsigned word) {
  if constexpr (!ptx::kConvertsFloat8)
    return halvesByParts<Upper>(word);
  unsigned halves;
  if constexpr (Upper)
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.rn.f16x2.e4m3x2 %0, high; }"
        : "=r"(halves)
        : "r"(word));
  else
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.rn.f16x2.e4m3x2 %0, low; }"
        : "=r"(halves)
        : "r"(word));
  return halves;
}
/// Two elements from one 16-bit word, the first in the low byte.
__device__ __forceinline__ void widenPair(e4m3, unsigned short pair, float &low, float &high) {
  if constexpr (ptx::kConvertsFloat8) {
    const unsigned halves = halvesOf<false>(e4m3{}, pair);
    low = widenHalf(f16{}, halves, false);
    high = widenHalf(f16{}, halves, true);
  } else {
    low = widenByParts<3, 7>(pair & 0xffu, 0x7e);
    high = widenByParts<3, 7>(pair >> 8, 0x7e);
  }
}
__device__ __forceinline__ void widenPair(e5m2, unsigned short pair, float &low, float &high) {
  // An e5m2 is the upper half of an f16.
  const unsigned halves = (pair & 0xffu) << 8 | (pair & 0xff00u) << 16;
  low = widenHalf(f16{}, halves, false);
  high = widenHalf(f16{}, halves, true);
}
__device__ __forceinline__ float widen(e4m3 value) {
  float low, high;
  widenPair(e4m3{}, value.bits, low, high);
  return low;
}
__device__ __forceinline__ float widen(e5m2 value) {
  return widen(f16{static_cast<unsigned short>(value.bits << 8)});
}

/// Two elements rounded into one 16-bit word, `low` in the low byte.
__device__ __forceinline__ unsigned short narrowPair(e4m3, float low, float high) {
  if constexpr (ptx::kConvertsFloat8) {
    unsigned short pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
  } else {
    return static_cast<unsigned short>(narrowByParts<3, 7>(high, 0x7e) << 8 |
                                       narrowByParts<3, 7>(low, 0x7e));
  }
}
__device__ __forceinline__ unsigned short narrowPair(e5m2, float low, float high) {
  if constexpr (ptx::kConvertsFloat8) {
    unsigned short pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
    return pair;
  } else {
    return static_cast<unsigned short>(narrowByParts<2, 15>(high, 0x7b) << 8 |
                                       narrowByParts<2, 15>(low, 0x7b));
  }
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
