// Barriers in shared memory (mbarrier).
#pragma once

#include "swage/device/cpu/shared.cuh"

namespace swage {

__device__ __forceinline__ void mbarrierInit(SharedAddress at, unsigned arrivals) {
  simt::abi->mbarrierInit(at, arrivals);
}
__device__ __forceinline__ void mbarrierInvalidate(SharedAddress at) {
  simt::abi->mbarrierInvalidate(at);
}
__device__ __forceinline__ void mbarrierFenceInit() { simt::abi->mbarrierFenceInit(); }

__device__ __forceinline__ void mbarrierArrive(SharedAddress at, unsigned arrivals = 1) {
  simt::abi->mbarrierArrive(at, arrivals);
}
__device__ __forceinline__ void mbarrierExpect(SharedAddress at, unsigned bytes) {
  simt::abi->mbarrierExpect(at, bytes);
}
__device__ __forceinline__ void mbarrierArriveExpect(SharedAddress at, unsigned bytes) {
  simt::abi->mbarrierArriveExpect(at, bytes);
}

__device__ __forceinline__ bool mbarrierTest(SharedAddress at, unsigned parity) {
  return simt::abi->mbarrierTest(at, parity);
}
__device__ __forceinline__ void mbarrierWait(SharedAddress at, unsigned parity) {
  simt::abi->mbarrierWait(at, parity);
}

} // namespace swage
