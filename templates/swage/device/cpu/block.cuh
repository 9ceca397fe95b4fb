// A thread's place in its block, the block's barriers, and the block's shared memory.
#pragma once

namespace swage {

__device__ __forceinline__ unsigned threadIndex() { return simt::abi->current()->thread; }
__device__ __forceinline__ unsigned blockIndex() { return simt::abi->current()->block; }
__device__ __forceinline__ unsigned lastBlockIndex() { return simt::abi->current()->blocks - 1; }

__device__ __forceinline__ void barrier() { simt::abi->barrier(0, 0); }

__device__ __forceinline__ int barrierCount(bool predicate) {
  return static_cast<int>(simt::abi->barrierCount(predicate));
}
__device__ __forceinline__ bool barrierAny(bool predicate) {
  return simt::abi->barrierCount(predicate) != 0;
}
__device__ __forceinline__ bool barrierAll(bool predicate) {
  return simt::abi->barrierCount(!predicate) == 0;
}

__device__ __forceinline__ void namedBarrier(int id, int threads) {
  simt::abi->barrier(static_cast<unsigned>(id), static_cast<unsigned>(threads));
}
__device__ __forceinline__ void namedBarrierArrive(int id, int threads) {
  simt::abi->barrierArrive(static_cast<unsigned>(id), static_cast<unsigned>(threads));
}

enum : int { kMaxDeclaredArena = 48 * 1024 };

template <int Bytes> __device__ __forceinline__ char *arena() { return simt::abi->arena(Bytes); }

__device__ __forceinline__ char *dynamicArena() { return simt::abi->current()->dynamicShared; }
__device__ __forceinline__ unsigned dynamicArenaBytes() {
  return simt::abi->current()->dynamicSharedBytes;
}

} // namespace swage
