// The blocks of neighbouring columns (columns.cuh): one, a cluster, or more than that holds, which
// are a crowd (crowd.cuh).
#pragma once

#include "swage/crowd.cuh"
#include "swage/position_exchange.cuh"
#include "swage/row_team.cuh"

namespace swage::detail {

/// One block or a cluster; of `Lanes` vectors of positions, by `Groups` thread rows of each block.
template <class Spec, int Groups, int Lanes> struct ColumnBlocks {
  using S = FirstStats<Spec>;
  using State = typename S::State;
  enum : int { V = Spec::kVector, kBlocks = blocksPerRow<Spec>() };
  using Exchange = PositionExchange<S, Groups, kBlocks, Lanes, V>;
  enum : int { kBytes = kBlocks * Groups > 1 ? int(Exchange::kBytes) : 0 };

  char *const storage; ///< of kBytes, in shared memory
  const int rank = rankInCluster<kBlocks>();

  __device__ __forceinline__ ColumnBlocks(char *storage, void *) : storage(storage) {
    if constexpr (kBlocks > 1)
      openExchanges(storage);
  }
  /// The states of the lane's positions, of `length` elements each.  `statesOf(part)` sets what the
  /// thread has of them in a block's part.  Equal: all thread rows have as many.
  template <bool Equal, class T, class Index, class StatesOf>
  __device__ __forceinline__ void meet(State (&states)[V], [[maybe_unused]] Index length,
                                       const StatesOf &statesOf) const {
    statesOf(rank);
    if constexpr (kBytes > 0) {
      const State *merged = Exchange{storage}.template meet<Equal, true, T>(states, length);
#pragma unroll
      for (int i = 0; i < V; ++i)
        states[i] = merged[i * Lanes + threadIndex() % Lanes];
    }
  }
  __device__ __forceinline__ void leave() const {}
};

/// A crowd, whose memory is a part of `scratch`.  A thread looks for the states of one position, of
/// every so many of the blocks.
template <class Spec, int Groups, int Lanes>
requires IsCrowd<Spec>
class ColumnBlocks<Spec, Groups, Lanes> {
  using S = FirstStats<Spec>;
  using State = typename S::State;
  enum : int {
    V = Spec::kVector,
    kBlocks = blocksPerRow<Spec>(),
    kThreads = Groups * Lanes,
    kPositions = Lanes * V,
    kLookers = kThreads / kPositions, ///< threads that look for a position's states
    kEach = (kBlocks + kLookers - 1) / kLookers
  };
  static_assert(kThreads % kPositions == 0);
  using Exchange = PositionExchange<S, Groups, 1, Lanes, V>;
  using Entries = CrowdEntries<State, kBlocks, kPositions>;

  char *const storage;
  unsigned long long *const words;
  CrowdExit exit;

public:
  enum : int { kBytes = kCrowdHead + int(Exchange::kBytes) };
  const int rank;

  __device__ __forceinline__ ColumnBlocks(char *storage, void *scratch)
      : storage(storage),
        words(static_cast<unsigned long long *>(scratch) +
              static_cast<long long>(blockIndex() / kBlocks) * (1 + Entries::kAll)),
        exit{words}, rank(static_cast<int>(blockIndex() % kBlocks)) {
    if (threadIndex() == 0)
      exit.ask();
  }

  template <bool Equal, class T, class Index, class StatesOf>
  __device__ __forceinline__ void meet(State (&states)[V], Index length, const StatesOf &statesOf) {
    constexpr int kAll = kBlocks * Groups;
    const Entries entries{words + 1};
    auto *const head = reinterpret_cast<unsigned *>(storage);
    const Exchange exchange{storage + kCrowdHead};
    const int thread = static_cast<int>(threadIndex()), position = thread % kPositions,
              looker = thread / kPositions;
    unsigned lacks = 0; // a bit for each state that is not there
    meetCrowd<kBlocks>(
        entries, rank, head,
        [&](int part, bool isClaimed) {
          statesOf(part);
          if (thread == 0)
            head[kClaimedWord] = isClaimed;
          const State *ofPart = exchange.template meetInBlock<Equal, T>(states, [&](unsigned of) {
            return Equal ? T(length / kAll) : share<T>(length, part * Groups + int(of), 1, kAll);
          });
          if (head[kClaimedWord] && thread < kPositions) {
            // Its block may write on it from now on.
            if (part != rank)
              fenceGpu();
            entries.write(part, ofPart[thread], thread);
          }
        },
        // What is there is read again once all is: kept, it would take registers beside the work.
        [&](bool begins) {
          if (begins)
            lacks = (1u << kEach) - 1;
#pragma unroll
          for (int k = 0; k < kEach; ++k) {
            const int of = looker + k * kLookers;
            State state;
            if (lacks >> k & 1 && (of >= kBlocks || entries.read(of, state, position)))
              lacks ^= 1u << k;
          }
          return lacks == 0;
        },
        [&](const auto &miss) {
          for (int k = 0; k < kEach; ++k)
            if (lacks >> k & 1)
              miss(looker + k * kLookers);
        });
    // In the order of the blocks, whoever has come first.
    auto countOf = [&](int of) {
      return of < kBlocks ? share<T>(length, of * Groups, Groups, kAll) : T(0);
    };
    State *const met = reinterpret_cast<State *>(exchange.storage);
    State state = S::identity(); // there may be more lookers than blocks
    T count = 0;
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (const int of = looker + k * kLookers; of < kBlocks) {
        State other;
        entries.read(of, other, position);
        state = S::merge(state, count, other, countOf(of));
        count += countOf(of);
      }
    met[stateAt<kPositions, kLookers>(looker, position)] = state;
    barrier();
    if (thread == 0) // nothing is read of memory any more
      exit.draw();
    mergePositions<S, kLookers, kPositions, kThreads, false, T>(met, [&](unsigned of) {
      T all = 0;
#pragma unroll
      for (int k = 0; k < kEach; ++k)
        all += countOf(int(of) + k * kLookers);
      return all;
    });
#pragma unroll
    for (int i = 0; i < V; ++i)
      states[i] = met[i * Lanes + thread % Lanes];
  }
  /// At the end, when the ticket has come.
  __device__ __forceinline__ void leave() const {
    auto *const isLast = reinterpret_cast<unsigned *>(storage);
    if (threadIndex() == 0)
      *isLast = exit.ticket == kBlocks - 1;
    barrier();
    if (*isLast)
      for (int i = static_cast<int>(threadIndex()); i < 1 + Entries::kAll; i += kThreads)
        words[i] = 0;
  }
};

} // namespace swage::detail
