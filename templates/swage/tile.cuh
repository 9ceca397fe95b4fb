// Transposition of small blocks in registers, and the swizzled tile in shared memory that
// permute.cuh turns through.
#pragma once

#include "swage/vector.cuh"

namespace swage {

/// Column `column` of a block whose rows are vectors: `turned` gets element `column` of every row.
template <class T, int Columns, int Rows>
__device__ __forceinline__ void gatherColumn(const Vector<T, Columns> (&rows)[Rows], int column,
                                             Vector<T, Rows> &turned) {
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int row = 0; row < Rows; ++row)
      turned.words[row] = rows[row].words[column];
  } else if constexpr (sizeof(T) == 8) {
#pragma unroll
    for (int row = 0; row < Rows; ++row) {
      turned.words[2 * row] = rows[row].words[2 * column];
      turned.words[2 * row + 1] = rows[row].words[2 * column + 1];
    }
  } else if constexpr (sizeof(T) == 2) {
    // Two halves of two registers become one register.  A missing partner is the row itself.
    const unsigned selector = column % 2 ? 0x7632 : 0x5410;
#pragma unroll
    for (int row = 0; row < Rows; row += 2)
      turned.words[row / 2] = permuteBytes(rows[row].words[column / 2],
                                           rows[(row + 1) % Rows].words[column / 2], selector);
  } else {
    const unsigned pick = column % 4 * 0x11 + 0x40; // this byte of either operand
#pragma unroll
    for (int row = 0; row < Rows; row += 4) {
      const unsigned low =
          permuteBytes(rows[row].words[column / 4], rows[(row + 1) % Rows].words[column / 4], pick);
      const unsigned high = permuteBytes(rows[(row + 2) % Rows].words[column / 4],
                                         rows[(row + 3) % Rows].words[column / 4], pick);
      turned.words[row / 4] = permuteBytes(low, high, 0x5410);
    }
  }
}

/// A tile of TileOut elements per row, one row per "in" coordinate.  Vectors of a row are XORed
/// with the number of the row's micro-block: lanes that write neighbouring micro-blocks, and lanes
/// that read along a row, both touch all banks.
template <class T, int VectorIn, int VectorOut, int TileOut> struct SwizzledTile {
  enum : int {
    kSize = sizeof(T),
    kVectorBytes = VectorOut * kSize,
    kVectors = TileOut / VectorOut,
    kSpread = kVectorBytes >= 128 ? 1 : 128 / kVectorBytes,
    kMask = (kVectors < kSpread ? kVectors : kSpread) - 1
  };
  static_assert(powerOfTwoAbove(kVectors) == kVectors &&
                powerOfTwoAbove(kVectorBytes) == kVectorBytes);

  static __device__ __forceinline__ int offset(int in, int out) {
    const int vector = (out / VectorOut) ^ (in / VectorIn & kMask);
    return in * TileOut * kSize + vector * kVectorBytes + out % VectorOut * kSize;
  }
  /// `out` is a multiple of V, and V divides VectorOut.
  template <int V>
  static __device__ __forceinline__ void write(char *tile, int in, int out,
                                               const Vector<T, V> &from) {
    using Moved = Vector<T, V>;
#pragma unroll
    for (int piece = 0; piece < Moved::kPieces; ++piece)
      storeShared<Moved::kPiece>(tile + offset(in, out) + piece * Moved::kPiece,
                                 from.words + piece * wordsOf(Moved::kPiece));
  }
  template <int V>
  static __device__ __forceinline__ void read(const char *tile, int in, int out, Vector<T, V> &to) {
    using Moved = Vector<T, V>;
#pragma unroll
    for (int piece = 0; piece < Moved::kPieces; ++piece)
      loadShared<Moved::kPiece>(tile + offset(in, out) + piece * Moved::kPiece,
                                to.words + piece * wordsOf(Moved::kPiece));
  }
};

} // namespace swage
