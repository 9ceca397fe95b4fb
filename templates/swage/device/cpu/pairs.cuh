// Arithmetic on two 16-bit floats in a register.
#pragma once

#include "swage/device/cpu/types.cuh"

namespace swage {

// A float has more than twice the bits of either type, so that to round again changes nothing.
namespace simt {
template <class T, class F> unsigned eachHalf(T type, unsigned a, unsigned b, F f) {
  return narrowPair(type, f(widenHalf(type, a, false), widenHalf(type, b, false)),
                    f(widenHalf(type, a, true), widenHalf(type, b, true)));
}
} // namespace simt

__device__ __forceinline__ unsigned subtractPairs(f16, unsigned a, unsigned b) {
  return simt::eachHalf(f16{}, a, b, [](float x, float y) { return x - y; });
}
__device__ __forceinline__ unsigned subtractPairs(bf16, unsigned a, unsigned b) {
  return simt::eachHalf(bf16{}, a, b, [](float x, float y) { return x - y; });
}
__device__ __forceinline__ unsigned multiplyPairs(f16, unsigned a, unsigned b) {
  return simt::eachHalf(f16{}, a, b, [](float x, float y) { return x * y; });
}

} // namespace swage
