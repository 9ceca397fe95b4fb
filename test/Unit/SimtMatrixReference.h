//===- SimtMatrixReference.h - Matrix instructions, one number at a time --===//
//
// Elements by the definitions of their formats, and sums as lib/Simt/TensorCore.h describes them.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_UNIT_SIMTMATRIXREFERENCE_H
#define SWAGE_TEST_UNIT_SIMTMATRIXREFERENCE_H

#include "MatrixElements.h"
#include "TensorCore.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace swage::simt {

constexpr MatrixElement kAll[] = {MatrixElement::F16,  MatrixElement::Bf16, MatrixElement::Tf32,
                                  MatrixElement::E4m3, MatrixElement::E5m2, MatrixElement::S8,
                                  MatrixElement::U8};

/// A binary format with `exponentBits` and `mantissaBits`; `infinities` as in IEEE 754.
inline double decodeFormat(unsigned bits, int exponentBits, int mantissaBits, bool infinities) {
  const unsigned mantissa = bits & ((1u << mantissaBits) - 1);
  const unsigned exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  const double sign = bits >> (mantissaBits + exponentBits) & 1 ? -1 : 1;
  const unsigned top = (1u << exponentBits) - 1;
  const int bias = (1 << (exponentBits - 1)) - 1;
  if (infinities && exponent == top)
    return mantissa ? NAN : sign * INFINITY;
  if (!infinities && exponent == top && mantissa == (1u << mantissaBits) - 1)
    return NAN;
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(1 + std::ldexp(mantissa, -mantissaBits), int(exponent) - bias);
}

inline double decode(MatrixElement element, unsigned bits) {
  switch (element) {
  case MatrixElement::F16:
    return decodeFormat(bits & 0xffff, 5, 10, true);
  case MatrixElement::Bf16:
    return decodeFormat(bits & 0xffff, 8, 7, true);
  case MatrixElement::Tf32:
    return decodeFormat(bits >> 13, 8, 10, true);
  case MatrixElement::E4m3:
    return decodeFormat(bits & 0xff, 4, 3, false);
  case MatrixElement::E5m2:
    return decodeFormat(bits & 0xff, 5, 2, true);
  case MatrixElement::S8:
    return static_cast<int8_t>(bits);
  case MatrixElement::U8:
    return static_cast<uint8_t>(bits);
  }
  return 0;
}

/// A finite element: its sums stay finite and differ.
inline unsigned randomElement(MatrixElement element, std::mt19937 &random) {
  for (;;) {
    unsigned bits = unsigned(random());
    if (element == MatrixElement::Bf16)
      bits = (bits & 0x83ff) | 0x3c00;
    if (element == MatrixElement::Tf32)
      bits = (bits & 0x83ffffff) | 0x3c000000;
    if (elementBytes(element) < 4)
      bits &= (1u << 8 * elementBytes(element)) - 1;
    if (std::isfinite(decode(element, bits)))
      return bits;
  }
}

inline int smallestExponent(MatrixElement element) {
  switch (element) {
  case MatrixElement::E4m3:
    return -6;
  case MatrixElement::F16:
  case MatrixElement::E5m2:
    return -14;
  default:
    return -126;
  }
}

/// The exponent that a term gets from a value; none from zero.
inline int exponentOf(double value, int smallest) {
  return value == 0 ? -100000 : std::max(std::ilogb(value), smallest);
}

inline double cutToFloat(double value) {
  const float rounded = float(value);
  return std::fabs(double(rounded)) > std::fabs(value) ? std::nextafter(rounded, 0.0f) : rounded;
}

/// One instruction's sum of products[ks] and `before`; all are cut at a digit below the largest.
inline double sumOf(const std::vector<double> &products, const std::vector<int> &exponents,
                    const std::vector<unsigned> &ks, double before, int digits) {
  int largest = exponentOf(before, -126);
  for (unsigned k : ks)
    largest = std::max(largest, exponents[k]);
  if (largest < -1000)
    return 0;
  const double unit = std::ldexp(1, largest - digits);
  double sum = std::trunc(before / unit);
  for (unsigned k : ks)
    sum += std::trunc(products[k] / unit);
  return sum * unit;
}

/// What TensorCore.h says about one element of D, for finite numbers.
inline double hardwareSum(MatrixUnit unit, MatrixElement element, MatrixElement elementB,
                          const std::vector<double> &a, const std::vector<double> &b,
                          float before) {
  const bool isSmall = elementBytes(element) == 1, isWarp = unit == MatrixUnit::Warp;
  std::vector<double> products;
  std::vector<int> exponents;
  std::vector<unsigned> all, first, second;
  for (unsigned k = 0; k < a.size(); ++k) {
    products.push_back(a[k] * b[k]);
    const int of = smallestExponent(isSmall && isWarp ? MatrixElement::F16 : element);
    const int ofB = smallestExponent(isSmall && isWarp ? MatrixElement::F16 : elementB);
    exponents.push_back(exponentOf(a[k], of) + exponentOf(b[k], ofB));
    all.push_back(k);
    (k % 4 < 2 ? first : second).push_back(k);
  }
  if (!isSmall)
    return cutToFloat(sumOf(products, exponents, all, before, 25));
  if (isWarp) {
    const double half = cutToFloat(sumOf(products, exponents, first, 0, 25));
    return float(cutToFloat(sumOf(products, exponents, second, half, 25))) + before;
  }
  const double sum = sumOf(products, exponents, all, before, 13);
  if (sum == 0)
    return 0;
  const double unitOfSum = std::ldexp(1, std::ilogb(sum) - 13);
  return std::trunc(sum / unitOfSum) * unitOfSum;
}

/// Of a row of eight words.
inline std::vector<double> elementsOf(MatrixElement element, const unsigned *words) {
  const unsigned bytes = elementBytes(element);
  std::vector<double> elements;
  for (unsigned k = 0; k < 32 / bytes; ++k)
    elements.push_back(decode(element, words[k * bytes / 4] >> 8 * (k * bytes % 4)));
  return elements;
}

// Matrix descriptors.
inline uint64_t encode(unsigned start, unsigned leading, unsigned stride, unsigned swizzle) {
  return start >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
         uint64_t(swizzle) << 62;
}
constexpr unsigned kSpans[] = {16, 128, 64, 32};

} // namespace swage::simt

#endif // SWAGE_TEST_UNIT_SIMTMATRIXREFERENCE_H
