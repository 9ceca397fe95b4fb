// What a kernel tells the hardware about itself: registers of a warpgroup, and its place among the
// grids of a stream.
#pragma once

namespace swage {

template <int Registers> __device__ __forceinline__ void increaseRegisters() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  simt::abi->setRegisters(Registers, true);
}
template <int Registers> __device__ __forceinline__ void decreaseRegisters() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  simt::abi->setRegisters(Registers, false);
}

__device__ __forceinline__ void waitForPriorGrids() { simt::abi->waitForPriorGrids(); }
__device__ __forceinline__ void allowDependentGrids() { simt::abi->allowDependentGrids(); }

} // namespace swage
