//===- MatrixElements.h - Elements of the matrix instructions -------------===//
//
// All elements are exact as floats; tf32 after its low 13 bits are dropped, as the hardware does.
//
// What works on vectors is a template over their size: it is compiled for 32 bytes inside of
// functions for machines with AVX2, and for 16 bytes for all others, which compilers cut 32 badly
// into.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_MATRIXELEMENTS_H
#define SWAGE_LIB_SIMT_MATRIXELEMENTS_H

#include "swage/device/cpu/abi.cuh"

#include <cstddef>
#include <cstring>

#define SWAGE_SIMT_INLINE inline __attribute__((always_inline))
/// In a function with this attribute, and in what is inlined there.
#if defined(__x86_64__)
#define SWAGE_SIMT_AVX2 __attribute__((target("avx2")))
#define SWAGE_SIMT_HAS_AVX2 __builtin_cpu_supports("avx2")
#else
#define SWAGE_SIMT_AVX2
#define SWAGE_SIMT_HAS_AVX2 false
#endif

namespace swage::simt {

inline unsigned elementBytes(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
  case MatrixElement::Bf16:
    return 2;
  case MatrixElement::Tf32:
    return 4;
  default:
    return 1;
  }
}

inline const char *name(MatrixElement element) {
  constexpr const char *kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"};
  return kNames[static_cast<unsigned>(element)];
}

inline bool isInteger(MatrixElement element) {
  return element == MatrixElement::S8 || element == MatrixElement::U8;
}

/// Whether an instruction may multiply elements of these two types.
inline bool canMultiply(MatrixElement a, MatrixElement b) {
  return a == b || (elementBytes(a) == 1 && elementBytes(b) == 1 && isInteger(a) == isInteger(b));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// 16 bytes.
struct SmallVectors {
  static constexpr unsigned kLanes = 4;
  using Words = unsigned __attribute__((vector_size(16)));
  using Ints = int __attribute__((vector_size(16)));
  using Floats = float __attribute__((vector_size(16)));
  /// As many lanes, and twice as many.
  using Shorts = short __attribute__((vector_size(8)));
  using MoreShorts = short __attribute__((vector_size(16)));
  using HalfWords = unsigned short __attribute__((vector_size(8)));
};
/// 32 bytes.
struct LargeVectors {
  static constexpr unsigned kLanes = 8;
  using Words = unsigned __attribute__((vector_size(32)));
  using Ints = int __attribute__((vector_size(32)));
  using Floats = float __attribute__((vector_size(32)));
  using Shorts = short __attribute__((vector_size(16)));
  using MoreShorts = short __attribute__((vector_size(32)));
  using HalfWords = unsigned short __attribute__((vector_size(16)));
};

template <class Vector, class T> SWAGE_SIMT_INLINE Vector load(const T *from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}
template <class Vector, class T> SWAGE_SIMT_INLINE void store(T *to, Vector vector) {
  std::memcpy(to, &vector, sizeof(vector));
}
/// The same bits.
template <class To, class From> SWAGE_SIMT_INLINE To as(From vector) {
  return reinterpret_cast<To>(vector);
}

/// The low 16 bits of each word as f16.  The exponent's bias is mended by a multiplication, which
/// also normalises.
template <class V> SWAGE_SIMT_INLINE typename V::Floats widenF16(typename V::Words half) {
  using Words = typename V::Words;
  using Floats = typename V::Floats;
  const Words magnitude = half & 0x7fff, sign = (half & 0x8000) << 16;
  const Words scaled = as<Words>(as<Floats>(magnitude << 13) * 0x1p112f);
  const Words special = as<Words>(magnitude >= 0x7c00);
  return as<Floats>(sign | (special & (magnitude << 13 | 0x7f800000)) | (~special & scaled));
}

/// The low 8 bits as e4m3, which has no infinities.
template <class V> SWAGE_SIMT_INLINE typename V::Floats widenE4m3(typename V::Words byte) {
  using Words = typename V::Words;
  using Floats = typename V::Floats;
  const Words magnitude = byte & 0x7f, sign = (byte & 0x80) << 24;
  const Words scaled = as<Words>(as<Floats>(magnitude << 20) * 0x1p120f);
  const Words special = as<Words>(magnitude == 0x7f);
  return as<Floats>(sign | (special & 0x7fffffff) | (~special & scaled));
}

/// Element `index` of each word.
template <class V, MatrixElement Element>
SWAGE_SIMT_INLINE typename V::Floats widen(typename V::Words words, unsigned index) {
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;
  switch (Element) {
  case MatrixElement::F16:
    return widenF16<V>(words >> 16 * index & 0xffff);
  case MatrixElement::Bf16:
    return as<Floats>(words >> 16 * index << 16);
  case MatrixElement::Tf32:
    return as<Floats>(words & 0xffffe000);
  case MatrixElement::E4m3:
    return widenE4m3<V>(words >> 8 * index & 0xff);
  case MatrixElement::E5m2:
    return widenF16<V>((words >> 8 * index & 0xff) << 8);
  case MatrixElement::S8:
    return __builtin_convertvector(as<Ints>(words << (24 - 8 * index)) >> 24, Floats);
  case MatrixElement::U8:
    return __builtin_convertvector(as<Ints>(words >> 8 * index & 0xff), Floats);
  }
  return Floats{};
}

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_MATRIXELEMENTS_H
