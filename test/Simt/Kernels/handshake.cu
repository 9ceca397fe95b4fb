// Two blocks that hand a buffer to and fro: in round r block r % 2 reads what the other wrote, adds
// its own numbers, and passes the turn on.  Both wait in loops, so both must be resident at once.
//
// run: handshake n=128 rounds=5
// run: handshake n=300 rounds=2
#include "swage/device/device.cuh"

#include "swage/device/atomic.cuh"

namespace {
constexpr int kThreads = 64;
}

/// turn: zero at first; at the end, rounds.
extern "C" __global__ void __launch_bounds__(kThreads)
    handshake(const float *x, float *y, unsigned *turn, int n, int rounds) {
  const int thread = swage::threadIndex();
  for (unsigned round = swage::blockIndex(); round < static_cast<unsigned>(rounds); round += 2) {
    if (thread == 0)
      while (swage::loadAcquire(turn) != round)
        swage::pause();
    swage::barrier(); // what the thread has acquired is the block's
    for (int i = thread; i < n; i += kThreads)
      y[i] = (round == 0 ? 0.0f : y[i] * 0.5f) + x[round % 2 * n + i];
    swage::barrier();
    if (thread == 0)
      swage::storeRelease(turn, round + 1);
  }
}
