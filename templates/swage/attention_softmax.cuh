// Softmax of scores that come block by block: what a thread knows of its two rows.  Which scores
// these are: ScorePlaces.
#pragma once

#include "swage/attention_score_tile.cuh"
#include "swage/attention_tile.cuh"
#include "swage/attention_weight.cuh"
#include "swage/device/math.cuh"
#include "swage/device/vote.cuh"
#include "swage/phases.cuh"

namespace swage::detail {

/// The row results of a Spec's softmax, for `finish`.
struct AttentionStatistics {
  float maximum, sum;
  __device__ __forceinline__ AttentionStatistics at(int) const { return *this; }
  template <class F> __device__ __forceinline__ auto with(F f) const { return f(maximum, sum); }
};

/// Whether the result goes through shared memory, and whether something is made of it on its way.
template <class Spec> concept HasTiledResult = requires { typename Spec::Result; };
template <class Spec> concept HasEpilogue = requires { typename Spec::EpilogueLoads; };

/// Of the keys of a block, by the queries of a warp: none; some; all, as far as the mask compares
/// positions; all, and they are of what the queries are of where the mask wants that (documents,
/// say); and their scores are within the Spec's reach as well, or its near reach, neighbours'
/// magnitudes together (reachOf).
enum class SeenKeys { None, Some, All, Alike, Within, Near };
/// Of 8 bits maxima are what scores reach, not what they stay below: weights would be too small.
template <class Spec>
concept HasExponent =
    requires { typename Spec::ExponentLoads; } && sizeof(typename Spec::Element) > 1;
template <class Spec>
concept HasNearExponent = HasExponent<Spec> && requires {
  typename Spec::NearExponentLoads;
};
template <class Spec> concept HasOffset = requires { typename Spec::OffsetLoads; };

/// What weights are multiplied by.
template <class Spec> struct WeightLoadsOf { using Type = List<>; };
template <HasWeight Spec> struct WeightLoadsOf<Spec> { using Type = typename Spec::WeightLoads; };

/// Whether the weights of all keys, divided by their sums, are a result.
template <class Spec> concept HasProbabilities = requires { typename Spec::ProbabilityStores; };

/// Whether each row has a score more, of a value of zeros.
template <class Spec> concept HasSink = requires { typename Spec::SinkLoads; };

/// Whether keys are the rows of accumulators, and queries their columns.
template <class Spec> concept HasKeyRows = requires { requires bool(Spec::kHasKeyRows); };

/// Which rows and columns of the scores a thread has.  Element 4 j + 2 r + c of an accumulator is
/// in the thread's row r, and in column 8 j + c from the thread's first one.
template <class Spec> struct ScorePlaces {
  enum : int { kGroups = Spec::kKeys / 8, kGroupKeys = 8, kSecondKey = 1, kSecondRow = 8 };
  static __device__ __forceinline__ int rowOf(int lane) { return lane / 4; }
  static __device__ __forceinline__ int keyOf(int lane) { return lane % 4 * 2; }
  static constexpr __device__ int at(int j, int r, int c) { return 4 * j + 2 * r + c; }
  /// Combines what the lanes have that share the rows.
  template <class T, class F> static __device__ __forceinline__ T combine(T value, F f) {
    value = f(value, shuffleXor(value, 1));
    return f(value, shuffleXor(value, 2));
  }
};
/// Element 4 j + 2 c + r is in row r and in column 16 j + 8 c.
template <HasKeyRows Spec> struct ScorePlaces<Spec> {
  enum : int { kGroups = Spec::kKeys / 16, kGroupKeys = 16, kSecondKey = 8, kSecondRow = 1 };
  static __device__ __forceinline__ int rowOf(int lane) { return lane % 4 * 2; }
  static __device__ __forceinline__ int keyOf(int lane) { return lane / 4; }
  static constexpr __device__ int at(int j, int r, int c) { return 4 * j + 2 * c + r; }
  template <class T, class F> static __device__ __forceinline__ T combine(T value, F f) {
    value = f(value, shuffleXor(value, 4));
    value = f(value, shuffleXor(value, 8));
    return f(value, shuffleXor(value, 16));
  }
};

template <class Spec, class Arguments> struct AttentionRows {
  using Tile = typename Arguments::Tile;
  using Places = ScorePlaces<Spec>;
  enum : int {
    kScores = 4 * Places::kGroups,
    /// Weights of 8 bits use their whole range: they are up to 2^8.
    kRaised = sizeof(typename Spec::Element) == 1 ? 8 - Spec::kPatience : 0,
    /// Outputs are divided by sums of rounded weights, which come with them: sums are for `finish`
    /// alone.
    kDividesByRounded = sizeof(typename Spec::Element) == 1,
    kSums = !kDividesByRounded || !Spec::FinishStores::empty()
  };
  /// How far apart, in powers of two, rows' highest scores may be that near scores make the same.
  static constexpr __device__ float mostApart() { return 48.0f; }

  const Arguments &arguments;
  int first, tileRow; ///< of its first query, and in score tiles
  float highest[2], sum[2], roundedSum[2];
  float rescale[2]; ///< what earlier outputs are multiplied by
  float peak[2];    ///< which none of the thread's scores in this block exceeds that counts
  float offset[2];  ///< what the Spec adds to all of these

  /// Of the scores, in units of log2(e).
  static __device__ __forceinline__ float scaleLog2() {
    return static_cast<float>(Spec::scale() * 1.4426950408889634);
  }

  /// Whether bottoms are taken off before scores are scaled: without the rounding of their product.
  static constexpr __device__ bool subtractsFirst() {
    return IsWide<Spec> || HasProbabilities<Spec>;
  }
  /// What highest scores begin at: the lowest number, or one whose product with `scaleLog2` is a
  /// number yet, below which scores count as not seen.  At -infinity, of which there is no
  /// difference, each row would have to be asked for having seen nothing.
  static __device__ __forceinline__ float lowestScore() {
    constexpr double kScale = Spec::scale() * 1.4426950408889634;
    return static_cast<float>(subtractsFirst() || kScale <= 1 ? -3.4028234663852886e38
                                                              : -3.4e38 / kScale);
  }

  /// The sink of a row.
  __device__ __forceinline__ float sinkOf(int row, const Tile &tile) const {
    const int last = arguments.queries() - 1;
    return at(typename Spec::SinkLoads{},
              tile.template at<typename Spec::Coord>(row < last ? row : last, 0),
              [](auto... in) { return Spec::sink(in...); });
  }

  /// The sink of the thread's row r, beside the scores that its weights are made of.
  __device__ __forceinline__ float ownSinkOf(int r, const Tile &tile) const {
    return sinkOf(first + Places::kSecondRow * r, tile) - liftOf(r, tile);
  }

  /// With row `row` of a tile.  A sink is the first score, where it is not added at the end; one
  /// lane of the four that share a row counts it.
  template <bool Sinks = true> __device__ __forceinline__ void begin(int row, const Tile &tile) {
    first = row;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      highest[r] = lowestScore();
      sum[r] = roundedSum[r] = 0.0f;
      if constexpr (Sinks && HasSink<Spec>) {
        if (const float sink = ownSinkOf(r, tile); sink != unseen()) {
          highest[r] = sink;
          roundedSum[r] = float(1 << kRaised);
          if (laneIndex() % 4 == 0)
            sum[r] = float(1 << kRaised);
        }
      }
    }
  }

