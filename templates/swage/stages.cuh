// The collectives of a row kernel one after the other: a Spec is the first stage, and the structs
// in its list Later are the others (phases.cuh).  Which there are, what each reads, and their
// results so far.
#pragma once

#include "swage/phases.cuh"

namespace swage::detail {

/// The collectives behind the first; and over how many elements the last one is (0: the row).
template <class Spec> struct LaterOf { using Type = List<>; };
template <class Spec>
requires requires { typename Spec::Later; }
struct LaterOf<Spec> {
  using Type = typename Spec::Later;
};
template <class Spec> using Later = typename LaterOf<Spec>::Type;
template <class Spec>
concept HasLater = requires {
  typename Spec::Later;
};
template <class Spec> __device__ constexpr int groupOf() {
  if constexpr (requires { Spec::kGroup; })
    return Spec::kGroup;
  else
    return 0;
}

template <class Stage> __device__ constexpr auto epsilonOf() {
  if constexpr (requires { Stage::epsilon(); })
    return Stage::epsilon();
  else
    return 0.0;
}

/// Of stages in order: those before one of them, and the last.
template <class Stage, class Seen, class All> struct BeforeOf;
template <class Stage, class... Seen, class... Rest>
struct BeforeOf<Stage, List<Seen...>, List<Stage, Rest...>> {
  using Type = List<Seen...>;
};
template <class Stage, class... Seen, class Other, class... Rest>
struct BeforeOf<Stage, List<Seen...>, List<Other, Rest...>>
    : BeforeOf<Stage, List<Seen..., Other>, List<Rest...>> {};
template <class All> struct LastOf;
template <class One> struct LastOf<List<One>> { using Type = One; };
template <class One, class Next, class... Rest>
struct LastOf<List<One, Next, Rest...>> : LastOf<List<Next, Rest...>> {};

template <class Spec, class Stages> struct WithFirst;
template <class Spec, class... Stages> struct WithFirst<Spec, List<Stages...>> {
  using Type = List<Spec, Stages...>;
};
template <class Spec> using AllStages = typename WithFirst<Spec, Later<Spec>>::Type;
template <class Spec> using LastStage = typename LastOf<AllStages<Spec>>::Type;
template <class Spec, class Stage>
using StagesBefore = typename BeforeOf<Stage, List<>, AllStages<Spec>>::Type;
template <class Spec> struct LaterOfRowOf { using Type = Later<Spec>; };
template <class Spec>
requires(groupOf<Spec>() != 0) struct LaterOfRowOf<Spec> {
  using Type = typename BeforeOf<LastStage<Spec>, List<>, Later<Spec>>::Type;
};
/// Those behind the first that are over the row, and all of the row.
template <class Spec> using LaterOfRow = typename LaterOfRowOf<Spec>::Type;
template <class Spec> using StagesOfRow = typename WithFirst<Spec, LaterOfRow<Spec>>::Type;

/// What the last collective works in, where that is another type: only over groups.
template <class Spec> using LastCompute = StageCompute<Spec, LastStage<Spec>>;
template <class Stage, class Spec>
concept IsApart = !__is_base_of(Stage, Spec) && requires {
  typename Stage::Compute;
};

/// Whether one of the stages is a softmax, or its logarithm.
template <class... Stages> __device__ constexpr bool hasSoftmax(List<Stages...>) {
  return (false || ... ||
          (Stages::collective() == Collective::Softmax ||
           Stages::collective() == Collective::LogSoftmax));
}

/// What the stages read for a vector.  Each may read what the prologue or an earlier one has read.
template <class Stage, int V, int Dim> using StageInputs = Inputs<typename Stage::Loads, V, Dim>;
template <class Stage, int V, int Dim> struct StageSlot { StageInputs<Stage, V, Dim> inputs; };
template <class Stages, int V, int Dim> struct Middles;
template <class... Stages, int V, int Dim>
struct Middles<List<Stages...>, V, Dim> : StageSlot<Stages, V, Dim>... {
  template <class Stage> __device__ __forceinline__ auto &of() {
    return static_cast<StageSlot<Stage, V, Dim> &>(*this).inputs;
  }
  /// Registers of what no earlier one has, and bring it.
  template <class... Before> static constexpr __device__ int aheadWords(List<Before...>, List<>) {
    return 0;
  }
  template <class... Before, class Stage, class... Rest>
  static constexpr __device__ int aheadWords(List<Before...>, List<Stage, Rest...>) {
    return StageInputs<Stage, V, Dim>::template aheadWords<Before...>() +
           aheadWords(List<Before..., StageInputs<Stage, V, Dim>>{}, List<Rest...>{});
  }
  template <class... Before, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void loadAhead(List<Before...>, List<>, const Pointers &,
                                            const Coord &, const Sizes &) {}
  template <class... Before, class Stage, class... Rest, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void loadAhead(List<Before...>, List<Stage, Rest...>,
                                            const Pointers &pointers, const Coord &coord,
                                            const Sizes &sizes) {
    of<Stage>().template loadAhead<Before...>(pointers, coord, sizes);
    loadAhead(List<Before..., StageInputs<Stage, V, Dim>>{}, List<Rest...>{}, pointers, coord,
              sizes);
  }
  /// One stage's, where those of the stages before it have been loaded.
  template <class Stage, bool Ahead, class First, class... Before, class Prologue, class Pointers,
            class Coord, class Sizes>
  __device__ __forceinline__ void loadAfter(List<First, Before...>, const Prologue &prologue,
                                            const Pointers &pointers, const Coord &coord,
                                            const Sizes &sizes) {
    of<Stage>().template loadAfter<Ahead>(pointers, coord, sizes, prologue, of<Before>()...);
  }
  /// What the epilogue has beside what is read here and in the prologue, and the rest of it.
  template <class Late, class Prologue> static constexpr __device__ int newWords() {
    return Late::template aheadWords<Prologue, StageInputs<Stages, V, Dim>...>();
  }
  template <class Prologue, class Late, class Pointers, class Coord, class Sizes>
  static __device__ __forceinline__ void loadNew(Late &late, const Pointers &pointers,
                                                 const Coord &coord, const Sizes &sizes) {
    late.template loadAhead<Prologue, StageInputs<Stages, V, Dim>...>(pointers, coord, sizes);
  }
  template <class Late, class Prologue, class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void loadOthers(Late &late, const Prologue &prologue,
                                             const Pointers &pointers, const Coord &coord,
                                             const Sizes &sizes) {
    late.loadOthers(pointers, coord, sizes, prologue, of<Stages>()...);
  }
};

/// The results of stages one after the other: `collect(results so far, List<stage>, List<those
/// seen>)` adds one.
template <class Collect, class Results, class... Seen>
__device__ __forceinline__ Results eachStage(const Collect &, const Results &results, List<Seen...>,
                                             List<>) {
  return results;
}
template <class Collect, class Results, class... Seen, class Stage, class... Rest>
__device__ __forceinline__ auto eachStage(const Collect &collect, const Results &results,
                                          List<Seen...> seen, List<Stage, Rest...>) {
  return eachStage(collect, collect(results, List<Stage>{}, seen), List<Seen..., Stage>{},
                   List<Rest...>{});
}

} // namespace swage::detail
