// Scalar functions that generated code calls besides + - * / and comparisons.  The transcendental
// ones are the device layer's (their errors are listed there); here, and in numeric.cuh, are those
// that are the same on every machine.  Included by the kernels that call one, not by the templates.
#pragma once

#include "swage/approximation.cuh"
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

/// base raised to an integer power, by squaring; a negative power is the reciprocal.
template <class T> __device__ __forceinline__ T powInteger(T base, int exponent) {
  // The reciprocal of an integer is cut off to 0, whatever its power would wrap around to.
  if constexpr (!IsFloating<T>)
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
