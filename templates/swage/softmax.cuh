// Softmax as a collective (collective.cuh), and what its logarithm (log_softmax.cuh) shares with
// it.
//
// A partial result is (max, sum of exp(x - max)); one that has only seen -inf keeps sum 0, so that
// it vanishes beside others.  A row that holds +inf or NaN becomes NaN as in PyTorch, and so does
// one that is -inf throughout, unless ZeroRows makes that 0 (-inf in the logarithm).  What a mask
// leaves out is -inf.
//
// An exponential that is exact to the last digit of a float is a third of the work of a softmax, and
// rows of 16-bit elements wait for it rather than for memory.  Where the elements are Rounded to 16
// bits or fewer, it is 2^(x log2 e) in three instructions: the rounded product costs at most
// 2^-24 |x log2 e|, 1e-5 for the smallest results there are and 1e-6 for those that f16 can hold.
#pragma once

#include "swage/collective.cuh"

namespace swage {

namespace detail {

template <class T, bool Rounded> struct SoftmaxState {
  enum : bool { kCounted = false };
  struct State {
    T max, sum;
  };

  static __device__ __forceinline__ State identity() { return {lowest<T>(), T(0)}; }
  static __device__ __forceinline__ T neutral() { return lowest<T>(); }
  static __device__ __forceinline__ T power(T x) {
    if constexpr (Rounded)
      return exp2Fast(x * T(1.4426950408889634));
    else
      return exp(x);
  }
  /// What exponents are taken relative to: the maximum, or 0 where only -inf has been seen.
  static __device__ __forceinline__ T shift(T max) { return max == lowest<T>() ? T(0) : max; }
  /// The sum of exponentials relative to `max`.
  static __device__ __forceinline__ T sumFrom(State s, T max) {
    return s.sum * power(s.max - shift(max));
  }
  static __device__ __forceinline__ State merge(State a, T, State b, T) {
    const T max = maximumNumber(a.max, b.max);
    return {max, sumFrom(a, max) + sumFrom(b, max)};
  }
  static __device__ __forceinline__ State shuffle(State s, int mask) {
    return {shuffleXor(s.max, mask), shuffleXor(s.sum, mask)};
  }

  /// What is not valid repeats elements of the row or is -inf.
  template <int U, int V>
  static __device__ __forceinline__ T largest(const T (&values)[U][V]) {
    T max = lowest<T>();
#pragma unroll
    for (int u = 0; u < U; ++u) {
      T partial = values[u][0];
#pragma unroll
      for (int i = 1; i < V; ++i)
        partial = maximumNumber(partial, values[u][i]);
      max = maximumNumber(max, partial);
    }
    return max;
  }
};

} // namespace detail

template <class T, bool ZeroRows, bool Rounded>
struct Stats<Collective::Softmax, T, ZeroRows, Rounded> : detail::SoftmaxState<T, Rounded> {
  using typename detail::SoftmaxState<T, Rounded>::State;
  struct Result {
    T max, sum, inverse;
  };

  static __device__ __forceinline__ T origin(T max) { return Stats::shift(max); }
  template <int U, int V>
  static __device__ __forceinline__ T maxOf(const T (&values)[U][V]) {
    return Stats::largest(values);
  }
  /// Replaces values by exp(value - from), invalid ones by 0, and returns their sum.
  template <int U, int V>
  static __device__ __forceinline__ T exponentiate(T (&values)[U][V], const bool (&valid)[U],
                                                   T from) {
    T sum = T(0);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if (valid[u]) {
#pragma unroll
        for (int i = 0; i < V; ++i) {
          values[u][i] = Stats::power(values[u][i] - from);
          sum += values[u][i];
        }
      } else {
#pragma unroll
        for (int i = 0; i < V; ++i)
          values[u][i] = T(0);
      }
    }
    return sum;
  }
  template <int U, int V>
  static __device__ __forceinline__ State of(T (&values)[U][V], const bool (&valid)[U], T) {
    const T max = maxOf(values);
    return {max, exponentiate(values, valid, origin(max))};
  }

  static __device__ __forceinline__ Result result(State s, T, T) {
    const T inverse = Rounded ? reciprocal(s.sum) : T(1) / s.sum;
    return {s.max, s.sum, isZero(s.sum) ? T(0) : inverse};
  }
  static __device__ __forceinline__ T apply(Result r, T x) {
    return Stats::power(x - (ZeroRows ? origin(r.max) : r.max)) * r.inverse;
  }
  /// What makes an element of its exponential relative to `from`.
  static __device__ __forceinline__ T factor(Result r, T from) {
    return isZero(r.sum) ? T(0) : Stats::power(from - r.max) * r.inverse;
  }
  template <class F> static __device__ __forceinline__ auto with(Result r, F f) {
    return f(r.max, r.sum);
  }

private:
  static __device__ __forceinline__ bool isZero(T sum) { return ZeroRows && sum == T(0); }
};

} // namespace swage
