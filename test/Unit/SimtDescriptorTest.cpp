//===- SimtDescriptorTest.cpp - Where wgmma finds its operands ------------===//
//
// Layouts of shared memory as written down by hand, and what descriptors must not say.
//
//===----------------------------------------------------------------------===//
#include "SimtMatrixReference.h"

#include <gtest/gtest.h>
#include <utility>

using namespace swage::simt;

namespace {

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

} // namespace
