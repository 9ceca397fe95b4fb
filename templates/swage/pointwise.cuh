// Pointwise kernels: every output element is a function of the input elements at its coordinates.
//
// What it computes.  Spec::body once per point of an iteration space, by vectors along the
// innermost dimension, or (kTail) along all of them.  Inputs may be broadcast, sliced or permuted
// by any strides: "permute by runs" is a body that returns its argument, with the loads in the
// input's order and the stores in the output's.
//
// Why it is fast.  One thread does kUnroll vectors and ends: the hardware's block scheduler
// balances better than a grid-stride loop, and costs no registers.  All loads of a thread are
// issued before the first use.  Vectors of one unroll step are kThreads apart, so each access of a
// warp is one contiguous run.  Past the end, loads are clamped to the last vector and only stores
// are predicated, which keeps the loads together; where the block size divides a fixed size there
// are no checks at all.  Rows of a length that no vector divides (kTail) are no rows to operands
// that lie as the points are counted: their vectors go on into the next one.  What is the same for
// all rows, or along them, is read element by element from what is in cache.
//
// When chosen.  No reduced dimensions, and the innermost output dimension is also contiguous (or
// broadcast) in what is large among the inputs; else see permute.cuh.
#pragma once

#include "swage/operand.cuh"

namespace swage {

namespace detail {

template <class Spec> __device__ __forceinline__ auto spaceOf(const typename Spec::Sizes &sizes) {
  if constexpr (Spec::kTail)
    return Spec::extents(sizes);
  else
    return Spec::vectors(sizes);
}

} // namespace detail

/// vectors(sizes): the iteration space, its last extent counted in vectors of kVector; or, with
/// kTail, extents(sizes): the space in elements.  Operands are then Vector where they lie as its
/// points are counted, Splat where there is one element, or else Gather.  Grid: max(1, ceil(whole
/// vectors / (kThreads * kUnroll))).
template <class Spec>
concept PointwiseSpec = requires(const typename Spec::Sizes &sizes) {
  typename Spec::Index;
  typename Spec::Coord;
  typename Spec::Loads;
  typename Spec::Stores;
  Spec::kThreads + Spec::kVector + Spec::kUnroll;
  Spec::kTail;
  detail::spaceOf<Spec>(sizes);
};

namespace detail {

template <class Spec, class... L, class... S, int V, int Dim, class Pointers>
__device__ __forceinline__ void
bodyAndStore(List<S...>, const Inputs<List<L...>, V, Dim> &in, const Pointers &pointers,
             const typename Spec::Coord &coord, const typename Spec::Sizes &sizes) {
  Outputs<List<S...>, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    Spec::body(static_cast<const Fragment<L, V> &>(in).value(i)...,
               static_cast<Result<S, V> &>(out).values[i]...);
  out.store(pointers, coord, sizes);
}

/// The coordinates of a vector.
template <class Spec, class Space> struct VectorCoord : Spec::Coord {
  __device__ __forceinline__ void place(const Space &space, typename Spec::Index vector) {
    space.split(vector, *this);
    (*this)[Space::kRank - 1] *= Spec::kVector;
  }
};
template <class Spec, class Space>
requires(bool(Spec::kTail)) struct VectorCoord<Spec, Space>
    : CountedCoord<typename Spec::Coord, Spec::kVector> {
  __device__ __forceinline__ void place(const Space &space, typename Spec::Index vector) {
    space.split(vector * Spec::kVector, *this);
    this->each[0] = *this;
#pragma unroll
    for (int i = 1; i < Spec::kVector; ++i) {
      this->each[i] = this->each[i - 1];
      space.advance(this->each[i]);
    }
  }
};

} // namespace detail

template <PointwiseSpec Spec, class Pointers>
__device__ __forceinline__ void pointwise(const Pointers &pointers,
                                          const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  using Coord = typename Spec::Coord;
  constexpr int V = Spec::kVector, kCounted = Spec::kTail ? V : 1;
  const auto space = detail::spaceOf<Spec>(sizes);
  using Space = decltype(detail::spaceOf<Spec>(sizes));
  constexpr int kLast = Space::kRank - 1;
  constexpr int kPerBlock = Spec::kThreads * Spec::kUnroll;
  constexpr bool kExact = Space::kFixed && Space::kCount / kCounted % kPerBlock == 0;

  const auto points = static_cast<Unsigned<Index>>(space.template count<Index>());
  const auto count = points / kCounted;
  const auto first = static_cast<Unsigned<Index>>(blockIndex()) * kPerBlock + threadIndex();

  if (!Spec::kTail || count > 0) {
    detail::VectorCoord<Spec, Space> coord[Spec::kUnroll];
    Inputs<typename Spec::Loads, V, kLast> in[Spec::kUnroll];
#pragma unroll
    for (int step = 0; step < Spec::kUnroll; ++step) {
      auto vector = first + step * Spec::kThreads;
      if (!kExact && vector >= count)
        vector = count - 1;
      coord[step].place(space, static_cast<Index>(vector));
      in[step].load(pointers, coord[step], sizes);
    }
#pragma unroll
    for (int step = 0; step < Spec::kUnroll; ++step)
      if (kExact || first + step * Spec::kThreads < count)
        detail::bodyAndStore<Spec>(typename Spec::Stores{}, in[step], pointers, coord[step], sizes);
  }

  if constexpr (Spec::kTail && !(Space::kFixed && Space::kCount % V == 0)) {
    static_assert(V <= Spec::kThreads);
    if (blockIndex() == lastBlockIndex() && threadIndex() < points % V) {
      Coord coord;
      space.split(static_cast<Index>(count * V + threadIndex()), coord);
      Inputs<typename Spec::Loads, 1, kLast> in;
      in.load(pointers, coord, sizes);
      detail::bodyAndStore<Spec>(typename Spec::Stores{}, in, pointers, coord, sizes);
    }
  }
}

} // namespace swage
