// The CPU twin of the device layer: the functions of swage/device/cuda/ with the same meaning, for the
// simulator (lib/Simt).  What involves other threads or the hardware's engines goes through the
// table in abi.cuh; the rest is plain C++.
#pragma once

#include "swage/device/cpu/module.cuh"

#include "swage/device/cpu/arithmetic.cuh"
#include "swage/device/cpu/bits.cuh"
#include "swage/device/cpu/block.cuh"
#include "swage/device/cpu/memory.cuh"
#include "swage/device/cpu/types.cuh"
#include "swage/device/cpu/warp.cuh"
