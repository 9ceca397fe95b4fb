// As device.cuh: the switch between the twins, here of the matrix instructions of a warp.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/matrix.cuh"
#else
#include "swage/device/cpu/matrix.cuh"
#endif
