// Integer helpers that are one instruction on the machine: high products, byte permutes, bit casts.
#pragma once

namespace swage {

constexpr __device__ double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ull); }

/// The upper half of the full product.
__device__ __forceinline__ unsigned mulHigh(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
__device__ __forceinline__ unsigned long long mulHigh(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

/// The full product.
__device__ __forceinline__ unsigned long long multiplyWide(unsigned a, unsigned b) {
  return static_cast<unsigned long long>(a) * b;
}

/// Picks four of the eight bytes {a: 0..3, b: 4..7}; each hex digit of `selector` names one, lowest
/// first.
__device__ __forceinline__ unsigned permuteBytes(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7u) * 8 & 0xffu) << 8 * i;
  return result;
}

/// (value & mask) ^ others.
__device__ __forceinline__ unsigned maskedXor(unsigned value, unsigned mask, unsigned others) {
  return (value & mask) ^ others;
}

template <class To, class From> __device__ __forceinline__ To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

__device__ __forceinline__ int popCount(unsigned value) { return __builtin_popcount(value); }
__device__ __forceinline__ int popCount(unsigned long long value) { return __builtin_popcountll(value); }
__device__ __forceinline__ int leadingZeros(unsigned value) {
  return value ? __builtin_clz(value) : 32;
}
__device__ __forceinline__ int leadingZeros(unsigned long long value) {
  return value ? __builtin_clzll(value) : 64;
}

} // namespace swage
