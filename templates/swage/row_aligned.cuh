// Rows that begin anywhere in memory, by vectors that are aligned there (row.cuh, `Aligned`).
//
// Vectors start where the memory of operand Spec::Aligned is aligned, the first one up to kVector - 1
// elements before the row, and the last one ends behind it.  Operands whose rows lie in step with that
// one (Access::Aligned) are read by whole vectors, what is not in the row along with the rest; others,
// gamma and beta say, by two vectors each, of which a shift makes one (Access::Shifted, Anywhere).
// What is not in the row becomes padding before the collective looks at it, and is not stored.
// Rows that are walked (row_looped.cuh) have no such vectors: what lies in them as a whole goes by
// vectors, and each of the few elements at their ends by itself.
//
// An aligned vector that holds an element of a row lies in mapped memory as a whole: no page ends
// within it.  Tools that know the size of an allocation to the byte may report such a load.
#pragma once

#include "swage/row_team.cuh"

namespace swage::detail {

template <class Spec> concept IsAligned = requires { typename Spec::Aligned; };

/// What reduced(sizes) counts the row in, and the most vectors that a row of `units` has.
template <class Spec> constexpr __device__ int unitOf() {
  return IsAligned<Spec> ? 1 : Spec::kVector;
}
template <class Spec> __device__ constexpr long long mostVectors(long long units) {
  constexpr long long V = Spec::kVector;
  return IsAligned<Spec> ? (units + 2 * V - 2) / V : units;
}

/// The most vectors of a row of `units` that lie in it as a whole; where it begins anywhere, with
/// elements of it behind them.
template <class Spec> __device__ constexpr long long wholeVectors(long long units) {
  constexpr long long V = Spec::kVector;
  return IsAligned<Spec> ? units <= V ? 1 : (units - 1) / V : units;
}

template <class Spec> struct RowCoordOf { using Type = typename Spec::Coord; };
template <class Spec>
  requires IsAligned<Spec>
struct RowCoordOf<Spec> { using Type = PartialCoord<typename Spec::Coord>; };
/// The coordinates of a vector.
template <class Spec> using RowCoord = typename RowCoordOf<Spec>::Type;

/// How many elements the row's first vector begins before the row.
template <class Spec, class Pointers>
__device__ __forceinline__ int phaseOf([[maybe_unused]] const Pointers &pointers,
                                       [[maybe_unused]] const typename Spec::Coord &row,
                                       [[maybe_unused]] const typename Spec::Sizes &sizes) {
  if constexpr (IsAligned<Spec>) {
    using Operand = typename Spec::Aligned;
    return skewOf<Spec::kVector>(static_cast<const Slot<Operand> &>(pointers).pointer +
                                 Operand::offset(row, sizes));
  } else {
    return 0;
  }
}

/// A vector of the row that begins `from + ahead` elements behind the beginning of the first one; the row
/// goes on behind it.
template <class Spec, class Coord>
__device__ __forceinline__ Coord wholeVector(const typename Spec::Coord &row, int phase, int from,
                                             int ahead) {
  Coord coord{RowCoord<Spec>{row, phase, from, ahead, 0, Spec::kVector, true}};
  coord[decltype(Spec::kept(typename Spec::Sizes{}))::kRank] = from + ahead - phase;
  return coord;
}

template <class... Operands> __device__ constexpr bool has(Access kind, List<Operands...>) {
  return (false || ... || (Operands::access() == kind));
}
/// Gives work(coordinates) the type that a row's coordinates have where it is known how its vectors lie in
/// operands that are not in step: they are put together in less than half the instructions where the
/// quarter of an aligned vector that they begin in is a constant.  Loads are what it reads, Again what it
/// may read once more.
template <class Spec, class Loads, class Again, class Pointers, class Work>
__device__ __forceinline__ void byPlace([[maybe_unused]] const Pointers &pointers,
                                        [[maybe_unused]] const typename Spec::Coord &row,
                                        [[maybe_unused]] int phase,
                                        [[maybe_unused]] const typename Spec::Sizes &sizes,
                                        const Work &work) {
  using Coord = RowCoord<Spec>;
  if constexpr (!has(Access::Shifted, Loads{}) && !has(Access::Anywhere, Loads{})) {
    work(Coord{});
  } else {
    constexpr int V = Spec::kVector, kInner = decltype(Spec::kept(typename Spec::Sizes{}))::kRank;
    const auto first = wholeVector<Spec, Coord>(row, phase, 0, 0);
    const int skew = Inputs<Again, V, kInner>::commonSkew(
        Inputs<Loads, V, kInner>::commonSkew(V, pointers, first, sizes), pointers, first, sizes);
    if constexpr (has(Access::Anywhere, Loads{}) || has(Access::Anywhere, Again{})) {
      if (skew < 0)
        return work(Coord{});
      if (skew == 0)
        return work(PlacedCoord<Coord, kInStep>{});
    }
    switch (skew / (V / 4)) {
    case 0:
      return work(PlacedCoord<Coord, 0>{});
    case 1:
      return work(PlacedCoord<Coord, 1>{});
    case 2:
      return work(PlacedCoord<Coord, 2>{});
    default:
      return work(PlacedCoord<Coord, 3>{});
    }
  }
}

/// The elements of a row of `length` elements that no such vector has: `head` of them where it begins
/// and `tail` where it ends.
template <int V> struct RowEnds {
  int head, tail;

  __device__ __forceinline__ RowEnds(int phase, int length) {
    const int before = (V - phase) % V;
    head = before < length ? before : length;
    tail = head < length ? (length - head - 1) % V + 1 : 0;
  }
  __device__ __forceinline__ int count() const { return head + tail; }
  /// The place of number `i` in the row.
  __device__ __forceinline__ int at(int i, int length) const {
    return i < head ? i : length - count() + i;
  }
};

/// The vector that begins `from + ahead` elements behind the beginning of the first one of a row of
/// `length` elements.  `mayBegin`: it may be the first; `goesOn`: the row has elements behind it.
/// Otherwise it may be the last one, or behind the row: instead of that the second one, with no
/// element of its own.
template <class Spec>
__device__ __forceinline__ RowCoord<Spec>
partialVector(const typename Spec::Coord &row, int phase, int from, int ahead,
              typename Spec::Index length, bool mayBegin, bool goesOn, bool &exists) {
  constexpr int V = Spec::kVector, kInner = decltype(Spec::kept(typename Spec::Sizes{}))::kRank;
  const int left = static_cast<int>(length) + phase - from - ahead;
  exists = goesOn || left > 0;
  RowCoord<Spec> coord{row, phase, from, exists ? ahead : V - from, 0, V, goesOn};
  coord[kInner] = from + coord.ahead - phase;
  coord.begin = mayBegin && from + ahead == 0 ? phase : 0;
  if (!goesOn)
    coord.end = left < V ? left > 0 ? left : 0 : V;
  return coord;
}

/// Puts padding where `values` are not of the row.
template <class S, class Coord, int U, int V, class T>
__device__ __forceinline__ void pad(T (&values)[U][V], const Coord (&coord)[U]) {
  T with;
  if constexpr (S::kCounted)
    with = coord[0].begin > 0 ? values[0][V - 1] : values[0][0];
  else
    with = S::neutral();
#pragma unroll
  for (int u = 0; u < U; ++u)
#pragma unroll
    for (int i = 0; i < V; ++i)
      values[u][i] = i >= coord[u].begin && i < coord[u].end ? values[u][i] : with;
}

} // namespace swage::detail
