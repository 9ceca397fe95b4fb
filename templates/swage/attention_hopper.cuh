// Flash attention, forward, for long queries on compute capability 9.0a.
//
// For each query i of a head: scores s_j = scale <q_i, k_j>, weights p_j = exp(s_j - max s), output
// o_i = sum_j p_j v_j / sum_j p_j, and, for who combines parts or differentiates, log sum_j
// exp(s_j).
//
// A block stays on its multiprocessor and takes tiles of queries in turn.  Its first warpgroup
// keeps few registers: one thread has the copy engine fill a queue of query tiles and two rings, of
// key and of value tiles, and other warps prepare what has come, if need be (attention_kinds.cuh,
// attention_transpose.cuh).  Each of the other warpgroups computes 64 queries; scores, weights and
// outputs stay in its registers.  What makes it fast:
//   - overlap: the products of block n + 1's weights with its values run under block n's softmax;
//   - turns: warpgroups issue products one after the other, so that one's softmax runs under the
//     other's products even where its own are done;
//   - carry: the first scores of the next tile are computed under the last products of this one,
//     and a tile is stored while those run: between tiles the tensor cores do not wait;
//   - scores are scaled inside the exponent's one multiplication, and powers are of two.
// Blocks of keys go from the last to the first: only the first ones want a mask.
// Where there are few tiles, several blocks share one: attention_parts.cuh.  What scores read for
// each query and key comes through shared memory: attention_score_tile.cuh.
#pragma once

#include "swage/attention_kinds.cuh"
#include "swage/attention_producer.cuh"
#include "swage/attention_softmax.cuh"
#include "swage/attention_transpose.cuh"
#include "swage/device/launch_control.cuh"
#include "swage/device/math.cuh"
#include "swage/device/matrix.cuh"
#include "swage/device/vote.cuh"
#include "swage/device/wgmma.cuh"