  /// A function of the Spec for a query and a key.
  template <class Loads, class F>
  __device__ __forceinline__ auto at(Loads loads, const typename Spec::Coord &coord,
                                     F function) const {
    return applyAt(arguments, loads, coord, function);
  }
  /// The score function.
  template <SeenKeys Seen>
  __device__ __forceinline__ float scoreOf(float score, const typename Spec::Coord &coord) const {
    if constexpr (Seen == SeenKeys::Some)
      return at(typename Spec::PrologueLoads{}, coord,
                [&](auto... in) { return Spec::prologue(score, in...); });
    else if constexpr (Seen == SeenKeys::Alike)
      return at(typename Spec::AlikeLoads{}, coord,
                [&](auto... in) { return Spec::alike(score, in...); });
    else
      return at(typename Spec::InsideLoads{}, coord,
                [&](auto... in) { return Spec::inside(score, in...); });
  }

  /// The binary logarithm of a weight, plus `base`.
  template <SeenKeys Seen = SeenKeys::Within>
  __device__ __forceinline__ float exponentOf(float score, float base,
                                              const typename Spec::Coord &coord) const {
    if constexpr (Seen == SeenKeys::Near)
      return at(typename Spec::NearExponentLoads{}, coord,
                [&](auto... in) { return Spec::nearExponent(score, base, in...); });
    else
      return at(typename Spec::ExponentLoads{}, coord,
                [&](auto... in) { return Spec::exponent(score, base, in...); });
  }

