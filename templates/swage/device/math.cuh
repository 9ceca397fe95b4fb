// As device.cuh: the switch between the twins of the math functions.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/math.cuh"
#else
#include "swage/device/cpu/math.cuh"
#endif
