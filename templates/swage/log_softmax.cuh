// The logarithm of softmax as a collective (collective.cuh): x - max - log(sum), without the
// underflow of softmax.  Elements stay as they are until the sum is known.
#pragma once

#include "swage/math.cuh"
#include "swage/softmax.cuh"

namespace swage {

template <class T, bool ZeroRows, bool Rounded>
struct Stats<Collective::LogSoftmax, T, ZeroRows, Rounded> : detail::SoftmaxState<T, Rounded> {
  using typename detail::SoftmaxState<T, Rounded>::State;
  struct Result {
    T max, sum, from, log;
  };

  template <int U, int V>
  static __device__ __forceinline__ State of(const T (&values)[U][V], const bool (&valid)[U], T) {
    State state{Stats::largest(values), T(0)};
    const T from = Stats::shift(state.max);
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i)
        state.sum += valid[u] ? Stats::power(values[u][i] - from) : T(0);
    return state;
  }

  static __device__ __forceinline__ Result result(State s, T, T) {
    const bool isEmpty = ZeroRows && s.sum == T(0);
    return {s.max, s.sum, isEmpty ? T(0) : s.max, isEmpty ? T(0) : log(s.sum)};
  }
  static __device__ __forceinline__ T apply(Result r, T x) { return x - r.from - r.log; }
  template <class F> static __device__ __forceinline__ auto with(Result r, F f) {
    return f(r.max, r.sum);
  }
};

} // namespace swage