  /// Of keys that are alike: which of the Spec's reaches the warp's scores are within.  Asked of
  /// two neighbours' magnitudes together: to add them is an instruction less than a maximum, and
  /// peaks may be above what they stand for.  Near scores have one bottom for both rows, which
  /// rows that lie far apart have not.
  __device__ __forceinline__ SeenKeys reachOf(const float (&scores)[kScores]) {
    setPositivePeaks<1>([&](int j, int r, int) {
      return abs(scores[Places::at(j, r, 0)]) + abs(scores[Places::at(j, r, 1)]);
    });
    const float most = maximumNumberOf(peak[0], peak[1]);
    if constexpr (HasNearExponent<Spec>)
      if (allLanes(most <= static_cast<float>(Spec::nearReach()) &&
                   abs(highest[0] - highest[1]) * scaleLog2() <= mostApart()))
        return SeenKeys::Near;
    return allLanes(most <= static_cast<float>(Spec::reach())) ? SeenKeys::Within : SeenKeys::Alike;
  }

  /// Whether no score below 0 is above what the row has had.
  __device__ __forceinline__ bool isAboveNegative(int r) const {
    if constexpr (HasOffset<Spec>)
      return highest[r] >= offset[r];
    return highest[r] >= 0.0f;
  }
  /// `MayCompareIntegers`: as the caller likes, where that is right.
  template <bool MayCompareIntegers = false>
  __device__ __forceinline__ void setPeaks(const float (&scores)[kScores]) {
    if (MayCompareIntegers && allLanes(isAboveNegative(0) && isAboveNegative(1)))
      return setPositivePeaks<2>([&](int j, int r, int c) { return scores[Places::at(j, r, c)]; });
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      peak[r] = maximumNumberOf(scores[Places::at(0, r, 0)], scores[Places::at(0, r, 1)]);
#pragma unroll
      for (int j = 1; j < Places::kGroups; ++j)
        peak[r] = maximumNumberOf(peak[r], maximumNumberOf(scores[Places::at(j, r, 0)],
                                                           scores[Places::at(j, r, 1)]));
    }
  }

  /// The same where what is above 0 is all that counts, of which integers have the order: three at
  /// once are compared.  Of a row with nothing above 0 it is anything below.  `number`: of group,
  /// row and which of so many.
  template <int Numbers, class F> __device__ __forceinline__ void setPositivePeaks(F number) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      int most = __builtin_bit_cast(int, number(0, r, 0));
