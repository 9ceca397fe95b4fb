// Keys whose head dim is in runs of 16 bytes, those of other keys between them, as
// FasterTransformer's cache of keys [batch, head, D / 8, L, 8] has them: how they lie in shared
// memory, and come there.  See attention_decode.cuh.
#pragma once

#include "swage/attention_copy.cuh"
#include "swage/attention_spans.cuh"
#include "swage/attention_warp.cuh"

namespace swage::detail {

/// In the keys' view HeadDim counts within a run, and ValueDim runs.
template <class Spec>
concept HasKeyRuns = requires {
  Spec::kKeyRun;
};

/// A stage of keys: of each `Box` of them run by run, those of all keys next to each other, so that
/// the eight that ldmatrix reads at once are 128 bytes in a row.
template <class Spec, class Base, int Box = Spec::kKeys> struct KeyRuns : Base {
  enum : int { kHeadRow = 2 * Spec::kHeadDim, kRunBytes = Box * 16 };
  static_assert(Box % 16 == 0 && Spec::kKeys % Box == 0);
  static __device__ __forceinline__ SharedAddress keyAt(SharedAddress keys, int lane, int pair,
                                                        int step, int member = 0) {
    return pairAt(keys, pair) + (2 * (step + member) + lane / 8 % 2) * kRunBytes +
           (lane / 16 * 8 + lane % 8) * 16;
  }
  static __device__ __forceinline__ SharedAddress halfKeyAt(SharedAddress keys, int lane, int pair,
                                                            int step) {
    return pairAt(keys, pair) + 2 * step * kRunBytes + lane % 16 * 16;
  }

private:
  static __device__ __forceinline__ SharedAddress pairAt(SharedAddress keys, int pair) {
    return keys + pair * 16 / Box * Box * kHeadRow + pair * 16 % Box * 16;
  }
};

/// What a lane copies of a warp's keys: neighbouring lanes neighbouring keys.  As TileCopy.
template <class Spec> struct RunCopy {
  using Index = typename Spec::Index;
  const typename Spec::Element *pointer;
  Index from, runStride, keyStride; ///< of the unit's keys, in elements

  template <class Pointers>
  __device__ __forceinline__ RunCopy(const Pointers &pointers, const AttentionTile &tile,
                                     const typename Spec::Sizes &sizes, int /*rowBytes*/) {
    using Keys = typename Spec::Keys;
    auto coord = tile.at<typename Spec::Coord>(0, 0);
    coord[AttentionDim::ValueDim] = 0;
    pointer = static_cast<const swage::Slot<Keys> &>(pointers).pointer;
    from = Keys::offset(coord, sizes);
    coord[AttentionDim::ValueDim] = 1;
    runStride = Keys::offset(coord, sizes) - from;
    coord[AttentionDim::ValueDim] = 0;
    coord[AttentionDim::Key] = 1;
    keyStride = Keys::offset(coord, sizes) - from;
  }
  __device__ __forceinline__ void startWithin(SharedAddress tile, int /*rowBytes*/, int first,
                                              int begin, int end) const {
    constexpr int kPieces = Spec::kHeadDim / Spec::kKeyRun * Spec::kKeys;
#pragma unroll
    for (int i = 0; i < (kPieces + kWarpSize - 1) / kWarpSize; ++i) {
      const int piece = i * kWarpSize + static_cast<int>(laneIndex()),
                key = first + piece % Spec::kKeys;
      const bool exists = key >= begin && key < end;
      const auto *const at = pointer + (from + static_cast<Index>(piece / Spec::kKeys) * runStride +
                                        static_cast<Index>(key) * keyStride);
      if (kPieces % kWarpSize == 0 || piece < kPieces)
        copyAsync<16>(tile + piece * 16, exists ? at : pointer, exists ? 16 : 0);
    }
  }
};

} // namespace swage::detail
