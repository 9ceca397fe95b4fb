// Attention of 8-bit floats: what attention_hopper.cuh wants beside what it has for 16 bits.
#pragma once

#include "swage/attention_hopper.cuh"
#include "swage/device/float8.cuh"
#include "swage/device/wgmma_float8.cuh"
