//===- Divider.h - Division by a runtime constant, host side --------------===//
//
// The host computes multiplier and shift once, the device divides by one multiplication
// (swage::Divider in templates/swage).  The layouts are the device's: these structs are copied into
// kernel parameters as they are.
//
// With s = ceil(log2 d) and m = floor(2^N * (2^s - d) / d) + 1, floor(n / d) = (mulhi(n, m) + n) >>
// s.  The bounds on n keep that sum within N bits (Granlund and Montgomery 1994, figure 4.1).
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_DIVIDER_H
#define SWAGE_RUNTIME_DIVIDER_H

#include <cassert>
#include <cstdint>

namespace swage {

/// For 0 <= n < 2^31.
struct Divider32 {
  uint32_t divisor = 1;
  uint32_t multiplier = 1;
  uint32_t shift = 0;

  Divider32() = default;
  explicit Divider32(uint32_t d) : divisor(d) {
    assert(d >= 1 && d <= (1u << 31) && "divisor out of range");
    while ((uint64_t{1} << shift) < d)
      ++shift;
    multiplier = uint32_t((((uint64_t{1} << shift) - d) << 32) / d + 1);
  }
  uint32_t divide(uint32_t n) const {
    return (uint32_t((uint64_t{n} * multiplier) >> 32) + n) >> shift;
  }
};

/// For 0 <= n < 2^62.
struct Divider64 {
  uint64_t divisor = 1;
  uint64_t multiplier = 1;
  uint32_t shift = 0;
  uint32_t padding = 0; ///< named so that the bytes are the same each time

  Divider64() = default;
  explicit Divider64(uint64_t d) : divisor(d) {
    assert(d >= 1 && d <= (uint64_t{1} << 62) && "divisor out of range");
    while ((uint64_t{1} << shift) < d)
      ++shift;
    Wide excess = (uint64_t{1} << shift) - d;
    multiplier = uint64_t((excess << 64) / d + 1);
  }
  uint64_t divide(uint64_t n) const {
    return (uint64_t((Wide(n) * multiplier) >> 64) + n) >> shift;
  }

private:
  __extension__ using Wide = unsigned __int128;
};

static_assert(sizeof(Divider32) == 12 && alignof(Divider32) == 4, "layout of the device's struct");
static_assert(sizeof(Divider64) == 24 && alignof(Divider64) == 8, "layout of the device's struct");

} // namespace swage

#endif // SWAGE_RUNTIME_DIVIDER_H
