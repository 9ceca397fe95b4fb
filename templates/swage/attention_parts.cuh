// Where there are fewer tiles than multiprocessors the blocks of a cluster share a tile: each has a
// part of its keys.  In the end a block leaves what its threads hold in its own shared memory, and
// reads from all of them the columns that it is to merge and to store.  See attention_hopper.cuh.
#pragma once

#include "swage/attention_softmax.cuh"
#include "swage/device/cluster.cuh"

namespace swage::detail {

/// The blocks of keys of a tile that block `rank` of a cluster takes.  Where there are fewer of
/// them than parts it takes one that another one takes, too, and sees no key of it.
template <class Spec> __device__ __forceinline__ void takePart(AttentionTile &tile, int rank) {
  const int first = tile.firstBlock;
  const RowRange<int> part = blocksOfPart<Spec>(tile.endBlock - first, rank);
  tile.firstBlock = first + part.first;
  tile.endBlock = first + part.last;
  if (part.first == part.last) {
    ++tile.endBlock;
    tile.endKey = tile.firstKey;
  }
}

/// What threads leave, each a column of places: of its two rows the highest scores and the sums of
/// weights, then its outputs, each place those of eight columns of the result.
template <class Spec> struct AttentionPart {
  enum : int {
    kThreads = 128 * Spec::kGroups,
    kPlace = 16 * kThreads,
    kOutputs = Spec::kValueDim / 8 ///< places
  };
  struct Words {
    float of[4];
  };
  SharedAddress base; ///< of the arena
  int at, thread;     ///< of the parts in the arena

  __device__ __forceinline__ int placeOf(int place) const {
    return at + place * kPlace + thread * 16;
  }
  __device__ __forceinline__ void leave(int place, float a, float b, float c, float d) const {
    const unsigned words[4] = {__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b),
                               __builtin_bit_cast(unsigned, c), __builtin_bit_cast(unsigned, d)};
    storeShared<16>(dynamicArena() + placeOf(place), words);
  }
  /// What this thread's counterpart in each block has left.
  __device__ __forceinline__ void read(int place, Words (&parts)[Spec::kParts]) const {
#pragma unroll
    for (int rank = 0; rank < Spec::kParts; ++rank)
      parts[rank] = loadCluster<Words>(mapShared(base + placeOf(place), rank));
  }

  /// Merges rows: what they are multiplied by in each part.  A sink, which no part has counted, is
  /// a score more.
  template <class Rows>
  __device__ __forceinline__ void mergeRows(Rows &rows, const AttentionTile &tile, int lane,
                                            float (&factors)[Spec::kParts][2]) const {
    Words parts[Spec::kParts];
    read(0, parts);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = unseen(), sink = unseen();
      if constexpr (HasSink<Spec>)
        most = sink = rows.ownSinkOf(r, tile);
#pragma unroll
      for (const Words &part : parts)
        most = maximumNumberOf(most, part.of[2 * r]);
      const auto factorOf = [&](float highest) {
        return highest == unseen() ? 0.0f : exp2Fast((highest - most) * rows.scaleLog2());
      };
      float total = factorOf(sink);
#pragma unroll
      for (int rank = 0; rank < Spec::kParts; ++rank) {
        factors[rank][r] = factorOf(parts[rank].of[2 * r]);
        total = fma(parts[rank].of[2 * r + 1], factors[rank][r], total);
      }
      rows.highest[r] = most;
      rows.sum[r] = lane % 4 == 0 ? total : 0.0f; // the four lanes of a row are added up
    }
  }

  /// Merges the outputs of a place.
  __device__ __forceinline__ Words mergeOutputs(int place,
                                                const float (&factors)[Spec::kParts][2]) const {
    Words parts[Spec::kParts], merged{};
    read(1 + place, parts);
#pragma unroll
    for (int rank = 0; rank < Spec::kParts; ++rank)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        merged.of[i] = fma(parts[rank].of[i], factors[rank][i / 2], merged.of[i]);
    return merged;
  }
};

} // namespace swage::detail
