// Attention of one query a head, its keys split over the blocks of a cluster: O = softmax(q K^T) V.
// q: heads x 64, K, V: heads x keys x 64, bf16; O: heads x 64, f32.
//
// A warp reads whole keys and values, a lane two of their 64 numbers, and keeps a running maximum,
// sum and output for what it has read.  The warps of a block merge theirs through shared memory;
// the blocks then read each other's through distributed shared memory, each finishing 16 of the 64
// outputs.  Between the two halves of the last cluster barrier a block stores: it must not leave
// before the others have read its memory, but has nothing more to read itself.
//
// run: decode heads=3 keys=1000
// run: decode heads=2 keys=5
// run: decode heads=1 keys=64
#include "swage/device/device.cuh"

#include "swage/device/cluster.cuh"
#include "swage/device/math.cuh"
#include "swage/device/shared.cuh"

namespace {
using swage::bf16;
using swage::SharedAddress;

constexpr int kHeadDim = 64, kBlocks = 4, kWarps = 4, kThreads = 32 * kWarps;
constexpr int kOwned = kHeadDim / kBlocks; // outputs that a block finishes
constexpr float kNothing = -static_cast<float>(swage::infinity());

// A state: 64 outputs, the maximum, the sum.  Those of the warps come first, then the block's.
constexpr int kStateBytes = 4 * (kHeadDim + 4), kMaximumAt = 4 * kHeadDim, kSumAt = kMaximumAt + 4;
constexpr int kBlockStateAt = kWarps * kStateBytes, kArenaBytes = (kWarps + 1) * kStateBytes;

struct Sizes {
  int heads, keys;
  float scale; // in units of log2(e)
};

__device__ __forceinline__ float loadWord(const char *from) {
  unsigned word;
  swage::loadShared<4>(from, &word);
  return swage::bitCast<float>(word);
}
__device__ __forceinline__ void storeWord(char *to, float value) {
  const unsigned word = swage::bitCast<unsigned>(value);
  swage::storeShared<4>(to, &word);
}

/// How much a sum up to `from` counts once the maximum is `to`.
__device__ __forceinline__ float factor(float from, float to) {
  return from == kNothing ? 0.0f : swage::exp2(from - to);
}
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads) __cluster_dims__(kBlocks, 1, 1)
    attention_decode(const bf16 *q, const bf16 *k, const bf16 *v, float *o, Sizes sizes) {
  char *arena = swage::arena<kArenaBytes>();
  const int rank = swage::clusterRank(), thread = swage::threadIndex();
  const int warp = swage::warpIndex(), lane = swage::laneIndex();
  const int head = static_cast<int>(swage::blockIndex()) / kBlocks;
  const int perBlock = (sizes.keys + kBlocks - 1) / kBlocks, first = rank * perBlock;
  const int end = first + perBlock < sizes.keys ? first + perBlock : sizes.keys;
  k += static_cast<long long>(head) * sizes.keys * kHeadDim;
  v += static_cast<long long>(head) * sizes.keys * kHeadDim;

  unsigned pair;
  swage::loadGlobal<4, swage::Traffic::Reused>(q + head * kHeadDim + lane * 2, &pair);
  const float queryLow = swage::widenHalf(bf16{}, pair, false) * sizes.scale;
  const float queryHigh = swage::widenHalf(bf16{}, pair, true) * sizes.scale;
  float maximum = kNothing, sum = 0.0f, low = 0.0f, high = 0.0f;
  for (int key = first + warp; key < end; key += kWarps) {
    const long long at = static_cast<long long>(key) * kHeadDim + lane * 2;
    swage::loadGlobal<4, swage::Traffic::Stream>(k + at, &pair);
    float score = queryLow * swage::widenHalf(bf16{}, pair, false) +
                  queryHigh * swage::widenHalf(bf16{}, pair, true);
#pragma unroll
    for (int mask = 16; mask != 0; mask /= 2)
      score += swage::shuffleXor(score, mask);
    swage::loadGlobal<4, swage::Traffic::Stream>(v + at, &pair);
    const float most = swage::maximumNumberOf(maximum, score);
    const float before = factor(maximum, most), weight = swage::exp2(score - most);
    maximum = most;
    sum = sum * before + weight;
    low = low * before + weight * swage::widenHalf(bf16{}, pair, false);
    high = high * before + weight * swage::widenHalf(bf16{}, pair, true);
  }
  char *state = arena + warp * kStateBytes;
  storeWord(state + 8 * lane, low);
  storeWord(state + 8 * lane + 4, high);
  if (lane == 0) {
    storeWord(state + kMaximumAt, maximum);
    storeWord(state + kSumAt, sum);
  }
  swage::barrier();

  char *blockState = arena + kBlockStateAt;
  if (thread < kHeadDim) {
    float most = kNothing, blockSum = 0.0f, output = 0.0f;
    for (int i = 0; i < kWarps; ++i)
      most = swage::maximumNumberOf(most, loadWord(arena + i * kStateBytes + kMaximumAt));
    for (int i = 0; i < kWarps; ++i) {
      const char *from = arena + i * kStateBytes;
      const float weight = factor(loadWord(from + kMaximumAt), most);
      output += weight * loadWord(from + 4 * thread);
      blockSum += weight * loadWord(from + kSumAt);
    }
    storeWord(blockState + 4 * thread, output);
    if (thread == 0) {
      storeWord(blockState + kMaximumAt, most);
      storeWord(blockState + kSumAt, blockSum);
    }
  }
  swage::clusterBarrier();

  const SharedAddress own = swage::sharedAddress(blockState);
  float output = 0.0f, total = 0.0f;
  if (thread < kOwned) {
    float most = kNothing;
    for (int i = 0; i < kBlocks; ++i)
      most = swage::maximumNumberOf(
          most, swage::loadCluster<float>(swage::mapShared(own, i) + kMaximumAt));
    for (int i = 0; i < kBlocks; ++i) {
      const SharedAddress from = swage::mapShared(own, i);
      const float weight = factor(swage::loadCluster<float>(from + kMaximumAt), most);
      output += weight * swage::loadCluster<float>(from + 4 * (rank * kOwned + thread));
      total += weight * swage::loadCluster<float>(from + kSumAt);
    }
  }
  swage::clusterBarrierArrive();
  if (thread < kOwned)
    o[head * kHeadDim + rank * kOwned + thread] =
        total == 0.0f ? 0.0f : output * swage::reciprocal(total);
  swage::clusterBarrierWait();
}