#pragma unroll
      for (int i = 1; i < Numbers * Places::kGroups; ++i)
        most = maximum(most, __builtin_bit_cast(int, number(i / Numbers, r, i % Numbers)));
      peak[r] = __builtin_bit_cast(float, most);
    }
  }

  /// Of the thread's row r.  Of a score the value dim says which row of score tiles that is, and
  /// the head dim counts keys from the thread's first one.
  __device__ __forceinline__ auto coordOf(int r, int key, int step,
                                          const Tile &tile) const {
    const int row = first + Places::kSecondRow * r, last = arguments.queries() - 1;
    auto coord = tile.template at<typename Spec::Coord>(row < last ? row : last, key);
    if constexpr (HasScoreTiles<Spec>)
      coord[AttentionDim::ValueDim] = tileRow + Places::kSecondRow * r;
    coord[AttentionDim::HeadDim] = step;
    return coord;
  }

  /// The score function; and then, what is behind the last key becomes -infinity.  In `Rounds`, by
  /// the text of so many of the columns: scores go round to where that finds them.
  template <SeenKeys Seen, int Rounds = 1>
  __device__ __forceinline__ void modify(float (&scores)[kScores], int firstColumn,
                                         const Tile &tile) const {
    static_assert(Places::kGroups % Rounds == 0);
    constexpr bool Masked = Seen == SeenKeys::Some;
    constexpr int kGroups = Places::kGroups / Rounds;
    const int keys = arguments.keys();
#pragma unroll 1
    for (int begin = 0; begin < Spec::kKeys; begin += Places::kGroupKeys * kGroups) {
      // By columns, so that what is read for one is used at once for both rows.
#pragma unroll
      for (int j = 0; j < kGroups; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int step = begin + Places::kGroupKeys * j + Places::kSecondKey * c,
                    column = firstColumn + step;
          const bool isKey = !Masked || Spec::kWholeBlocks || column < keys;
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            float &score = scores[Places::at(j, r, c)];
            score = scoreOf<Seen>(score, coordOf(r, isKey ? column : keys - 1, step, tile));
            if (!isKey)
              score = unseen();
          }
        }
      if constexpr (Rounds > 1)
        turnRound<kScores / Rounds>(scores);
    }
  }

  /// The first scores become the last ones.
  template <int Count> static __device__ __forceinline__ void turnRound(float (&scores)[kScores]) {
    float first[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i)
      first[i] = scores[i];
#pragma unroll
    for (int i = 0; i < kScores; ++i)
      scores[i] = i + Count < kScores ? scores[i + Count] : first[i + Count - kScores];
  }

  /// Of a block of which nothing is seen.
  __device__ __forceinline__ void keep() { rescale[0] = rescale[1] = 1.0f; }

  /// Before `raise`, and best before the scores are there: what it reads has then come.
  __device__ __forceinline__ void setOffset(int firstColumn, const Tile &tile) {
    if constexpr (HasOffset<Spec>)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        offset[r] = offsetOf(HasNearExponent<Spec> ? 0 : r, firstColumn, tile);
  }
  __device__ __forceinline__ float offsetOf(int r, int firstColumn, const Tile &tile) const {
    return at(typename Spec::OffsetLoads{}, coordOf(r, firstColumn, 0, tile),
              [](auto... in) { return Spec::offset(in...); });
  }
  /// What the row's scores are above those that its weights are made of.  Where scores may be near,
  /// its offset is by so much above the first row's for all keys, and that one is taken for both.
  /// Of a key beside the row distances are small, and their floats exact.
  __device__ __forceinline__ float liftOf(int r, const Tile &tile) const {
    if constexpr (HasNearExponent<Spec> && HasOffset<Spec>)
      if (r > 0)
        return offsetOf(r, first, tile) - offsetOf(0, first, tile);
    return 0.0f;
  }
  /// What no score of row r within reach exceeds, if no magnitude exceeds `peak`: the score of that
  /// magnitude has nothing above it, at one of the ends.
  template <SeenKeys Seen>
  __device__ __forceinline__ float boundOf(float peak, int r, int firstColumn,
                                           const Tile &tile) const {
    const auto bound = [&](int step) {
      return exponentOf<Seen>(peak, 0.0f, coordOf(r, firstColumn + step, step, tile));
    };
    return maximumNumberOf(bound(0), bound(Spec::kKeys - 7)) * (1.0f / scaleLog2());
  }

  /// `raise` of near scores: both rows have the same highest score afterwards.
  __device__ __forceinline__ void raiseTogether(int firstColumn, const Tile &tile) {
    float most = boundOf<SeenKeys::Near>(maximumNumberOf(peak[0], peak[1]), 0, firstColumn, tile);
    if constexpr (HasOffset<Spec>)
      most += offset[0];
    most = Places::combine(most, [](float a, float b) { return maximumNumberOf(a, b); });
    const float before = maximumNumberOf(highest[0], highest[1]);
    most = maximumNumberOf(most, before);
    if constexpr (Spec::kPatience > 0)
      if ((most - before) * scaleLog2() <= float(Spec::kPatience))
        most = before;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rescale[r] = exp2Fast((highest[r] - most) * scaleLog2());
      highest[r] = most;
    }
  }

  /// After `setPeaks` or `reachOf`: the highest score of each row so far, and what earlier sums and
  /// outputs are multiplied by.
  __device__ __forceinline__ void raise(int firstColumn, const Tile &tile, SeenKeys seen) {
    if constexpr (HasNearExponent<Spec>)
      if (seen == SeenKeys::Near)
        return raiseTogether(firstColumn, tile);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if constexpr (HasExponent<Spec>)
        if (seen >= SeenKeys::Within)
          peak[r] = boundOf<SeenKeys::Within>(peak[r], r, firstColumn, tile);
      if constexpr (HasOffset<Spec>)
        peak[r] += offset[r];
      float most =
          Places::combine(peak[r], [](float a, float b) { return maximumNumberOf(a, b); });
      most = maximumNumberOf(most, highest[r]);
      if constexpr (Spec::kPatience > 0)
        if ((most - highest[r]) * scaleLog2() <= float(Spec::kPatience))
          most = highest[r];
      rescale[r] = exp2Fast((highest[r] - most) * scaleLog2());
      highest[r] = most;
    }
  }

  /// Scores to powers of two, and their sum.
  template <SeenKeys Seen = SeenKeys::All>
  __device__ __forceinline__ void exponentials(float (&scores)[kScores], int firstColumn = 0,
                                               const Tile &tile = {}) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int lower = Seen == SeenKeys::Near ? 0 : r; // whose bottom is the row's
      float bottom = highest[lower];
      if constexpr (HasOffset<Spec>)
        bottom -= offset[lower];
      float base = -bottom * scaleLog2();
      if constexpr (kRaised > 0)
        base += float(kRaised);
      float added = 0.0f;
