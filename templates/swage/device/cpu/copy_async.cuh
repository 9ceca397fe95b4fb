// Copies from global to shared memory that each thread starts and waits for itself (cp.async).
#pragma once

#include "swage/device/cpu/shared.cuh"

namespace swage {

template <int Bytes> __device__ __forceinline__ void copyAsync(SharedAddress to, const void *from) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  simt::abi->copyAsync(to, from, Bytes, Bytes);
}
template <int Bytes>
__device__ __forceinline__ void copyAsync(SharedAddress to, const void *from, int sourceBytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  simt::abi->copyAsync(to, from, Bytes, static_cast<unsigned>(sourceBytes));
}

__device__ __forceinline__ void copyAsyncCommit() { simt::abi->copyAsyncCommit(); }
template <int Pending> __device__ __forceinline__ void copyAsyncWait() {
  simt::abi->copyAsyncWait(Pending);
}
__device__ __forceinline__ void copyAsyncArrive(SharedAddress mbarrier) {
  simt::abi->copyAsyncArrive(mbarrier);
}

} // namespace swage
