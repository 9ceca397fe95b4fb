// Attention's tiles: where they are in shared memory, and what of them a query sees.  See
// attention_hopper.cuh.
#pragma once

#include "swage/device/device.cuh"

#include "swage/device/bulk.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/shared.cuh"
#include "swage/device/vote.cuh"
#include "swage/row_bounds.cuh"

namespace swage {

/// The iteration space: result [batch, key head, query head of those that share it, query, value
/// dim], summed over keys and the head dim.
struct AttentionDim {
  enum : int { Batch, KeyHead, Group, Query, ValueDim, Key, HeadDim };
};

namespace detail {

struct AttentionTile;

/// What a kernel is called with.
template <class Spec, class Pointers> struct AttentionArguments {
  using Tile = AttentionTile;
  const Pointers &pointers;
  const typename Spec::Sizes &sizes;
  unsigned long long *tickets;

  template <int Dim> __device__ __forceinline__ int extent() const {
    return static_cast<int>(
        Spec::extents(sizes).template extent<typename Spec::Index, Dim>());
  }
  __device__ __forceinline__ int queries() const { return extent<AttentionDim::Query>(); }
  __device__ __forceinline__ int keys() const { return extent<AttentionDim::Key>(); }
};

/// A function of the Spec of what these operands are at a coordinate.
template <class Arguments, class... L, class Coord, class F>
__device__ __forceinline__ auto applyAt(const Arguments &arguments, List<L...>, const Coord &coord,
                                        F function) {
  Inputs<List<L...>, 1, AttentionDim::Key> in;
  in.load(arguments.pointers, coord, arguments.sizes);
  return function(static_cast<const Fragment<L, 1> &>(in).value(0)...);
}

/// Tiles lie in shared memory as panels, a row of which is the 128 bytes that are swizzled.
enum : int { kPanelRow = 128 };

/// Whether operands are f32.
template <class Spec> concept IsWide = sizeof(typename Spec::Element) == 4;
/// Whether products take 11 bits of these, not two times as many.
template <class Spec> concept IsTf32 = requires { requires bool(Spec::kTf32); };

/// The score of a key that is not seen.
__device__ __forceinline__ float unseen() { return -static_cast<float>(infinity()); }

/// Blocks after which sums of products go to shared memory; 0: they stay in registers.
template <class Spec> constexpr __device__ int runOf() {
  if constexpr (requires { Spec::kRun; })
    return Spec::kRun;
  return 0;
}

/// Blocks of a cluster that share the keys of a tile.
template <class Spec> constexpr __device__ int partsOf() {
  if constexpr (requires { Spec::kParts; })
    return Spec::kParts;
  return 1;
}
/// Which of so many blocks of keys block `rank` of the cluster has: none, where there are too few.
template <class Spec> constexpr __device__ RowRange<int> blocksOfPart(int blocks, int rank) {
  return {blocks * rank / partsOf<Spec>(), blocks * (rank + 1) / partsOf<Spec>()};
}
/// Whether a tile's blocks of keys may begin behind the first one.
template <class Spec> constexpr __device__ bool beginsLater() {
  return Spec::kBeginsLater || partsOf<Spec>() > 1;
}

/// Whether values are multiplied by something else than the weights that are summed up.
template <class Spec>
concept HasWeight = requires {
  typename Spec::WeightLoads;
};

/// What scores read from shared memory for each query and key: attention_score_tile.cuh.
template <class Spec>
concept HasScoreTiles = requires {
  typename Spec::ScoreTiles;
};
/// Its bytes, behind the barriers.
template <class Spec> constexpr __device__ int scoreTileBytes() {
  if constexpr (requires { Spec::kScoreTileBytes; })
    return Spec::kScoreTileBytes;
  return 0;
}

template <class Spec> struct AttentionLayout {
  template <class T> static constexpr __device__ int panels(int columns) {
    return (columns * static_cast<int>(sizeof(T)) + kPanelRow - 1) / kPanelRow;
  }
  using Element = typename Spec::Element;
  enum : int {
    kElementBytes = sizeof(Element),
    kRows = 64 * Spec::kGroups,
    kHeadPanels = panels<Element>(Spec::kHeadDim),
    kValuePanels = panels<Element>(Spec::kValueDim),
    kResultPanels = (Spec::kValueDim * 2 + kPanelRow - 1) / kPanelRow,
    kHasRuns = runOf<Spec>() != 0,
    kMostPanels = kHeadPanels > kResultPanels || kHasRuns ? kHeadPanels : kResultPanels,
    kQueryPanel = kRows * kPanelRow,
    kKeyPanel = Spec::kKeys * kPanelRow,
    kQueryBytes = kMostPanels * kQueryPanel, ///< the output leaves through the same place
    kKeyRow = (Spec::kHeadDim + Spec::kValueDim) * kElementBytes, ///< bytes of a key and its value
    kKeyBytes = kHeadPanels * kKeyPanel,
    kValueBytes = kValuePanels * kKeyPanel,
    /// Values of 8 bits are transposed for the second product: attention_transpose.cuh.  They lie
    /// as steps of a matrix instruction, 32 keys of all columns.  Eight more columns are ones,
    /// whose outputs are the sums of weights as they were rounded.
    kTransposers = kElementBytes == 1 ? 3 : 0,
    kColumns = Spec::kValueDim + (kTransposers ? 8 : 0),
    kValueStep = kColumns * 32,
    kTransposedBytes = kTransposers ? Spec::kKeys / 32 * kValueStep : 0,
    kBarrierBytes = 1024, ///< AttentionShared, in front of all
    kQueryAt = kBarrierBytes + scoreTileBytes<Spec>(),
    kKeyAt = kQueryAt + Spec::kQuerySlots * kQueryBytes,
    kValueAt = kKeyAt + Spec::kStages * kKeyBytes,
    /// Of each warp: sums, through which its results leave, and the maxima that they are for.
    kSumsAt = kValueAt + Spec::kStages * kValueBytes,
    kWarpResult = kResultPanels * 16 * kPanelRow,
    kWarpSums = kWarpResult > 16 * Spec::kValueDim * 4 ? kWarpResult : 16 * Spec::kValueDim * 4,
    kTransposedAt = kSumsAt + (kHasRuns ? 4 * Spec::kGroups * kWarpSums : 0),
    kMaximaAt = kTransposedAt + Spec::kStages * kTransposedBytes,
    /// What a block leaves for others of its cluster (AttentionPart) takes the place of all rings.
    kPartAt = kKeyAt
  };
  /// Bytes of K of a matrix instruction are 32 for all elements.
  template <class T> static constexpr __device__ int steps(int columns) {
    return (columns * static_cast<int>(sizeof(T)) + 31) / 32;
  }
};

/// Clears the rows of a tile of panels but those from `first` on and before `end`, for a whole
/// warp, whose lanes must meet before the tile is read.  Mostly these are few, and somebody waits:
/// other rows are not visited.
template <int Rows, int Panels>
__device__ __forceinline__ void clearRows(SharedAddress tile, SharedAddress base, int first,
                                          int end) {
  constexpr int kPieces = kPanelRow / 16, kStep = kWarpSize / kPieces, kRound = 4 * kStep; // rows
  const unsigned zeros[4] = {};
  const int lane = static_cast<int>(laneIndex());
  char *const piece = dynamicArena() + (tile - base) + lane % kPieces * 16;
  const auto clear = [&](int row, int stop) {
#pragma unroll 1
    for (; row < stop; row += kRound)
#pragma unroll
      for (int more = 0; more < kRound; more += kStep)
        if (row + more < stop)
#pragma unroll
          for (int panel = 0; panel < Panels; ++panel)
            storeShared<16>(piece + (panel * Rows + row + more) * kPanelRow, zeros);
  };
  clear(lane / kPieces, first < Rows ? first : Rows);
  clear((end > 0 ? end : 0) + lane / kPieces, Rows);
  fenceProxyAsync();
}

/// A place in a ring, and whether it has gone round an even or odd number of times.
template <int Stages> struct Slot {
  int stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// A ring of tiles: `full` completes when the copy engine has written a stage, `empty` when all
/// warpgroups that compute have read it.
template <class Spec, int Bytes> struct TileRing {
  SharedAddress data, barriers;
  using Place = Slot<Spec::kStages>;

  __device__ __forceinline__ SharedAddress at(int stage) const { return data + stage * Bytes; }
  __device__ __forceinline__ SharedAddress full(int stage) const { return barriers + 8 * stage; }
  __device__ __forceinline__ SharedAddress empty(int stage) const {
    return barriers + 8 * (Spec::kStages + stage);
  }
  __device__ __forceinline__ void init(int writers, int readers) const {
    for (int stage = 0; stage < Spec::kStages; ++stage) {
      mbarrierInit(full(stage), writers);
      mbarrierInit(empty(stage), readers);
    }
  }
  __device__ __forceinline__ void waitFull(const Place &place) const {
    mbarrierWait(full(place.stage), place.parity);
  }
  /// Passes at once the first time round.
  __device__ __forceinline__ void waitEmpty(const Place &place) const {
    mbarrierWait(empty(place.stage), place.parity ^ 1);
  }
  /// One thread speaks for its warpgroup, all of which has waited for the products.
  __device__ __forceinline__ void release(Place &place) const {
    if (threadIndex() % 128 == 0)
      mbarrierArrive(empty(place.stage));
    place.advance();
  }
};

/// 64 queries for each warpgroup, of one head.
struct AttentionTile {
  int firstQuery, batch, keyHead, group;
  int firstBlock, endBlock; ///< of keys: others no query sees
  int firstKey, endKey;     ///< the same to the key

  __device__ __forceinline__ bool ends() const { return firstQuery < 0; }
  template <class Coord> __device__ __forceinline__ Coord at(int query, int key) const {
    Coord coord{};
    coord[AttentionDim::Batch] = batch;
    coord[AttentionDim::KeyHead] = keyHead;
    coord[AttentionDim::Group] = group;
    coord[AttentionDim::Query] = query;
    coord[AttentionDim::Key] = key;
    return coord;
  }
};

/// The keys that a query of this tile may see, by what its mask says of all keys at once.
template <class Spec, class Arguments>
__device__ __forceinline__ RowRange<int> seenKeys(const typename Arguments::Tile &tile, int query,
                                                  const Arguments &arguments) {
  const int keys = arguments.keys(), most = arguments.queries() - 1;
  if constexpr (IsBounded<Spec>) {
    using Coord = typename Spec::Coord;
    const Coord row = tile.template at<Coord>(query < most ? query : most, 0);
    const auto range = boundsOf<Spec, 1>(typename Spec::BoundsLoads{}, arguments.pointers, row,
                                         keys, 0, arguments.sizes);
    return {static_cast<int>(range.first), static_cast<int>(range.last)};
  }
  return {0, keys};
}

/// Around what some of a few queries see, and what all of them do.
struct SeenByRows {
  RowRange<int> some, all;

  static __device__ __forceinline__ SeenByRows none(int keys) { return {{keys, 0}, {0, keys}}; }
  /// Takes in what a query sees.
  __device__ __forceinline__ void add(const RowRange<int> &own) {
    if (own.first < own.last) {
      some.first = own.first < some.first ? own.first : some.first;
      some.last = own.last > some.last ? own.last : some.last;
    }
    all.first = own.first > all.first ? own.first : all.first;
    all.last = own.last < all.last ? own.last : all.last;
  }
};

/// The keys that a tile's queries see, and the blocks that these are in: one at least, in which who
/// sees nothing finds that.
template <class Spec>
__device__ __forceinline__ void setSeen(AttentionTile &tile, const RowRange<int> &seen) {
  tile.firstKey = seen.first;
  tile.endKey = seen.last;
  const int end = (tile.endKey + Spec::kKeys - 1) / Spec::kKeys;
  const int begin = tile.firstKey / Spec::kKeys;
  tile.endBlock = end > 1 ? end : 1;
  tile.firstBlock = !Spec::kBeginsLater ? 0 : begin < tile.endBlock ? begin : tile.endBlock - 1;
}

/// Of `Rows` queries from the first on, for a whole warp.  The first and the last one tell, where
/// for a later query neither end comes earlier.
template <class Spec, int Rows, class Arguments>
__device__ __forceinline__ SeenByRows seenByRows(const typename Arguments::Tile &tile, int first,
                                                 const Arguments &arguments) {
  if constexpr (!Spec::kScattered) {
    const RowRange<int> early = seenKeys<Spec>(tile, first, arguments),
                        late = seenKeys<Spec>(tile, first + Rows - 1, arguments);
    return {{early.first, late.last}, {late.first, early.last}};
  } else {
    const int keys = arguments.keys();
    SeenByRows seen = SeenByRows::none(keys);
#pragma unroll 1
    for (int row = laneIndex(); row < Rows; row += kWarpSize)
      seen.add(seenKeys<Spec>(tile, first + row, arguments));
    return {{reduceLanes<LaneOp::Min>(seen.some.first), reduceLanes<LaneOp::Max>(seen.some.last)},
            {reduceLanes<LaneOp::Max>(seen.all.first), reduceLanes<LaneOp::Min>(seen.all.last)}};
  }
}

/// Whether a mask wants something of a query and a key to be equal.
template <class Spec>
concept HasAgree = requires {
  typename Spec::AgreeLoads;
};
/// What queries or keys are of, where a mask asks that (attention_kinds.cuh): a range around it.
struct KindRange {
  long long least, most;
  static __device__ __forceinline__ KindRange all() {
    return {-0x7fffffffffffffffll - 1, 0x7fffffffffffffffll};
  }
};
/// Whether one of the warps that do not compute finds it out; of 8 bits all transpose.
template <class Spec> constexpr __device__ bool hasKindsWarp() {
  return HasAgree<Spec> && AttentionLayout<Spec>::kTransposers == 0;
}

/// The arena: barriers, the queue of query tiles, the rings.
template <class Spec> struct AttentionShared {
  using Layout = AttentionLayout<Spec>;
  SharedAddress base;
  TileRing<Spec, Layout::kKeyBytes> keys;
  TileRing<Spec, Layout::kValueBytes> loaded; ///< values as the copy engine writes them
  TileRing<Spec, Layout::kTransposers ? Layout::kTransposedBytes : Layout::kValueBytes> values;

  enum : int {
    kEndsAt = 480,
    kClearAt = 504,
    kTilesAt = 512,
    kQueryKindsAt = kTilesAt + Spec::kQuerySlots * int(sizeof(AttentionTile)),
    kLoadingAt = kQueryKindsAt + 12 * int(sizeof(KindRange)),
    kKeyKindsAt = kLoadingAt + 2 * int(sizeof(AttentionTile)),
    kRingBarriers = 8 * 2 * Spec::kQuerySlots,
    kValueBarriers = kRingBarriers + 16 * Spec::kStages,
    kLoadedBarriers = kValueBarriers + (Layout::kTransposers ? 16 * Spec::kStages : 0)
  };

  /// Each stage of keys has two places for what these are of.
  static_assert(!hasKindsWarp<Spec>() ||
                int(kKeyKindsAt) + 2 * Spec::kStages * int(sizeof(KindRange)) <=
                    int(Layout::kBarrierBytes));

  __device__ __forceinline__ explicit AttentionShared(SharedAddress base)
      : base(base), keys{base + Layout::kKeyAt, base + kRingBarriers},
        loaded{base + Layout::kValueAt, base + kLoadedBarriers},
        values{base + (Layout::kTransposers ? Layout::kTransposedAt : Layout::kValueAt),
               base + kValueBarriers} {}

  __device__ __forceinline__ SharedAddress query(int slot) const {
    return base + Layout::kQueryAt + slot * Layout::kQueryBytes;
  }
  __device__ __forceinline__ SharedAddress queryFull(int slot) const { return base + 8 * slot; }
  __device__ __forceinline__ SharedAddress queryEmpty(int slot) const {
    return base + 8 * (Spec::kQuerySlots + slot);
  }
  /// Values that have arrived, and of which some are yet to be cleared.
  __device__ __forceinline__ SharedAddress clear() const { return base + kClearAt; }
  __device__ __forceinline__ void init() const {
    for (int slot = 0; slot < Spec::kQuerySlots; ++slot) {
      mbarrierInit(queryFull(slot), 1);
      mbarrierInit(queryEmpty(slot), 4 * Spec::kGroups);
    }
    mbarrierInit(clear(), 1);
    keys.init(hasKindsWarp<Spec>() ? 2 : 1, Spec::kGroups);
    if constexpr (Layout::kTransposers > 0) {
      loaded.init(1, Layout::kTransposers);
      values.init(Layout::kTransposers, Spec::kGroups);
      for (int stage = 0; stage < Spec::kStages; ++stage)
        endsAt(stage) = false;
    } else {
      values.init(1, Spec::kGroups);
    }
  }
  /// Whether no more values come, where they would come to a stage.
  __device__ __forceinline__ bool &endsAt(int stage) const {
    return reinterpret_cast<bool *>(dynamicArena() + kEndsAt)[stage];
  }
  /// Of a stage of keys, in turn at two places: one thread gives the stage back when its products
  /// are done, and a warp that has not read this yet does before the warpgroup's next turn.
  __device__ __forceinline__ KindRange *keyKindsAt(const Slot<Spec::kStages> &key) const {
    return reinterpret_cast<KindRange *>(dynamicArena() + kKeyKindsAt) +
           (key.stage + Spec::kStages * static_cast<int>(key.parity));
  }
  /// Of the queries of the calling warp, which alone reads and writes it: registers are full, which
  /// is why the warp's number is made anew.
  __device__ __forceinline__ KindRange *queryKinds() const {
    return reinterpret_cast<KindRange *>(dynamicArena() + kQueryKindsAt) + (warpIndex() - 4);
  }
  __device__ __forceinline__ void waitQuery(const Slot<Spec::kQuerySlots> &slot) const {
    mbarrierWait(queryFull(slot.stage), slot.parity);
  }
  /// One lane of each warp that computes.
  __device__ __forceinline__ void releaseQuery(int slot) const { mbarrierArrive(queryEmpty(slot)); }

  /// The tiles that the producer is at, and was at before: its own, because it has few registers.
  __device__ __forceinline__ AttentionTile *loading(unsigned number) const {
    return reinterpret_cast<AttentionTile *>(dynamicArena() + kLoadingAt) + number % 2;
  }
  /// The tile that is in a slot: written before the queries are waited for.
  __device__ __forceinline__ AttentionTile *tileAt(int slot) const {
    return reinterpret_cast<AttentionTile *>(dynamicArena() + kTilesAt) + slot;
  }
  /// The shuffles tell the compiler that the warp agrees on it; else every descriptor that depends
  /// on how many blocks there were goes through vector registers.
  __device__ __forceinline__ AttentionTile tile(int slot) const {
    AttentionTile tile = *tileAt(slot);
    tile.firstQuery = shuffleFrom(tile.firstQuery, 0);
    if constexpr (beginsLater<Spec>())
      tile.firstBlock = shuffleFrom(tile.firstBlock, 0);
    tile.endBlock = shuffleFrom(tile.endBlock, 0);
    return tile;
  }
};

} // namespace detail
} // namespace swage
