// Exchange between the lanes of a warp.
#pragma once

namespace swage {

constexpr int kWarpSize = 32;

/// The value that lane (own lane ^ mask) passed in; 4- and 8-byte types.
template <class T> __device__ __forceinline__ T shuffleXor(T value, int mask) {
  simt::abi->shuffle(0xffffffffu, &value, sizeof(T),
                     (simt::abi->current()->thread ^ static_cast<unsigned>(mask)) & 31u, "shuffleXor");
  return value;
}

/// The value of lane `lane` within every aligned group of `width` lanes (a power of two).
template <class T> __device__ __forceinline__ T shuffleFrom(T value, int lane, int width) {
  const unsigned inGroup = static_cast<unsigned>(width) - 1;
  simt::abi->shuffle(0xffffffffu, &value, sizeof(T),
                     (simt::abi->current()->thread & 31u & ~inGroup) |
                         (static_cast<unsigned>(lane) & inGroup),
                     "shuffleFrom");
  return value;
}

} // namespace swage
