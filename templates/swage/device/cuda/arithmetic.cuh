// The functions of float and double that the templates themselves call; math.cuh has the others,
// and the list of errors.
#pragma once

namespace swage {

template <class T> concept IsFloating = T(0.5) != T(0);

__device__ __forceinline__ float abs(float x) { return ::fabsf(x); }
__device__ __forceinline__ double abs(double x) { return ::fabs(x); }
__device__ __forceinline__ int abs(int x) { return x < 0 ? -x : x; }
__device__ __forceinline__ long long abs(long long x) { return x < 0 ? -x : x; }
__device__ __forceinline__ float exp(float x) { return ::expf(x); }
__device__ __forceinline__ double exp(double x) { return ::exp(x); }
/// 2^x within 2 units in the last place, and 0 below the normal numbers: one instruction.
__device__ __forceinline__ float exp2Fast(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// Within 1e-6 of log2(x), relatively where that is larger: one instruction.
__device__ __forceinline__ float log2Fast(float x) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ __forceinline__ float rsqrt(float x) { return ::rsqrtf(x); }
__device__ __forceinline__ double rsqrt(double x) { return ::rsqrt(x); }
__device__ __forceinline__ float maximumNumberOf(float x, float y) { return ::fmaxf(x, y); }
__device__ __forceinline__ double maximumNumberOf(double x, double y) { return ::fmax(x, y); }
__device__ __forceinline__ float minimumNumberOf(float x, float y) { return ::fminf(x, y); }
__device__ __forceinline__ double minimumNumberOf(double x, double y) { return ::fmin(x, y); }

/// 1 / x within one unit in the last place, without the care that division takes of denormals.
__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ __forceinline__ double reciprocal(double x) { return 1.0 / x; }

/// NaN if either is NaN; +0 is above -0.
__device__ __forceinline__ float maximumOf(float x, float y) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
__device__ __forceinline__ float minimumOf(float x, float y) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
}
__device__ __forceinline__ double maximumOf(double x, double y) {
  return x != x || y != y ? x + y : ::fmax(x, y);
}
__device__ __forceinline__ double minimumOf(double x, double y) {
  return x != x || y != y ? x + y : ::fmin(x, y);
}

} // namespace swage
