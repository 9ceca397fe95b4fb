//===- Descriptor.h - Where wgmma finds an operand in shared memory -------===//
//
// The 64-bit matrix descriptor of sm_90 (PTX ISA, "Asynchronous warpgroup-level matrix
// instructions").  One instruction reads 32 bytes along k of every row of A, or column of B, in
// pieces of 16 bytes.  "Row" below is a row of A or a column of B: the index that is not k.
//
// What PTX leaves open about odd starts and strides was measured on an H200: the address is
// computed as if nothing were swizzled, then its bits 4 to 6 are changed by its bits 7 to 9.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_DESCRIPTOR_H
#define SWAGE_LIB_SIMT_DESCRIPTOR_H

#include "swage/device/cpu/abi.cuh"

#include <array>
#include <cstdint>
#include <string>

namespace swage::simt {

/// How much of each row, along k, an instruction reads; and in which pieces.
constexpr unsigned kStepBytes = 32, kPieceBytes = 16;

struct MatrixDescriptor {
  SharedAddress start = 0; ///< 18 bits
  unsigned leadingBytes = 0, strideBytes = 0;
  unsigned baseOffset = 0; ///< of the swizzle pattern, in units of 128 bytes
  /// Bytes among which the swizzle permutes pieces: 128, 64, 32, or 16 for none.
  unsigned span = kPieceBytes;

  static MatrixDescriptor decode(uint64_t bits);

  SharedAddress swizzled(SharedAddress at) const {
    return at ^ (((at >> 7) - baseOffset) & (span / kPieceBytes - 1)) << 4;
  }
  /// k is contiguous: the piece that holds bytes [16 half, 16 half + 16) of the row.
  SharedAddress pieceOfRow(unsigned row, unsigned half) const {
    const unsigned group = row / 8 * strideBytes, inGroup = row % 8 * span;
    return swizzled(start + group + inGroup +
                    half * (span == kPieceBytes ? leadingBytes : kPieceBytes));
  }
  /// The rows are contiguous: piece `piece` of the elements with this k.
  SharedAddress pieceOfStep(unsigned k, unsigned piece) const {
    if (span == kPieceBytes)
      return start + piece * strideBytes + k / 8 * leadingBytes + k % 8 * kPieceBytes;
    const unsigned perSpan = span / kPieceBytes;
    return swizzled(start + piece / perSpan * leadingBytes + piece % perSpan * kPieceBytes +
                    k / 8 * strideBytes + k % 8 * span);
  }
};

/// One operand of one instruction.
struct MatrixOperand {
  unsigned rows = 64;
  bool kMajor = true; ///< k is contiguous
  unsigned elementBytes = 2;

  unsigned steps() const { return kStepBytes / elementBytes; } ///< of k
};

/// The address of one element.
SharedAddress elementAddress(const MatrixDescriptor &descriptor, const MatrixOperand &operand,
                             unsigned row, unsigned k);

/// Calls function(address, row) for every piece of 16 bytes, in the order of rows or of k; `row` is
/// the first that the piece belongs to.
template <class Function>
inline void forEachPiece(const MatrixDescriptor &descriptor, const MatrixOperand &operand,
                         Function function) {
  if (operand.kMajor) {
    for (unsigned row = 0; row < operand.rows; ++row) {
      function(descriptor.pieceOfRow(row, 0), row);
      function(descriptor.pieceOfRow(row, 1), row);
    }
    return;
  }
  const unsigned rowsInPiece = kPieceBytes / operand.elementBytes;
  for (unsigned k = 0; k < operand.steps(); ++k)
    for (unsigned piece = 0; piece * rowsInPiece < operand.rows; ++piece)
      function(descriptor.pieceOfStep(k, piece), piece * rowsInPiece);
}

/// What the hardware forbids or leaves undefined about the descriptor, as the end of a sentence
/// that begins with "the descriptor of B "; empty if nothing.  `suspicious` adds what works, but
/// never on purpose: groups of rows that overlap, and ones that start inside of a swizzle pattern.
std::string problemOf(uint64_t bits, const MatrixOperand &operand, bool suspicious);

/// Pieces of shared memory, to be visited as contiguous ranges.
class PieceSet {
public:
  void add(SharedAddress at) {
    const unsigned piece = at / kPieceBytes;
    if (piece < kWords * 64)
      words[piece / 64] |= uint64_t(1) << piece % 64;
  }
  void clear() { words = {}; }
  /// Calls function(address, bytes) for every range and empties the set.
  template <class Function> void drain(Function function) {
    unsigned begin = 0, pieces = 0;
    for (unsigned i = 0; i < kWords; ++i) {
      uint64_t bits = words[i];
      words[i] = 0;
      while (bits) {
        const unsigned first = __builtin_ctzll(bits);
        const uint64_t after = ~(bits >> first);
        const unsigned count = after ? __builtin_ctzll(after) : 64 - first;
        const unsigned piece = i * 64 + first;
        if (pieces && begin + pieces == piece) {
          pieces += count;
        } else {
          if (pieces)
            function(begin * kPieceBytes, pieces * kPieceBytes);
          begin = piece;
          pieces = count;
        }
        bits = first + count == 64 ? 0 : bits & ~uint64_t(0) << (first + count);
      }
    }
    if (pieces)
      function(begin * kPieceBytes, pieces * kPieceBytes);
  }

private:
  static constexpr unsigned kWords = (1u << 19) / kPieceBytes / 64;
  std::array<uint64_t, kWords> words{};
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_DESCRIPTOR_H
