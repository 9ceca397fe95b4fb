// What a mask leaves of a row (row.cuh): where it compares the position in the row with something
// that is the same for the whole row, everything beyond one range is -inf, whatever memory holds
// there, and is not read.
#pragma once

#include "swage/phases.cuh"

namespace swage::detail {

/// Whether a mask bounds what of a row is read: Spec::bounds gives the first element and the one
/// behind the last that may be other than -inf.
template <class Spec> concept IsBounded = requires { typename Spec::BoundsLoads; };

/// The vectors of V elements of a row of `length` that are read, where it is bounded; `phase`:
/// row_aligned.cuh.
template <class Index> struct RowRange { Index first, last; };
template <class Spec, int V, class... L, class Pointers>
__device__ __forceinline__ RowRange<typename Spec::Index>
boundsOf(List<L...>, const Pointers &pointers, const typename Spec::Coord &row,
         typename Spec::Index length, int phase, const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  Inputs<List<L...>, 1, 0> in;
  in.load(pointers, row, sizes);
  long long first = 0, last = 0;
  Spec::bounds(static_cast<const Fragment<L, 1> &>(in).value(0)..., first, last);
  const long long end = length;
  first = first < 0 ? 0 : first < end ? first : end;
  last = last < 0 ? 0 : last < end ? last : end;
  return {(static_cast<Index>(first) + phase) / V,
          (static_cast<Index>(last) + phase + V - 1) / V};
}
template <class Spec, class Pointers>
__device__ __forceinline__ RowRange<typename Spec::Index>
rangeOf(const Pointers &pointers, const typename Spec::Coord &row, typename Spec::Index length,
        int phase, const typename Spec::Sizes &sizes) {
  if constexpr (IsBounded<Spec>)
    return boundsOf<Spec, Spec::kVector>(typename Spec::BoundsLoads{}, pointers, row, length, phase,
                                         sizes);
  else
    return {0, (length + phase + Spec::kVector - 1) / Spec::kVector};
}

} // namespace swage::detail
