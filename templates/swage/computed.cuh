// Inputs that are made from their position instead of being read (operand.cuh): coordinates, and
// random bits.
//
// `offset` of a coordinate is the coordinate itself.  `offset` of a random operand is the position
// in the stream; four positions share the work of one, so vectors of them (Access::Vector) start at
// a multiple of their size.
#pragma once

#include "swage/operand.cuh"
#include "swage/philox.cuh"

namespace swage {

template <Access Kind> struct Coordinate {
  using Element = int;
  using Value = int;
  struct Pointer {};
  static constexpr __device__ Access access() { return Kind; }
  static constexpr __device__ Source source() { return Source::Coordinate; }
};

/// The stream of a state, which is a seed and an offset.
template <Traffic Use>
__device__ __forceinline__ RandomStream randomStream(const long long *state) {
  Vector<long long, 1> seed, offset;
  seed.template fetch<Use>(state);
  offset.template fetch<Use>(state + 1);
  return {static_cast<unsigned long long>(seed.value(0)),
          static_cast<unsigned long long>(offset.value(0))};
}

/// Its pointer is that of the state: the seed and the offset of the stream.
template <Access Kind, Traffic Use = Traffic::Stream> struct Random {
  using Element = int;
  using Value = int;
  using Pointer = const long long *;
  static constexpr __device__ Access access() { return Kind; }
  static constexpr __device__ Traffic traffic() { return Use; }
  static constexpr __device__ Source source() { return Source::Random; }
};

template <class Operand, int V, Access Kind> struct Fragment<Operand, V, Kind, Source::Coordinate> {
  int first;

  __device__ __forceinline__ int value(int i) const {
    return Kind == Access::Vector ? first + i : first;
  }
  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void load(typename Operand::Pointer, const Coord &coord,
                                       const Sizes &sizes) {
    first = static_cast<int>(Operand::offset(coord, sizes));
  }
};
template <class Operand, int V> struct Fragment<Operand, V, Access::Gather, Source::Coordinate> {
  int values[V];

  __device__ __forceinline__ int value(int i) const { return values[i]; }
  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void load(typename Operand::Pointer, const Coord &coord,
                                       const Sizes &sizes) {
#pragma unroll
    for (int i = 0; i < V; ++i)
      values[i] = static_cast<int>(Operand::offset(elementCoord<Dim>(coord, i), sizes));
  }
};

template <class Operand, int V, Access Kind> struct Fragment<Operand, V, Kind, Source::Random> {
  enum : int { kCount = Kind == Access::Splat ? 1 : V };
  unsigned words[kCount];

  __device__ __forceinline__ int value(int i) const {
    return static_cast<int>(words[Kind == Access::Splat ? 0 : i]);
  }
  template <int Dim, class Coord, class Sizes>
  __device__ __forceinline__ void load(typename Operand::Pointer from, const Coord &coord,
                                       const Sizes &sizes) {
    const RandomStream stream = randomStream<Operand::traffic()>(from);
    if constexpr (Kind == Access::Vector) {
      stream.read(static_cast<unsigned long long>(Operand::offset(coord, sizes)), words);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const auto at = elementCoord<Dim>(coord, i);
        unsigned word[1];
        stream.read(static_cast<unsigned long long>(Operand::offset(at, sizes)), word);
        words[i] = word[0];
      }
    }
  }
};

} // namespace swage
