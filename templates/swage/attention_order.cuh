// The order in which tiles of attention are computed.
#pragma once

#include "swage/attention_tile.cuh"

namespace swage::detail {

/// The tile of `Rows` queries that comes at place `index`, of `perHead` for each head: one key head
/// after the other, so that keys and values, `KeyRow` bytes for each key, are read while L2 has
/// them, and most work first.  Those of the last heads, about `Spec::kTailHeads` but with no more
/// than `Spec::kSection` bytes of keys and values, come together, most work first, so that all who
/// compute them end together.
template <class Spec, int Rows, int KeyRow, class Arguments>
__device__ __forceinline__ AttentionTile tileAt(unsigned index, unsigned perHead,
                                                const Arguments &arguments) {
  const unsigned group = arguments.template extent<AttentionDim::Group>();
  const unsigned keyHeads = arguments.template extent<AttentionDim::KeyHead>();
  const unsigned all = arguments.template extent<AttentionDim::Batch>() * keyHeads;
  const unsigned perKeyHead = perHead * group;
  const unsigned wanted = Spec::kTailHeads / group;
  const unsigned fit = Spec::kSection / KeyRow / (arguments.keys() + 1u);
  const unsigned together = wanted < fit ? wanted : fit; // key heads
  const unsigned last = together > 0 ? together : 1;
  const unsigned before = last < all ? all - last : 0;
  const unsigned one = index / perKeyHead, first = one < before ? one : before;
  const unsigned heads = (one < before ? 1 : all - before) * group;
  index -= first * perKeyHead;
  const unsigned row = index / heads, head = first * group + index - row * heads;
  AttentionTile tile;
  tile.group = static_cast<int>(head % group);
  tile.keyHead = static_cast<int>(head / group % keyHeads);
  tile.batch = static_cast<int>(head / group / keyHeads);
  tile.firstQuery = static_cast<int>((perHead - 1 - row) * Rows);
  setSeen<Spec>(tile, seenByRows<Spec, Rows>(tile, tile.firstQuery, arguments).some);
  return tile;
}

} // namespace swage::detail
