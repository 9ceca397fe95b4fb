// Flash attention, forward, for long queries on the matrix instructions of a warp: every GPU from
// compute capability 8.0 on.  What is computed: attention_hopper.cuh, whose softmax this shares.
//
// A block computes one tile of queries: each warp has 16 rows or twice that, whose scores, weights
// and outputs stay in its registers.  With 32 rows what ldmatrix brings of keys and values serves
// four products: with 16 shared memory would be the bound, not the tensor cores.  Keys and values
// come by cp.async: through two places each one block ahead, with one barrier for each block; or
// through one place each, the values under the products of scores, the next keys under the softmax
// and the products with values.  The softmax of one block of threads runs under the products of
// another one on the same multiprocessor.
// Blocks of keys go from the last to the first: only the first ones want a mask.
#pragma once

#include "swage/attention_order.cuh"
#include "swage/attention_warp.cuh"

namespace swage {
namespace detail {

template <class Spec, class Arguments> struct PortableAttention {
  using Warp = AttentionWarp<Spec, Arguments>;
  using Layout = PortableLayout<Spec>;

  Warp mine;
  TileCopy<Spec, typename Spec::Keys, AttentionDim::Key, Spec::kKeys, Spec::kHeadDim> keyCopy;
  TileCopy<Spec, typename Spec::Values, AttentionDim::Key, Spec::kKeys, Spec::kValueDim> valueCopy;

  /// What no query of the tile sees becomes zero: values there may be NaN, which a weight of zero
  /// does not take away.
  template <class Copy>
  __device__ __forceinline__ void load(const Copy &copy, SharedAddress to, int rowBytes,
                                       int block) const {
    copy.startWithin(to, rowBytes, block * Spec::kKeys, mine.tile.firstKey, mine.tile.endKey);
  }
  __device__ __forceinline__ void loadKeys(int block, int place) const {
    load(keyCopy, mine.keysAt(place), Layout::kHeadRow, block);
  }
  __device__ __forceinline__ void loadValues(int block, int place) const {
    load(valueCopy, mine.valuesAt(place), Layout::kValueRow, block);
  }

  __device__ __forceinline__ void loadQueries() const {
    TileCopy<Spec, typename Spec::Queries, AttentionDim::Query, Layout::kRows, Spec::kHeadDim>(
        mine.arguments.pointers, mine.tile, mine.arguments.sizes, Layout::kQueryRow)
        .template start<false>(mine.arena, Layout::kQueryRow, mine.tile.firstQuery, 0,
                               mine.arguments.queries());
  }

  /// Where they have two places each: the block before this one.
  __device__ __forceinline__ void loadNext(int block, int place) const {
    if (block > mine.tile.firstBlock) {
      loadKeys(block - 1, place ^ 1);
      loadValues(block - 1, place ^ 1);
    }
    copyAsyncCommit();
  }

  /// Where keys and values have one place each: the values have come, and the keys are read.  A
  /// named barrier, because warps come to it in several places of the text.
  __device__ __forceinline__ void turn(int block) const {
    if constexpr (Spec::kStages == 1) {
      copyAsyncWait<0>();
      namedBarrier(1, Spec::kThreads);
      if (block > mine.tile.firstBlock)
        loadKeys(block - 1, 0);
      copyAsyncCommit();
    }
  }

  /// The next block's copies start in front of what ptxas is to mix, or, in a block with a mask,
  /// where a branch saves registers.
  template <bool Masked> __device__ __forceinline__ void compute(int block, int place) {
    typename Warp::Scores scores;
    if constexpr (!Masked && Spec::kStages == 2)
      loadNext(block, place);
    mine.multiplyKeys(scores, place);
    if constexpr (Masked && Spec::kStages == 2)
      loadNext(block, place);
    turn(block);
    mine.template accumulate<Masked>(scores, block, place);
  }

  __device__ __forceinline__ void run() {
    const AttentionTile &tile = mine.tile;
    loadQueries();
    loadKeys(tile.endBlock - 1, 0);
    if constexpr (Spec::kStages == 2)
      loadValues(tile.endBlock - 1, 0);
    copyAsyncCommit();
    mine.begin();
    const SeenByRows seen =
        seenByRows<Spec, Layout::kWarpRows>(tile, mine.firstRow(), mine.arguments);
    int place = 0;
#pragma unroll 1
    for (int block = tile.endBlock - 1; block >= tile.firstBlock; --block) {
      copyAsyncWait<0>();
      barrier();
      if constexpr (Spec::kStages == 1) {
        loadValues(block, 0);
        copyAsyncCommit();
      }
      if constexpr (Spec::kHoldsQuery)
        if (block == tile.endBlock - 1)
          mine.holdQueries();
      const int from = block * Spec::kKeys, to = from + Spec::kKeys;
      if (from >= seen.all.first && to <= seen.all.last)
        compute<false>(block, place);
      else if (from < seen.some.last && to > seen.some.first)
        compute<true>(block, place);
      else if constexpr (Spec::kStages == 2)
        loadNext(block, place);
      else
        turn(block);
      if constexpr (Spec::kStages == 2)
        place ^= 1;
    }
    copyAsyncWait<0>();
    mine.store();
  }
};

} // namespace detail

template <class Spec, class Pointers>
__device__ __forceinline__ void attentionPortable(const Pointers &pointers,
                                                  const typename Spec::Sizes &sizes) {
  using namespace detail;
  using Arguments = AttentionArguments<Spec, Pointers>;
  using Layout = PortableLayout<Spec>;
  const Arguments arguments{pointers, sizes, nullptr};
  const unsigned rows = Layout::kRows, perHead = (arguments.queries() + rows - 1) / rows;
  const AttentionTile tile =
      tileAt<Spec, Layout::kRows,
             (Spec::kHeadDim + Spec::kValueDim) * static_cast<int>(sizeof(typename Spec::Element))>(
          blockIndex(), perHead, arguments);
  PortableAttention<Spec, Arguments>{
      {arguments,
       tile,
       sharedAddress(dynamicArena()),
       // Reduced, and so in a uniform register with all that depends on it.
       static_cast<int>(reduceLanes<LaneOp::Max>(warpIndex())),
       static_cast<int>(laneIndex()),
       {{arguments}, {arguments}}},
      {pointers, tile, sizes, Layout::kHeadRow},
      {pointers, tile, sizes, Layout::kValueRow}}
      .run();
}

} // namespace swage
