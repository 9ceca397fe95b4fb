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

/// a / b and a % b, in half as many instructions, for what is not negative and a / b below 2^22:
/// one more or less is all that a float may be off.
struct Quotient {
  int whole, rest;
  __device__ __forceinline__ Quotient(int a, int b)
      : whole(static_cast<int>(static_cast<float>(a) * reciprocal(static_cast<float>(b)))),
        rest(a - whole * b) {
    if (rest < 0) {
      --whole;
      rest += b;
    } else if (rest >= b) {
      ++whole;
      rest -= b;
    }
  }
};

template <class Spec, class Arguments> struct KeySpans {
  enum : bool {
    kByRow = Spec::kBoundsByHead || Spec::kBoundsByQuery,
    /// Whether units of one sequence differ.
    kByUnit = Spec::kBoundsByHead || (kByRow && Spec::kRowTiles > 1),
    kEven = !IsBounded<Spec> || !(Spec::kBoundsByBatch || kByUnit) ///< all units have as many tiles
  };
  /// To merge a unit's parts takes about as long as so many tiles, of which each is about 64 KB: a
  /// multiprocessor reads one in 1.4 us.
  enum : int { kMerge = 3 };

  enum : bool { kIsShared = partsOf<Spec>() > 1 }; ///< a unit among the blocks of a cluster

  const Arguments &arguments;
  int same;               ///< units next to each other that have as many tiles
  int all;                ///< tiles that are dealt out
  int span;               ///< those of a block
  int each;               ///< those of a unit, where all have as many; else 0
  bool isAligned = false; ///< units begin where spans do: none has parts of two
  /// How much is dealt out for units next to each other (of each `same` the first) a lane keeps,
  /// for as many as `ofLane`: tiles, or spans where units are aligned.  0: there are too many.
  enum : int { kKept = 4 };
  int ofLane = 0, kept[kKept];

  /// Where units are even, a block has some of them whole, or a part of one: who has ends of two
  /// merges twice.  Where a cluster has a unit, what is dealt out are not tiles but parts.
  __device__ __forceinline__ explicit KeySpans(const Arguments &arguments)
      : arguments(arguments),
        same(kByUnit ? 1 : arguments.template extent<AttentionDim::KeyHead>() * Spec::kRowTiles),
        each(0) {
    const int units = arguments.units(), blocks = static_cast<int>(blockCount());
    if constexpr (kIsShared) {
      span = 1;
      each = partsOf<Spec>();
      all = units * each;
    } else if constexpr (kEven) {
      dealEvenly(tilesOf(0), units, blocks);
    } else {
      int tiles = 0, most = 0;
      const auto look = [&](int unit) {
        const int ofUnit = unit < units ? tilesOf(unit) : 0;
        tiles += ofUnit * same;
        most = ofUnit > most ? ofUnit : most;
        return ofUnit;
      };
      const int lane = static_cast<int>(laneIndex()),
                ofEach = (units + same * kWarpSize - 1) / (same * kWarpSize);
      if (ofEach <= kKept) {
        ofLane = ofEach;
#pragma unroll
        for (int i = 0; i < kKept; ++i)
          kept[i] = i < ofLane ? look((lane * ofLane + i) * same) : 0;
      } else {
#pragma unroll 4
        for (int first = lane * same; first < units; first += kWarpSize * same)
          look(first);
      }
      tiles = reduceLanes<LaneOp::Add>(tiles);
      most = reduceLanes<LaneOp::Max>(most);
      if constexpr (IsChunked<Spec>) {
        const int chunk = Chunks<Spec>(most).tiles, cut = (tiles + blocks - 1) / blocks;
        span = chunk > cut ? chunk : cut;
        all = tiles;
      } else {
        deal(tiles, most, units, blocks);
      }
    }
  }
  __device__ __forceinline__ void dealEvenly(int tiles, int units, int blocks) {
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
  /// Where lengths are in memory: units whole, if that takes no longer than to merge parts of them,
  /// else as many parts of each as blocks suffice for, or as they come.
  __device__ __forceinline__ void deal(int tiles, int most, int units, int blocks) {
    // As long as a block takes, or memory, which 96 of 132 multiprocessors can keep busy; near
    // where both meet neither is reached.
    const float memory = static_cast<float>(tiles) * (132.0f / 96.0f / static_cast<float>(blocks));
    const auto time = [&](int ofBlock) {
      const float own = static_cast<float>(ofBlock);
      return own > memory ? own + memory / 8.0f : memory + own / 8.0f;
    };
    if (units <= blocks && ofLane > 0) {
      isAligned = true;
      span = (tiles + blocks - 1) / blocks;
      int parts[kKept], spans = units;
#pragma unroll 1
      for (; span < most; span += 1 + span / 32)
        if (spans = countSpans(parts); spans <= blocks)
          break;
      const bool areWhole = span >= most || time(most) <= time(span) + kMerge;
#pragma unroll
      for (int i = 0; i < kKept; ++i)
        kept[i] = !areWhole ? parts[i] : kept[i] > 0 ? 1 : 0;
      span = areWhole ? most : span;
      all = (areWhole ? units : spans) * span;
      return;
    }
    const int turns = (units + blocks - 1) / blocks, cut = (tiles + blocks - 1) / blocks;
    if (time(turns * most) <= time(cut) + kMerge) {
      each = most;
      span = turns * most;
      all = units * most;
    } else {
      span = cut;
      all = tiles;
    }
  }
  /// How many spans there are if each unit begins one, `parts` of each that is kept.
  __device__ __forceinline__ int countSpans(int (&parts)[kKept]) const {
    int spans = 0;
#pragma unroll
    for (int i = 0; i < kKept; ++i)
      spans += parts[i] = i < ofLane ? Quotient(kept[i] + span - 1, span).whole : 0;
    return reduceLanes<LaneOp::Add>(spans * same);
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
    if (!IsChunked<Spec> && !kIsShared && each > 0)
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
    if constexpr (!kEven)
      return ofLane > 0 ? findKept(tile) : findInTurn(tile);
  }
  /// The lane whose part of what lies end to end has a place, which becomes counted from there on.
  static __device__ __forceinline__ int findOwner(int ofMine, int &place) {
    const int lane = static_cast<int>(laneIndex());
    int through = ofMine; // the lanes up to this one
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
      const int others = shuffleUp(through, distance);
      if (lane >= distance)
        through += others;
    }
    const int owner = reduceLanes<LaneOp::Min>(place < through ? lane : kWarpSize);
    place -= shuffleFrom(owner < kWarpSize ? through - ofMine : through,
                         owner < kWarpSize ? owner : kWarpSize - 1);
    return owner;
  }
  __device__ __forceinline__ Place findKept(int tile) const {
    int place = isAligned ? static_cast<int>(blockIndex()) : tile, ofMine = 0;
#pragma unroll
    for (int i = 0; i < kKept; ++i)
      ofMine += i < ofLane ? kept[i] * same : 0;
    const int owner = findOwner(ofMine, place);
    int unit = owner * ofLane * same, ofEach = shuffleFrom(kept[0], owner);
#pragma unroll
    for (int i = 1; i < kKept; ++i) {
      const int next = shuffleFrom(kept[i], owner);
      if (i < ofLane && place >= ofEach * same) {
        place -= ofEach * same;
        unit += same;
        ofEach = next;
      }
    }
    const Quotient in(place, ofEach);
    return {unit + in.whole, isAligned ? in.rest * span : in.rest};
  }
  __device__ __forceinline__ Place findInTurn(int tile) const {
    for (int first = 0;; first += kWarpSize * same) {
      const int unit = first + static_cast<int>(laneIndex()) * same;
      const int ofEach = unit < arguments.units() ? tilesOf(unit) : 0;
      if (const int owner = findOwner(ofEach * same, tile); owner < kWarpSize) {
        const Quotient in(tile, shuffleFrom(ofEach, owner));
        return {first + owner * same + in.whole, in.rest};
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
  /// In front of a span of `tiles`, of which there is one at least.
  __device__ __forceinline__ bool begin(const Spans &spans, const typename Spans::Place &start,
                                        int tiles) {
    this->enter(spans, start.unit);
    this->block += start.before;
    this->left = tiles;
    return true;
  }
  /// Whether that was the last tile that goes into one part.
  __device__ __forceinline__ bool advance(const Spans &spans) {
    ++this->block;
    --this->left;
    const bool ends = this->block == this->tile.endBlock;
    if (!Spans::kEven && ends && spans.isAligned)
      this->left = 0;
    return this->left == 0 || ends;
  }
  /// Behind such a tile, if there are more; whether they are another unit's.
  __device__ __forceinline__ bool proceed(const Spans &spans) {
    this->enter(spans, this->tile.unit + 1);
    return true;
  }
};

/// Where the blocks of a cluster have a unit: one of its parts.  Where there are fewer tiles than
/// parts some have one behind the unit's end, of which nothing is seen.
template <class Spec, class Arguments>
requires(partsOf<Spec>() > 1) struct SpanCursor<Spec, Arguments> : UnitCursor<Spec, Arguments> {
  using Spans = KeySpans<Spec, Arguments>;
  __device__ __forceinline__ bool begin(const Spans &spans, const typename Spans::Place &start,
                                        int /*tiles*/) {
    this->enter(spans, start.unit);
    const int first = this->tile.firstBlock;
    const RowRange<int> part = blocksOfPart<Spec>(this->tile.endBlock - first, start.before);
    const bool isEmpty = part.first == part.last;
    this->block = isEmpty ? this->tile.endBlock : first + part.first;
    this->left = isEmpty ? 1 : part.last - part.first;
    return true;
  }
  __device__ __forceinline__ bool advance(const Spans & /*spans*/) {
    ++this->block;
    return --this->left == 0;
  }
  __device__ __forceinline__ bool proceed(const Spans & /*spans*/) { return false; }
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
  /// Whether a chunk begins in the span; `start` moves on to the unit that is entered.
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
