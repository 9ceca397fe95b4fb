//===- NumberFormat.h - Element types and their rounding --------*- C++ -*-===//
//
// The oracle computes in f64 and must know exactly what a storage type can hold. Everything here
// rounds straight from double, once, to nearest even; the unit test compares it with llvm::APFloat.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_NUMBERFORMAT_H
#define SWAGE_REFERENCE_NUMBERFORMAT_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace swage::reference {

/// What a tensor may hold, as it lies in memory. I1 takes one byte, 0 or 1.
enum class ElementType : uint8_t { F8E4M3FN, F8E5M2, F16, BF16, F32, F64, I1, I8, I32, I64 };

constexpr bool isFloat(ElementType type) { return type <= ElementType::F64; }

constexpr unsigned byteWidth(ElementType type) {
  switch (type) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::I1:
  case ElementType::I8:
    return 1;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  }
  return 0;
}

/// As MLIR spells it: "f16", "bf16", "i1", ...
const char *name(ElementType type);

/// A binary floating-point format: `precision` significant bits, the implicit one included, and
/// the exponents of its smallest and largest normal numbers.
struct FloatFormat {
  int precision;
  int minExponent;
  int maxExponent;
  double largest;
  bool hasInfinity = true; ///< if not, NaN stands for what is too large
};

constexpr FloatFormat kF8E4M3FN = {4, -6, 8, 448.0, false};
constexpr FloatFormat kF8E5M2 = {3, -14, 15, 57344.0};
constexpr FloatFormat kF16 = {11, -14, 15, 65504.0};
constexpr FloatFormat kBF16 = {8, -126, 127, 0x1.FEp127};
constexpr FloatFormat kF32 = {24, -126, 127, 0x1.FFFFFEp127};
constexpr FloatFormat kF64 = {53, -1022, 1023, 0x1.FFFFFFFFFFFFFp1023};

/// The format of a float type; integers have none.
constexpr FloatFormat formatOf(ElementType type) {
  return type == ElementType::F8E4M3FN ? kF8E4M3FN
         : type == ElementType::F8E5M2 ? kF8E5M2
         : type == ElementType::F16    ? kF16
         : type == ElementType::BF16   ? kBF16
         : type == ElementType::F32    ? kF32
                                       : kF64;
}

inline uint64_t bitsOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// 2^exponent, for exponents of normal doubles.
inline double powerOfTwo(int exponent) {
  uint64_t bits = static_cast<uint64_t>(exponent + 1023) << 52;
  double result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

/// The exponent of |x|'s leading bit, clamped to the normal numbers of the format.
inline int clampedExponent(const FloatFormat &format, double x) {
  int exponent = static_cast<int>((bitsOf(x) >> 52) & 0x7ff) - 1023;
  return exponent < format.minExponent   ? format.minExponent
         : exponent > format.maxExponent ? format.maxExponent
                                         : exponent;
}

/// Distance between neighbours of the format at x; at denormals, infinities and NaN that of the
/// nearest normal numbers.
inline double ulp(const FloatFormat &format, double x) {
  int exponent = clampedExponent(format, x) - format.precision + 1;
  return exponent >= -1022 ? powerOfTwo(exponent) : std::ldexp(1.0, exponent);
}

/// x rounded to nearest even in the format, overflowing to infinity, or NaN where it has none.
inline double roundTo(const FloatFormat &format, double x) {
  if (format.precision == 53)
    return x;
  if (format.precision == 24)
    return static_cast<float>(x);
  double tooLarge = std::copysign(format.hasInfinity ? HUGE_VAL : NAN, x);
  if (!std::isfinite(x))
    return std::isinf(x) ? tooLarge : x;
  // Adding 1.5 * 2^52 neighbours-distances leaves no room below that distance: the hardware rounds.
  double shifter = 0x1.8p52 * powerOfTwo(clampedExponent(format, x) - format.precision + 1);
  double shifted = x + shifter;
  double rounded = std::copysign(shifted - shifter, x);
  return std::fabs(rounded) > format.largest ? tooLarge : rounded;
}

inline double roundTo(ElementType type, double x) { return roundTo(formatOf(type), x); }

/// Storage bits of a float; x need not be representable. NaN becomes the canonical quiet NaN.
uint64_t encode(ElementType type, double x);

/// Value of storage bits; the bits above the type's width are ignored.
double decode(ElementType type, uint64_t bits);

inline double decodeHalf(uint16_t bits) {
  uint64_t sign = static_cast<uint64_t>(bits & 0x8000) << 48;
  unsigned exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude;
  if (exponent == 0) {
    magnitude = mantissa * 0x1p-24;
  } else {
    uint64_t wide = (static_cast<uint64_t>(exponent == 31 ? 0x7ff : exponent + 1008) << 52) |
                    (static_cast<uint64_t>(mantissa) << 42);
    std::memcpy(&magnitude, &wide, sizeof wide);
  }
  return sign ? -magnitude : magnitude;
}

inline double decodeE4M3(uint8_t bits) {
  int exponent = (bits >> 3) & 15, mantissa = bits & 7;
  double magnitude = (bits & 0x7f) == 0x7f ? NAN
                     : exponent == 0       ? mantissa * 0x1p-9
                                           : (8 + mantissa) * powerOfTwo(exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

/// The upper half of an f16.
inline double decodeE5M2(uint8_t bits) { return decodeHalf(static_cast<uint16_t>(bits << 8)); }

inline double decodeBFloat(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float result;
  std::memcpy(&result, &wide, sizeof wide);
  return result;
}

/// The next larger (up) or smaller representable number; x must be representable, infinities stay.
double nextRepresentable(ElementType type, double x, bool up);

/// Steps of the format between the roundings of a and b; 0 for two zeros, INT64_MAX where either
/// is NaN.
int64_t ulpDistance(ElementType type, double a, double b);

} // namespace swage::reference

#endif // SWAGE_REFERENCE_NUMBERFORMAT_H
