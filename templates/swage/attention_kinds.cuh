// Where a mask wants something of a query and a key to be equal (documents, say): what keys of a
// block are of.  A warp that has nothing else to do finds that out ahead of those that compute, who
// would wait for memory between their products.  See attention_hopper.cuh.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/device/vote.cuh"

namespace swage::detail {

/// What must be equal for a query to see a key: of the one, or of the other.
template <bool OfKey, class Spec, class Arguments>
__device__ __forceinline__ long long
kindOf(const Arguments &arguments, const typename Arguments::Tile &tile, int query, int key) {
  const int lastQuery = arguments.queries() - 1, lastKey = arguments.keys() - 1;
  long long ofQuery = 0, ofKey = 0;
  applyAt(arguments, typename Spec::AgreeLoads{},
          tile.template at<typename Spec::Coord>(query < lastQuery ? query : lastQuery,
                                                 key < lastKey ? key : lastKey),
          [&](auto... in) { Spec::agree(in..., ofQuery, ofKey); });
  return OfKey ? ofKey : ofQuery;
}

/// The least or largest number of a warp's lanes: of the upper halves, and of the lower ones beside
/// that.
template <LaneOp Op> __device__ __forceinline__ long long reduceLongs(long long value) {
  const int own = static_cast<int>(value >> 32), upper = reduceLanes<Op>(own);
  const unsigned none = Op == LaneOp::Min ? ~0u : 0u;
  const unsigned lower = reduceLanes<Op>(own == upper ? static_cast<unsigned>(value) : none);
  return static_cast<long long>(static_cast<unsigned long long>(upper) << 32 | lower);
}

/// Of the keys of a block, from `key` on; by a whole warp.
template <class Spec, class Arguments>
__device__ __forceinline__ KindRange kindsOfKeys(const Arguments &arguments,
                                                 const typename Arguments::Tile &tile, int key) {
  KindRange kinds = KindRange::all();
#pragma unroll
  for (int i = 0; i < Spec::kKeys; i += kWarpSize) {
    const int at = i + static_cast<int>(laneIndex());
    const long long kind = kindOf<true, Spec>(arguments, tile, tile.firstQuery,
                                              key + (at < Spec::kKeys ? at : Spec::kKeys - 1));
    kinds.least = i == 0 || kind < kinds.least ? kind : kinds.least;
    kinds.most = i == 0 || kind > kinds.most ? kind : kinds.most;
  }
  return {reduceLongs<LaneOp::Min>(kinds.least), reduceLongs<LaneOp::Max>(kinds.most)};
}

/// Of a warp's queries, of which a lane has these two: what all are of, or nothing that is known.
template <class Spec, class Arguments>
__device__ __forceinline__ KindRange kindsOfQueries(const Arguments &arguments,
                                                    const typename Arguments::Tile &tile, int one,
                                                    int other) {
  const long long own = kindOf<false, Spec>(arguments, tile, one, 0), first = shuffleFrom(own, 0);
  return allLanes(own == first && kindOf<false, Spec>(arguments, tile, other, 0) == first)
             ? KindRange{first, first}
             : KindRange::all();
}

/// The warp: it goes over the block's tiles as those that compute do, and a stage of keys is full
/// when what they are of is there as well.  That it reads a tile is over before its slot is given
/// back, because those that give it back have waited for its last keys.
template <class Spec, class Arguments> struct AttentionKinds {
  const AttentionShared<Spec> &shared;
  const Arguments &arguments;

  __device__ __forceinline__ void run() const {
    Slot<Spec::kStages> key;
    for (Slot<Spec::kQuerySlots> query;; query.advance()) {
      shared.waitQuery(query);
      const AttentionTile tile = shared.tile(query.stage);
      if (tile.ends())
        return;
      const int first = beginsLater<Spec>() ? tile.firstBlock : 0;
#pragma unroll 1
      for (int block = tile.endBlock - 1; block >= first; --block) {
        const KindRange kinds = kindsOfKeys<Spec>(arguments, tile, block * Spec::kKeys);
        shared.keys.waitEmpty(key);
        syncWarp(); // all lanes have read the tile, whose place may be given back then
        if (laneIndex() == 0) {
          *shared.keyKindsAt(key) = kinds;
          mbarrierArrive(shared.keys.full(key.stage));
        }
        key.advance();
      }
    }
  }
};

} // namespace swage::detail
