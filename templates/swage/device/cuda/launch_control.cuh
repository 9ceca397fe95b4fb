// What a kernel tells the hardware about itself: registers of a warpgroup, and its place among the
// grids of a stream.
#pragma once

namespace swage {

/// Registers per thread of this warpgroup (128 threads from a multiple of 128), a multiple of 8
/// from 24 to 256; all its threads call.  The kernel needs __launch_bounds__(threads, 1).
/// Increasing waits until the block has them.  9.0a.
template <int Registers> __device__ __forceinline__ void increaseRegisters() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(Registers));
}
template <int Registers> __device__ __forceinline__ void decreaseRegisters() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(Registers));
}

/// Until the grids before this one, which it may overlap (programmatic dependent launch), are done
/// and what they wrote is visible.  Returns at once where the launch did not ask for overlap.  9.0.
__device__ __forceinline__ void waitForPriorGrids() {
  asm volatile("griddepcontrol.wait;" : : : "memory");
}
/// The grids after this one may start once every block has called this or ended.  9.0.
__device__ __forceinline__ void allowDependentGrids() {
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}

} // namespace swage
