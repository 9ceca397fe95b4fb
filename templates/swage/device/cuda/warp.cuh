// Exchange between the lanes of a warp.  All 32 lanes take part in every call.
#pragma once

namespace swage {

constexpr int kWarpSize = 32;

/// The value that lane (own lane ^ mask) passed in; 4- and 8-byte types.
template <class T> __device__ __forceinline__ T shuffleXor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

/// The value of lane `lane` within every aligned group of `width` lanes (a power of two).
template <class T> __device__ __forceinline__ T shuffleFrom(T value, int lane, int width) {
  return __shfl_sync(0xffffffffu, value, lane, width);
}

} // namespace swage
