// Boxes: the part of a tensor with which one block of permute_boxes.cuh works, in shared memory.
#pragma once

#include "swage/operand.cuh"

namespace swage {

/// One number for each dimension of the iteration space, which is in the output's order.
template <int... N> struct Numbers {
  static __device__ constexpr int at(int dim) {
    const int list[] = {N...};
    return list[dim];
  }
};

namespace detail {

template <class Operands> struct OnlyOf;
template <class Operand> struct OnlyOf<List<Operand>> { using Type = Operand; };

/// What a Spec's numbers come to.
template <class Spec> struct Boxes {
  using In = typename OnlyOf<typename Spec::Loads>::Type;
  using Out = typename OnlyOf<typename Spec::Stores>::Type;
  using Space = decltype(Spec::extents(typename Spec::Sizes{}));
  enum : int {
    kRank = Space::kRank,
    kLast = kRank - 1,
    kInSize = sizeof(typename In::Element),
    kOutSize = sizeof(typename Out::Element),
    V = 16 / kOutSize,
    kOuter = kRank - Spec::kWriteRun ///< a write run's outermost dimension; those before are outside
  };
  static constexpr __device__ int box(int dim) { return Spec::Box::at(dim); }
  static constexpr __device__ int reach(int dim) { return Spec::Reach::at(dim); }
  static constexpr __device__ int step(int dim) { return Spec::Steps::at(dim); }
  static constexpr __device__ int readDim(int k) { return Spec::ReadOrder::at(k); }

  static constexpr __device__ int readRun() {
    int count = 1;
    for (int k = 0; k < Spec::kReadRun; ++k)
      count *= reach(readDim(k));
    return count;
  }
  static constexpr __device__ int writeRun() {
    int count = 1;
    for (int dim = kOuter; dim < kRank; ++dim)
      count *= box(dim);
    return count;
  }
  static constexpr __device__ int readRuns() {
    int count = 1;
    for (int k = Spec::kReadRun; k < kRank; ++k)
      count *= reach(readDim(k));
    return count;
  }
  static constexpr __device__ int writeRuns() {
    int count = 1;
    for (int dim = 0; dim < kOuter; ++dim)
      count *= box(dim);
    return count;
  }
  /// Chunks that cover a read run wherever it begins.
  static constexpr __device__ int chunks() {
    return (readRun() * kInSize + (Spec::kReadAligned ? 15 : 30)) / 16;
  }
  /// Windows that begin in a write run.
  static constexpr __device__ int windows() { return (writeRun() + V - 1) / V; }
  /// Whether a window lies along one dimension, in whole vectors of it.
  static constexpr __device__ bool isStraight() {
    return Spec::kWriteRun == 1 || (Spec::kWriteAligned && box(kLast) % V == 0);
  }
  /// Whether windows are all that there is.
  static constexpr __device__ bool isWhole() {
    constexpr int dim = kOuter;
    constexpr long long extent = Space::template fixedExtent<dim>();
    return Spec::kWriteAligned && extent != 0 && writeRun() / box(dim) * extent % V == 0 &&
           (writeRun() % V == 0 || box(dim) == extent);
  }
  static constexpr __device__ int skewed(int place) {
    return Spec::kSkewed ? place + place / 128 * pad() : place;
  }
  static constexpr __device__ int pad() { return kInSize < 4 ? 4 : kInSize; }
  static constexpr __device__ int bytes() {
    int last = kInSize + 45;
    for (int dim = 0; dim < kRank; ++dim)
      last += step(dim) * (reach(dim) - 1);
    return (skewed(last) + 15) / 16 * 16;
  }
};

/// A block's box: where it begins, and how much of it there is.
template <class Spec> struct BoxOfBlock {
  using B = Boxes<Spec>;
  using Index = typename Spec::Index;
  using Coord = typename Spec::Coord;
  Coord origin;
  int own[B::kRank], read[B::kRank]; ///< extents, cut off at the tensor's end

  __device__ __forceinline__ BoxOfBlock(const typename Spec::Sizes &sizes) {
    Spec::boxes(sizes).split(static_cast<Index>(blockIndex()), origin);
    cut<0>(Spec::extents(sizes));
  }
  /// The elements of a run along the last dimensions of which there are `extents`.
  __device__ __forceinline__ int writeRun(const int (&extents)[B::kRank]) const {
    int count = 1;
#pragma unroll
    for (int dim = B::kOuter; dim < B::kRank; ++dim)
      count *= extents[dim];
    return count;
  }
  __device__ __forceinline__ int readRun() const {
    int count = 1;
#pragma unroll
    for (int k = 0; k < Spec::kReadRun; ++k)
      count *= read[B::readDim(k)];
    return count;
  }

private:
  template <int Dim> __device__ __forceinline__ void cut(const typename B::Space &space) {
    if constexpr (Dim < B::kRank) {
      constexpr int kBox = B::box(Dim), kReach = B::reach(Dim);
      constexpr long long kFixed = B::Space::template fixedExtent<Dim>();
      origin[Dim] *= kBox;
      const Index left = space.template extent<Index, Dim>() - origin[Dim];
      own[Dim] = kFixed != 0 && kFixed % kBox == 0 ? kBox : left < kBox ? int(left) : kBox;
      read[Dim] = kReach == kBox ? own[Dim] : left < kReach ? int(left) : kReach;
      cut<Dim + 1>(space);
    }
  }
};

/// A run of the output, or a part of one, and where its elements are in shared memory.
template <class Spec> struct WriteRun {
  using B = Boxes<Spec>;
  bool exists = true;
  typename Spec::Coord at;
  int place;

  /// Runs are counted as the input has them: neighbouring ones are neighbours in shared memory.
  __device__ __forceinline__ WriteRun(const BoxOfBlock<Spec> &box, unsigned number, int begin)
      : at(box.origin), place(begin) {
#pragma unroll
    for (int k = 0; k < B::kRank; ++k)
      if (const int dim = B::readDim(k); dim < B::kOuter && B::box(dim) > 1) {
        const int coordinate = static_cast<int>(number % B::box(dim));
        number /= B::box(dim);
        at[dim] += coordinate;
        place += coordinate * B::step(dim);
        exists = exists && coordinate < box.own[dim];
      }
  }
  /// The place of element `element` of the run.
  __device__ __forceinline__ int placeOf(int element) const {
    int sum = place, rest = element;
#pragma unroll
    for (int dim = B::kLast; dim >= B::kOuter; --dim) {
      const int coordinate = dim == B::kOuter ? rest : rest % B::box(dim);
      rest /= B::box(dim);
      sum += coordinate * B::step(dim);
    }
    return sum;
  }
};

} // namespace detail
} // namespace swage
