//===- SizeExprTest.cpp - Arithmetic on symbolic sizes --------------------===//

#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace mlir;
using namespace swage;

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

class SizeExpr : public testing::Test {
protected:
  AffineExpr symbol(unsigned i) { return getAffineSymbolExpr(i, &context); }
  AffineExpr dim(unsigned i) { return getAffineDimExpr(i, &context); }
  AffineExpr number(int64_t value) { return getAffineConstantExpr(value, &context); }

  MLIRContext context;
  AffineExpr s0 = symbol(0), s1 = symbol(1), s2 = symbol(2);
};

} // namespace

TEST_F(SizeExpr, equalPolynomialsHaveOneForm) {
  EXPECT_EQ(normalizeSize(s0 * s1), normalizeSize(s1 * s0));
  EXPECT_EQ(normalizeSize((s0 + 1) * (s1 + 2)), normalizeSize(s1 * s0 + s1 + s0 * 2 + 2));
  EXPECT_EQ(normalizeSize(s0 * 4 + s1 - s0 * 4), s1);
  EXPECT_EQ(normalizeSize(s0 - s0), number(0));
  EXPECT_EQ(normalizeSize((s0 * s1) * s2 * 8), normalizeSize(s2 * 2 * (s1 * 4) * s0));
  EXPECT_NE(normalizeSize(s0 * s0), normalizeSize(s0));
}

TEST_F(SizeExpr, divisionsAreOpaqueFactors) {
  AffineExpr half = s0.floorDiv(2);
  EXPECT_EQ(normalizeSize(half * 3 + half), normalizeSize(half * 4));
  EXPECT_EQ(divideSizes(normalizeSize(half * 4 * s1), number(4)), normalizeSize(half * s1));
  EXPECT_EQ(divideSizes(normalizeSize(half * 4 * s1), half), normalizeSize(s1 * 4));
  EXPECT_NE(normalizeSize(half * 2), s0);
}

TEST_F(SizeExpr, normalFormsAreFixedPointsWithTheSameValue) {
  std::mt19937_64 engine(1);
  for (int round = 0; round < 2000; ++round) {
    std::function<AffineExpr(int)> make = [&](int depth) -> AffineExpr {
      switch (depth == 0 ? engine() % 2 : engine() % 7) {
      case 0:
        return number(static_cast<int64_t>(engine() % 7));
      case 1:
      case 2:
        return symbol(engine() % 3);
      case 3:
        return make(depth - 1).floorDiv(static_cast<uint64_t>(1 + engine() % 5));
      case 4:
        return make(depth - 1) * make(depth - 1);
      default:
        return make(depth - 1) + make(depth - 1);
      }
    };
    AffineExpr expr = make(4), normal = normalizeSize(expr);
    ASSERT_TRUE(normal);
    std::string text;
    llvm::raw_string_ostream(text) << "round " << round << ": " << expr << " -> " << normal;
    EXPECT_EQ(normalizeSize(normal), normal) << text;
    for (int64_t a : {0, 1, 3, 8})
      for (int64_t b : {1, 2, 5})
        EXPECT_EQ(evaluateSize(normal, {a, b, a + b}), evaluateSize(expr, {a, b, a + b})) << text;
    // (a * b) / b is a, for a monomial b.
    AffineExpr by = normalizeSize(s0 * s1 * static_cast<int64_t>(1 + engine() % 9));
    AffineExpr product = multiplySizes(normal, by);
    ASSERT_TRUE(product) << text;
    EXPECT_EQ(divideSizes(product, by), normal) << text;
  }
}

TEST_F(SizeExpr, divides) {
  EXPECT_EQ(divideSizes(number(12), number(4)), number(3));
  EXPECT_FALSE(divideSizes(number(12), number(5)));
  EXPECT_FALSE(divideSizes(number(12), number(0)));
  EXPECT_EQ(divideSizes(number(0), s0), number(0));
  EXPECT_EQ(divideSizes(normalizeSize(s0 * s1 * 8), normalizeSize(s1 * 2)), normalizeSize(s0 * 4));
  EXPECT_EQ(divideSizes(normalizeSize(s0 * 8 + 4), number(4)), normalizeSize(s0 * 2 + 1));
  EXPECT_FALSE(divideSizes(normalizeSize(s0 * 8 + 2), number(4)));
  EXPECT_FALSE(divideSizes(s0, s1));
  EXPECT_FALSE(divideSizes(normalizeSize(s0 * s0 + s0), normalizeSize(s0 + 1))); // no monomial
  EXPECT_EQ(divideSizes(number(-12), number(-4)), number(3));
  // The one quotient that leaves 64 bits.
  EXPECT_FALSE(divideSizes(number(kLeast), number(-1)));
}

