// As device.cuh: the switch between the twins, here of clusters of blocks.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/cluster.cuh"
#else
#include "swage/device/cpu/cluster.cuh"
#endif
