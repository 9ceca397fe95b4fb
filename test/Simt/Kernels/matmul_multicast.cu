// C = A B^T in clusters of two blocks that share what they read: A: m x k, B: n x k, bf16,
// C: m x n, f32.
//
// A cluster computes 128 x 64 of C, a block 64 x 64 of it.  Both blocks need the same tile of B, so
// each loads half of it and the copy engine delivers that half to both (multicast); a tile of A is
// the block's own.  Tiles go through a ring of kStages.  A stage is full when its three copies have
// arrived, two of them issued here and one by the other block; it is empty when the consumers of
// both blocks have read it, as both producers write into both.
//
// run: matmul m=128 n=64 k=256
// run: matmul m=300 n=72 k=200
// run: matmul m=64 n=130 k=64
#include "swage/device/device.cuh"

#include "swage/device/bulk.cuh"
#include "swage/device/cluster.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/shared.cuh"
#include "swage/device/vote.cuh"
#include "swage/device/wgmma.cuh"

namespace {
using swage::bf16;
using swage::SharedAddress;

constexpr int kTile = 64, kStages = 3, kBlocks = 2;
constexpr int kThreads = 128 + 32; // a consumer warpgroup and a producer warp
constexpr int kRowBytes = 2 * kTile, kTileBytes = kTile * kRowBytes;
constexpr int kHalfRows = kTile / kBlocks, kHalfBytes = kTileBytes / kBlocks;
constexpr int kLeftAt = 0, kRightAt = kStages * kTileBytes, kBarriersAt = 2 * kStages * kTileBytes;
constexpr int kSharedBytes = kBarriersAt + 16 * kStages;
static_assert(kSharedBytes <= 232448);
constexpr unsigned short kEveryBlock = (1 << kBlocks) - 1;

struct Sizes {
  int m, n, k;
};
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads) __cluster_dims__(kBlocks, 1, 1)
    matmul_multicast(const __grid_constant__ swage::TensorMap a,
                     const __grid_constant__ swage::TensorMap b, float *c, Sizes sizes) {
  const SharedAddress base = swage::sharedAddress(swage::dynamicArena());
  const SharedAddress full = base + kBarriersAt, empty = full + 8 * kStages;
  const unsigned rank = swage::clusterRank();
  if (swage::threadIndex() == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      swage::mbarrierInit(full + 8 * stage, 1);
      swage::mbarrierInit(empty + 8 * stage, kBlocks);
    }
    swage::mbarrierFenceInit();
  }
  swage::clusterBarrier(); // the other block's barriers exist before anything arrives at them

  const int columnTiles = (sizes.n + kTile - 1) / kTile;
  const int cluster = static_cast<int>(swage::blockIndex()) / kBlocks;
  const int firstColumn = cluster % columnTiles * kTile;
  const int firstRow = (cluster / columnTiles * kBlocks + static_cast<int>(rank)) * kTile;
  const int steps = (sizes.k + kTile - 1) / kTile;
  if (swage::warpIndex() == 4) {
    if (swage::electLane()) {
      for (int step = 0; step < steps; ++step) {
        const int stage = step % kStages;
        const unsigned parity = step / kStages % 2;
        swage::mbarrierWait(empty + 8 * stage, parity ^ 1);
        swage::mbarrierArriveExpect(full + 8 * stage, 2 * kTileBytes);
        swage::tensorLoad(base + kLeftAt + stage * kTileBytes, a, full + 8 * stage, step * kTile,
                          firstRow);
        swage::tensorLoadMulticast(base + kRightAt + stage * kTileBytes + rank * kHalfBytes, b,
                                   full + 8 * stage, kEveryBlock, step * kTile,
                                   firstColumn + static_cast<int>(rank) * kHalfRows);
      }
    }
    swage::syncWarp();
  } else {
    float sums[kTile / 2];
#pragma unroll
    for (int i = 0; i < kTile / 2; ++i)
      sums[i] = 0.0f;
    for (int step = 0; step < steps; ++step) {
      const int stage = step % kStages;
      swage::mbarrierWait(full + 8 * stage, step / kStages % 2);
      const auto left = swage::matrixDescriptor(base + kLeftAt + stage * kTileBytes, 16,
                                                8 * kRowBytes, swage::Swizzle::B128);
      const auto right = swage::matrixDescriptor(base + kRightAt + stage * kTileBytes, 16,
                                                 8 * kRowBytes, swage::Swizzle::B128);
      swage::pinRegisters(sums);
      swage::warpgroupFence();
#pragma unroll
      for (int i = 0; i < kTile / 16; ++i)
        swage::warpgroupMultiply<bf16, kTile>(sums, left + static_cast<unsigned>(2 * i),
                                              right + static_cast<unsigned>(2 * i), true);
      swage::warpgroupCommit();
      swage::pinRegisters(sums);
      swage::warpgroupWait<0>();
      swage::pinRegisters(sums);
      // Thread i tells block i; the warpgroup's wait lies behind every warp's own, so all arrive.
      swage::namedBarrier(1, 128);
      if (swage::threadIndex() < kBlocks)
        swage::mbarrierArrive(swage::mapShared(empty + 8 * stage, swage::threadIndex()));
    }
    const int lane = swage::laneIndex();
    const int row = firstRow + static_cast<int>(swage::warpIndex()) * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < kTile / 2; ++i) {
      const int at = row + i / 2 % 2 * 8;
      const int column = firstColumn + i / 4 * 8 + lane % 4 * 2 + i % 2;
      if (at < sizes.m && column < sizes.n)
        c[static_cast<long long>(at) * sizes.n + column] = sums[i];
    }
  }
  swage::clusterBarrier(); // nobody leaves while the other block may still write here
}
