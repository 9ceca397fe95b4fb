//===- SimtTensorCoreTest.cpp - Arithmetic of the matrix instructions -----===//
//
// Against scalar references: fragments as the tables of the PTX manual give them, elements by their
// definitions, and sums as an H200 computed them.
//
//===----------------------------------------------------------------------===//
#include "SimtMatrixReference.h"
#include "SimtRecordedSums.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace swage::simt;

namespace {

bool sameFloat(double wanted, float got) {
  return std::isnan(wanted) ? std::isnan(got)
                            : wanted == got && std::signbit(wanted) == std::signbit(got);
}

TEST(MatrixElements, EveryElementWidensExactly) {
  static Factor factor;
  for (MatrixElement element : kAll) {
    const unsigned bytes = elementBytes(element), perWord = 4 / bytes;
    const unsigned patterns = bytes == 4 ? 1u << 20 : 1u << 8 * bytes;
    std::mt19937 random(1);
    unsigned words[kOperandWords * 8];
    for (unsigned next = 0; next < patterns;) {
      unsigned elements[kOperandWords][8][4] = {};
      for (unsigned word = 0; word < kOperandWords; ++word)
        for (unsigned row = 0; row < 8; ++row) {
          words[word * 8 + row] = 0;
          for (unsigned i = 0; i < perWord; ++i, ++next) {
            const unsigned bits = bytes == 4 ? unsigned(random()) : next % patterns;
            elements[word][row][i] = bits;
            words[word * 8 + row] |= bits << 8 * bytes * i;
          }
        }
      factor.set(MatrixUnit::Warpgroup, element, 8, words);
      for (unsigned word = 0; word < kOperandWords; ++word)
        for (unsigned row = 0; row < 8; ++row)
          for (unsigned i = 0; i < perWord; ++i)
            ASSERT_TRUE(sameFloat(decode(element, elements[word][row][i]),
                                  factor.values[(word * perWord + i) * 8 + row]))
                << name(element) << " 0x" << std::hex << elements[word][row][i];
    }
  }
}

float asFloat(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
unsigned asBits(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

/// One element of D through the whole unit: row 3 and column 5.
float multiplyOne(MatrixUnit unit, MatrixElement element, const unsigned *a, const unsigned *b,
                  float before) {
  static Factor left, right;
  const unsigned rows = unit == MatrixUnit::Warp ? 16 : 64;
  std::vector<unsigned> aWords(8 * rows), bWords(8 * 8);
  for (unsigned word = 0; word < 8; ++word) {
    aWords[word * rows + 3] = a[word];
    bWords[word * 8 + 5] = b[word];
  }
  std::vector<float> d(rows * 8, before);
  left.set(unit, element, rows, aWords.data());
  right.set(unit, element, 8, bWords.data());
  multiplyFactors(unit, left, right, true, d.data());
  return d[3 * 8 + 5];
}

TEST(TensorCore, SumsAsRecordedOnAnH200) {
  for (const RecordedSum &sum : kRecordedSums) {
    EXPECT_EQ(asBits(multiplyOne(sum.unit, sum.element, sum.a, sum.b, asFloat(sum.before))),
              sum.after)
        << name(sum.element) << (sum.unit == MatrixUnit::Warp ? ", mma.sync" : ", wgmma");
    EXPECT_EQ(hardwareSum(sum.unit, sum.element, sum.element, elementsOf(sum.element, sum.a),
                          elementsOf(sum.element, sum.b), asFloat(sum.before)),
              double(asFloat(sum.after)));
  }
}

TEST(TensorCore, SpecialValues) {
  const unsigned none[8] = {};
  for (MatrixUnit unit : {MatrixUnit::Warp, MatrixUnit::Warpgroup}) {
    // f16: 1, infinity, NaN, -infinity.
    const unsigned one[8] = {0x3c00}, infinite[8] = {0x7c00}, nan[8] = {0x7e00};
    const unsigned negative[8] = {0xfc00}, both[8] = {0xfc007c00}, ones[8] = {0x3c003c00};
    const auto f16 = [&](const unsigned *a, const unsigned *b, float before) {
      return asBits(multiplyOne(unit, MatrixElement::F16, a, b, before));
    };
    EXPECT_EQ(f16(one, one, 2), asBits(3));
    EXPECT_EQ(f16(infinite, one, 2), asBits(INFINITY));
    EXPECT_EQ(f16(one, negative, 2), asBits(-INFINITY));
    EXPECT_EQ(f16(infinite, none, 2), 0x7fffffffu);
    EXPECT_EQ(f16(both, ones, 2), 0x7fffffffu);
    EXPECT_EQ(f16(infinite, one, -INFINITY), 0x7fffffffu);
    EXPECT_EQ(f16(nan, one, 2), 0x7fffffffu);
    EXPECT_EQ(f16(one, one, -NAN), 0x7fffffffu);
    EXPECT_EQ(f16(none, none, 5), asBits(5));
    EXPECT_EQ(f16(none, none, 0), asBits(0));
    const unsigned e5m2Infinite[8] = {0x7c}, e5m2One[8] = {0x3c}, e4m3NaN[8] = {0x7f};
    EXPECT_EQ(asBits(multiplyOne(unit, MatrixElement::E5m2, e5m2Infinite, e5m2One, 1)),
              asBits(INFINITY));
    EXPECT_EQ(asBits(multiplyOne(unit, MatrixElement::E5m2, e5m2Infinite, e5m2One, -INFINITY)),
              0x7fffffffu);
    EXPECT_EQ(asBits(multiplyOne(unit, MatrixElement::E4m3, e4m3NaN, none, 1)), 0x7fffffffu);
  }
}

/// Products that floats cannot hold, sums that one integer cannot.
TEST(TensorCore, LargeAndSmallSums) {
  std::mt19937 random(5);
  for (MatrixUnit unit : {MatrixUnit::Warp, MatrixUnit::Warpgroup})
    for (MatrixElement element : {MatrixElement::Bf16, MatrixElement::Tf32, MatrixElement::F16})
      for (unsigned round = 0; round < 3000; ++round) {
        const bool isWide = element != MatrixElement::F16;
        // The middle exponent: sums near overflow, near the smallest float, and below.
        const unsigned middle = std::vector<unsigned>{186, 127, 62, 58, 40}[round % 5];
        unsigned a[8], b[8];
        for (unsigned *words : {a, b})
          for (unsigned word = 0; word < 8; ++word) {
            const unsigned exponent = isWide ? middle - 8 + random() % 9 : 112 + random() % 30;
            words[word] = (random() & 0x807fffff) | exponent << 23;
            if (round % 7 == 0) // all terms as large as they get
              words[word] = (middle << 23) | 0x7fffff;
            if (element == MatrixElement::Bf16)
              words[word] = (words[word] & 0xffff0000) | words[word] >> 16;
            if (element == MatrixElement::F16)
              words[word] = round % 7 == 0 ? 0x7bff7bff : (random() & 0xbbffbbff);
          }
        const float before =
            round % 3 ? asFloat((random() & 0x807fffff) | (2 * middle - 127) % 250 << 23) : 0;
        const double wanted = hardwareSum(unit, element, element, elementsOf(element, a),
                                          elementsOf(element, b), before);
        const float got = multiplyOne(unit, element, a, b, before);
        if (std::isinf(wanted))
          ASSERT_TRUE(std::isinf(got));
        else
          ASSERT_EQ(double(got), wanted) << name(element) << ", round " << round;
      }
}

/// Where element `i` of a lane's fragment is; PTX ISA, "Matrix fragments for mma.m16n8k*".
struct Place {
  unsigned row, column;
};
Place placeInA(unsigned bytes, unsigned lane, unsigned i) {
  const unsigned group = lane >> 2, inGroup = lane % 4;
  if (bytes == 4)
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? inGroup : inGroup + 4};
  if (bytes == 2)
    return {i < 2 || (i >= 4 && i < 6) ? group : group + 8,
            inGroup * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  return {i < 4 || (i >= 8 && i < 12) ? group : group + 8,
          inGroup * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}
Place placeInB(unsigned bytes, unsigned lane, unsigned i) {
  const unsigned group = lane >> 2, inGroup = lane % 4;
  if (bytes == 4)
    return {i == 0 ? inGroup : inGroup + 4, group};
  if (bytes == 2)
    return {inGroup * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
  return {inGroup * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
}
Place placeInD(unsigned lane, unsigned i) {
  return {(lane >> 2) + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

void setElement(unsigned *registers, unsigned bytes, unsigned i, unsigned bits) {
  const unsigned perWord = 4 / bytes;
  registers[i / perWord] |= bits << 8 * bytes * (i % perWord);
}

struct WarpCase {
  MatrixElement a, b;
};

TEST(Multiply, FragmentsAreThoseOfTheManual) {
  std::vector<WarpCase> cases;
  for (MatrixElement a : kAll)
    for (MatrixElement b : kAll)
      if (canMultiply(a, b))
        cases.push_back({a, b});
  ASSERT_EQ(cases.size(), 11u);
  std::mt19937 random(2);
  for (const WarpCase &test : cases)
    for (unsigned round = 0; round < 8; ++round) {
      const unsigned bytes = elementBytes(test.a), steps = 32 / bytes;
      const bool integers = isInteger(test.a);
      unsigned aBits[16][32], bBits[32][8], aRegisters[32][4] = {}, bRegisters[32][2] = {};
      for (auto &row : aBits)
        for (unsigned &bits : row)
          bits = randomElement(test.a, random);
      for (auto &row : bBits)
        for (unsigned &bits : row)
          bits = randomElement(test.b, random);
      union {
        float f[4];
        int i[4];
      } d[32];
      LaneMultiply lanes[32];
      void *arguments[32];
      double wanted[32][4];
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < 16 / bytes; ++i) {
          const Place at = placeInA(bytes, lane, i);
          setElement(aRegisters[lane], bytes, i, aBits[at.row][at.column]);
        }
        for (unsigned i = 0; i < 8 / bytes; ++i) {
          const Place at = placeInB(bytes, lane, i);
          setElement(bRegisters[lane], bytes, i, bBits[at.row][at.column]);
        }
        for (unsigned i = 0; i < 4; ++i) {
          const Place at = placeInD(lane, i);
          if (integers) {
            const int start = round == 0 ? INT32_MAX - 5 : int(random());
            d[lane].i[i] = start;
            int64_t sum = start;
            for (unsigned k = 0; k < steps; ++k)
              sum +=
                  int64_t(decode(test.a, aBits[at.row][k]) * decode(test.b, bBits[k][at.column]));
            wanted[lane][i] = int32_t(uint32_t(sum));
          } else {
            d[lane].f[i] = float(random()) * 0x1p-20f;
            std::vector<double> row, column;
            for (unsigned k = 0; k < steps; ++k) {
              row.push_back(decode(test.a, aBits[at.row][k]));
              column.push_back(decode(test.b, bBits[k][at.column]));
            }
            wanted[lane][i] =
                hardwareSum(MatrixUnit::Warp, test.a, test.b, row, column, d[lane].f[i]);
          }
        }
        lanes[lane] = {test.a, test.b, &d[lane], aRegisters[lane], bRegisters[lane]};
        arguments[lane] = &lanes[lane];
      }
      multiplyFragments(arguments);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < 4; ++i)
          ASSERT_EQ(wanted[lane][i], integers ? double(d[lane].i[i]) : double(d[lane].f[i]))
              << name(test.a) << " x " << name(test.b) << ", lane " << lane << ", " << i;
    }
}

TEST(Multiply, NothingElseCanBeMultiplied) {
  EXPECT_FALSE(canMultiply(MatrixElement::F16, MatrixElement::Bf16));
  EXPECT_FALSE(canMultiply(MatrixElement::E4m3, MatrixElement::S8));
  EXPECT_FALSE(canMultiply(MatrixElement::Tf32, MatrixElement::F16));
  EXPECT_TRUE(canMultiply(MatrixElement::E4m3, MatrixElement::E5m2));
  EXPECT_TRUE(canMultiply(MatrixElement::U8, MatrixElement::S8));
}

TEST(WarpgroupMultiply, OperandsAndSums) {
  std::mt19937 random(3);
  std::vector<char> shared(1 << 16);
  for (MatrixElement element : {MatrixElement::F16, MatrixElement::Bf16, MatrixElement::Tf32,
                                MatrixElement::E4m3, MatrixElement::E5m2})
    for (unsigned columns : {8u, 16u, 72u, 256u})
      for (bool kMajor : {true, false})
        for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
          const unsigned bytes = elementBytes(element), span = kSpans[swizzle];
          if (!kMajor && bytes != 2)
            continue;
          const MatrixOperand b{columns, kMajor, bytes};
          const auto descriptor = MatrixDescriptor::decode(
              kMajor
                  ? encode(0x1000, swizzle ? 16 : 128, swizzle ? 8 * span : 256, swizzle)
                  : encode(0x1000, swizzle ? 16 * span : 128, swizzle ? 8 * span : 256, swizzle));
          const unsigned steps = b.steps();
          std::vector<unsigned> aBits(steps * 64), bBits(steps * columns);
          std::vector<unsigned> aWords(kOperandWords * 64);
          for (unsigned k = 0; k < steps; ++k) {
            for (unsigned row = 0; row < 64; ++row) {
              aBits[k * 64 + row] = randomElement(element, random);
              aWords[k * bytes / 4 * 64 + row] |= aBits[k * 64 + row] << 8 * (k * bytes % 4);
            }
            for (unsigned column = 0; column < columns; ++column) {
              bBits[k * columns + column] = randomElement(element, random);
              std::memcpy(&shared[elementAddress(descriptor, b, column, k)],
                          &bBits[k * columns + column], bytes);
            }
          }
          static Factor left, right;
          left.set(MatrixUnit::Warpgroup, element, 64, aWords.data());
          right.set(element, shared.data(), descriptor, b);
          std::vector<float> before(64 * columns);
          for (float &value : before)
            value = float(random()) * 0x1p-24f;
          for (bool accumulate : {false, true}) {
            std::vector<float> d = before;
            multiplyFactors(MatrixUnit::Warpgroup, left, right, accumulate, d.data());
            for (unsigned row = 0; row < 64; row += 3)
              for (unsigned column = 0; column < columns; ++column) {
                std::vector<double> rowOfA, columnOfB;
                for (unsigned k = 0; k < steps; ++k) {
                  rowOfA.push_back(decode(element, aBits[k * 64 + row]));
                  columnOfB.push_back(decode(element, bBits[k * columns + column]));
                }
                ASSERT_EQ(hardwareSum(MatrixUnit::Warpgroup, element, element, rowOfA, columnOfB,
                                      accumulate ? before[row * columns + column] : 0),
                          double(d[row * columns + column]))
                    << name(element) << ", " << columns << " columns, span " << span << ", row "
                    << row << ", column " << column;
              }
          }
        }
}

} // namespace
