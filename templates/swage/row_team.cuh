// Who works on a row: the classes of row.cuh, the threads and the shared memory of a collective or
// two, and which vectors of the row are whose.
#pragma once

#include "swage/row_bounds.cuh"
#include "swage/team.cuh"

namespace swage {

enum class RowClass { Group, Block, Looped, Column };

namespace detail {

template <class Spec> __device__ constexpr int blocksPerRow() {
  if constexpr (requires { Spec::kBlocksPerRow; })
    return Spec::kBlocksPerRow;
  else
    return 1;
}

/// The most blocks of a cluster; of more the row has a crowd (row_crowd.cuh).
enum : int { kLargestCluster = 16 };
template <class Spec>
concept IsCrowd = blocksPerRow<Spec>()
> kLargestCluster;
/// The blocks of a row that meet in shared memory.
template <class Spec> __device__ constexpr int blocksOfCluster() {
  return IsCrowd<Spec> ? 1 : blocksPerRow<Spec>();
}

/// Whether a second collective follows the first; which; and over how many elements (0: the row).
template <class Spec> concept HasSecond = requires { Spec::second(); };
template <class Spec> __device__ constexpr Collective secondOf() {
  if constexpr (HasSecond<Spec>)
    return Spec::second();
  else
    return Collective::Sum;
}
/// What is read between two collectives; nothing where there is one.
template <class Spec> struct BetweenLoadsOf { using Type = List<>; };
template <HasSecond Spec> struct BetweenLoadsOf<Spec> { using Type = typename Spec::BetweenLoads; };
template <class Spec> using BetweenLoads = typename BetweenLoadsOf<Spec>::Type;

template <class Spec> __device__ constexpr int groupOf() {
  if constexpr (requires { Spec::kGroup; })
    return Spec::kGroup;
  else
    return 0;
}

template <class Spec> __device__ constexpr auto secondEpsilonOf() {
  if constexpr (requires { Spec::secondEpsilon(); })
    return Spec::secondEpsilon();
  else
    return 0.0;
}

/// Whether there is a second one over the row.
template <class Spec>
concept HasSecondOfRow = HasSecond<Spec> && groupOf<Spec>()
== 0;

/// What the second collective works in, where that is another type: only over groups.
template <class Spec> struct SecondComputeOf { using Type = typename Spec::Compute; };
template <class Spec>
  requires requires { typename Spec::SecondCompute; }
struct SecondComputeOf<Spec> { using Type = typename Spec::SecondCompute; };
template <class Spec> using SecondCompute = typename SecondComputeOf<Spec>::Type;
template <class Spec> concept IsSecondApart = requires { typename Spec::SecondCompute; };

template <class Spec> using SecondStats = Stats<secondOf<Spec>(), SecondCompute<Spec>>;

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

template <class Spec, RowClass Class = Spec::rowClass()> struct RowTeamOf {
  using Type = Team<kWarpSize, Spec::kThreads / kWarpSize, blocksOfCluster<Spec>()>;
};
template <class Spec> struct RowTeamOf<Spec, RowClass::Group> {
  using Type = Team<Spec::kThreadsPerRow>;
};
template <class Spec>
  requires(rowsBeside<Spec>() > 1)
struct RowTeamOf<Spec, RowClass::Looped> {
    using Type = Team<kWarpSize / rowsBeside<Spec>(), Spec::kThreads / kWarpSize,
                      blocksOfCluster<Spec>(), rowsBeside<Spec>(), runOf<Spec>()>;
};
template <class Spec> using RowTeam = typename RowTeamOf<Spec>::Type;

/// Shared memory of an exchange; in a crowd's are two words of its own, what its blocks take by
/// themselves, and an entry of each of them.
enum : int { kCrowdHead = 16 };
template <class Spec, class S, class T> __device__ constexpr int bytesOfExchange() {
  constexpr int kTeam = RowTeam<Spec>::template exchangeBytes<S, T>();
  if constexpr (!IsCrowd<Spec>)
    return kTeam;
  else
    return kCrowdHead + kTeam +
           blocksPerRow<Spec>() * int(sizeof(typename RowTeam<Spec>::template Entry<S, T>));
}

/// Shared memory of the exchanges: the first collective's, and behind it the second's.
template <class Spec> __device__ constexpr int firstExchangeBytes() {
  return (bytesOfExchange<Spec, FirstStats<Spec>, typename Spec::Compute>() + 15) / 16 * 16;
}
template <class Spec> __device__ constexpr int exchangeBytes() {
  if constexpr (!HasSecondOfRow<Spec>)
    return firstExchangeBytes<Spec>();
  else
    return firstExchangeBytes<Spec>() +
           bytesOfExchange<Spec, SecondStats<Spec>, SecondCompute<Spec>>();
}

/// Before the first exchange of a row's blocks.
template <class Spec> __device__ __forceinline__ void openRowExchanges(char *exchange) {
  if constexpr (blocksOfCluster<Spec>() == 1)
    return;
  else if constexpr (!HasSecondOfRow<Spec>)
    openExchanges(exchange);
  else
    openExchanges(exchange, exchange + firstExchangeBytes<Spec>());
}

/// How the vectors of a group of a second collective lie: kLanes neighbouring threads have kDepth
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
