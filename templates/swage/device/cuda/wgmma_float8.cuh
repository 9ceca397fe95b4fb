// warpgroupMultiply and warpgroupMultiplyRegisters for e4m3 and e5m2, on either side.  Sums have
// fewer bits than those of float: the hardware keeps about 14 of each addend.
#pragma once

#include "swage/device/cuda/wgmma.cuh"

namespace swage {
namespace ptx {
#define SWAGE_TYPES "k32.f32.e4m3.e4m3"
template <> struct WarpgroupMultiplier<e4m3, e4m3> {
  SWAGE_WARPGROUP_MULTIPLIER(SWAGE_SHARED, SWAGE_REGISTERS)
};
#undef SWAGE_TYPES
#define SWAGE_TYPES "k32.f32.e4m3.e5m2"
template <> struct WarpgroupMultiplier<e4m3, e5m2> {
  SWAGE_WARPGROUP_MULTIPLIER(SWAGE_SHARED, SWAGE_REGISTERS)
};
#undef SWAGE_TYPES
#define SWAGE_TYPES "k32.f32.e5m2.e4m3"
template <> struct WarpgroupMultiplier<e5m2, e4m3> {
  SWAGE_WARPGROUP_MULTIPLIER(SWAGE_SHARED, SWAGE_REGISTERS)
};
#undef SWAGE_TYPES
#define SWAGE_TYPES "k32.f32.e5m2.e5m2"
template <> struct WarpgroupMultiplier<e5m2, e5m2> {
  SWAGE_WARPGROUP_MULTIPLIER(SWAGE_SHARED, SWAGE_REGISTERS)
};
#undef SWAGE_TYPES
} // namespace ptx
} // namespace swage
