// As device.cuh: the switch between the twins, here of registers and the order of grids.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/launch_control.cuh"
#else
#include "swage/device/cpu/launch_control.cuh"
#endif
