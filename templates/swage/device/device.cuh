// The switch between the twins of the device layer (math.cuh is the other one).  Everything under templates/swage includes
// this file and never a twin directly; both twins define the same names, so a generated kernel
// compiles unchanged for either.
#pragma once

#if defined(__CUDACC__)
#include "swage/device/cuda/device.cuh"
#else
#include "swage/device/cpu/device.cuh"
#endif
