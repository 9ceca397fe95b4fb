// How keys are dealt out to blocks where there are few queries: tiles of keys of all sequences and
// heads, laid end to end, are cut into spans as long as each other, one for each block.  Every warp
// finds out by itself where its block's span is, so that lengths may come from memory and change
// from launch to launch.  See attention_decode.cuh.
#pragma once

#include "swage/attention_chunks.cuh"
#include "swage/device/vote.cuh"

namespace swage::detail {

/// All queries that share a key head, those of one query head after the other, or as many of these
/// as are multiplied together: the unit of work.
struct PackedTile : AttentionTile {
  int unit;    ///< which one
  int queries; ///< of a query head
  template <class Coord> __device__ __forceinline__ Coord at(int row, int key) const {
    Coord coord = AttentionTile::at<Coord>(row % queries, key);
    coord[AttentionDim::Group] = row / queries;
    return coord;
  }
};

/// A query, to what is shared with kernels for more of them, is a row of a unit.
template <class Spec, class Pointers> struct PackedArguments : AttentionArguments<Spec, Pointers> {
  using Tile = PackedTile;
  __device__ __forceinline__ int queries() const {
    return this->template extent<AttentionDim::Group>() *
           this->template extent<AttentionDim::Query>();
  }
  __device__ __forceinline__ int units() const {
    return this->template extent<AttentionDim::Batch>() *
           this->template extent<AttentionDim::KeyHead>() * Spec::kRowTiles;
  }
};

/// How many of the rows of a unit there are: the last one of a key head may have fewer.
template <class Spec, class Arguments>
__device__ __forceinline__ int rowsOf(const PackedTile &tile, const Arguments &arguments) {
  const int left = arguments.queries() - tile.firstQuery;
  return Spec::kRowTiles == 1 || left > Spec::kRows ? int(Spec::kRows) : left;
}

template <class Spec, class Arguments> struct KeySpans {
  enum : bool {
    kByRow = Spec::kBoundsByHead || Spec::kBoundsByQuery,
    /// Whether units of one sequence differ.
    kByUnit = Spec::kBoundsByHead || (kByRow && Spec::kRowTiles > 1),
    kEven = !IsBounded<Spec> || !(Spec::kBoundsByBatch || kByUnit) ///< all units have as many tiles
  };
  const Arguments &arguments;
  int same; ///< units next to each other that have as many tiles
  int all;  ///< tiles of all units
  /// Of one, where they have as many or nearly so, and with them those that fill its last span;
  /// else 0.
  int each;
  int span; ///< tiles of a block

  /// Where units are even, a block has some of them whole, or a part of one: who has ends of two
  /// merges twice.  So it is where units turn out to be so nearly even that the longest span is at
  /// most a twenty-fifth longer than the others would be.
  __device__ __forceinline__ explicit KeySpans(const Arguments &arguments)
      : arguments(arguments),
        same(kByUnit ? 1 : arguments.template extent<AttentionDim::KeyHead>() * Spec::kRowTiles),
        each(0) {
    const int units = arguments.units(), blocks = static_cast<int>(blockCount());
    if constexpr (kEven) {
      dealWhole(tilesOf(0), units, blocks);
    } else {
      int mine = 0, most = 0;
#pragma unroll 4
      for (int first = static_cast<int>(laneIndex()) * same; first < units;
           first += kWarpSize * same) {
        const int tiles = tilesOf(first);
        mine += tiles * same;
        most = tiles > most ? tiles : most;
      }
      const int tiles = reduceLanes<LaneOp::Add>(mine),
                cut = (tiles + blocks - 1) / blocks; // wherever spans end
      most = reduceLanes<LaneOp::Max>(most);
      if (!IsChunked<Spec> && most > 0)
        if (dealWhole(most, units, blocks); span - span / 25 <= cut)
          return;
      all = tiles;
      each = 0;
      span = cut;
      if constexpr (IsChunked<Spec>) {
        const int chunk = Chunks<Spec>(most).tiles;
        span = chunk > span ? chunk : span;
      }
    }
  }
  /// As if all units had `tiles`.
  __device__ __forceinline__ void dealWhole(int tiles, int units, int blocks) {
    each = tiles;
    if (const int parts = blocks / units; parts > 0) {
      span = (each + parts - 1) / parts;
      if constexpr (IsChunked<Spec>) {
        const int chunk = Chunks<Spec>(each).tiles;
        span = (span + chunk - 1) / chunk * chunk;
      }
      each = (each + span - 1) / span * span;
    } else {
      span = (units + blocks - 1) / blocks * each;
    }
    all = units * each;
  }

  static __device__ __forceinline__ unsigned blockCount() {
    return Spec::kBlocks > 0 ? Spec::kBlocks : lastBlockIndex() + 1;
  }

  /// A unit by its number, without what is seen of it.
  __device__ __forceinline__ PackedTile unitAt(int unit) const {
    const int keyHeads = arguments.template extent<AttentionDim::KeyHead>(),
              head = unit / Spec::kRowTiles;
    PackedTile tile{};
    tile.unit = unit;
    tile.queries = arguments.template extent<AttentionDim::Query>();
    tile.firstQuery = unit % Spec::kRowTiles * Spec::kRows;
    tile.batch = head / keyHeads;
    tile.keyHead = head % keyHeads;
    return tile;
  }
  /// Tells which keys a unit's queries see, and which all of them do.
  __device__ __forceinline__ RowRange<int> see(PackedTile &tile) const {
    const int keys = arguments.keys();
    SeenByRows seen{{0, keys}, {0, keys}};
    if constexpr (IsBounded<Spec>) {
      seen = SeenByRows::none(keys);
      const int rows = kByRow ? rowsOf<Spec>(tile, arguments) : 1;
      for (int row = 0; row < rows; ++row)
        seen.add(seenKeys<Spec>(tile, tile.firstQuery + row, arguments));
    }
    setSeen<Spec>(tile, seen.some);
    if (!IsChunked<Spec> && each > 0)
      tile.endBlock = tile.firstBlock + each;
    return seen.all;
  }
  __device__ __forceinline__ int tilesOf(int unit) const {
    PackedTile tile = unitAt(unit);
    see(tile);
    return tile.endBlock - tile.firstBlock;
  }

  /// The first tile of a block's span.
  __device__ __forceinline__ int firstOf(unsigned block) const {
    const long long first = static_cast<long long>(block) * span;
    return first < all ? static_cast<int>(first) : all;
  }
  /// From a unit's first tile to the next one's.
  __device__ __forceinline__ int lengthOf(const PackedTile &tile) const {
    return kEven ? each : tile.endBlock - tile.firstBlock;
  }
  /// The block whose span a tile is in.
  __device__ __forceinline__ unsigned blockOf(int tile) const { return tile / span; }

  /// Where a tile is: of which unit, and how many of its tiles come before.
  struct Place {
    int unit, before;
  };
  __device__ __forceinline__ Place find(int tile) const {
    if (kEven || each > 0)
      return {tile / each, tile % each};
    if constexpr (!kEven) {
      const int lane = static_cast<int>(laneIndex());
      for (int first = 0;; first += kWarpSize * same) {
        const int unit = first + lane * same;
        const int each = unit < arguments.units() ? tilesOf(unit) : 0;
        int through = each * same; // the lanes up to this one
        for (int distance = 1; distance < kWarpSize; distance *= 2) {
          const int others = shuffleUp(through, distance);
          if (lane >= distance)
            through += others;
        }
        if (const int owner = reduceLanes<LaneOp::Min>(tile < through ? lane : kWarpSize);
            owner < kWarpSize) {
          const int behind = tile - shuffleFrom(through - each * same, owner);
          const int ofEach = shuffleFrom(each, owner);
          return {first + owner * same + behind / ofEach, behind % ofEach};
        }
        tile -= shuffleFrom(through, kWarpSize - 1);
      }
    }
  }
};

/// Where a warp is in its block's span; `block`: which tile of the unit's keys that is.
template <class Spec, class Arguments> struct UnitCursor {
  using Spans = KeySpans<Spec, Arguments>;
  PackedTile tile;
  RowRange<int> open; ///< keys that all queries see
  int block, left;    ///< tiles of the span from this one on

  __device__ __forceinline__ void enter(const Spans &spans, int unit) {
    tile = spans.unitAt(unit);
    open = spans.see(tile);
    block = tile.firstBlock;
  }
};

/// Where a part is of all tiles that the span has of a unit.
template <class Spec, class Arguments> struct SpanCursor : UnitCursor<Spec, Arguments> {
  using Spans = KeySpans<Spec, Arguments>;
  /// In front of a span of `tiles`; whether the block has any.
  __device__ __forceinline__ bool begin(const Spans &spans, const typename Spans::Place &start,
                                        int tiles) {
    this->enter(spans, start.unit);
    this->block += start.before;
    this->left = tiles;
    return true;
  }
  /// Whether that was the last tile that goes into one part.
  __device__ __forceinline__ bool advance(const Spans &) {
    ++this->block;
    --this->left;
    return this->left == 0 || this->block == this->tile.endBlock;
  }
  /// Behind such a tile, if there are more; whether they are another unit's.
  __device__ __forceinline__ bool proceed(const Spans &spans) {
    this->enter(spans, this->tile.unit + 1);
    return true;
  }
};

/// Where parts are chunks': those whose first tile is in the span, to their last tile.
template <class Spec, class Arguments>
requires IsChunked<Spec>
struct SpanCursor<Spec, Arguments> : UnitCursor<Spec, Arguments> {
  using Spans = KeySpans<Spec, Arguments>;
  int border; ///< the tile behind the chunk

