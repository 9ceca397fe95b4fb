// What the classes of row.cuh do with a row: a thread's vectors from the loads to the stores, and
// what comes once per row.
#pragma once

#include "swage/row_aligned.cuh"

namespace swage::detail {

/// Vectors of a thread, of those that its block takes at once; or one element, by its coordinates.
/// Whole: they are all in the row.
template <class Spec, int Vectors = Spec::kVectorsPerThread, bool Whole = false,
          class At = RowCoord<Spec>>
struct RowChunk {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  enum : bool { kIsElement = IsElement<At> };
  enum : int { T = Spec::kThreadsPerRow, U = Vectors, V = kIsElement ? 1 : Spec::kVector };
  enum : int {
    kLast = decltype(Spec::kept(typename Spec::Sizes{}))::kRank +
            decltype(Spec::reduced(typename Spec::Sizes{}))::kRank - 1
  };
  enum : bool { kPadded = IsAligned<Spec> && !Whole };

  At coord[U];
  bool valid[U], isRead[U];
  Compute values[U][V];
  LastCompute<Spec> apart[IsApart<LastStage<Spec>, Spec> ? U : 1][V]; ///< in place of `values`
  Compute count;
  using Prologue = Inputs<typename Spec::PrologueLoads, V, kLast>;
  Prologue in[U];
  using Middle = Middles<Later<Spec>, V, kLast>;
  Middle middle[U];
  using Late = Inputs<typename Spec::EpilogueLoads, V, kLast>;
  Late late[U];
  /// Whether what the epilogue reads once is on its way before the threads wait for each other:
  /// left to the compiler, they wait for memory again behind the barrier.  Not with so many
  /// registers that few rows are left on a multiprocessor. What comes between collectives has
  /// precedence.  What a phase before has read is kept, not read again: 64 KB of a block at most.
  enum : int {
    kNewWords = Middle::template newWords<Late, Prologue>(),
    kKeptWords = Spec::kThreads * U * (Late::kOwnWords - kNewWords)
  };
  enum : bool { kKeepsInputs = !kIsElement && !IsBounded<Spec> && kKeptWords <= 16384 };
  enum : int {
    kMiddleWords = Spec::kThreads * U * Middle::aheadWords(List<Prologue>{}, Later<Spec>{}),
    kAheadWords = Spec::kThreads * U * (kKeepsInputs ? kNewWords : Late::kOwnWords),
    kMostAhead = Spec::rowClass() != RowClass::Looped ? 6144 : -1
  };
  enum : bool {
    kReadsMiddle = kMiddleWords > 0 && kMiddleWords <= kMostAhead,
    kReadsAhead = Late::kOwnWords > 0 && kMiddleWords + kAheadWords <= kMostAhead
  };
  /// The same of all that it reads (gamma and beta), where 50 KB of the rows are on a multiprocessor all
  /// the same, and where a warp is alone in its block.  With 16 elements a thread, dealt out evenly, the
  /// registers are what is counted here.
  enum : int {
    kLateWords = U * Late::kWords,
    kRegisters = (Spec::collective() == Collective::LayerNorm ? 24 : 16) + U * V + kLateWords,
    kBytesAround = 65536 / kRegisters * U * Prologue::kOwnWords * 4
  };
  using Reduced = decltype(Spec::reduced(typename Spec::Sizes{}));
  enum : bool {
    kIsEven = Reduced::kFixed && Reduced::kCount == T * U && U * V <= 16,
    kReadsAllAhead = !kReadsAhead && !kPadded && Spec::rowClass() != RowClass::Looped &&
                     sizeof(Compute) == 4 && !Late::kMakesBits && kLateWords > 0 &&
                     kLateWords <= 32 &&
                     (Spec::kThreads == kWarpSize || (kIsEven && kBytesAround >= 50 << 10))
  };

  static_assert(!IsBounded<Spec> || !HasLater<Spec>, "what is not read is no operand to copy");

  /// What a stage works on.
  template <class Stage> __device__ __forceinline__ auto &operandsOf() {
    if constexpr (IsApart<Stage, Spec>)
      return apart;
    else
      return values;
  }

