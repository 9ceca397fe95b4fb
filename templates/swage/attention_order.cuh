// The order in which tiles of attention are computed.
#pragma once

#include "swage/attention_tile.cuh"

namespace swage::detail {

/// The tile of `Rows` queries that comes at place `index`, of `perHead` for each head.  Tiles with
/// most work first, of one section of heads after the other: keys and values of a section, `KeyRow`
/// bytes for each key, stay in L2.
template <class Spec, int Rows, int KeyRow, class Arguments>
__device__ __forceinline__ AttentionTile tileAt(unsigned index, unsigned perHead,
                                                const Arguments &arguments) {
  const unsigned group = arguments.template extent<AttentionDim::Group>();
  const unsigned keyHeads = arguments.template extent<AttentionDim::KeyHead>();
  const unsigned keyHeadsInAll = arguments.template extent<AttentionDim::Batch>() * keyHeads;
  const unsigned fit = Spec::kSection / KeyRow / (arguments.keys() + 1u) + 1;
  const unsigned inSection = fit < keyHeadsInAll ? fit : keyHeadsInAll;
  const unsigned section = index / (perHead * group * inSection);
  const unsigned first = section * inSection, left = keyHeadsInAll - first;
  const unsigned heads = (left < inSection ? left : inSection) * group;
  index -= section * (perHead * group * inSection);
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