namespace swage {
namespace detail {

/// Products of `All` steps, four at once: `multiply` of how many, and of which four.
template <int Number> struct Count {};
template <int All, class F> __device__ __forceinline__ void bySteps(F multiply) {
#pragma unroll
  for (int four = 0; four < All / 4; ++four)
    multiply(Count<4>{}, four);
  if constexpr (All % 4 != 0)
    multiply(Count<All % 4>{}, All / 4);
}

// Of the first computing warpgroup; the last one of all.
enum : int { kTurnBarrier = 1, kStoreBarrier = 4, kPartBarrier = 7 };

/// Whether bounds cut the blocks of keys that a text is for: each of these is asked where only some
/// are.
enum class Cut { Never, Maybe, Always };

/// What a computing warpgroup knows and does.  Element 4 j + 2 r + c of an accumulator is in row
/// lane / 4 + 8 r of the warp's 16, and in column 8 j + 2 (lane % 4) + c.
template <class Spec, class Arguments> struct AttentionGroup {
  using Element = typename Spec::Element;
  using Layout = AttentionLayout<Spec>;
  using Rows = AttentionRows<Spec, Arguments>;
  using Queue = ScoreTileQueue<Spec, Arguments>;
  enum : int {
    kScores = Spec::kKeys / 2,
    kOutputs = Layout::kColumns / 2,
    kSteps = Layout::template steps<Element>(Spec::kKeys),
    kHeadSteps = Layout::template steps<Element>(Spec::kHeadDim),
    /// Whether blocks that bounds cut come alone, and have a softmax together with a tile's first
    /// one: where documents make it long, beside which their products hardly count, nor that
    /// a tile's beginning cannot be mixed with it then.  Of three groups one has such a block in
    /// nearly each tile; queries that each have their own end cut many.
    kOneSoftmax = IsBounded<Spec> && HasAgree<Spec> && !Spec::kBeginsLater && !Spec::kScattered &&
                  !Layout::kHasRuns && Spec::kQuerySlots > 1 && Spec::kGroups != 3,
    /// Whether blocks that bounds cut have a loop of their own, whose text takes time to compile:
    /// with one place for queries, as heads longer than 128 have for many keys, which take 4 to 8 %
    /// longer where each block is asked.
    kCutsApart = IsBounded<Spec> && !Layout::kHasRuns && Spec::kQuerySlots == 1,
    /// Whether the last tile goes on to scores as well, which nobody reads, so that its products
    /// and its store are not in the text again.  Of short tiles that takes up to 4 %, but not where
    /// softmax takes long.
    kIdles = kOneSoftmax && Spec::kKeys >= 64,
    /// In which scores beyond the reach of polynomials go through their function, a third slower
    /// than at once.  Three groups have no register left to count them.
    kRounds = HasExponent<Spec> && Spec::kKeys % 32 == 0 && Spec::kGroups != 3 ? 4 : 1,
    /// Whether to keep the compiler from an order of its own where registers are multiplied.  Of 16
    /// bits that makes no difference, or costs time (head dim 64: 3 %) beside that of compiling; of
    /// 8 bits it saves 12 %, and of parts of tiles some registers.
    kPins = Layout::kElementBytes == 1 || partsOf<Spec>() != 1
  };

  AttentionShared<Spec> shared;
  Rows rows;
  int group, warp, lane; // the warp's number within its warpgroup
  Slot<Spec::kStages> key, value;
  Slot<Spec::kQuerySlots> query;

  AttentionTile tile;       ///< what of it is in use, so that reads for all of it stay
  int firstBlock, endBlock; ///< of keys
  int firstOpen, endOpen;   ///< those that all of the warpgroup's queries see whole
  unsigned weights[kSteps][4];
  float output[kOutputs];
  unsigned queries[kHeadSteps][4]; ///< where they are held

  /// Starts scores = Q K^T; or, with `idles`, those of the last keys with themselves.
  __device__ __forceinline__ void multiplyKeys(float (&scores)[kScores], bool idles = false) {
    auto q = matrixDescriptor(shared.query(query.stage) + group * 64 * kPanelRow, 16, 8 * kPanelRow,
                              Swizzle::B128);
    auto k = matrixDescriptor(shared.keys.at(key.stage), 16, 8 * kPanelRow, Swizzle::B128);
    int queryPanel = Layout::kQueryPanel;
    if constexpr (kIdles)
      if (idles) {
        q = k = matrixDescriptor(shared.keys.at(value.stage), 16, 8 * kPanelRow, Swizzle::B128);
        queryPanel = Layout::kKeyPanel;
      }
    if constexpr (Spec::kHoldsQuery)
#pragma unroll
      for (int step = 0; step < kHeadSteps; ++step)
        pinRegisters(queries[step]);
    warpgroupFence();
    // What is within a panel at once.
    const auto multiply = [&]<int Steps>(Count<Steps>, int panel) {
      const auto at = k + static_cast<unsigned>(panel * Layout::kKeyPanel / 16);
      if constexpr (Spec::kHoldsQuery)
        warpgroupMultiplyRegisters<Element, Spec::kKeys, false, Element, Steps, 2>(
            scores, queries + 4 * panel, at, panel != 0);
      else
        warpgroupMultiply<Element, Spec::kKeys, false, false, Element, Steps, 2, 2>(
            scores, q + static_cast<unsigned>(panel * queryPanel / 16), at, panel != 0);
    };
    bySteps<kHeadSteps>(multiply);
    warpgroupCommit();
  }

  /// The queries into registers: shared memory then has fewer bytes to give for each product.
  __device__ __forceinline__ void holdQuery(int slot) {
    if constexpr (Spec::kHoldsQuery) {
      const int row = group * 64 + warp * 16 + lane % 16;
#pragma unroll
      for (int step = 0; step < kHeadSteps; ++step) {
        const int chunk = (step % 4 * 2 + lane / 16) ^ (lane & 7);
        loadMatrix<4>(shared.query(slot) + step / 4 * Layout::kQueryPanel + row * kPanelRow +
                          chunk * 16,
                      queries[step]);
      }
    }
  }

  /// Starts output += weights V.
  __device__ __forceinline__ void multiplyValues() {
    constexpr bool kTransposed = Layout::kTransposers > 0;
    constexpr int kStepBytes = kTransposed ? Layout::kValueStep : 16 * kPanelRow;
    const SharedAddress at = shared.values.at(value.stage);
    const auto v = kTransposed
                       ? matrixDescriptor(at, 16, 8 * 32, Swizzle::B32)
                       : matrixDescriptor(at, Layout::kKeyPanel, 8 * kPanelRow, Swizzle::B128);
    pinWeights();
    pinOutput();
    warpgroupFence();
    bySteps<kSteps>([&]<int Steps>(Count<Steps>, int four) {
      warpgroupMultiplyRegisters<Element, Layout::kColumns, !kTransposed, Element, Steps,
                                 kStepBytes / 16>(
          output, weights + 4 * four, v + static_cast<unsigned>(four * 4 * kStepBytes / 16), true);
    });
    warpgroupCommit();
  }

  __device__ __forceinline__ void pinOutput() {
    if constexpr (kPins)
      pinRegisters(output);
  }
  __device__ __forceinline__ void pinWeights() {
    if constexpr (kPins)
#pragma unroll
      for (int step = 0; step < kSteps; ++step)
        pinRegisters(weights[step]);
  }

  /// Products of 8-bit elements are too short for turns to be worth their wait.
  __device__ __forceinline__ void takeTurn() {
    if constexpr (Layout::kElementBytes > 1)
      namedBarrier(kTurnBarrier + group, 256);
  }
  __device__ __forceinline__ void passTurn() {
    if constexpr (Layout::kElementBytes > 1)
      namedBarrierArrive(kTurnBarrier + (group + 1) % Spec::kGroups, 256);
  }

  __device__ __forceinline__ int firstColumn(int block) const {
    return block * Spec::kKeys + lane % 4 * 2;
  }
  /// What the warp's queries see of a block that bounds leave whole, whose keys are of these kinds.
  /// Where they are of one kind, it is all that they see or nothing, if the keys are all of this
  /// kind or all of others.
  __device__ __forceinline__ SeenKeys seenOf(const KindRange &keys) const {
    const KindRange own = *shared.queryKinds();
    const bool alike = own.least == keys.least && own.most == keys.most && own.least == own.most;
    const bool none = own.most < keys.least || own.least > keys.most;
    return allLanes(alike) ? SeenKeys::Alike : allLanes(none) ? SeenKeys::None : SeenKeys::All;
  }
  /// The same of a block whose keys are there.
  template <Cut IsCut> __device__ __forceinline__ SeenKeys seenOf(int block) const {
    if (IsCut == Cut::Always ||
        (IsCut == Cut::Maybe && anyLane(block >= endOpen || block < firstOpen)))
      return SeenKeys::Some;
    if constexpr (!HasAgree<Spec>)
      return HasExponent<Spec> ? SeenKeys::Alike : SeenKeys::All;
    else if constexpr (hasKindsWarp<Spec>())
      return seenOf(*shared.keyKindsAt(key));
    else
      return seenOf(kindsOfKeys<Spec>(rows.arguments, tile, block * Spec::kKeys));
  }
  /// The scores of a block of which this is seen, and the highest; and how weights are made of
  /// them.
  template <Cut IsCut>
  __device__ __forceinline__ SeenKeys modify(float (&scores)[kScores], int block, SeenKeys seen) {
    const int column = firstColumn(block);
    if constexpr (HasAgree<Spec>)
      if (seen == SeenKeys::None) {
        rows.keep();
        return seen;
      }
    // No register is left for a second way by longer heads, which have fewer keys to compare, and
    // by three groups with bounds; and where polynomials are, exact scores are few.
    constexpr bool MayCompareIntegers =
        !HasExponent<Spec> && Spec::kValueDim <= 128 && (Spec::kGroups != 3 || !IsBounded<Spec>);
    if (IsCut != Cut::Never && seen == SeenKeys::Some) {
      rows.template modify<SeenKeys::Some>(scores, column, tile);
      rows.setPeaks(scores); // among what the mask says of the scores
    } else if constexpr (HasExponent<Spec>) {
      if (seen == SeenKeys::Alike)
        seen = rows.reachOf(scores);
      if (seen < SeenKeys::Within) {
        rows.template modify<SeenKeys::All, kRounds>(scores, column, tile);
        rows.setPeaks(scores);
      }
    } else {
      if constexpr (!HasAgree<Spec>)
        rows.template modify<SeenKeys::All>(scores, column, tile);
      else if (seen == SeenKeys::Alike)
        rows.template modify<SeenKeys::Alike>(scores, column, tile);
      else
        rows.template modify<SeenKeys::All>(scores, column, tile);
      rows.template setPeaks<MayCompareIntegers>(scores);
    }
    rows.raise(column, tile, seen);
    return seen;
  }
  __device__ __forceinline__ void exponentials(float (&scores)[kScores], int block, SeenKeys seen) {
    if constexpr (HasAgree<Spec>)
      if (seen == SeenKeys::None)
        return;
    if constexpr (HasNearExponent<Spec>)
      if (seen == SeenKeys::Near)
        return rows.template exponentials<SeenKeys::Near>(scores, firstColumn(block), tile);
    if constexpr (HasExponent<Spec>)
      if (seen >= SeenKeys::Within)
        return rows.template exponentials<SeenKeys::Within>(scores, firstColumn(block), tile);
    rows.exponentials(scores);
  }
  template <Cut IsCut>
  __device__ __forceinline__ void weigh(float (&scores)[kScores], int block, SeenKeys seen) {
    if constexpr (HasAgree<Spec>)
      if (seen == SeenKeys::None)
        return;
    rows.template weigh<IsCut != Cut::Never>(scores, firstColumn(block), tile);
  }

  /// As an accumulator lies, so lies the left operand of the next product; of 8-bit elements after
  /// a permutation of the keys, in which the values lie as well.
  __device__ __forceinline__ void narrowWeights(const float (&scores)[kScores],
                                                SeenKeys seen = SeenKeys::All) {
    if (HasAgree<Spec> && seen == SeenKeys::None) {
#pragma unroll
      for (int i = 0; i < 4 * kSteps; ++i)
        weights[i / 4][i % 4] = 0;
      return;
    }
    if constexpr (Layout::kElementBytes == 2) {
#pragma unroll
      for (int i = 0; i < kScores / 2; ++i)
        weights[i / 4][i % 4] = narrowPair(Element{}, scores[2 * i], scores[2 * i + 1]);
    } else {
#pragma unroll
      for (int i = 0; i < kScores / 4; ++i) {
        const float *low = scores + i / 2 * 8 + i % 2 * 2;
        weights[i / 4][i % 4] = narrowPair(Element{}, low[0], low[1]) |
                                static_cast<unsigned>(narrowPair(Element{}, low[4], low[5])) << 16;
      }
    }
  }

  /// The sums of a block's weights, which are in each of the last eight columns.  They begin again
  /// at 0, because the hardware cuts what it adds to a sum 13 bits behind the first one of that.
  __device__ __forceinline__ void takeSums() {
    if constexpr (Layout::kTransposers > 0) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        rows.roundedSum[r] += output[kOutputs - 4 + 2 * r];
        // Not constants, which ptxas moves behind the next products' fence.
        output[kOutputs - 4 + 2 * r] -= output[kOutputs - 4 + 2 * r];
        output[kOutputs - 3 + 2 * r] -= output[kOutputs - 3 + 2 * r];
      }
      pinOutput();
    }
  }

