// Lanes of a warp: who they are, and exchange between them.
#pragma once

namespace swage {

enum : int { kWarpSize = 32 };
enum : unsigned { kAllLanes = 0xffffffffu };

__device__ __forceinline__ unsigned laneIndex() { return simt::abi->current()->thread % kWarpSize; }
__device__ __forceinline__ unsigned warpIndex() { return simt::abi->current()->thread / kWarpSize; }

namespace simt {
template <class T>
__forceinline__ T shuffle(T value, unsigned source, unsigned lanes, const char *name) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 ||
                sizeof(T) == 16);
  abi->shuffle(lanes, &value, sizeof(T), source, name);
  return value;
}
} // namespace simt

/// The value that lane (own lane ^ mask) passed in.
template <class T>
__device__ __forceinline__ T shuffleXor(T value, int mask, unsigned lanes = kAllLanes) {
  const unsigned source = (laneIndex() ^ static_cast<unsigned>(mask)) & 31u;
  return simt::shuffle(value, source, lanes, "shuffleXor");
}

/// The value of lane `lane` within every aligned group of `width` lanes (a power of two).
template <class T>
__device__ __forceinline__ T shuffleFrom(T value, int lane, int width = kWarpSize,
                                         unsigned lanes = kAllLanes) {
  const unsigned inGroup = static_cast<unsigned>(width) - 1;
  const unsigned source = (laneIndex() & ~inGroup) | (static_cast<unsigned>(lane) & inGroup);
  return simt::shuffle(value, source, lanes, "shuffleFrom");
}

/// The value of the lane that is `delta` (0 to 31) below; the own one where the group has none.
template <class T>
__device__ __forceinline__ T shuffleUp(T value, unsigned delta, int width = kWarpSize,
                                       unsigned lanes = kAllLanes) {
  const unsigned lane = laneIndex(), inGroup = static_cast<unsigned>(width) - 1;
  const unsigned source = (lane & inGroup) >= (delta & 31u) ? lane - (delta & 31u) : lane;
  return simt::shuffle(value, source, lanes, "shuffleUp");
}

/// The value of the lane that is `delta` (0 to 31) above; the own one where the group has none.
template <class T>
__device__ __forceinline__ T shuffleDown(T value, unsigned delta, int width = kWarpSize,
                                         unsigned lanes = kAllLanes) {
  const unsigned lane = laneIndex(), inGroup = static_cast<unsigned>(width) - 1;
  const unsigned source = (lane & inGroup) + (delta & 31u) <= inGroup ? lane + (delta & 31u) : lane;
  return simt::shuffle(value, source, lanes, "shuffleDown");
}

__device__ __forceinline__ void syncWarp(unsigned lanes = kAllLanes) { simt::abi->syncWarp(lanes); }

} // namespace swage
