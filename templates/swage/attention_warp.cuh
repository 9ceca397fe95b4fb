// What a warp does for attention on its own matrix instructions: products, softmax, the result. See
// attention_portable.cuh.
#pragma once

#include "swage/attention_copy.cuh"
#include "swage/attention_narrow.cuh"
#include "swage/attention_probabilities.cuh"
#include "swage/attention_softmax.cuh"
#include "swage/attention_wide.cuh"
#include "swage/device/matrix.cuh"
#include "swage/device/vote.cuh"

namespace swage::detail {

/// Warps that take the same keys in, because outputs are too long for one: of the head dim, and of
/// the value dim, a member has each so many'th step of 16 columns.
template <class Spec> struct TeamOf {
  enum : int { kMembers = 1 };
};
template <class Spec>
requires requires { Spec::kTeam; }
struct TeamOf<Spec> {
  enum : int { kMembers = Spec::kTeam };
};

/// Whether values are the first columns of keys, and lie where these do.
template <class Spec>
concept HasValuesInKeys = requires { requires bool(Spec::kValuesInKeys); };

/// Keys and values in shared memory, rows of so many bytes.
template <int HeadRow, int ValueRow> struct KeyRows {
  enum : int { kHeadRow = HeadRow, kValueRow = ValueRow };
  /// What a lane passes to ldmatrix for 16 keys and 32 bytes of them, as the second operand.
  /// `member`: of steps of a team, the first one's.
  static __device__ __forceinline__ SharedAddress keyAt(SharedAddress keys, int lane, int pair,
                                                        int step, int member = 0) {
    return keys + (lane / 16 * 8 + lane % 8) * HeadRow + lane / 8 % 2 * 16 + pair * 16 * HeadRow +
           (step + member) * 32;
  }
  /// Where a column of a key is, or of its values.
  static __device__ __forceinline__ SharedAddress keyElement(SharedAddress keys, int key,
                                                             int column) {
    return keys + key * HeadRow + column * 2;
  }
  static __device__ __forceinline__ SharedAddress valueElement(SharedAddress values, int key,
                                                               int column) {
    return values + key * ValueRow + column * 2;
  }
  /// As keyAt for 16 bytes of them.
  static __device__ __forceinline__ SharedAddress halfKeyAt(SharedAddress keys, int lane, int pair,
                                                            int step) {
    return keys + (pair * 16 + lane % 16) * HeadRow + step * 32;
  }
  /// The same for the values of 16 keys, transposed.
  static __device__ __forceinline__ SharedAddress valueAt(SharedAddress values, int lane, int step,
                                                          int pair, int member = 0) {
    return values + lane % 16 * ValueRow + lane / 16 * 16 + step * 16 * ValueRow +
           (pair + member) * 32;
  }
  /// The same for 16 keys of 8 bits and 32 bytes of them, as the first operand.
  static __device__ __forceinline__ SharedAddress narrowKeyAt(SharedAddress keys, int lane,
                                                              int group, int step) {
    return keys + (group * 16 + lane % 16) * HeadRow + lane / 16 * 16 + step * 32;
  }
};

template <class Spec> constexpr __device__ int keyColumns() {
  return (Spec::kHeadDim + 15) / 16 * 16;
}
/// Rows are padded, so that lanes read from different banks.
template <class Spec>
using PaddedRows =
    KeyRows<paddedRow(keyColumns<Spec>() * cacheBytes<Spec>() / 2),
            paddedRow((HasValuesInKeys<Spec> ? keyColumns<Spec>() : int(Spec::kValueDim)) *
                      cacheBytes<Spec>() / 2)>;

/// Shared memory: queries, keys, values.
template <class Spec> struct PortableLayout : PaddedRows<Spec> {
  using PaddedRows<Spec>::kHeadRow;
  using PaddedRows<Spec>::kValueRow;
  enum : int {
    kWarpRows = 16 * Spec::kAtoms,
    kRows = kWarpRows * (Spec::kThreads / 32),
    /// Of a matrix instruction, which takes 32 bytes of a row.
    kHeadSteps = (Spec::kHeadDim * static_cast<int>(sizeof(typename Spec::Element)) + 31) / 32,
    kQueryRow = kHeadRow > kValueRow ? kHeadRow : kValueRow, ///< the output leaves through it
    kKeyBytes = Spec::kKeys * kHeadRow,
    kValueBytes = Spec::kKeys * kValueRow,
    kKeyAt = kRows * kQueryRow,
    kValueAt = kKeyAt + Spec::kStages * kKeyBytes,
    kBytes = kValueAt + Spec::kStages * kValueBytes ///< schedules ask for it: AttentionProblem
  };
  static __device__ __forceinline__ SharedAddress queriesOf(SharedAddress arena, int warp) {
    return arena + warp * kWarpRows * kQueryRow;
  }
};

/// What matrix instructions take of an element.
template <class T> struct FactorOf {
  using Type = T;
};
template <> struct FactorOf<float> {
  using Type = tf32;
};

/// A warp's 16 rows, or twice that.  Element 4 j + 2 r + c of an accumulator is in row
/// lane / 4 + 8 r of the 16, and in column 8 j + 2 (lane % 4) + c.
template <class Spec, class Arguments, class WarpLayout = PortableLayout<Spec>>
struct AttentionWarp {
  using Element = typename Spec::Element;
  using Factor = typename FactorOf<Element>::Type;
  using Layout = WarpLayout;
  enum : int {
    kAtoms = Spec::kAtoms,
    kTeam = TeamOf<Spec>::kMembers,
    kScores = Spec::kKeys / 2,
    kOutputs = Spec::kValueDim / kTeam / 2,
    kSteps = Spec::kKeys / 16,
    kHeadSteps = Layout::kHeadSteps / kTeam
  };
  using Scores = float[kAtoms][kScores];
  using PairSums = TileSums<kAtoms, 2>;

