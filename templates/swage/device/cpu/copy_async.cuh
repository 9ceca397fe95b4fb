// Copies from global to shared memory that each thread starts and waits for itself (cp.async).
#pragma once

#include "swage/device/cpu/memory.cuh"
#include "swage/device/cpu/shared.cuh"

namespace swage {

template <int Bytes> __device__ __forceinline__ void copyAsync(SharedAddress to, const void *from) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  simt::abi->copyAsync(to, from, Bytes, Bytes);
}
/// Where only the bytes from `first` on and before `end` matter, the others are not read: such a
/// vector is copied at once.
template <int Bytes>
__device__ __forceinline__ void copyAsyncAround(char *to, const void *from, int first, int end) {
  if (first <= 0 && end >= Bytes)
    return copyAsync<Bytes>(sharedAddress(to), from);
  unsigned words[wordsOf(Bytes)];
  loadAround<Bytes, Traffic::Stream>(from, words, first, end);
  storeShared<Bytes>(to, words);
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