  __device__ __forceinline__ int tilesOfUnit() const {
    return this->tile.endBlock - this->tile.firstBlock;
  }
  __device__ __forceinline__ void beginChunk() {
    const int most = Chunks<Spec>(tilesOfUnit()).tiles, ofUnit = this->tile.endBlock - this->block,
              tiles = most < ofUnit ? most : ofUnit;
    border = this->block + tiles;
    this->left = tiles > this->left ? tiles : this->left;
  }
  /// `start` moves on to the unit that is entered.
  __device__ __forceinline__ bool begin(const Spans &spans, typename Spans::Place &start,
                                        int tiles) {
    this->enter(spans, start.unit);
    const int ofUnit = tilesOfUnit(), chunk = Chunks<Spec>(ofUnit).tiles,
              next = (start.before + chunk - 1) / chunk * chunk,
              from = next < ofUnit ? next : ofUnit;
    this->block += from;
    this->left = tiles - (from - start.before);
    if (this->left <= 0)
      return false;
    if (from == ofUnit) {
      start = {start.unit + 1, start.before - ofUnit};
      this->enter(spans, start.unit);
    }
    beginChunk();
    return true;
  }
  __device__ __forceinline__ bool advance(const Spans &spans) {
    ++this->block;
    --this->left;
    if (this->block == this->tile.endBlock) // without what fills the unit's last span
      this->left -= spans.lengthOf(this->tile) - tilesOfUnit();
    return this->block == border;
  }
  __device__ __forceinline__ bool proceed(const Spans &spans) {
    const bool ends = this->block == this->tile.endBlock;
    if (ends)
      this->enter(spans, this->tile.unit + 1);
    beginChunk();
    return ends;
  }
};

} // namespace swage::detail
