// The sum of n numbers in one launch: every block leaves a partial sum, and the block that finds by
// a counter that it is the last adds them up, always in the same order.  It leaves the counter at
// zero, so that the next launch needs no memset.
//
// run: sum n=100000 blocks=7
// run: sum n=5 blocks=3
// run: sum n=0 blocks=2
#include "swage/device/device.cuh"

#include "swage/device/atomic.cuh"

namespace {
constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kFlagAt = 4 * kWarps, kArenaBytes = kFlagAt + 4;

/// Over the block; the result is thread 0's.
__device__ __forceinline__ float blockSum(float value, char *arena) {
#pragma unroll
  for (int mask = 16; mask != 0; mask /= 2)
    value += swage::shuffleXor(value, mask);
  unsigned word = swage::bitCast<unsigned>(value);
  if (swage::laneIndex() == 0)
    swage::storeShared<4>(arena + 4 * swage::warpIndex(), &word);
  swage::barrier();
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    swage::loadShared<4>(arena + 4 * i, &word);
    sum += swage::bitCast<float>(word);
  }
  return sum;
}
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    sum_last_block(const float *x, float *y, float *partials, unsigned *counter, int n) {
  char *arena = swage::arena<kArenaBytes>();
  const int thread = swage::threadIndex();
  const int blocks = static_cast<int>(swage::lastBlockIndex()) + 1;
  float sum = 0.0f;
  for (int i = static_cast<int>(swage::blockIndex()) * kThreads + thread; i < n;
       i += blocks * kThreads)
    sum += x[i];
  sum = blockSum(sum, arena);
  if (thread == 0) {
    partials[swage::blockIndex()] = sum;
    // What was written before is visible to whoever sees the new count.
    const unsigned before = swage::addRelease(counter, 1u);
    const unsigned last = before == swage::lastBlockIndex();
    swage::storeShared<4>(arena + kFlagAt, &last);
    if (last)
      swage::fenceGpu(); // and the partial sums of the others to this block, across the barrier
  }
  swage::barrier();
  unsigned last;
  swage::loadShared<4>(arena + kFlagAt, &last);
  if (last == 0)
    return;
  sum = 0.0f;
  for (int i = thread; i < blocks; i += kThreads)
    sum += partials[i];
  sum = blockSum(sum, arena);
  if (thread == 0) {
    *y = sum;
    *counter = 0;
  }
}
