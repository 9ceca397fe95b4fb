// As device.cuh: the switch between the twins, here of wgmma for 8-bit floats.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/wgmma_float8.cuh"
#else
#include "swage/device/cpu/wgmma_float8.cuh"
#endif
