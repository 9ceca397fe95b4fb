// Where the keys are that a warp decodes: one after the other, or in pages, of a size that is
// known, which a table of the sequence names.  What holds Batch and Key for the operands is then
// the page and the position in it.  See attention_decode.cuh.
#pragma once

#include "swage/attention_copy.cuh"
#include "swage/attention_runs.cuh"
#include "swage/attention_spans.cuh"
#include "swage/device/vote.cuh"

namespace swage::detail {

/// The coordinates of a key in its operand.
struct KeyPlace {
  int batch, key;
};

constexpr __device__ int greatestCommonDivisor(int a, int b) {
  return b == 0 ? a : greatestCommonDivisor(b, a % b);
}

template <class Spec>
concept IsPaged = requires {
  Spec::kPageSize;
};

/// Keys of a warp's share of a tile that the copy engine brings at once: those of one page, or as
/// many of keys in runs as have 256 elements at most side by side.
template <class Spec> constexpr __device__ int keysTogether() {
  if constexpr (IsPaged<Spec>)
    return greatestCommonDivisor(Spec::kPageSize, Spec::kKeys);
  else if constexpr (HasKeyRuns<Spec>)
    return greatestCommonDivisor(256 / Spec::kKeyRun, Spec::kKeys);
  else
    return Spec::kKeys;
}

/// Keys of a sequence follow each other.
template <class Spec, class Arguments> struct KeyPlaces {
  enum : int { kRun = keysTogether<Spec>() };

  __device__ __forceinline__ explicit KeyPlaces(const Arguments &) {}
  __device__ __forceinline__ void enter(const PackedTile &) {}
  __device__ __forceinline__ void seek(const PackedTile &, int) {}
  __device__ __forceinline__ KeyPlace at(const PackedTile &tile, int first, int run) const {
    return {tile.batch, first + run * kRun};
  }
};

/// Keys in pages.  The lanes look up the pages of several shares to come at once, so that copies
/// seldom wait for the table.
template <class Spec, class Arguments>
requires IsPaged<Spec>
struct KeyPlaces<Spec, Arguments> {
  enum : int {
    kRun = keysTogether<Spec>(), ///< one page has these
    kRuns = Spec::kKeys / kRun,
    kShares = kRuns < kWarpSize ? kWarpSize / kRuns : 1, ///< that are looked up at once
    kWords = (kRuns + kWarpSize - 1) / kWarpSize,
    kStep = Spec::kKeys * Spec::kWarps ///< from a share of the warp to its next one
  };

  const Arguments &arguments;
  int batch;         ///< whose pages were looked up
  int from;          ///< the first key of the shares that were
  int pages[kWords]; ///< of run lane + 32 word of these

  __device__ __forceinline__ explicit KeyPlaces(const Arguments &arguments)
      : arguments(arguments), batch(-1), from(-kShares * kStep) {}
  /// Another unit's keys come: of the same sequence they are in the same pages, unless heads or
  /// queries see other ones.
  __device__ __forceinline__ void enter(const PackedTile &tile) {
    if (KeySpans<Spec, Arguments>::kByUnit || tile.batch != batch)
      from = -kShares * kStep;
  }
  /// Makes the pages of the share from `first` on known.  Where a unit's queries see nothing, the
  /// table is not read, and there is no page.
  __device__ __forceinline__ void seek(const PackedTile &tile, int first) {
    using Table = typename Spec::Table;
    if (static_cast<unsigned>(first - from) < kShares * kStep)
      return;
    batch = tile.batch;
    from = first;
    const int *const table = static_cast<const swage::Slot<Table> &>(arguments.pointers).pointer;
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      const int run = static_cast<int>(laneIndex()) + kWarpSize * word;
      const int key = first + run / kRuns * kStep + run % kRuns * kRun;
      pages[word] = -1;
      if (run < kRuns * kShares && key < tile.endKey && key + kRun > tile.firstKey) {
        const auto coord = tile.template at<typename Spec::Coord>(0, key / Spec::kPageSize);
        loadGlobal<4, Table::traffic()>(table + Table::offset(coord, arguments.sizes),
                                       reinterpret_cast<unsigned(&)[1]>(pages[word]));
      }
    }
  }
  /// Of run `run` of that share, which lanes may differ in, for the whole warp.
  __device__ __forceinline__ KeyPlace at(const PackedTile &, int first, int run) const {
    const int place = (first - from) / kStep * kRuns + run;
    int page = shuffleFrom(pages[0], place % kWarpSize);
#pragma unroll
    for (int word = 1; word < kWords; ++word) {
      const int other = shuffleFrom(pages[word], place % kWarpSize);
      page = place / kWarpSize == word ? other : page;
    }
    return {page, (first + run * kRun) % Spec::kPageSize};
  }
};

