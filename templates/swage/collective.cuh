// What a row or column is reduced to, and how two partial results become one.
//
// Stats<C, T> (softmax has two more parameters, see softmax.cuh) describes collective C: State is a
// partial result over some elements; `of` computes it from values in registers, `merge` joins two of
// them, `result` finishes, `apply` maps an element, `with` hands the row results to a function.
// Where the number of elements behind a State matters (LayerNorm) it travels beside it.
//
// LayerNorm carries mean and M2, the sum of squared distances from that mean, both computed in two
// passes over registers and merged by the formulas of Chan, Golub and LeVeque (1979): no
// E[x^2] - E[x]^2 anywhere, so an offset of 1e4 costs no digits.
// Max, Min and AbsMax propagate NaN.  Softmax: softmax.cuh, log_softmax.cuh.
#pragma once

#include "swage/numeric.cuh"

namespace swage {

enum class Collective { LayerNorm, RmsNorm, Softmax, LogSoftmax, Sum, Mean, Max, Min, AbsMax };

/// The plain reductions: one number, an associative operation.
template <Collective C, class T, bool ZeroRows = false, bool Rounded = false> struct Stats {
  static constexpr bool kCounted = false;
  static constexpr bool kLargest = C == Collective::Max || C == Collective::AbsMax;
  struct State {
    T value;
  };
  using Result = State;

  static __device__ __forceinline__ State identity() {
    return {kLargest ? lowest<T>() : C == Collective::Min ? highest<T>() : T(0)};
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

template <class T> struct Stats<Collective::LayerNorm, T, false> {
  static constexpr bool kCounted = true;
  struct State {
    T mean, m2;
  };
  struct Result {
    T mean, rstd;
  };

  static __device__ __forceinline__ State identity() { return {T(0), T(0)}; }
  static __device__ __forceinline__ State merge(State a, T countA, State b, T countB) {
    const T share = countA == countB ? T(0.5)
                    : countA == T(0) ? T(1)
                                     : countB * reciprocal(countA + countB);
    const T distance = b.mean - a.mean;
    // In this order a side without elements adds 0 also where the distance squared overflows.
    return {a.mean + distance * share, a.m2 + b.m2 + distance * (distance * (countA * share))};
  }
  static __device__ __forceinline__ State shuffle(State s, int mask) {
    return {shuffleXor(s.mean, mask), shuffleXor(s.m2, mask)};
  }
  /// In pairs: the sum of equal elements is exact.  By recursion: to unroll loops whose length halves
  /// costs the compiler 7 % of a kernel.
  template <int V> static __device__ __forceinline__ T sumOf(const T *values) {
    static_assert(powerOfTwoAbove(V) == V);
    if constexpr (V == 1)
      return values[0];
    else
      return sumOf<V / 2>(values) + sumOf<V / 2>(values + V / 2);
  }
  /// What is not valid repeats elements of the row.  Vectors of it are multiplied by 0 and not passed
  /// over: the compiler delays a load whose first use is behind a branch until it has the others.
  template <int V> static __device__ __forceinline__ T onlyIf(bool isValid, T x) {
    return V == 1 ? (isValid ? x : T(0)) : x * (isValid ? T(1) : T(0));
  }
  /// A thread with any valid vector has a valid first one.
  template <int U, int V>
  static __device__ __forceinline__ State of(const T (&values)[U][V], const bool (&valid)[U],
                                             T count) {
    // Vectors are summed relative to the first one: where all elements are equal the mean is exactly
    // that, whatever their number, and the epsilon has nothing to magnify.
    const T first = sumOf<V>(values[0]);
    T beyond = T(0);
#pragma unroll
    for (int u = 1; u < U; ++u)
      beyond += onlyIf<V>(valid[u], sumOf<V>(values[u]) - first);
    const T share = count == T(U * V) ? T(1) / T(U) : T(V) * reciprocal(count);
    State state = identity();
    state.mean = count == T(0) ? T(0) : (first + (U == 1 ? T(0) : beyond * share)) * (T(1) / T(V));
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i) {
        const T distance = onlyIf<V>(valid[u], values[u][i] - state.mean);
        state.m2 += distance * distance;
      }
    return state;
  }

  static __device__ __forceinline__ Result result(State s, T count, T epsilon) {
    // Of no elements the variance is 0 / 0, and so is the mean.  Infinities, which leave no variance
    // either, have a mean that depends on the order of the merges: it is NaN too, as in PyTorch.
    const T variance = s.m2 * (T(1) / count);
    return {variance == variance ? s.mean : variance, rsqrt(variance + epsilon)};
  }
  static __device__ __forceinline__ T apply(Result r, T x) { return (x - r.mean) * r.rstd; }
  template <class F> static __device__ __forceinline__ auto with(Result r, F f) {
    return f(r.mean, r.rstd);
  }
};

/// The lanes whose results meet: aligned groups of Lanes neighbours.  Where a warp has several Rows,
/// each takes Run lanes in turn, and neighbours are those of one row.
template <int Lanes, int Rows = 1, int Run = 1> struct LaneGroup {
  static constexpr int kLanes = Lanes;
  static constexpr int kWidth = Lanes <= Run ? Lanes : Lanes * Rows;

  static __device__ constexpr int mask(int step) { return step < Run ? step : step * Rows; }
  template <class T> static __device__ __forceinline__ T ofFirst(T value) {
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

/// Makes of the values the elements that the collective gives.
template <class S, int U, int V, class T>
__device__ __forceinline__ void applyEach(T (&values)[U][V], const typename S::Result &result) {
#pragma unroll
  for (int u = 0; u < U; ++u)
#pragma unroll
    for (int i = 0; i < V; ++i)
      values[u][i] = S::apply(result, values[u][i]);
}

/// The same of values that are relative to `origin` by now.
template <class S, int U, int V, class T>
__device__ __forceinline__ void applyCollected(T (&values)[U][V], const typename S::Result &result,
                                               [[maybe_unused]] T origin) {
  if constexpr (requires { S::origin(origin); }) {
    const T factor = S::factor(result, origin);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i)
        values[u][i] *= factor;
  } else {
    applyEach<S>(values, result);
  }
}

} // namespace swage
