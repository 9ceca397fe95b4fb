// Rows beside each other whose runs are no power of two of lanes: no lanes of a warp are a row's
// alone, so that they meet in shared memory, each lane of a run by itself, and then those of a run.
#pragma once

#include "swage/position_exchange.cuh"

namespace swage {

/// Rows of a block, each of which has Run lanes of each of its thread rows in turn.
template <int ThreadRows, int Blocks, int Rows, int Run> struct WovenTeam : RowsBeside<Rows, Run> {
  using Lanes = LaneGroup<1>;
  enum : int { kThreadRows = ThreadRows, kBlocks = Blocks };

  template <class S>
  using Exchange = detail::PositionExchange<S, ThreadRows, Blocks, Rows * Run, 1>;
  template <class S, class T> static __device__ constexpr int exchangeBytes() {
    return Exchange<S>::kBytes;
  }
};

/// mergeWarps of a woven team; every thread has as many elements.
template <class S, class Team, bool Equal, bool First, class T>
requires requires { Team::kThreadRows; }
__device__ __forceinline__ typename S::State mergeWarps(typename S::State state, T &count,
                                                        char *exchange) {
  static_assert(Equal, "rows that come out even");
  const typename S::State states[1] = {state};
  const typename Team::template Exchange<S> positions{exchange};
  constexpr int kAll = Team::kThreadRows * Team::kBlocks;
  const auto *merged =
      positions.template meet<true, First, T>(states, static_cast<long long>(count) * kAll);
  merged += Team::rowOf(static_cast<int>(threadIndex())) * Team::kRun;
  const T ofLane = count * T(kAll);
  state = merged[0];
#pragma unroll
  for (int lane = 1; lane < Team::kRun; ++lane)
    state = S::merge(state, T(lane) * ofLane, merged[lane], ofLane);
  count = T(Team::kRun) * ofLane;
  return state;
}

} // namespace swage
