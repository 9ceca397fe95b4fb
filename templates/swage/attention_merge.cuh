// How what several warps or blocks have found out about some keys of the same queries becomes one:
// of each part the highest scores m, the sums of weights l = sum_j exp(s_j - m) and the weighted
// values o = sum_j exp(s_j - m) v_j.  See attention_decode.cuh.
#pragma once

#include "swage/attention_chunks.cuh"
#include "swage/attention_softmax.cuh"
#include "swage/tickets.cuh"

namespace swage::detail {

/// A part in memory: each row's outputs, m and l.  Rows lie 8 words further apart than a multiple
/// of 32, so that four of them are written at once.
template <class Spec> struct PartLayout {
  enum : int { kRow = (Spec::kValueDim + 2 + 23) / 32 * 32 + 8, kBytes = Spec::kRows * kRow * 4 };
  static __device__ __forceinline__ int outputAt(int row, int column) {
    return (row * kRow + column) * 4;
  }
  static __device__ __forceinline__ int rowAt(int row) {
    return (row * kRow + Spec::kValueDim) * 4;
  }
};

/// What a part says of some neighbouring outputs.
template <int Columns> struct PartColumns {
  unsigned ofRow[2], output[Columns];

  __device__ __forceinline__ float highest() const { return __builtin_bit_cast(float, ofRow[0]); }
  __device__ __forceinline__ float sum() const { return __builtin_bit_cast(float, ofRow[1]); }
  __device__ __forceinline__ float outputOf(int i) const {
    return __builtin_bit_cast(float, output[i]);
  }
  /// One that has seen nothing.
  static __device__ __forceinline__ PartColumns none() {
    return {{__builtin_bit_cast(unsigned, unseen()), 0}, {}};
  }
};

/// Some neighbouring outputs of a row, of some parts together.
template <int Columns> struct MergedColumns {
  using Part = PartColumns<Columns>;
  float highest = unseen(), sum = 0.0f, output[Columns] = {};

  /// What is merged, as a part of more.
  __device__ __forceinline__ Part part() const {
    Part all{{__builtin_bit_cast(unsigned, highest), __builtin_bit_cast(unsigned, sum)}, {}};
#pragma unroll
    for (int i = 0; i < Columns; ++i)
      all.output[i] = __builtin_bit_cast(unsigned, output[i]);
    return all;
  }
  /// Takes parts in, whose factors do not wait for each other; one that has seen nothing adds
  /// nothing.
  template <int Count>
  __device__ __forceinline__ void add(const Part (&parts)[Count], float scaleLog2) {
    float most = highest;
#pragma unroll
    for (const Part &part : parts)
      most = maximumNumberOf(most, part.highest());
    const float before = highest == unseen() ? 0.0f : exp2Fast((highest - most) * scaleLog2);
    highest = most;
    sum *= before;
#pragma unroll
    for (float &one : output)
      one *= before;
#pragma unroll
    for (const Part &part : parts) {
      const float high = part.highest();
      const float factor = high == unseen() ? 0.0f : exp2Fast((high - most) * scaleLog2);
      sum = fma(part.sum(), factor, sum);
#pragma unroll
      for (int i = 0; i < Columns; ++i)
        output[i] = fma(part.outputOf(i), factor, output[i]);
    }
  }
};

/// Of a unit that has begun before the block's span, of one that begins in it; and of a group of a
/// unit's blocks, the n-th one beside the n-th block.
enum class PartOf : unsigned { Carried, Begun, Group, Count };

/// The blocks that have keys of a unit, and the one of their groups that a block is in.  There is
/// one group, or, where that would take a block longer than two, about as many as each then has
/// parts.  `AtOnce`: how many parts a block reads in the time of one.
template <unsigned AtOnce> struct BlockGroup {
  unsigned first, count;    ///< blocks in all
  unsigned number, ofGroup; ///< which group it is, and the blocks of each but the last one
  unsigned leader, members; ///< of the group

  __device__ __forceinline__ BlockGroup(unsigned first, unsigned last, unsigned block)
      : first(first), count(last + 1 - first), number(0), ofGroup(count), leader(first),
        members(count) {
    if (count > 2 * AtOnce) {
      for (ofGroup = AtOnce; ofGroup * ofGroup < count;)
        ofGroup *= 2;
      number = (block - first) / ofGroup;
      leader += number * ofGroup;
      const unsigned left = first + count - leader;
      members = left < ofGroup ? left : ofGroup;
    }
  }
  /// What a block of the unit leaves.
  __device__ __forceinline__ PartOf kindOf(unsigned block) const {
    return block == first ? PartOf::Begun : PartOf::Carried;
  }
};

/// Where blocks leave their parts for who comes last: a part of each kind and a counter for each of
/// these.  Chunks of a unit each leave one, and are not merged in groups.
template <class Spec> struct Parts {
  static constexpr __device__ unsigned chunks() {
    if constexpr (IsChunked<Spec>)
      return Spec::kChunks;
    return 1;
  }
  enum : unsigned {
    kKinds = static_cast<unsigned>(IsChunked<Spec> ? PartOf::Group : PartOf::Count),
    kStep = kKinds * PartLayout<Spec>::kBytes ///< from a part to the next block's
  };
  char *scratch;
  unsigned blocks;

  __device__ __forceinline__ unsigned long long *tickets(unsigned block, PartOf kind) const {
    return reinterpret_cast<unsigned long long *>(scratch) + placeOf(block, kind);
  }
  __device__ __forceinline__ char *at(unsigned block, PartOf kind, unsigned chunk = 0) const {
    return scratch + (blocks * (kKinds * 8) + 15) / 16 * 16 +
           static_cast<unsigned long long>(placeOf(block, kind) * chunks() + chunk) *
               PartLayout<Spec>::kBytes;
  }

private:
  static __device__ __forceinline__ unsigned placeOf(unsigned block, PartOf kind) {
    return block * kKinds + static_cast<unsigned>(kind);
  }
};

} // namespace swage::detail
