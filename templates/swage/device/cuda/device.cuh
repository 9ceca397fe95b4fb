// The CUDA twin of the device layer: every hardware wrapper, and every inline-PTX statement of
// Swage, lives in this folder.  Needs no toolkit header (NVRTC --minimal) and compute
// capability 8.0 or newer.
#pragma once

#include "swage/device/cuda/arithmetic.cuh"
#include "swage/device/cuda/bits.cuh"
#include "swage/device/cuda/block.cuh"
#include "swage/device/cuda/memory.cuh"
#include "swage/device/cuda/types.cuh"
#include "swage/device/cuda/warp.cuh"
