// Transcendental and rounding functions for float and double: those of the host's library, which is
// within one unit in the last place nearly everywhere.
#pragma once

#include "swage/device/cpu/arithmetic.cuh"
#include "swage/device/cpu/bits.cuh"

namespace swage {

__device__ __forceinline__ float sqrt(float x) { return __builtin_sqrtf(x); }
__device__ __forceinline__ double sqrt(double x) { return __builtin_sqrt(x); }
__device__ __forceinline__ float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__device__ __forceinline__ double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__device__ __forceinline__ float exp2(float x) { return __builtin_exp2f(x); }
__device__ __forceinline__ double exp2(double x) { return __builtin_exp2(x); }
__device__ __forceinline__ float expm1(float x) { return __builtin_expm1f(x); }
__device__ __forceinline__ double expm1(double x) { return __builtin_expm1(x); }
__device__ __forceinline__ float log(float x) { return __builtin_logf(x); }
__device__ __forceinline__ double log(double x) { return __builtin_log(x); }
__device__ __forceinline__ float log2(float x) { return __builtin_log2f(x); }
__device__ __forceinline__ double log2(double x) { return __builtin_log2(x); }
__device__ __forceinline__ float log10(float x) { return __builtin_log10f(x); }
__device__ __forceinline__ double log10(double x) { return __builtin_log10(x); }
__device__ __forceinline__ float log1p(float x) { return __builtin_log1pf(x); }
__device__ __forceinline__ double log1p(double x) { return __builtin_log1p(x); }
__device__ __forceinline__ float cbrt(float x) { return __builtin_cbrtf(x); }
__device__ __forceinline__ double cbrt(double x) { return __builtin_cbrt(x); }
__device__ __forceinline__ float tanh(float x) { return __builtin_tanhf(x); }
__device__ __forceinline__ double tanh(double x) { return __builtin_tanh(x); }
__device__ __forceinline__ float sinh(float x) { return __builtin_sinhf(x); }
__device__ __forceinline__ double sinh(double x) { return __builtin_sinh(x); }
__device__ __forceinline__ float cosh(float x) { return __builtin_coshf(x); }
__device__ __forceinline__ double cosh(double x) { return __builtin_cosh(x); }
__device__ __forceinline__ float asin(float x) { return __builtin_asinf(x); }
__device__ __forceinline__ double asin(double x) { return __builtin_asin(x); }
__device__ __forceinline__ float acos(float x) { return __builtin_acosf(x); }
__device__ __forceinline__ double acos(double x) { return __builtin_acos(x); }
__device__ __forceinline__ float atan(float x) { return __builtin_atanf(x); }
__device__ __forceinline__ double atan(double x) { return __builtin_atan(x); }
__device__ __forceinline__ float asinh(float x) { return __builtin_asinhf(x); }
__device__ __forceinline__ double asinh(double x) { return __builtin_asinh(x); }
__device__ __forceinline__ float acosh(float x) { return __builtin_acoshf(x); }
__device__ __forceinline__ double acosh(double x) { return __builtin_acosh(x); }
__device__ __forceinline__ float atanh(float x) { return __builtin_atanhf(x); }
__device__ __forceinline__ double atanh(double x) { return __builtin_atanh(x); }
__device__ __forceinline__ float erf(float x) { return __builtin_erff(x); }
__device__ __forceinline__ double erf(double x) { return __builtin_erf(x); }
__device__ __forceinline__ float erfc(float x) { return __builtin_erfcf(x); }
__device__ __forceinline__ double erfc(double x) { return __builtin_erfc(x); }
__device__ __forceinline__ float floor(float x) { return __builtin_floorf(x); }
__device__ __forceinline__ double floor(double x) { return __builtin_floor(x); }
__device__ __forceinline__ float ceil(float x) { return __builtin_ceilf(x); }
__device__ __forceinline__ double ceil(double x) { return __builtin_ceil(x); }
__device__ __forceinline__ float trunc(float x) { return __builtin_truncf(x); }
__device__ __forceinline__ double trunc(double x) { return __builtin_trunc(x); }
__device__ __forceinline__ float round(float x) { return __builtin_roundf(x); }
__device__ __forceinline__ double round(double x) { return __builtin_round(x); }
__device__ __forceinline__ float roundEven(float x) { return __builtin_rintf(x); }
__device__ __forceinline__ double roundEven(double x) { return __builtin_rint(x); }
__device__ __forceinline__ int roundToInt(float x) { return static_cast<int>(__builtin_rintf(x)); }
__device__ __forceinline__ signed char roundToByte(float x) {
  return static_cast<signed char>(x != x ? 0.0f
                                         : __builtin_rintf(x < -128  ? -128.0f
                                                           : x > 127 ? 127.0f
                                                                     : x));
}

// 1 whatever the other argument is, where the host's library makes an exception of signalling NaNs.
__device__ __forceinline__ float pow(float x, float y) {
  return x == 1 || y == 0 ? 1.0f : __builtin_powf(x, y);
}
__device__ __forceinline__ double pow(double x, double y) {
  return x == 1 || y == 0 ? 1.0 : __builtin_pow(x, y);
}
__device__ __forceinline__ float atan2(float x, float y) { return __builtin_atan2f(x, y); }
__device__ __forceinline__ double atan2(double x, double y) { return __builtin_atan2(x, y); }
__device__ __forceinline__ float copySign(float x, float y) { return __builtin_copysignf(x, y); }
__device__ __forceinline__ double copySign(double x, double y) { return __builtin_copysign(x, y); }
__device__ __forceinline__ float remainder(float x, float y) { return __builtin_fmodf(x, y); }
__device__ __forceinline__ double remainder(double x, double y) { return __builtin_fmod(x, y); }

__device__ __forceinline__ double sin(double x) { return __builtin_sin(x); }
__device__ __forceinline__ double cos(double x) { return __builtin_cos(x); }
__device__ __forceinline__ double tan(double x) { return __builtin_tan(x); }

} // namespace swage
