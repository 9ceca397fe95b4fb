// Bulk copies of bytes in all four directions.
//
// arch: sm_90a
#include "swage/device/bulk.cuh"
#include "swage/device/cluster.cuh"
#include "swage/device/mbarrier.cuh"

namespace {
/// By one thread of each block, then known to the cluster.
__device__ void initialise(swage::SharedAddress at) {
  if (swage::threadIndex() == 0) {
    swage::mbarrierInit(at, 1);
    swage::mbarrierFenceInit();
  }
  swage::clusterBarrier();
}
} // namespace

// In, changed, and out again, in pieces of several sizes.
//
// launch: bulk_round_trip grid=2 block=128 shared=8192 in=8192 out=8192 exact
extern "C" __global__ void bulk_round_trip(const unsigned *in, unsigned *out) {
  char *shared = swage::dynamicArena();
  const swage::SharedAddress at = swage::sharedAddress(swage::arena<8>());
  const swage::SharedAddress words = swage::sharedAddress(shared);
  const unsigned own = swage::threadIndex(), base = swage::blockIndex() * 1024;
  initialise(at);
  if (own == 0) {
    swage::mbarrierArriveExpect(at, 4096);
    swage::bulkLoad(words, in + base, 16, at);
    swage::bulkLoad<swage::Eviction::First>(words + 16, in + base + 4, 1008, at);
    swage::bulkLoad(words + 1024, in + base + 256, 3072, at);
  }
  swage::mbarrierWait(at, 0);
  for (unsigned i = own; i < 1024; i += 128)
    reinterpret_cast<unsigned *>(shared)[1024 + (i ^ 64u)] =
        reinterpret_cast<unsigned *>(shared)[i] * 3u + 1u;
  swage::fenceProxyAsync();
  swage::barrier();
  if (own == 0) {
    swage::bulkStore(out + base, words + 4096, 2048);
    swage::bulkCommit();
    swage::bulkStore(out + base + 512, words + 6144, 32);
    swage::bulkStore(out + base + 520, words + 6176, 2016);
    swage::bulkCommit();
    swage::bulkWait<1>();
    swage::bulkWaitRead<0>();
    reinterpret_cast<unsigned *>(shared)[2047] = 0u; // has been read
    swage::bulkWait<0>();
  }
}

// Each block loads a part for the blocks that a mask names.
//
// launch: bulk_multicast grid=8 block=64 cluster=4 shared=4096 in=8192 out=32768 exact
extern "C" __global__ void bulk_multicast(const unsigned *in, unsigned *out) {
  char *shared = swage::dynamicArena();
  const swage::SharedAddress at = swage::sharedAddress(swage::arena<8>());
  const swage::SharedAddress words = swage::sharedAddress(shared);
  const unsigned own = swage::threadIndex(), rank = swage::clusterRank();
  for (unsigned i = own; i < 1024; i += 64)
    reinterpret_cast<unsigned *>(shared)[i] = i;
  swage::fenceProxyAsync();
  // Rank 0: all; 1: 0 and 2; 2: 3; 3: 1, 2 and itself.
  constexpr unsigned kMasks = 0xe85f;
  unsigned expected = 0;
  for (unsigned i = 0; i < 4; ++i)
    expected += kMasks >> (4 * i + rank) & 1u ? 1024u : 0u;
  if (own == 0) {
    swage::mbarrierInit(at, 1);
    swage::mbarrierFenceInit();
    swage::mbarrierArriveExpect(at, expected);
  }
  swage::clusterBarrier();
  if (own == 0)
    swage::bulkLoadMulticast(words + 1024 * rank, in + 256 * swage::blockIndex(), 1024, at,
                             static_cast<unsigned short>(kMasks >> 4 * rank & 0xfu));
  swage::mbarrierWait(at, 0);
  for (unsigned i = own; i < 1024; i += 64)
    out[1024 * swage::blockIndex() + i] = reinterpret_cast<unsigned *>(shared)[i];
  swage::clusterBarrier();
}

// From the own shared memory to that of the next block.
//
// launch: bulk_to_cluster grid=6 block=64 cluster=2 shared=2048 in=6144 out=6144 exact
extern "C" __global__ void bulk_to_cluster(const unsigned *in, unsigned *out) {
  char *shared = swage::dynamicArena();
  const swage::SharedAddress at = swage::sharedAddress(swage::arena<8>());
  const swage::SharedAddress words = swage::sharedAddress(shared);
  const unsigned own = swage::threadIndex(), base = swage::blockIndex() * 256;
  const unsigned next = (swage::clusterRank() + 1) % swage::clusterSize();
  for (unsigned i = own; i < 256; i += 64)
    reinterpret_cast<unsigned *>(shared)[i] = in[base + i] ^ i;
  swage::fenceProxyAsync();
  initialise(at);
  if (own == 0) {
    swage::mbarrierArriveExpect(at, 1024);
    const swage::SharedAddress there = swage::mapShared(words, next);
    swage::bulkCopyShared(there + 1024, words, 768, swage::mapShared(at, next));
    swage::bulkCopyShared(there + 1792, words + 768, 256, swage::mapShared(at, next));
  }
  swage::mbarrierWait(at, 0);
  for (unsigned i = own; i < 256; i += 64)
    out[base + i] = reinterpret_cast<unsigned *>(shared)[256 + i];
  swage::clusterBarrier();
}
