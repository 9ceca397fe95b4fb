// As device.cuh: the switch between the twins, here of barriers in shared memory.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/mbarrier.cuh"
#else
#include "swage/device/cpu/mbarrier.cuh"
#endif
