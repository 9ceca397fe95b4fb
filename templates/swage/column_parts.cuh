// What the engine of columns.cuh does with a lane's columns: some coordinates of them from the
// loads to the stores.
#pragma once

#include "swage/phases.cuh"

namespace swage::detail {

/// Unroll reduced coordinates of a lane's positions.
template <class Spec, int Groups, int Unroll> struct ColumnChunk {
  using Index = typename Spec::Index;
  using Compute = typename Spec::Compute;
  using S = FirstStats<Spec>;
  using Kept = decltype(Spec::kept(typename Spec::Sizes{}));
  using Reduced = decltype(Spec::reduced(typename Spec::Sizes{}));
  enum : int { V = Spec::kVector, kLast = Kept::kRank - 1 }; ///< the vectorised dimension
  enum : bool { kExact = Reduced::kFixed && Reduced::kCount % (Groups * Unroll) == 0 };

  typename Spec::Coord coord[Unroll];
  bool valid[Unroll];
  Compute values[V][Unroll][1]; ///< a column of each position
  Compute count;

  /// Those of thread row `group` in step `step`.
  __device__ __forceinline__ void place(const typename Spec::Coord &column, const Reduced &reduced,
                                        Index step, int group) {
    const Index length = reduced.template count<Index>();
    count = 0;
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      const Index at = (step * Unroll + u) * Groups + group;
      valid[u] = kExact || at < length;
      coord[u] = column;
      reduced.template split<Kept::kRank>(valid[u] ? at : length - 1, coord[u]);
      count += valid[u] ? Compute(1) : Compute(0);
    }
  }
  /// Fetches the inputs of the prologue by `read(in, u)`, and reads those of the epilogue where `more`
  /// has any, all of them before the first is used; makes the values.
  template <class Read, class More, class Pointers>
  __device__ __forceinline__ void load(const Read &read, More (&more)[Unroll],
                                       const Pointers &pointers, const typename Spec::Sizes &sizes,
                                       bool store) {
    Inputs<typename Spec::PrologueLoads, V, kLast> in[Unroll];
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      read(in[u], u);
      more[u].load(pointers, coord[u], sizes);
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      Compute made[V];
      runPrologue<Spec>(typename Spec::PrologueStores{}, in[u], made, store && valid[u], pointers,
                        coord[u], sizes);
#pragma unroll
      for (int i = 0; i < V; ++i)
        values[i][u][0] = MayRepeatStored<Spec> && !valid[u] ? lowest<Compute>() : made[i];
    }
  }
  template <class More, class Pointers>
  __device__ __forceinline__ void epilogue(const typename S::Result (&results)[V],
                                           const More (&more)[Unroll], const Pointers &pointers,
                                           const typename Spec::Sizes &sizes, bool exists) const {
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      Compute elements[V];
#pragma unroll
      for (int i = 0; i < V; ++i)
        elements[i] = values[i][u][0];
      auto run = [&](const auto &statistics) {
        runEpilogue<Spec>(typename Spec::EpilogueStores{}, more[u], elements,
                          perElement(statistics, EpilogueOf<Spec>{}), exists && valid[u], pointers,
                          coord[u], sizes);
      };
      if constexpr (EpilogueTakesStatistics<Spec>)
        run(ColumnStatistics<S, V>{results});
      else
        run(Statistics<>{});
    }
  }
};

} // namespace swage::detail