  const Arguments &arguments;
  typename Arguments::Tile tile;
  SharedAddress arena;
  int warp, lane;
  AttentionRows<Spec, Arguments> rows[2]; ///< of which the first kAtoms are in use
  float output[kAtoms][kOutputs];
  unsigned queries[kAtoms][kHeadSteps][4]; ///< where they are held
  int member;                              ///< which one of a team's; `warp` is which team

  static __device__ __forceinline__ AttentionWarp of(const Arguments &arguments,
                                                     SharedAddress arena, int warp, int lane,
                                                     int member = 0) {
    AttentionWarp one{arguments, {}, arena, warp, lane, {{arguments}, {arguments}}};
    one.member = member;
    return one;
  }

  __device__ __forceinline__ SharedAddress keysAt(int place) const {
    return arena + Layout::kKeyAt + place * Layout::kKeyBytes;
  }
  __device__ __forceinline__ SharedAddress valuesAt(int place) const {
    if constexpr (HasValuesInKeys<Spec>)
      return keysAt(place);
    return arena + Layout::kValueAt + place * Layout::kValueBytes;
  }
  __device__ __forceinline__ SharedAddress queriesAt(int atom) const {
    return Layout::queriesOf(arena, warp) + atom * 16 * Layout::kQueryRow;
  }

  __device__ __forceinline__ int firstRow() const {
    return tile.firstQuery + warp * Layout::kWarpRows;
  }

  template <bool Sinks = true> __device__ __forceinline__ void begin() {
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      rows[atom].template begin<Sinks>(firstRow() + atom * 16 + lane / 4, tile);
#pragma unroll
      for (int i = 0; i < kOutputs; ++i)
        output[atom][i] = 0.0f;
    }
  }

  /// d += a b for two tiles of eight columns, whose operands lie side by side in `b`.
  template <int Count>
  static __device__ __forceinline__ void multiplyTiles(float *d, const unsigned (&a)[4],
                                                       const unsigned (&b)[Count]) {
#pragma unroll
    for (int tile = 0; tile < Count / 2; ++tile, d += 4) {
      float sums[4] = {d[0], d[1], d[2], d[3]};
      multiply<Factor>(sums, a, {b[2 * tile], b[2 * tile + 1]});
#pragma unroll
      for (int i = 0; i < 4; ++i)
        d[i] = sums[i];
    }
  }

  /// Of 16 columns only the first 8 exist: what lies behind them may be no numbers.
  static constexpr __device__ bool isHalf(int step) {
    return !IsWide<Spec> && 16 * step + 8 == Spec::kHeadDim;
  }

  __device__ __forceinline__ void loadQuery(unsigned (&query)[4], int atom, int step) const {
    const SharedAddress at =
        queriesAt(atom) + lane % 16 * Layout::kQueryRow + (kTeam * step + member) * 32;
    if (isHalf(step)) {
      unsigned half[2];
      loadMatrix<2>(at, half);
      query[0] = half[0];
      query[1] = half[1];
      query[2] = query[3] = 0;
    } else {
      loadMatrix<4>(at + lane / 16 * 16, query);
      if constexpr (IsTf32<Spec>)
#pragma unroll
        for (unsigned &word : query)
          word = nearestTf32(word);
    }
  }

