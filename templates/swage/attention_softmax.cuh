// Softmax of scores that come block by block: what a thread knows of its two rows.  Element
// 4 j + 2 r + c of an accumulator is in the thread's row r, the second of which is 8 below the
// first, and in column 8 j + c from the thread's first one.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/device/math.cuh"

namespace swage::detail {

template <class Spec> struct AttentionRows {
  enum : int { kScores = Spec::kKeys / 2 };

  const AttentionArguments &arguments;
  int first;
  float highest[2], sum[2];
  float rescale[2]; ///< what earlier outputs are multiplied by

  __device__ __forceinline__ void begin(int row) {
    first = row;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      highest[r] = unseen();
      sum[r] = 0.0f;
    }
  }

  /// The score function, and then the mask: what is not seen becomes -infinity.
  template <bool Masked>
  __device__ __forceinline__ void modify(float (&scores)[kScores], int firstColumn,
                                         const AttentionTile *tile) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first + 8 * r;
      const int seen = seenKeys<Spec>(row, arguments) - firstColumn;
#pragma unroll
      for (int j = 0; j < Spec::kKeys / 8; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float &score = scores[4 * j + 2 * r + c];
          if constexpr (Spec::kModifies)
            score = Spec::score(score, arguments, tile->batch, tile->head, row,
                                firstColumn + 8 * j + c);
          if (Masked && j * 8 + c >= seen)
            score = unseen();
        }
    }
  }

  /// The highest score of each row so far, and what earlier sums and outputs are multiplied by.
  template <bool Masked> __device__ __forceinline__ void raise(const float (&scores)[kScores]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = maximumNumberOf(scores[2 * r], scores[2 * r + 1]);
#pragma unroll
      for (int j = 1; j < Spec::kKeys / 8; ++j)
        most = maximumNumberOf(most,
                               maximumNumberOf(scores[4 * j + 2 * r], scores[4 * j + 2 * r + 1]));
      most = maximumNumberOf(most, shuffleXor(most, 1));
      most = maximumNumberOf(most, shuffleXor(most, 2));
      most = maximumNumberOf(most, highest[r]);
      if constexpr (Spec::kPatience > 0)
        if ((most - highest[r]) * arguments.scaleLog2 <= float(Spec::kPatience))
          most = highest[r];
      rescale[r] = exp2Fast((highest[r] - most) * arguments.scaleLog2);
      if (Masked && most == unseen())
        rescale[r] = 1.0f;
      highest[r] = most;
    }
  }

  /// Scores to powers of two, and their sum.
  template <bool Masked> __device__ __forceinline__ void exponentials(float (&scores)[kScores]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float shift =
          Masked && highest[r] == unseen() ? 0.0f : highest[r] * arguments.scaleLog2;
      float added = 0.0f;
#pragma unroll
      for (int j = 0; j < Spec::kKeys / 8; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float &score = scores[4 * j + 2 * r + c];
          score = exp2Fast(fma(score, arguments.scaleLog2, -shift));
          added += score;
        }
      sum[r] = sum[r] * rescale[r] + added;
    }
  }

  /// After the last block: what the outputs are multiplied by; and log-sum-exp, by one lane of the
  /// four that share a row.
  __device__ __forceinline__ void end(float (&scales)[2], bool writes, float *logSums) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float total = sum[r] + shuffleXor(sum[r], 1);
      total += shuffleXor(total, 2);
      scales[r] = total == 0.0f ? 0.0f : reciprocal(total);
      const int row = first + 8 * r;
      if (writes && row < arguments.queries)
        logSums[row] = total == 0.0f ? unseen()
                                     : (highest[r] * arguments.scaleLog2 + log2Fast(total)) *
                                           0.6931471805599453f;
    }
  }
};

} // namespace swage::detail
