// The copy engine: bulk copies of bytes, and of boxes of tensors through tensor maps.
#pragma once

#include "swage/device/cpu/shared.cuh"

namespace swage {

enum class Eviction { Normal, First };

template <Eviction Order = Eviction::Normal>
__device__ __forceinline__ void bulkLoad(SharedAddress to, const void *from, unsigned bytes,
                                         SharedAddress mbarrier) {
  simt::abi->bulkLoad(to, from, bytes, mbarrier, 0);
}
__device__ __forceinline__ void bulkLoadMulticast(SharedAddress to, const void *from,
                                                  unsigned bytes, SharedAddress mbarrier,
                                                  unsigned short blocks) {
  simt::abi->bulkLoad(to, from, bytes, mbarrier, blocks);
}
__device__ __forceinline__ void bulkStore(void *to, SharedAddress from, unsigned bytes) {
  simt::abi->bulkStore(to, from, bytes);
}
__device__ __forceinline__ void bulkCopyShared(SharedAddress to, SharedAddress from, unsigned bytes,
                                               SharedAddress mbarrier) {
  simt::abi->bulkCopyShared(to, from, bytes, mbarrier);
}

struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

template <Eviction Order = Eviction::Normal, class... Coordinates>
__device__ __forceinline__ void tensorLoad(SharedAddress to, const TensorMap &map,
                                           SharedAddress mbarrier, Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5);
  const int at[] = {static_cast<int>(coordinates)...};
  const simt::TensorCopy copy = {sizeof...(coordinates), &map, to, at, mbarrier, 0, -1};
  simt::abi->tensorLoad(&copy);
}

template <class... Coordinates>
__device__ __forceinline__ void tensorLoadMulticast(SharedAddress to, const TensorMap &map,
                                                    SharedAddress mbarrier, unsigned short blocks,
                                                    Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5);
  const int at[] = {static_cast<int>(coordinates)...};
  const simt::TensorCopy copy = {sizeof...(coordinates), &map, to, at, mbarrier, blocks, -1};
  simt::abi->tensorLoad(&copy);
}

template <class... Coordinates>
__device__ __forceinline__ void tensorStore(const TensorMap &map, SharedAddress from,
                                            Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5);
  const int at[] = {static_cast<int>(coordinates)...};
  const simt::TensorCopy copy = {sizeof...(coordinates), &map, from, at, 0, 0, -1};
  simt::abi->tensorStore(&copy);
}

template <class... Coordinates>
__device__ __forceinline__ void tensorReduceAdd(const TensorMap &map, SharedAddress from,
                                                Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5);
  const int at[] = {static_cast<int>(coordinates)...};
  const simt::TensorCopy copy = {
      sizeof...(coordinates), &map, from, at, 0, 0, static_cast<int>(simt::ReduceOp::Add)};
  simt::abi->tensorStore(&copy);
}

__device__ __forceinline__ void bulkCommit() { simt::abi->bulkCommit(); }
template <int Pending> __device__ __forceinline__ void bulkWait() {
  simt::abi->bulkWait(Pending, false);
}
template <int Pending> __device__ __forceinline__ void bulkWaitRead() {
  simt::abi->bulkWait(Pending, true);
}

__device__ __forceinline__ void fenceProxyAsync() { simt::abi->fenceProxyAsync(); }

__device__ __forceinline__ void prefetchTensorMap(const TensorMap &map) {}

} // namespace swage
