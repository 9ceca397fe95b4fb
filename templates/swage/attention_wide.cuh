// Products of f32 for attention, on tensor cores, which take tf32: 11 bits of an f32.
//
// An operand is cut in two, x = high + low, of which tensor cores take 22 bits together, and a
// product is high high + high low + low high: what is left out is some 2^-22 of it.  Tensor cores
// cut what they add up, so sums of a few steps are taken to sums of f32.  Where x is infinite low
// is no number; high high alone counts then, which is what the product is.
//
// Or, where the Spec says so (IsTf32), a product is that of the nearest tf32 of queries and weights
// and of keys and values as tensor cores cut them.  A NaN of which these leave no bit, which no
// operation makes, is an infinity then.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/device/math.cuh"
#include "swage/device/matrix.cuh"

namespace swage::detail {

/// The nearest tf32 of what is finite, with bits behind it that tensor cores cut.
__device__ __forceinline__ unsigned nearestTf32(unsigned word) {
  return abs(bitCast<float>(word)) < -unseen() ? word + 0x1000u : word;
}

/// A fragment of tf32 and what that leaves of f32.  Magnitudes from 2^128 - 2^116 on are infinite.
template <int Count> struct SplitFragment {
  unsigned high[Count], low[Count];

  static __device__ __forceinline__ SplitFragment of(const unsigned (&words)[Count]) {
    SplitFragment split;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      split.high[i] = (words[i] + 0x1000u) & 0xffffe000u;
      split.low[i] = bitCast<unsigned>(bitCast<float>(words[i]) - bitCast<float>(split.high[i]));
    }
    return split;
  }
};

/// Accumulators of 16 `Atoms` rows and 8 `Tiles` columns.
template <int Atoms, int Tiles> struct TileSums {
  float of[Atoms][Tiles][4];

  __device__ __forceinline__ TileSums() {
#pragma unroll
    for (int i = 0; i < 4 * Atoms * Tiles; ++i)
      of[i / 4 / Tiles][i / 4 % Tiles][i % 4] = 0.0f;
  }
};

/// Adds the products of one step to `high`, and to `low` what corrects them: those that wait for
/// each other far apart.
template <int Atoms, int Tiles>
__device__ __forceinline__ void multiplySplit(TileSums<Atoms, Tiles> &high,
                                              TileSums<Atoms, Tiles> &low,
                                              const SplitFragment<4> (&a)[Atoms],
                                              const SplitFragment<2> (&b)[Tiles]) {
  const auto each = [](auto &&f) {
#pragma unroll
    for (int atom = 0; atom < Atoms; ++atom)
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile)
        f(atom, tile);
  };
  each([&](int i, int j) { multiply<tf32>(low.of[i][j], a[i].low, b[j].high); });
  each([&](int i, int j) { multiply<tf32>(high.of[i][j], a[i].high, b[j].high); });
  each([&](int i, int j) { multiply<tf32>(low.of[i][j], a[i].high, b[j].low); });
}

/// A sum with its correction.
__device__ __forceinline__ float corrected(float high, float low) {
  return abs(high) == -unseen() ? high : high + low;
}

} // namespace swage::detail
