// A thread's place in its block, the block's barriers, and the block's shared memory.
#pragma once

namespace swage {

/// Kernels of Swage use one-dimensional grids and blocks.
__device__ __forceinline__ unsigned threadIndex() { return threadIdx.x; }
__device__ __forceinline__ unsigned blockIndex() { return blockIdx.x; }
__device__ __forceinline__ unsigned lastBlockIndex() { return gridDim.x - 1; }

/// All threads of the block arrive; shared-memory writes before it are visible after it.
__device__ __forceinline__ void barrier() { __syncthreads(); }

/// As barrier, and tells of how many threads the predicate holds, of any, of all.
__device__ __forceinline__ int barrierCount(bool predicate) {
  return __syncthreads_count(predicate);
}
__device__ __forceinline__ bool barrierAny(bool predicate) {
  return __syncthreads_or(predicate) != 0;
}
__device__ __forceinline__ bool barrierAll(bool predicate) {
  return __syncthreads_and(predicate) != 0;
}

/// A barrier for some warps of the block: `threads` of them (a multiple of 32) arrive, and those
/// that wait go on when all have.  `id` is 1 to 15; 0 is what the barriers above use.  All 32 lanes
/// of a warp call, at one place.
__device__ __forceinline__ void namedBarrier(int id, int threads) {
  asm volatile("barrier.sync.aligned %0, %1;" : : "r"(id), "r"(threads) : "memory");
}
/// Arrives without waiting; counts toward `threads`.
__device__ __forceinline__ void namedBarrierArrive(int id, int threads) {
  asm volatile("barrier.arrive.aligned %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

/// The shared memory that the launch asks for, up to what the device has; begins at a multiple of
/// 1024 bytes, as the widest swizzle needs it.
__device__ __forceinline__ char *dynamicArena() {
  alignas(1024) extern __shared__ char swageDynamicArena[];
  return swageDynamicArena;
}

/// What a kernel may declare by itself.
enum : int { kMaxDeclaredArena = 48 * 1024 };

/// The shared memory of the block: asked for once per kernel, offsets inside are the caller's
/// constants.  One of more than kMaxDeclaredArena bytes is dynamic: `shared_bytes` of the launch
/// geometry are as many.
template <int Bytes> __device__ __forceinline__ char *arena() {
  if constexpr (Bytes > kMaxDeclaredArena) {
    return dynamicArena();
  } else {
    __shared__ alignas(128) char storage[Bytes];
    return storage;
  }
}
__device__ __forceinline__ unsigned dynamicArenaBytes() {
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

} // namespace swage
