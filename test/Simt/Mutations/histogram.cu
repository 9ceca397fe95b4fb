// counts[b] += how many of x are b, for 64 bins: counted by each block in shared memory.  A bin is
// counted by four counters, so that fewer threads meet at one.
#include "swage/device/device.cuh"

#include "swage/device/atomic.cuh"
#include "swage/device/shared.cuh"

namespace {
constexpr int kThreads = 128, kBins = 64, kCopies = 4;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    histogram(const int *x, unsigned *counts, int n) {
  auto *counters = reinterpret_cast<unsigned *>(swage::arena<4 * kBins * kCopies>());
  const swage::SharedAddress base = swage::sharedAddress(counters);
  const int thread = swage::threadIndex();
  const int blocks = static_cast<int>(swage::lastBlockIndex()) + 1;
  for (int i = thread; i < kBins * kCopies; i += kThreads)
    counters[i] = 0;
  swage::barrier();
  for (int i = static_cast<int>(swage::blockIndex()) * kThreads + thread; i < n;
       i += blocks * kThreads) {
    const int bin = x[i];
    swage::atomicAddShared(base + 4 * (bin * kCopies + thread % kCopies), 1u);
  }
  swage::barrier();
  if (thread < kBins) {
    unsigned sum = 0;
    for (int i = 0; i < kCopies; ++i)
      sum += counters[thread * kCopies + i];
    swage::atomicAdd(counts + thread, sum);
  }
}
