// How attention's tiles come to shared memory: one warp goes over the block's tiles, and has the
// copy engine fill the queue of queries and the rings of keys and values as they are needed.  See
// attention_hopper.cuh.
#pragma once

#include "swage/attention_order.cuh"
#include "swage/attention_parts.cuh"
#include "swage/attention_tile.cuh"
#include "swage/device/bulk.cuh"
#include "swage/device/vote.cuh"
#include "swage/tickets.cuh"

namespace swage::detail {

/// One warp, of which one lane asks for copies.  The values of a block follow the keys of the next,
/// as they are needed.
template <class Spec, class Arguments> struct AttentionProducer {
  using Layout = AttentionLayout<Spec>;
  enum : int {
    kPanelColumns = kPanelRow / Layout::kElementBytes,
    /// The next tile's ticket is drawn with the last blocks of a tile, of which each has one at
    /// least, so that who ends first goes on with it; but not beside random bits, where ptxas
    /// spills then.
    kDrawsEarly = HasWeight<Spec>
  };
  const AttentionShared<Spec> &shared;
  const Arguments &arguments;
  // The warp has few registers: places in the rings follow from how much has been loaded, and what
  // only the lane needs that asks for copies is in shared memory.
  unsigned blocks = 0, tiles = 0; ///< of keys that have been loaded, and of queries
  unsigned cleared = 0;           ///< blocks of values, of those that nobody sees

  template <int Dim> __device__ __forceinline__ int extent() const {
    return arguments.template extent<Dim>();
  }

  template <int Places> static __device__ __forceinline__ Slot<Places> placeOf(unsigned number) {
    return {static_cast<int>(number % Places), number / Places % 2};
  }
  /// `full` completes when everything has arrived.
  template <int Panels, int PanelBytes, class Ring>
  __device__ __forceinline__ void load(const Ring &ring, unsigned number, const TensorMap &map,
                                       unsigned tile, int block, SharedAddress full) const {
    const auto place = placeOf<Spec::kStages>(number);
    ring.waitEmpty(place);
    if (electLane()) {
      mbarrierArriveExpect(full, Panels * PanelBytes);
      const AttentionTile *const of = shared.loading(tile);
#pragma unroll
      for (int panel = 0; panel < Panels; ++panel)
        tensorLoad(ring.at(place.stage) + panel * PanelBytes, map, full, panel * kPanelColumns,
                   block * Spec::kKeys, of->keyHead, of->batch);
    }
  }

  /// The queries of this tile, or the end of all tiles.
  __device__ __forceinline__ void loadQuery(const TensorMap &q, bool ends = false) const {
    const auto query = placeOf<Spec::kQuerySlots>(tiles);
    mbarrierWait(shared.queryEmpty(query.stage), query.parity ^ 1);
    const SharedAddress full = shared.queryFull(query.stage);
    if (electLane()) {
      if (ends) {
        AttentionTile none{};
        none.firstQuery = -1;
        *shared.tileAt(query.stage) = none;
        mbarrierArrive(full);
      } else {
        const AttentionTile tile = *shared.loading(tiles);
        *shared.tileAt(query.stage) = tile;
        mbarrierArriveExpect(full, Layout::kHeadPanels * Layout::kQueryPanel);
#pragma unroll
        for (int panel = 0; panel < Layout::kHeadPanels; ++panel)
          tensorLoad(shared.query(query.stage) + panel * Layout::kQueryPanel, q, full,
                     panel * kPanelColumns, tile.firstQuery, tile.group, tile.keyHead, tile.batch);
      }
    }
  }

  __device__ __forceinline__ void loadKeys(const TensorMap &k, int block) {
    const auto &ring = shared.keys;
    load<Layout::kHeadPanels, Layout::kKeyPanel>(ring, blocks, k, tiles, block,
                                                 ring.full(blocks % Spec::kStages));
    ++blocks;
  }
  /// Of the block whose keys came `before` those that came last.
  __device__ __forceinline__ void loadValues(const TensorMap &v, unsigned tile, int block,
                                             unsigned before) {
    const auto &ring = shared.loaded;
    const unsigned number = blocks - 1 - before;
    const SharedAddress full = ring.full(number % Spec::kStages);
    bool isWhole = true;
    if constexpr (IsBounded<Spec>) {
      const AttentionTile *const of = shared.loading(tile);
      const int begin = block * Spec::kKeys, end = begin + Spec::kKeys;
      isWhole = of->firstKey <= begin && (of->endKey >= end || of->endKey >= arguments.keys());
    }
    load<Layout::kValuePanels, Layout::kKeyPanel>(ring, number, v, tile, block,
                                                  isWhole ? full : shared.clear());
    if (!isWhole)
      clearUnseen(ring.at(number % Spec::kStages), tile, block, full);
  }

  /// A key that no query of the tile sees has no weight, but its value may be no number, of which
  /// the product with that is none either.
  __device__ __forceinline__ void clearUnseen(SharedAddress values, unsigned tile, int block,
                                              SharedAddress full) {
    mbarrierWait(shared.clear(), cleared++ % 2);
    const AttentionTile *const of = shared.loading(tile);
    const int first = of->firstKey - block * Spec::kKeys, end = of->endKey - block * Spec::kKeys;
    clearRows<Spec::kKeys, Layout::kValuePanels>(values, shared.base, first, end);
    syncWarp();
    if (electLane())
      mbarrierArrive(full);
  }
  /// Tells who transposes that no more values come.
  __device__ __forceinline__ void endValues() const {
    if constexpr (Layout::kTransposers > 0) {
      const auto place = placeOf<Spec::kStages>(blocks);
      shared.loaded.waitEmpty(place);
      if (electLane()) {
        shared.endsAt(place.stage) = true;
        mbarrierArrive(shared.loaded.full(place.stage));
      }
    }
  }

  /// In the first lane; the others get it when it is needed, and it has had time to come.
  __device__ __forceinline__ unsigned ticket() const {
    return laneIndex() == 0 ? drawTicket(arguments.tickets) : 0;
  }
  /// As many tickets are drawn as there are tiles, because a block draws one for each tile that it
  /// takes, the first of which is its own.
  __device__ __forceinline__ unsigned shareTicket(unsigned drawn, unsigned all) const {
    const unsigned ticket = shuffleFrom(drawn, 0);
    if (ticket == all - 1 && laneIndex() == 0)
      endTickets(arguments.tickets);
    return ticket;
  }

  __device__ __forceinline__ void run(const TensorMap &q, const TensorMap &k, const TensorMap &v) {
    const unsigned rows = Layout::kRows, perHead = (arguments.queries() + rows - 1) / rows;
    const unsigned all = perHead * extent<AttentionDim::Group>() *
                         extent<AttentionDim::KeyHead>() * extent<AttentionDim::Batch>();
    int last = 0; // block whose values are yet to be loaded
    if (Spec::kDynamic && laneIndex() == 0)
      beginTickets(arguments.tickets, askTickets(arguments.tickets));
    // In a cluster one tile.  Behind the last one the last values, in the same text.
    bool ends = false;
    for (unsigned index = blockIndex() / partsOf<Spec>(); !ends; ++tiles) {
      ends = index >= all;
      unsigned drawn = 0;
      int block = 0, first = 0, drawsAt = 0;
      if (!ends) {
        AttentionTile tile =
            tileAt<Spec, Layout::kRows, Layout::kKeyRow>(index, perHead, arguments);
        if constexpr (partsOf<Spec>() > 1)
          takePart<Spec>(tile, static_cast<int>(clusterRank()));
        block = tile.endBlock - 1;
        first = tile.firstBlock;
        drawsAt = block > first ? first + 1 : first;
        if constexpr (IsBounded<Spec>)
          syncWarp(); // all have read what was there, of the tile before the last
        if (electLane())
          *shared.loading(tiles) = tile;
        syncWarp();
        // With a second place the queries come early; else after a key tile, for which there is
        // one.
        if constexpr (Spec::kQuerySlots > 1)
          loadQuery(q);
        if (Spec::kDynamic && kDrawsEarly)
          drawn = ticket();
      }
      for (bool begins = true; block >= first; last = block--, begins = false) {
        if (!ends) {
          if (Spec::kDynamic && !kDrawsEarly && block == drawsAt)
            drawn = ticket();
          loadKeys(k, block);
        }
        if (blocks > (ends ? 0 : 1))
          loadValues(v, begins ? tiles - 1 : tiles, last, ends ? 0 : 1);
        if (Spec::kQuerySlots == 1 && begins && !ends)
          loadQuery(q);
      }
      if (!ends)
        index = lastBlockIndex() + 1 + (Spec::kDynamic ? shareTicket(drawn, all) : index);
    }
    --tiles; // the last one is none
    endValues();
    loadQuery(q, /*ends=*/true);
  }
};

} // namespace swage::detail
