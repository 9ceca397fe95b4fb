// As device.cuh: the switch between the twins, here of the copy engine.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/bulk.cuh"
#else
#include "swage/device/cpu/bulk.cuh"
#endif
