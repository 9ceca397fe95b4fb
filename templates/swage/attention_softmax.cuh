// Softmax of scores that come block by block: what a thread knows of its two rows.  Element
// 4 j + 2 r + c of an accumulator is in the thread's row r, the second of which is 8 below the
// first, and in column 8 j + c from the thread's first one.
#pragma once

#include "swage/attention_tile.cuh"
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

/// Of the keys of a block, by the queries of a warp: some; all, as far as the mask compares
/// positions; all, and they agree with the queries where the mask wants that.
enum class SeenKeys { Some, All, Alike };
template <class Spec> concept HasAlike = requires { typename Spec::AlikeLoads; };

/// Whether each row has a score more, of a value of zeros.
template <class Spec> concept HasSink = requires { typename Spec::SinkLoads; };

template <class Spec, class Arguments> struct AttentionRows {
  enum : int { kScores = Spec::kKeys / 2 };

  const Arguments &arguments;
  int first;
  float highest[2], sum[2];
  float rescale[2]; ///< what earlier outputs are multiplied by

  /// Of the scores, in units of log2(e).
  static __device__ __forceinline__ float scaleLog2() {
    return static_cast<float>(Spec::scale() * 1.4426950408889634);
  }

  /// With row `row` of a tile.  A sink is the first score; one lane of the four that share a row
  /// counts it.
  __device__ __forceinline__ void begin(int row, const AttentionTile &tile) {
    first = row;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      highest[r] = unseen();
      sum[r] = 0.0f;
      if constexpr (HasSink<Spec>) {
        const int own = row + 8 * r, last = arguments.queries() - 1;
        highest[r] = at(typename Spec::SinkLoads{},
                        tile.at<typename Spec::Coord>(own < last ? own : last, 0),
                        [](auto... in) { return Spec::sink(in...); });
        if (laneIndex() % 4 == 0 && highest[r] != unseen())
          sum[r] = 1.0f;
      }
    }
  }

  /// A function of the Spec for a query and a key.
  template <class... L, class F>
  __device__ __forceinline__ auto at(List<L...>, const typename Spec::Coord &coord,
                                     F function) const {
    Inputs<List<L...>, 1, AttentionDim::Key> in;
    in.load(arguments.pointers, coord, arguments.sizes);
    return function(static_cast<const Fragment<L, 1> &>(in).value(0)...);
  }
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

  /// Whether the warp's queries agree with all keys of a block, the first of which is `key`.  As
  /// equality goes on from one to the next, the queries are asked for one key and the keys for one
  /// query.
  __device__ __forceinline__ bool agree(int key, const AttentionTile &tile) const {
    if constexpr (HasAlike<Spec>) {
      const int last = arguments.queries() - 1, lane = static_cast<int>(laneIndex());
      const auto agrees = [&](int query, int other) {
        return at(typename Spec::AgreeLoads{},
                  tile.at<typename Spec::Coord>(query < last ? query : last, other),
                  [](auto... in) { return Spec::agree(in...); });
      };
      bool all = agrees(first, key) & agrees(first + 8, key);
#pragma unroll
      for (int other = 0; other < Spec::kKeys; other += kWarpSize)
        if (Spec::kKeys % kWarpSize == 0 || other + lane < Spec::kKeys)
          all &= agrees(first - lane / 4, key + other + lane);
      return allLanes(all);
    }
    return false;
  }

  /// The score function; and then, what is behind the last key becomes -infinity.
  template <SeenKeys Seen>
  __device__ __forceinline__ void modify(float (&scores)[kScores], int firstColumn,
                                         const AttentionTile &tile) const {
    constexpr bool Masked = Seen == SeenKeys::Some;
    const int keys = arguments.keys(), last = arguments.queries() - 1;
    // By columns, so that what is read for one is used at once for both rows.
#pragma unroll
    for (int j = 0; j < Spec::kKeys / 8; ++j)
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const int column = firstColumn + 8 * j + c;
        const bool isKey = !Masked || Spec::kWholeBlocks || column < keys;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float &score = scores[4 * j + 2 * r + c];
          const int row = first + 8 * r < last ? first + 8 * r : last;
          auto coord = tile.at<typename Spec::Coord>(row, isKey ? column : keys - 1);
          coord[AttentionDim::HeadDim] = 8 * j + c; // of a score: from the thread's first key
          score = scoreOf<Seen>(score, coord);
          if (!isKey)
            score = unseen();
        }
      }
  }

  /// Whether a row may have seen nothing yet.
  template <bool Masked> static constexpr __device__ bool mayBeUnseen() {
    return Masked || Spec::kInsideMasks;
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
        if ((most - highest[r]) * scaleLog2() <= float(Spec::kPatience))
          most = highest[r];
      rescale[r] = exp2Fast((highest[r] - most) * scaleLog2());
      if (mayBeUnseen<Masked>() && most == unseen())
        rescale[r] = 1.0f;
      highest[r] = most;
    }
  }

  /// Scores to powers of two, and their sum.
  template <bool Masked> __device__ __forceinline__ void exponentials(float (&scores)[kScores]) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float shift =
          mayBeUnseen<Masked>() && highest[r] == unseen() ? 0.0f : highest[r] * scaleLog2();
      float added = 0.0f;
#pragma unroll
      for (int j = 0; j < Spec::kKeys / 8; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float &score = scores[4 * j + 2 * r + c];
          score = exp2Fast(fma(score, scaleLog2(), -shift));
          added += score;
        }
      sum[r] = sum[r] * rescale[r] + added;
    }
  }

  /// After the last block: what the outputs are multiplied by; and the row results, by one lane of
  /// the four that share a row.
  __device__ __forceinline__ void end(float (&scales)[2], AttentionStatistics (&statistics)[2],
                                      bool writes, const AttentionTile &tile) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float total = sum[r] + shuffleXor(sum[r], 1);
      total += shuffleXor(total, 2);
      scales[r] = Spec::kZeroRows && total == 0.0f ? 0.0f : reciprocal(total);
      statistics[r] = {highest[r] * static_cast<float>(Spec::scale()), total};
      if constexpr (!Spec::FinishStores::empty())
        if (const int row = first + 8 * r; writes && row < arguments.queries())
          runFinish<Spec, 1, AttentionDim::Query>(
              typename Spec::FinishLoads{}, typename Spec::FinishStores{}, statistics[r], arguments.pointers, tile.at<typename Spec::Coord>(row, 0), arguments.sizes);
    }
  }

  /// Two neighbouring elements of the result in row r, from `column` on, through the Spec's
  /// epilogue: what it stores itself is stored, what the copy engine is to store comes back.
  template <class... L, class... S>
  __device__ __forceinline__ void finishPair(List<L...>, List<S...>, float (&pair)[2], int r,
                                             int column, const AttentionStatistics &statistics,
                                             const AttentionTile &tile) const {
    const int row = first + 8 * r, last = arguments.queries() - 1;
    auto coord = tile.at<typename Spec::Coord>(row < last ? row : last, 0);
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

} // namespace swage::detail
