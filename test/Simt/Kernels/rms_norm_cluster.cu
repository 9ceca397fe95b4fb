// y = x / sqrt(mean(x^2) + epsilon) over rows that are too long for one block: a cluster of four
// takes a row, each block a quarter.  Each keeps its quarter in registers, sends its sum of squares
// to all four through distributed shared memory, and adds what came in the order of the ranks, so
// that all four scale alike.
//
// run: rows rows=5 length=8192 cluster=4
// run: rows rows=3 length=5000 cluster=4
// run: rows rows=2 length=4 cluster=4
#include "swage/device/device.cuh"

#include "swage/device/cluster.cuh"
#include "swage/device/shared.cuh"

namespace {
using swage::SharedAddress;

constexpr int kBlocks = 4, kThreads = 128, kWarps = kThreads / 32;
constexpr int kVectors = 4; // of four floats, that a thread keeps
constexpr int kWarpSumsAt = 0, kBlockSumsAt = 4 * kWarps, kArenaBytes = 4 * (kWarps + kBlocks);

struct Sizes {
  int rows, length; // length <= kBlocks * kThreads * kVectors * 4, a multiple of 4
  float epsilon;
};
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads) __cluster_dims__(kBlocks, 1, 1)
    rms_norm_cluster(const float *x, float *y, Sizes sizes) {
  char *arena = swage::arena<kArenaBytes>();
  swage::clusterBarrierArrive();
  const int rank = swage::clusterRank(), thread = swage::threadIndex();
  const int row = static_cast<int>(swage::blockIndex()) / kBlocks;
  const int vectors = sizes.length / 4, perBlock = (vectors + kBlocks - 1) / kBlocks;
  const int first = rank * perBlock;
  const int end = first + perBlock < vectors ? first + perBlock : vectors;
  x += static_cast<long long>(row) * sizes.length;
  y += static_cast<long long>(row) * sizes.length;

  unsigned words[kVectors][4];
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int vector = first + i * kThreads + thread;
    if (vector < end) {
      swage::loadGlobal<16, swage::Traffic::Stream>(x + vector * 4, words[i]);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float value = swage::bitCast<float>(words[i][j]);
        squares += value * value;
      }
    }
  }
#pragma unroll
  for (int mask = 16; mask != 0; mask /= 2)
    squares += swage::shuffleXor(squares, mask);
  unsigned word = swage::bitCast<unsigned>(squares);
  if (swage::laneIndex() == 0)
    swage::storeShared<4>(arena + kWarpSumsAt + 4 * swage::warpIndex(), &word);
  swage::barrier();

  // One thread for each receiver, whose block must have begun; all senders' words are there after
  // the next of the cluster's barriers.
  swage::clusterBarrierWait();
  if (thread < kBlocks) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      swage::loadShared<4>(arena + kWarpSumsAt + 4 * i, &word);
      sum += swage::bitCast<float>(word);
    }
    const SharedAddress slot = swage::sharedAddress(arena + kBlockSumsAt + 4 * rank);
    swage::storeCluster(swage::mapShared(slot, thread), sum);
  }
  swage::clusterBarrier();
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kBlocks; ++i) {
    swage::loadShared<4>(arena + kBlockSumsAt + 4 * i, &word);
    total += swage::bitCast<float>(word);
  }
  const float scale =
      swage::rsqrt(total * swage::reciprocal(static_cast<float>(sizes.length)) + sizes.epsilon);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const int vector = first + i * kThreads + thread;
    if (vector < end) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        words[i][j] = swage::bitCast<unsigned>(swage::bitCast<float>(words[i][j]) * scale);
      swage::storeGlobal<16>(y + vector * 4, words[i]);
    }
  }
}
