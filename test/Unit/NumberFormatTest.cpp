//===- NumberFormatTest.cpp - Rounding against llvm::APFloat --------------===//

#include "swage/Reference/NumberFormat.h"
#include "swage/Reference/GuardBands.h"
#include "swage/Reference/InputFamilies.h"
#include "swage/Reference/Parallel.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>
#include <vector>

using namespace swage::reference;

static const llvm::fltSemantics &semanticsOf(ElementType type) {
  return type == ElementType::F8E4M3FN ? llvm::APFloat::Float8E4M3FN()
         : type == ElementType::F8E5M2 ? llvm::APFloat::Float8E5M2()
         : type == ElementType::F16    ? llvm::APFloat::IEEEhalf()
         : type == ElementType::BF16   ? llvm::APFloat::BFloat()
         : type == ElementType::F32    ? llvm::APFloat::IEEEsingle()
                                       : llvm::APFloat::IEEEdouble();
}

static uint64_t apEncode(ElementType type, double x) {
  llvm::APFloat value(x);
  bool lost;
  value.convert(semanticsOf(type), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.bitcastToAPInt().getZExtValue();
}

static double apDecode(ElementType type, uint64_t bits) {
  llvm::APFloat value(semanticsOf(type), llvm::APInt(8 * byteWidth(type), bits));
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

class NarrowFloats : public testing::TestWithParam<ElementType> {
protected:
  uint32_t patterns() const { return 1u << (8 * byteWidth(GetParam())); }
};

TEST_P(NarrowFloats, decodesAndEncodesEveryPattern) {
  for (uint32_t bits = 0; bits < patterns(); ++bits) {
    double value = decode(GetParam(), bits);
    double expected = apDecode(GetParam(), bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(decode(GetParam(), encode(GetParam(), value)))) << bits;
      continue;
    }
    ASSERT_EQ(bitsOf(value), bitsOf(expected)) << bits;
    ASSERT_EQ(encode(GetParam(), value), bits);
    ASSERT_EQ(bitsOf(roundTo(GetParam(), value)), bitsOf(value));
  }
}

// Around every number of the type: on the tie to its neighbour, and just beside it, where going
// through f32 would round twice.
TEST_P(NarrowFloats, roundsLikeAPFloatAroundEveryTie) {
  for (uint32_t bits = 0; bits < patterns() / 2; ++bits) {
    double low = decode(GetParam(), bits), high = decode(GetParam(), bits + 1);
    if (!std::isfinite(low))
      break;
    double step = std::isfinite(high) ? high - low : ulp(formatOf(GetParam()), low);
    double tie = low + step / 2;
    for (double x : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, HUGE_VAL), low + step / 3,
                     tie + step * 0x1p-30, tie - step * 0x1p-30}) {
      ASSERT_EQ(encode(GetParam(), x), apEncode(GetParam(), x)) << x;
      ASSERT_EQ(encode(GetParam(), -x), apEncode(GetParam(), -x)) << x;
      ASSERT_EQ(encode(GetParam(), roundTo(GetParam(), x)), apEncode(GetParam(), x)) << x;
    }
  }
}

