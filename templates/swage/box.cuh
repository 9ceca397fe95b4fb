// Boxes: the part of the iteration space that one block of permute_boxes.cuh works on.
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

/// A constant as the argument of a generic lambda.
template <int N> struct Number {
  constexpr __device__ operator int() const { return N; }
};

/// use(Number<Begin>{}), ..., use(Number<End - 1>{}).  What follows from the numbers is worked out
/// by the compiler's front end; a loop that is unrolled leaves it to the optimiser, which takes
/// several times as long over it.
template <int Begin, int End, class Use> __device__ __forceinline__ void forEach(const Use &use) {
  if constexpr (Begin < End) {
    use(Number<Begin>{});
    forEach<Begin + 1, End>(use);
  }
}

namespace detail {

template <class... Operands> struct FirstOf;
template <class Operand, class... Rest> struct FirstOf<List<Operand, Rest...>> {
  using Type = Operand;
};
template <class... Operands> constexpr __device__ int widestOf(List<Operands...>) {
  int widest = 1;
  ((widest = int(sizeof(typename Operands::Element)) > widest
                 ? int(sizeof(typename Operands::Element))
                 : widest),
   ...);
  return widest;
}

/// What a Spec's numbers come to.
template <class Spec> struct Boxes {
  using Out = typename FirstOf<typename Spec::Stores>::Type;
  using Space = decltype(Spec::extents(typename Spec::Sizes{}));
  enum : int {
    kRank = Space::kRank,
    kLast = kRank - 1,
    V = 16 / widestOf(typename Spec::Stores{}),
    kOuter =
        kRank - Spec::kWriteRun ///< a write run's outermost dimension; those before are outside
  };
  static constexpr __device__ int box(int dim) { return Spec::Box::at(dim); }
  static constexpr __device__ int reach(int dim) { return Spec::Reach::at(dim); }
  static constexpr __device__ int runDim(int k) { return Spec::Principal::ReadOrder::at(k); }
  /// Whether all blocks have as much along a dimension, written and read.
  template <int Dim> static constexpr __device__ bool isEven() {
    constexpr long long extent = Space::template fixedExtent<Dim>();
    return extent != 0 && extent % box(Dim) == 0 && reach(Dim) == box(Dim);
  }

  static constexpr __device__ int writeRun() {
    int count = 1;
    for (int dim = kOuter; dim < kRank; ++dim)
      count *= box(dim);
    return count;
  }
  static constexpr __device__ int writeRuns() {
    int count = 1;
    for (int dim = 0; dim < kOuter; ++dim)
      count *= box(dim);
    return count;
  }
  /// The dimension by which write runs are counted last, or -1.
  static constexpr __device__ int outermost() {
    int last = -1;
    for (int k = 0; k < kRank; ++k)
      last = runDim(k) < kOuter && box(runDim(k)) > 1 ? runDim(k) : last;
    return last;
  }
  /// Whether runs in a box where one begins or ends may have fewer elements than a window.
  static constexpr __device__ bool hasShortRuns() {
    constexpr long long extent = Space::template fixedExtent<kOuter>();
    constexpr int kBox = box(kOuter);
    return extent == 0 || inner() * (extent % kBox == 0 ? kBox : extent % kBox) < V;
  }
  /// Windows that begin in a write run.
  static constexpr __device__ int windows() { return (writeRun() + V - 1) / V; }
  /// Whether a window lies along one dimension, in whole vectors of it.
  static constexpr __device__ bool isStraight() {
    return Spec::kWriteRun == 1 || (Spec::kWriteAligned && box(kLast) % V == 0);
  }
  /// The elements inside of a write run's outermost dimension.
  static constexpr __device__ int inner() { return writeRun() / box(kOuter); }
  /// Whether windows are all that there is.
  static constexpr __device__ bool isWhole() {
    constexpr int dim = kOuter;
    constexpr long long extent = Space::template fixedExtent<dim>();
    return Spec::kWriteAligned && extent != 0 && inner() * extent % V == 0 &&
           (writeRun() % V == 0 || box(dim) == extent);
  }
};

/// What an input's numbers come to: its part of a box.
template <class Spec, class In> struct PartOfBox {
  using B = Boxes<Spec>;
  enum : int { kSize = sizeof(typename In::Element), kRank = B::kRank };
  static constexpr __device__ int step(int dim) { return In::Steps::at(dim); }
  static constexpr __device__ int readDim(int k) { return In::ReadOrder::at(k); }
  /// One element of what is the same everywhere along a dimension.
  static constexpr __device__ int reach(int dim) { return step(dim) == 0 ? 1 : B::reach(dim); }

  static constexpr __device__ int readRun() {
    int count = 1;
    for (int k = 0; k < In::kReadRun; ++k)
      count *= reach(readDim(k));
    return count;
  }
  static constexpr __device__ int readRuns() {
    int count = 1;
    for (int k = In::kReadRun; k < kRank; ++k)
      count *= reach(readDim(k));
    return count;
  }
  /// The dimension by which read runs are counted last, or -1.
  static constexpr __device__ int outermost() {
    int last = -1;
    for (int k = In::kReadRun; k < kRank; ++k)
      last = reach(readDim(k)) > 1 ? readDim(k) : last;
    return last;
  }
  /// The place of an element of a write run from where that begins.
  static constexpr __device__ int innerPlace(unsigned element) {
    int sum = 0;
    forEach<0, kRank - B::kOuter>([&](auto k) {
      constexpr int dim = B::kLast - k;
      const unsigned coordinate = dim == B::kOuter ? element : element % B::box(dim);
      element /= B::box(dim);
      sum += static_cast<int>(coordinate) * step(dim);
    });
    return sum;
  }
  /// Whether it is aligned and, along all dimensions from Dim on, the same for all blocks.
  template <int Dim = 0> static constexpr __device__ bool isEven() {
    if constexpr (Dim == kRank)
      return In::kReadAligned;
    else
      return (reach(Dim) == 1 || B::template isEven<Dim>()) && isEven<Dim + 1>();
  }
  /// Chunks that cover a read run wherever it begins.
  static constexpr __device__ int chunks() {
    return (readRun() * kSize + (In::kReadAligned ? 15 : 30)) / 16;
  }
  /// Also in front of 0, as far as windows that are not all there begin.
  static constexpr __device__ int skewed(int place) {
    return In::kSkewed ? place + (place >> 7) * pad() : place;
  }
  /// Where skewed(place + ahead) is for a constant `ahead`: those that differ by multiples of 128,
  /// and without skew all, are immediate offsets from one pointer.
  static __device__ __forceinline__ const char *locate(const char *arena, int place, int ahead) {
    constexpr int kUnit = In::kSkewed ? 128 : 1;
    return arena + skewed(place + ahead % kUnit) + skewed(ahead / kUnit * kUnit);
  }
  static constexpr __device__ int pad() { return kSize < 4 ? 4 : kSize; }
  static constexpr __device__ int bytes() {
    int last = kSize + 45;
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
    Coord counted;
    Spec::boxes(sizes).split(static_cast<Index>(blockIndex()), counted);
    cut<0>(Spec::extents(sizes), counted);
  }
  /// The elements of a run along the last dimensions of which there are `extents`.
  __device__ __forceinline__ int writeRun(const int (&extents)[B::kRank]) const {
    int count = 1;
    forEach<B::kOuter, B::kRank>([&](auto dim) { count *= extents[dim]; });
    return count;
  }

private:
  template <int Dim>
  __device__ __forceinline__ void cut(const typename B::Space &space, const Coord &counted) {
    if constexpr (Dim < B::kRank) {
      constexpr int kBox = B::box(Dim), kReach = B::reach(Dim);
      constexpr long long kFixed = B::Space::template fixedExtent<Dim>();
      origin[Dim] = counted[Dim < Spec::kFastest   ? Dim
                            : Dim > Spec::kFastest ? Dim - 1
                                                   : B::kRank - 1] *
                    kBox;
      const Index left = space.template extent<Index, Dim>() - origin[Dim];
      own[Dim] = kFixed != 0 && kFixed % kBox == 0 ? kBox : left < kBox ? int(left) : kBox;
      read[Dim] = kReach == kBox ? own[Dim] : left < kReach ? int(left) : kReach;
      cut<Dim + 1>(space, counted);
    }
  }
};

} // namespace detail
} // namespace swage