  __device__ __forceinline__ void loadKeys(unsigned (&key)[4], SharedAddress keys, int pair,
                                           int step) const {
    if (isHalf(step)) {
      unsigned half[2];
      loadMatrix<2>(Layout::halfKeyAt(keys, lane, pair, step), half);
      key[0] = half[0];
      key[2] = half[1];
      key[1] = key[3] = 0;
    } else {
      loadMatrix<4>(Layout::keyAt(keys, lane, pair, kTeam * step, member), key);
    }
  }

  __device__ __forceinline__ void holdQueries() {
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
      for (int step = 0; step < kHeadSteps; ++step)
        loadQuery(queries[atom][step], atom, step);
  }

  /// scores = Q K^T.
  __device__ __forceinline__ void multiplyKeys(Scores &scores, int place) const
      requires(!IsWide<Spec> || IsTf32<Spec>) {
    const SharedAddress keys = keysAt(place);
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
      for (int i = 0; i < kScores; ++i)
        scores[atom][i] = 0.0f;
#pragma unroll
    for (int step = 0; step < kHeadSteps; ++step) {
      unsigned query[kAtoms][4];
      if constexpr (!Spec::kHoldsQuery)
#pragma unroll
        for (int atom = 0; atom < kAtoms; ++atom)
          loadQuery(query[atom], atom, step);
#pragma unroll
      for (int pair = 0; pair < kSteps; ++pair) {
        unsigned key[4];
        loadKeys(key, keys, pair, step);
#pragma unroll
        for (int atom = 0; atom < kAtoms; ++atom)
          if constexpr (Spec::kHoldsQuery)
            multiplyTiles(scores[atom] + 8 * pair, queries[atom][step], key);
          else
            multiplyTiles(scores[atom] + 8 * pair, query[atom], key);
      }
    }
    if constexpr (kTeam > 1)
      addScores(scores);
  }

  __device__ __forceinline__ void syncTeam() const {
    if constexpr (kTeam > 1)
      namedBarrier(1 + warp, kTeam * kWarpSize);
  }

