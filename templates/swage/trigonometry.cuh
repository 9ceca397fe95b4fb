// Sine, cosine and tangent of a float, for both twins.  The library's reduction of large arguments
// indexes a table on the stack, and no kernel of Swage may touch local memory, so the reduction is
// done here, in registers.
#pragma once

#include "swage/device/math.cuh"

namespace swage {

/// An angle as quadrant * pi/2 + rest, |rest| <= pi/4.
struct Angle {
  float rest;
  int quadrant;
};

/// |x| above 105615, finite (Payne and Hanek): multiplies by the 96 bits of 2/pi that matter.
__device__ __forceinline__ Angle reduceLargeAngle(float x) {
  const unsigned bits = bitCast<unsigned>(x);
  const unsigned significand = bits << 8 | 0x80000000u;
  const unsigned first =
      (bits >> 23 & 0xffu) - 128; // the first bit needed; bits of the words below count from 0
  const unsigned at = first / 32, shift = first % 32;
  const unsigned w0 = 0u, w1 = 0xa2f9836eu, w2 = 0x4e441529u, w3 = 0xfc2757d1u, w4 = 0xf534ddc0u,
                 w5 = 0xdb629599u, w6 = 0x3c439041u;
  const unsigned a = at == 0 ? w0 : at == 1 ? w1 : at == 2 ? w2 : w3;
  const unsigned b = at == 0 ? w1 : at == 1 ? w2 : at == 2 ? w3 : w4;
  const unsigned c = at == 0 ? w2 : at == 1 ? w3 : at == 2 ? w4 : w5;
  const unsigned d = at == 0 ? w3 : at == 1 ? w4 : at == 2 ? w5 : w6;
  using Wide = unsigned long long;
  const unsigned high = static_cast<unsigned>((Wide(a) << 32 | b) << shift >> 32);
  const unsigned middle = static_cast<unsigned>((Wide(b) << 32 | c) << shift >> 32);
  const unsigned low = static_cast<unsigned>((Wide(c) << 32 | d) << shift >> 32);
  const Wide tail = Wide(significand) * middle + mulHigh(significand, low);
  const Wide product = Wide(significand * high) * (1ull << 32) + tail; // modulo 4, scaled by 2^62
  const double rest =
      static_cast<double>(static_cast<long long>(product << 2)) * 0x1p-64 * 1.5707963267948966;
  const int quadrant = static_cast<int>(product >> 62) + static_cast<int>(product >> 61 & 1);
  return x < 0 ? Angle{-static_cast<float>(rest), -quadrant}
               : Angle{static_cast<float>(rest), quadrant};
}

__device__ __forceinline__ Angle reduceAngle(float x) {
  if (abs(x) > 105615.0f && abs(x) < static_cast<float>(infinity()))
    return reduceLargeAngle(x);
  const float turns = fma(x, 0.636619747f, 12582912.0f) - 12582912.0f;
  float rest = fma(turns, -1.57079601e+00f, x);
  rest = fma(turns, -3.13916473e-07f, rest);
  rest = fma(turns, -5.39030253e-15f, rest);
  return {rest, static_cast<int>(turns)};
}

__device__ __forceinline__ float sineOrCosine(Angle angle, int quadrant) {
  const float x = angle.rest, square = x * x;
  float sine = fma(2.86567956e-6f, square, -1.98559923e-4f);
  sine = fma(sine, square, 8.33338592e-3f);
  sine = fma(sine, square, -1.66666672e-1f);
  sine = fma(sine, fma(x, square, 0.0f), x);
  float cosine = fma(2.44677067e-5f, square, -1.38877297e-3f);
  cosine = fma(cosine, square, 4.16666567e-2f);
  cosine = fma(cosine, square, -0.5f);
  cosine = fma(cosine, square, 1.0f);
  const float value = quadrant & 1 ? cosine : sine;
  return quadrant & 2 ? -value : value;
}

__device__ __forceinline__ float sin(float x) {
  const Angle angle = reduceAngle(x);
  return sineOrCosine(angle, angle.quadrant);
}
__device__ __forceinline__ float cos(float x) {
  const Angle angle = reduceAngle(x);
  return sineOrCosine(angle, angle.quadrant + 1);
}
__device__ __forceinline__ float tan(float x) {
  const Angle angle = reduceAngle(x);
  return sineOrCosine(angle, angle.quadrant) / sineOrCosine(angle, angle.quadrant + 1);
}

} // namespace swage
