// Functions of a float in fewer instructions than the exact ones of device/math.cuh, for values that
// are seen in 16 bits or fewer only.  Errors are in units in the last place, infinities and NaN are
// as they should be.  Included through math.cuh.
#pragma once

#include "swage/device/math.cuh"
#include "swage/numeric.cuh"

namespace swage {

namespace detail {
/// The instruction that makes reciprocals neither takes nor gives denormal numbers, so that very
/// small and very large divisors are scaled first; in a way that leaves nothing to choose where the
/// compiler knows that b is at least 1, as a sum of 1 and an exponential is.
__device__ __forceinline__ float divisorScale(float b) {
  const float size = abs(b);
  return size < 1.0f ? (size < 0x1p-100f ? 0x1p30f : 1.0f) : 0x1p-3f;
}
} // namespace detail

/// a / b within 2 units.
__device__ __forceinline__ float divideFast(float a, float b) {
  const float scale = detail::divisorScale(b);
  return a * scale * reciprocal(b * scale);
}

/// The same where b is at least 1: by more than 2^126 the quotient is 0.
__device__ __forceinline__ float divideByMore(float a, float b) { return a * reciprocal(b); }

/// a / b, right where the quotient is a normal float, else within a unit.  What is left of a behind
/// the first quotient corrects it (Markstein, IBM Journal of Research and Development, 1990); of
/// infinities and zeros nothing is.
__device__ __forceinline__ float divideClosely(float a, float b) {
  const float scale = detail::divisorScale(b);
  a *= scale;
  b *= scale;
  const float inverse = reciprocal(b), quotient = a * inverse;
  const float corrected = fma(fma(-quotient, b, a), inverse, quotient);
  return corrected == corrected && quotient != 0.0f ? corrected : quotient;
}

/// Within 2 units and 2^-24 |x|; denormal results are 0.
__device__ __forceinline__ float expFast(float x) { return exp2Fast(x * 1.4426950408889634f); }

namespace detail {

/// c[0] + c[1] x + ... + c[N - 1] x^(N - 1).
template <int N> __device__ __forceinline__ float polynomial(const float (&c)[N], float x) {
  float sum = c[N - 1];
#pragma unroll
  for (int i = N - 2; i >= 0; --i)
    sum = fma(sum, x, c[i]);
  return sum;
}

/// An odd function that rises to 1 and is 1 from `limit` on: x times a quotient of two polynomials of
/// x^2, which ends a little above 1.
template <int N, int M>
__device__ __forceinline__ float sigmoidOf(float x, float limit, const float (&above)[N],
                                           const float (&below)[M]) {
  const float size = minimum(abs(x), limit), square = size * size;
  const float quotient = size * polynomial(above, square) * reciprocal(polynomial(below, square));
  return copySign(minimum(quotient, 1.0f), x);
}

} // namespace detail

/// exp(x) - 1 within 10 units: the exponential less 1, where that is not near 0, or a Taylor polynomial.
__device__ __forceinline__ float expm1Fast(float x) {
  const float rest = detail::polynomial(
      {1.0f / 2, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040}, x);
  return abs(x) < 0.4f ? fma(x * x, rest, x) : expFast(x) - 1.0f;
}

/// log(1 + x) within 12 units: the logarithm, where that is not near 0, or 2 artanh(x / (2 + x)).
__device__ __forceinline__ float log1pFast(float x) {
  const float ratio = x * reciprocal(2.0f + x), square = ratio * ratio;
  const float rest = detail::polynomial({2.0f / 3, 2.0f / 5, 2.0f / 7, 2.0f / 9}, square);
  return abs(x) < 0.3f ? fma(ratio * square, rest, 2.0f * ratio)
                       : log2Fast(1.0f + x) * 6.93147181e-01f;
}

/// Within 4 units; by minimax approximation of relative errors, tighter towards 1, which is what is
/// left of 1 + erf(x) for negative x.
__device__ __forceinline__ float erfFast(float x) {
  return detail::sigmoidOf(x, 3.95f,
                           {1.128379039e+00f, 2.073233205e-01f, 5.486193765e-02f, 4.458248839e-03f,
                            2.945430968e-04f, 1.842232611e-06f},
                           {1.0f, 5.170657656e-01f, 1.209889814e-01f, 1.635967218e-02f,
                            1.319527663e-03f, 3.644205818e-05f});
}

/// Within 8 units: by an exponential, whose difference from 1 a short polynomial replaces near 0.
__device__ __forceinline__ float tanhFast(float x) {
  const float square = x * x;
  const float cubic =
      detail::polynomial({-3.33318819e-01f, 1.32776263e-01f, -4.77940555e-02f}, square);
  const float far = fma(-2.0f, reciprocal(1.0f + exp2Fast(x * 2.885390082f)), 1.0f);
  return abs(x) < 0.4f ? fma(x * square, cubic, x) : far;
}

} // namespace swage
