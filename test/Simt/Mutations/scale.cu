// y = factor x with the copy engine on both sides: chunks of x come into a ring of two stages, are
// scaled in place, and leave from there.  While one stage is scaled, the other is filled.
#include "swage/device/device.cuh"

#include "swage/device/bulk.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/shared.cuh"

namespace {
using swage::SharedAddress;

constexpr int kThreads = 128, kStages = 2, kChunk = 1024, kChunkBytes = 4 * kChunk;
constexpr int kBarriersAt = kStages * kChunkBytes;

struct Sizes {
  int n; // a multiple of 4
  float factor;
};
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    scale(const float *x, float *y, Sizes sizes) {
  char *arena = swage::dynamicArena();
  const SharedAddress base = swage::sharedAddress(arena), full = base + kBarriersAt;
  const int thread = swage::threadIndex();
  const int blocks = static_cast<int>(swage::lastBlockIndex()) + 1;
  const int chunks = (sizes.n + kChunk - 1) / kChunk;
  if (thread == 0) {
    for (int stage = 0; stage < kStages; ++stage)
      swage::mbarrierInit(full + 8 * stage, 1);
    swage::mbarrierFenceInit();
  }
  swage::barrier();

  auto bytesOf = [&](int chunk) {
    const int left = sizes.n - chunk * kChunk;
    return 4 * (left < kChunk ? left : kChunk);
  };
  auto load = [&](int stage, int chunk) {
    swage::mbarrierArriveExpect(full + 8 * stage, bytesOf(chunk));
    swage::bulkLoad(base + stage * kChunkBytes, x + chunk * kChunk, bytesOf(chunk),
                    full + 8 * stage);
  };
  int step = 0;
  if (thread == 0 && static_cast<int>(swage::blockIndex()) < chunks)
    load(0, swage::blockIndex());
  for (int chunk = swage::blockIndex(); chunk < chunks; chunk += blocks, ++step) {
    const int stage = step % kStages;
    if (thread == 0 && chunk + blocks < chunks) {
      swage::bulkWaitRead<0>(); // what left the other stage
      load(stage ^ 1, chunk + blocks);
    }
    swage::mbarrierWait(full + 8 * stage, step / kStages % 2);
    float *values = reinterpret_cast<float *>(arena + stage * kChunkBytes);
    for (int i = thread; i < bytesOf(chunk) / 4; i += kThreads)
      values[i] *= sizes.factor;
    swage::fenceProxyAsync();
    swage::barrier();
    if (thread == 0) {
      swage::bulkStore(y + chunk * kChunk, base + stage * kChunkBytes, bytesOf(chunk));
      swage::bulkCommit();
    }
  }
  if (thread == 0)
    swage::bulkWait<0>();
}
