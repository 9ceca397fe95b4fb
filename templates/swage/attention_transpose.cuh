// Matrix instructions of 8-bit elements take their right operand with keys side by side, which
// values have below each other: the loading warpgroup's other warps transpose them within shared
// memory.  See attention_hopper.cuh.
//
// They also permute the keys of each 16: a thread's weights of 8-bit elements are four keys side by
// side where an accumulator has two, 2t and 2t + 1, and two more eight columns on.  Key 2t + c of
// the 8 keys h is in byte 4t + 2h + c, so that weights stay where they are.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/device/bulk.cuh"
#include "swage/device/matrix.cuh"

namespace swage::detail {

/// Warps 1 to kTransposers, each of which takes columns 16 by 16.
template <class Spec> struct AttentionTransposer {
  using Layout = AttentionLayout<Spec>;
  enum : int { kSteps = Spec::kKeys / 32, kAtOnce = 4 };
  const AttentionShared<Spec> &shared;
  int first, lane; ///< the first 16 columns

  /// Row l of four matrices of 8 keys and 16 columns.
  __device__ __forceinline__ SharedAddress from(SharedAddress values, int columns) const {
    return values + columns / 8 * Layout::kKeyPanel + lane * kPanelRow +
           ((columns ^ lane) % 8 * 16);
  }
  /// A register has two columns, of which one goes to the rows 2g, and one to 2g + 1.  From the
  /// fifth row on these are exchanged: so they lie in different banks.
  __device__ __forceinline__ SharedAddress to(SharedAddress transposed, int columns) const {
    const int within = lane % 8, half = lane / 8 % 2;
    const int row = 2 * within + ((within >= 4) != (lane >= 16));
    return transposed + columns * (16 * 32) + row * 32 + ((half ^ (row / 4 & 1)) * 16);
  }
  __device__ __forceinline__ void transpose(SharedAddress values, SharedAddress transposed) const {
    const unsigned even = lane < 16 ? 0x6420u : 0x7531u, odd = even ^ 0x1111u;
#pragma unroll 1
    for (int columns = first; columns < Spec::kValueDim / 16; columns += Layout::kTransposers) {
      const SharedAddress source = from(values, columns), target = to(transposed, columns);
#pragma unroll
      for (int begin = 0; begin < kSteps; begin += kAtOnce) {
        const int end = begin + kAtOnce < kSteps ? begin + kAtOnce : kSteps;
        unsigned read[kAtOnce][4];
#pragma unroll
        for (int step = begin; step < end; ++step)
          loadMatrix<4, true>(source + step * 32 * kPanelRow, read[step - begin]);
#pragma unroll
        for (int step = begin; step < end; ++step) {
          const auto &words = read[step - begin];
          storeMatrix<4>(
              target + step * Layout::kValueStep,
              {permuteBytes(words[0], words[1], even), permuteBytes(words[2], words[3], even),
               permuteBytes(words[0], words[1], odd), permuteBytes(words[2], words[3], odd)});
        }
      }
    }
  }

  __device__ __forceinline__ void writeOnes() const {
    constexpr int kWords = 8 * 32 / 4, kAll = Spec::kStages * kSteps * kWords;
#pragma unroll 1
    for (int i = first * 32 + lane; i < kAll; i += Layout::kTransposers * 32) {
      const int step = i / kWords % kSteps, stage = i / kWords / kSteps;
      reinterpret_cast<unsigned *>(dynamicArena() + Layout::kTransposedAt +
                                   stage * Layout::kTransposedBytes + step * Layout::kValueStep +
                                   Spec::kValueDim * 32)[i % kWords] = 0x38383838u;
    }
  }

  __device__ __forceinline__ void run() const {
    writeOnes();
    for (Slot<Spec::kStages> place;; place.advance()) {
      shared.loaded.waitFull(place);
      if (shared.endsAt(place.stage))
        return;
      shared.values.waitEmpty(place);
      transpose(shared.loaded.at(place.stage), shared.values.at(place.stage));
      fenceProxyAsync();
      syncWarp();
      if (lane == 0) {
        mbarrierArrive(shared.loaded.empty(place.stage));
        mbarrierArrive(shared.values.full(place.stage));
      }
    }
  }
};

} // namespace swage::detail
