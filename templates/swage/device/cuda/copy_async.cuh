// Copies from global to shared memory that each thread starts and waits for itself (cp.async).
// Compute capability 8.0.
#pragma once

#include "swage/device/cuda/shared.cuh"

namespace swage {

/// Copies 4, 8 or 16 bytes, both places aligned to that.  16 bytes pass L1 by.
template <int Bytes> __device__ __forceinline__ void copyAsync(SharedAddress to, const void *from) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(to), "l"(from), "n"(Bytes)
                 : "memory");
}
/// The same, where only the bytes from `first` on and before `end` matter (loadAround).
template <int Bytes>
__device__ __forceinline__ void copyAsyncAround(char *to, const void *from, int first,
                                                int end) {
  copyAsync<Bytes>(sharedAddress(to), from);
}
/// The same, but only the first `sourceBytes` are read; the rest becomes zero.
template <int Bytes>
__device__ __forceinline__ void copyAsync(SharedAddress to, const void *from, int sourceBytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(from), "r"(sourceBytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(to), "l"(from), "n"(Bytes), "r"(sourceBytes)
                 : "memory");
}

/// The thread's copies since the last call are one group.
__device__ __forceinline__ void copyAsyncCommit() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}
/// Until at most `Pending` of the thread's groups are under way.  What others copied is visible
/// after a barrier.
template <int Pending> __device__ __forceinline__ void copyAsyncWait() {
  asm volatile("cp.async.wait_group %0;" : : "n"(Pending) : "memory");
}
/// Arrives at an mbarrier of the own block when all copies that the thread has started are done;
/// counts among the arrivals that mbarrierInit said.
__device__ __forceinline__ void copyAsyncArrive(SharedAddress mbarrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(mbarrier) : "memory");
}

} // namespace swage
