// What the function of a Spec for weights takes from its operands, for a thread's scores.
#pragma once

#include "swage/attention_tile.cuh"
#include "swage/computed.cuh"

namespace swage::detail {

/// An operand for the scores of a thread: group by group, of two rows and two keys each.
template <class Operand, class Places> struct WeightInput {
  template <class Arguments, class CoordOf>
  __device__ __forceinline__ void begin(const Arguments &, CoordOf, int) {}
  __device__ __forceinline__ void prepare(int) {}
  template <class Arguments, class Coord>
  __device__ __forceinline__ auto value(int, int, const Arguments &arguments,
                                        const Coord &coord) const {
    Fragment<Operand, 1> in;
    in.template load<AttentionDim::Key>(
        static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer, coord,
        arguments.sizes);
    return in.value(0);
  }
};

/// Random bits of four neighbouring keys share a counter, and two lanes have them.  One computes
/// the words of its first row and the other one those of its second; they exchange halves.
template <class Operand, class Places>
requires(Operand::source() == Source::Random && Operand::access() == Access::Vector &&
         int(Places::kGroupKeys) == 8)
struct WeightInput<Operand, Places> {
  RandomStream stream;
  unsigned long long counter; ///< of the first group
  bool isSecond;
  unsigned words[2][2];

  template <class Arguments, class CoordOf>
  __device__ __forceinline__ void begin(const Arguments &arguments, CoordOf coordOf, int key) {
    isSecond = laneIndex() % 2 != 0;
    const auto coord = coordOf(isSecond, isSecond ? key - 2 : key);
    stream = randomStream<Operand::traffic()>(
        static_cast<const swage::Slot<Operand> &>(arguments.pointers).pointer);
    counter = stream.offset +
              static_cast<unsigned long long>(Operand::offset(coord, arguments.sizes)) / 4;
  }
  __device__ __forceinline__ void prepare(int group) {
    unsigned own[4];
    stream.block(counter + 2 * group, own);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const unsigned kept = isSecond ? own[2 + c] : own[c],
                     given = shuffleXor(isSecond ? own[c] : own[2 + c], 1);
      words[0][c] = isSecond ? given : kept;
      words[1][c] = isSecond ? kept : given;
    }
  }
  template <class Arguments, class Coord>
  __device__ __forceinline__ int value(int r, int c, const Arguments &, const Coord &) const {
    return static_cast<int>(words[r][c]);
  }
};

} // namespace swage::detail
