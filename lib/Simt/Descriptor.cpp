//===- Descriptor.cpp - Where wgmma finds an operand in shared memory -----===//
#include "Descriptor.h"

namespace swage::simt {

MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
  constexpr unsigned kSpans[] = {kPieceBytes, 128, 64, 32};
  MatrixDescriptor descriptor;
  descriptor.start = static_cast<unsigned>(bits & 0x3fff) << 4;
  descriptor.leadingBytes = static_cast<unsigned>(bits >> 16 & 0x3fff) << 4;
  descriptor.strideBytes = static_cast<unsigned>(bits >> 32 & 0x3fff) << 4;
  descriptor.baseOffset = static_cast<unsigned>(bits >> 49 & 7);
  descriptor.span = kSpans[bits >> 62];
  return descriptor;
}

SharedAddress elementAddress(const MatrixDescriptor &descriptor, const MatrixOperand &operand,
                             unsigned row, unsigned k) {
  const unsigned perPiece = kPieceBytes / operand.elementBytes;
  const unsigned along = operand.kMajor ? k : row;
  const unsigned inPiece = along % perPiece * operand.elementBytes;
  return inPiece + (operand.kMajor ? descriptor.pieceOfRow(row, k / perPiece)
                                   : descriptor.pieceOfStep(k, row / perPiece));
}

static std::string bytes(unsigned count) { return std::to_string(count) + " bytes"; }

/// Groups of `size` bytes, `stride` apart.
static std::string suspiciousStride(const char *name, unsigned stride, unsigned size,
                                    const char *groups) {
  const std::string subject = std::string("has a ") + name + " offset of " + bytes(stride);
  if (stride < size)
    return subject + ": its " + groups + " of " + bytes(size) + " overlap";
  if (stride % size)
    return subject + ", which is not a multiple of its " + groups + " of " + bytes(size);
  return "";
}

std::string problemOf(uint64_t bits, const MatrixOperand &operand, bool suspicious) {
  // Bits 14, 15; 30, 31; 46 to 48; 52 to 61.
  constexpr uint64_t kReserved = 0x3ff1'c000'c000'c000;
  if (bits & kReserved)
    return "sets bits that are reserved";
  const MatrixDescriptor descriptor = MatrixDescriptor::decode(bits);
  const unsigned span = descriptor.span;
  const bool swizzles = span != kPieceBytes;
  if (descriptor.baseOffset && !swizzles)
    return "has a base offset without a swizzle";
  if (!operand.kMajor && operand.elementBytes != 2)
    return "would have to be transposed, which only 16-bit elements can be";
  if (!suspicious)
    return "";

  // Two groups of eight, along k or along the rows: how far apart, and whether there are two.
  const bool severalRowGroups = operand.rows > 8;
  std::string problem;
  if (operand.kMajor) {
    if (severalRowGroups)
      problem = suspiciousStride("stride byte", descriptor.strideBytes,
                                 swizzles ? 8 * span : 8 * kPieceBytes, "groups of eight rows");
    if (problem.empty() && !swizzles)
      problem = suspiciousStride("leading byte", descriptor.leadingBytes, 8 * kPieceBytes,
                                 "groups of eight rows");
    return problem;
  }
  const unsigned perSpan = span / operand.elementBytes;
  problem = suspiciousStride(swizzles ? "stride byte" : "leading byte",
                             swizzles ? descriptor.strideBytes : descriptor.leadingBytes, 8 * span,
                             "groups of eight k");
  if (problem.empty() && operand.rows > perSpan)
    problem = suspiciousStride(swizzles ? "leading byte" : "stride byte",
                               swizzles ? descriptor.leadingBytes : descriptor.strideBytes,
                               8 * span, "groups of eight k");
  return problem;
}

} // namespace swage::simt
