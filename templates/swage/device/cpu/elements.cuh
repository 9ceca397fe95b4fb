// Elements of the matrix instructions that types.cuh has not.
#pragma once

#include "swage/device/cpu/types.cuh"

namespace swage {

struct e4m3 {
  unsigned char bits;
};
struct e5m2 {
  unsigned char bits;
};

struct tf32 {
  unsigned bits;
};

struct s8 {
  signed char bits;
};
struct u8 {
  unsigned char bits;
};

namespace simt {
template <class T> struct ElementOf;
template <> struct ElementOf<f16> { static constexpr auto kValue = MatrixElement::F16; };
template <> struct ElementOf<bf16> { static constexpr auto kValue = MatrixElement::Bf16; };
template <> struct ElementOf<tf32> { static constexpr auto kValue = MatrixElement::Tf32; };
template <> struct ElementOf<e4m3> { static constexpr auto kValue = MatrixElement::E4m3; };
template <> struct ElementOf<e5m2> { static constexpr auto kValue = MatrixElement::E5m2; };
template <> struct ElementOf<s8> { static constexpr auto kValue = MatrixElement::S8; };
template <> struct ElementOf<u8> { static constexpr auto kValue = MatrixElement::U8; };

template <class A, class B> constexpr bool kSame = false;
template <class A> constexpr bool kSame<A, A> = true;
/// Which elements the instructions take together: the same, or different ones of 8 bits of one
/// sort.
template <class A, class B>
constexpr bool kMultiplies = kSame<A, B> || (kSame<A, e4m3> && kSame<B, e5m2>) ||
                             (kSame<A, e5m2> && kSame<B, e4m3>) || (kSame<A, s8> && kSame<B, u8>) ||
                             (kSame<A, u8> && kSame<B, s8>);
} // namespace simt

} // namespace swage
