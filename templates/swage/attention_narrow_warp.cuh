// What a warp that decodes does with keys and values of 8 bits: products, softmax, its part of the
// result.  See attention_decode.cuh and attention_narrow.cuh.
//
// Keys and values are the left operands, so that a product is of 16 keys, or of 16 columns of
// values, and of eight queries, which are seldom more: scores have a row for each key, outputs one
// for each column.  Weights are transposed in between.
//
// Queries of bf16 become f16 after multiplication by a power of two for each row, which brings the
// largest element to 2^14 and which scores are divided by: what is lost is less than 2^-38 of that
// element.
#pragma once

#include "swage/attention_copy.cuh"
#include "swage/attention_merge.cuh"
#include "swage/attention_narrow.cuh"
#include "swage/attention_probabilities.cuh"
#include "swage/attention_softmax.cuh"
#include "swage/attention_spans.cuh"

namespace swage::detail {

/// Of kAtoms times eight queries.  Element 4 j + 2 c + r of an atom's scores is what ScorePlaces
/// says; of its outputs it is in the thread's row r and in column 16 j + 2 (lane / 4) + c.
template <class Spec, class Arguments, class WarpLayout, class Part> struct NarrowWarp {
  using Layout = WarpLayout;
  using Rows = AttentionRows<Spec, Arguments>;
  using Places = ScorePlaces<Spec>;
  using Element = typename Spec::Element;
  using Weight = typename WeightOf<Spec>::Type;
  enum : int {
    kAtoms = (Spec::kRows + 7) / 8,
    kSteps = Spec::kKeys / 16,
    kHeadSteps = Layout::kHeadSteps,
    kValueSteps = Spec::kValueDim / 16,
    kScores = Rows::kScores,
    kOutputs = 4 * kValueSteps
  };
  static_assert(Spec::kHeadDim % 16 == 0 && Spec::kValueDim % 16 == 0);
  using Scores = float[kAtoms][kScores];

  enum : bool {
    /// Registers of more queries have no room for it.
    kReadsBeside =
        kAtoms == 1 && !(Spec::InsideLoads::empty() && WeightLoadsOf<Spec>::Type::empty())
  };
  /// What is read beside some keys: factors, perhaps.  It is asked for while others are multiplied,
  /// so that nothing waits for it.
  struct Beside {
    Inputs<typename Spec::InsideLoads, 1, AttentionDim::Key> ofScores[kAtoms][kScores];
    Inputs<typename WeightLoadsOf<Spec>::Type, 1, AttentionDim::Key> ofWeights[kAtoms][kScores];
  };

  const Arguments &arguments;
  PackedTile tile;
  SharedAddress arena;
  int warp, lane;
  Rows rows[4]; ///< of which the first kAtoms are in use
  float output[kAtoms][kOutputs];
  float unscale[kAtoms][2];                ///< what scores are multiplied by
  Beside beside;                           ///< of the next keys to be multiplied
  unsigned queries[kAtoms][kHeadSteps][2]; ///< where they are held

  static __device__ __forceinline__ NarrowWarp of(const Arguments &arguments, SharedAddress arena,
                                                  int warp, int lane) {
    return {arguments, {}, arena, warp, lane, {{arguments}, {arguments}, {arguments}, {arguments}}};
  }

  __device__ __forceinline__ SharedAddress queriesAt(int atom) const {
    return Layout::queriesOf(arena, warp) + atom * 8 * Layout::kQueryRow;
  }

  /// A row of queries times the power of two that brings the largest of the elements that its four
  /// lanes have to 2^14; and the inverse of that.
  static __device__ __forceinline__ float scaleQueries(f16, unsigned (&)[kHeadSteps][2]) {
    return 1.0f;
  }
  static __device__ __forceinline__ float scaleQueries(bf16, unsigned (&words)[kHeadSteps][2]) {
    int most = 15 << 23; // the bits of what is not scaled further, so that the inverse is normal
#pragma unroll
    for (auto &step : words)
#pragma unroll
      for (const unsigned pair : step) {
        const int low = static_cast<int>(pair << 16 & 0x7fffffffu),
                  high = static_cast<int>(pair & 0x7fffffffu);
        most = most > low ? most : low;
        most = most > high ? most : high;
      }
#pragma unroll
    for (int lanes = 1; lanes < 4; lanes *= 2) {
      const int other = shuffleXor(most, lanes);
      most = most > other ? most : other;
    }
    const unsigned exponent = static_cast<unsigned>(most) >> 23;
    const float scale = __builtin_bit_cast(float, (268 - exponent) << 23);
#pragma unroll
    for (auto &step : words)
#pragma unroll
      for (unsigned &pair : step)
        pair = narrowPair(f16{}, widenHalf(bf16{}, pair, false) * scale,
                          widenHalf(bf16{}, pair, true) * scale);
    return __builtin_bit_cast(float, (exponent - 14) << 23);
  }

  /// The unit's queries as the right operand, in registers or for all warps in shared memory; those
  /// that pad eight rows are zero.
  __device__ __forceinline__ void loadQueries() {
    using Queries = typename Spec::Queries;
    const auto *const from = static_cast<const swage::Slot<Queries> &>(arguments.pointers).pointer;
    const int count = rowsOf<Spec>(tile, arguments);
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      const int row = 8 * atom + lane / 4;
      auto coord = tile.template at<typename Spec::Coord>(
          tile.firstQuery + (row < count ? row : count - 1), 0);
      coord[AttentionDim::HeadDim] = lane % 4 * 4;
      const auto *const own = from + Queries::offset(coord, arguments.sizes);
      unsigned words[kHeadSteps][2] = {};
      if (row < count)
#pragma unroll
        for (int step = 0; step < kHeadSteps; ++step) {
          loadGlobal<8, Queries::traffic()>(own + 16 * step, words[step]);
          orderAsKeys<typename Spec::Cache>(words[step]);
        }
      const float inverse = scaleQueries(Element{}, words);
#pragma unroll
      for (int r = 0; r < 2; ++r)
        unscale[atom][r] = shuffleFrom(inverse, 4 * (lane % 4 * 2 + r));
#pragma unroll
      for (int step = 0; step < kHeadSteps; ++step)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          if constexpr (Spec::kHoldsQuery)
            queries[atom][step][half] = words[step][half];
          else if (warp == 0)
            storeShared<4>(dynamicArena() + (queriesAt(atom) - sharedAddress(dynamicArena())) +
                               lane / 4 * Layout::kQueryRow +
                               (16 * step + 8 * half + lane % 4 * 2) * 2,
                           &words[step][half]);
    }
    if constexpr (!Spec::kHoldsQuery)
      barrier();
  }
  __device__ __forceinline__ void loadQuery(unsigned (&query)[2], int atom, int step) const {
    if constexpr (Spec::kHoldsQuery) {
      query[0] = queries[atom][step][0];
      query[1] = queries[atom][step][1];
    } else {
      loadMatrix<2>(queriesAt(atom) + lane % 8 * Layout::kQueryRow + lane / 8 % 2 * 16 + step * 32,
                    query);
    }
  }

