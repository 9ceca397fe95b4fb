// What a step of decoding makes before it attends: queries, and its own tokens' keys and values,
// which go to rows of the caches that memory says.  The Spec's query, keyRow and valueRow make
// columns of these, pieces of the head dim at once where rotary embedding turns pairs of columns;
// place says which row of the caches a query's token has.
//
// Queries stay in shared memory: each block makes those of its units for itself.  A new row is
// written by the warp that reads the keys around it, just before it asks for them, so that nobody
// waits for anybody; a row that is in no tile of its unit, by the block that begins the unit.  See
// attention_decode.cuh.
#pragma once

#include "swage/attention_spans.cuh"
#include "swage/device/bulk.cuh"
#include "swage/rows.cuh"

namespace swage::detail {

template <class Spec>
concept MakesQueries = requires { typename Spec::QueryStores; };
template <class Spec>
concept AddsRows = requires { typename Spec::PlaceStores; };

/// Runs a phase for two neighbouring columns along dimension Dim: use(operand, result) for each
/// output.
template <int Dim, class... L, class... S, class Make, class Use, class Pointers, class Coord,
          class Sizes>
__device__ __forceinline__ void makePair(List<L...>, List<S...>, const Make &make, const Use &use,
                                         const Pointers &pointers, const Coord &coord,
                                         const Sizes &sizes) {
  Inputs<List<L...>, 2, Dim> in;
  in.load(pointers, coord, sizes);
  Outputs<List<S...>, 2, Dim> out;
#pragma unroll
  for (int i = 0; i < 2; ++i)
    make(static_cast<const Fragment<L, 2> &>(in).value(i)...,
         static_cast<Result<S, 2> &>(out).values[i]...);
  (use(S{}, static_cast<const Result<S, 2> &>(out)), ...);
}

/// All queries of a unit to shared memory, by all threads of the block.
template <class Spec, class Arguments>
__device__ __forceinline__ void makeQueries(const Arguments &arguments, const PackedTile &tile,
                                            char *to) {
  constexpr int kPairs = Spec::kQueryPiece / 2;
#pragma unroll 1
  for (int i = static_cast<int>(threadIndex()); i < Spec::kRows * kPairs; i += Spec::kThreads) {
    auto coord = tile.template at<typename Spec::Coord>(i / kPairs, 0);
    coord[AttentionDim::HeadDim] = i % kPairs * 2;
    const auto store = [&]<class Operand, int V>(Operand, const Result<Operand, V> &result) {
      constexpr int kTogether = Operand::access() == Access::Vector ? V : 1;
      using Element = typename Operand::Element;
#pragma unroll
      for (int j = 0; j < V; j += kTogether) {
        auto at = coord;
        at[AttentionDim::HeadDim] += j;
        Vector<Element, kTogether> vector;
        if constexpr (kTogether == V)
          vector.assign(result.values);
        else
          vector.assign({result.values[j]});
        vector.storeShared(reinterpret_cast<Element *>(to) + Operand::offset(at, arguments.sizes));
      }
    };
    makePair<AttentionDim::HeadDim>(
        typename Spec::QueryLoads{}, typename Spec::QueryStores{},
        [](auto &&...values) { Spec::query(static_cast<decltype(values)>(values)...); }, store,
        arguments.pointers, coord, arguments.sizes);
  }
}

/// The rows that a unit's tokens have in the caches, and what a warp writes to them.
template <class Spec, class Arguments> struct NewRows {
  __device__ __forceinline__ void enter(const Arguments &, const PackedTile &) {}
  __device__ __forceinline__ void add(const Arguments &, const PackedTile &, int, int, bool) {}
};
template <AddsRows Spec, class Arguments> struct NewRows<Spec, Arguments> {
  int place; ///< of the lane's query; -1: nowhere

  __device__ __forceinline__ void enter(const Arguments &arguments, const PackedTile &tile) {
    const int lane = static_cast<int>(laneIndex());
    place = lane < tile.queries
                ? placeOf(typename Spec::PlaceLoads{}, typename Spec::PlaceStores{}, arguments,
                          tile, lane)
                : -1;
  }
  /// Writes rows from `first` on and before `end`, or those that are not, for the copies that the
  /// warp starts next.
  __device__ __forceinline__ void add(const Arguments &arguments, const PackedTile &tile, int first,
                                      int end, bool isWithin) const {
    const unsigned chosen =
        ballot(place >= 0 && (place >= first && place < end) == isWithin);
    if (chosen == 0)
      return;
#pragma unroll 1
    for (int query = 0; query < tile.queries; ++query) {
      if ((chosen >> query & 1) == 0)
        continue;
      const int row = shuffleFrom(place, query);
      write<AttentionDim::HeadDim, Spec::kKeyPiece>(
          typename Spec::KeyRowLoads{}, typename Spec::KeyRowStores{},
          [](auto &&...values) { Spec::keyRow(static_cast<decltype(values)>(values)...); },
          arguments, tile, query, row);
      if constexpr (requires { Spec::kValuePiece; })
        write<AttentionDim::ValueDim, Spec::kValuePiece>(
            typename Spec::ValueRowLoads{}, typename Spec::ValueRowStores{},
            [](auto &&...values) { Spec::valueRow(static_cast<decltype(values)>(values)...); },
            arguments, tile, query, row);
    }
    if constexpr (Spec::kBulk || Spec::kLinear)
      fenceProxyAsyncGlobal();
    syncWarp();
  }

private:
  template <class... L, class First, class... S>
  static __device__ __forceinline__ int placeOf(List<L...>, List<First, S...>,
                                                const Arguments &arguments, const PackedTile &tile,
                                                int query) {
    constexpr int kDim = AttentionDim::Query;
    const auto coord = tile.template at<typename Spec::Coord>(query, 0);
    Inputs<List<L...>, 1, kDim> in;
    in.load(arguments.pointers, coord, arguments.sizes);
    Outputs<List<First, S...>, 1, kDim> out;
    Spec::place(static_cast<const Fragment<L, 1> &>(in).value(0)...,
                static_cast<Result<First, 1> &>(out).values[0],
                static_cast<Result<S, 1> &>(out).values[0]...);
    return static_cast<int>(First::template place<First>(
        static_cast<Result<First, 1> &>(out).values[0], arguments.sizes));
  }
  template <int Dim, int Columns, class Loads, class Stores, class Make>
  static __device__ __forceinline__ void write(Loads loads, Stores stores, const Make &make,
                                               const Arguments &arguments, const PackedTile &tile,
                                               int query, int row) {
    auto coord = tile.template at<typename Spec::Coord>(query, 0);
    const auto store = [&]<class Operand, int V>(Operand, const Result<Operand, V> &result) {
      const Result<typename Operand::Rows, V> rows{{row, row}};
      storeRows<Dim, Operand, V>(result, rows,
                                 static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer,
                                 coord, arguments.sizes);
    };
    for (coord[Dim] = static_cast<int>(laneIndex()) * 2; coord[Dim] < Columns;
         coord[Dim] += 2 * kWarpSize)
      makePair<Dim>(loads, stores, make, store, arguments.pointers, coord, arguments.sizes);
  }
};

} // namespace swage::detail
