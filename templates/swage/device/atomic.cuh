// As device.cuh: the switch between the twins, here of atomic operations and signals between
// blocks.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/atomic.cuh"
#else
#include "swage/device/cpu/atomic.cuh"
#endif
