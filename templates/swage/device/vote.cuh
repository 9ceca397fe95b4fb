// As device.cuh: the switch between the twins, here of votes and reductions over a warp.
#pragma once

#include "swage/device/device.cuh"

#if defined(__CUDACC__)
#include "swage/device/cuda/vote.cuh"
#else
#include "swage/device/cpu/vote.cuh"
#endif
