// As device.cuh: the switch between the twins, here of the matrix instructions of a warpgroup.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/wgmma.cuh"
#else
#include "swage/device/cpu/wgmma.cuh"
#endif
