// Scalar functions that generated code calls besides + - * / and comparisons.  The transcendental
// ones are the device layer's (their errors are listed there); here, and in numeric.cuh, are those
// that are the same on every machine.  Included by the kernels that call one, not by the templates.
#pragma once

#include "swage/device/math.cuh"
#include "swage/numeric.cuh"
#include "swage/trigonometry.cuh"

namespace swage {

template <class T> __device__ __forceinline__ bool isNaN(T value) { return value != value; }
template <class T> __device__ __forceinline__ bool isInfinite(T value) {
  return abs(value) == highest<T>();
}
template <class T> __device__ __forceinline__ bool isFinite(T value) {
  return abs(value) < highest<T>();
}

/// a / b within 2 units in the last place.  The instruction that makes reciprocals neither takes nor
/// gives denormal numbers, so that very small and very large divisors are scaled first.
__device__ __forceinline__ float divideFast(float a, float b) {
  const float scale = abs(b) > 0x1p125f ? 0x1p-3f : abs(b) < 0x1p-100f ? 0x1p30f : 1.0f;
  return a * scale * reciprocal(b * scale);
}

/// Its error is 2 units in the last place and 2^-24 |x|; denormal results are 0.
__device__ __forceinline__ float expFast(float x) { return exp2Fast(x * 1.4426950408889634f); }

/// base raised to an integer power, by squaring; a negative power is the reciprocal.
template <class T> __device__ __forceinline__ T powInteger(T base, int exponent) {
  // The reciprocal of an integer is cut off to 0, whatever its power would wrap around to.
  if constexpr (!kIsFloating<T>)
    if (exponent < 0)
      return base == T(1) ? T(1) : base == T(-1) ? T(exponent & 1 ? -1 : 1) : T(0);
  unsigned left =
      exponent < 0 ? 0u - static_cast<unsigned>(exponent) : static_cast<unsigned>(exponent);
  T result = T(1);
  for (; left != 0; left >>= 1, base *= base)
    if (left & 1)
      result *= base;
  return exponent < 0 ? T(1) / result : result;
}

} // namespace swage
