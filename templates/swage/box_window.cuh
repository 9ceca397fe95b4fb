// Windows: aligned vectors of the outputs of permute_boxes.cuh, made of what boxes hold.
#pragma once

#include "swage/box.cuh"
#include "swage/vector_ends.cuh"

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
#pragma unroll
    for (int k = 0; k < B::kRank; ++k)
      if (const int dim = B::runDim(k); dim < B::kOuter && B::box(dim) > 1) {
        // Beyond the last dimension's end nothing exists.
        const int count = k == 0 ? B::box(dim) / each : B::box(dim);
        ahead[dim] = static_cast<int>(dim == B::outermost() ? number : number % count);
        number /= count;
        ahead[dim] *= k == 0 ? each : 1;
        at[dim] += ahead[dim];
        exists = exists && ahead[dim] < box.own[dim];
      }
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
    int sum = 0;
    unsigned rest = element;
#pragma unroll
    for (int dim = 0; dim < B::kOuter; ++dim)
      sum += ahead[dim] * Part::step(dim);
#pragma unroll
    for (int dim = B::kLast; dim >= B::kOuter; --dim) {
      const int coordinate = static_cast<int>(dim == B::kOuter ? rest : rest % B::box(dim));
      rest /= B::box(dim);
      sum += coordinate * Part::step(dim);
    }
    return sum;
  }
};

/// The places of `Count` elements of a run in what an input has in shared memory.  The first may be
/// up to two vectors in front of it.
template <class Spec, class In, int Count = Boxes<Spec>::V> struct WindowPlaces {
  using B = Boxes<Spec>;
  using Part = PartOfBox<Spec, In>;
  // Elements that are so far apart differ along one dimension: their places by a constant.
  enum : int {
    kInner = B::writeRun() / B::box(B::kOuter),
    kPeriod = B::isStraight()  ? 1
              : kInner < Count ? kInner
                               : Count,
    kStep = Part::step(B::isStraight() ? int(B::kLast) : int(B::kOuter))
  };
  int first[kPeriod];

  __device__ __forceinline__ WindowPlaces(int begin, const WriteRun<Spec> &run, unsigned element) {
    if constexpr (!B::isStraight() && Count > B::V) {
      // Not in front of it, where dimensions would not end.
      constexpr int kWhole = (2 * B::V + kInner - 1) / kInner;
      element += kWhole * kInner;
      begin -= kWhole * kStep;
    }
    if constexpr (!B::isStraight() && B::box(B::kLast) >= Count) {
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
#pragma unroll
      for (int dim = B::kLast; dim > B::kOuter; --dim) {
        at[dim] = element % B::box(dim);
        element /= B::box(dim);
      }
#pragma unroll
      for (int i = 0; i < kPeriod; ++i) {
        first[i] = place;
        // To the next one, with a carry at the end of a dimension.
        place += Part::step(B::kLast);
        bool carry = true;
#pragma unroll
        for (int dim = B::kLast; dim > B::kOuter; --dim) {
          at[dim] += carry;
          carry = at[dim] == B::box(dim);
          place += carry ? Part::step(dim - 1) - B::box(dim) * Part::step(dim) : 0;
          at[dim] = carry ? 0 : at[dim];
        }
      }
    }
  }
  __device__ __forceinline__ const typename In::Element *at(const char *arena, int i) const {
    return reinterpret_cast<const typename In::Element *>(
        Part::locate(arena, first[i % kPeriod], i / kPeriod * kStep));
  }
};

/// What an input has for the window that begins with element `first` of a run; with Partial, of
/// which only those from 0 on and before `end` are there.
template <class Spec, class In, bool Partial, Access Kind = In::access()> struct WindowInput {
  using B = Boxes<Spec>;
  Vector<typename In::Element, Partial ? 1 : B::V> elements[Partial ? B::V : 1];

  template <class Sizes>
  __device__ __forceinline__ WindowInput(const BoxInput<Spec, In> &input, const WriteRun<Spec> &run,
                                         int first, int end, const Sizes &sizes) {
    const auto *const start = input.from + In::offset(run.at, sizes);
#pragma unroll
    for (int i = 0; i < (Partial ? B::V : 1); ++i) {
      const int element = first + i;
      elements[i].template fetch<In::traffic()>(
          start + (!Partial || (element >= 0 && element < end) ? element : end - 1));
    }
  }
  __device__ __forceinline__ typename In::Value value(int i) const {
    return Partial ? elements[i].value(0) : elements[0].value(i);
  }
};

