// Where in shared memory the elements of a run of the outputs lie (permute_boxes.cuh).
#pragma once

#include "swage/box.cuh"

namespace swage {
namespace detail {

/// A run of the output, or a part of one.
template <class Spec> struct WriteRun {
  using B = Boxes<Spec>;
  bool exists;
  typename Spec::Coord at;
  int ahead[B::kRank] = {}; ///< where it begins in the box

  /// Runs are counted as the principal input has them: neighbouring ones are neighbours in shared
  /// memory.  `each`: of those along its first dimension the first of so many.
  __device__ __forceinline__ WriteRun(const BoxOfBlock<Spec> &box, unsigned number, int each = 1)
      : exists(B::outermost() >= 0 || number == 0), at(box.origin) {
    forEach<0, B::kRank>([&](auto k) {
      if constexpr (constexpr int dim = B::runDim(k); dim < B::kOuter && B::box(dim) > 1) {
        // Beyond the last dimension's end nothing exists.
        const int count = k == 0 ? (B::box(dim) + each - 1) / each : B::box(dim);
        ahead[dim] = static_cast<int>(dim == B::outermost() ? number : number % count);
        number /= count;
        ahead[dim] *= k == 0 ? each : 1;
        at[dim] += ahead[dim];
        exists = exists && ahead[dim] < box.own[dim];
      }
    });
  }
  /// The run that is `count` further along the principal input's first dimension.
  __device__ __forceinline__ WriteRun next(const BoxOfBlock<Spec> &box, int count) const {
    WriteRun run = *this;
    constexpr int kDim = B::runDim(0);
    run.ahead[kDim] += count;
    run.at[kDim] += count;
    run.exists = exists && (count == 0 || run.ahead[kDim] < box.own[kDim]);
    return run;
  }
  /// The place of element `element` of the run in what an input has in shared memory.
  template <class In> __device__ __forceinline__ int placeOf(int element) const {
    using Part = PartOfBox<Spec, In>;
    int sum = Part::innerPlace(element);
    forEach<0, B::kOuter>([&](auto dim) { sum += ahead[dim] * Part::step(dim); });
    return sum;
  }
};

/// Where windows cross short dimensions: the places of the elements inside of a run's outermost
/// dimension and of those behind them, so that a window's lie one behind the other wherever it
/// begins.  As 16 bits; a second copy, one element on, for the pairs that begin with an odd one.
template <class Spec, class In> struct PlaceTable {
  using B = Boxes<Spec>;
  using Part = PartOfBox<Spec, In>;
  enum : int {
    kInner = B::inner(),
    kMost = 2 * B::V, ///< as many elements are taken at once; beyond kInner their places repeat
    kPairs = (kInner + (kInner < kMost ? kInner : kMost)) / 2 + 1
  };
  static_assert(Part::bytes() <= 1 << 16, "a place has 16 bits");
  char *storage;

  static constexpr __device__ bool exists() {
    for (int dim = B::kOuter; dim < B::kRank; ++dim)
      if (Part::step(dim) != 0)
        return Spec::kTabled;
    return false;
  }
  static constexpr __device__ int bytes() { return exists() ? (8 * kPairs + 15) / 16 * 16 : 0; }

  __device__ __forceinline__ void fill() const {
    if constexpr (exists())
#pragma unroll 1
      for (int i = threadIndex(); i < 2 * kPairs; i += Spec::kThreads) {
        const int first = i % kPairs * 2 + i / kPairs;
        const unsigned pair = static_cast<unsigned>(Part::innerPlace(first)) |
                              static_cast<unsigned>(Part::innerPlace(first + 1)) << 16;
        storeShared<4>(storage + 4 * i, &pair);
      }
  }
  /// The places of `Count` elements from one of the inner ones on, beyond `place`.
  template <int Count>
  __device__ __forceinline__ void read(int place, unsigned first, int (&places)[Count]) const {
    static_assert(Count <= kMost && Count <= kInner);
    const char *const at = storage + (first % 2 * kPairs + first / 2) * 4;
#pragma unroll
    for (int i = 0; i < Count; i += 2) {
      unsigned pair;
      loadShared<4>(at + 2 * i, &pair);
      places[i] = place + static_cast<int>(pair & 0xffffu);
      if (i + 1 < Count)
        places[i + 1] = place + static_cast<int>(pair >> 16);
    }
  }
};

/// The places of `Count` elements of a run in what an input has in shared memory.  The first may be
/// up to two vectors in front of it.
template <class Spec, class In, int Count = Boxes<Spec>::V> struct WindowPlaces {
  using B = Boxes<Spec>;
  using Part = PartOfBox<Spec, In>;
  // Elements that are so far apart differ along one dimension: their places by a constant.
  enum : int {
    kInner = B::inner(),
    kPeriod = B::isStraight()  ? 1
              : kInner < Count ? kInner
                               : Count,
    kStep = Part::step(B::isStraight() ? int(B::kLast) : int(B::kOuter))
  };
  int first[kPeriod];

  template <class Input>
  __device__ __forceinline__ WindowPlaces(const Input &input, const WriteRun<Spec> &run,
                                          unsigned element) {
    int begin = input.begin;
    if constexpr (!B::isStraight() && Count > B::V) {
      // Not in front of it, where dimensions would not end.
      constexpr int kWhole = (2 * B::V + kInner - 1) / kInner;
      element += kWhole * kInner;
      begin -= kWhole * kStep;
    }
    if constexpr (PlaceTable<Spec, In>::exists()) {
      const int outer = static_cast<int>(element / kInner) * kStep;
      input.table().template read<kPeriod>(begin + run.template placeOf<In>(0) + outer,
                                           element % kInner, first);
    } else if constexpr (!B::isStraight() && B::box(B::kLast) >= Count) {
      // The last dimension ends once at most: two pieces.
      constexpr int kLong = B::box(B::kLast), kNext = Part::step(B::kLast);
      const int left = kLong - static_cast<int>(element % kLong);
      const int here = begin + run.template placeOf<In>(element),
                there = begin + run.template placeOf<In>(element + left) - left * kNext;
#pragma unroll
      for (int i = 0; i < kPeriod; ++i)
        first[i] = (i < left ? here : there) + i * kNext;
    } else {
      int place = begin + run.template placeOf<In>(element);
      unsigned at[B::kRank];
      forEach<0, B::kLast - B::kOuter>([&](auto k) {
        constexpr int dim = B::kLast - k;
        at[dim] = element % B::box(dim);
        element /= B::box(dim);
      });
#pragma unroll
      for (int i = 0; i < kPeriod; ++i) {
        first[i] = place;
        // To the next one, with a carry at the end of a dimension.
        place += Part::step(B::kLast);
        bool carry = true;
        forEach<0, B::kLast - B::kOuter>([&](auto k) {
          constexpr int dim = B::kLast - k;
          at[dim] += carry;
          carry = at[dim] == B::box(dim);
          place += carry ? Part::step(dim - 1) - B::box(dim) * Part::step(dim) : 0;
          at[dim] = carry ? 0 : at[dim];
        });
      }
    }
  }
  __device__ __forceinline__ const typename In::Element *at(const char *arena, int i) const {
    return reinterpret_cast<const typename In::Element *>(
        Part::locate(arena, first[i % kPeriod], i / kPeriod * kStep));
  }
};

/// Words of one element of each of several runs, from where these are for the first run.
template <class Spec, class In, int Count, bool IsSplit = Spec::kSplit> struct WordsOfRuns {
  const WindowPlaces<Spec, In, Count> places;
  const char *arena;

  __device__ __forceinline__ WordsOfRuns(const WindowPlaces<Spec, In, Count> &places,
                                         const char *arena)
      : places(places), arena(arena) {}
  __device__ __forceinline__ unsigned load(int i, int) const {
    Vector<typename In::Element, Spec::kTurned> word;
    word.fetchShared(places.at(arena, i));
    return word.words[0];
  }
};

/// The same where words begin anywhere.
template <class Spec, class In, int Count> struct WordsOfRuns<Spec, In, Count, true> {
  using Places = WindowPlaces<Spec, In, Count>;
  // Places that are multiples of four apart are at the same byte of a word.
  enum : int {
    kPeriod = Places::kPeriod,
    kStep = Places::kStep,
    kTimes = kStep % 4 == 0   ? 1
             : kStep % 2 == 0 ? 2
                              : 4,
    kAll = kPeriod * kTimes < Count ? kPeriod * kTimes : Count
  };
  static_assert(!In::kSkewed);
  const char *aligned[kAll];
  unsigned bytes[kAll];

  __device__ __forceinline__ WordsOfRuns(const Places &places, const char *arena) {
#pragma unroll
    for (int i = 0; i < kAll; ++i) {
      const int place = places.first[i % kPeriod] + i / kPeriod * kStep;
      bytes[i] = place & 3;
      aligned[i] = arena + (place & ~3);
    }
  }
  /// Only the elements of the first `runs` runs matter.
  __device__ __forceinline__ unsigned load(int i, int runs) const {
    return loadSharedAcross(aligned[i % kAll] + i / kAll * kTimes * kStep, bytes[i % kAll], runs);
  }
};

} // namespace detail
} // namespace swage
