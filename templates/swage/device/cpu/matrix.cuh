// Matrix instructions of one warp: ldmatrix, stmatrix, movmatrix, mma.sync.
#pragma once

#include "swage/device/cpu/elements.cuh"
#include "swage/device/cpu/shared.cuh"
#include "swage/device/cpu/warp.cuh"

namespace swage {

template <int Count, bool Transposed = false>
__device__ __forceinline__ void loadMatrix(SharedAddress row, unsigned (&registers)[Count]) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  simt::abi->loadMatrix(Count, Transposed, row, registers);
}

template <int Count, bool Transposed = false>
__device__ __forceinline__ void storeMatrix(SharedAddress row, const unsigned (&registers)[Count]) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  simt::abi->storeMatrix(Count, Transposed, row, registers);
}

__device__ __forceinline__ unsigned transposeMatrix(unsigned piece) {
  const int row = static_cast<int>(laneIndex()) / 4, column = static_cast<int>(laneIndex()) % 4 * 2;
  const unsigned first = shuffleFrom(piece, column * 4 + row / 2),
                 second = shuffleFrom(piece, (column + 1) * 4 + row / 2);
  const int shift = row % 2 * 16;
  return (first >> shift & 0xffffu) | (second >> shift & 0xffffu) << 16;
}

/// What products of the element are summed up in.
template <class A> struct Accumulator { using Type = float; };
template <> struct Accumulator<s8> { using Type = int; };
template <> struct Accumulator<u8> { using Type = int; };

template <class A, class B = A>
__device__ __forceinline__ void multiply(typename Accumulator<A>::Type (&d)[4],
                                         const unsigned (&a)[4], const unsigned (&b)[2]) {
  static_assert(simt::kMultiplies<A, B>, "no instruction takes these elements");
  simt::abi->multiply(simt::ElementOf<A>::kValue, simt::ElementOf<B>::kValue, 32 / sizeof(A), d, a,
                      b);
}

} // namespace swage
