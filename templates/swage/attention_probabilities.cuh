// The weights of all keys, divided by their sums, as a result of attention of few queries.
//
// The warp that multiplies a key stores its final scores in their places.  Who concludes the unit
// knows the rows' maxima and sums, and makes probabilities of them there: they take no other
// memory, and no score is computed twice.  What other blocks have stored comes in order with the
// parts that they leave.  Weights of the sum are powers of differences here, not of what was
// rounded for score and maximum apart: quotients of both are results in f32.  See
// attention_decode.cuh.
#pragma once

#include "swage/attention_softmax.cuh"
#include "swage/attention_spans.cuh"

namespace swage::detail {

template <class Operands> struct OnlyOf;
template <class Operand> struct OnlyOf<List<Operand>> { using Type = Operand; };

/// What a row's scores become probabilities by, in shared memory.
struct ProbabilityRow {
  enum : int { kBytes = 8 };
  float bottom, scale; ///< subtracted from scores, multiplied by powers

  __device__ __forceinline__ void store(char *rows, int row) const {
    const unsigned words[2] = {__builtin_bit_cast(unsigned, bottom),
                               __builtin_bit_cast(unsigned, scale)};
    storeShared<8>(rows + row * kBytes, words);
  }
  static __device__ __forceinline__ ProbabilityRow load(const char *rows, int row) {
    unsigned words[2];
    loadShared<8>(rows + row * kBytes, words);
    return {__builtin_bit_cast(float, words[0]), __builtin_bit_cast(float, words[1])};
  }
};

/// Stores a thread's scores of some keys, from `firstKey` on, if these exist.
template <class Spec, bool Masked, class Arguments>
__device__ __forceinline__ void
keepScores(const AttentionRows<Spec, Arguments> &rows,
           const float (&scores)[AttentionRows<Spec, Arguments>::kScores], int firstKey,
           const PackedTile &tile) {
  using Places = ScorePlaces<Spec>;
  using Operand = typename OnlyOf<typename Spec::ProbabilityStores>::Type;
  // Of aligned vectors of four keys, which exist or not as a whole, neighbours come together.
  constexpr int kTogether = Places::kSecondKey == 1 && Operand::access() == Access::Vector ? 2 : 1;
  const Arguments &arguments = rows.arguments;
  auto *const to = static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = rows.first + Places::kSecondRow * r;
    if (row - tile.firstQuery >= rowsOf<Spec>(tile, arguments))
      continue;
#pragma unroll
    for (int j = 0; j < Places::kGroups; ++j)
#pragma unroll
      for (int c = 0; c < 2; c += kTogether) {
        const int key = firstKey + Places::kGroupKeys * j + Places::kSecondKey * c;
        if (Masked && !Spec::kWholeBlocks && key >= arguments.keys())
          continue;
        Vector<float, kTogether> kept;
        float values[kTogether];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          values[i] = scores[Places::at(j, r, c + i)];
          if constexpr (HasOffset<Spec>)
            values[i] += rows.offset[r];
        }
        kept.assign(values);
        kept.store(to + Operand::offset(tile.template at<typename Spec::Coord>(row, key),
                                        arguments.sizes));
      }
  }
}

/// Makes a unit's probabilities of its scores, by all threads of a block.  Keys that none of its
/// queries sees have no score.
template <class Spec, int Threads, class Arguments>
__device__ __forceinline__ void makeProbabilities(const Arguments &arguments,
                                                  const PackedTile &tile, const char *rows) {
  using Operand = typename OnlyOf<typename Spec::ProbabilityStores>::Type;
  enum : int { kWidth = Operand::access() == Access::Vector ? 4 : 1, kAtOnce = 4 };
  using Keys = Vector<float, kWidth>;
  auto *const pointer = static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer;
  const int ofRow = arguments.keys() / kWidth, all = rowsOf<Spec>(tile, arguments) * ofRow;
#pragma unroll 1
  for (int begin = static_cast<int>(threadIndex()); begin < all; begin += kAtOnce * Threads) {
    Keys scores[kAtOnce];
    float *at[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (const int place = begin + i * Threads; place < all) {
        const int key = place % ofRow * kWidth;
        at[i] = pointer + Operand::offset(tile.template at<typename Spec::Coord>(
                                              tile.firstQuery + place / ofRow, key),
                                          arguments.sizes);
        if (key < tile.endKey && key + kWidth > tile.firstKey)
          scores[i].template fetch<Traffic::Coherent>(at[i]);
      }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (const int place = begin + i * Threads; place < all) {
        const int key = place % ofRow * kWidth;
        const auto row = ProbabilityRow::load(rows, place / ofRow);
        float values[kWidth];
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const bool hasScore = key + k >= tile.firstKey && key + k < tile.endKey;
          const float score = hasScore ? scores[i].value(k) : unseen();
          const float power =
              exp2Fast((score - row.bottom) * AttentionRows<Spec, Arguments>::scaleLog2());
          Spec::probability(power * row.scale, values[k]);
        }
        scores[i].assign(values);
        scores[i].store(at[i]);
      }
  }
}

} // namespace swage::detail
