// 8-bit floats as tensors hold them, to nearest even as the 16-bit types: what is too large becomes
// infinity, or NaN where there is none; NaN stays NaN.  (The elements of device/float8.cuh stop at
// their largest number.)
#pragma once

#include "swage/device/float8.cuh"
#include "swage/device/math.cuh"
#include "swage/numeric.cuh"

namespace swage {

/// 4 exponent bits, no infinity, up to 448; and 5, up to 57344.
struct f8e4m3 {
  unsigned char bits;
};
struct f8e5m2 {
  unsigned char bits;
};
template <> struct Widened<f8e4m3> { using Type = float; };
template <> struct Widened<f8e5m2> { using Type = float; };

/// What the two formats differ in.
template <class T> struct Float8;
template <> struct Float8<f8e4m3> {
  using Saturating = e4m3;
  /// The least number that rounds to more than the largest one.
  static constexpr __device__ float tooLarge() { return 0x1.d00002p8f; }
};
template <> struct Float8<f8e5m2> {
  using Saturating = e5m2;
  static constexpr __device__ float tooLarge() { return 61440.0f; }
};

/// Element i of a word of four.
template <class T> __device__ __forceinline__ float widenByte(T, unsigned word, int i) {
  float low, high;
  widenPair(typename Float8<T>::Saturating{}, static_cast<unsigned short>(word >> (16 * (i / 2))),
            low, high);
  return i % 2 != 0 ? high : low;
}

/// Up to four elements rounded into one word, the first in the low byte: those that stop at their
/// largest number.
template <class T, int N>
__device__ __forceinline__ unsigned saturatedBytes(T, const float (&values)[N]) {
  static_assert(N == 1 || N == 2 || N == 4);
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < N; i += 2)
    word |= static_cast<unsigned>(narrowPair(T{}, values[i], N == 1 ? 0.0f : values[(i + 1) % N]))
            << (8 * i);
  return word;
}
template <int N> __device__ __forceinline__ unsigned narrowBytes(e4m3, const float (&values)[N]) {
  return saturatedBytes(e4m3{}, values);
}
template <int N> __device__ __forceinline__ unsigned narrowBytes(e5m2, const float (&values)[N]) {
  return saturatedBytes(e5m2{}, values);
}
/// The same of the others.
template <class T, int N>
__device__ __forceinline__ unsigned narrowBytes(T, const float (&values)[N]) {
  unsigned word = saturatedBytes(typename Float8<T>::Saturating{}, values);
  float most = abs(values[0]);
#pragma unroll
  for (int i = 1; i < N; ++i)
    most = maximumNumber(most, abs(values[i]));
  if (most >= Float8<T>::tooLarge()) {
    // Behind the largest number stands what takes the place of a larger one.
#pragma unroll
    for (int i = 0; i < N; ++i)
      word += abs(values[i]) >= Float8<T>::tooLarge() ? 1u << (8 * i) : 0u;
  }
  return word;
}

__device__ __forceinline__ float widen(f8e4m3 value) { return widen(e4m3{value.bits}); }
__device__ __forceinline__ float widen(f8e5m2 value) { return widen(e5m2{value.bits}); }
template <> struct Narrow<f8e4m3> {
  static __device__ __forceinline__ f8e4m3 from(float value) {
    return {static_cast<unsigned char>(narrowBytes(f8e4m3{}, {value}))};
  }
};
template <> struct Narrow<f8e5m2> {
  static __device__ __forceinline__ f8e5m2 from(float value) {
    return {static_cast<unsigned char>(narrowBytes(f8e5m2{}, {value}))};
  }
};

} // namespace swage