TEST_F(SizeExpr, leavingSixtyFourBitsGivesNull) {
  AffineExpr large = number(int64_t(1) << 62), most = number(kMost);
  EXPECT_FALSE(multiplySizes(large, number(2)));
  EXPECT_EQ(multiplySizes(number(int64_t(1) << 31), number(int64_t(1) << 31)), large);
  EXPECT_FALSE(addSizes(most, number(1)));
  EXPECT_FALSE(addSizes(large, large));
  EXPECT_EQ(addSizes(most, number(-1)), number(kMost - 1));
  EXPECT_FALSE(multiplySizes(number(kLeast), number(-1)));
  AffineExpr product = multiplySizes(s0, most);
  ASSERT_TRUE(product);
  EXPECT_FALSE(multiplySizes(product, number(3)));
  EXPECT_FALSE(addSizes(product, s0));
  EXPECT_TRUE(addSizes(product, s1));
}

TEST_F(SizeExpr, evaluates) {
  EXPECT_EQ(evaluateSize(s0 * s1 + 3, {4, 5}), 23);
  EXPECT_EQ(evaluateSize(s0.floorDiv(4), {7}), 1);
  EXPECT_EQ(evaluateSize(s0.ceilDiv(4), {7}), 2);
  EXPECT_EQ(evaluateSize(s0 % 4, {7}), 3);
  EXPECT_EQ(evaluateSize(s0.floorDiv(s1), {7, 0}), std::nullopt);
  EXPECT_EQ(evaluateSize(s0 % s1, {7, 0}), std::nullopt);
  EXPECT_EQ(evaluateSize(s0.ceilDiv(s1), {7, 0}), std::nullopt);
  EXPECT_EQ(evaluateSize(s1, {7}), std::nullopt) << "a symbol without a value";
  EXPECT_EQ(evaluateSize(dim(0), {7}), std::nullopt);
  EXPECT_EQ(evaluateSize(s0 * s1, {int64_t(1) << 32, int64_t(1) << 31}), std::nullopt);
  EXPECT_EQ(evaluateSize(s0 + s1, {kMost, 1}), std::nullopt);
  AffineMap map = AffineMap::get(0, 2, {s0 * 2, s1}, &context);
  EXPECT_EQ(evaluateSizes(map, {3, 4}), (SmallVector<int64_t>{6, 4}));
  EXPECT_EQ(evaluateSizes(map, {3}), std::nullopt);
}

TEST_F(SizeExpr, factsHoldForEverySizeThatTheyAllow) {
  std::mt19937_64 engine(2);
  int divided = 0, bounded = 0;
  for (int round = 0; round < 2000; ++round) {
    std::function<AffineExpr(int)> make = [&](int depth) -> AffineExpr {
      switch (depth == 0 ? engine() % 2 : engine() % 8) {
      case 0:
        return number(static_cast<int64_t>(engine() % 13));
      case 1:
      case 2:
        return symbol(engine() % 3);
      case 3:
        return make(depth - 1).floorDiv(static_cast<uint64_t>(1 + engine() % 5));
      case 4:
        return make(depth - 1).ceilDiv(static_cast<uint64_t>(1 + engine() % 5));
      case 5:
        return make(depth - 1) % static_cast<uint64_t>(1 + engine() % 5);
      case 6:
        return make(depth - 1) * make(depth - 1);
      default:
        return make(depth - 1) + make(depth - 1);
      }
    };
    AffineExpr expr = make(4);
    SmallVector<int64_t> multiples, limits, sizes;
    for (int i = 0; i < 3; ++i) {
      multiples.push_back(1 + static_cast<int64_t>(engine() % 12));
      limits.push_back(engine() % 4 ? static_cast<int64_t>(1 + engine() % 50) : 0);
    }
    SizeFacts facts{multiples, limits};
    for (int i = 0; i < 3; ++i) {
      int64_t most = limits[i] ? limits[i] : 1000;
      sizes.push_back(static_cast<int64_t>(engine() % (most / multiples[i] + 1)) * multiples[i]);
    }
    std::optional<int64_t> value = evaluateSize(expr, sizes);
    if (!value)
      continue;
    for (int64_t factor : {2, 3, 4, 8, 16})
      if (isMultipleOf(expr, factor, facts)) {
        EXPECT_EQ(*value % factor, 0) << "round " << round << ", factor " << factor;
        ++divided;
      }
    if (std::optional<int64_t> bound = upperBound(expr, facts)) {
      EXPECT_LE(*value, *bound) << "round " << round;
      ++bounded;
    }
  }
  EXPECT_GT(divided, 500);
  EXPECT_GT(bounded, 200);
}