  /// Those from vector `first` of the row on; `Full`: how many of unitOf() elements of them there always
  /// are.  Vectors behind the row's end are another one of the row, and not valid; what is outside of
  /// `range` is not read.
  template <long long Full, class Reduced>
  __device__ __forceinline__ void place(const typename Spec::Coord &row, const Reduced &reduced,
                                        const RowRange<Index> &range, Index first, int thread,
                                        [[maybe_unused]] int phase) {
    const Index units = reduced.template count<Index>();
    count = 0;
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const Index vector = first + placeOf<Spec>(thread, u);
      isRead[u] = !IsBounded<Spec> || (vector >= range.first && vector < range.last);
      if constexpr (IsAligned<Spec>) {
        const int from = static_cast<int>(first + placeOf<Spec>(thread, 0)) * V;
        if constexpr (Whole) {
          coord[u] = wholeVector<Spec, At>(row, phase, from, u * (T * V));
          valid[u] = true;
        } else {
          coord[u] = partialVector<Spec>(row, phase, from, u * (T * V), units, u == 0,
                                         Full > static_cast<long long>(T) * (u + 1) * V, valid[u]);
        }
        count += static_cast<Compute>(coord[u].end - coord[u].begin);
      } else {
        const bool always = Whole || Full >= T * (groupOf<Spec>() == 0 ? u + 1 : U);
        valid[u] = always || vector < units;
        coord[u] = vectorOfRow<Spec>(row, reduced, valid[u] ? vector : units - 1);
        count += valid[u] ? Compute(V) : Compute(0);
      }
    }
  }
  /// An element of the row, or none.
  __device__ __forceinline__ void placeElement(const typename Spec::Coord &row, int at, bool exists) {
    static_cast<typename Spec::Coord &>(coord[0]) = row;
    coord[0][kLast] = at;
    valid[0] = isRead[0] = exists;
    count = Compute(1);
  }
  /// Which vectors the first collective is over: where a mask bounds the row (softmax), those that
  /// are read.
  __device__ __forceinline__ auto counted() const -> const bool (&)[U] {
    if constexpr (IsBounded<Spec>)
      return isRead;
    else
      return valid;
  }
  /// Reads the inputs, all of them before the first is used, and makes the values.  What is not
  /// read is -inf.  A single element comes with all that the epilogue reads.
  template <class Pointers>
  __device__ __forceinline__ void load(const Pointers &pointers, const typename Spec::Sizes &sizes,
                                       bool store) {
    if constexpr (kIsElement)
      late[0].load(pointers, coord[0], sizes);
    else if constexpr (kReadsAhead)
#pragma unroll
      for (int u = 0; u < U; ++u)
        if constexpr (kKeepsInputs)
          Middle::template loadNew<Prologue>(late[u], pointers, coord[u], sizes);
        else
          late[u].template loadPart<true>(pointers, coord[u], sizes);
    if constexpr (kReadsMiddle)
#pragma unroll
      for (int u = 0; u < U; ++u)
        middle[u].loadAhead(List<Prologue>{}, Later<Spec>{}, pointers, coord[u], sizes);
    auto fetch = [&](auto place) {
      fetchBy([&](auto &from, int u) {
        const auto at = place(coord[u]);
        // What the other vectors wait for must not start when the random bits of this one are made.
        if constexpr (Prologue::kMakesBits) {
          from.template loadPart<true>(pointers, at, sizes);
          from.template loadPart<false>(pointers, at, sizes);
        } else {
          from.load(pointers, at, sizes);
        }
      });
    };
    auto asItIs = [](const At &coord) { return coord; };
    // Tensors that begin anywhere often begin alike: half the loads then, and nothing to shift.
    if constexpr (kIsElement || !Prologue::kIsAnywhere)
      fetch(asItIs);
    else if (Prologue::template areInStep<Access::Anywhere>(pointers, coord[0], sizes))
      fetch([](const At &coord) { return PlacedCoord<At, kInStep>{coord}; });
    else
      fetch(asItIs);
    prologue(pointers, sizes, store);
    if constexpr (kReadsAllAhead)
#pragma unroll
      for (int u = 0; u < U; ++u)
        late[u].load(pointers, coord[u], sizes);
  }
  /// `read(in[u], u)` fetches vector u.  No use of a vector is behind a branch, which the compiler
  /// would delay the load to.
  template <class Read> __device__ __forceinline__ void fetchBy(const Read &read) {
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (isRead[u])
        read(in[u], u);
      else
        in[u] = {};
  }
  /// Makes the values of the inputs.
  template <class Pointers>
  __device__ __forceinline__ void prologue(const Pointers &pointers,
                                           const typename Spec::Sizes &sizes, bool store) {
#pragma unroll
    for (int u = 0; u < U; ++u) {
      runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], values[u], store && valid[u],
                        pointers, coord[u], sizes);
      const bool isThere = isRead[u] && (valid[u] || !MayRepeatStored<Spec>);
#pragma unroll
      for (int i = 0; i < V; ++i)
        values[u][i] = isThere ? values[u][i] : lowest<Compute>();
    }
    if constexpr (kPadded)
      pad<FirstStats<Spec>>(values, coord);
  }
  /// Makes what a stage works on of the elements of the one before; `results`: of those before.
  template <class Stage, class Results, class Pointers>
  __device__ __forceinline__ void between(const Results &results, const Pointers &pointers,
                                          const typename Spec::Sizes &sizes, bool store) {
    using Stats = StageStats<Spec, Stage>;
    using Before = StagesBefore<Spec, Stage>;
    auto &operands = operandsOf<Stage>();
    auto statistics = [&] {
      if constexpr (BetweenTakesStatistics<Stage>)
        return only<Spec>(Before{}, results);
      else
        return Statistics<>{};
    }();
#pragma unroll
    for (int u = 0; u < U; ++u) {
      middle[u].template loadAfter<Stage, kReadsMiddle>(Before{}, in[u], pointers, coord[u], sizes);
      runBetween<Stage>(typename Stage::Stores{}, middle[u].template of<Stage>(), values[u],
                        operands[u], statistics, store && valid[u], pointers, coord[u], sizes);
      // Behind a row's end are no elements once there has been a softmax, which leaves 0.
      if constexpr (hasSoftmax(AllStages<Spec>{}))
#pragma unroll
        for (int i = 0; i < V; ++i)
          if constexpr (Stats::kCounted)
            operands[u][i] = valid[u] ? operands[u][i] : operands[0][0];
          else
            operands[u][i] = valid[u] ? operands[u][i] : Stats::neutral();
    }
    if constexpr (kPadded)
      pad<Stats>(operands, coord);
  }
  /// `results(u)`: of all stages, for vector u.  Together: all vectors' inputs are read before the
  /// first is used.
  template <bool Together = false, class Place = At, class Results, class Pointers>
  __device__ __forceinline__ void epilogue(const Results &results, const Pointers &pointers,
                                           const typename Spec::Sizes &sizes, bool exists) {
    if constexpr (Together)
#pragma unroll
      for (int u = 0; u < U; ++u)
        late[u].load(pointers, coord[u], sizes);
    auto epilogueOf = [&](int u) {
      if constexpr (!EpilogueTakesStatistics<Spec>)
        return perElement(Statistics<>{}, EpilogueOf<Spec>{});
      else
        return perElement(results(u), EpilogueOf<Spec>{});
    };
    // What the results of a row make is made once.
    [[maybe_unused]] const auto ofRow = epilogueOf(0);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if constexpr (kReadsAhead && kKeepsInputs)
        middle[u].loadOthers(late[u], in[u], pointers, coord[u], sizes);
      else if constexpr (kReadsAhead)
        late[u].template loadPart<false>(pointers, coord[u], sizes);
      else if constexpr (!Together && !kIsElement && !kReadsAllAhead)
        late[u].load(pointers, Place{coord[u]}, sizes);
      auto run = [&](const auto &epilogue) {
        runEpilogue<Spec>(typename Spec::EpilogueStores{}, late[u], values[u], epilogue,
                          exists && valid[u], pointers, coord[u], sizes);
      };
      if constexpr (groupOf<Spec>() == 0)
        run(ofRow);
      else
        run(epilogueOf(u));
    }
  }

  /// The last stage over groups, which no other warp has a part in.  For each of a thread's groups
  /// one of the lanes that share it runs groupFinish, different ones at once where there are
  /// enough.
  template <class Pointers>
  __device__ __forceinline__ void collectGroups(ResultOf<Spec, LastStage<Spec>> (&results)[U],
                                                const Pointers &pointers,
                                                const typename Spec::Sizes &sizes, bool exists) {
    using S = StageStats<Spec, LastStage<Spec>>;
    using Number = LastCompute<Spec>;
    constexpr int kLanes = Grouping<Spec>::kLanes, kDepth = Grouping<Spec>::kDepth;
    auto &values = operandsOf<LastStage<Spec>>();
#pragma unroll
    for (int group = 0; group < U / kDepth; ++group) {
      Number part[kDepth][V];
      bool all[kDepth];
#pragma unroll
      for (int k = 0; k < kDepth; ++k) {
        all[k] = true;
#pragma unroll
        for (int i = 0; i < V; ++i)
          part[k][i] = values[group * kDepth + k][i];
      }
      Number origin = 0;
      const auto result = collect<S, Team<kLanes>, true, false>(
          part, all, Number(kDepth * V), Number(groupOf<Spec>()), Number(0), origin, nullptr);
      applyCollected<S>(part, result, origin);
#pragma unroll
      for (int k = 0; k < kDepth; ++k) {
        results[group * kDepth + k] = {result};
#pragma unroll
        for (int i = 0; i < V; ++i)
          values[group * kDepth + k][i] = part[k][i];
      }
    }
    if constexpr (!Spec::GroupFinishStores::empty()) {
      constexpr int kGroups = U / kDepth, kAtOnce = kGroups <= kLanes ? kGroups : 1;
      const int lane = static_cast<int>(threadIndex()) % kLanes;
#pragma unroll
      for (int first = 0; first < kGroups; first += kAtOnce) {
        auto mine = results[first * kDepth].result;
        At at = coord[first * kDepth];
        bool isThere = valid[first * kDepth];
#pragma unroll
        for (int other = 1; other < kAtOnce; ++other)
          if (lane == other) {
            mine = results[(first + other) * kDepth].result;
            at = coord[(first + other) * kDepth];
            isThere = valid[(first + other) * kDepth];
          }
        if (lane < kAtOnce && exists && isThere)
          runGroupFinish<Spec>(typename Spec::GroupFinishLoads{},
                               typename Spec::GroupFinishStores{},
                               Statistics<StageResult<void, S>>{{mine}}, pointers, at, sizes);
      }
    }
  }
};

