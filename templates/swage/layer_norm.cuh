// LayerNorm as a collective (collective.cuh).
//
// A partial result is the mean and M2, the sum of squared distances from that mean, both computed in two
// passes over registers and merged by the formulas of Chan, Golub and LeVeque (1979): no
// E[x^2] - E[x]^2 anywhere, so an offset of 1e4 costs no digits.  Padding (row_aligned.cuh), the
// thread's first value once more, is discounted.
#pragma once

#include "swage/collective.cuh"

namespace swage {

template <class T> struct Stats<Collective::LayerNorm, T, false> {
  enum : bool { kCounted = true };
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
  /// In pairs, of the valid ones.
  template <int Begin, int End, int U>
  static __device__ __forceinline__ T sumOfValid(const T (&values)[U][1], const bool (&valid)[U]) {
    constexpr int kMiddle = Begin + (End - Begin + 1) / 2;
    if constexpr (End - Begin == 1)
      return onlyIf<1>(valid[Begin], values[Begin][0]);
    else
      return sumOfValid<Begin, kMiddle>(values, valid) + sumOfValid<kMiddle, End>(values, valid);
  }
  /// A thread with any valid vector has a valid first one.
  template <int U, int V>
  static __device__ __forceinline__ T meanOf(const T (&values)[U][V], const bool (&valid)[U],
                                             T count) {
    // Vectors are summed relative to the first one: where all elements are equal the mean is exactly
    // that, whatever their number, and the epsilon has nothing to magnify.
    const T first = sumOf<V>(values[0]);
    T beyond = T(0);
#pragma unroll
    for (int u = 1; u < U; ++u)
      beyond += onlyIf<V>(valid[u], sumOf<V>(values[u]) - first);
    const T share = count == T(U * V) ? T(1) / T(U) : T(V) * reciprocal(count);
    return count == T(0) ? T(0) : (first + (U == 1 ? T(0) : beyond * share)) * (T(1) / T(V));
  }
  template <int U, int V>
  static __device__ __forceinline__ State of(const T (&values)[U][V], const bool (&valid)[U],
                                             T count) {
    T own[U][V];
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i)
        own[u][i] = values[u][i];
    State state = distancesOf(own, valid, count);
    // Many single elements, summed relative to the first one, have lost digits of the mean: their
    // distances have them, if there is a mean.
    if constexpr (V == 1 && U > 8) {
      const T share = count == T(U) ? T(1) / T(U) : count == T(0) ? T(0) : reciprocal(count);
      const T rest = sumOfValid<0, U>(own, valid) * share;
      state.mean += rest - rest == T(0) ? rest : T(0);
    }
    return state;
  }
  /// The same, and leaves the values' distances from the mean.
  template <int U, int V>
  static __device__ __forceinline__ State distancesOf(T (&values)[U][V], const bool (&valid)[U],
                                                      T count) {
    State state{meanOf(values, valid, count), T(0)};
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < V; ++i) {
        values[u][i] -= state.mean;
        const T distance = onlyIf<V>(valid[u], values[u][i]);
        state.m2 += distance * distance;
      }
    return state;
  }

  /// Elements that come step by step, relative to the mean of the first vector: their squares are at
  /// most as many times too large as there are vectors, and equal elements have no distance.
  struct Running {
    T count = T(0);

    template <int U, int V>
    __device__ __forceinline__ void add(const T (&values)[U][V], const bool (&valid)[U], T more) {
      if (count == T(0))
        origin = sumOf<V>(values[0]) * (T(1) / T(V));
#pragma unroll
      for (int u = 0; u < U; ++u) {
        T part = T(0);
#pragma unroll
        for (int i = 0; i < V; ++i) {
          const T distance = onlyIf<V>(valid[u], values[u][i] - origin);
          part += distance;
          m2 += distance * distance;
        }
        sum += part;
      }
      count += more;
    }
    __device__ __forceinline__ State state() const {
      const T mean = count == T(0) ? T(0) : sum * reciprocal(count);
      // An infinite sum leaves no variance; squares that have overflowed do.
      return {origin + mean, less(m2, sum * mean) + (sum - sum)};
    }

  private:
    T origin = T(0), sum = T(0), m2 = T(0);
  };

  /// That of all lanes of a group, whose values are padded with each lane's first one; leaves distances
  /// from `origin`.  That is the mean, relative to a value and so exact where all are equal, but for
  /// digits that are lost where that value is far from it: the mean of the distances has them.
  template <class Group, int U, int V>
  static __device__ __forceinline__ State ofPadded(T (&values)[U][V], T &count, T &origin) {
    const T padding = T(U * V) - count, pad = values[0][0], pivot = Group::ofFirst(pad);
    const bool isEmpty = count == T(0);
    T sums[U], sum = T(0) - padding * (pad - pivot);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      sums[u] = sumOf<V>(values[u]);
      sum += sums[u] - T(V) * pivot;
    }
    count = Group::sum(count);
    const T share = count == T(0) ? T(0) : reciprocal(count);
    sum = Group::sum(isEmpty ? T(0) : sum);
    origin = count == T(0) ? T(0) : pivot + sum * share;
    T rest = T(0) - padding * (pad - origin), m2 = T(0);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      rest += sums[u] - T(V) * origin;
#pragma unroll
      for (int i = 0; i < V; ++i) {
        values[u][i] -= origin;
        m2 += values[u][i] * values[u][i];
      }
    }
    m2 = less(m2, padding * ((pad - origin) * (pad - origin)));
    rest = Group::sum(isEmpty ? T(0) : rest);
    m2 = less(Group::sum(isEmpty ? T(0) : m2), rest * share * rest);
    return {origin + rest * share, m2};
  }
  /// A sum of squares without some of them; one that has overflowed stays as it is.
  static __device__ __forceinline__ T less(T m2, T part) {
    const T left = m2 - part;
    return m2 == highest<T>() ? m2 : left < T(0) ? T(0) : left;
  }

  /// The states of several entries, each with its count, as one: as mergeLanes does.
  template <int Count, class Entry>
  static __device__ __forceinline__ State ofEntries(const Entry *entries, T &count) {
    Entry all[Count];
    count = T(0);
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      all[i] = entries[i];
      count += all[i].count;
    }
    const T share = count == T(0) ? T(0) : reciprocal(count);
    T distance = T(0), m2 = T(0);
#pragma unroll
    for (int i = 1; i < Count; ++i)
      distance += (all[i].state.mean - all[0].state.mean) * all[i].count;
    const T mean = all[0].state.mean + distance * share;
    T rest = T(0);
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      distance = all[i].state.mean - mean;
      rest += distance * all[i].count;
      m2 += all[i].state.m2 + distance * (distance * all[i].count);
    }
    return {mean + rest * share, less(m2, rest * share * rest)};
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

} // namespace swage
