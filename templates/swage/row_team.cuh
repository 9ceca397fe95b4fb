// Who works on a row: the classes of row.cuh, the threads and the shared memory of the collectives,
// and which vectors of the row are whose.
#pragma once

#include "swage/crowd.cuh"
#include "swage/row_bounds.cuh"
#include "swage/stages.cuh"
#include "swage/woven_team.cuh"

namespace swage {

enum class RowClass { Group, Block, Looped, Column };

namespace detail {

template <class Spec> __device__ constexpr int blocksPerRow() {
  if constexpr (requires { Spec::kBlocksPerRow; })
    return Spec::kBlocksPerRow;
  else
    return 1;
}

/// The most blocks of a cluster; of more the row has a crowd (crowd.cuh).
enum : int { kLargestCluster = 16 };
template <class Spec>
concept IsCrowd = (blocksPerRow<Spec>() > kLargestCluster);
/// The blocks of a row that meet in shared memory.
template <class Spec> __device__ constexpr int blocksOfCluster() {
  return IsCrowd<Spec> ? 1 : blocksPerRow<Spec>();
}

/// The steps, of so many, whose vectors wait on shelves; the others are read again.
template <class Spec> __device__ constexpr int shelvedSteps(int steps) {
  if constexpr (requires { Spec::kShelvedSteps; })
    return Spec::kShelvedSteps < steps ? Spec::kShelvedSteps : steps;
  else
    return steps;
}

/// The rows beside each other in a block of class Looped, and the vectors of one of their runs.
template <class Spec> constexpr __device__ int rowsBeside() {
  return Spec::kThreads / Spec::kThreadsPerRow;
}
template <class Spec> __device__ constexpr int runOf() {
  using Reduced = decltype(Spec::reduced(typename Spec::Sizes{}));
  return static_cast<int>(Reduced::template fixedExtent<Reduced::kRank - 1>());
}

template <class Spec>
concept HasRowsBeside = (rowsBeside<Spec>() > 1);
/// Runs of which no lanes of a warp are a row's alone.
template <class Spec>
concept IsWoven = HasRowsBeside<Spec> &&(powerOfTwoAbove(runOf<Spec>()) != runOf<Spec>());

template <class Spec, RowClass Class = Spec::rowClass()> struct RowTeamOf {
  using Type = Team<kWarpSize, Spec::kThreads / kWarpSize, blocksOfCluster<Spec>()>;
};
template <class Spec> struct RowTeamOf<Spec, RowClass::Group> {
  using Type = Team<Spec::kThreadsPerRow>;
};
template <class Spec>
requires HasRowsBeside<Spec>
struct RowTeamOf<Spec, RowClass::Looped> {
  using Type = Team<kWarpSize / rowsBeside<Spec>(), Spec::kThreads / kWarpSize,
                    blocksOfCluster<Spec>(), rowsBeside<Spec>(), runOf<Spec>()>;
};
template <class Spec>
requires IsWoven<Spec>
struct RowTeamOf<Spec, RowClass::Looped> {
  static_assert(Spec::kThreads % (rowsBeside<Spec>() * runOf<Spec>()) == 0);
  using Type = WovenTeam<Spec::kThreads / (rowsBeside<Spec>() * runOf<Spec>()),
                         blocksOfCluster<Spec>(), rowsBeside<Spec>(), runOf<Spec>()>;
};
template <class Spec> using RowTeam = typename RowTeamOf<Spec>::Type;

/// Shared memory of an exchange; in a crowd's are words of its own, what its blocks take by
/// themselves, and an entry of each of them.
template <class Spec, class S, class T> __device__ constexpr int bytesOfExchange() {
  constexpr int kTeam = RowTeam<Spec>::template exchangeBytes<S, T>();
  if constexpr (!IsCrowd<Spec>)
    return kTeam;
  else
    return kCrowdHead + kTeam +
           blocksPerRow<Spec>() * int(sizeof(typename RowTeam<Spec>::template Entry<S, T>));
}

/// Shared memory of these stages' exchanges, one behind the other: of all of the row's, and where
/// that of one begins.
template <class Spec, class... Stages> __device__ constexpr int exchangesOf(List<Stages...>) {
  return (
      0 + ... +
      ((bytesOfExchange<Spec, StageStats<Spec, Stages>, typename Spec::Compute>() + 15) / 16 * 16));
}
template <class Spec> __device__ constexpr int exchangeBytes() {
  return exchangesOf<Spec>(StagesOfRow<Spec>{});
}
template <class Spec, class Stage> __device__ constexpr int exchangeOf() {
  return exchangesOf<Spec>(StagesBefore<Spec, Stage>{});
}

/// Before the first exchange of a row's blocks.
template <class Spec, class... Stages>
__device__ __forceinline__ void openExchangesOf(List<Stages...>, char *exchange) {
  openExchanges((exchange + exchangeOf<Spec, Stages>())...);
}
template <class Spec> __device__ __forceinline__ void openRowExchanges(char *exchange) {
  if constexpr (blocksOfCluster<Spec>() > 1)
    openExchangesOf<Spec>(StagesOfRow<Spec>{}, exchange);
}

/// How the vectors of a group of a last collective lie: kLanes neighbouring threads have kDepth
/// vectors each.
template <class Spec> struct Grouping {
  enum : int {
    kVectors = groupOf<Spec>() / Spec::kVector,
    kLanes = kVectors < kWarpSize ? kVectors : kWarpSize,
    kDepth = kVectors / kLanes
  };
  static_assert(kVectors > 0 && powerOfTwoAbove(kVectors) == kVectors &&
                    Spec::kThreadsPerRow % kLanes == 0 && Spec::kVectorsPerThread % kDepth == 0,
                "a group belongs to lanes of one warp");
};

/// The place of a thread's vector `u` among those that the block takes at once: neighbouring
/// threads have neighbouring vectors.
template <class Spec> __device__ __forceinline__ int placeOf(int thread, int u) {
  if constexpr (groupOf<Spec>() == 0) {
    return u * Spec::kThreadsPerRow + thread;
  } else {
    constexpr int kLanes = Grouping<Spec>::kLanes, kDepth = Grouping<Spec>::kDepth;
    const int group = thread / kLanes + Spec::kThreadsPerRow / kLanes * (u / kDepth);
    return group * (kLanes * kDepth) + u % kDepth * kLanes + thread % kLanes;
  }
}

/// The first coordinate of a vector of the current row.
template <class Spec, class Reduced>
__device__ __forceinline__ typename Spec::Coord
vectorOfRow(typename Spec::Coord row, const Reduced &reduced, typename Spec::Index vector) {
  constexpr int kKept = decltype(Spec::kept(typename Spec::Sizes{}))::kRank;
  reduced.template split<kKept>(vector, row);
  row[kKept + Reduced::kRank - 1] *= Spec::kVector;
  return row;
}

} // namespace detail
} // namespace swage
