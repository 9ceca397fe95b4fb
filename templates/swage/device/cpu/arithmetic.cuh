// The functions of float and double that the templates themselves call; math.cuh has the others.
#pragma once

namespace swage {

template <class T> concept IsFloating = T(0.5) != T(0);

__device__ __forceinline__ float abs(float x) { return __builtin_fabsf(x); }
__device__ __forceinline__ double abs(double x) { return __builtin_fabs(x); }
__device__ __forceinline__ int abs(int x) { return x < 0 ? -x : x; }
__device__ __forceinline__ long long abs(long long x) { return x < 0 ? -x : x; }
__device__ __forceinline__ float exp(float x) { return __builtin_expf(x); }
__device__ __forceinline__ double exp(double x) { return __builtin_exp(x); }
__device__ __forceinline__ float exp2Fast(float x) { return __builtin_exp2f(x); }
__device__ __forceinline__ float log2Fast(float x) { return __builtin_log2f(x); }
__device__ __forceinline__ float rsqrt(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}
__device__ __forceinline__ double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

namespace simt {
/// The NaN that CUDA's minimum and maximum give.
template <class T> __forceinline__ T canonicalNan() {
  if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(float, 0x7fffffffu);
  else
    return __builtin_bit_cast(double, 0x7fffffffffffffffull);
}
/// Of two numbers; +0 is above -0.
template <class T> __forceinline__ T maximum(T x, T y) {
  return x == y ? (__builtin_signbit(x) ? y : x) : x > y ? x : y;
}
template <class T> __forceinline__ T minimum(T x, T y) {
  return x == y ? (__builtin_signbit(x) ? x : y) : x < y ? x : y;
}
template <class T> __forceinline__ T maximumNumber(T x, T y) {
  return x != x ? (y != y ? canonicalNan<T>() : y) : y != y ? x : maximum(x, y);
}
template <class T> __forceinline__ T minimumNumber(T x, T y) {
  return x != x ? (y != y ? canonicalNan<T>() : y) : y != y ? x : minimum(x, y);
}
} // namespace simt

__device__ __forceinline__ float maximumNumberOf(float x, float y) { return simt::maximumNumber(x, y); }
__device__ __forceinline__ double maximumNumberOf(double x, double y) {
  return simt::maximumNumber(x, y);
}
__device__ __forceinline__ float minimumNumberOf(float x, float y) { return simt::minimumNumber(x, y); }
__device__ __forceinline__ double minimumNumberOf(double x, double y) {
  return simt::minimumNumber(x, y);
}

/// 1 / x within one unit in the last place, without the care that division takes of denormals.
__device__ __forceinline__ float reciprocal(float x) {
  constexpr float kLeastNormal = 0x1p-126f;
  if (__builtin_fabsf(x) < kLeastNormal)
    x = __builtin_copysignf(0.0f, x);
  const float result = 1.0f / x;
  return __builtin_fabsf(result) < kLeastNormal ? __builtin_copysignf(0.0f, result) : result;
}
__device__ __forceinline__ double reciprocal(double x) { return 1.0 / x; }

/// NaN if either is NaN; +0 is above -0.
__device__ __forceinline__ float maximumOf(float x, float y) {
  return x != x || y != y ? simt::canonicalNan<float>() : simt::maximum(x, y);
}
__device__ __forceinline__ float minimumOf(float x, float y) {
  return x != x || y != y ? simt::canonicalNan<float>() : simt::minimum(x, y);
}
__device__ __forceinline__ double maximumOf(double x, double y) {
  return x != x || y != y ? x + y : simt::maximum(x, y);
}
__device__ __forceinline__ double minimumOf(double x, double y) {
  return x != x || y != y ? x + y : simt::minimum(x, y);
}

} // namespace swage