template <class Spec, class In, bool Partial> struct WindowInput<Spec, In, Partial, Access::Boxed> {
  using B = Boxes<Spec>;
  using Part = PartOfBox<Spec, In>;
  const BoxInput<Spec, In> &input;
  const WriteRun<Spec> &run;
  const int first, end;
  const WindowPlaces<Spec, In> places;

  template <class Sizes>
  __device__ __forceinline__ WindowInput(const BoxInput<Spec, In> &input, const WriteRun<Spec> &run,
                                         int first, int end, const Sizes &)
      : input(input), run(run), first(first), end(end),
        places(input.begin, run, Partial ? 0 : first) {}
  __device__ __forceinline__ typename In::Value value(int i) const {
    const typename In::Element *place = places.at(input.arena, i);
    if constexpr (Partial) {
      const int wanted = first + i, there = wanted < 0 ? 0 : wanted < end ? wanted : end - 1;
      place = reinterpret_cast<const typename In::Element *>(
          Part::locate(input.arena, input.begin + run.template placeOf<In>(there), 0));
    }
    Vector<typename In::Element, 1> element;
    element.fetchShared(place);
    return element.value(0);
  }
};

/// A window of every output, from where its run begins.
template <class Spec, class Outputs> struct BoxWindow;
template <class Spec, class... S>
struct BoxWindow<Spec, List<S...>> : Outputs<List<S...>, Boxes<Spec>::V, Boxes<Spec>::kLast> {
  using B = Boxes<Spec>;

  /// Of a window of each input.
  template <class... Windows> __device__ __forceinline__ void make(const Windows &...windows) {
#pragma unroll
    for (int i = 0; i < B::V; ++i)
      Spec::body(windows.value(i)..., static_cast<Result<S, B::V> &>(*this).values[i]...);
  }
  /// At element `first` of the run.
  template <class Pointers, class Sizes>
  __device__ __forceinline__ void store(const Pointers &pointers, const WriteRun<Spec> &run,
                                        int first, const Sizes &sizes) const {
    (vectorOf<S>().store(at<S>(pointers, run, sizes) + first), ...);
  }
  /// Only the elements from `begin` on and before `end`.
  template <class Pointers, class Sizes>
  __device__ __forceinline__ void storeSome(const Pointers &pointers, const WriteRun<Spec> &run,
                                            int first, const Sizes &sizes, int begin,
                                            int end) const {
    (
        [&] {
          const auto vector = vectorOf<S>();
          auto *const to = at<S>(pointers, run, sizes) + first;
#pragma unroll
          for (int i = 0; i < B::V; ++i)
            if (i >= begin && i < end)
              vector.storeOne(to, i);
        }(),
        ...);
  }
  /// The first or the last `count` elements, which are those of the run.
  template <class Pointers, class Sizes>
  __device__ __forceinline__ void storeEnd(const Pointers &pointers, const WriteRun<Spec> &run,
                                           bool isHead, int all, int count,
                                           const Sizes &sizes) const {
    if (isHead)
      (storeFirst<1>(vectorOf<S>(), at<S>(pointers, run, sizes), count), ...);
    else
      (storeLast<1>(vectorOf<S>(), at<S>(pointers, run, sizes) + all, count), ...);
  }

private:
  template <class Out> __device__ __forceinline__ Vector<typename Out::Element, B::V> vectorOf() const {
    Vector<typename Out::Element, B::V> vector;
    vector.assign(static_cast<const Result<Out, B::V> &>(*this).values);
    return vector;
  }
  template <class Out, class Pointers, class Sizes>
  static __device__ __forceinline__ auto *at(const Pointers &pointers, const WriteRun<Spec> &run,
                                             const Sizes &sizes) {
    return static_cast<const Slot<Out> &>(pointers).pointer + Out::offset(run.at, sizes);
  }
};

} // namespace detail
} // namespace swage
