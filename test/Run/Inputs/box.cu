// Copies a box of 2 x 4 floats.
#include "swage/device/bulk.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/shared.cuh"

extern "C" __global__ void box(const __grid_constant__ swage::TensorMap map, float *y) {
  float *taken = reinterpret_cast<float *>(swage::arena<40>());
  const swage::SharedAddress arrived = swage::sharedAddress(taken + 8);
  if (swage::threadIndex() == 0) {
    swage::mbarrierInit(arrived, 1);
    swage::mbarrierFenceInit();
    swage::mbarrierArriveExpect(arrived, 32);
    swage::tensorLoad(swage::sharedAddress(taken), map, arrived, 0, 0);
  }
  swage::barrier();
  swage::mbarrierWait(arrived, 0);
  if (swage::threadIndex() < 8)
    y[swage::threadIndex()] = taken[swage::threadIndex()];
}
