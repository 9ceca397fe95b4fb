// Windows: aligned vectors of the outputs of permute_boxes.cuh, made of what boxes hold.
#pragma once

#include "swage/box_input.cuh"
#include "swage/vector_ends.cuh"

namespace swage {
namespace detail {

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
      : input(input), run(run), first(first), end(end), places(input, run, Partial ? 0 : first) {}
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
    (vectorOf<S>().storeSome(at<S>(pointers, run, sizes) + first, begin, end), ...);
  }
  /// The first or the last `count` elements, which are those of the run.
  template <class Pointers, class Sizes>
  __device__ __forceinline__ void storeEnd(const Pointers &pointers, const WriteRun<Spec> &run,
                                           bool isHead, int all, int count,
                                           const Sizes &sizes) const {
    if (isHead)
      (storeFirst(vectorOf<S>(), at<S>(pointers, run, sizes), count), ...);
    else
      (storeLast(vectorOf<S>(), at<S>(pointers, run, sizes) + all, count), ...);
  }

private:
  template <class Out>
  __device__ __forceinline__ Vector<typename Out::Element, B::V> vectorOf() const {
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
