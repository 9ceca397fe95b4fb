// Calls of a Spec's scalar functions, shared by the families with a collective.
//
//   prologue(loads..., stores &...)             -> the value that the collective works on; per
//   element epilogue(element, loads..., stores &...)    per element, after the collective
//   finish(statistics..., loads..., stores &...) once per row or kept position
// The statistics are (mean, rstd) of LayerNorm, (rstd) of RmsNorm, (max, sum) of Softmax, (result)
// of the reductions.
#pragma once

#include "swage/collective.cuh"
#include "swage/operand.cuh"

namespace swage {

/// kept(sizes) and reduced(sizes): the two halves of the iteration space, whose coordinates follow
/// each other in Coord.
template <class Spec>
concept CollectiveSpec = requires(const typename Spec::Sizes &sizes) {
  typename Spec::Index;
  typename Spec::Compute;
  typename Spec::Coord;
  typename Spec::PrologueLoads;
  typename Spec::PrologueStores;
  typename Spec::EpilogueLoads;
  typename Spec::EpilogueStores;
  typename Spec::FinishLoads;
  typename Spec::FinishStores;
  Spec::kThreads + Spec::kVector;
  Spec::kEpsilon;
  Spec::kCollective == Collective::Sum;
  Spec::kept(sizes);
  Spec::reduced(sizes);
};

/// One vector through the prologue: fills `values`, and stores the prologue's outputs where `store`
/// says so.
template <class Spec, class... L, class... S, int V, int Dim, class Pointers>
__device__ __forceinline__ void
runPrologue(List<S...>, const Inputs<List<L...>, V, Dim> &in, typename Spec::Compute (&values)[V],
            bool store, const Pointers &pointers, const typename Spec::Coord &coord,
            const typename Spec::Sizes &sizes) {
  Outputs<List<S...>, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    values[i] = Spec::prologue(static_cast<const Fragment<L, V> &>(in).value(i)...,
                               static_cast<Result<S, V> &>(out).values[i]...);
  if constexpr (sizeof...(S) > 0)
    if (store)
      out.store(pointers, coord, sizes);
}

/// One vector through the epilogue.
template <class Spec, class... L, class... S, int V, int Dim, class Pointers>
__device__ __forceinline__ void
runEpilogue(List<S...>, const Inputs<List<L...>, V, Dim> &in,
            const typename Spec::Compute (&elements)[V], bool store, const Pointers &pointers,
            const typename Spec::Coord &coord, const typename Spec::Sizes &sizes) {
  Outputs<List<S...>, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    Spec::epilogue(elements[i], static_cast<const Fragment<L, V> &>(in).value(i)...,
                   static_cast<Result<S, V> &>(out).values[i]...);
  if (store)
    out.store(pointers, coord, sizes);
}

/// V neighbouring kept positions, along dimension Dim, through finish.
template <class Spec, class Statistics, int Dim, class... L, class... S, int V, class Pointers>
__device__ __forceinline__ void
runFinish(List<L...>, List<S...>, const typename Statistics::Result (&results)[V],
          const Pointers &pointers, const typename Spec::Coord &coord,
          const typename Spec::Sizes &sizes) {
  Inputs<List<L...>, V, Dim> in;
  in.load(pointers, coord, sizes);
  Outputs<List<S...>, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    Statistics::template finish<Spec>(results[i],
                                      static_cast<const Fragment<L, V> &>(in).value(i)...,
                                      static_cast<Result<S, V> &>(out).values[i]...);
  out.store(pointers, coord, sizes);
}

} // namespace swage
