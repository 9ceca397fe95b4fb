// Matrix instructions of a warpgroup (wgmma): f16, bf16 and tf32.
#pragma once

#include "swage/device/cpu/elements.cuh"
#include "swage/device/cpu/shared.cuh"

namespace swage {

/// How 16-byte pieces are permuted in shared memory: within rows of that many bytes, by the row.
enum class Swizzle { None, B32, B64, B128 };

__device__ __forceinline__ unsigned long long matrixDescriptor(SharedAddress start,
                                                               unsigned leadingBytes,
                                                               unsigned strideBytes,
                                                               Swizzle swizzle) {
  const unsigned low = (start & 0x3ffffu) >> 4 | (leadingBytes & 0x3ffffu) >> 4 << 16;
  const unsigned high = (strideBytes & 0x3ffffu) >> 4 | ((4u - static_cast<unsigned>(swizzle)) & 3u)
                                                            << 30;
  return static_cast<unsigned long long>(high) << 32 | low;
}

__device__ __forceinline__ void warpgroupFence() { simt::abi->warpgroupFence(); }
__device__ __forceinline__ void warpgroupCommit() { simt::abi->warpgroupCommit(); }
template <int Pending> __device__ __forceinline__ void warpgroupWait() {
  static_assert(Pending >= 0 && Pending <= 7);
  simt::abi->warpgroupWait(Pending);
}

template <int Count> __device__ __forceinline__ void pinRegisters(float (&registers)[Count]) {}
template <int Count> __device__ __forceinline__ void pinRegisters(unsigned (&registers)[Count]) {}

namespace simt {
/// wgmma_float8.cuh adds the others.
template <class A, class B>
constexpr bool kWarpgroupMultiplies = kSame<A, B> &&
                                      (kSame<A, f16> || kSame<A, bf16> || kSame<A, tf32>);
} // namespace simt

template <class A, int N, bool TransposeA = false, bool TransposeB = false, class B = A,
          int Steps = 1, int StrideA = 0, int StrideB = 0>
__device__ __forceinline__ void warpgroupMultiply(float (&d)[N / 2], unsigned long long a,
                                                  unsigned long long b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static_assert(sizeof(A) == 2 || (!TransposeA && !TransposeB));
  static_assert(Steps >= 1 && Steps <= 4);
  static_assert(simt::kWarpgroupMultiplies<A, B>,
                "no instruction takes these elements; for 8-bit floats include "
                "swage/device/wgmma_float8.cuh");
  for (unsigned step = 0; step < Steps; ++step) {
    const simt::WarpgroupMultiply multiply = {simt::ElementOf<A>::kValue,
                                              simt::ElementOf<B>::kValue,
                                              N,
                                              d,
                                              nullptr,
                                              a + step * StrideA,
                                              b + step * StrideB,
                                              accumulate || step != 0,
                                              TransposeA,
                                              TransposeB};
    simt::abi->warpgroupMultiply(&multiply);
  }
}

template <class A, int N, bool TransposeB = false, class B = A, int Steps = 1, int StrideB = 0>
__device__ __forceinline__ void warpgroupMultiplyRegisters(float (&d)[N / 2],
                                                           const unsigned (*a)[4],
                                                           unsigned long long b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static_assert(sizeof(A) == 2 || !TransposeB);
  static_assert(Steps >= 1 && Steps <= 4);
  static_assert(simt::kWarpgroupMultiplies<A, B>,
                "no instruction takes these elements; for 8-bit floats include "
                "swage/device/wgmma_float8.cuh");
  for (unsigned step = 0; step < Steps; ++step) {
    const simt::WarpgroupMultiply multiply = {simt::ElementOf<A>::kValue,
                                              simt::ElementOf<B>::kValue,
                                              N,
                                              d,
                                              a[step],
                                              0,
                                              b + step * StrideB,
                                              accumulate || step != 0,
                                              false,
                                              TransposeB};
    simt::abi->warpgroupMultiply(&multiply);
  }
}

} // namespace swage
