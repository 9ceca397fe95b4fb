// Transcendental and rounding functions for float and double, except the few that the templates
// themselves call (arithmetic.cuh).  Not part of device.cuh: parsing it costs every
// compilation a few milliseconds, so only kernels that call one include it, through swage/math.cuh.
//
// Built on the compiler's own math library, which NVRTC carries without headers.  Largest error in
// units in the last place over the whole range of float (the numbers of NVIDIA's programming guide,
// where they apply):
//   0    sqrt, fma, floor, ceil, trunc, round, roundEven, abs, copySign, remainder
//   1    log, log2, log1p, expm1, cbrt
//   2    exp, exp2, log10, tanh, erf, atan, asin, rsqrt, and sin and cos (trigonometry.cuh)
//   4    pow, tan, erfc, atan2, sinh, cosh, acos, and the inverse hyperbolic ones
// Double is within 3, erfc within 5, and denormals are kept everywhere: Swage never compiles with
// fast-math.
#pragma once

#include "swage/device/cuda/arithmetic.cuh"
#include "swage/device/cuda/bits.cuh"

namespace swage {

__device__ __forceinline__ float sqrt(float x) { return ::sqrtf(x); }
__device__ __forceinline__ double sqrt(double x) { return ::sqrt(x); }
__device__ __forceinline__ float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
__device__ __forceinline__ double fma(double x, double y, double z) { return ::fma(x, y, z); }
__device__ __forceinline__ float exp2(float x) { return ::exp2f(x); }
__device__ __forceinline__ double exp2(double x) { return ::exp2(x); }
__device__ __forceinline__ float expm1(float x) { return ::expm1f(x); }
__device__ __forceinline__ double expm1(double x) { return ::expm1(x); }
__device__ __forceinline__ float log(float x) { return ::logf(x); }
__device__ __forceinline__ double log(double x) { return ::log(x); }
__device__ __forceinline__ float log2(float x) { return ::log2f(x); }
__device__ __forceinline__ double log2(double x) { return ::log2(x); }
__device__ __forceinline__ float log10(float x) { return ::log10f(x); }
__device__ __forceinline__ double log10(double x) { return ::log10(x); }
__device__ __forceinline__ float log1p(float x) { return ::log1pf(x); }
__device__ __forceinline__ double log1p(double x) { return ::log1p(x); }
__device__ __forceinline__ float cbrt(float x) { return ::cbrtf(x); }
__device__ __forceinline__ double cbrt(double x) { return ::cbrt(x); }
__device__ __forceinline__ float tanh(float x) { return ::tanhf(x); }
__device__ __forceinline__ double tanh(double x) { return ::tanh(x); }
__device__ __forceinline__ float sinh(float x) { return ::sinhf(x); }
__device__ __forceinline__ double sinh(double x) { return ::sinh(x); }
__device__ __forceinline__ float cosh(float x) { return ::coshf(x); }
__device__ __forceinline__ double cosh(double x) { return ::cosh(x); }
__device__ __forceinline__ float asin(float x) { return ::asinf(x); }
__device__ __forceinline__ double asin(double x) { return ::asin(x); }
__device__ __forceinline__ float acos(float x) { return ::acosf(x); }
__device__ __forceinline__ double acos(double x) { return ::acos(x); }
__device__ __forceinline__ float atan(float x) { return ::atanf(x); }
__device__ __forceinline__ double atan(double x) { return ::atan(x); }
__device__ __forceinline__ float asinh(float x) { return ::asinhf(x); }
__device__ __forceinline__ double asinh(double x) { return ::asinh(x); }
__device__ __forceinline__ float acosh(float x) { return ::acoshf(x); }
__device__ __forceinline__ double acosh(double x) { return ::acosh(x); }
__device__ __forceinline__ float atanh(float x) { return ::atanhf(x); }
__device__ __forceinline__ double atanh(double x) { return ::atanh(x); }
__device__ __forceinline__ float erf(float x) { return ::erff(x); }
__device__ __forceinline__ double erf(double x) { return ::erf(x); }
__device__ __forceinline__ float erfc(float x) { return ::erfcf(x); }
__device__ __forceinline__ double erfc(double x) { return ::erfc(x); }
__device__ __forceinline__ float floor(float x) { return ::floorf(x); }
__device__ __forceinline__ double floor(double x) { return ::floor(x); }
__device__ __forceinline__ float ceil(float x) { return ::ceilf(x); }
__device__ __forceinline__ double ceil(double x) { return ::ceil(x); }
__device__ __forceinline__ float trunc(float x) { return ::truncf(x); }
__device__ __forceinline__ double trunc(double x) { return ::trunc(x); }
__device__ __forceinline__ float round(float x) { return ::roundf(x); }
__device__ __forceinline__ double round(double x) { return ::round(x); }
__device__ __forceinline__ float roundEven(float x) { return ::rintf(x); }
__device__ __forceinline__ double roundEven(double x) { return ::rint(x); }
__device__ __forceinline__ int roundToInt(float x) { return ::__float2int_rn(x); }
/// Saturates; 0 of NaN.
__device__ __forceinline__ signed char roundToByte(float x) {
  int result;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(result) : "f"(x));
  return static_cast<signed char>(result);
}

__device__ __forceinline__ float pow(float x, float y) { return ::powf(x, y); }
__device__ __forceinline__ double pow(double x, double y) { return ::pow(x, y); }
__device__ __forceinline__ float atan2(float x, float y) { return ::atan2f(x, y); }
__device__ __forceinline__ double atan2(double x, double y) { return ::atan2(x, y); }
__device__ __forceinline__ float copySign(float x, float y) { return ::copysignf(x, y); }
__device__ __forceinline__ double copySign(double x, double y) { return ::copysign(x, y); }
__device__ __forceinline__ float remainder(float x, float y) { return ::fmodf(x, y); }
__device__ __forceinline__ double remainder(double x, double y) { return ::fmod(x, y); }

__device__ __forceinline__ double sin(double x) { return ::sin(x); }
__device__ __forceinline__ double cos(double x) { return ::cos(x); }
__device__ __forceinline__ double tan(double x) { return ::tan(x); }

} // namespace swage
