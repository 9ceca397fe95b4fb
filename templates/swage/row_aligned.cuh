// Rows that begin anywhere in memory, by vectors that are aligned there (row.cuh, `Aligned`).
//
// Vectors start where the memory of operand Spec::Aligned is aligned, the first one up to kVector - 1
// elements before the row, and the last one ends behind it.  Operands whose rows lie in step with that
// one (Access::Aligned) are read by whole vectors, what is not in the row along with the rest; others,
// gamma and beta say, by two vectors each, of which a shift makes one (Access::Shifted, Anywhere).
// What is not in the row becomes padding before the collective looks at it, and is not stored.
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
