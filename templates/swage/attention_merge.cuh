// How what several warps or blocks have found out about some keys of the same queries becomes one:
// of each part the highest scores m, the sums of weights l = sum_j exp(s_j - m) and the weighted
// values o = sum_j exp(s_j - m) v_j.  See attention_decode.cuh.
#pragma once

#include "swage/attention_softmax.cuh"
#include "swage/tickets.cuh"

namespace swage::detail {

/// A part in memory: each row's outputs, m and l.  Rows lie 8 words further apart than a multiple
/// of 32, so that four of them are written at once.
template <class Spec> struct PartLayout {
  enum : int {
    kRow = (Spec::kValueDim + 2 + 23) / 32 * 32 + 8,
    kBytes = Spec::kRows * kRow * 4,
    kPairs = Spec::kValueDim / 2
  };
  static __device__ __forceinline__ int outputAt(int row, int column) {
    return (row * kRow + column) * 4;
  }
  static __device__ __forceinline__ int rowAt(int row) {
    return (row * kRow + Spec::kValueDim) * 4;
  }
};

/// What a part says of two neighbouring outputs.
struct PartPair {
  unsigned ofRow[2], output[2];

  __device__ __forceinline__ float highest() const { return __builtin_bit_cast(float, ofRow[0]); }
  __device__ __forceinline__ float sum() const { return __builtin_bit_cast(float, ofRow[1]); }
  __device__ __forceinline__ float outputOf(int i) const {
    return __builtin_bit_cast(float, output[i]);
  }
  /// One that has seen nothing.
  static __device__ __forceinline__ PartPair none() {
    return {{__builtin_bit_cast(unsigned, unseen()), 0}, {0, 0}};
  }
};

/// Two neighbouring outputs of a row, of some parts together.
struct MergedPair {
  float highest = unseen(), sum = 0.0f, output[2] = {0.0f, 0.0f};

  /// Takes parts in, whose factors do not wait for each other; one that has seen nothing adds
  /// nothing.
  template <int Count>
  __device__ __forceinline__ void add(const PartPair (&parts)[Count], float scaleLog2) {
    float most = highest;
#pragma unroll
    for (const PartPair &part : parts)
      most = maximumNumberOf(most, part.highest());
    const float before = highest == unseen() ? 0.0f : exp2Fast((highest - most) * scaleLog2);
    highest = most;
    sum *= before;
    output[0] *= before;
    output[1] *= before;
#pragma unroll
    for (const PartPair &part : parts) {
      const float high = part.highest();
      const float factor = high == unseen() ? 0.0f : exp2Fast((high - most) * scaleLog2);
      sum = fma(part.sum(), factor, sum);
      output[0] = fma(part.outputOf(0), factor, output[0]);
      output[1] = fma(part.outputOf(1), factor, output[1]);
    }
  }
};

/// Where blocks leave their parts for who comes last: a counter for each block, and two parts.
template <class Spec> struct Parts {
  char *scratch;
  unsigned blocks;

  /// Of the unit whose first tile is in this block's span, and last one in a later block's.
  __device__ __forceinline__ unsigned long long *tickets(unsigned block) const {
    return reinterpret_cast<unsigned long long *>(scratch) + block;
  }
  /// Of a unit that begins in the block's span, or has begun before it.
  __device__ __forceinline__ char *at(unsigned block, bool begins) const {
    return scratch + (blocks * 8 + 15) / 16 * 16 +
           static_cast<unsigned long long>(block * 2 + begins) * PartLayout<Spec>::kBytes;
  }
};

} // namespace swage::detail
