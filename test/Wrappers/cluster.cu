// Clusters: ranks, the barrier, each other's shared memory; and the elected lane.
//
// arch: sm_90
#include "swage/device/atomic.cuh"
#include "swage/device/cluster.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/vote.cuh"

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
struct alignas(16) Quad {
  unsigned word[4];
};
} // namespace

// launch: cluster_places grid=8 block=64 cluster=4 in=2048 out=10240 exact
extern "C" __global__ void cluster_places(const unsigned *in, unsigned *out) {
  auto *shared = reinterpret_cast<unsigned *>(swage::arena<256>());
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 64 + own;
  Results results{out + thread, 512};
  const unsigned rank = swage::clusterRank(), size = swage::clusterSize();
  results.add(rank);
  results.add(size);
  shared[own] = in[thread];
  swage::clusterBarrierArrive();
  const unsigned between = in[thread] * 3u;
  swage::clusterBarrierWait();
  const swage::SharedAddress at = swage::sharedAddress(shared + (own ^ 11u));
  for (unsigned i = 0; i < 2; ++i)
    results.add(swage::loadCluster<unsigned>(swage::mapShared(at, (rank + i) % size)) + between);
  // Nobody leaves while others read.
  swage::clusterBarrier();
  results.add(shared[own]);
}

// A launch without clusters is one of clusters of one block.
//
// launch: cluster_alone grid=2 block=32 in=256 out=768 exact
extern "C" __global__ void cluster_alone(const unsigned *in, unsigned *out) {
  auto *shared = reinterpret_cast<unsigned *>(swage::arena<128>());
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 32 + own;
  Results results{out + thread, 64};
  results.add(swage::clusterRank());
  results.add(swage::clusterSize());
  shared[own] = in[thread];
  swage::clusterBarrier();
  results.add(
      swage::loadCluster<unsigned>(swage::mapShared(swage::sharedAddress(shared + (own ^ 3u)), 0)));
  swage::clusterBarrier();
}

// Every width, to and from the next block of the cluster.
//
// launch: cluster_access grid=6 block=32 cluster=2 in=3072 out=10752 exact
extern "C" __global__ void cluster_access(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<1024>();
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 32 + own;
  Results results{out + thread, 192};
  const unsigned next = (swage::clusterRank() + 1) % swage::clusterSize();
  const unsigned *word = in + 4 * thread;
  const unsigned long long wide = static_cast<unsigned long long>(word[0]) << 32 | word[1];
  const swage::SharedAddress here = swage::sharedAddress(shared);
  const swage::SharedAddress there = swage::mapShared(here, next);
  swage::clusterBarrierArriveRelaxed();
  swage::clusterBarrierWait(); // all have started
  swage::storeCluster(there + 4 * own, word[0]);
  swage::storeCluster(there + 256 + 8 * own, wide);
  swage::storeCluster(there + 512 + 16 * own, Quad{{word[0], word[1], word[2], word[3]}});
  swage::storeCluster(there + 128 + 4 * own, swage::bitCast<float>(word[2]));
  swage::clusterBarrier();
  results.add(swage::loadCluster<unsigned>(here + 4 * own)); // what the other one wrote
  results.add(swage::loadCluster<unsigned long long>(here + 256 + 8 * (own ^ 1u)));
  results.add(swage::loadCluster<Quad>(here + 512 + 16 * (own ^ 7u)));
  results.add(swage::loadCluster<float>(there + 128 + 4 * (own ^ 3u))); // what this one wrote
  results.add(swage::loadCluster<double>(there + 256 + 8 * own));
  results.add(*reinterpret_cast<unsigned *>(shared + 512 + 16 * own));
  results.add(swage::loadCluster<Quad>(there + 512 + 16 * own).word[2]);
  results.add(reinterpret_cast<unsigned *>(shared)[own]);
  results.add(swage::loadCluster<unsigned>(there + 4 * own));
  swage::clusterBarrier();
}

