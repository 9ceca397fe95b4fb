//===- NumberFormat.cpp - Encoding of storage types -----------------------===//

#include "swage/Reference/NumberFormat.h"

using namespace swage::reference;

const char *swage::reference::name(ElementType type) {
  static const char *const names[] = {"f8E4M3FN", "f8E5M2", "f16", "bf16", "f32",
                                      "f64",      "i1",     "i8",  "i32",  "i64"};
  return names[static_cast<int>(type)];
}

/// Of the types that are narrower than an f32 and no half of one.
static uint64_t encodeNarrow(ElementType type, double x) {
  FloatFormat format = formatOf(type);
  unsigned signBit = 8 * byteWidth(type) - 1, mantissa = format.precision - 1;
  uint64_t sign = bitsOf(x) >> 63 << signBit;
  // All ones but the sign, and that with a mantissa of nothing.
  uint64_t ones = (1ull << signBit) - 1, infinity = ones >> mantissa << mantissa;
  double magnitude = std::fabs(roundTo(format, x));
  if (std::isnan(magnitude))
    return sign | (format.hasInfinity ? infinity | 1ull << (mantissa - 1) : ones);
  if (std::isinf(magnitude))
    return sign | infinity;
  if (magnitude < powerOfTwo(format.minExponent))
    return sign | static_cast<uint64_t>(std::ldexp(magnitude, mantissa - format.minExponent));
  return sign | ((bitsOf(magnitude) >> (52 - mantissa)) -
                 (static_cast<uint64_t>(1022 + format.minExponent) << mantissa));
}

static uint64_t encodeFloat(double x) {
  float narrow = static_cast<float>(x);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return std::isnan(x) ? (bits & 0x80000000u) | 0x7fc00000u : bits;
}

uint64_t swage::reference::encode(ElementType type, double x) {
  switch (type) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F16:
    return encodeNarrow(type, x);
  case ElementType::BF16:
    return encodeFloat(roundTo(kBF16, x)) >> 16;
  case ElementType::F32:
    return encodeFloat(x);
  default:
    return std::isnan(x) ? (bitsOf(x) & (1ull << 63)) | 0x7ff8000000000000u : bitsOf(x);
  }
}

double swage::reference::decode(ElementType type, uint64_t bits) {
  switch (type) {
  case ElementType::F8E4M3FN:
    return decodeE4M3(static_cast<uint8_t>(bits));
  case ElementType::F8E5M2:
    return decodeE5M2(static_cast<uint8_t>(bits));
  case ElementType::F16:
    return decodeHalf(static_cast<uint16_t>(bits));
  case ElementType::BF16:
    return decodeBFloat(static_cast<uint16_t>(bits));
  case ElementType::F32: {
    uint32_t narrow = static_cast<uint32_t>(bits);
    float result;
    std::memcpy(&result, &narrow, sizeof result);
    return result;
  }
  default: {
    double result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  }
  }
}

/// Representable numbers in order as consecutive integers; both zeros are 0.
static int64_t ordinal(ElementType type, double x) {
  uint64_t bits = encode(type, x);
  uint64_t signBit = 1ull << (8 * byteWidth(type) - 1);
  int64_t magnitude = static_cast<int64_t>(bits & (signBit - 1));
  return bits & signBit ? -magnitude : magnitude;
}

double swage::reference::nextRepresentable(ElementType type, double x, bool up) {
  if (!std::isfinite(x))
    return x;
  int64_t next = ordinal(type, x) + (up ? 1 : -1);
  uint64_t signBit = 1ull << (8 * byteWidth(type) - 1);
  return decode(type, next < 0 ? signBit | static_cast<uint64_t>(-next) : next);
}

int64_t swage::reference::ulpDistance(ElementType type, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return INT64_MAX;
  int64_t from = ordinal(type, a), to = ordinal(type, b);
  // Two doubles of opposite sign can be further apart than an int64_t counts.
  __int128 distance = static_cast<__int128>(to) - from;
  if (distance < 0)
    distance = -distance;
  return distance > INT64_MAX ? INT64_MAX : static_cast<int64_t>(distance);
}
