// y[i] = x[0] + ... + x[i] within each row of 1024: four numbers a lane, scanned in registers, over
// the lanes by shuffles, over the warps through shared memory.  Each warp turns its results in
// shared memory, so that neighbouring lanes store neighbouring numbers.
#include "swage/device/device.cuh"

namespace {
constexpr int kThreads = 256, kWarps = kThreads / 32, kOwn = 4, kRow = kThreads * kOwn;
constexpr int kTurnAt = 4 * kWarps, kArenaBytes = kTurnAt + 4 * kRow;
} // namespace

extern "C" __global__ void __launch_bounds__(kThreads) scan(const int *x, int *y) {
  char *arena = swage::arena<kArenaBytes>();
  int *totals = reinterpret_cast<int *>(arena);
  const int thread = swage::threadIndex(), lane = thread % 32, warp = thread / 32;
  const int first = static_cast<int>(swage::blockIndex()) * kRow;

  unsigned words[kOwn];
  swage::loadGlobal<16, swage::Traffic::Stream>(x + first + thread * kOwn, words);
  int values[kOwn], sum = 0;
  for (int i = 0; i < kOwn; ++i)
    values[i] = sum += static_cast<int>(words[i]);
  int before = sum;
  for (int delta = 1; delta < 32; delta *= 2) {
    const int lower = swage::shuffleUp(before, delta);
    if (lane >= delta)
      before += lower;
  }
  if (lane == 31)
    totals[warp] = before;
  before -= sum;
  swage::barrier();
  for (int i = 0; i < warp; ++i)
    before += totals[i];

  int *turn = reinterpret_cast<int *>(arena + kTurnAt) + warp * 32 * kOwn;
  for (int i = 0; i < kOwn; ++i)
    turn[lane * kOwn + i] = before + values[i];
  swage::syncWarp();
  for (int i = 0; i < kOwn; ++i)
    y[first + warp * 32 * kOwn + i * 32 + lane] = turn[i * 32 + lane];
}
