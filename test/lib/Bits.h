//===- Bits.h - Numbers of the tests' own making ----------------*- C++ -*-===//
//
// Random numbers that are the same on every machine, and conversions written from the formats'
// definitions: the tests' side of the comparison shares no code with what it judges.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_BITS_H
#define SWAGE_TEST_LIB_BITS_H

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
/// What the matrix instructions read of an f32: the low 13 bits do not count.
inline double fromTf32(uint32_t bits) { return floatFromBits(bits & 0xffffe000u); }

} // namespace swage::test

#endif // SWAGE_TEST_LIB_BITS_H
