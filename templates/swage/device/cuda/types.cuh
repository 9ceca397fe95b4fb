// 16-bit storage types.  They only store: arithmetic happens on the float that `widen` gives, and
// `narrow` rounds to nearest even.  Conversions are PTX, so no toolkit header is needed.
#pragma once

namespace swage {

struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
/// A 16-bit element that is only moved: every bit pattern, NaNs included, arrives as it was.
struct bits16 {
  unsigned short bits;
};

/// The type in which a stored element is computed with.
template <class T> struct Widened { using Type = T; };
template <> struct Widened<f16> { using Type = float; };
template <> struct Widened<bf16> { using Type = float; };
template <> struct Widened<bits16> { using Type = unsigned short; };

template <class T> __device__ __forceinline__ T widen(T value) { return value; }
__device__ __forceinline__ float widen(f16 value) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
}
__device__ __forceinline__ float widen(bf16 value) {
  return __builtin_bit_cast(float, static_cast<unsigned>(value.bits) << 16);
}
__device__ __forceinline__ unsigned short widen(bits16 value) { return value.bits; }

/// One half of a register that holds two elements, the first in the low half.
__device__ __forceinline__ float widenHalf(f16, unsigned pair, bool high) {
  float wide;
  if (high)
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }"
        : "=f"(wide)
        : "r"(pair));
  else
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }"
        : "=f"(wide)
        : "r"(pair));
  return wide;
}
__device__ __forceinline__ float widenHalf(bf16, unsigned pair, bool high) {
  return __builtin_bit_cast(float, high ? pair & 0xffff0000u : pair << 16);
}
__device__ __forceinline__ unsigned short widenHalf(bits16, unsigned pair, bool high) {
  return static_cast<unsigned short>(high ? pair >> 16 : pair);
}

/// Rounds to the storage type.
template <class T> struct Narrow {
  static __device__ __forceinline__ T from(T value) { return value; }
};
template <> struct Narrow<f16> {
  static __device__ __forceinline__ f16 from(float value) {
    f16 narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
    return narrow;
  }
};
template <> struct Narrow<bf16> {
  static __device__ __forceinline__ bf16 from(float value) {
    bf16 narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
    return narrow;
  }
};
template <> struct Narrow<bits16> {
  static __device__ __forceinline__ bits16 from(unsigned short value) { return {value}; }
};
template <class T> __device__ __forceinline__ T narrow(typename Widened<T>::Type value) {
  return Narrow<T>::from(value);
}

/// Two elements rounded into one register, `low` in the low half.
__device__ __forceinline__ unsigned narrowPair(f16, float low, float high) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ __forceinline__ unsigned narrowPair(bf16, float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ __forceinline__ unsigned narrowPair(bits16, unsigned short low, unsigned short high) {
  return static_cast<unsigned>(high) << 16 | low;
}

/// `value` as it reads back after being stored as a T.
template <class T>
__device__ __forceinline__ typename Widened<T>::Type roundTo(typename Widened<T>::Type value) {
  return widen(narrow<T>(value));
}
template <> __device__ __forceinline__ float roundTo<bf16>(float value) {
  // A pair is rounded by the units that do arithmetic, a single element by those that are a quarter
  // as fast; and in the upper half of a register it is a float as it is.
  return __builtin_bit_cast(float, narrowPair(bf16{}, 0.0f, value));
}

} // namespace swage
