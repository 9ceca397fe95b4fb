// How tiles of queries, keys and values come to shared memory where no copy engine takes tensor
// maps: every thread starts copies of 16 bytes, or fewer where rows begin at no multiples of that.
// See attention_portable.cuh.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/device/copy_async.cuh"
#include "swage/operand.cuh"

namespace swage::detail {

/// Rows in shared memory lie an odd number of 16 bytes apart, so that the eight that ldmatrix reads
/// at once are in different banks, and every address is a lane's own plus a constant.
constexpr __device__ int paddedRow(int elements) { return (elements / 8 | 1) * 16; }

/// What a thread copies of tiles of `Rows` rows of `Columns` elements, rows being along dimension
/// `Along` of the operand, in pieces of `Bytes`; up to `Dim` elements become zero.
template <class Spec, class Operand, int Along, int Rows, int Dim, int Columns = Dim,
          int Bytes = 16>
struct TileCopy {
  using Index = typename Spec::Index;
  using Element = typename Operand::Element;
  /// Lanes that share a row: as many as divide its pieces, or, where those are few, as many as
  /// there are pieces at least, in a warp.
  static constexpr __device__ int lanesOf(int pieces) {
    const int dividing = pieces & -pieces, above = powerOfTwoAbove(pieces);
    if (dividing >= 4 || dividing == pieces)
      return dividing < kWarpSize ? dividing : kWarpSize;
    return above < kWarpSize ? above : kWarpSize;
  }
  enum : int {
    kPiece = Bytes / sizeof(Element),
    kPieces = Dim / kPiece,
    kLanes = lanesOf(kPieces),
    kPiecesEach = (kPieces + kLanes - 1) / kLanes,
    kRowsAtOnce = Spec::kThreads / kLanes,
    kPasses = (Rows + kRowsAtOnce - 1) / kRowsAtOnce
  };

  /// Among those that share the copies: of a block, or of a warp.
  static __device__ __forceinline__ int threadOf() {
    return static_cast<int>(Spec::kThreads == kWarpSize ? laneIndex() : threadIndex());
  }

  const Element *pointer;
  Index from;       ///< the thread's first piece, in the operand's first row
  Index stride;     ///< between rows, in elements
  SharedAddress to; ///< the piece's place in a tile at 0
  int row;          ///< which row of a tile that is

  template <class Pointers>
  __device__ __forceinline__ TileCopy(const Pointers &pointers, const AttentionTile &tile,
                                      const typename Spec::Sizes &sizes, int rowBytes) {
    const int thread = threadOf(), piece = thread % kLanes;
    row = thread / kLanes;
    auto coord = tile.at<typename Spec::Coord>(0, 0);
    const Index first = Operand::offset(coord, sizes);
    coord[Along] = 1;
    stride = Operand::offset(coord, sizes) - first;
    pointer = static_cast<const swage::Slot<Operand> &>(pointers).pointer;
    from = first + piece * kPiece + row * stride;
    to = static_cast<SharedAddress>(row * rowBytes + piece * Bytes);
  }

  /// Whether the thread has an i-th piece of a row.
  static __device__ __forceinline__ bool hasPiece(int i) {
    return kPieces % kLanes == 0 || threadOf() % kLanes + i * kLanes < kPieces;
  }
  /// How much there is of the thread's i-th piece of a row that exists, or does not.
  static __device__ __forceinline__ int bytesOf(int i, bool exists) {
    if (Columns < Dim && threadOf() % kLanes + i * kLanes >= Columns / kPiece)
      return 0;
    return exists ? Bytes : 0;
  }

  /// Starts the copy of the rows from `first` on to `tile`.  Those before `begin`, and from `end`
  /// on, become zero; Whole: there are none.
  template <bool Whole>
  __device__ __forceinline__ void start(SharedAddress tile, int rowBytes, int first, int begin,
                                        int end) const {
    const Element *const source = pointer + (from + static_cast<Index>(first) * stride);
    const SharedAddress target = tile + to;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int behind = pass * kRowsAtOnce;
      if (Rows % kRowsAtOnce != 0 && row + behind >= Rows)
        return;
      const int at = first + row + behind;
      const bool exists = Whole || (at >= begin && at < end);
#pragma unroll
      for (int i = 0; i < kPiecesEach; ++i) {
        if (!hasPiece(i))
          break;
        const Element *const piece =
            source + static_cast<Index>(behind) * stride + i * (kLanes * kPiece);
        const SharedAddress there = target + behind * rowBytes + i * (kLanes * Bytes);
        if constexpr (Whole && Columns == Dim) {
          copyAsync<Bytes>(there, piece);
        } else {
          const int bytes = bytesOf(i, exists);
          copyAsync<Bytes>(there, bytes > 0 ? piece : pointer, bytes);
        }
      }
    }
  }

  /// The same, whichever it is.
  __device__ __forceinline__ void startWithin(SharedAddress tile, int rowBytes, int first,
                                              int begin, int end) const {
    if (first >= begin && first + Rows <= end)
      start<true>(tile, rowBytes, first, begin, end);
    else
      start<false>(tile, rowBytes, first, begin, end);
  }
};

} // namespace swage::detail
