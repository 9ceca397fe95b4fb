// What a step of decoding makes before it attends: queries, and its own tokens' keys and values,
// which go to rows of the caches that memory says.  The Spec's query, keyRow and valueRow make
// columns of these, pieces of the head dim at once where rotary embedding turns pairs of columns;
// place says which row of the caches a query's token has.
//
// Queries stay in shared memory: each block makes those of its units for itself.  A new row belongs
// to the warp that reads the keys around it.  Where these have come it puts the row in their midst,
// and stores it: what it reads is never what it has written, and nobody waits for anybody.  A row
// that is in no tile of its unit is stored by the block that begins the unit.  See
// attention_decode.cuh.
#pragma once

#include "swage/attention_spans.cuh"
#include "swage/device/bulk.cuh"
#include "swage/rows.cuh"

namespace swage {

/// Queries that the kernel makes itself.
template <class T, Access Kind> struct SharedOutput : Output<T, Kind> {
  struct Pointer {};
};

namespace detail {

template <class Spec>
concept MakesQueries = requires {
  typename Spec::QueryStores;
};
template <class Spec>
concept AddsRows = requires {
  typename Spec::PlaceStores;
};

/// Two neighbouring columns along dimension Dim of what a phase makes, which are asked for in
/// advance.
template <int Dim, class Loads, class Stores> struct ColumnPair;
template <int Dim, class... L, class... S> struct ColumnPair<Dim, List<L...>, List<S...>> {
  using Made = Outputs<List<S...>, 2, Dim>;
  Inputs<List<L...>, 2, Dim> in;

  template <class Pointers, class Coord, class Sizes>
  __device__ __forceinline__ void load(const Pointers &pointers, const Coord &coord,
                                       const Sizes &sizes) {
    in.load(pointers, coord, sizes);
  }
  template <class Make> __device__ __forceinline__ Made made(const Make &make) const {
    Made made;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      make(static_cast<const Fragment<L, 2> &>(in).value(i)...,
           static_cast<Result<S, 2> &>(made).values[i]...);
    return made;
  }
};

/// What a thread makes of a unit's queries.
template <class Spec, class Arguments> struct NewQueries {
  __device__ __forceinline__ void ask(const Arguments &, const PackedTile &) {}
};
template <MakesQueries Spec, class Arguments> struct NewQueries<Spec, Arguments> {
  using Coord = typename Spec::Coord;
  using Pair =
      ColumnPair<AttentionDim::HeadDim, typename Spec::QueryLoads, typename Spec::QueryStores>;
  enum : int {
    kPairs = Spec::kQueryPiece / 2, ///< of a row
    kEach = (Spec::kRows * kPairs + Spec::kThreads - 1) / Spec::kThreads
  };
  Pair pairs[kEach];

  static __device__ __forceinline__ int numberOf(int i) {
    return i * Spec::kThreads + static_cast<int>(threadIndex());
  }
  static __device__ __forceinline__ Coord at(const PackedTile &tile, int number) {
    Coord coord = tile.template at<Coord>(number / kPairs, 0);
    coord[AttentionDim::HeadDim] = number % kPairs * 2;
    return coord;
  }
  __device__ __forceinline__ void ask(const Arguments &arguments, const PackedTile &tile) {
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if (const int number = numberOf(i); number < Spec::kRows * kPairs)
        pairs[i].load(arguments.pointers, at(tile, number), arguments.sizes);
  }
  /// To shared memory.
  __device__ __forceinline__ void make(const Arguments &arguments, const PackedTile &tile,
                                       char *to) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if (const int number = numberOf(i); number < Spec::kRows * kPairs)
        storeAll(typename Spec::QueryStores{}, arguments, pairs[i].made([](auto &&...values) {
          Spec::query(static_cast<decltype(values)>(values)...);
        }),
                 at(tile, number), to);
  }

private:
  template <class... S>
  static __device__ __forceinline__ void storeAll(List<S...>, const Arguments &arguments,
                                                  const typename Pair::Made &made,
                                                  const Coord &coord, char *to) {
    (store<S>(arguments, made, coord, to), ...);
  }
  template <class Operand>
  static __device__ __forceinline__ void
  store(const Arguments &arguments, const Result<Operand, 2> &made, Coord coord, char *to) {
    using Element = typename Operand::Element;
    auto *const row = reinterpret_cast<Element *>(to);
    if constexpr (Operand::access() == Access::Vector) {
      Vector<Element, 2> vector;
      vector.assign(made.values);
      vector.storeShared(row + Operand::offset(coord, arguments.sizes));
    } else {
#pragma unroll
      for (int i = 0; i < 2; ++i, ++coord[AttentionDim::HeadDim]) {
        Vector<Element, 1> vector;
        vector.assign({made.values[i]});
        vector.storeShared(row + Operand::offset(coord, arguments.sizes));
      }
    }
  }
};

/// The rows that a unit's tokens have in the caches, as a warp makes them.
template <class Spec, class Layout, class Arguments> struct NewRows {
  __device__ __forceinline__ void enter(const Arguments &, const PackedTile &) {}
  __device__ __forceinline__ void ask(const Arguments &, const PackedTile &, int, int, int) {}
  __device__ __forceinline__ void add(const Arguments &, const PackedTile &, SharedAddress, int,
                                      int) {}
};
template <AddsRows Spec, class Layout, class Arguments> struct NewRows<Spec, Layout, Arguments> {
  using Coord = typename Spec::Coord;
  enum : int {
    kHead = AttentionDim::HeadDim,
    kValue = AttentionDim::ValueDim,
    kKeyPairs = (Spec::kKeyPiece + 2 * kWarpSize - 1) / (2 * kWarpSize),
    kValuePairs = (Spec::kValuePiece + 2 * kWarpSize - 1) / (2 * kWarpSize)
  };
  int place; ///< of the lane's query; -1: nowhere
  int asked; ///< the query whose key and value have been asked for
  ColumnPair<kHead, typename Spec::KeyRowLoads, typename Spec::KeyRowStores> key[kKeyPairs];
  ColumnPair<kValue, typename Spec::ValueRowLoads, typename Spec::ValueRowStores>
      value[kValuePairs];

  __device__ __forceinline__ void enter(const Arguments &arguments, const PackedTile &tile) {
    const int lane = static_cast<int>(laneIndex());
    place = lane < tile.queries ? placeOf(typename Spec::PlaceLoads{}, typename Spec::PlaceStores{},
                                          arguments, tile, lane)
                                : -1;
  }
  /// Asks for what makes the first of the rows that are in a warp's shares of tiles `begin` to
  /// `end`, well before that is added.
  __device__ __forceinline__ void ask(const Arguments &arguments, const PackedTile &tile, int warp,
                                      int begin, int end) {
    const int share = place / Spec::kKeys, block = share / Spec::kWarps;
    const bool isOwn = place >= 0 && share % Spec::kWarps == warp && block >= begin && block < end;
    asked = reduceLanes<LaneOp::Min>(isOwn ? static_cast<int>(laneIndex()) : int(kWarpSize));
    if (asked < kWarpSize)
      load(arguments, tile, asked);
  }
  /// Stores the rows that are in a share, also in their places among the stage's keys: what copies
  /// have brought there is older.  What no query sees stays zero.  With the unit's first share come
  /// the rows that no tile has.
  __device__ __forceinline__ void add(const Arguments &arguments, const PackedTile &tile,
                                      SharedAddress ring, int stage, int share) {
    const int own = place / Spec::kKeys, block = own / Spec::kWarps;
    const bool isInside = block >= tile.firstBlock && block < tile.endBlock,
               isHere = share == (isInside ? own : tile.firstBlock * Spec::kWarps);
    const unsigned due = ballot(place >= 0 && isHere);
    if (due == 0)
      return;
#pragma unroll 1
    for (int query = 0; query < tile.queries; ++query) {
      if ((due >> query & 1) == 0)
        continue;
      if (query != asked)
        load(arguments, tile, query);
      asked = kWarpSize;
      const int row = shuffleFrom(place, query), inShare = row - share * Spec::kKeys;
      const bool isSeen =
          inShare >= 0 && inShare < Spec::kKeys && row >= tile.firstKey && row < tile.endKey;
      const auto coord = tile.template at<Coord>(query, 0);
      finish<kHead, Spec::kKeyPiece>(
          key, [](auto &&...made) { Spec::keyRow(static_cast<decltype(made)>(made)...); },
          typename Spec::KeyRowStores{}, arguments, coord, row,
          ring + Layout::kKeyAt + stage * Layout::kKeyBytes, isSeen ? inShare : -1);
      finish<kValue, Spec::kValuePiece>(
          value, [](auto &&...made) { Spec::valueRow(static_cast<decltype(made)>(made)...); },
          typename Spec::ValueRowStores{}, arguments, coord, row,
          ring + Layout::kValueAt + stage * Layout::kValueBytes, isSeen ? inShare : -1);
    }
    if constexpr (Spec::kBulk || Spec::kLinear)
      fenceProxyAsync(); // copies come here again
    syncWarp();
  }

private:
  template <class... L, class First, class... S>
  static __device__ __forceinline__ int placeOf(List<L...>, List<First, S...>,
                                                const Arguments &arguments, const PackedTile &tile,
                                                int query) {
    constexpr int kDim = AttentionDim::Query;
    const auto coord = tile.template at<Coord>(query, 0);
    Inputs<List<L...>, 1, kDim> in;
    in.load(arguments.pointers, coord, arguments.sizes);
    Outputs<List<First, S...>, 1, kDim> out;
    Spec::place(static_cast<const Fragment<L, 1> &>(in).value(0)...,
                static_cast<Result<First, 1> &>(out).values[0],
                static_cast<Result<S, 1> &>(out).values[0]...);
    return static_cast<int>(First::template place<First>(
        static_cast<Result<First, 1> &>(out).values[0], arguments.sizes));
  }
  static __device__ __forceinline__ int columnOf(int pair) {
    return (pair * kWarpSize + static_cast<int>(laneIndex())) * 2;
  }
  __device__ __forceinline__ void load(const Arguments &arguments, const PackedTile &tile,
                                       int query) {
    auto ofKey = tile.template at<Coord>(query, 0), ofValue = ofKey;
#pragma unroll
    for (int pair = 0; pair < kKeyPairs; ++pair) {
      const int column = columnOf(pair);
      ofKey[kHead] = column < Spec::kKeyPiece ? column : 0;
      key[pair].load(arguments.pointers, ofKey, arguments.sizes);
    }
#pragma unroll
    for (int pair = 0; pair < kValuePairs; ++pair) {
      const int column = columnOf(pair);
      ofValue[kValue] = column < Spec::kValuePiece ? column : 0;
      value[pair].load(arguments.pointers, ofValue, arguments.sizes);
    }
  }
  /// `inShare`: where the row is among a stage's keys; -1: it is not.
  template <int Dim, int Columns, class Pairs, class Make, class First, class... S>
  static __device__ __forceinline__ void
  finish(const Pairs &pairs, const Make &make, List<First, S...>, const Arguments &arguments,
         Coord coord, int row, SharedAddress stage, int inShare) {
    // Where the head dim begins: its columns lie together.
    const auto begin = First::offset(coord, arguments.sizes);
#pragma unroll
    for (int pair = 0; pair < static_cast<int>(sizeof(Pairs) / sizeof(pairs[0])); ++pair) {
      coord[Dim] = columnOf(pair);
      if (coord[Dim] >= Columns)
        continue;
      const auto made = pairs[pair].made(make);
      store<Dim, First>(arguments, made, coord, row, begin, stage, inShare);
      (store<Dim, S>(arguments, made, coord, row, begin, stage, inShare), ...);
    }
  }
  template <int Dim, class Operand, class Offset>
  static __device__ __forceinline__ void store(const Arguments &arguments,
                                               const Result<Operand, 2> &made, Coord coord, int row,
                                               Offset begin, SharedAddress stage, int inShare) {
    using Element = typename Operand::Element;
    storeRows<Dim, Operand, 2>(
        made, Result<typename Operand::Rows, 2>{{row, row}},
        static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer, coord,
        arguments.sizes);
    if (inShare < 0)
      return;
#pragma unroll
    for (int i = 0; i < 2; ++i, ++coord[Dim]) {
      const int column = static_cast<int>(Operand::offset(coord, arguments.sizes) - begin);
      const SharedAddress at = Dim == kHead ? Layout::keyElement(stage, inShare, column)
                                            : Layout::valueElement(stage, inShare, column);
      Vector<Element, 1> vector;
      vector.assign({made.values[i]});
      vector.storeShared(
          reinterpret_cast<Element *>(dynamicArena() + (at - sharedAddress(dynamicArena()))));
    }
  }
};

} // namespace detail

} // namespace swage
