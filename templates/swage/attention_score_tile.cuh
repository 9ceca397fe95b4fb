// What scores and weights read for each query and key: a bias, a mask.  A warp has the elements of
// its 16 queries and a block's keys copied to shared memory, while it computes with the block
// before.  By elements, of which a thread has two neighbours in each of two rows, every instruction
// would ask L1 for eight lines.  For attention_hopper.cuh.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/device/copy_async.cuh"
#include "swage/operand.cuh"

namespace swage {

/// Where a row of an operand's tiles is in shared memory.
template <class Operand> __device__ __forceinline__ char *scoreTileRow(int row) {
  return dynamicArena() + (Operand::kTileAt + row * Operand::kTileRow);
}

/// How its rows, which begin at multiples of kAlign bytes, are copied: by pieces of 16 bytes, from
/// such a multiple on.  What is wanted then begins so many elements behind that.
template <class Operand> struct ScoreTileCopy {
  enum : int {
    kBytes = 16,
    kSize = sizeof(typename Operand::Element),
    kPiece = kBytes / kSize ///< elements
  };
  enum : bool { kShifted = int(Operand::kAlign) < int(kBytes) };
  static __device__ __forceinline__ int skew(const typename Operand::Element *row) {
    return kShifted ? skewOf<kPiece>(row) : 0;
  }
};

/// An element for a score, whose coordinates say where a thread has it: ValueDim in which row of
/// the tiles, HeadDim how many keys from its first one on.  Of two neighbours the compiler makes
/// one access, where they are in one aligned to it.
template <class Operand, int V> struct Fragment<Operand, V, Access::Tiled, Source::Memory> {
  static_assert(V == 1);
  using Element = typename Operand::Element;
  enum : int { kSize = sizeof(Element), kTogether = int(Operand::kAlign) < 2 * int(kSize) ? 1 : 2 };
  Vector<Element, 1> element;

  __device__ __forceinline__ typename Operand::Value value(int) const { return element.value(0); }
  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void load(typename Operand::Pointer from, const Coord &coord,
                                       const Sizes &sizes) {
    const int lane = static_cast<int>(laneIndex()), step = coord[AttentionDim::HeadDim];
    const auto *row =
        reinterpret_cast<const Element *>(scoreTileRow<Operand>(coord[AttentionDim::ValueDim]));
    if constexpr (ScoreTileCopy<Operand>::kShifted) {
      auto start = coord;
      start[Dim] = 0; // like all blocks, at a multiple of what is copied at once
      row += ScoreTileCopy<Operand>::skew(from + Operand::offset(start, sizes));
    }
    // Not by an index that is a constant behind loops alone: the compiler took a second more.
    const int which = step % kTogether;
    Vector<Element, kTogether> pair;
    pair.fetchShared(row + (lane % 4 * 2 + step - which));
    if constexpr (kTogether == 2 && kSize == 4)
      element.words[0] = which != 0 ? pair.words[1] : pair.words[0];
    else
      element.words[0] = pair.words[0] >> (8 * kSize * which);
  }
};

namespace detail {

/// Starts the copy of an operand to rows of its tiles from `to` on, for 16 queries, from `query`
/// on, and a block's keys.  Behind the last query are the last one's; of a block that is not
/// `Whole` what is behind the last key is anything.
template <class Spec, class Operand, bool Whole, class Arguments>
__device__ __forceinline__ void copyScoreTile(const Arguments &arguments,
                                              const typename Arguments::Tile &tile, int to,
                                              int query, int firstKey) {
  using Element = typename Operand::Element;
  using Copy = ScoreTileCopy<Operand>;
  enum : int {
    kBytes = Copy::kBytes,
    kRow = Spec::kKeys * Copy::kSize,
    kPieces = kRow / kBytes + Copy::kShifted,
    kLanes = 8, ///< that share a row: 128 bytes, of the usual pieces
    kRows = kWarpSize / kLanes
  };
  const int lane = static_cast<int>(laneIndex()), last = arguments.queries() - 1,
            first = lane % kLanes * kBytes, left = (arguments.keys() - firstKey) * Copy::kSize;
  const Element *const from = static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer;
  char *const there = scoreTileRow<Operand>(to + lane / kLanes) + first;
#pragma unroll
  for (int begin = 0; begin < 16; begin += kRows) {
    const int row = query + begin + lane / kLanes;
    const auto coord = tile.template at<typename Spec::Coord>(row < last ? row : last, 0);
    const Element *const source = from + (Operand::offset(coord, arguments.sizes) + firstKey);
    const int shift = Copy::skew(source) * Copy::kSize,
              end = shift + (Whole || left > kRow ? int(kRow) : left); // of what is wanted
    const char *const at = reinterpret_cast<const char *>(source) + (first - shift);
#pragma unroll
    for (int i = 0; i < kPieces; i += kLanes) {
      if (kPieces % kLanes != 0 && i + lane % kLanes >= kPieces)
        break;
      char *const target = there + (begin * Operand::kTileRow + i * kBytes);
      const int before = first + i * kBytes;
      if (Whole || before < end)
        copyAsyncAround<kBytes>(target, at + i * kBytes, shift - before, end - before);
      else
        copyAsync<kBytes>(sharedAddress(target), from, 0);
    }
  }
}

/// The tiles of all operands that a warp waits for, block after block; none, where scores read
/// none.
template <class Spec, class Arguments> struct ScoreTileQueue {
  static __device__ __forceinline__ void begin(const Arguments &, const AttentionTile &, int, int) {
  }
  template <bool Weighed>
  static __device__ __forceinline__ void next(const Arguments &, const AttentionTile &, int, int,
                                              int) {}
  static __device__ __forceinline__ int await(int, int) { return 0; }
};
template <class Spec, class Arguments>
requires HasScoreTiles<Spec>
struct ScoreTileQueue<Spec, Arguments> {
  /// The warp's first row for a block: these have its stages by turns.
  static __device__ __forceinline__ int rowOf(int block) {
    const int warp = static_cast<int>(warpIndex()) - 4, // of those that compute
        stage = static_cast<int>(static_cast<unsigned>(block) % unsigned(Spec::kScoreStages));
    return 16 * (warp * Spec::kScoreStages + stage);
  }
  /// Asks for those of a block, after the calling warp has read what was there before.
  template <bool Whole>
  static __device__ __forceinline__ void request(const Arguments &arguments,
                                                 const AttentionTile &tile, int query, int block) {
    syncWarp();
    [&]<class... L>(List<L...>) {
      (copyScoreTile<Spec, L, Whole>(arguments, tile, rowOf(block), query, block * Spec::kKeys),
       ...);
    }(typename Spec::ScoreTiles{});
  }
  /// Of a tile's first blocks, which are its last ones, down to `firstBlock`.  Before, and behind
  /// the last tile, what nobody has waited for comes: that of a tile without queries for the
  /// warpgroup.
  static __device__ __forceinline__ void
  begin(const Arguments &arguments, const AttentionTile &tile, int query, int firstBlock) {
    copyAsyncWait<0>();
    if (tile.ends())
      return;
#pragma unroll 1
    for (int block = tile.endBlock - 1; block >= tile.endBlock - Spec::kScoreStages; --block) {
      if (block >= firstBlock)
        request<false>(arguments, tile, query, block);
      copyAsyncCommit();
    }
  }
  /// Of the next block that has this one's stage, if the tile has one, which the last key is
  /// behind: as soon as what this one's scores, or weights, have read is not wanted any more.
  template <bool Weighed>
  static __device__ __forceinline__ void next(const Arguments &arguments, const AttentionTile &tile,
                                              int query, int block, int firstBlock) {
    if constexpr (HasWeight<Spec> == Weighed) {
      if (block >= firstBlock + Spec::kScoreStages)
        request<true>(arguments, tile, query, block - Spec::kScoreStages);
      copyAsyncCommit();
    }
  }
  /// A block's row `row` of the warp's, when they have come to all of it.
  static __device__ __forceinline__ int await(int block, int row) {
    copyAsyncWait<Spec::kScoreStages - 1>();
    syncWarp();
    return rowOf(block) + row;
  }
};

} // namespace detail
} // namespace swage
