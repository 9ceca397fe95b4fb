// Results that lie across: tiles through shared memory on the way out.
//
// What it computes.  Spec::body once per point, where inputs and some outputs are contiguous along
// the last dimension ("out"), and other outputs (Access::Transposed) along kTransposedDim ("in"): a
// tensor and its transpose in one pass.
//
// Why it is fast.  Memory is read once for both.  It is permute.cuh the other way round: a thread
// reads a micro-block of kRows rows with one vector each, evaluates the body, stores what lies as
// the inputs do, and turns the rest in registers into a tile that lies as those outputs do, from
// which whole vectors are stored.  Neighbouring lanes write the parts of one vector of the tile,
// then neighbouring rows of it, so that together they touch all banks.
//
// Contract: that of permute.cuh, without transposed inputs.
#pragma once

#include "swage/operand.cuh"
#include "swage/tile.cuh"

namespace swage {
namespace detail {

/// Whether a dimension is known to consist of whole tiles, so that no access needs a check.
template <class Space, int Dim, int Tile>
concept WholeTiles =
    Space::template fixedExtent<Dim>() != 0 && Space::template fixedExtent<Dim>() % Tile == 0;

/// A thread's micro-blocks.
template <class Spec> struct ResultBlocks {
  enum : int {
    V = Spec::kVectorOut,
    kRows = Spec::kVectorIn < 4 ? Spec::kVectorIn : 4, // more would take too many registers
    kParts = Spec::kVectorIn / kRows,
    kVectors = Spec::kTileOut / V,
    kSteps = Spec::kTileIn / kRows * kVectors / Spec::kThreads
  };
  static_assert(Spec::kTileIn / kRows * kVectors % Spec::kThreads == 0,
                "every thread turns the same number of micro-blocks");
};

/// What one thread does with its rows of one output: store them, unless it is transposed.
template <class Spec, class Operand, Access Kind = Operand::access()> struct ResultRows {
  enum : int { kTileBytes = 0 };

  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void take(int, const Result<Operand, Spec::kVectorOut> &result,
                                       typename Operand::Pointer to, const Coord &at, bool exists,
                                       const Sizes &sizes) {
    if (exists)
      result.template store<Dim>(to, at, sizes);
  }
  __device__ __forceinline__ void deposit(char *, int, int) const {}
  template <class Space, class Coord, class Sizes>
  static __device__ __forceinline__ void store(const char *, typename Operand::Pointer,
                                               const Space &, const Coord &, const Sizes &) {}
};

template <class Spec, class Operand> struct ResultRows<Spec, Operand, Access::Transposed> {
  using Element = typename Operand::Element;
  using Blocks = ResultBlocks<Spec>;
  using Tile = SwizzledTile<Element, Spec::kVectorOut, Spec::kVectorIn, Spec::kTileIn>;
  enum : int { kTileBytes = Spec::kTileIn * Spec::kTileOut * int(sizeof(Element)) };

  Vector<Element, Spec::kVectorOut> rows[Blocks::kRows];

  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void take(int row, const Result<Operand, Spec::kVectorOut> &result,
                                       Element *, const Coord &, bool, const Sizes &) {
    rows[row].assign(result.values);
  }
  __device__ __forceinline__ void deposit(char *tile, int in, int out) const {
#pragma unroll
    for (int column = 0; column < Spec::kVectorOut; ++column) {
      Vector<Element, Blocks::kRows> turned;
      gatherColumn(rows, column, turned);
      Tile::write(tile, out + column, in, turned);
    }
  }
  template <class Space, class Coord, class Sizes>
  static __device__ __forceinline__ void store(const char *tile, Element *to, const Space &space,
                                               const Coord &origin, const Sizes &sizes) {
    using Index = typename Spec::Index;
    constexpr int kIn = Spec::kTransposedDim, kOut = Space::kRank - 1;
    constexpr int kVectors = Spec::kTileIn / Spec::kVectorIn, kAll = Spec::kTileOut * kVectors;
    static_assert(kAll % Spec::kThreads == 0);
#pragma unroll
    for (int step = 0; step < kAll / Spec::kThreads; ++step) {
      const int vector = static_cast<int>(threadIndex()) + step * Spec::kThreads;
      const int out = vector / kVectors, in = vector % kVectors * Spec::kVectorIn;
      Coord at = origin;
      at[kIn] += in;
      at[kOut] += out;
      if ((WholeTiles<Space, kIn, Spec::kTileIn> ||
           at[kIn] < space.template extent<Index, kIn>()) &&
          (WholeTiles<Space, kOut, Spec::kTileOut> ||
           at[kOut] < space.template extent<Index, kOut>())) {
        Vector<Element, Spec::kVectorIn> whole;
        Tile::read(tile, out, in, whole);
        whole.store(to + Operand::offset(at, sizes));
      }
    }
  }
};

template <class Spec, class Stores> struct ResultTiles;
template <class Spec, class... S> struct ResultTiles<Spec, List<S...>> {
  using Blocks = ResultBlocks<Spec>;
  using Index = typename Spec::Index;
  enum : int { kBytes = (0 + ... + ResultRows<Spec, S>::kTileBytes) };
  struct Rows : ResultRows<Spec, S>... {};

  template <class... L, class Pointers, class Space, class Coord>
  static __device__ __forceinline__ void run(List<L...>, const Pointers &pointers,
                                             const Space &space, const Coord &origin,
                                             const typename Spec::Sizes &sizes) {
    constexpr int kIn = Spec::kTransposedDim, kOut = Space::kRank - 1;
    char *const tiles = arena<kBytes>();
    const Index endIn = space.template extent<Index, kIn>(),
                endOut = space.template extent<Index, kOut>();
#pragma unroll
    for (int step = 0; step < Blocks::kSteps; ++step) {
      const int number = static_cast<int>(threadIndex()) + step * Spec::kThreads;
      const int column = number / Blocks::kParts % Blocks::kVectors,
                block = number / Blocks::kParts / Blocks::kVectors;
      const int in = (block * Blocks::kParts + number % Blocks::kParts) * Blocks::kRows,
                out = column * Blocks::V;
      Inputs<List<L...>, Blocks::V, kOut> inputs[Blocks::kRows];
      auto coordAt = [&](int row) {
        Coord at = origin;
        at[kIn] += in + row;
        at[kOut] += out;
        return at;
      };
#pragma unroll
      for (int row = 0; row < Blocks::kRows; ++row) {
        Coord at = coordAt(row);
        if (!WholeTiles<Space, kIn, Spec::kTileIn> && at[kIn] >= endIn)
          at[kIn] = endIn - 1;
        if (!WholeTiles<Space, kOut, Spec::kTileOut> && at[kOut] >= endOut)
          at[kOut] = endOut - Blocks::V;
        inputs[row].load(pointers, at, sizes);
      }
      Rows rows;
#pragma unroll
      for (int row = 0; row < Blocks::kRows; ++row) {
        const Coord at = coordAt(row);
        const bool exists = (WholeTiles<Space, kIn, Spec::kTileIn> || at[kIn] < endIn) &&
                            (WholeTiles<Space, kOut, Spec::kTileOut> || at[kOut] < endOut);
        Outputs<List<S...>, Blocks::V, kOut> results;
#pragma unroll
        for (int i = 0; i < Blocks::V; ++i)
          Spec::body(static_cast<const Fragment<L, Blocks::V> &>(inputs[row]).value(i)...,
                     static_cast<Result<S, Blocks::V> &>(results).values[i]...);
        (static_cast<ResultRows<Spec, S> &>(rows).template take<kOut>(
             row, static_cast<const Result<S, Blocks::V> &>(results),
             static_cast<const Slot<S> &>(pointers).pointer, at, exists, sizes),
         ...);
      }
      char *tile = tiles;
      ((static_cast<const ResultRows<Spec, S> &>(rows).deposit(tile, in, out),
        tile += ResultRows<Spec, S>::kTileBytes),
       ...);
    }
    barrier();
    const char *tile = tiles;
    ((ResultRows<Spec, S>::store(tile, static_cast<const Slot<S> &>(pointers).pointer, space,
                                 origin, sizes),
      tile += ResultRows<Spec, S>::kTileBytes),
     ...);
  }
};

} // namespace detail
} // namespace swage
