// Arithmetic on two 16-bit floats in a register, as `narrowPair` makes them: one instruction for
// both, rounded to nearest even.
#pragma once

#include "swage/device/cuda/types.cuh"

namespace swage {

/// Needs 8.0.
__device__ __forceinline__ unsigned subtractPairs(f16, unsigned a, unsigned b) {
  unsigned difference;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
}
__device__ __forceinline__ unsigned subtractPairs(bf16, unsigned a, unsigned b) {
  unsigned difference;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(difference) : "r"(b), "r"(0xbf80bf80u), "r"(a));
  return difference;
}
__device__ __forceinline__ unsigned multiplyPairs(f16, unsigned a, unsigned b) {
  unsigned product;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
}

} // namespace swage
