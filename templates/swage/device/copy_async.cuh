// As device.cuh: the switch between the twins, here of cp.async.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/copy_async.cuh"
#else
#include "swage/device/cpu/copy_async.cuh"
#endif
