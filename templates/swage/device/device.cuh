// The switch between the twins of the device layer; the headers beside this one are the switches of
// its other parts.  Everything under templates/swage includes these and never a twin directly; both
// twins define the same names, so a generated kernel compiles unchanged for either.
#pragma once

#if defined(__CUDACC__)
#include "swage/device/cuda/device.cuh"
#else
#include "swage/device/cpu/device.cuh"
#endif