  __device__ __forceinline__ void scaleOutput() {
    if constexpr (Spec::kPatience > 0)
      if (!anyLane(rows.rescale[0] != 1.0f || rows.rescale[1] != 1.0f))
        return;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      output[i] *= rows.rescale[i / 2 % 2];
  }

  /// Whether all of the warpgroup's rows are behind the last query.
  __device__ __forceinline__ bool isOutside() const {
    return allLanes(rows.first - lane / 4 - warp * 16 >= rows.arguments.queries());
  }
  __device__ __forceinline__ int warpIndexOfGroups() const { return group * 4 + warp; }

  /// Adds the outputs to the thread's own sums in shared memory and begins again at 0; or, for the
  /// last time, the sums to the outputs.
  template <bool Last> __device__ __forceinline__ void addSums(bool isFirst) {
    float *const maxima = reinterpret_cast<float *>(dynamicArena() + Layout::kMaximaAt) +
                          (warpIndexOfGroups() * 2 * 32 + lane);
    char *const sums =
        dynamicArena() + Layout::kSumsAt + warpIndexOfGroups() * Layout::kWarpSums + lane * 16;
    float factor[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      factor[r] = isFirst ? 0.0f : exp2Fast((maxima[32 * r] - rows.highest[r]) * rows.scaleLog2());
      if constexpr (!Last)
        maxima[32 * r] = rows.highest[r];
    }
#pragma unroll
    for (int i = 0; i < Spec::kValueDim / 2; i += 4) {
      char *const at = sums + i / 4 * (32 * 16);
      unsigned kept[4] = {};
      if (!isFirst)
        loadShared<16>(at, kept);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float sum = fma(__builtin_bit_cast(float, kept[j]), factor[j / 2], output[i + j]);
        kept[j] = __builtin_bit_cast(unsigned, sum);
        // Not a constant: takeSums.
        output[i + j] = Last ? sum : output[i + j] - output[i + j];
      }
      if constexpr (!Last)
        storeShared<16>(at, kept);
      syncWarp(); // what is read is read in turn
    }
    pinOutput();
  }

  /// The warp's first query of a tile.
  __device__ __forceinline__ int firstQueryOf(const AttentionTile &of) const {
    return of.firstQuery + group * 64 + warp * 16;
  }
  template <bool Weighed> __device__ __forceinline__ void requestScoreTiles(int block) {
    Queue::template next<Weighed>(rows.arguments, tile, firstQueryOf(tile), block, firstBlock);
  }

  /// Whether there is a next tile; its queries have arrived.
  __device__ __forceinline__ bool take() {
    shared.waitQuery(query);
    const AttentionTile next = shared.tile(query.stage);
    Queue::begin(rows.arguments, next, firstQueryOf(next),
                 beginsLater<Spec>() ? next.firstBlock : 0);
    return !next.ends();
  }

  __device__ __forceinline__ void begin() {
    tile = shared.tile(query.stage);
    const int first = tile.firstQuery + group * 64;
    rows.template begin<partsOf<Spec>() == 1>(first + warp * 16 + lane / 4, tile);
    if constexpr (HasAgree<Spec>) {
      const KindRange kinds =
          kindsOfQueries<Spec>(rows.arguments, tile, rows.first, rows.first + 8);
      if (lane == 0)
        *shared.queryKinds() = kinds;
      syncWarp();
    }
    firstBlock = beginsLater<Spec>() ? tile.firstBlock : 0;
    endBlock = tile.endBlock;
    const RowRange<int> open = seenByRows<Spec, 64>(tile, first, rows.arguments).all;
    firstOpen = (open.first + Spec::kKeys - 1) / Spec::kKeys;
    endOpen = open.last / Spec::kKeys;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i)
      output[i] = 0.0f;
  }

  /// Starts with the scores of the tile's first block, the one behind all others.
  __device__ __forceinline__ void startTile(float (&scores)[kScores]) {
    shared.keys.waitFull(key);
    holdQuery(query.stage);
    multiplyKeys(scores);
    warpgroupWait<0>();
    pinRegisters(scores);
    shared.keys.release(key);
  }

  /// After the products of the first block's scores.  It is in the text once, because copies of so
  /// many instructions are what takes time to compile; with bounds always by the whole score
  /// function, which the last keys mostly want.  Without, only a block that is not whole does.
  __device__ __forceinline__ void firstSoftmax(float (&scores)[kScores], int block, bool gives) {
    rows.setOffset(firstColumn(block), tile);
    rows.tileRow = Queue::await(block, lane / 4);
    if (IsBounded<Spec> || block >= endOpen)
      rows.template modify<SeenKeys::Some>(scores, firstColumn(block), tile);
    else
      rows.template modify<SeenKeys::All>(scores, firstColumn(block), tile);
    rows.setPeaks(scores);
    rows.raise(firstColumn(block), tile, SeenKeys::Some);
    requestScoreTiles<false>(block);
    rows.exponentials(scores);
    weigh<Cut::Always>(scores, block, SeenKeys::Some);
    requestScoreTiles<true>(block);
    narrowWeights(scores);
    if constexpr (Spec::kEager)
      scaleOutput();
    // Before the values are waited for: a tile's last ones come after the next tile's queries, and
    // for those this place is needed.
    if (gives)
      giveBack();
    shared.values.waitFull(value);
  }

  /// The scores of this block under the products of the one before.  The output is scaled while
  /// the tensor cores work at the scores.
  template <Cut IsCut> __device__ __forceinline__ void nextBlock(int block) {
    float scores[kScores];
    shared.keys.waitFull(key);
    takeTurn();
    multiplyKeys(scores);
    if constexpr (!Spec::kEager)
      scaleOutput();
    multiplyValues();
    passTurn();
    rows.setOffset(firstColumn(block), tile);
    SeenKeys seen = seenOf<IsCut>(block);
    warpgroupWait<1>();
    pinRegisters(scores);
    shared.keys.release(key);
    rows.tileRow = Queue::await(block, lane / 4);
    seen = modify<IsCut>(scores, block, seen);
    if constexpr (Spec::kEager) {
      // Short heads: the products are done before the exponentials, among which narrowing and
      // scaling cost no time.
      warpgroupWait<0>();
      pinOutput();
      pinWeights();
      takeSums();
      shared.values.release(value);
      requestScoreTiles<false>(block);
      exponentials(scores, block, seen);
      weigh<IsCut>(scores, block, seen);
      requestScoreTiles<true>(block);
      narrowWeights(scores, seen);
      scaleOutput();
      shared.values.waitFull(value);
    } else {
      requestScoreTiles<false>(block);
      exponentials(scores, block, seen);
      weigh<IsCut>(scores, block, seen);
      requestScoreTiles<true>(block);
      // The values of this block are wanted next.  To wait for them here and not later keeps ptxas
      // from moving the exponentials past the wait for the products, which they are to overlap.
      auto next = value;
      next.advance();
      pinRegisters(scores);
      shared.values.waitFull(next);
      pinRegisters(scores);
      warpgroupWait<0>();
      pinOutput();
      pinWeights();
      shared.values.release(value);
      narrowWeights(scores, seen);
    }
  }

  __device__ __forceinline__ void lastProducts() {
    if constexpr (!Spec::kEager)
      scaleOutput();
    multiplyValues();
    warpgroupWait<0>();
    pinOutput();
    takeSums();
    shared.values.release(value);
  }

  /// The first scores of the next tile, if there is one or kIdles, and the last products of this
  /// one, which is then stored; or the scores of a block that comes alone, and the products of the
  /// one before.
  __device__ __forceinline__ void cross(float (&scores)[kScores], bool stores, bool goes, int last,
                                        const TensorMap &o) {
    if constexpr (!Spec::kEager)
      scaleOutput();
    if (!kIdles || goes) {
      holdQuery(query.stage);
      shared.keys.waitFull(key);
    }
    takeTurn();
    multiplyValues();
    multiplyKeys(scores, kIdles && !goes);
    passTurn();
    warpgroupWait<1>();
    pinOutput();
    pinWeights();
    takeSums();
    shared.values.release(value);
    if (stores)
      store(last, o);
    warpgroupWait<0>();
    pinRegisters(scores);
    if (!kIdles || goes)
      shared.keys.release(key);
  }

  /// Outputs 2 j and 2 j + 1 as they leave: divided by the sum of weights, and what the Spec makes
  /// of that.
  __device__ __forceinline__ void finish(float (&pair)[2], int j, const float (&scales)[2],
                                         const AttentionStatistics (&statistics)[2],
                                         const AttentionTile &tile) {
    const int r = j % 2;
    pair[0] = output[2 * j] * scales[r];
    pair[1] = output[2 * j + 1] * scales[r];
    if constexpr (HasEpilogue<Spec>)
      rows.finishPair(typename Spec::EpilogueLoads{}, typename Spec::EpilogueStores{}, pair, r,
                      j / 2 * 8 + lane % 4 * 2, statistics[r], tile);
    // What is read is read in turn: registers are full.
    if constexpr (HasEpilogue<Spec>)
      if (j % 4 == 3)
        syncWarp();
  }

  /// Merges the parts of the cluster's blocks and stores every so many columns of the result.
  __device__ __forceinline__ void storeMerged(int slot) {
    const AttentionTile tile = shared.tile(slot);
    const AttentionPart<Spec> part{shared.base, Layout::kPartAt, group * 128 + warp * 32 + lane};
    const bool sees = tile.firstKey < tile.endKey;
    // The warp that loads has to end: the cluster's barrier waits for all threads there are.
    syncWarp();
    if (lane == 0)
      shared.releaseQuery(slot);
    syncWarp();
    // All warpgroups have read the last keys and values.
    namedBarrier(kPartBarrier, part.kThreads);
    const float sums[2] = {rows.totalOf(0), rows.totalOf(1)};
    part.leave(0, sees ? rows.highest[0] : unseen(), sees ? sums[0] : 0.0f,
               sees ? rows.highest[1] : unseen(), sees ? sums[1] : 0.0f);
#pragma unroll
    for (int i = 0; i < kOutputs; i += 4)
      part.leave(1 + i / 4, sees ? output[i] : 0.0f, sees ? output[i + 1] : 0.0f,
                 sees ? output[i + 2] : 0.0f, sees ? output[i + 3] : 0.0f);
    clusterBarrier();
    const int rank = static_cast<int>(clusterRank());
    float factors[Spec::kParts][2], scales[2];
    AttentionStatistics statistics[2];
    part.mergeRows(rows, tile, lane, factors);
    rows.end(scales, statistics, lane % 4 == 0 && rank == 0, tile);
    // Two places are whole sectors of a result of 16 bits.
#pragma unroll 1
    for (int place = 2 * rank; place < part.kOutputs;
         place += place % 2 ? 2 * Spec::kParts - 1 : 1) {
      const auto merged = part.mergeOutputs(place, factors);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float pair[2] = {merged.of[2 * r] * scales[r], merged.of[2 * r + 1] * scales[r]};
        rows.finishPair(typename Spec::EpilogueLoads{}, typename Spec::EpilogueStores{}, pair, r,
                        place * 8 + lane % 4 * 2, statistics[r], tile);
      }
    }
    syncWarp();
    clusterBarrier(); // others read until then
  }

  __device__ __forceinline__ void store(int slot, const TensorMap &o) {
    if constexpr (partsOf<Spec>() > 1)
      return storeMerged(slot);
    const AttentionTile tile = shared.tile(slot);
    if constexpr (Layout::kHasRuns)
      if (endBlock - firstBlock > runOf<Spec>() && !isOutside())
        addSums<true>(false);
    float scales[2];
    AttentionStatistics statistics[2];
    rows.end(scales, statistics, lane % 4 == 0, tile);
    if constexpr (HasTiledResult<Spec>) {
      storeTile(slot, o, scales, statistics, tile);
    } else {
#pragma unroll
      for (int j = 0; j < Spec::kValueDim / 4; ++j) {
        float pair[2];
        finish(pair, j, scales, statistics, tile);
      }
      if constexpr (Spec::kQuerySlots == 1)
        if (lane == 0)
          shared.releaseQuery(slot);
      syncWarp();
    }
  }

  /// Through the rows of the query tile that this warpgroup alone has read, swizzled as the copy
  /// engine expects them; each warp sends its own 16.
  __device__ __forceinline__ void storeTile(int slot, const TensorMap &o, const float (&scales)[2],
                                            const AttentionStatistics (&statistics)[2],
                                            const AttentionTile &tile) {
    const int row = group * 64 + warp * 16;
    constexpr int kPanel = Layout::kHasRuns ? 16 * kPanelRow : Layout::kQueryPanel;
    SharedAddress from = shared.query(slot) + row * kPanelRow;
    if constexpr (Layout::kHasRuns) {
      from = shared.base + Layout::kSumsAt + warpIndexOfGroups() * Layout::kWarpSums;
      syncWarp(); // all lanes have read their sums
    } else {
      namedBarrier(kStoreBarrier + group, 128); // all four warps' products have read the queries
    }
#pragma unroll
    for (int i = 0; i < (Spec::kValueDim + 15) / 16; ++i) {
      unsigned pairs[4] = {};
#pragma unroll
      for (int j = 0; j < 4 && 8 * i + 2 * j < Spec::kValueDim / 2; ++j) {
        float pair[2];
        finish(pair, 4 * i + j, scales, statistics, tile);
        pairs[j] = narrowPair(typename Spec::Result{}, pair[0], pair[1]);
      }
      const int chunk = (i % 4 * 2 + lane / 16) ^ (lane & 7);
      storeMatrix<4>(from + i / 4 * kPanel + lane % 16 * kPanelRow + chunk * 16, pairs);
    }
    fenceProxyAsync();
    syncWarp();
    if (lane == 0) {
#pragma unroll
      for (int panel = 0; panel < Layout::kResultPanels; ++panel)
        tensorStore(o, from + panel * kPanel, panel * 64, tile.firstQuery + row, tile.group,
                    tile.keyHead, tile.batch);
      bulkCommit();
      if constexpr (Spec::kQuerySlots == 1) {
        bulkWaitRead<0>();
        shared.releaseQuery(slot);
      }
    }
    syncWarp();
  }

  /// Gives the place of the tile before back, whose store has had time to be read by now.
  __device__ __forceinline__ void giveBack() {
    if constexpr (Spec::kQuerySlots > 1) {
      if (lane == 0) {
        bulkWaitRead<0>();
        shared.releaseQuery(Spec::kQuerySlots == 2
                                ? query.stage ^ 1 // one instruction
                                : (query.stage + Spec::kQuerySlots - 1) % Spec::kQuerySlots);
      }
      syncWarp();
    }
  }

  /// The blocks from this one on, up to one that comes alone.
  __device__ __forceinline__ void middle(int &block) {
    // Nothing of this is stored.  All have waited for what one thread then gives back.
    if (isOutside()) {
#pragma unroll 1
      for (; block >= firstBlock; --block) {
        shared.keys.waitFull(key);
        shared.values.waitFull(value);
        takeTurn();
        passTurn();
        namedBarrier(kStoreBarrier + group, 128);
        shared.keys.release(key);
        shared.values.release(value);
      }
      shared.values.waitFull(value);
      return;
    }
    if (kOneSoftmax && block >= endOpen)
      return;
    // Without bounds no block but the first one is cut; but if ptxas knows that, it makes three
    // groups of 16 bits 2 % slower.
    constexpr bool kAsks =
        IsBounded<Spec> ? !kOneSoftmax : Spec::kGroups == 3 && Layout::kElementBytes == 2;
    constexpr Cut IsCut = kAsks ? Cut::Maybe : Cut::Never;
    if constexpr (kCutsApart) {
      // What bounds cut, what they leave whole, and, where keys begin later, again what they cut.
      const int open = firstOpen > firstBlock ? firstOpen : firstBlock;
      int cut = endOpen > firstBlock ? endOpen : firstBlock;
#pragma unroll 1
      for (;;) {
#pragma unroll 1
        for (; block >= cut; --block)
          nextBlock<Cut::Always>(block);
#pragma unroll 1
        for (; block >= open; --block)
          nextBlock<Cut::Never>(block);
        if (!Spec::kBeginsLater || block < firstBlock)
          break;
        cut = firstBlock;
      }
    } else if constexpr (!Layout::kHasRuns) {
#pragma unroll 1
      for (; block >= firstBlock; --block)
        nextBlock<IsCut>(block);
    } else {
      // Sums go to shared memory behind a loop over the blocks of a run, not in it: what is in a
      // loop beside its products costs time in all of its rounds.
      int visit = block + 1 - runOf<Spec>();
#pragma unroll 1
      while (block >= firstBlock) {
        const int stop = visit > firstBlock ? visit : firstBlock;
#pragma unroll 1
        for (; block >= stop; --block)
          nextBlock<IsCut>(block);
        if (block >= visit)
          break;
        addSums<false>(visit == endBlock - 1 - runOf<Spec>());
        visit -= runOf<Spec>();
      }
    }
  }

  /// What is behind the products of a tile's first block, or behind its softmax, up to the scores
  /// of the next tile's, if there is one.
  __device__ __forceinline__ bool rest(float (&scores)[kScores], int block, bool gives,
                                       const TensorMap &o) {
#pragma unroll 1
    for (;;) {
      if constexpr (kOneSoftmax) {
        firstSoftmax(scores, block--, gives);
        gives = false;
      }
      middle(block);
      const bool ends = !kOneSoftmax || block < firstBlock;
      const int last = query.stage;
      bool goes = true;
      if (ends) {
        query.advance();
        goes = take();
        if (!kIdles && !goes) {
          lastProducts();
          store(last, o);
          return false;
        }
      }
      cross(scores, ends, goes, last, o);
      if (ends)
        return !kIdles || goes;
    }
  }

  __device__ __forceinline__ void run(const TensorMap &o) {
    if (group == Spec::kGroups - 1)
      passTurn(); // the first turn is the first warpgroup's
    if (!take())
      return;
    float scores[kScores]; // of a tile's first block, until its softmax
    if constexpr (Spec::kQuerySlots > 1)
      startTile(scores);
    // The first tile of all has none before it whose place could be given back.
    for (bool gives = false;; gives = true) {
      begin(); // beside the softmax, whose instructions do not wait for each other
      if constexpr (Spec::kQuerySlots == 1)
        startTile(scores);
      int block = endBlock - 1;
      if constexpr (!kOneSoftmax)
        firstSoftmax(scores, block--, gives);
      if constexpr (Spec::kQuerySlots > 1) {
        if (!rest(scores, block, gives, o))
          break;
      } else {
        middle(block);
        lastProducts();
        store(query.stage, o);
        query.advance();
        if (!take())
          break;
      }
    }
    if (lane == 0)
      bulkWait<0>(); // shared memory is read until then
  }
};

} // namespace detail

