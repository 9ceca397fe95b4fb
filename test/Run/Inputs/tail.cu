// The rest of a warp has finished when the others vote; then an instruction that only sm_90 has.
#include "swage/device/cluster.cuh"
#include "swage/device/vote.cuh"

extern "C" __global__ void tail(unsigned *out, int count) {
  const int i = static_cast<int>(swage::threadIndex());
  if (i >= count)
    return;
  out[i] = swage::ballot(true);
}

extern "C" __global__ void hopper(unsigned *out) {
  swage::clusterBarrier();
  out[swage::threadIndex()] = swage::clusterRank();
}

extern "C" __global__ void plain(unsigned *out) { out[threadIdx.x] = 1; }
