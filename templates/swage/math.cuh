// Scalar functions that generated code calls besides + - * / and comparisons.  The transcendental
// ones are the device layer's (their errors are listed there); here are those that are the same on
// every machine.
#pragma once

#include "swage/numeric.cuh"

namespace swage {

/// NaN if either is NaN, as torch.maximum; +0 is above -0.
template <class T> __device__ __forceinline__ T maximum(T a, T b) {
  if constexpr (kIsFloating<T>)
    return maximumOf(a, b);
  else
    return a < b ? b : a;
}
template <class T> __device__ __forceinline__ T minimum(T a, T b) {
  if constexpr (kIsFloating<T>)
    return minimumOf(a, b);
  else
    return b < a ? b : a;
}
/// The other one if one is NaN, as fmax.
template <class T> __device__ __forceinline__ T maximumNumber(T a, T b) {
  if constexpr (kIsFloating<T>)
    return maximumNumberOf(a, b);
  else
    return a < b ? b : a;
}
template <class T> __device__ __forceinline__ T minimumNumber(T a, T b) {
  if constexpr (kIsFloating<T>)
    return minimumNumberOf(a, b);
  else
    return b < a ? b : a;
}

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
