// What a row or column is reduced to, and how two partial results become one.
//
// Stats<C, T> (softmax has two more parameters, see softmax.cuh) describes collective C: State is a
// partial result over some elements; `of` computes it from values in registers, `merge` joins two of
// them, `result` finishes, `apply` maps an element, `with` hands the row results to a function.
// Where the number of elements behind a State matters (LayerNorm) it travels beside it.
//
// Rows that begin anywhere (row_aligned.cuh) hold padding where their vectors reach beyond them: the
// element `neutral`, or, where there is none, the thread's first value.
// Max, Min and AbsMax propagate NaN.  LayerNorm: layer_norm.cuh; softmax: softmax.cuh,
// log_softmax.cuh.
#pragma once

#include "swage/numeric.cuh"

namespace swage {

enum class Collective { LayerNorm, RmsNorm, Softmax, LogSoftmax, Sum, Mean, Max, Min, AbsMax };

/// The plain reductions: one number, an associative operation.
template <Collective C, class T, bool ZeroRows = false, bool Rounded = false> struct Stats {
  enum : bool { kCounted = false, kLargest = C == Collective::Max || C == Collective::AbsMax };
  struct State {
    T value;
  };
  using Result = State;

  static __device__ __forceinline__ State identity() {
    return {kLargest ? lowest<T>() : C == Collective::Min ? highest<T>() : T(0)};
  }
  /// An element that makes no difference.
  static __device__ __forceinline__ T neutral() {
    return C == Collective::AbsMax ? T(0) : identity().value;
  }
  static __device__ __forceinline__ T combine(T a, T b) {
    if constexpr (kLargest)
      return maximum(a, b);
    else if constexpr (C == Collective::Min)
      return minimum(a, b);
    else
      return sumOf(a, b);
  }
  static __device__ __forceinline__ State merge(State a, T, State b, T) {
    return {combine(a.value, b.value)};
  }
  static __device__ __forceinline__ State shuffle(State s, int mask) {
    return {shuffleXor(s.value, mask)};
  }

  template <int U, int V>
  static __device__ __forceinline__ State of(const T (&values)[U][V], const bool (&valid)[U], T) {
    State state = identity();
#pragma unroll
    for (int u = 0; u < U; ++u) {
      T partial = element(values[u][0]);
#pragma unroll
      for (int i = 1; i < V; ++i)
        partial = combine(partial, element(values[u][i]));
      state.value = valid[u] ? combine(state.value, partial) : state.value;
    }
    return state;
  }
  static __device__ __forceinline__ T element(T x) {
    return C == Collective::RmsNorm ? x * x : C == Collective::AbsMax ? abs(x) : x;
  }

  static __device__ __forceinline__ Result result(State s, T count, T epsilon) {
    if constexpr (C == Collective::RmsNorm)
      return {rsqrt(s.value * (T(1) / count) + epsilon)};
    else if constexpr (C == Collective::Mean)
      return {s.value * (T(1) / count)};
    else
      return s;
  }
  /// A plain reduction leaves elements as they are.
  static __device__ __forceinline__ T apply(Result r, T x) {
    return C == Collective::RmsNorm ? x * r.value : x;
  }
  template <class F> static __device__ __forceinline__ auto with(Result r, F f) {
    return f(r.value);
  }
};

/// The lanes whose results meet: aligned groups of Lanes neighbours.  Where a warp has several Rows,
/// each takes Run lanes in turn, and neighbours are those of one row.
template <int Lanes, int Rows = 1, int Run = 1> struct LaneGroup {
  enum : int { kLanes = Lanes, kWidth = Lanes <= Run ? Lanes : Lanes * Rows };

  static __device__ constexpr int mask(int step) { return step < Run ? step : step * Rows; }
  template <class T> static __device__ __forceinline__ T ofFirst(T value) {
    if constexpr (Lanes == 1)
      return value;
    const int row = Rows == 1 ? 0 : static_cast<int>(laneIndex()) & (Rows - 1) * Run;
    return shuffleFrom(value, row % kWidth, kWidth);
  }
  /// The same to the last bit in all lanes.
  template <class T> static __device__ __forceinline__ T sum(T value) {
#pragma unroll
    for (int step = 1; step < Lanes; step *= 2)
      value += shuffleXor(value, mask(step));
    return value;
  }
  /// Of those that are numbers.
  template <class T> static __device__ __forceinline__ T largest(T value) {
#pragma unroll
    for (int step = 1; step < Lanes; step *= 2)
      value = maximumNumber(value, shuffleXor(value, mask(step)));
    return value;
  }
};

/// Merges the states of every group of lanes; all of them get the same one.  `count`, the elements
/// behind a lane's state, becomes the group's.  Equal: all lanes have the same count.
template <class S, class Group, bool Equal, class T>
__device__ __forceinline__ typename S::State mergeLanes(typename S::State state, T &count) {
  if constexpr (Group::kLanes == 1) {
    return state;
  } else if constexpr (S::kCounted && !Equal) {
    // All at once: pair by pair, reciprocals would wait for each other.  The mean relative to the
    // first lane's, exact where all are equal, and the distances from it; their mean puts right what
    // was lost where the first one is far away.
    const T all = Group::sum(count);
    const T weight = count * (all == T(0) ? T(0) : reciprocal(all));
    const T first = Group::ofFirst(state.mean);
    const T mean = first + Group::sum(count == T(0) ? T(0) : (state.mean - first) * weight);
    const T distance = count == T(0) ? T(0) : state.mean - mean;
    const T rest = Group::sum(distance * weight);
    const T m2 = Group::sum(state.m2 + distance * (distance * count)) - rest * (rest * all);
    count = all;
    return {mean + rest, m2 < T(0) ? T(0) : m2};
  } else if constexpr (requires { S::sumFrom(state, count); }) {
    // The maximum first, so that a lane takes one exponential and not two a step.
    const T max = Group::largest(state.max);
    return {max, Group::sum(S::sumFrom(state, max))};
  } else {
#pragma unroll
    for (int step = 1; step < Group::kLanes; step *= 2) {
      state = S::merge(state, count, S::shuffle(state, Group::mask(step)), count);
      if constexpr (S::kCounted)
        count += count;
    }
    // Chan's formula may round differently on the two sides of an exchange.
    if constexpr (S::kCounted)
      state = {Group::ofFirst(state.mean), Group::ofFirst(state.m2)};
    return state;
  }
}

/// The state of what one thread has.  Softmax leaves in place of the values their exponentials
/// relative to `origin`.
template <class S, int U, int V, class T>
__device__ __forceinline__ typename S::State stateOf(T (&values)[U][V], const bool (&valid)[U],
                                                     T count, [[maybe_unused]] T &origin) {
  const typename S::State state = S::of(values, valid, count);
  if constexpr (requires { S::origin(origin); })
    origin = state.max;
  return state;
}

/// What a thread has had of elements that come step by step: S::Running, where there is a better way
/// than to merge a state for each step.
template <class S, class T> struct Merged {
  T count = T(0);

  template <int U, int V>
  __device__ __forceinline__ void add(const T (&values)[U][V], const bool (&valid)[U], T more) {
    T own[U][V]; // softmax replaces them
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i)
        own[u][i] = values[u][i];
    merged = S::merge(merged, count, S::of(own, valid, more), more);
    count += more;
  }
  __device__ __forceinline__ typename S::State state() const { return merged; }

private:
  typename S::State merged = S::identity();
};
/// Even: all counts are constants, with which merges take few instructions.
template <class S, class T, bool Even> struct RunningOf { using Type = Merged<S, T>; };
template <class S, class T>
  requires requires { typename S::Running; }
struct RunningOf<S, T, false> { using Type = typename S::Running; };
template <class S, class T, bool Even> using Running = typename RunningOf<S, T, Even>::Type;

/// Makes of the values the elements that the collective gives.
template <class S, int U, int V, class T>
__device__ __forceinline__ void applyEach(T (&values)[U][V], const typename S::Result &result) {
#pragma unroll
  for (int u = 0; u < U; ++u)
#pragma unroll
    for (int i = 0; i < V; ++i)
      values[u][i] = S::apply(result, values[u][i]);
}

/// The same of values that are relative to `origin` by now; of LayerNorm if Distances says so.
template <class S, bool Distances = false, int U, int V, class T>
__device__ __forceinline__ void applyCollected(T (&values)[U][V], const typename S::Result &result,
                                               [[maybe_unused]] T origin) {
  if constexpr (requires { S::origin(origin); }) {
    const T factor = S::factor(result, origin);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i)
        values[u][i] *= factor;
  } else if constexpr (S::kCounted && Distances) {
    const T shift = (origin - result.mean) * result.rstd;
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i)
        values[u][i] = values[u][i] * result.rstd + shift;
  } else {
    applyEach<S>(values, result);
  }
}

} // namespace swage
