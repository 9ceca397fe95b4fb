// Attention's tiles: where they are in shared memory, and what of them a query sees.  See
// attention_hopper.cuh.
#pragma once

#include "swage/device/device.cuh"

#include "swage/device/mbarrier.cuh"
#include "swage/device/shared.cuh"
#include "swage/device/vote.cuh"

namespace swage {

struct AttentionArguments {
  float scaleLog2; ///< of the scores, in units of log2(e)
  int queries, keys, heads, keyHeads, batches;
  int section; ///< heads whose tiles are taken together: their keys and values stay in L2
  float *logSums;
  unsigned *counter; ///< zero before and after
};

namespace detail {

/// Tiles lie in shared memory as panels of 64 columns, a row of which is the 128 bytes that are
/// swizzled.
enum : int { kPanelColumns = 64, kPanelRow = 128 };

/// The score of a key that is not seen.
__device__ __forceinline__ float unseen() { return -static_cast<float>(infinity()); }

template <class Spec> struct AttentionLayout {
  enum : int {
    kRows = 64 * Spec::kGroups,
    kHeadPanels = (Spec::kHeadDim + kPanelColumns - 1) / kPanelColumns,
    kValuePanels = (Spec::kValueDim + kPanelColumns - 1) / kPanelColumns,
    kMostPanels = kHeadPanels > kValuePanels ? kHeadPanels : kValuePanels,
    kQueryPanel = kRows * kPanelRow,
    kKeyPanel = Spec::kKeys * kPanelRow,
    kQueryBytes = kMostPanels * kQueryPanel, ///< the output leaves through the same place
    kKeyBytes = kHeadPanels * kKeyPanel,
    kValueBytes = kValuePanels * kKeyPanel,
    kQueryAt = 1024,
    kKeyAt = kQueryAt + Spec::kQuerySlots * kQueryBytes,
    kValueAt = kKeyAt + Spec::kStages * kKeyBytes,
    kBytes = kValueAt + Spec::kStages * kValueBytes
  };
};

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
  __device__ __forceinline__ void init() const {
    for (int stage = 0; stage < Spec::kStages; ++stage) {
      mbarrierInit(full(stage), 1);
      mbarrierInit(empty(stage), Spec::kGroups);
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
  int firstQuery, head, batch;
  int keyHead, blocks; ///< of keys, which some query sees

  __device__ __forceinline__ bool ends() const { return firstQuery < 0; }
};

/// How many keys a query sees.
template <class Spec>
__device__ __forceinline__ int seenKeys(int query, const AttentionArguments &arguments) {
  if constexpr (Spec::kCausal) {
    const int seen = query + 1 + arguments.keys - arguments.queries;
    return seen < arguments.keys ? seen : arguments.keys;
  }
  return arguments.keys;
}

/// How many blocks a query sees whole.
template <class Spec>
__device__ __forceinline__ int openBlocks(int query, const AttentionArguments &arguments) {
  const int seen = seenKeys<Spec>(query, arguments);
  return seen > 0 ? static_cast<unsigned>(seen) / Spec::kKeys : 0;
}

/// The arena: barriers, the queue of query tiles, the rings.
template <class Spec> struct AttentionShared {
  using Layout = AttentionLayout<Spec>;
  SharedAddress base;
  TileRing<Spec, Layout::kKeyBytes> keys;
  TileRing<Spec, Layout::kValueBytes> values;

  enum : int { kTilesAt = 512, kRingBarriers = 8 * 2 * Spec::kQuerySlots };

  __device__ __forceinline__ explicit AttentionShared(SharedAddress base)
      : base(base), keys{base + Layout::kKeyAt, base + kRingBarriers},
        values{base + Layout::kValueAt, base + kRingBarriers + 16 * Spec::kStages} {}

  __device__ __forceinline__ SharedAddress query(int slot) const {
    return base + Layout::kQueryAt + slot * Layout::kQueryBytes;
  }
  __device__ __forceinline__ SharedAddress queryFull(int slot) const { return base + 8 * slot; }
  __device__ __forceinline__ SharedAddress queryEmpty(int slot) const {
    return base + 8 * (Spec::kQuerySlots + slot);
  }
  __device__ __forceinline__ void init() const {
    for (int slot = 0; slot < Spec::kQuerySlots; ++slot) {
      mbarrierInit(queryFull(slot), 1);
      mbarrierInit(queryEmpty(slot), 4 * Spec::kGroups);
    }
    keys.init();
    values.init();
  }
  __device__ __forceinline__ void waitQuery(const Slot<Spec::kQuerySlots> &slot) const {
    mbarrierWait(queryFull(slot.stage), slot.parity);
  }
  /// One lane of each warp that computes.
  __device__ __forceinline__ void releaseQuery(int slot) const { mbarrierArrive(queryEmpty(slot)); }

  /// The tile that is in a slot: written before the queries are waited for.
  __device__ __forceinline__ AttentionTile *tileAt(int slot) const {
    return reinterpret_cast<AttentionTile *>(dynamicArena() + kTilesAt) + slot;
  }
  /// The shuffles tell the compiler that the warp agrees on it; else every descriptor that depends
  /// on how many blocks there were goes through vector registers.
  __device__ __forceinline__ AttentionTile tile(int slot) const {
    AttentionTile tile = *tileAt(slot);
    tile.firstQuery = shuffleFrom(tile.firstQuery, 0);
    tile.blocks = shuffleFrom(tile.blocks, 0);
    return tile;
  }
};

} // namespace detail
} // namespace swage
