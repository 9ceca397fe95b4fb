// Rows beside each other whose runs are no power of two of lanes: no lanes of a warp are a row's
// alone, so that they meet in shared memory, each lane of a run by itself, and then those of a run.
#pragma once

#include "swage/position_exchange.cuh"

namespace swage {

/// Rows of a block, each of which has Run lanes of each of its thread rows in turn.
template <int ThreadRows, int Blocks, int Rows, int Run> struct WovenTeam {
  using Lanes = LaneGroup<1>;
  enum : int { kThreadRows = ThreadRows, kBlocks = Blocks, kRows = Rows, kRun = Run };

  /// The row of those beside each other that a thread of the block belongs to, and which of its
  /// threads it is.
  static __device__ __forceinline__ int rowOf(int thread) { return thread / Run % Rows; }
  static __device__ __forceinline__ int placeOf(int thread) {
    return thread / (Run * Rows) * Run + thread % Run;
  }

  template <class S>
  using Exchange = detail::PositionExchange<S, ThreadRows, Blocks, Rows * Run, 1>;
  template <class S, class T> static __device__ constexpr int exchangeBytes() {
    return Exchange<S>::kBytes;
  }
};

/// The team of rows beside each other.
template <int Threads, int Blocks, int Rows, int Run, bool Woven = (Run & (Run - 1)) != 0>
struct BesideTeamOf {
  using Type = Team<kWarpSize / Rows, Threads / kWarpSize, Blocks, Rows, Run>;
};
template <int Threads, int Blocks, int Rows, int Run>
struct BesideTeamOf<Threads, Blocks, Rows, Run, true> {
  static_assert(Threads % (Rows * Run) == 0);
  using Type = WovenTeam<Threads / (Rows * Run), Blocks, Rows, Run>;
};
template <int Threads, int Blocks, int Rows, int Run>
using BesideTeam = typename BesideTeamOf<Threads, Blocks, Rows, Run>::Type;

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
