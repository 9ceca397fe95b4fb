// A thread's place in its block, the block's barriers, and the block's shared memory.
#pragma once

namespace swage {

__device__ __forceinline__ unsigned threadIndex() { return simt::abi->current()->thread; }
__device__ __forceinline__ unsigned blockIndex() { return simt::abi->current()->block; }
__device__ __forceinline__ unsigned lastBlockIndex() { return simt::abi->current()->blocks - 1; }

__device__ __forceinline__ void barrier() { simt::abi->barrier(0, 0); }

template <int Bytes> __device__ __forceinline__ char *arena() {
  static_assert(Bytes <= 48 * 1024, "more shared memory than a block may have without asking");
  return simt::abi->arena(Bytes);
}

} // namespace swage
