// Lanes of a warp: who they are, and exchange between them.  `lanes` names those that take part,
// one bit each: all of them call, with the same `lanes`, and a lane may read only from one of them.
// What is passed has 1, 2, 4, 8 or 16 bytes; each 32-bit word is one instruction.
#pragma once

namespace swage {

enum : int { kWarpSize = 32 };
enum : unsigned { kAllLanes = 0xffffffffu };

__device__ __forceinline__ unsigned laneIndex() { return threadIdx.x % kWarpSize; }
/// The warp's place in its block.  The compiler does not know that it is the same in all lanes;
/// shuffleFrom(warpIndex(), 0) tells it.
__device__ __forceinline__ unsigned warpIndex() { return threadIdx.x / kWarpSize; }

namespace ptx {
/// `value` with each of its words replaced by what `exchange` makes of it.
template <class T, class Exchange>
__device__ __forceinline__ T byWords(T value, Exchange exchange) {
  if constexpr (sizeof(T) == 1) {
    const unsigned word = exchange(__builtin_bit_cast(unsigned char, value));
    return __builtin_bit_cast(T, static_cast<unsigned char>(word));
  } else if constexpr (sizeof(T) == 2) {
    const unsigned word = exchange(__builtin_bit_cast(unsigned short, value));
    return __builtin_bit_cast(T, static_cast<unsigned short>(word));
  } else if constexpr (sizeof(T) == 4) {
    // The common case by itself: the loop below would cost its unrolling at every call.
    return __builtin_bit_cast(T, exchange(__builtin_bit_cast(unsigned, value)));
  } else {
    static_assert(sizeof(T) == 8 || sizeof(T) == 16);
    struct Words {
      unsigned at[sizeof(T) / 4];
    };
    auto words = __builtin_bit_cast(Words, value);
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 4; ++i)
      words.at[i] = exchange(words.at[i]);
    return __builtin_bit_cast(T, words);
  }
}
} // namespace ptx

/// The value that lane (own lane ^ mask) passed in.
template <class T>
__device__ __forceinline__ T shuffleXor(T value, int mask, unsigned lanes = kAllLanes) {
  if constexpr (sizeof(T) == 4) // by itself: most shuffles are this, and compile in less time
    return __builtin_bit_cast(T, __shfl_xor_sync(lanes, __builtin_bit_cast(unsigned, value), mask));
  else
    return ptx::byWords(value, [=](unsigned word) { return __shfl_xor_sync(lanes, word, mask); });
}

/// The value of lane `lane` within every aligned group of `width` lanes (a power of two).
template <class T>
__device__ __forceinline__ T shuffleFrom(T value, int lane, int width = kWarpSize,
                                         unsigned lanes = kAllLanes) {
  if constexpr (sizeof(T) == 4) // by itself: most shuffles are this, and compile in less time
    return __builtin_bit_cast(T, __shfl_sync(lanes, __builtin_bit_cast(unsigned, value), lane, width));
  else
    return ptx::byWords(value, [=](unsigned word) { return __shfl_sync(lanes, word, lane, width); });
}

/// The value of the lane that is `delta` (0 to 31) below; the own one where the group has none.
template <class T>
__device__ __forceinline__ T shuffleUp(T value, unsigned delta, int width = kWarpSize,
                                       unsigned lanes = kAllLanes) {
  return ptx::byWords(value,
                      [=](unsigned word) { return __shfl_up_sync(lanes, word, delta, width); });
}

/// The value of the lane that is `delta` (0 to 31) above; the own one where the group has none.
template <class T>
__device__ __forceinline__ T shuffleDown(T value, unsigned delta, int width = kWarpSize,
                                         unsigned lanes = kAllLanes) {
  return ptx::byWords(value,
                      [=](unsigned word) { return __shfl_down_sync(lanes, word, delta, width); });
}

/// The lanes meet; memory accesses before are visible to all of them after.  (Shuffles and votes
/// order nothing.)
__device__ __forceinline__ void syncWarp(unsigned lanes = kAllLanes) { __syncwarp(lanes); }

} // namespace swage