// Arrivals from other blocks, and stores that tell of themselves there.
//
// launch: cluster_mbarrier grid=4 block=64 cluster=4 in=2048 out=4096 exact
extern "C" __global__ void cluster_mbarrier(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<2048>();
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 64 + own;
  Results results{out + thread, 256};
  const unsigned rank = swage::clusterRank(), size = swage::clusterSize();
  const swage::SharedAddress at = swage::sharedAddress(shared);
  if (own == 0) {
    swage::mbarrierInit(at, size);
    swage::mbarrierInit(at + 8, 1);
    swage::mbarrierFenceInit();
    swage::mbarrierArriveExpect(at + 8, 64 * 12);
  }
  swage::clusterBarrier();
  // Everybody tells everybody.
  if (own < size)
    swage::mbarrierArrive(swage::mapShared(at, own));
  swage::mbarrierWait(at, 0);
  const unsigned next = (rank + 1) % size;
  const swage::SharedAddress there = swage::mapShared(at, next);
  const unsigned long long wide = static_cast<unsigned long long>(in[thread]) << 32 | rank;
  swage::storeClusterAsync(there + 1024 + 8 * own, wide, there + 8);
  swage::storeClusterAsync(there + 512 + 4 * own, swage::bitCast<float>(in[256 + thread]),
                           there + 8);
  swage::mbarrierWait(at + 8, 0);
  results.add(reinterpret_cast<unsigned *>(shared + 1024)[2 * (own ^ 1u)]);
  results.add(reinterpret_cast<unsigned *>(shared + 1024)[2 * (own ^ 1u) + 1]);
  results.add(reinterpret_cast<unsigned *>(shared + 512)[own ^ 63u]);
  results.add(rank);
  swage::clusterBarrier();
}

// Atomics of all threads of the cluster in the first block's memory; what does not depend on their
// order is kept.
//
// launch: cluster_atomics grid=8 block=64 cluster=4 in=2048 out=128 exact
extern "C" __global__ void cluster_atomics(const unsigned *in, unsigned *out) {
  auto *shared = reinterpret_cast<unsigned *>(swage::arena<64>());
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 64 + own;
  if (own < 16)
    shared[own] = own == 3 ? 0xffffffffu : own == 5 ? 0x7fffffffu : 0u;
  swage::clusterBarrier();
  const swage::SharedAddress at = swage::mapShared(swage::sharedAddress(shared), 0);
  const unsigned value = in[thread];
  const auto number = static_cast<float>(value % 1000u) - 300.0f;
  swage::atomicAddCluster(at, value);
  swage::atomicAddCluster(at + 4, number);
  swage::atomicMaxCluster(at + 8, value);
  swage::atomicMinCluster(at + 12, value);
  swage::atomicMaxCluster(at + 16, static_cast<int>(value));
  swage::atomicMinCluster(at + 20, static_cast<int>(value));
  swage::atomicOrCluster(at + 24, 1u << value % 32);
  swage::atomicXorCluster(at + 28, value);
  swage::atomicAddCluster(at + 32, static_cast<unsigned long long>(value));
  swage::atomicAddCluster(at + 40, static_cast<double>(number));
  unsigned seen = 0;
  for (unsigned old;
       (old = swage::atomicCompareExchangeCluster(at + 48, seen, seen + value)) != seen;)
    seen = old;
  swage::atomicXorCluster(at + 56, swage::atomicExchangeCluster(at + 52, value));
  swage::clusterBarrier();
  if (swage::clusterRank() == 0 && own == 0) {
    swage::atomicXorCluster(at + 56, swage::atomicExchangeCluster(at + 52, 0u));
    swage::atomicAndCluster(at + 60, value);
    for (unsigned i = 0; i < 16; ++i)
      out[16 * (thread / 256) + i] = shared[i];
  }
  swage::clusterBarrier();
}

// launch: elect grid=1 block=96 in=4 out=1152 exact
extern "C" __global__ void elect(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 96};
  const bool first = swage::electLane();
  const bool second = swage::electLane();
  results.add(swage::popCount(swage::ballot(first)));
  results.add(first == second);
  unsigned found = 0;
  if (swage::electLane())
    found = swage::warpIndex() + 5;
  results.add(swage::reduceLanes<swage::LaneOp::Add>(found));
}
