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

namespace detail {

template <class Spec, class... L, class... S, class In, class Out>
__device__ __forceinline__ typename Spec::Compute applyPrologue(List<L...>, List<S...>,
                                                                const In &in, Out &out, int i) {
  return Spec::prologue(in.template value<L>(i)..., out.template value<S>(i)...);
}
template <class Spec, class... L, class... S, class In, class Out>
__device__ __forceinline__ void applyEpilogue(List<L...>, List<S...>,
                                              typename Spec::Compute element, const In &in,
                                              Out &out, int i) {
  Spec::epilogue(element, in.template value<L>(i)..., out.template value<S>(i)...);
}
template <class Spec, class Statistics, class... L, class... S, class In, class Out>
__device__ __forceinline__ void applyFinish(List<L...>, List<S...>,
                                            const typename Statistics::Result &result, const In &in,
                                            Out &out, int i) {
  Statistics::template finish<Spec>(result, in.template value<L>(i)...,
                                    out.template value<S>(i)...);
}

} // namespace detail

/// One vector through the prologue: fills `values`, and stores the prologue's outputs where `store`
/// says so.
template <class Spec, int V, int Dim, class In, class Pointers>
__device__ __forceinline__ void
runPrologue(const In &in, typename Spec::Compute (&values)[V], bool store, const Pointers &pointers,
            const typename Spec::Coord &coord, const typename Spec::Sizes &sizes) {
  using Stores = typename Spec::PrologueStores;
  Outputs<Stores, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    values[i] = detail::applyPrologue<Spec>(typename Spec::PrologueLoads{}, Stores{}, in, out, i);
  if constexpr (!Stores::kEmpty)
    if (store)
      out.store(pointers, coord, sizes);
}

/// One vector through the epilogue.
template <class Spec, int V, int Dim, class In, class Pointers>
__device__ __forceinline__ void
runEpilogue(const In &in, const typename Spec::Compute (&elements)[V], bool store,
            const Pointers &pointers, const typename Spec::Coord &coord,
            const typename Spec::Sizes &sizes) {
  using Stores = typename Spec::EpilogueStores;
  Outputs<Stores, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    detail::applyEpilogue<Spec>(typename Spec::EpilogueLoads{}, Stores{}, elements[i], in, out, i);
  if (store)
    out.store(pointers, coord, sizes);
}

/// V neighbouring kept positions through finish.
template <class Spec, class Statistics, int V, int Dim, class Pointers>
__device__ __forceinline__ void
runFinish(const typename Statistics::Result (&results)[V], const Pointers &pointers,
          const typename Spec::Coord &coord, const typename Spec::Sizes &sizes) {
  using Loads = typename Spec::FinishLoads;
  using Stores = typename Spec::FinishStores;
  if constexpr (!Stores::kEmpty) {
    Inputs<Loads, V, Dim> in;
    in.load(pointers, coord, sizes);
    Outputs<Stores, V, Dim> out;
#pragma unroll
    for (int i = 0; i < V; ++i)
      detail::applyFinish<Spec, Statistics>(Loads{}, Stores{}, results[i], in, out, i);
    out.store(pointers, coord, sizes);
  }
}

} // namespace swage
