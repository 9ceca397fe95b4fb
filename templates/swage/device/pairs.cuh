// As device.cuh: the switch between the twins, here of arithmetic on pairs of 16-bit floats.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/pairs.cuh"
#else
#include "swage/device/cpu/pairs.cuh"
#endif