/// `scratch`: 16 bytes of global memory for this launch alone, that hold anything.
template <class Spec, class Pointers>
__device__ __forceinline__ void
attentionHopper(const TensorMap &q, const TensorMap &k, const TensorMap &v, const TensorMap &o,
                const Pointers &pointers, void *scratch, const typename Spec::Sizes &sizes) {
  using namespace detail;
  using Arguments = AttentionArguments<Spec, Pointers>;
  const Arguments arguments{pointers, sizes, static_cast<unsigned long long *>(scratch)};
  const AttentionShared<Spec> shared(sharedAddress(dynamicArena()));
  // Reduced, not shuffled: the result of that is in a uniform register, and with it what depends on
  // the warpgroup.
  const int warp = static_cast<int>(reduceLanes<LaneOp::Max>(warpIndex()));
  if (threadIndex() == 0) {
    prefetchTensorMap(q);
    prefetchTensorMap(k);
    prefetchTensorMap(v);
    if constexpr (HasTiledResult<Spec>)
      prefetchTensorMap(o);
    shared.init();
    mbarrierFenceInit();
  }
  barrier();
  // All of them together have what a block is launched with, 504 or 512 for a thread of each.
  constexpr int kLoads = Spec::kGroups == 3 ? 32 : 40;
  if (warp < 4) {
    decreaseRegisters<kLoads>();
    if (warp == 0)
      AttentionProducer<Spec, Arguments>{shared, arguments}.run(q, k, v);
    if constexpr (hasKindsWarp<Spec>())
      if (warp == 1)
        AttentionKinds<Spec, Arguments>{shared, arguments}.run();
    if constexpr (AttentionLayout<Spec>::kTransposers > 0)
      if (warp != 0)
        AttentionTransposer<Spec>{shared, warp - 1, static_cast<int>(laneIndex())}.run();
  } else {
    increaseRegisters<Spec::kGroups == 3 ? 160 : 232>();
    AttentionGroup<Spec, Arguments>{
        shared, {arguments}, warp / 4 - 1, warp % 4, static_cast<int>(laneIndex())}
        .run(o);
  }
}

/// Where the copy engine stores nothing.
template <class Spec, class Pointers>
__device__ __forceinline__ void
attentionHopper(const TensorMap &q, const TensorMap &k, const TensorMap &v,
                const Pointers &pointers, void *scratch, const typename Spec::Sizes &sizes) {
  attentionHopper<Spec>(q, k, v, q, pointers, scratch, sizes);
}

} // namespace swage