  /// Scores of all columns, of which each member of the team has some; in the same order for all of
  /// them, whose weights are then the same.
  __device__ __forceinline__ void addScores(Scores &scores) const {
    static_assert(kAtoms == 1);
    char *const sums = dynamicArena() + Layout::sumsOf(warp) + lane * 16;
    const auto at = [&](int member, int part) {
      return sums + (member * (kScores / 4) + part) * kWarpSize * 16;
    };
#pragma unroll
    for (int part = 0; part < kScores / 4; ++part) {
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[i] = __builtin_bit_cast(unsigned, scores[0][4 * part + i]);
      storeShared<16>(at(member, part), words);
    }
    syncTeam();
#pragma unroll
    for (int part = 0; part < kScores / 4; ++part)
#pragma unroll
      for (int other = 0; other < kTeam; ++other) {
        unsigned words[4];
        loadShared<16>(at(other, part), words);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float one = __builtin_bit_cast(float, words[i]);
          scores[0][4 * part + i] = other == 0 ? one : scores[0][4 * part + i] + one;
        }
      }
  }

  /// The same of f32, some steps at a time.
  __device__ __forceinline__ void multiplyKeys(Scores &scores, int place) const
      requires(IsWide<Spec> && !IsTf32<Spec>) {
    constexpr int kTogether = kHeadSteps % 2 == 0 ? 2 : 1;
    const SharedAddress keys = keysAt(place);
    PairSums low[kSteps];
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
      for (int i = 0; i < kScores; ++i)
        scores[atom][i] = 0.0f;
    // A loop, which ptxas does not mix with all that follows: it would spill.
#pragma unroll(Spec::kHoldsQuery ? kHeadSteps : 1)
    for (int step = 0; step < kHeadSteps; step += kTogether)
      multiplySteps<kTogether>(scores, low, keys, step);
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
      for (int i = 0; i < kScores; ++i)
        scores[atom][i] = corrected(scores[atom][i], low[i / 8].of[atom][i / 4 % 2][i % 4]);
  }
  template <int Steps>
  __device__ __forceinline__ void multiplySteps(Scores &scores, PairSums (&low)[kSteps],
                                                SharedAddress keys, int first) const {
    SplitFragment<4> query[Steps][kAtoms];
#pragma unroll
    for (int i = 0; i < Steps; ++i)
#pragma unroll
      for (int atom = 0; atom < kAtoms; ++atom) {
        if constexpr (Spec::kHoldsQuery) {
          query[i][atom] = SplitFragment<4>::of(queries[atom][first + i]);
        } else {
          unsigned words[4];
          loadQuery(words, atom, first + i);
          query[i][atom] = SplitFragment<4>::of(words);
        }
      }
#pragma unroll
    for (int pair = 0; pair < kSteps; ++pair) {
      PairSums high;
#pragma unroll
      for (int i = 0; i < Steps; ++i) {
        unsigned words[4];
        loadKeys(words, keys, pair, first + i);
        multiplySplit(high, low[pair], query[i],
                      {SplitFragment<2>::of({words[0], words[1]}),
                       SplitFragment<2>::of({words[2], words[3]})});
      }
#pragma unroll
      for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
        for (int i = 0; i < 8; ++i)
          scores[atom][8 * pair + i] += high.of[atom][i / 4][i % 4];
    }
  }

  /// output += weights V.
  __device__ __forceinline__ void multiplyValues(const unsigned (&weights)[kAtoms][kSteps][4],
                                                 int place) {
    const SharedAddress values = valuesAt(place);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      // One loop for all: with a last step behind it NVCC 13 keeps the warp's state in local
      // memory.
#pragma unroll
      for (int pair = 0; pair < (Spec::kValueDim / kTeam + 8) / 16; ++pair) {
        if (16 * pair + 16 <= Spec::kValueDim / kTeam) {
          unsigned value[4];
          loadMatrix<4, true>(Layout::valueAt(values, lane, step, kTeam * pair, member), value);
#pragma unroll
          for (int atom = 0; atom < kAtoms; ++atom)
            multiplyTiles(output[atom] + 8 * pair, weights[atom][step], value);
        } else {
          unsigned value[2];
          loadMatrix<2, true>(Layout::valueAt(values, lane, step, pair), value);
#pragma unroll
          for (int atom = 0; atom < kAtoms; ++atom)
            multiplyTiles(output[atom] + 8 * pair, weights[atom][step], value);
        }
      }
    }
  }

  /// The same of f32.  Of 8 keys a thread has the weights of two that lie side by side, which stand
  /// four columns apart in a fragment: so do their values.
  __device__ __forceinline__ void multiplyValues(const Scores &weights, int place) {
    const char *const values = dynamicArena() + (valuesAt(place) - arena) +
                               lane % 4 * 2 * Layout::kValueRow + lane / 4 * 4;
#pragma unroll
    for (int pair = 0; pair < (Spec::kValueDim + 8) / 16; ++pair)
      if (16 * pair + 16 <= Spec::kValueDim)
        multiplyColumns<2>(weights, values, pair);
      else
        multiplyColumns<1>(weights, values, pair);
  }
  template <int Tiles>
  __device__ __forceinline__ void multiplyColumns(const Scores &weights, const char *values,
                                                  int pair)
      requires IsTf32<Spec> {
#pragma unroll
    for (int step = 0; step < Spec::kKeys / 8; ++step) {
      unsigned value[2 * Tiles];
#pragma unroll
      for (int i = 0; i < 2 * Tiles; ++i)
        loadShared<4>(values + (step * 8 + i % 2) * Layout::kValueRow + pair * 64 + i / 2 * 32,
                      &value[i]);
#pragma unroll
      for (int atom = 0; atom < kAtoms; ++atom) {
        const float *const from = weights[atom] + 4 * step;
        multiplyTiles(output[atom] + 8 * pair,
                      {bitCast<unsigned>(from[0]), bitCast<unsigned>(from[2]),
                       bitCast<unsigned>(from[1]), bitCast<unsigned>(from[3])},
                      value);
      }
    }
  }
  template <int Tiles>
  __device__ __forceinline__ void multiplyColumns(const Scores &weights, const char *values,
                                                  int pair)
      requires(!IsTf32<Spec>) {
    TileSums<kAtoms, Tiles> high, low;
#pragma unroll
    for (int step = 0; step < Spec::kKeys / 8; ++step) {
      SplitFragment<2> value[Tiles];
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile) {
        unsigned words[2];
        const char *const at = values + step * 8 * Layout::kValueRow + pair * 64 + tile * 32;
        loadShared<4>(at, &words[0]);
        loadShared<4>(at + Layout::kValueRow, &words[1]);
        value[tile] = SplitFragment<2>::of(words);
      }
      SplitFragment<4> weight[kAtoms];
#pragma unroll
      for (int atom = 0; atom < kAtoms; ++atom) {
        const float *const from = weights[atom] + 4 * step;
        weight[atom] =
            SplitFragment<4>::of({bitCast<unsigned>(from[0]), bitCast<unsigned>(from[2]),
                                  bitCast<unsigned>(from[1]), bitCast<unsigned>(from[3])});
      }
      multiplySplit(high, low, weight, value);
    }
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom)
#pragma unroll
      for (int i = 0; i < 4 * Tiles; ++i)
        output[atom][8 * pair + i] +=
            corrected(high.of[atom][i / 4][i % 4], low.of[atom][i / 4][i % 4]);
  }

  template <bool Masked> __device__ __forceinline__ void scaleOutput() {
    rescaleOutputs<Masked, Spec>(output, rows, [](int i) { return i / 2 % 2; });
  }

  /// From scores to products with values, without a branch or a barrier in between: ptxas mixes
  /// these with exponentials, which gains 5 % (docs/notes/attention.md).  Where some keys are
  /// masked a branch saves registers.
  template <bool Masked>
  __device__ __forceinline__ void accumulate(Scores &scores, int block, int place) {
    [[maybe_unused]] unsigned weights[kAtoms][kSteps][4];
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      constexpr SeenKeys kSeen = Masked ? SeenKeys::Some : SeenKeys::All;
      const int column = block * Spec::kKeys + lane % 4 * 2;
      rows[atom].template modify<kSeen>(scores[atom], column, tile);
      rows[atom].setOffset(column, tile);
      rows[atom].setPeaks(scores[atom]);
      rows[atom].raise(column, tile, kSeen);
      if constexpr (HasProbabilities<Spec>)
        if (kTeam == 1 || member == 0)
          keepScores<Spec, Masked>(rows[atom], scores[atom], column, tile);
    }
    if constexpr (!Masked)
      scaleOutput<Masked>();
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      rows[atom].exponentials(scores[atom]);
      rows[atom].template weigh<Masked>(scores[atom], block * Spec::kKeys + lane % 4 * 2, tile);
      // As an accumulator lies, so lies the left operand of the next product.
      if constexpr (IsTf32<Spec>)
