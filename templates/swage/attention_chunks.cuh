// How keys are summed where a unit's results depend on nothing but its own queries and keys: not on
// other units, nor on how many blocks there are.  Its keys are taken in chunks, each by one block
// from nothing on; the chunks' parts lie in memory, and whoever comes last merges them in the order
// of the keys.  See attention_decode.cuh.
#pragma once

#include "swage/attention_tile.cuh"

namespace swage::detail {

/// `kChunk`: tiles of a chunk; `kChunks`: chunks of a unit at most.
template <class Spec>
concept IsChunked = requires {
  Spec::kChunk;
};

/// The chunks of a unit of `tiles` tiles, at most 64 (schedules ask for it: AttentionProblem): they
/// are twice as long as often as it takes.
template <class Spec> struct Chunks {
  enum : int { kMost = 64 };
  int tiles; ///< of a chunk but the last one
  int count;

  __device__ __forceinline__ explicit Chunks(int ofUnit) : tiles(Spec::kChunk) {
    while (tiles * kMost < ofUnit)
      tiles *= 2;
    count = (ofUnit + tiles - 1) / tiles;
  }
};

/// The blocks of a unit's chunks, one after the other: a chunk is the block's whose span has its
/// first tile.  Spans are as long as a chunk at least.
struct ChunkOwner {
  unsigned block;
  int left; ///< tiles of the block's span from the chunk's first one on

  __device__ __forceinline__ void advance(int chunk, int span) {
    left -= chunk;
    if (left <= 0) {
      ++block;
      left += span;
    }
  }
};

} // namespace swage::detail
