//===- RuntimeDividerTest.cpp - Division by a runtime constant ------------===//
//
// Against the machine's division, around every edge: powers of two and their neighbours for the
// divisor, multiples and their neighbours for the dividend.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/Divider.h"

#include <gtest/gtest.h>
#include <random>

using namespace swage;

/// Every n < limit of the form k * d + {-1, 0, 1}, for small k, for k near limit / d, and for
/// powers of two.
template <class Divider, class Int> static void checkDivisor(Int d, Int limit) {
  Divider divider(d);
  ASSERT_EQ(divider.divisor, d);
  auto check = [&](Int n) {
    if (n < limit) {
      ASSERT_EQ(divider.divide(n), n / d) << n << " / " << d;
    }
  };
  auto around = [&](Int n) {
    check(n - 1);
    check(n);
    check(n + 1);
  };
  for (Int k = 0; k < 8; ++k) {
    around(k * d);
    around((limit / d - k) * d);
    check(limit - 1 - k);
    check(k);
  }
  for (Int power = 1; power < limit; power *= 2)
    around(power);
}

TEST(Divider32, SmallDivisorsAndDividends) {
  for (uint32_t d = 1; d < 300; ++d) {
    Divider32 divider(d);
    for (uint32_t n = 0; n < 5000; ++n)
      ASSERT_EQ(divider.divide(n), n / d) << n << " / " << d;
  }
}

TEST(Divider32, Edges) {
  const uint32_t limit = 1u << 31;
  for (uint32_t d = 1; d < 5000; ++d)
    checkDivisor<Divider32>(d, limit);
  for (uint32_t power = 4; power < limit; power *= 2)
    for (int offset = -3; offset <= 3; ++offset)
      checkDivisor<Divider32>(power + offset, limit);
  for (uint32_t d = limit - 5; d <= limit; ++d)
    checkDivisor<Divider32>(d, limit);
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    uint32_t d = 1 + (random() >> (random() % 31)) % (limit - 1), n = random() % limit;
    ASSERT_EQ(Divider32(d).divide(n), n / d) << n << " / " << d;
  }
}

TEST(Divider64, Edges) {
  const uint64_t limit = uint64_t{1} << 62;
  for (uint64_t d = 1; d < 2000; ++d)
    checkDivisor<Divider64>(d, limit);
  for (uint64_t power = 4; power < limit; power *= 2)
    for (int offset = -3; offset <= 3; ++offset)
      checkDivisor<Divider64>(power + offset, limit);
  for (uint64_t d = limit - 5; d <= limit; ++d)
    checkDivisor<Divider64>(d, limit);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    uint64_t d = 1 + (random() >> (random() % 63)) % (limit - 1), n = random() % limit;
    ASSERT_EQ(Divider64(d).divide(n), n / d) << n << " / " << d;
  }
}
