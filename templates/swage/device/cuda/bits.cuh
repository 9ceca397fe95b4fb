// Integer helpers that are one instruction on the machine: high products, byte permutes, bit casts.
#pragma once

namespace swage {

constexpr __device__ double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ull); }

/// The upper half of the full product.
__device__ __forceinline__ unsigned mulHigh(unsigned a, unsigned b) { return __umulhi(a, b); }
__device__ __forceinline__ unsigned long long mulHigh(unsigned long long a, unsigned long long b) {
  return __umul64hi(a, b);
}

/// The full product.
__device__ __forceinline__ unsigned long long multiplyWide(unsigned a, unsigned b) {
  unsigned long long product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
}

/// Picks four of the eight bytes {a: 0..3, b: 4..7}; each hex digit of `selector` names one, lowest
/// first.
__device__ __forceinline__ unsigned permuteBytes(unsigned a, unsigned b, unsigned selector) {
  return __byte_perm(a, b, selector);
}

/// (value & mask) ^ others.  Of two constants the compiler would make two instructions.
__device__ __forceinline__ unsigned maskedXor(unsigned value, unsigned mask, unsigned others) {
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(result) : "r"(value), "r"(mask), "r"(others));
  return result;
}

template <class To, class From> __device__ __forceinline__ To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

__device__ __forceinline__ int popCount(unsigned value) { return __popc(value); }
__device__ __forceinline__ int popCount(unsigned long long value) { return __popcll(value); }
__device__ __forceinline__ int leadingZeros(unsigned value) {
  return __clz(static_cast<int>(value));
}
__device__ __forceinline__ int leadingZeros(unsigned long long value) {
  return __clzll(static_cast<long long>(value));
}

} // namespace swage
