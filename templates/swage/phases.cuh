// Calls of a Spec's scalar functions, shared by the families with a collective.
//
// - prologue(loads..., stores &...): the value that the collective works on, per element
// - between(element, loads..., stores &...), of each further collective: what that works on, per
//   element
// - epilogue(element, loads..., stores &...): per element, after the collectives
// - finish(statistics..., loads..., stores &...): once per row or kept position
// - groupFinish: the same once per group of a last collective over groups
// The statistics are (mean, rstd) of LayerNorm, (rstd) of RmsNorm, (max, sum) of Softmax, (result)
// of the reductions, for each collective so far.  With kStatistics (beside between) or
// kEpilogueStatistics that function takes them alone, and gives the function above:
// between(statistics...)(element, loads..., stores &...).  What it makes of them, a quotient say,
// is made once for all elements that a thread has of a vector, or in the epilogue of a row.
#pragma once

#include "swage/layer_norm.cuh"
#include "swage/operand.cuh"
#include "swage/softmax.cuh"

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
  Spec::epsilon();
  Spec::collective() == Collective::Sum;
  Spec::kept(sizes);
  Spec::reduced(sizes);
};

/// The collectives of a Spec: its own, and those of the structs in its list Later.  Each of these
/// is a Stage, which has collective(), epsilon() if it is a norm, Compute if it works in another
/// type than the first, and what is in front of it: Loads, Stores and between.  With kZeroRows a
/// row that is -inf throughout gives 0, not NaN; with kRounded nothing sees softmax's elements but
/// in 16 bits or fewer (its row results may be floats).
template <class Stage>
concept HasZeroRows = requires {
  Stage::kZeroRows;
};
template <class Stage>
concept IsRounded = requires {
  Stage::kRounded;
};
template <class Spec, class Stage> struct StageComputeOf { using Type = typename Spec::Compute; };
template <class Spec, class Stage>
requires requires { typename Stage::Compute; }
struct StageComputeOf<Spec, Stage> {
  using Type = typename Stage::Compute;
};
template <class Spec, class Stage> using StageCompute = typename StageComputeOf<Spec, Stage>::Type;
template <class Spec, class Stage>
using StageStats =
    Stats<Stage::collective(), StageCompute<Spec, Stage>, HasZeroRows<Stage>, IsRounded<Stage>>;
template <class Spec> using FirstStats = StageStats<Spec, Spec>;

