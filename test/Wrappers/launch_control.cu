// Registers of warpgroups, and dependent grids.  What these do cannot be seen in results: that the
// kernel ends, with the right ones, is the test.
//
// arch: sm_90a
#include "swage/device/launch_control.cuh"

// launch: registers grid=2 block=256 in=2048 out=2048 exact
extern "C" __global__ void __launch_bounds__(256, 1) registers(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  if (swage::threadIndex() < 128) {
    swage::decreaseRegisters<40>();
    out[thread] = in[thread] * 3u;
  } else {
    swage::increaseRegisters<232>();
    out[thread] = in[thread] * 5u;
  }
}

// launch: dependent_grids grid=2 block=64 in=512 out=512 exact
extern "C" __global__ void dependent_grids(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 64 + swage::threadIndex();
  swage::waitForPriorGrids();
  out[thread] = in[thread] + 1u;
  swage::allowDependentGrids();
}
