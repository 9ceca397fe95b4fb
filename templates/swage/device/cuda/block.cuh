// A thread's place in its block, the block barrier, and the block's one piece of shared memory.
#pragma once

namespace swage {

/// Kernels of Swage use one-dimensional grids and blocks.
__device__ __forceinline__ unsigned threadIndex() { return threadIdx.x; }
__device__ __forceinline__ unsigned blockIndex() { return blockIdx.x; }
__device__ __forceinline__ unsigned lastBlockIndex() { return gridDim.x - 1; }

/// All threads of the block arrive; shared-memory writes before it are visible after it.
__device__ __forceinline__ void barrier() { __syncthreads(); }

/// The shared memory of the block: asked for once per kernel, offsets inside are the caller's
/// constants.
template <int Bytes> __device__ __forceinline__ char *arena() {
  static_assert(Bytes <= 48 * 1024, "more shared memory than a block may have without asking");
  __shared__ alignas(128) char storage[Bytes];
  return storage;
}

} // namespace swage