  template <bool Sinks> __device__ __forceinline__ void begin() {
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      rows[atom].template begin<Sinks>(tile.firstQuery + 8 * atom + Places::rowOf(lane), tile);
#pragma unroll
      for (float &out : output[atom])
        out = 0.0f;
    }
  }

  /// 32 bytes of 16 keys, or the first 16 where there are no others.
  template <bool Transposed>
  static __device__ __forceinline__ void loadWords(SharedAddress row, bool isWhole,
                                                   unsigned (&words)[4]) {
    if (isWhole)
      return loadMatrix<4, Transposed>(row, words);
    unsigned half[2];
    loadMatrix<2, Transposed>(row, half);
    words[0] = half[0];
    words[1] = half[1];
  }

  /// scores = K Q^T: of eight queries two sums each, since one product waits for another.
  __device__ __forceinline__ void multiplyKeys(Scores &scores, int place) const {
    const SharedAddress keys = arena + Layout::kKeyAt + place * Layout::kKeyBytes;
    constexpr int kSums = kAtoms == 1 ? 2 : 1;
    float sums[kSteps][kAtoms][kSums][4] = {};
#pragma unroll
    for (int step = 0; step < kHeadSteps; step += 2) {
      const bool isWhole = step + 1 < kHeadSteps;
#pragma unroll
      for (int group = 0; group < kSteps; ++group) {
        unsigned words[4];
        loadWords<false>(Layout::narrowKeyAt(keys, lane, group, step / 2), isWhole, words);
#pragma unroll
        for (int half = 0; half < (isWhole ? 2 : 1); ++half) {
          unsigned key[4];
          widenKeys<Spec>(words + 2 * half, key);
#pragma unroll
          for (int atom = 0; atom < kAtoms; ++atom) {
            unsigned query[2];
            loadQuery(query, atom, step + half);
            multiply<f16>(sums[group][atom][half % kSums], key, query);
          }
        }
      }
    }
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
      for (int i = 0; i < kScores; ++i)
        scores[atom][i] =
            (kSums == 1 ? sums[i / 4][atom][0][i % 4]
                        : sums[i / 4][atom][0][i % 4] + sums[i / 4][atom][kSums - 1][i % 4]) *
            unscale[atom][i % 2];
  }

  /// output += V^T weights.
  __device__ __forceinline__ void multiplyValues(const unsigned (&weights)[kSteps][kAtoms][2],
                                                 int place) {
    const SharedAddress values = arena + Layout::kValueAt + place * Layout::kValueBytes;
#pragma unroll
    for (int group = 0; group < kSteps; ++group)
#pragma unroll
      for (int step = 0; step < kValueSteps; step += 2) {
        const bool isWhole = step + 1 < kValueSteps;
        unsigned words[4];
        loadWords<true>(Layout::valueAt(values, lane, group, step / 2), isWhole, words);
#pragma unroll
        for (int half = 0; half < (isWhole ? 2 : 1); ++half) {
          unsigned value[4];
          widenValues<Spec>(words + 2 * half, value);
#pragma unroll
          for (int atom = 0; atom < kAtoms; ++atom) {
            float *const out = output[atom] + 4 * (step + half);
            float sums[4] = {out[0], out[1], out[2], out[3]};
            multiply<Weight>(sums, value, weights[group][atom]);
#pragma unroll
            for (int i = 0; i < 4; ++i)
              out[i] = sums[i];
          }
        }
      }
  }

  template <bool Masked> __device__ __forceinline__ void scaleOutput() {
    rescaleOutputs<Masked, Spec>(output, rows, [](int i) { return i % 2; });
  }

  /// Calls `body` for each of the thread's scores of a block of keys, with its row of two, and the
  /// key's distance from the thread's first one.
  template <class Body> static __device__ __forceinline__ void forScores(Body body) {
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
      for (int i = 0; i < kScores; ++i)
        body(atom, i, i % 2, i / 4 * Places::kGroupKeys + i / 2 % 2 * Places::kSecondKey);
  }
  /// Reads what lies beside a block of keys if these are whole, or beside the last whole ones.
  __device__ __forceinline__ void askBeside(int block) {
    const int last = arguments.keys() - Spec::kKeys,
              first = block * Spec::kKeys < last ? block * Spec::kKeys : last;
    if (!kReadsBeside || last < 0)
      return;
    forScores([&](int atom, int i, int r, int step) {
      const auto coord = rows[atom].coordOf(r, first + Places::keyOf(lane) + step, step, tile);
      beside.ofScores[atom][i].load(arguments.pointers, coord, arguments.sizes);
      beside.ofWeights[atom][i].load(arguments.pointers, coord, arguments.sizes);
    });
  }
  template <class... L, class F>
  static __device__ __forceinline__ float
  apply(const Inputs<List<L...>, 1, AttentionDim::Key> &inputs, F function) {
    return function(static_cast<const Fragment<L, 1> &>(inputs).value(0)...);
  }

  /// From scores to products with values.
  template <bool Masked>
  __device__ __forceinline__ void accumulate(Scores &scores, int block, int place,
                                             const Beside &around) {
    const int column = block * Spec::kKeys + Places::keyOf(lane);
    unsigned weights[kSteps][kAtoms][2];
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      constexpr SeenKeys kSeen = Masked ? SeenKeys::Some : SeenKeys::All;
      if constexpr (Masked || !kReadsBeside)
        rows[atom].template modify<kSeen>(scores[atom], column, tile);
      else
#pragma unroll
        for (int i = 0; i < kScores; ++i)
          scores[atom][i] = apply(around.ofScores[atom][i],
                                  [&](auto... in) { return Spec::inside(scores[atom][i], in...); });
      rows[atom].setOffset(column, tile);
      rows[atom].setPeaks(scores[atom]);
      rows[atom].raise(column, tile, kSeen);
      if constexpr (HasProbabilities<Spec>)
        keepScores<Spec, Masked>(rows[atom], scores[atom], column, tile);
    }
    scaleOutput<Masked>();
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      rows[atom].exponentials(scores[atom]);
      if constexpr (Masked || !kReadsBeside)
        rows[atom].template weigh<Masked>(scores[atom], column, tile);
      else if constexpr (HasWeight<Spec>)
