// Iteration spaces and how a linear index becomes coordinates.
//
// An extent is a compile-time number (Fixed), a runtime number with a precomputed reciprocal
// (Divider), or a bare runtime number (Length), which cannot be divided by and so may only be
// outermost.  Division by a Fixed extent becomes a multiplication in the compiler, by a Divider one
// here: no kernel of Swage executes a division instruction.
#pragma once

#include "swage/numeric.cuh"

namespace swage {

/// An extent known when the kernel is compiled.
template <long long N> struct Fixed {
  enum : bool { kFixed = true };
  enum : long long { kValue = N };

  template <class Index> __device__ __forceinline__ Index value() const {
    return static_cast<Index>(N);
  }
  template <class Index> __device__ __forceinline__ Index divide(Index n) const {
    return static_cast<Index>(static_cast<Unsigned<Index>>(n) / static_cast<Unsigned<Index>>(N));
  }
};

/// A runtime divisor d with multiplier 2^w * (2^s - d) / d + 1, s = ceil(log2 d), w the word width;
/// exact for dividends below 2^31 (2^62).  The host fills it in: the layout is part of the launch
/// interface.
template <class Index> struct Divider {
  enum : bool { kFixed = false };
  enum : long long { kValue = 0 };
  Unsigned<Index> divisor, multiplier;
  unsigned shift;

  template <class> __device__ __forceinline__ Index value() const {
    return static_cast<Index>(divisor);
  }
  template <class> __device__ __forceinline__ Index divide(Index n) const {
    const auto dividend = static_cast<Unsigned<Index>>(n);
    return static_cast<Index>((mulHigh(dividend, multiplier) + dividend) >> shift);
  }
};
static_assert(sizeof(Divider<int>) == 12 && sizeof(Divider<long long>) == 24);

/// A runtime extent that nothing is divided by.
template <class Index> struct Length {
  enum : bool { kFixed = false };
  enum : long long { kValue = 0 };
  Index length;

  template <class> __device__ __forceinline__ Index value() const { return length; }
};

template <class Index, int Rank> struct Coord {
  Index at[Rank];
  __device__ __forceinline__ Index operator[](int dim) const { return at[dim]; }
  __device__ __forceinline__ Index &operator[](int dim) { return at[dim]; }
};

/// A list of extents, outermost first.
template <class... E> struct Extents;

template <> struct Extents<> {
  enum : bool { kFixed = true };
  enum : long long { kCount = 1 };
};

template <class Head, class... Tail> struct Extents<Head, Tail...> {
  enum : int { kRank = 1 + sizeof...(Tail) };
  enum : bool { kFixed = Head::kFixed && Extents<Tail...>::kFixed };
  enum : long long { kCount = kFixed ? Head::kValue * Extents<Tail...>::kCount : 0 };
  Head head;
  Extents<Tail...> tail;

  /// The number of points.
  template <class Index> __device__ __forceinline__ Index count() const {
    if constexpr (kFixed)
      return static_cast<Index>(kCount);
    else if constexpr (kRank == 1)
      return head.template value<Index>();
    else
      return head.template value<Index>() * tail.template count<Index>();
  }
  /// One extent.
  template <class Index, int Dim> __device__ __forceinline__ Index extent() const {
    if constexpr (Dim == 0)
      return head.template value<Index>();
    else
      return tail.template extent<Index, Dim - 1>();
  }
  /// The same as a constant, 0 if it is not known.
  template <int Dim> static __device__ constexpr long long fixedExtent() {
    if constexpr (Dim == 0)
      return Head::kValue;
    else
      return Extents<Tail...>::template fixedExtent<Dim - 1>();
  }
  /// Goes on to the next point; coordinates that reach their extent are carried over.
  template <int At = 0, class Index, int Rank>
  __device__ __forceinline__ void advance(Coord<Index, Rank> &coord) const {
    if constexpr (kRank == 1) {
      ++coord.at[At];
    } else {
      tail.template advance<At + 1>(coord);
      if (coord.at[At + 1] == extent<Index, 1>()) {
        coord.at[At + 1] = 0;
        ++coord.at[At];
      }
    }
  }
  /// Writes the coordinates of point `linear` to coord[At], coord[At + 1], ...; what is left over
  /// for dimensions further out is returned.
  template <int At = 0, bool Outermost = true, class Index, int Rank>
  __device__ __forceinline__ Index split(Index linear, Coord<Index, Rank> &coord) const {
    if constexpr (kRank > 1)
      linear = tail.template split<At + 1, false>(linear, coord);
    if constexpr (Outermost) {
      coord.at[At] = linear;
      return 0;
    } else {
      const Index quotient = head.template divide<Index>(linear);
      coord.at[At] = linear - quotient * head.template value<Index>();
      return quotient;
    }
  }
};

/// The extent that an argument of extents() stands for: a bare integer is a Length.
template <class E> struct ExtentOf { using Type = E; };
template <> struct ExtentOf<int> { using Type = Length<int>; };
template <> struct ExtentOf<long long> { using Type = Length<long long>; };

/// What generated code writes: extents(Fixed<8>{}, sizes.byS0), outermost first.
template <class... E> __device__ __forceinline__ auto extents(E... list) {
  return Extents<typename ExtentOf<E>::Type...>{list...};
}

} // namespace swage
