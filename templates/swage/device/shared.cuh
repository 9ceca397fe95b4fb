// As device.cuh: the switch between the twins, here of addresses in shared memory.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/shared.cuh"
#else
#include "swage/device/cpu/shared.cuh"
#endif