/// Once per row, which the results are of.
template <class Spec, class Results, class Pointers>
__device__ __forceinline__ void finishRow(const Results &results, const Pointers &pointers,
                                          const typename Spec::Coord &row,
                                          const typename Spec::Sizes &sizes) {
  runFinish<Spec, 1, 0>(typename Spec::FinishLoads{}, typename Spec::FinishStores{}, results,
                        pointers, row, sizes);
}

template <class Spec, class... Stages>
__device__ __forceinline__ auto emptyResults(List<Stages...>) {
  using Compute = typename Spec::Compute;
  return Statistics<ResultOf<Spec, Stages>...>{{StageStats<Spec, Stages>::result(
      StageStats<Spec, Stages>::identity(), Compute(0), Compute(epsilonOf<Stages>()))}...};
}

/// A row of no elements has nothing to load and no epilogue, only statistics.
template <class Spec, class Kept, class Pointers>
__device__ __forceinline__ void emptyRow(const Pointers &pointers, const Kept &kept,
                                         typename Spec::Index row,
                                         const typename Spec::Sizes &sizes) {
  if constexpr (!Spec::FinishStores::empty()) {
    typename Spec::Coord coord{};
    kept.split(row, coord);
    finishRow<Spec>(emptyResults<Spec>(StagesOfRow<Spec>{}), pointers, coord, sizes);
  }
}

} // namespace swage::detail