TEST_P(NarrowFloats, neighboursAreOnePatternApart) {
  for (uint32_t bits = 0; bits + 1 < patterns() / 2; ++bits) {
    double low = decode(GetParam(), bits), high = decode(GetParam(), bits + 1);
    if (!std::isfinite(low) || std::isnan(high))
      break;
    ASSERT_EQ(nextRepresentable(GetParam(), low, true), high);
    ASSERT_EQ(nextRepresentable(GetParam(), -low, false), -high);
    ASSERT_EQ(ulpDistance(GetParam(), low, high), 1);
    if (std::isfinite(high)) {
      ASSERT_EQ(nextRepresentable(GetParam(), high, false), low);
      ASSERT_EQ(ulp(formatOf(GetParam()), low), high - low);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(NumberFormat, NarrowFloats,
                         testing::Values(ElementType::F8E4M3FN, ElementType::F8E5M2,
                                         ElementType::F16, ElementType::BF16));

TEST(NumberFormat, roundsRandomDoublesLikeAPFloat) {
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::F16,
                           ElementType::BF16, ElementType::F32, ElementType::F64})
    for (uint64_t i = 0; i < 200000; ++i) {
      uint64_t bits = randomBits(1, 2, i);
      if (i % 2) // exponents around the range of f16
        bits = (bits & ~(0x7ffull << 52)) | ((1023 - 40 + randomBits(1, 3, i) % 80) << 52);
      double x;
      std::memcpy(&x, &bits, sizeof x);
      if (std::isnan(x))
        continue;
      ASSERT_EQ(encode(type, x), apEncode(type, x)) << name(type) << " " << x;
    }
}

TEST(NumberFormat, ulpOfWideTypes) {
  EXPECT_EQ(ulp(kF32, 1.0), 0x1p-23);
  EXPECT_EQ(ulp(kF32, 1.999), 0x1p-23);
  EXPECT_EQ(ulp(kF32, 0.0), 0x1p-149);
  EXPECT_EQ(ulp(kF64, 1.0), 0x1p-52);
  EXPECT_EQ(ulp(kF64, 0.0), 0x1p-1074);
  EXPECT_EQ(nextRepresentable(ElementType::F64, 0.0, false), -0x1p-1074);
  EXPECT_EQ(ulpDistance(ElementType::F32, -0.0, 0.0), 0);
  EXPECT_EQ(ulpDistance(ElementType::F64, -HUGE_VAL, HUGE_VAL), INT64_MAX);
}

TEST(InputFamilies, doNotDependOnThreads) {
  for (unsigned i = 0; i < kInputFamilies; ++i) {
    auto family = static_cast<InputFamily>(i);
    EXPECT_EQ(parseInputFamily(name(family)), family);
    Tensor one = llvm::cantFail(Tensor::create(ElementType::F16, {300, 257}));
    Tensor many = llvm::cantFail(Tensor::create(ElementType::F16, {300, 257}));
    setThreadCount(1);
    fillInput(one, family, 7, 0);
    setThreadCount(5);
    fillInput(many, family, 7, 0);
    setThreadCount(0);
    EXPECT_EQ(firstDifference(one.data(), many.data(), one.bytes()), -1);
    fillInput(many, family, 7, 1);
    EXPECT_NE(firstDifference(one.data(), many.data(), one.bytes()), -1);
  }
  EXPECT_FALSE(parseInputFamily("none"));
}

TEST(InputFamilies, rangesRepeatAfterAllOfTheirNumbers) {
  for (int64_t count : {1, 2, 3, 16, 17, 1000}) {
    Tensor tensor = llvm::cantFail(Tensor::create(ElementType::I32, {3, count}));
    fillRange(tensor, {-5, count - 6}, 7, 0);
    std::vector<std::vector<int64_t>> turns(3);
    for (int64_t i = 0; i < tensor.size(); ++i)
      turns[i / count].push_back(tensor.integer(i));
    std::vector<int64_t> ordered(count);
    std::iota(ordered.begin(), ordered.end(), -5);
    for (const std::vector<int64_t> &turn : turns) {
      std::vector<int64_t> sorted = turn;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, ordered);
    }
    if (count < 16)
      continue;
    EXPECT_NE(turns[0], ordered);
    EXPECT_NE(turns[0], turns[1]);
    fillRange(tensor, {-5, count - 6}, 7, 1);
    EXPECT_NE(turns[0][0] * count + turns[0][1], tensor.integer(0) * count + tensor.integer(1));
  }
}

TEST(InputFamilies, rangesOfAllNumbersAndOfOne) {
  Tensor tensor = llvm::cantFail(Tensor::create(ElementType::I64, {1000}));
  fillRange(tensor, {INT64_MIN, INT64_MAX}, 7, 0);
  int64_t negative = 0;
  for (int64_t i = 0; i < tensor.size(); ++i)
    negative += tensor.integer(i) < 0;
  EXPECT_NEAR(negative, 500, 80);
  fillRange(tensor, {INT64_MAX, INT64_MAX}, 7, 0);
  for (int64_t i = 0; i < tensor.size(); ++i)
    EXPECT_EQ(tensor.integer(i), INT64_MAX);
}

TEST(InputFamilies, haveTheStatedDistribution) {
  Tensor tensor = llvm::cantFail(Tensor::create(ElementType::F64, {1000, 100}));
  fillInput(tensor, InputFamily::Dense, 1, 0);
  double sum = 0, squares = 0, largest = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    sum += tensor.real(i);
    squares += tensor.real(i) * tensor.real(i);
    largest = std::max(largest, std::fabs(tensor.real(i)));
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.01);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
  EXPECT_LT(largest, 3.47);
  fillInput(tensor, InputFamily::Exact, 1, 0);
  int64_t zeros = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    EXPECT_EQ(tensor.real(i), std::rint(tensor.real(i)));
    EXPECT_LE(std::fabs(tensor.real(i)), 2);
    zeros += tensor.real(i) == 0;
  }
  EXPECT_NEAR(static_cast<double>(zeros) / 1e5, 0.75, 0.01);
}

TEST(GuardBands, noticeWritesOutsideThePayload) {
  GuardedLayout layout = {1000, 512, 2};
  std::vector<char> image(layout.imageBytes());
  poison(layout, kPoisonNaN, image.data());
  std::memset(image.data() + layout.payloadOffset(), 0, layout.payloadBytes);
  EXPECT_FALSE(checkGuards(layout, kPoisonNaN, image.data()));
  image[layout.payloadOffset() - 1] = 1;
  image[layout.payloadOffset() + layout.payloadBytes + 3] = 2;
  auto violation = checkGuards(layout, kPoisonNaN, image.data());
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->offset, -1);
  EXPECT_EQ(violation->bytes, 2);
  EXPECT_NE(violation->message().find("byte -1"), std::string::npos);
  poisonGuards(layout, kPoisonNumber, image.data());
  EXPECT_FALSE(checkGuards(layout, kPoisonNumber, image.data()));
  EXPECT_EQ(image[layout.payloadOffset()], 0);
}
