//===- MatrixElements.h - Elements of the matrix instructions -------------===//
//
// All elements are exact as floats; tf32 after its low 13 bits are dropped, as the hardware does.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_MATRIXELEMENTS_H
#define SWAGE_LIB_SIMT_MATRIXELEMENTS_H

#include "swage/device/cpu/abi.cuh"

#include <cstddef>
#include <cstring>

/// For the vector types below: they are passed to functions that are always inlined.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

/// A body that is compiled once more for machines with AVX2.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define SWAGE_SIMT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define SWAGE_SIMT_CLONES
#endif
#define SWAGE_SIMT_INLINE inline __attribute__((always_inline))

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

constexpr unsigned kLanesOfVector = 8;
using Words = unsigned __attribute__((vector_size(32)));
using Ints = int __attribute__((vector_size(32)));
using Floats = float __attribute__((vector_size(32)));

SWAGE_SIMT_INLINE Words loadWords(const unsigned *from) {
  Words words;
  std::memcpy(&words, from, sizeof(words));
  return words;
}
SWAGE_SIMT_INLINE Floats loadFloats(const float *from) {
  Floats floats;
  std::memcpy(&floats, from, sizeof(floats));
  return floats;
}
SWAGE_SIMT_INLINE void store(float *to, Floats floats) { std::memcpy(to, &floats, sizeof(floats)); }
SWAGE_SIMT_INLINE Floats asFloats(Words words) { return reinterpret_cast<Floats>(words); }
SWAGE_SIMT_INLINE Words asWords(Floats floats) { return reinterpret_cast<Words>(floats); }

/// The low 16 bits of each word as f16.  The exponent's bias is mended by a multiplication, which
/// also normalises.
SWAGE_SIMT_INLINE Floats widenF16(Words half) {
  const Words magnitude = half & 0x7fff, sign = (half & 0x8000) << 16;
  const Words scaled = asWords(asFloats(magnitude << 13) * 0x1p112f);
  const Words special = reinterpret_cast<Words>(magnitude >= 0x7c00);
  return asFloats(sign | (special & (magnitude << 13 | 0x7f800000)) | (~special & scaled));
}

/// The low 8 bits as e4m3, which has no infinities.
SWAGE_SIMT_INLINE Floats widenE4m3(Words byte) {
  const Words magnitude = byte & 0x7f, sign = (byte & 0x80) << 24;
  const Words scaled = asWords(asFloats(magnitude << 20) * 0x1p120f);
  const Words special = reinterpret_cast<Words>(magnitude == 0x7f);
  return asFloats(sign | (special & 0x7fffffff) | (~special & scaled));
}

/// Element `index` of each word.
template <MatrixElement Element> SWAGE_SIMT_INLINE Floats widen(Words words, unsigned index) {
  switch (Element) {
  case MatrixElement::F16:
    return widenF16(words >> 16 * index & 0xffff);
  case MatrixElement::Bf16:
    return asFloats(words >> 16 * index << 16);
  case MatrixElement::Tf32:
    return asFloats(words & 0xffffe000);
  case MatrixElement::E4m3:
    return widenE4m3(words >> 8 * index & 0xff);
  case MatrixElement::E5m2:
    return widenF16((words >> 8 * index & 0xff) << 8);
  case MatrixElement::S8: {
    const Words top = words << (24 - 8 * index);
    return __builtin_convertvector(reinterpret_cast<Ints>(top) >> 24, Floats);
  }
  case MatrixElement::U8: {
    const Words byte = words >> 8 * index & 0xff;
    return __builtin_convertvector(reinterpret_cast<Ints>(byte), Floats);
  }
  }
  return Floats{};
}

} // namespace swage::simt

#pragma GCC diagnostic pop

#endif // SWAGE_LIB_SIMT_MATRIXELEMENTS_H
