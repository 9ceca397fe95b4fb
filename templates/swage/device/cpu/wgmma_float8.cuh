// warpgroupMultiply and warpgroupMultiplyRegisters for e4m3 and e5m2, on either side.
#pragma once

#include "swage/device/cpu/wgmma.cuh"

namespace swage {
namespace simt {
template <> constexpr bool kWarpgroupMultiplies<e4m3, e4m3> = true;
template <> constexpr bool kWarpgroupMultiplies<e4m3, e5m2> = true;
template <> constexpr bool kWarpgroupMultiplies<e5m2, e4m3> = true;
template <> constexpr bool kWarpgroupMultiplies<e5m2, e5m2> = true;
} // namespace simt
} // namespace swage
