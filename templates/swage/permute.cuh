// Permutations whose fast dimension changes: tiles through shared memory.
//
// What it computes.  Spec::body once per point, like pointwise.cuh, where some inputs
// (Access::Transposed) are contiguous along dimension kTransposedDim ("in") while the outputs are
// contiguous along the last one ("out").
//
// Why it is fast.  Each block turns one kTileIn x kTileOut tile.  A thread reads a micro-block of
// kVectorOut rows with one kVectorIn-element access each, transposes it in registers (byte permutes
// for 8- and 16-bit elements, renaming for wider ones), writes whole vectors into a shared tile
// that lies as the output does, and reads whole vectors back: 16-byte accesses everywhere, runs of
// 256 bytes on both sides of memory, about one shared-memory instruction per eight 16-bit elements.
// The vectors of a tile row are XORed with the row's micro-block number, which makes both sides
// free of bank conflicts without padding.  Everything else (further inputs, the body, the stores)
// happens at the store side.
//
// When chosen.  The unit-stride dimension of a large input differs from the output's.  Both extents
// should reach a few vectors; a permutation that keeps the innermost dimension is a pointwise
// kernel.
//
// Contract: kVectorIn divides the extent of "in", kVectorOut that of "out", and both are aligned in
// every operand they apply to; tiles are powers of two.  At the edges loads are clamped and stores
// predicated, vector by vector.  A coordinate may count through several dimensions: offsets along
// "out" of what is turned need not be linear in it.
#pragma once

#include "swage/permute_results.cuh"
#include "swage/pointwise.cuh"
#include "swage/tile.cuh"

namespace swage {

/// extents(sizes): the iteration space, in elements.  tiles(sizes): the same with dimensions
/// kTransposedDim and last counted in tiles; the grid is its number of points.
template <class Spec>
concept PermuteSpec = requires(const typename Spec::Sizes &sizes) {
  typename Spec::Index;
  typename Spec::Coord;
  typename Spec::Loads;
  typename Spec::Stores;
  Spec::kThreads + Spec::kTransposedDim;
  Spec::kTileIn + Spec::kTileOut;
  Spec::kVectorIn + Spec::kVectorOut;
  Spec::extents(sizes);
  Spec::tiles(sizes);
};

namespace detail {

/// What one thread carries from global to shared memory for one operand: nothing, unless it is
/// transposed.
template <class Spec, class Operand, Access Kind = Operand::access()> struct Carrier {
  enum : int { kTileBytes = 0 };

  template <class... Any> __device__ __forceinline__ void load(const Any &...) {}
  __device__ __forceinline__ void deposit(char *) const {}
  template <class Fragment>
  static __device__ __forceinline__ void fetch(const char *, int, int, Fragment &) {}
};

template <class Spec, class Operand> struct Carrier<Spec, Operand, Access::Transposed> {
  using Index = typename Spec::Index;
  using Coord = typename Spec::Coord;
  using Element = typename Operand::Element;
  using Tile = SwizzledTile<Element, Spec::kVectorIn, Spec::kVectorOut, Spec::kTileOut>;
  enum : int { kSize = sizeof(Element), kTileBytes = Spec::kTileIn * Spec::kTileOut * kSize };
  enum : int {
    kRows = kSize == 1 && Spec::kVectorOut > 4 ? 4 : Spec::kVectorOut, // 16 rows: too many registers
    kBlocksIn = Spec::kTileIn / Spec::kVectorIn,
    kBlocks = kBlocksIn * (Spec::kTileOut / kRows),
    kSteps = kBlocks / Spec::kThreads
  };
  static_assert(kBlocks % Spec::kThreads == 0,
                "every thread carries the same number of micro-blocks");

  Vector<Element, Spec::kVectorIn> rows[kSteps][kRows];

  /// The micro-block of a step: neighbouring threads lie along "in".
  static __device__ __forceinline__ int blockIn(int step) {
    return static_cast<int>(threadIndex() + step * Spec::kThreads) % kBlocksIn * Spec::kVectorIn;
  }
  static __device__ __forceinline__ int blockOut(int step) {
    return static_cast<int>(threadIndex() + step * Spec::kThreads) / kBlocksIn * kRows;
  }

  template <class Space>
  __device__ __forceinline__ void load(const Element *from, const Space &space, const Coord &origin,
                                       const typename Spec::Sizes &sizes) {
    constexpr int kIn = Spec::kTransposedDim, kOut = Space::kRank - 1;
    const Index lastIn = space.template extent<Index, kIn>() - Spec::kVectorIn;
    const Index lastOut = space.template extent<Index, kOut>() - 1;
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        Coord at = origin;
        at[kIn] += blockIn(step);
        at[kOut] += blockOut(step) + row;
        if (!WholeTiles<Space, kIn, Spec::kTileIn> && at[kIn] > lastIn)
          at[kIn] = lastIn;
        if (!WholeTiles<Space, kOut, Spec::kTileOut> && at[kOut] > lastOut)
          at[kOut] = lastOut;
        rows[step][row].template fetch<Operand::traffic()>(from + Operand::offset(at, sizes));
      }
  }
  __device__ __forceinline__ void deposit(char *tile) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
#pragma unroll
      for (int column = 0; column < Spec::kVectorIn; ++column) {
        Vector<Element, kRows> turned;
        gatherColumn(rows[step], column, turned);
        Tile::write(tile, blockIn(step) + column, blockOut(step), turned);
      }
  }
  template <class Fragment>
  static __device__ __forceinline__ void fetch(const char *tile, int in, int out,
                                               Fragment &fragment) {
    Tile::read(tile, in, out, fragment);
  }
};

