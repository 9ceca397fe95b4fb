// Conversions of 8-bit floats by their parts, where no instruction does it.
#pragma once

namespace swage {

/// The float of which `bits` are sign, exponent and Mantissa bits; above `largest`, infinity and
/// NaN, or NaN alone.
template <int Mantissa, int Bias>
__device__ __forceinline__ float widenByParts(unsigned bits, unsigned largest) {
  const unsigned sign = (bits & 0x80u) << 24, magnitude = bits & 0x7fu;
  // The exponent's bias is mended by a multiplication, which also normalises.
  const float mend = __builtin_bit_cast(float, static_cast<unsigned>(254 - Bias) << 23);
  const float scaled = __builtin_bit_cast(float, magnitude << (23 - Mantissa)) * mend;
  const unsigned number = sign | __builtin_bit_cast(unsigned, scaled);
  const unsigned special = magnitude == 0x7cu ? sign | 0x7f800000u : 0x7fffffffu;
  return __builtin_bit_cast(float, magnitude > largest ? special : number);
}

/// The nearest one, to even; `most` where that is larger; NaN is 0x7f.
template <int Mantissa, int Bias>
__device__ __forceinline__ unsigned narrowByParts(float value, unsigned most) {
  const unsigned bits = __builtin_bit_cast(unsigned, value), magnitude = bits & 0x7fffffffu;
  // Denormal: adding a number whose last bit is the least denormal rounds to multiples of it.
  constexpr unsigned kMagic = static_cast<unsigned>(127 + 1 - Bias - Mantissa + 23) << 23;
  const float shifted = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, kMagic);
  const unsigned denormal = __builtin_bit_cast(unsigned, shifted) - kMagic;
  constexpr int kDropped = 23 - Mantissa;
  const unsigned even = magnitude >> kDropped & 1u;
  const unsigned rounded = magnitude + ((1u << (kDropped - 1)) - 1) + even;
  const unsigned normal = (rounded - (static_cast<unsigned>(127 - Bias) << 23)) >> kDropped;
  const bool isDenormal = magnitude < static_cast<unsigned>(128 - Bias) << 23;
  const unsigned narrow = isDenormal ? denormal : normal < most ? normal : most;
  return magnitude > 0x7f800000u ? 0x7fu : (bits >> 24 & 0x80u) | narrow;
}

/// A pair of e4m3, the lower half of a word or the upper one, as a pair of f16.
template <bool Upper> __device__ __forceinline__ unsigned halvesByParts(unsigned word) {
  const unsigned bytes = permuteBytes(word, 0, Upper ? 0x3424 : 0x1404);
  // As f16 of the same exponent and mantissa bits they are smaller by 2^8, and 1.875 is no number:
  // times 36864 that alone is infinite, and zero times infinity NaN; less of
  // the other sign a zero keeps its own.
  const unsigned small = maskedXor(bytes, 0x80008000u, bytes >> 1 & 0x3f803f80u),
                 large = multiplyPairs(f16{}, small, 0x78807880u);
  return subtractPairs(f16{}, multiplyPairs(f16{}, small, 0x5c005c00u),
                       multiplyPairs(f16{}, large, 0x80008000u));
}

} // namespace swage
