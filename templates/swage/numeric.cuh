// Small numeric vocabulary that is not specific to a machine: unsigned twins, infinities,
// rounding-free helpers, maxima.
#pragma once

#include "swage/device/device.cuh"

namespace swage {

/// Index arithmetic is done unsigned: cheaper division, and no overflow below 2^32.
template <class Index> struct UnsignedOf { using Type = unsigned; };
template <> struct UnsignedOf<long long> { using Type = unsigned long long; };
template <class Index> using Unsigned = typename UnsignedOf<Index>::Type;

template <class Integer> __device__ constexpr Integer ceilDiv(Integer n, Integer by) {
  return (n + by - 1) / by;
}

/// The smallest power of two that is not below n.
__device__ constexpr int powerOfTwoAbove(int n) {
  int power = 1;
  while (power < n)
    power *= 2;
  return power;
}

/// The value below every other one: -inf, or the smallest integer.  `highest` is its opposite.
template <class T> __device__ __forceinline__ T lowest() {
  if constexpr (T(0.5) != T(0))
    return -T(infinity());
  else
    return T(1ull << (8 * sizeof(T) - 1));
}
template <class T> __device__ __forceinline__ T highest() {
  if constexpr (T(0.5) != T(0))
    return T(infinity());
  else
    return T(~(1ull << (8 * sizeof(T) - 1)));
}

/// Integers wrap.
template <class T> __device__ __forceinline__ T sumOf(T a, T b) {
  if constexpr (IsFloating<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T> __device__ __forceinline__ T differenceOf(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template <class T> __device__ __forceinline__ T productOf(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
}

/// NaN if either is NaN, as torch.maximum; +0 is above -0.
template <class T> __device__ __forceinline__ T maximum(T a, T b) {
  if constexpr (IsFloating<T>)
    return maximumOf(a, b);
  else
    return a < b ? b : a;
}
template <class T> __device__ __forceinline__ T minimum(T a, T b) {
  if constexpr (IsFloating<T>)
    return minimumOf(a, b);
  else
    return b < a ? b : a;
}
/// The other one if one is NaN, as fmax.
template <class T> __device__ __forceinline__ T maximumNumber(T a, T b) {
  if constexpr (IsFloating<T>)
    return maximumNumberOf(a, b);
  else
    return a < b ? b : a;
}
template <class T> __device__ __forceinline__ T minimumNumber(T a, T b) {
  if constexpr (IsFloating<T>)
    return minimumNumberOf(a, b);
  else
    return b < a ? b : a;
}

} // namespace swage