/// The carriers of a list of operands, their tiles behind each other from byte At of the arena.
template <class Spec, int At, class... Operands> struct Staging {
  enum : int { kBytes = At };

  template <class... Any> __device__ __forceinline__ void load(const Any &...) {}
  __device__ __forceinline__ void deposit(char *) const {}
  template <class In> static __device__ __forceinline__ void fetch(const char *, int, int, In &) {}
};
template <class Spec, int At, class First, class... Rest> struct Staging<Spec, At, First, Rest...> {
  using Next = Staging<Spec, At + Carrier<Spec, First>::kTileBytes, Rest...>;
  enum : int { kBytes = Next::kBytes };
  Carrier<Spec, First> carrier;
  Next next;

  template <class Pointers, class Space>
  __device__ __forceinline__ void load(const Pointers &pointers, const Space &space,
                                       const typename Spec::Coord &origin,
                                       const typename Spec::Sizes &sizes) {
    carrier.load(static_cast<const Slot<First> &>(pointers).pointer, space, origin, sizes);
    next.load(pointers, space, origin, sizes);
  }
  __device__ __forceinline__ void deposit(char *tiles) const {
    carrier.deposit(tiles + At);
    next.deposit(tiles);
  }
  template <class In>
  static __device__ __forceinline__ void fetch(const char *tiles, int in, int out, In &inputs) {
    Carrier<Spec, First>::fetch(tiles + At, in, out,
                                static_cast<Fragment<First, Spec::kVectorOut> &>(inputs));
    Next::fetch(tiles, in, out, inputs);
  }
};
template <class Spec, class Operands> struct StagingOf;
template <class Spec, class... Operands> struct StagingOf<Spec, List<Operands...>> {
  using Type = Staging<Spec, 0, Operands...>;
};

/// Inputs turned, all else where the results are stored.
template <class Spec, class Staging, class Pointers, class Space>
__device__ __forceinline__ void turnInputs(const Pointers &pointers, const Space &space,
                                           const typename Spec::Coord &origin,
                                           const typename Spec::Sizes &sizes) {
  using Index = typename Spec::Index;
  constexpr int V = Spec::kVectorOut, kVectors = Spec::kTileOut / V,
                kAll = Spec::kTileIn * kVectors;
  constexpr int kIn = Spec::kTransposedDim, kOut = Space::kRank - 1;
  static_assert(kAll % Spec::kThreads == 0);

  char *tiles = arena<Staging::kBytes>();
  Staging staging;
  staging.load(pointers, space, origin, sizes);
  staging.deposit(tiles);
  barrier();

#pragma unroll
  for (int step = 0; step < kAll / Spec::kThreads; ++step) {
    const int vector = threadIndex() + step * Spec::kThreads;
    const int in = vector / kVectors, out = vector % kVectors * V;
    typename Spec::Coord at = origin;
    at[kIn] += in;
    at[kOut] += out;
    if ((WholeTiles<Space, kIn, Spec::kTileIn> || at[kIn] < space.template extent<Index, kIn>()) &&
        (WholeTiles<Space, kOut, Spec::kTileOut> ||
         at[kOut] < space.template extent<Index, kOut>())) {
      Inputs<typename Spec::Loads, V, kOut> inputs;
      inputs.load(pointers, at, sizes);
      Staging::fetch(tiles, in, out, inputs);
      bodyAndStore<Spec>(typename Spec::Stores{}, inputs, pointers, at, sizes);
    }
  }
}

} // namespace detail

template <PermuteSpec Spec, class Pointers>
__device__ __forceinline__ void permuteTiles(const Pointers &pointers,
                                             const typename Spec::Sizes &sizes) {
  using Staging = typename detail::StagingOf<Spec, typename Spec::Loads>::Type;
  const auto space = Spec::extents(sizes);
  typename Spec::Coord origin;
  Spec::tiles(sizes).split(static_cast<typename Spec::Index>(blockIndex()), origin);
  origin[Spec::kTransposedDim] *= Spec::kTileIn;
  origin[decltype(Spec::extents(sizes))::kRank - 1] *= Spec::kTileOut;
  if constexpr (Staging::kBytes > 0)
    detail::turnInputs<Spec, Staging>(pointers, space, origin, sizes);
  else
    detail::ResultTiles<Spec, typename Spec::Stores>::run(typename Spec::Loads{}, pointers, space,
                                                          origin, sizes);
}

} // namespace swage