#pragma unroll
      for (int j = 0; j < Places::kGroups; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int step = Places::kGroupKeys * j + Places::kSecondKey * c;
          float &score = scores[Places::at(j, r, c)];
          if constexpr (Seen >= SeenKeys::Within)
            score = exponentOf<Seen>(score, base, coordOf(lower, firstColumn + step, step, tile));
          else if constexpr (subtractsFirst())
            score = (score - bottom) * scaleLog2();
          else
            score = fma(score, scaleLog2(), base);
          score = exp2Fast(score);
          if constexpr (kSums)
            added += score;
        }
      sum[r] = sum[r] * rescale[r] + added;
      roundedSum[r] *= rescale[r];
    }
  }

  /// A key that is not seen has a weight of zero, and what that is multiplied by may be no number.
  template <bool Masked>
  static __device__ __forceinline__ float weightOf(float weight, float multiplied) {
    return (Masked || Spec::kInsideMasks) && weight == 0.0f ? 0.0f : multiplied;
  }
  /// Weights to what values are multiplied by.
  template <bool Masked>
  __device__ __forceinline__ void weigh(float (&weights)[kScores], int firstColumn,
                                        const Tile &tile) const {
    if constexpr (HasWeight<Spec>)
      weighBy<Masked>(typename Spec::WeightLoads{}, weights, firstColumn, tile);
  }
  template <bool Masked, class... L>
  __device__ __forceinline__ void weighBy(List<L...>, float (&weights)[kScores], int firstColumn,
                                          const Tile &tile) const {
    struct : WeightInput<L, Places>... {
    } in;
    (in.WeightInput<L, Places>::begin(
         arguments, [&](int r, int key) { return coordOf(r, key, 0, tile); }, firstColumn),
     ...);
    const int last = arguments.keys() - 1;
#pragma unroll
    for (int j = 0; j < Places::kGroups; ++j) {
      (in.WeightInput<L, Places>::prepare(j), ...);
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int step = Places::kGroupKeys * j + Places::kSecondKey * c,
                    key = firstColumn + step;
          const auto coord = coordOf(r, key < last ? key : last, step, tile);
          float &of = weights[Places::at(j, r, c)];
          const float weight =
              Spec::weight(of, in.WeightInput<L, Places>::value(r, c, arguments, coord)...);
          of = weightOf<Masked>(of, weight);
        }
    }
  }

  /// A row's sum of weights.
  __device__ __forceinline__ float totalOf(int r) const {
    return Places::combine(sum[r], [](float a, float b) { return a + b; });
  }

  /// What the outputs of a row with this sum of weights are multiplied by.
  static __device__ __forceinline__ float scaleOf(float sum) {
    return Spec::kZeroRows && sum == 0.0f ? 0.0f : reciprocal(sum);
  }
  /// The row results.
  __device__ __forceinline__ void finishRow(int row, const AttentionStatistics &statistics,
                                            const Tile &tile) const {
    if constexpr (!Spec::FinishStores::empty())
      runFinish<Spec, 1, AttentionDim::Query>(
          typename Spec::FinishLoads{}, typename Spec::FinishStores{}, statistics,
          arguments.pointers, tile.template at<typename Spec::Coord>(row, 0), arguments.sizes);
  }

  /// After the last block: what the outputs are multiplied by; and the row results, by one lane of
  /// the four that share a row.
  __device__ __forceinline__ void end(float (&scales)[2], AttentionStatistics (&statistics)[2],
                                      bool writes, const Tile &tile) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float total = totalOf(r);
      const float divisor = kDividesByRounded ? roundedSum[r] : total;
      scales[r] = scaleOf(divisor);
      statistics[r] = {(highest[r] + liftOf(r, tile)) * static_cast<float>(Spec::scale()),
                       total * (1.0f / float(1 << kRaised))};
      if (const int row = first + 8 * r; writes && row < arguments.queries())
        finishRow(row, statistics[r], tile);
    }
  }

  /// Two neighbouring elements of the result in row r, from `column` on, through the Spec's
  /// epilogue: what it stores itself is stored, what the copy engine is to store comes back.
  template <class... L, class... S>
  __device__ __forceinline__ void finishPair(List<L...>, List<S...>, float (&pair)[2], int r,
                                             int column, const AttentionStatistics &statistics,
                                             const Tile &tile) const {
    const int row = first + 8 * r, last = arguments.queries() - 1;
    auto coord = tile.template at<typename Spec::Coord>(row < last ? row : last, 0);
    coord[AttentionDim::ValueDim] = column;
    Inputs<List<L...>, 2, AttentionDim::ValueDim> in;
    in.load(arguments.pointers, coord, arguments.sizes);
    Outputs<List<S...>, 2, AttentionDim::ValueDim> out;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      statistics.with([&](auto... row) {
        const auto apply = [&](const auto &epilogue) {
          pair[i] = epilogue(pair[i], static_cast<const Fragment<L, 2> &>(in).value(i)...,
                             static_cast<Result<S, 2> &>(out).values[i]...);
        };
        if constexpr (EpilogueTakesStatistics<Spec>)
          apply(Spec::epilogue(row...));
        else
          apply([](auto &&...values) { return Spec::epilogue(values...); });
      });
    if constexpr (sizeof...(S) > 0)
      if (row <= last)
        out.store(arguments.pointers, coord, arguments.sizes);
  }
};

/// Multiplies outputs by what their rows are rescaled by; `rowOf`: which of its two rows an atom's
/// output is in.
template <bool Masked, class Spec, int Atoms, int Outputs, class Rows, int Most, class RowOf>
__device__ __forceinline__ void rescaleOutputs(float (&output)[Atoms][Outputs],
                                               const Rows (&rows)[Most], RowOf rowOf) {
  if constexpr (Masked || Spec::kPatience > 0) {
    bool grows = false;
#pragma unroll
    for (int atom = 0; atom < Atoms; ++atom)
      grows |= rows[atom].rescale[0] != 1.0f || rows[atom].rescale[1] != 1.0f;
    if (!anyLane(grows))
      return;
  }
#pragma unroll
  for (int atom = 0; atom < Atoms; ++atom)
#pragma unroll
    for (int i = 0; i < Outputs; ++i)
      output[atom][i] *= rows[atom].rescale[rowOf(i)];
}

} // namespace swage::detail