TEST_F(SizeExpr, facts) {
  const int64_t multiples[] = {8, 1, 6}, limits[] = {0, 100, 7};
  SizeFacts facts{multiples, limits};
  EXPECT_TRUE(isMultipleOf(s0 * 12, 32, facts));
  EXPECT_FALSE(isMultipleOf(s0 * 12, 64, facts));
  EXPECT_TRUE(isMultipleOf(s0 * s1 + 16, 8, facts));
  EXPECT_FALSE(isMultipleOf(s0 + s2, 8, facts));
  EXPECT_TRUE(isMultipleOf(s0.floorDiv(4), 2, facts));
  EXPECT_TRUE(isMultipleOf(number(0), 16, {}));
  EXPECT_TRUE(isMultipleOf(s1 * 4, 4, {}));
  EXPECT_FALSE(isMultipleOf(s0, 2, {}));
  EXPECT_EQ(upperBound(s1 * s2 * 2 + 3, facts), 1403);
  EXPECT_EQ(upperBound(s1.floorDiv(8), facts), 12);
  EXPECT_EQ(upperBound(s0, facts), std::nullopt);
  EXPECT_EQ(upperBound(s1 - 1, facts), std::nullopt);
  EXPECT_EQ(upperBound(s1 * kMost, facts), std::nullopt);
}

TEST_F(SizeExpr, linearAccessesRoundTrip) {
  std::mt19937_64 engine(2);
  for (int round = 0; round < 500; ++round) {
    unsigned rank = 1 + engine() % 6;
    LinearAccess access;
    auto stride = [&] {
      switch (engine() % 4) {
      case 0:
        return number(0);
      case 1:
        return number(static_cast<int64_t>(1 + engine() % 100));
      case 2:
        return normalizeSize(s0 * static_cast<int64_t>(1 + engine() % 5));
      default:
        return normalizeSize(s0 * s1);
      }
    };
    for (unsigned d = 0; d < rank; ++d)
      access.strides.push_back(stride());
    access.offset = stride();
    AffineMap map = access.map(2);
    EXPECT_EQ(map.getNumDims(), rank);
    EXPECT_EQ(map.getNumSymbols(), 2u);
    std::optional<LinearAccess> back = LinearAccess::of(map);
    std::string text;
    llvm::raw_string_ostream(text) << "round " << round << ": " << map;
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(back->strides, access.strides) << text;
    EXPECT_EQ(back->offset, access.offset) << text;
  }
}

TEST_F(SizeExpr, onlyLinearAccessesAreOnes) {
  auto of = [&](AffineExpr expr) { return LinearAccess::of(AffineMap::get(2, 2, expr)); };
  EXPECT_TRUE(of(dim(0) * 4 + dim(1) + s0));
  EXPECT_TRUE(of((dim(0) + s1) * s0));
  EXPECT_FALSE(of(dim(0).floorDiv(2)));
  EXPECT_FALSE(of(dim(0) % 2));
  EXPECT_FALSE(LinearAccess::of(AffineMap::get(2, 0, {dim(0), dim(1)}, &context)));
  std::optional<LinearAccess> twice = of((dim(0) + dim(1)) * 2 + dim(0));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->strides[0], number(3));
  EXPECT_TRUE(of(dim(0))->isBroadcast(1));
}

TEST_F(SizeExpr, rowMajor) {
  SmallVector<AffineExpr> strides = rowMajorStrides({s0, number(4), s1}, &context);
  EXPECT_EQ(strides[0], normalizeSize(s1 * 4));
  EXPECT_EQ(strides[1], s1);
  EXPECT_EQ(strides[2], number(1));
  AffineExpr large = number(int64_t(1) << 40);
  EXPECT_TRUE(rowMajorStrides({large, large}, &context).empty() ||
              rowMajorStrides({large, large}, &context)[1] == number(1));
  EXPECT_TRUE(rowMajorStrides({large, large, large}, &context).empty());
}
