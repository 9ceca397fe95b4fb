// Blocks of a cluster: their barrier, and access to each other's shared memory.  Compute capability
// 9.0; in a launch without clusters every block is a cluster of its own.
#pragma once

#include "swage/device/cuda/shared.cuh"

namespace swage {

/// The block's place in its cluster.
__device__ __forceinline__ unsigned clusterRank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned clusterSize() {
  unsigned size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}

/// The barrier of all threads of the cluster, in two halves; every thread calls both, in turn. What
/// was written before the arrival, in the shared memory of any block, is visible after the wait.
/// All 32 lanes of a warp call, at one place.
__device__ __forceinline__ void clusterBarrierArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
}
__device__ __forceinline__ void clusterBarrierWait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}
/// The first half where nothing that was written has to be visible: it does not wait for writes.
__device__ __forceinline__ void clusterBarrierArriveRelaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" : : : "memory");
}
__device__ __forceinline__ void clusterBarrier() {
  clusterBarrierArrive();
  clusterBarrierWait();
}

/// The same place in block `rank` of the cluster.  Its memory may be touched between a
/// cluster barrier after it started and one before it ends.
__device__ __forceinline__ SharedAddress mapShared(SharedAddress at, unsigned rank) {
  SharedAddress mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(at), "r"(rank));
  return mapped;
}

/// Reads 4, 8 or 16 bytes, of any block of the cluster.
template <class T> __device__ __forceinline__ T loadCluster(SharedAddress from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  struct Words {
    unsigned at[sizeof(T) / 4];
  } words;
  if constexpr (sizeof(T) == 4)
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(words.at[0]) : "r"(from) : "memory");
  else if constexpr (sizeof(T) == 8)
    asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
                 : "=r"(words.at[0]), "=r"(words.at[1])
                 : "r"(from)
                 : "memory");
  else
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.at[0]), "=r"(words.at[1]), "=r"(words.at[2]), "=r"(words.at[3])
                 : "r"(from)
                 : "memory");
  return __builtin_bit_cast(T, words);
}

/// Writes 4, 8 or 16 bytes, of any block of the cluster.
template <class T> __device__ __forceinline__ void storeCluster(SharedAddress to, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  struct Words {
    unsigned at[sizeof(T) / 4];
  };
  const auto words = __builtin_bit_cast(Words, value);
  if constexpr (sizeof(T) == 4)
    asm volatile("st.shared::cluster.u32 [%0], %1;" : : "r"(to), "r"(words.at[0]) : "memory");
  else if constexpr (sizeof(T) == 8)
    asm volatile("st.shared::cluster.v2.u32 [%0], {%1, %2};"
                 :
                 : "r"(to), "r"(words.at[0]), "r"(words.at[1])
                 : "memory");
  else
    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "r"(words.at[0]), "r"(words.at[1]), "r"(words.at[2]), "r"(words.at[3])
                 : "memory");
}

/// Writes 4 or 8 bytes without waiting; `mbarrier`, in the same block as `to`, is told of that many
/// bytes when they are there.  Only in a launch with clusters, if of one block: elsewhere the
/// instruction is illegal.
template <class T>
__device__ __forceinline__ void storeClusterAsync(SharedAddress to, T value,
                                                  SharedAddress mbarrier) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 4)
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :
                 : "r"(to), "r"(__builtin_bit_cast(unsigned, value)), "r"(mbarrier)
                 : "memory");
  else
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];"
                 :
                 : "r"(to), "l"(__builtin_bit_cast(unsigned long long, value)), "r"(mbarrier)
                 : "memory");
}

} // namespace swage
