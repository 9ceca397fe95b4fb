// Barriers in shared memory (mbarrier): 8 bytes, 8-aligned.  A phase ends when as many arrivals
// have come as mbarrierInit said, and as many bytes as were expected; the next one then begins.
// Phases have alternating parity, the first one 0: `parity` waits for the end of the newest phase
// of that parity, so waiting for parity 1 on a new barrier returns at once.  Compute
// capability 9.0.
#pragma once

#include "swage/device/cuda/shared.cuh"

namespace swage {

/// One thread does this, before mbarrierFenceInit and a barrier that tells the others.
__device__ __forceinline__ void mbarrierInit(SharedAddress at, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(at), "r"(arrivals) : "memory");
}
/// The 8 bytes become ordinary memory again.
__device__ __forceinline__ void mbarrierInvalidate(SharedAddress at) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(at) : "memory");
}
/// Makes initialised barriers known to the cluster and to the copy engine.
__device__ __forceinline__ void mbarrierFenceInit() {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

/// Arrives, in any block of the cluster.  Those of the own block that wait see what the thread
/// wrote before.  Those of another block know that it has read what it read; storeCluster is not
/// ordered by this (that would flush caches: storeClusterAsync and clusterBarrier are for it).
__device__ __forceinline__ void mbarrierArrive(SharedAddress at, unsigned arrivals = 1) {
  asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0], %1;"
               :
               : "r"(at), "r"(arrivals)
               : "memory");
}
/// The phase also waits for this many bytes; of the own block.
__device__ __forceinline__ void mbarrierExpect(SharedAddress at, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
               :
               : "r"(at), "r"(bytes)
               : "memory");
}
/// Both, in this order, in one instruction; of the own block.
__device__ __forceinline__ void mbarrierArriveExpect(SharedAddress at, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(at), "r"(bytes)
               : "memory");
}

/// Whether the phase of this parity has ended; of the own block.
__device__ __forceinline__ bool mbarrierTest(SharedAddress at, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 "
               "p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(at), "r"(parity)
               : "memory");
  return done != 0;
}
/// Until the phase of this parity has ended; of the own block.  The hardware suspends the thread
/// for a while each time.
__device__ __forceinline__ void mbarrierWait(SharedAddress at, unsigned parity) {
  unsigned done;
  do
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 "
                 "p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(at), "r"(parity)
                 : "memory");
  while (!done);
}

} // namespace swage