#pragma unroll
        for (int i = 0; i < kScores; ++i)
          scores[atom][i] = rows[atom].template weightOf<Masked>(
              scores[atom][i], apply(around.ofWeights[atom][i], [&](auto... in) {
                return Spec::weight(scores[atom][i], in...);
              }));
#pragma unroll
      for (int i = 0; i < kScores; i += 2)
        weights[i / 4][atom][i / 2 % 2] =
            transposeMatrix(narrowPair(Weight{}, scores[atom][i], scores[atom][i + 1]));
    }
    multiplyValues(weights, place);
  }

  /// The warp's part of 16 rows to shared memory.
  template <int Sixteenth> __device__ __forceinline__ void leave(char *part) const {
#pragma unroll
    for (int atom = 2 * Sixteenth; atom < 2 * Sixteenth + 2 && atom < kAtoms; ++atom)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = 8 * (atom % 2) + Places::rowOf(lane) + r;
        const unsigned ofRow[2] = {__builtin_bit_cast(unsigned, rows[atom].highest[r]),
                                   __builtin_bit_cast(unsigned, rows[atom].totalOf(r))};
        if (row >= Spec::kRows - 16 * Sixteenth)
          continue;
        if (lane / 4 == 0)
          storeShared<8>(part + Part::rowAt(row), ofRow);
#pragma unroll
        for (int step = 0; step < kValueSteps; ++step) {
          const float *const out = output[atom] + 4 * step + r;
          const unsigned pair[2] = {__builtin_bit_cast(unsigned, out[0]),
                                    __builtin_bit_cast(unsigned, out[2])};
          storeShared<8>(part + Part::outputAt(row, 16 * step + lane / 4 * 2), pair);
        }
      }
  }
};

} // namespace swage::detail
