// Rows of 64 elements, reversed through shared memory; one barrier is all that orders them.
#include "swage/device/device.cuh"

struct Sizes {
  int count;
  float scale;
};

extern "C" __global__ void reverse(const float *x, float *y, Sizes sizes) {
  float *row = reinterpret_cast<float *>(swage::arena<64 * sizeof(float)>());
  const unsigned i = swage::threadIndex(), at = swage::blockIndex() * 64 + i;
  if (at < sizes.count)
    row[i] = x[at];
  swage::barrier();
  if (at < sizes.count)
    y[at] = row[63 - i] * sizes.scale; // model.mlir:7
}

// The same without the barrier.
extern "C" __global__ void hasty(const float *x, float *y) {
  float *row = reinterpret_cast<float *>(swage::arena<64 * sizeof(float)>());
  const unsigned i = swage::threadIndex();
  row[i] = x[i];
  y[i] = row[63 - i]; // model.mlir:9
}
