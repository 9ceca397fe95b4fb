// The blocks of a row that are more than a cluster holds, a crowd: how they meet (crowd.cuh).
#pragma once

#include "swage/crowd.cuh"
#include "swage/row_parts.cuh"

namespace swage::detail {

/// The blocks of a row: of a cluster, if there is more than one.
template <class Spec> struct RowBlocks {
  const int rank = rankInCluster<blocksPerRow<Spec>()>();

  __device__ __forceinline__ explicit RowBlocks(void *) {}
  template <class Stage, class T, class StateOf>
  __device__ __forceinline__ auto meet(T &count, char *exchange, const StateOf &stateOf) const {
    return stateOf(rank, count, exchange);
  }
  __device__ __forceinline__ void draw() {}
  __device__ __forceinline__ void leave() const {}
};

/// A crowd, whose memory is a part of `scratch`.
template <class Spec>
requires IsCrowd<Spec>
class RowBlocks<Spec> {
  template <class Stage>
  using Entry =
      typename RowTeam<Spec>::template Entry<StageStats<Spec, Stage>, typename Spec::Compute>;
  template <class Stage> using Entries = CrowdEntries<Entry<Stage>, blocksPerRow<Spec>()>;
  template <class... Stages> static constexpr __device__ int wordsOf(List<Stages...>) {
    return (0 + ... + int(Entries<Stages>::kAll));
  }
  enum : int {
    kBlocks = blocksPerRow<Spec>(),
    kWords = 1 + wordsOf(StagesOfRow<Spec>{}) ///< behind the tickets of those that leave
  };
  static_assert(kBlocks <= Spec::kThreads);

  unsigned long long *words;
  CrowdExit exit;

public:
  const int rank;

  __device__ __forceinline__ explicit RowBlocks(void *scratch)
      : words(static_cast<unsigned long long *>(scratch) +
              static_cast<long long>(blockIndex() / kBlocks) * kWords),
        exit{words}, rank(static_cast<int>(blockIndex() % kBlocks)) {
    if (threadIndex() == 0)
      exit.ask();
  }

  /// The state of the row.  `stateOf(part, count, exchange)` gives the block's threads that of a
  /// part, with its number of elements; `exchange`: shared memory of bytesOfExchange.
  template <class Stage, class T, class StateOf>
  __device__ __forceinline__ auto meet(T &count, char *exchange, const StateOf &stateOf) const {
    using S = StageStats<Spec, Stage>;
    const Entries<Stage> entries{words + 1 + wordsOf(StagesBefore<Spec, Stage>{})};
    auto *const head = reinterpret_cast<unsigned *>(exchange);
    exchange += kCrowdHead;
    auto *const all =
        reinterpret_cast<Entry<Stage> *>(exchange + RowTeam<Spec>::template exchangeBytes<S, T>());
    const int thread = static_cast<int>(threadIndex());
    bool has = false;
    meetCrowd<kBlocks>(
        entries, rank, head,
        [&](int part, bool isClaimed) {
          T ofPart;
          const auto state = stateOf(part, ofPart, exchange);
          if (isClaimed) {
            // Its block may write on it from now on.
            if (part != rank)
              fenceGpu();
            entries.write(part, {state, ofPart});
          }
        },
        [&](bool begins) {
          has = thread >= kBlocks || (!begins && has) || entries.read(thread, all[thread]);
          return has;
        },
        [&](const auto &miss) {
          if (!has)
            miss(thread);
        });
    return mergeEntries<S, RowTeam<Spec>, kBlocks, false>(all, count);
  }

  /// After the last exchange.
  __device__ __forceinline__ void draw() {
    if (threadIndex() == 0)
      exit.draw();
  }
  /// At the end, when the ticket has come.
  __device__ __forceinline__ void leave() const {
    if (threadIndex() >= kWarpSize || shuffleFrom(exit.ticket, 0) != kBlocks - 1)
      return;
    for (int i = static_cast<int>(threadIndex()); i < kWords; i += kWarpSize)
      words[i] = 0;
  }
};

} // namespace swage::detail
