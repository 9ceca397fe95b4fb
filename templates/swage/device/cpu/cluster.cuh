// Blocks of a cluster: their barrier, and access to each other's shared memory.
#pragma once

#include "swage/device/cpu/shared.cuh"

namespace swage {

__device__ __forceinline__ unsigned clusterRank() { return simt::abi->current()->clusterRank; }
__device__ __forceinline__ unsigned clusterSize() { return simt::abi->current()->clusterSize; }

__device__ __forceinline__ void clusterBarrierArrive() { simt::abi->clusterArrive(); }
__device__ __forceinline__ void clusterBarrierArriveRelaxed() { simt::abi->clusterArrive(); }
__device__ __forceinline__ void clusterBarrierWait() { simt::abi->clusterWait(); }
__device__ __forceinline__ void clusterBarrier() {
  clusterBarrierArrive();
  clusterBarrierWait();
}

__device__ __forceinline__ SharedAddress mapShared(SharedAddress at, unsigned rank) {
  return simt::abi->mapShared(at, rank);
}

template <class T> __device__ __forceinline__ T loadCluster(SharedAddress from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  T value;
  simt::abi->loadCluster(from, &value, sizeof(T));
  return value;
}

template <class T> __device__ __forceinline__ void storeCluster(SharedAddress to, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  simt::abi->storeCluster(to, &value, sizeof(T));
}

template <class T>
__device__ __forceinline__ void storeClusterAsync(SharedAddress to, T value,
                                                  SharedAddress mbarrier) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  simt::abi->storeClusterAsync(to, &value, sizeof(T), mbarrier);
}

} // namespace swage
