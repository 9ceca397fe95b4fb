// As device.cuh: the switch between the twins, here of 8-bit floats.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/float8.cuh"
#else
#include "swage/device/cpu/float8.cuh"
#endif
