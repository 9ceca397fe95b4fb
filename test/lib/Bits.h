//===- Bits.h - Numbers of the tests' own making ----------------*- C++ -*-===//
//
// Random numbers that are the same on every machine, and conversions written from the formats'
// definitions: the tests' side of the comparison shares no code with what it judges.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_BITS_H
#define SWAGE_TEST_LIB_BITS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace swage::test {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t end) { return next() % end; }
  /// In [0, 1).
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  /// Nearly normal: the sum of twelve uniform numbers.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += uniform();
    return sum;
  }

private:
  uint64_t state;
};

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline float floatFromBf16(uint16_t bits) { return floatFromBits(uint32_t(bits) << 16); }
/// To nearest even; a NaN stays one.
inline uint16_t bf16FromFloat(float value) {
  uint32_t bits = bitsOf(value);
  if (value != value)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// A binary format of `exponentBits` and `fractionBits` after the sign, IEEE encoding.
inline double fromFormat(uint64_t bits, int exponentBits, int fractionBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  uint64_t fraction = bits & ((uint64_t(1) << fractionBits) - 1);
  int exponent = int(bits >> fractionBits & ((1u << exponentBits) - 1));
  double sign = bits >> (exponentBits + fractionBits) & 1 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return fraction ? NAN : sign * INFINITY;
  double value = exponent == 0 ? std::ldexp(double(fraction), 1 - bias - fractionBits)
                               : std::ldexp(double(fraction) + std::ldexp(1.0, fractionBits),
                                            exponent - bias - fractionBits);
  return sign * value;
}
inline double fromF16(uint16_t bits) { return fromFormat(bits, 5, 10); }
inline double fromE5m2(uint8_t bits) { return fromFormat(bits, 5, 2); }
/// No infinities; 0x7f and 0xff are NaN, and the exponent of all ones is one like the others.
inline double fromE4m3(uint8_t bits) {
  if ((bits & 0x7f) == 0x7f)
    return NAN;
  int exponent = bits >> 3 & 15, fraction = bits & 7;
  double value = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return bits & 0x80 ? -value : value;
}
/// To nearest even in a binary format with infinities; what overflows becomes one.  Not for NaN.
inline uint64_t toFormat(double value, int exponentBits, int fractionBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  uint64_t sign = uint64_t(std::signbit(value)) << (exponentBits + fractionBits);
  double magnitude = std::abs(value);
  uint64_t infinity = ((uint64_t(1) << exponentBits) - 1) << fractionBits;
  if (std::isinf(magnitude))
    return sign | infinity;
  int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place: nearbyint rounds to even.
  double units = std::nearbyint(std::ldexp(magnitude, fractionBits - exponent));
  // A carry into the next exponent is right as it stands, and so is the step up from denormals.
  uint64_t bits = uint64_t(units) + (uint64_t(exponent + bias - 1) << fractionBits);
  return sign | std::min(bits, infinity);
}
inline uint16_t toF16(double value) {
  return std::isnan(value) ? 0x7fff : uint16_t(toFormat(value, 5, 10));
}
inline uint16_t toBf16(double value) {
  return std::isnan(value) ? 0x7fff : uint16_t(toFormat(value, 8, 7));
}
/// Saturated (cvt.satfinite): the largest number instead of infinity.
inline uint8_t toE5m2(double value) {
  if (std::isnan(value))
    return 0x7f;
  uint8_t bits = uint8_t(toFormat(value, 5, 2));
  return (bits & 0x7f) >= 0x7c ? uint8_t((bits & 0x80) | 0x7b) : bits;
}
inline uint8_t toE4m3(double value) {
  if (std::isnan(value))
    return 0x7f;
  double magnitude = std::abs(value);
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (magnitude >= 448)
    return sign | 0x7e;
  int exponent = magnitude == 0 ? -6 : std::max(std::ilogb(magnitude), -6);
  return uint8_t(sign | (uint8_t(std::nearbyint(std::ldexp(magnitude, 3 - exponent))) +
                         ((exponent + 6) << 3)));
}
/// What the matrix instructions read of an f32: the low 13 bits do not count.
inline double fromTf32(uint32_t bits) { return floatFromBits(bits & 0xffffe000u); }

} // namespace swage::test

#endif // SWAGE_TEST_LIB_BITS_H