#pragma unroll
        for (float &weight : scores[atom])
          weight = bitCast<float>(nearestTf32(bitCast<unsigned>(weight)));
      if constexpr (!IsWide<Spec>)
#pragma unroll
        for (int i = 0; i < kScores / 2; ++i)
          weights[atom][i / 4][i % 4] =
              narrowPair(Element{}, scores[atom][2 * i], scores[atom][2 * i + 1]);
    }
    if constexpr (Masked)
      scaleOutput<Masked>();
    if constexpr (IsWide<Spec>)
      multiplyValues(scores, place);
    else
      multiplyValues(weights, place);
  }

  /// Through the rows of the query tile that this warp alone has read; or by who computed it.
  __device__ __forceinline__ void store() {
    syncWarp();
#pragma unroll
    for (int atom = 0; atom < kAtoms; ++atom) {
      float scales[2];
      AttentionStatistics statistics[2];
      rows[atom].end(scales, statistics, lane % 4 == 0, tile);
      char *const to =
          dynamicArena() + (queriesAt(atom) - arena) + lane / 4 * Layout::kQueryRow + lane % 4 * 4;
#pragma unroll
      for (int i = 0; i < kOutputs / 2; ++i) {
        float pair[2] = {output[atom][2 * i] * scales[i % 2],
                         output[atom][2 * i + 1] * scales[i % 2]};
        if constexpr (HasEpilogue<Spec>)
          rows[atom].finishPair(typename Spec::EpilogueLoads{}, typename Spec::EpilogueStores{},
                                pair, i % 2, i / 2 * 8 + lane % 4 * 2, statistics[i % 2], tile);
        if constexpr (HasTiledResult<Spec>) {
          const unsigned narrow = narrowPair(typename Spec::Result{}, pair[0], pair[1]);
          storeShared<4>(to + i % 2 * 8 * Layout::kQueryRow + i / 2 * 16, &narrow);
        }
      }
    }
    if constexpr (HasTiledResult<Spec>)
      storeTile();
  }

  __device__ __forceinline__ void storeTile() {
    syncWarp();
    constexpr int kPieces = Spec::kValueDim / 8;
    const char *const from = dynamicArena() + (queriesAt(0) - arena);
    const int first = tile.firstQuery + warp * Layout::kWarpRows;
    auto *const result =
        static_cast<const swage::Slot<typename Spec::Results> &>(arguments.pointers).pointer;
    for (int i = lane; i < Layout::kWarpRows * kPieces; i += 32) {
      const int row = i / kPieces, piece = i % kPieces;
      if (first + row >= arguments.queries())
        break;
      unsigned words[4];
      loadShared<16>(from + row * Layout::kQueryRow + piece * 16, words);
      auto coord = tile.template at<typename Spec::Coord>(first + row, 0);
      coord[AttentionDim::ValueDim] = piece * 8;
      storeGlobal<16>(result + Spec::Results::offset(coord, arguments.sizes), words);
    }
  }
};

} // namespace swage::detail