/// Brings the table to L2, by all threads there are, before they find out which part they read.
template <class Spec, class Pointers>
__device__ __forceinline__ void prefetchTable(const PackedArguments<Spec, Pointers> &arguments) {
  using Table = typename Spec::Table;
  constexpr unsigned kLine = 128 / sizeof(int);
  typename Spec::Coord last{};
  last[AttentionDim::Batch] = arguments.template extent<AttentionDim::Batch>() - 1;
  last[AttentionDim::Key] = (arguments.keys() - 1) / Spec::kPageSize;
  const unsigned at =
      (blockIndex() * static_cast<unsigned>(Spec::kThreads) + threadIndex()) * kLine;
  if (at <= static_cast<unsigned>(Table::offset(last, arguments.sizes)))
    prefetchGlobal(static_cast<const swage::Slot<Table> &>(arguments.pointers).pointer + at);
}

/// What a lane copies of keys or values in pages.
template <class Spec, class Operand, int Dim, int Columns>
struct PagedCopy : TileCopy<Spec, Operand, AttentionDim::Key, Spec::kKeys, Dim, Columns,
                            Spec::kCopyBytes> {
  enum : int { kBytes = Spec::kCopyBytes };
  using Base = TileCopy<Spec, Operand, AttentionDim::Key, Spec::kKeys, Dim, Columns, kBytes>;
  using Index = typename Spec::Index;
  Index pageStride; ///< in elements

  static __device__ __forceinline__ PackedTile firstPage(PackedTile tile) {
    tile.batch = 0;
    return tile;
  }
  template <class Pointers>
  __device__ __forceinline__ PagedCopy(const Pointers &pointers, const PackedTile &tile,
                                       const typename Spec::Sizes &sizes, int rowBytes)
      : Base(pointers, firstPage(tile), sizes, rowBytes) {
    typename Spec::Coord coord{};
    const Index origin = Operand::offset(coord, sizes);
    coord[AttentionDim::Batch] = 1;
    pageStride = Operand::offset(coord, sizes) - origin;
  }

  /// As TileCopy's.
  template <class Places>
  __device__ __forceinline__ void startWithin(SharedAddress tile, int rowBytes,
                                              const Places &places, const PackedTile &unit,
                                              int pages, int first) const {
#pragma unroll
    for (int pass = 0; pass < Base::kPasses; ++pass) {
      const int row = Base::row + pass * Base::kRowsAtOnce, key = first + row;
      const bool isInTile = row < Spec::kKeys;
      const KeyPlace place = places.at(unit, first, isInTile ? row / Places::kRun : 0);
      const bool exists = key >= unit.firstKey && key < unit.endKey &&
                          static_cast<unsigned>(place.batch) < static_cast<unsigned>(pages);
      // `from` has the row within a tile in it.
      const auto *const source =
          Base::pointer +
          (Base::from + place.batch * pageStride +
           static_cast<Index>(place.key + row % Places::kRun - Base::row) * Base::stride);
      const SharedAddress target = tile + Base::to + pass * Base::kRowsAtOnce * rowBytes;
      if (isInTile)
#pragma unroll
        for (int i = 0; i < Base::kPiecesEach; ++i) {
          if (!Base::hasPiece(i))
            break;
          const int bytes = Base::bytesOf(i, exists);
          copyAsync<kBytes>(target + i * (Base::kLanes * kBytes),
                            bytes > 0 ? source + i * (Base::kLanes * Base::kPiece) : Base::pointer,
                            bytes);
        }
    }
  }
};

} // namespace swage::detail
