// How keys and values come to a warp that decodes: a ring of its own in shared memory, of stages
// with the warp's share of a tile of keys each.  By copies that every lane starts, or by the copy
// engine's, which reads memory faster.  Of a team one warp copies.  See attention_decode.cuh.
#pragma once

#include "swage/attention_copy.cuh"
#include "swage/attention_pages.cuh"
#include "swage/attention_runs.cuh"
#include "swage/attention_spans.cuh"
#include "swage/attention_warp.cuh"
#include "swage/device/bulk.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/vote.cuh"

namespace swage::detail {

/// Stages of keys, then of values; rings begin behind so many bytes.
template <class Spec, class Rows, int RingsAt> struct RowStages : Rows {
  enum : int {
    kHeadSteps = (Spec::kHeadDim + 15) / 16,
    kKeyBytes = Spec::kKeys * Rows::kHeadRow,
    kValueBytes = HasValuesInKeys<Spec> ? 0 : Spec::kKeys * Rows::kValueRow,
    kKeyAt = 0,
    kValueAt = Spec::kStages * kKeyBytes,
    kRingBytes = kValueAt + Spec::kStages * kValueBytes,
    kRingsAt = RingsAt
  };
};

/// Keys and values that no other unit of the sequence reads leave L2 before parts, counters and
/// instructions do.
template <class Spec> constexpr __device__ Eviction evictionOf() {
  return Spec::kRowTiles == 1 ? Eviction::First : Eviction::Normal;
}

/// How a lane copies a tile's rows of one of the operands.
template <class Spec, class Operand, int Dim, int Columns> struct RowCopy {
  using Type = TileCopy<Spec, Operand, AttentionDim::Key, Spec::kKeys, Dim, Columns,
                        Spec::kCopyBytes>;
};
template <class Spec, class Operand, int Dim, int Columns>
requires IsPaged<Spec>
struct RowCopy<Spec, Operand, Dim, Columns> {
  using Type = PagedCopy<Spec, Operand, Dim, Columns>;
};

template <class Spec> struct KeyCopyOf {
  using Type =
      typename RowCopy<Spec, typename Spec::Keys, Spec::kHeadDim, Spec::kHeadColumns>::Type;
};
template <HasKeyRuns Spec> struct KeyCopyOf<Spec> {
  using Type = RunCopy<Spec>;
};

template <class Spec> struct LaneRows : PaddedRows<Spec> {};
template <HasKeyRuns Spec> struct LaneRows<Spec> : KeyRuns<Spec, PaddedRows<Spec>> {};

template <class Spec, class Arguments> struct LaneRing {
  using Layout = RowStages<Spec, LaneRows<Spec>, 0>;
  using KeyCopy = typename KeyCopyOf<Spec>::Type;
  using ValueCopy =
      typename RowCopy<Spec, typename Spec::Values, Spec::kValueDim, Spec::kValueColumns>::Type;
  struct Maps {};

  const Arguments &arguments;
  SharedAddress base;
  KeyCopy keys;
  ValueCopy values;
  KeyPlaces<Spec, Arguments> places;

  __device__ __forceinline__ LaneRing(const Arguments &arguments, const Maps &, SharedAddress base,
                                      int /*warp*/, bool /*fills*/, const PackedTile &tile)
      : arguments(arguments), base(base),
        keys(arguments.pointers, tile, arguments.sizes, Layout::kHeadRow),
        values(arguments.pointers, tile, arguments.sizes, Layout::kValueRow), places(arguments) {}
  __device__ __forceinline__ void enter(const PackedTile &tile) {
    keys = KeyCopy(arguments.pointers, tile, arguments.sizes, Layout::kHeadRow);
    values = ValueCopy(arguments.pointers, tile, arguments.sizes, Layout::kValueRow);
    places.enter(tile);
  }
  /// Starts to fill a stage with the keys from `first` on.
  __device__ __forceinline__ void load(const PackedTile &tile, int first, int stage) {
    const int begin = tile.firstKey, end = tile.endKey;
    const SharedAddress key = base + stage * Layout::kKeyBytes,
                        value = base + Layout::kValueAt + stage * Layout::kValueBytes;
    if constexpr (IsPaged<Spec>) {
      places.seek(tile, first);
      keys.startWithin(key, Layout::kHeadRow, places, tile,
                       static_cast<int>(Spec::keyPages(arguments.sizes)), first);
      if constexpr (!HasValuesInKeys<Spec>)
        values.startWithin(value, Layout::kValueRow, places, tile,
                           static_cast<int>(Spec::valuePages(arguments.sizes)), first);
    } else {
      keys.startWithin(key, Layout::kHeadRow, first, begin, end);
      if constexpr (!HasValuesInKeys<Spec>)
        values.startWithin(value, Layout::kValueRow, first, begin, end);
    }
  }
  /// After each load, or what would have been one.
  __device__ __forceinline__ void commit() const { copyAsyncCommit(); }
  /// Until the stage is there whose load is followed by kStages - 2 others; what no query sees of
  /// its values is zero.
  __device__ __forceinline__ void wait(const PackedTile &, int, const Slot<Spec::kStages> &) const {
    copyAsyncWait<Spec::kStages - 2>();
    syncWarp();
  }
};

/// The stages' barriers in a warp's part of shared memory, which copies complete.  `fills`: whether
/// the warp starts these, and the others of its team wait for it.
template <class Spec> struct StageBarriers {
  SharedAddress first;

  __device__ __forceinline__ StageBarriers(int warp, bool fills)
      : first(sharedAddress(dynamicArena()) + warp * Spec::kStages * 8) {
    if (fills && electLane()) {
      for (int stage = 0; stage < Spec::kStages; ++stage)
        mbarrierInit(at(stage), 1);
      mbarrierFenceInit();
    }
    syncWarp();
  }
  __device__ __forceinline__ SharedAddress at(int stage) const { return first + stage * 8; }
  __device__ __forceinline__ void wait(const Slot<Spec::kStages> &place) const {
    mbarrierWait(at(place.stage), place.parity);
  }
};

/// Keys and values as they lie in memory, rows without gaps: a copy of each is all that a stage
/// takes.  Rows of an odd number of 16 bytes are in different banks, others in half or a quarter
/// of them.
template <class Spec, class Arguments> struct LinearRing {
  using Layout =
      RowStages<Spec,
                KeyRows<cacheBytes<Spec>() * Spec::kHeadDim, cacheBytes<Spec>() * Spec::kValueDim>,
                1024>;
  struct Maps {};

  const Arguments &arguments;
  SharedAddress base;
  const bool fills;
  const StageBarriers<Spec> barriers;
  const char *keys, *values; ///< of the unit

  __device__ __forceinline__ LinearRing(const Arguments &arguments, const Maps &,
                                        SharedAddress base, int warp, bool fills,
                                        const PackedTile &tile)
      : arguments(arguments), base(base), fills(fills), barriers(warp, fills) {
    enter(tile);
  }
  template <class Operand>
  __device__ __forceinline__ const char *firstOf(const PackedTile &tile) const {
    return reinterpret_cast<const char *>(
        static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer +
        Operand::offset(tile.template at<typename Spec::Coord>(0, 0), arguments.sizes));
  }
  __device__ __forceinline__ void enter(const PackedTile &tile) {
    keys = firstOf<typename Spec::Keys>(tile);
    values = firstOf<typename Spec::Values>(tile);
  }
  __device__ __forceinline__ void load(const PackedTile &tile, int first, int stage) {
    if (!electLane())
      return;
    const int left = tile.endKey - first,
              rows = left < 0 ? 0 : left < Spec::kKeys ? left : int(Spec::kKeys);
    const SharedAddress full = barriers.at(stage);
    mbarrierArriveExpect(full, rows * (Layout::kHeadRow + Layout::kValueRow));
    if (rows == 0)
      return;
    bulkLoad<evictionOf<Spec>()>(base + stage * Layout::kKeyBytes,
                                 keys + static_cast<long long>(first) * Layout::kHeadRow,
                                 rows * Layout::kHeadRow, full);
    bulkLoad<evictionOf<Spec>()>(base + Layout::kValueAt + stage * Layout::kValueBytes,
                                 values + static_cast<long long>(first) * Layout::kValueRow,
                                 rows * Layout::kValueRow, full);
  }
  __device__ __forceinline__ void commit() const {}
  /// What no query sees of a stage, or is not there, becomes zero: values that are no numbers have
  /// a product with a weight of zero that is none either.
  __device__ __forceinline__ void wait(const PackedTile &tile, int first,
                                       const Slot<Spec::kStages> &place) const {
    barriers.wait(place);
    if (fills && (first < tile.firstKey || first + Spec::kKeys > tile.endKey)) {
      const int from = tile.firstKey - first, to = tile.endKey - first;
      clear<Layout::kHeadRow>(place.stage * Layout::kKeyBytes, from, to);
      clear<Layout::kValueRow>(Layout::kValueAt + place.stage * Layout::kValueBytes, from, to);
      fenceProxyAsync();
    }
    syncWarp();
  }

private:
  /// All rows of a stage but those from `first` on and before `end`.
  template <int Row> __device__ __forceinline__ void clear(int stage, int first, int end) const {
    const unsigned zeros[4] = {};
    char *const to = dynamicArena() + (base - sharedAddress(dynamicArena())) + stage;
#pragma unroll 1
    for (int at = static_cast<int>(laneIndex()) * 16; at < Spec::kKeys * Row; at += kWarpSize * 16)
      if (const int row = at / Row; row < first || row >= end)
        storeShared<16>(to + at, zeros);
  }
};

/// Rows are the 128 bytes that the copy engine swizzles, panel by panel.  What a step of a team's
/// member is behind the first one's lies within a panel: teams are of 2 or 4.
template <class Spec> struct SwizzledStages {
  enum : int {
    kHeadSteps = (Spec::kHeadDim + 15) / 16,
    kPanelColumns = kPanelRow / cacheBytes<Spec>(),
    kHeadPanels = (Spec::kHeadDim + kPanelColumns - 1) / kPanelColumns,
    kValuePanels = (Spec::kValueDim + kPanelColumns - 1) / kPanelColumns,
    kPanel = Spec::kKeys * kPanelRow,
    kKeyBytes = kHeadPanels * kPanel,
    kValueBytes = HasValuesInKeys<Spec> ? 0 : kValuePanels * kPanel,
    kKeyAt = 0,
    kValueAt = Spec::kStages * kKeyBytes,
    kRingBytes = kValueAt + Spec::kStages * kValueBytes,
    kRingsAt = 1024 ///< behind barriers
  };
  static __device__ __forceinline__ SharedAddress at(SharedAddress base, int row, int step,
                                                     int half, int swizzle) {
    return base + step / 4 * kPanel + row * kPanelRow + (((step % 4 * 2) ^ (half ^ swizzle)) * 16);
  }
  static __device__ __forceinline__ SharedAddress keyElement(SharedAddress keys, int key,
                                                             int column) {
    return at(keys, key, column / 16, column / 8 % 2, key % 8) + column % 8 * 2;
  }
  static __device__ __forceinline__ SharedAddress valueElement(SharedAddress values, int key,
                                                               int column) {
    return keyElement(values, key, column);
  }
  static __device__ __forceinline__ SharedAddress keyAt(SharedAddress keys, int lane, int pair,
                                                        int step, int member = 0) {
    return at(keys + pair * 16 * kPanelRow, lane / 16 * 8 + lane % 8, step, lane / 8 % 2,
              (lane % 8) ^ (2 * member));
  }
  static __device__ __forceinline__ SharedAddress halfKeyAt(SharedAddress keys, int lane, int pair,
                                                            int step) {
    return at(keys + pair * 16 * kPanelRow, lane % 16, step, 0, lane % 8);
  }
  static __device__ __forceinline__ SharedAddress valueAt(SharedAddress values, int lane, int step,
                                                          int pair, int member = 0) {
    return at(values + step * 16 * kPanelRow, lane % 16, pair, lane / 16,
              (lane % 8) ^ (2 * member));
  }
  static __device__ __forceinline__ SharedAddress narrowKeyAt(SharedAddress keys, int lane,
                                                              int group, int step) {
    return valueAt(keys, lane, group, step);
  }
};

template <class Spec> struct BoxStages : SwizzledStages<Spec> {};
/// Of values, whose panels come first; keys in runs.
template <HasKeyRuns Spec>
struct BoxStages<Spec> : KeyRuns<Spec, SwizzledStages<Spec>, keysTogether<Spec>()> {
  using Runs = KeyRuns<Spec, SwizzledStages<Spec>, keysTogether<Spec>()>;
  enum : int {
    kKeyBytes = Spec::kKeys * Runs::kHeadRow,
    kValueAt = 0,
    kKeyAt = Spec::kStages * Runs::kValueBytes,
    kRingBytes = (kKeyAt + Spec::kStages * kKeyBytes + 1023) / 1024 * 1024
  };
};

template <class Spec, class Arguments> struct BulkRing {
  using Layout = BoxStages<Spec>;
  struct Maps {
    const TensorMap &keys, &values;
  };

  const Arguments &arguments;
  const Maps &maps;
  SharedAddress base;
  const bool fills;
  const StageBarriers<Spec> barriers;
  KeyPlaces<Spec, Arguments> places;

  __device__ __forceinline__ BulkRing(const Arguments &arguments, const Maps &maps,
                                      SharedAddress base, int warp, bool fills, const PackedTile &)
      : arguments(arguments), maps(maps), base(base), fills(fills), barriers(warp, fills),
        places(arguments) {}
  __device__ __forceinline__ void enter(const PackedTile &tile) { places.enter(tile); }
  __device__ __forceinline__ void load(const PackedTile &tile, int first, int stage) {
    constexpr int kRun = KeyPlaces<Spec, Arguments>::kRun;
    const SharedAddress full = barriers.at(stage),
                        key = base + Layout::kKeyAt + stage * Layout::kKeyBytes,
                        value = base + Layout::kValueAt + stage * Layout::kValueBytes;
    places.seek(tile, first);
    if (electLane())
      mbarrierArriveExpect(full, Layout::kKeyBytes + Layout::kValueBytes);
#pragma unroll
    for (int run = 0; run < Spec::kKeys / kRun; ++run) {
      const KeyPlace place = places.at(tile, first, run);
      if (electLane()) {
        const int behind = run * kRun * kPanelRow;
        if constexpr (HasKeyRuns<Spec>) {
          tensorLoad<evictionOf<Spec>()>(key + run * kRun * Layout::kHeadRow, maps.keys, full,
                                         place.key * Spec::kKeyRun, 0, tile.keyHead, place.batch);
        } else {
#pragma unroll
          for (int panel = 0; panel < Layout::kHeadPanels; ++panel)
            tensorLoad<evictionOf<Spec>()>(key + panel * Layout::kPanel + behind, maps.keys, full,
                                           panel * Layout::kPanelColumns, place.key, tile.keyHead,
                                           place.batch);
        }
#pragma unroll
        for (int panel = 0; panel < Layout::kValueBytes / Layout::kPanel; ++panel)
          tensorLoad<evictionOf<Spec>()>(value + panel * Layout::kPanel + behind, maps.values, full,
                                         panel * Layout::kPanelColumns, place.key, tile.keyHead,
                                         place.batch);
      }
    }
  }
  __device__ __forceinline__ void commit() const {}
  /// Of keys that no query sees, values may be no numbers, of which the product with a weight of
  /// zero is none either.
  __device__ __forceinline__ void wait(const PackedTile &tile, int first,
                                       const Slot<Spec::kStages> &place) const {
    barriers.wait(place);
    if constexpr (IsBounded<Spec>)
      if (fills && (first < tile.firstKey || first + Spec::kKeys > tile.endKey))
        clearRows<Spec::kKeys, Layout::kValuePanels>(
            HasValuesInKeys<Spec>
                ? base + place.stage * Layout::kKeyBytes
                : base + Layout::kValueAt + place.stage * Layout::kValueBytes,
            sharedAddress(dynamicArena()), tile.firstKey - first, tile.endKey - first);
    syncWarp();
  }
};

template <class Spec, class Arguments> struct RingOf {
  using Type = LaneRing<Spec, Arguments>;
};
template <class Spec, class Arguments>
requires(bool(Spec::kBulk) && !bool(Spec::kLinear)) struct RingOf<Spec, Arguments> {
  using Type = BulkRing<Spec, Arguments>;
};
template <class Spec, class Arguments>
requires(bool(Spec::kLinear))
struct RingOf<Spec, Arguments> {
  using Type = LinearRing<Spec, Arguments>;
};

} // namespace swage::detail
