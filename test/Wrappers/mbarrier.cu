// Barriers in shared memory: arrivals, phases, bytes.
//
// arch: sm_90
#include "swage/device/bulk.cuh"
#include "swage/device/cluster.cuh"
#include "swage/device/copy_async.cuh"
#include "swage/device/mbarrier.cuh"

namespace {
/// Where a thread leaves its results: the first words of all threads, then the second ones.
struct Results {
  unsigned *next;
  unsigned threads;
  template <class T> __device__ void add(T value) {
    if constexpr (sizeof(T) == 1) {
      add<unsigned>(swage::bitCast<unsigned char>(value));
    } else if constexpr (sizeof(T) == 2) {
      add<unsigned>(swage::bitCast<unsigned short>(value));
    } else {
      struct Words {
        unsigned at[sizeof(T) / 4];
      };
      const auto words = swage::bitCast<Words>(value);
      for (unsigned word : words.at) {
        *next = word;
        next += threads;
      }
    }
  }
};
} // namespace

namespace {
/// By one thread, then known to the block.
__device__ void initialise(swage::SharedAddress at, unsigned arrivals) {
  if (swage::threadIndex() == 0) {
    swage::mbarrierInit(at, arrivals);
    swage::mbarrierFenceInit();
  }
  swage::barrier();
}
} // namespace

// All threads arrive and wait, in five phases; what others wrote before is there after.
//
// launch: mbarrier_phases grid=2 block=96 in=4096 out=9984 exact
extern "C" __global__ void mbarrier_phases(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<1024>();
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 96 + own;
  Results results{out + thread, 192};
  auto *words = reinterpret_cast<unsigned *>(shared + 64);
  const swage::SharedAddress at = swage::sharedAddress(shared);
  initialise(at, 96);
  results.add(swage::mbarrierTest(at, 1)); // the phase before the first has ended
  results.add(swage::mbarrierTest(at, 0));
  swage::mbarrierWait(at, 1);
  swage::barrier();
  for (unsigned phase = 0; phase < 5; ++phase) {
    words[phase % 2 * 96 + own] = in[thread] + phase;
    swage::mbarrierArrive(at);
    swage::mbarrierWait(at, phase % 2);
    results.add(words[phase % 2 * 96 + (own + 17) % 96]);
    results.add(swage::mbarrierTest(at, phase % 2));
  }
  swage::barrier();
  // The same 8 bytes as memory, and again as a barrier.
  if (own == 0)
    swage::mbarrierInvalidate(at);
  swage::barrier();
  if (own < 2)
    reinterpret_cast<unsigned *>(shared)[own] = in[own];
  swage::barrier();
  results.add(reinterpret_cast<unsigned *>(shared)[own % 2]);
  swage::barrier();
  initialise(at, 3);
  if (own == 40)
    swage::mbarrierArrive(at, 3);
  swage::mbarrierWait(at, 0);
}

// A warp that produces, three that consume, and two barriers for each of two places.
//
// launch: mbarrier_ring grid=1 block=128 in=4096 out=512 exact
extern "C" __global__ void mbarrier_ring(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<1024>();
  const unsigned thread = swage::threadIndex();
  const swage::SharedAddress at = swage::sharedAddress(shared); // full 0, 1; empty 0, 1
  if (thread == 0) {
    swage::mbarrierInit(at, 32);
    swage::mbarrierInit(at + 8, 32);
    swage::mbarrierInit(at + 16, 3);
    swage::mbarrierInit(at + 24, 3);
    swage::mbarrierFenceInit();
  }
  swage::barrier();
  auto *words = reinterpret_cast<unsigned *>(shared + 64);
  const unsigned lane = swage::laneIndex(), warp = swage::warpIndex();
  unsigned sum = 0;
  for (unsigned step = 0; step < 9; ++step) {
    const unsigned place = step % 2, parity = step / 2 % 2;
    if (warp == 0) {
      swage::mbarrierWait(at + 16 + 8 * place, parity ^ 1u);
      words[32 * place + lane] = in[32 * step + lane];
      swage::mbarrierArrive(at + 8 * place);
    } else {
      swage::mbarrierWait(at + 8 * place, parity);
      sum = sum * 3u + words[32 * place + (lane + warp) % 32];
      swage::syncWarp();
      if (lane == 0)
        swage::mbarrierArrive(at + 16 + 8 * place);
    }
  }
  if (warp > 0)
    out[thread] = sum;
}

// Phases that wait for bytes: of a bulk copy, and of stores that tell of themselves.
//
// launch: mbarrier_bytes grid=2 block=64 cluster=2 in=4096 out=4096 exact
extern "C" __global__ void mbarrier_bytes(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<4096>();
  const unsigned thread = swage::threadIndex();
  Results results{out + swage::blockIndex() * 64 + thread, 128};
  const unsigned rank = swage::clusterRank();
  const swage::SharedAddress at = swage::sharedAddress(shared), to = at + 1024;
  auto *words = reinterpret_cast<unsigned *>(shared + 1024);
  initialise(at, 2);
  if (thread == 0) {
    swage::mbarrierArriveExpect(at, 512);
    swage::bulkLoad(to, in, 512, at);
  } else if (thread == 1) {
    swage::mbarrierExpect(at, 768); // before the arrival, which could end the phase
    swage::mbarrierArrive(at);
    swage::bulkLoad(to + 512, in + 256, 512, at);
    swage::bulkLoad(to + 1024, in + 512, 256, at);
  }
  swage::mbarrierWait(at, 0);
  for (unsigned i = 0; i < 5; ++i)
    results.add(words[64 * i + (thread ^ 9u)]);
  swage::barrier();
  if (thread < 2)
    swage::mbarrierArriveExpect(at, 64 * 12 / 2);
  swage::barrier();
  const unsigned long long wide = static_cast<unsigned long long>(in[thread]) << 32 | thread;
  swage::storeClusterAsync(swage::mapShared(to + 4 * thread, rank), in[64 + thread],
                           swage::mapShared(at, rank));
  swage::storeClusterAsync(swage::mapShared(to + 512 + 8 * thread, rank), wide,
                           swage::mapShared(at, rank));
  swage::mbarrierWait(at, 1);
  results.add(words[thread ^ 5u]);
  results.add(words[128 + thread]);
  results.add(words[192 + thread]);
}

// The arrival of cp.async, by all threads.
//
// launch: mbarrier_copy_async grid=1 block=64 in=4096 out=512 exact
extern "C" __global__ void mbarrier_copy_async(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<2048>();
  const unsigned thread = swage::threadIndex();
  Results results{out + thread, 64};
  const swage::SharedAddress at = swage::sharedAddress(shared);
  initialise(at, 64);
  swage::copyAsync<16>(at + 1024 + 16 * thread, in + 4 * thread);
  swage::copyAsync<8>(at + 256 + 8 * thread, in + 512 + 2 * thread);
  swage::copyAsyncArrive(at);
  swage::mbarrierWait(at, 0);
  results.add(*reinterpret_cast<unsigned *>(shared + 1024 + 16 * (63 - thread) + 12));
  results.add(*reinterpret_cast<unsigned *>(shared + 256 + 8 * (thread ^ 32u)));
}