/// One vector through the prologue: fills `values`, and stores the prologue's outputs where `store`
/// says so.
template <class Spec, class... L, class... S, int V, int Dim, class Pointers, class Coord>
__device__ __forceinline__ void
runPrologue(List<S...>, const Inputs<List<L...>, V, Dim> &in, typename Spec::Compute (&values)[V],
            bool store, const Pointers &pointers, const Coord &coord,
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

template <class Spec>
concept EpilogueTakesStatistics = requires { Spec::kEpilogueStatistics; };
template <class Stage>
concept BetweenTakesStatistics = requires {
  Stage::kStatistics;
};

/// Whether what is behind a row's end, which repeats elements of the row, may be wrong: another thread
/// may have stored over the input that it repeats.  Softmax takes the maximum of all that there is;
/// other collectives look at what is valid, or multiply by 0.
template <class Spec>
concept MayRepeatStored =
    !Spec::PrologueStores::empty() && (Spec::collective() == Collective::Softmax ||
                                      Spec::collective() == Collective::LogSoftmax);

/// What a collective gives a row; Stage tells those of a kernel apart.
template <class Stage, class S> struct StageResult {
  using Stats = S;
  typename S::Result result;
};
/// The row results of the collectives so far, as a phase takes them in front of its loads: those of
/// one row, or of V neighbouring kept positions.
template <class... Results> struct Statistics : Results... {
  __device__ __forceinline__ Statistics at(int) const { return *this; }
  template <class F> __device__ __forceinline__ auto with(F f) const {
    return with(List<Results...>{}, f);
  }
  template <class More>
  __device__ __forceinline__ Statistics<Results..., More> joined(const More &more) const {
    return {static_cast<const Results &>(*this)..., more};
  }

private:
  template <class F> __device__ __forceinline__ auto with(List<>, F f) const { return f(); }
  template <class One, class... Rest, class F>
  __device__ __forceinline__ auto with(List<One, Rest...>, F f) const {
    const auto &result = static_cast<const One &>(*this).result;
    if constexpr (sizeof...(Rest) == 0)
      return One::Stats::with(result, f);
    else
      return One::Stats::with(result, [&](auto... a) {
        return with(List<Rest...>{}, [&](auto... b) { return f(a..., b...); });
      });
  }
};
template <class Spec, class Stage> using ResultOf = StageResult<Stage, StageStats<Spec, Stage>>;
/// Those of these stages, out of some.
template <class Spec, class... Stages, class Results>
__device__ __forceinline__ Statistics<ResultOf<Spec, Stages>...> only(List<Stages...>,
                                                                      const Results &results) {
  return {static_cast<const ResultOf<Spec, Stages> &>(results)...};
}
template <class S, int V> struct ColumnStatistics {
  const typename S::Result (&results)[V];
  __device__ __forceinline__ Statistics<StageResult<void, S>> at(int i) const {
    return {{results[i]}};
  }
};

/// `make(row results...)` for the position of element i: once, where all elements have the same.
template <class... S, class F>
__device__ __forceinline__ auto perElement(const Statistics<S...> &statistics, F make) {
  return [made = statistics.with(make)](int) -> const auto & { return made; };
}
template <class S, int V, class F>
__device__ __forceinline__ auto perElement(const ColumnStatistics<S, V> &statistics, F make) {
  return [=](int i) { return statistics.at(i).with(make); };
}

/// The function of an element that a phase has for given row results.
template <class Stage> struct BetweenOf {
  template <class... Row> __device__ __forceinline__ auto operator()(Row... row) const {
    if constexpr (BetweenTakesStatistics<Stage>)
      return Stage::between(row...);
    else
      return [](auto &&...arguments) { return Stage::between(arguments...); };
  }
};
template <class Spec> struct EpilogueOf {
  template <class... Row> __device__ __forceinline__ auto operator()(Row... row) const {
    if constexpr (EpilogueTakesStatistics<Spec>)
      return Spec::epilogue(row...);
    else
      return [](auto &&...arguments) { Spec::epilogue(arguments...); };
  }
};

/// One vector in front of a further collective: `operands`, which may be `values`, become what it
/// works on.
template <class Stage, class... L, class... S, int V, int Dim, class Value, class Operand,
          class Statistics, class Pointers, class Coord, class Sizes>
__device__ __forceinline__ void
runBetween(List<S...>, const Inputs<List<L...>, V, Dim> &in, const Value (&values)[V],
           Operand (&operands)[V], const Statistics &statistics, bool store,
           const Pointers &pointers, const Coord &coord, const Sizes &sizes) {
  Outputs<List<S...>, V, Dim> out;
  const auto between = perElement(statistics, BetweenOf<Stage>{});
#pragma unroll
  for (int i = 0; i < V; ++i)
    operands[i] = between(i)(values[i], static_cast<const Fragment<L, V> &>(in).value(i)...,
                             static_cast<Result<S, V> &>(out).values[i]...);
  if constexpr (sizeof...(S) > 0)
    if (store)
      out.store(pointers, coord, sizes);
}

/// One vector through the epilogue; `epilogue(i)` is that of element i.
template <class Spec, class... L, class... S, int V, int Dim, class Epilogue, class Pointers,
          class Coord>
__device__ __forceinline__ void
runEpilogue(List<S...>, const Inputs<List<L...>, V, Dim> &in,
            const typename Spec::Compute (&elements)[V], const Epilogue &epilogue, bool store,
            const Pointers &pointers, const Coord &coord,
            const typename Spec::Sizes &sizes) {
  Outputs<List<S...>, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    epilogue(i)(elements[i], static_cast<const Fragment<L, V> &>(in).value(i)...,
                static_cast<Result<S, V> &>(out).values[i]...);
  if (store)
    out.store(pointers, coord, sizes);
}

/// V neighbouring kept positions, along dimension Dim, through finish.
template <class Spec, int V, int Dim, class... L, class... S, class Statistics, class Pointers>
__device__ __forceinline__ void
runFinish(List<L...>, List<S...>, const Statistics &statistics, const Pointers &pointers,
          const typename Spec::Coord &coord, const typename Spec::Sizes &sizes) {
  Inputs<List<L...>, V, Dim> in;
  in.load(pointers, coord, sizes);
  Outputs<List<S...>, V, Dim> out;
#pragma unroll
  for (int i = 0; i < V; ++i)
    statistics.at(i).with([&](auto... row) {
      Spec::finish(row..., static_cast<const Fragment<L, V> &>(in).value(i)...,
                   static_cast<Result<S, V> &>(out).values[i]...);
    });
  out.store(pointers, coord, sizes);
}

/// A group of a last collective through groupFinish; `coord` is in it.
template <class Spec, class... L, class... S, class Statistics, class Pointers>
__device__ __forceinline__ void
runGroupFinish(List<L...>, List<S...>, const Statistics &statistics, const Pointers &pointers,
          const typename Spec::Coord &coord, const typename Spec::Sizes &sizes) {
  Inputs<List<L...>, 1, 0> in;
  in.load(pointers, coord, sizes);
  Outputs<List<S...>, 1, 0> out;
  statistics.with([&](auto... group) {
    Spec::groupFinish(group..., static_cast<const Fragment<L, 1> &>(in).value(0)...,
                      static_cast<Result<S, 1> &>(out).values[0]...);
  });
  out.store(pointers, coord, sizes);
}

namespace detail {

/// Whether operands pass through shared memory.
template <class Spec> concept IsStaged = requires { Spec::kStaged; };

/// How much shared memory the kernel has: what it needs, or, if that is more than a kernel may
/// declare, what its launch asks for.
template <class Spec, int Needed> __device__ constexpr int arenaBytes() {
  if constexpr (requires { Spec::kSharedBytes; }) {
    static_assert(Needed <= Spec::kSharedBytes);
    return Spec::kSharedBytes;
  } else {
    return Needed;
  }
}

/// The block's shared memory, if it needs any.
template <int Bytes> __device__ __forceinline__ char *arenaOf() {
  if constexpr (Bytes > 0)
    return arena<Bytes>();
  else
    return nullptr;
}

} // namespace detail

} // namespace swage
