// How attention's tiles come to shared memory: one warp goes over the block's tiles, and has the
// copy engine fill the queue of queries and the rings of keys and values as they are needed.  See
// attention_hopper.cuh.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/device/atomic.cuh"
#include "swage/device/bulk.cuh"
#include "swage/device/vote.cuh"

namespace swage::detail {

/// One warp, of which one lane asks for copies.  The values of a block follow the keys of the next,
/// as they are needed.
template <class Spec> struct AttentionProducer {
  using Layout = AttentionLayout<Spec>;
  const AttentionShared<Spec> &shared;
  const AttentionArguments &arguments;
  Slot<Spec::kStages> key, value;
  Slot<Spec::kQuerySlots> query;

  /// Tiles with most work first, of one section of heads after the other.
  __device__ __forceinline__ AttentionTile tileOf(int index, int perHead) const {
    const int sectionTiles = perHead * arguments.section;
    const int section = index / sectionTiles, firstHead = section * arguments.section;
    index -= section * sectionTiles;
    const int allHeads = arguments.heads * arguments.batches;
    const int heads =
        allHeads - firstHead < arguments.section ? allHeads - firstHead : arguments.section;
    const int row = index / heads, head = firstHead + index - row * heads;
    AttentionTile tile;
    tile.batch = head / arguments.heads;
    tile.head = head - tile.batch * arguments.heads;
    tile.keyHead = tile.head / (arguments.heads / arguments.keyHeads);
    tile.firstQuery = (perHead - 1 - row) * Layout::kRows;
    const int seen = seenKeys<Spec>(tile.firstQuery + Layout::kRows - 1, arguments);
    tile.blocks = (seen + Spec::kKeys - 1) / Spec::kKeys;
    return tile;
  }

  template <int Panels, int PanelBytes, class Ring>
  __device__ __forceinline__ void load(const Ring &ring, Slot<Spec::kStages> &place,
                                       const TensorMap &map, int block, int head, int batch) {
    ring.waitEmpty(place);
    const SharedAddress full = ring.full(place.stage);
    if (electLane()) {
      mbarrierArriveExpect(full, Panels * PanelBytes);
#pragma unroll
      for (int panel = 0; panel < Panels; ++panel)
        tensorLoad(ring.at(place.stage) + panel * PanelBytes, map, full, panel * kPanelColumns,
                   block * Spec::kKeys, head, batch);
    }
    place.advance();
  }

  __device__ __forceinline__ void loadQuery(const TensorMap &q, const AttentionTile &tile) {
    mbarrierWait(shared.queryEmpty(query.stage), query.parity ^ 1);
    const SharedAddress full = shared.queryFull(query.stage);
    if (electLane()) {
      *shared.tileAt(query.stage) = tile;
      if (tile.ends()) {
        mbarrierArrive(full);
      } else {
        mbarrierArriveExpect(full, Layout::kHeadPanels * Layout::kQueryPanel);
#pragma unroll
        for (int panel = 0; panel < Layout::kHeadPanels; ++panel)
          tensorLoad(shared.query(query.stage) + panel * Layout::kQueryPanel, q, full,
                     panel * kPanelColumns, tile.firstQuery, tile.head, tile.batch);
      }
    }
    query.advance();
  }

  __device__ __forceinline__ void loadKeys(const TensorMap &k, const AttentionTile &tile,
                                           int block) {
    load<Layout::kHeadPanels, Layout::kKeyPanel>(shared.keys, key, k, block, tile.keyHead,
                                                 tile.batch);
  }
  __device__ __forceinline__ void loadValues(const TensorMap &v, const AttentionTile &tile,
                                             int block) {
    load<Layout::kValuePanels, Layout::kKeyPanel>(shared.values, value, v, block, tile.keyHead,
                                                  tile.batch);
  }

  /// In the first lane; the others get it when it is needed, and it has had time to come.
  __device__ __forceinline__ unsigned ticket() const {
    return laneIndex() == 0 ? atomicAdd(arguments.counter, 1u) : 0;
  }
  /// As many tickets are drawn as there are tiles, because a block draws one for each tile that it
  /// takes, the first of which is its own.  Who has the last one clears the counter.
  __device__ __forceinline__ int shareTicket(unsigned drawn, int tiles) const {
    const int ticket = static_cast<int>(shuffleFrom(drawn, 0));
    if (ticket == tiles - 1 && laneIndex() == 0)
      *arguments.counter = 0;
    return ticket;
  }

  __device__ __forceinline__ void run(const TensorMap &q, const TensorMap &k, const TensorMap &v) {
    const int workers = static_cast<int>(lastBlockIndex() + 1);
    const int rows = Layout::kRows;
    const int perHead = (arguments.queries + rows - 1) / rows;
    const int tiles = perHead * arguments.heads * arguments.batches;
    int index = static_cast<int>(blockIndex());
    AttentionTile behind{}; // whose last block's values are yet to be loaded
    while (index < tiles) {
      unsigned drawn = 0;
      if constexpr (Spec::kDynamic)
        drawn = ticket();
      const AttentionTile tile = tileOf(index, perHead);
      // With a second place the queries come early; else after a key tile, for which there is one.
      if constexpr (Spec::kQuerySlots > 1)
        loadQuery(q, tile);
      for (int block = tile.blocks - 1; block >= 0; --block) {
        loadKeys(k, tile, block);
        if (block != tile.blocks - 1)
          loadValues(v, tile, block + 1);
        else if (behind.blocks != 0)
          loadValues(v, behind, 0);
        if (Spec::kQuerySlots == 1 && block == tile.blocks - 1)
          loadQuery(q, tile);
      }
      behind = tile;
      index = workers + (Spec::kDynamic ? shareTicket(drawn, tiles) : index);
    }
    if (behind.blocks != 0)
      loadValues(v, behind, 0);
    AttentionTile none{};
    none.firstQuery = -1;
    loadQuery(q, none);
  }
};

} // namespace swage::detail
