//===- SimtMatrixTest.cpp - Bodies of the matrix instructions -------------===//
//
// Against scalar references: fragments as the tables of the PTX manual give them, elements by their
// definitions, layouts of shared memory as written down by hand.
//
//===----------------------------------------------------------------------===//
#include "MatrixElements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace swage::simt;

namespace {

constexpr MatrixElement kAll[] = {MatrixElement::F16,  MatrixElement::Bf16, MatrixElement::Tf32,
                                  MatrixElement::E4m3, MatrixElement::E5m2, MatrixElement::S8,
                                  MatrixElement::U8};

/// A binary format with `exponentBits` and `mantissaBits`; `infinities` as in IEEE 754.
double decodeFormat(unsigned bits, int exponentBits, int mantissaBits, bool infinities) {
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

double decode(MatrixElement element, unsigned bits) {
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
unsigned randomElement(MatrixElement element, std::mt19937 &random) {
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

bool sameFloat(double wanted, float got) {
  return std::isnan(wanted) ? std::isnan(got)
                            : wanted == got && std::signbit(wanted) == std::signbit(got);
}

TEST(MatrixElements, EveryElementWidensExactly) {
  for (MatrixElement element : kAll) {
    const unsigned bytes = elementBytes(element), perWord = 4 / bytes;
    const unsigned patterns = bytes == 4 ? 1u << 20 : 1u << 8 * bytes;
    std::mt19937 random(1);
    unsigned words[kOperandWords * 8];
    float floats[32 * 8];
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
      widenRows(element, words, 8, 8, floats);
      for (unsigned word = 0; word < kOperandWords; ++word)
        for (unsigned row = 0; row < 8; ++row)
          for (unsigned i = 0; i < perWord; ++i)
            ASSERT_TRUE(sameFloat(decode(element, elements[word][row][i]),
                                  floats[(word * perWord + i) * 8 + row]))
                << name(element) << " 0x" << std::hex << elements[word][row][i];
    }
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
            float sum = float(random()) * 0x1p-20f;
            d[lane].f[i] = sum;
            for (unsigned k = 0; k < steps; ++k)
              sum += float(decode(test.a, aBits[at.row][k])) *
                     float(decode(test.b, bBits[k][at.column]));
            wanted[lane][i] = sum;
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

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

uint64_t encode(unsigned start, unsigned leading, unsigned stride, unsigned swizzle) {
  return start >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
         uint64_t(swizzle) << 62;
}
constexpr unsigned kSpans[] = {16, 128, 64, 32};

TEST(Descriptor, Fields) {
  const auto descriptor =
      MatrixDescriptor::decode(encode(0x3fff0, 0x10, 0x400, 1) | uint64_t(5) << 49);
  EXPECT_EQ(descriptor.start, 0x3fff0u);
  EXPECT_EQ(descriptor.leadingBytes, 0x10u);
  EXPECT_EQ(descriptor.strideBytes, 0x400u);
  EXPECT_EQ(descriptor.baseOffset, 5u);
  EXPECT_EQ(descriptor.span, 128u);
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
    EXPECT_EQ(MatrixDescriptor::decode(encode(0, 0, 0, swizzle)).span, kSpans[swizzle]);
}

/// Tiles of which k is contiguous: rows of `span` bytes, permuted by the row as a tensor-map copy
/// does, in groups of eight.
TEST(Descriptor, RowsAreContiguousAlongK) {
  for (unsigned bytes : {1u, 2u, 4u})
    for (unsigned swizzle = 1; swizzle < 4; ++swizzle) {
      const unsigned span = kSpans[swizzle], base = 0x2400, stride = 8 * span * 3;
      // An instruction reads 32 bytes of each row; the next one starts 32 bytes later.
      for (unsigned step = 0; step * 32 < span; ++step) {
        const auto descriptor =
            MatrixDescriptor::decode(encode(base + step * 32, 16, stride, swizzle));
        const MatrixOperand operand{64, true, bytes};
        for (unsigned row = 0; row < 64; ++row)
          for (unsigned k = 0; k < operand.steps(); ++k) {
            const unsigned inRow = step * 32 + k * bytes, group = row / 8, inGroup = row % 8;
            const unsigned by = inGroup * span / 128 % (span / 16);
            const unsigned wanted =
                base + group * stride + inGroup * span + ((inRow / 16) ^ by) * 16 + inRow % 16;
            ASSERT_EQ(elementAddress(descriptor, operand, row, k), wanted)
                << bytes << " bytes, span " << span << ", row " << row << ", k " << k;
          }
      }
    }
}

/// Without a swizzle: blocks of 8 rows by 16 bytes, each contiguous.
TEST(Descriptor, BlocksWithoutSwizzle) {
  const unsigned base = 0x500, leading = 0x80, stride = 0x100;
  const auto descriptor = MatrixDescriptor::decode(encode(base, leading, stride, 0));
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned k = 0; k < 16; ++k)
      ASSERT_EQ(elementAddress(descriptor, {32, true, 2}, row, k),
                base + row / 8 * stride + k / 8 * leading + row % 8 * 16 + k % 8 * 2);
  // The roles of the two strides change when rows are contiguous.
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned k = 0; k < 16; ++k)
      ASSERT_EQ(elementAddress(descriptor, {32, false, 2}, row, k),
                base + row / 8 * stride + k / 8 * leading + k % 8 * 16 + row % 8 * 2);
}

/// Tiles of which the rows are contiguous: `span` bytes of them for each k.
TEST(Descriptor, KStepsAreContiguousAlongRows) {
  for (unsigned swizzle = 1; swizzle < 4; ++swizzle) {
    const unsigned span = kSpans[swizzle], base = 0x8000, panel = 64 * span;
    const auto descriptor = MatrixDescriptor::decode(encode(base, panel, 8 * span, swizzle));
    for (unsigned row = 0; row < 256; ++row)
      for (unsigned k = 0; k < 16; ++k) {
        const unsigned perPanel = span / 2, inRow = row % perPanel * 2;
        const unsigned by = k % 8 * span / 128 % (span / 16);
        const unsigned wanted =
            base + row / perPanel * panel + k * span + ((inRow / 16) ^ by) * 16 + inRow % 16;
        ASSERT_EQ(elementAddress(descriptor, {256, false, 2}, row, k), wanted)
            << "span " << span << ", row " << row << ", k " << k;
      }
  }
}

TEST(Descriptor, PiecesCoverEveryElementOnce) {
  for (const MatrixOperand &operand :
       {MatrixOperand{72, true, 2}, MatrixOperand{24, true, 1}, MatrixOperand{136, false, 2}})
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
      const unsigned span = kSpans[swizzle];
      const auto descriptor =
          MatrixDescriptor::decode(swizzle          ? encode(0x1000, 64 * span, 8 * span, swizzle)
                                   : operand.kMajor ? encode(0x1000, 128, 256, swizzle)
                                                    : encode(0x1000, 0x2000, 128, swizzle));
      PieceSet pieces;
      unsigned count = 0;
      forEachPiece(descriptor, operand, [&](SharedAddress at, unsigned row) {
        EXPECT_LT(row, operand.rows);
        ++count;
        pieces.add(at);
      });
      EXPECT_EQ(count, operand.rows * 2);
      std::vector<bool> covered(1 << 18);
      unsigned bytes = 0;
      SharedAddress last = 0;
      pieces.drain([&](SharedAddress at, unsigned size) {
        EXPECT_GT(at, last);
        last = at + size;
        bytes += size;
        for (unsigned i = 0; i < size; ++i)
          covered[at + i] = true;
      });
      EXPECT_EQ(bytes, operand.rows * 32);
      for (unsigned row = 0; row < operand.rows; ++row)
        for (unsigned k = 0; k < operand.steps(); ++k)
          EXPECT_TRUE(covered[elementAddress(descriptor, operand, row, k)]);
      pieces.drain([](SharedAddress, unsigned) { ADD_FAILURE() << "not empty"; });
    }
}

TEST(Descriptor, RangesAcrossWords) {
  PieceSet pieces;
  for (unsigned piece : {0u, 3u, 4u, 62u, 63u, 64u, 65u, 128u, 191u, 192u, 16384u, 16385u})
    pieces.add(piece * 16);
  for (unsigned piece = 1000; piece < 1200; ++piece)
    pieces.add(piece * 16);
  std::vector<std::pair<unsigned, unsigned>> ranges;
  pieces.drain([&](SharedAddress at, unsigned bytes) { ranges.push_back({at / 16, bytes / 16}); });
  const std::vector<std::pair<unsigned, unsigned>> wanted = {
      {0, 1}, {3, 2}, {62, 4}, {128, 1}, {191, 2}, {1000, 200}, {16384, 2}};
  EXPECT_EQ(ranges, wanted);
}

TEST(Descriptor, Problems) {
  const MatrixOperand rows{64, true, 2}, columns{64, false, 2};
  const uint64_t good = encode(0x400, 16, 1024, 1);
  EXPECT_EQ(problemOf(good, rows, true), "");
  EXPECT_EQ(problemOf(encode(0x400, 128, 256, 0), rows, true), "");
  EXPECT_EQ(problemOf(encode(0x400, 8192, 1024, 1), columns, true), "");
  EXPECT_EQ(problemOf(encode(0x400, 0, 0, 1), {8, true, 2}, true), "");
  for (unsigned bit : {14, 15, 30, 31, 46, 47, 48, 52, 61})
    EXPECT_EQ(problemOf(good | uint64_t(1) << bit, rows, false), "sets bits that are reserved");
  EXPECT_EQ(problemOf(encode(0x400, 128, 256, 0) | uint64_t(1) << 49, rows, false),
            "has a base offset without a swizzle");
  EXPECT_NE(problemOf(good, {64, false, 4}, false), "");
  EXPECT_EQ(problemOf(encode(0x400, 16, 512, 1), rows, false), "");
  EXPECT_EQ(
      problemOf(encode(0x400, 16, 512, 1), rows, true),
      "has a stride byte offset of 512 bytes: its groups of eight rows of 1024 bytes overlap");
  EXPECT_EQ(
      problemOf(encode(0x400, 16, 1040, 1), rows, true),
      "has a stride byte offset of 1040 bytes, which is not a multiple of its groups of eight "
      "rows of 1024 bytes");
  EXPECT_NE(problemOf(encode(0x400, 0, 1024, 1), {128, false, 2}, true), "");
  EXPECT_EQ(problemOf(encode(0x400, 0, 1024, 1), columns, true), "");
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

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
          std::vector<float> aFloats(steps * 64), bFloats(steps * columns), d(64 * columns);
          widenOperand(aWords.data(), 64, element, aFloats.data());
          widenOperand(shared.data(), descriptor, b, element, bFloats.data());
          for (float &value : d)
            value = float(random()) * 0x1p-24f;
          const std::vector<float> before = d;
          for (bool accumulate : {false, true}) {
            d = before;
            multiplyTile(d.data(), aFloats.data(), bFloats.data(), columns, steps, accumulate);
            for (unsigned row = 0; row < 64; ++row)
              for (unsigned column = 0; column < columns; ++column) {
                float sum = accumulate ? before[row * columns + column] : 0;
                for (unsigned k = 0; k < steps; ++k)
                  sum += float(decode(element, aBits[k * 64 + row])) *
                         float(decode(element, bBits[k * columns + column]));
                ASSERT_EQ(sum, d[row * columns + column])
                    << name(element) << ", " << columns << " columns, span " << span << ", row "
                    << row << ", column " << column;
              }
          }
        }
}

} // namespace
