// Matrix instructions of one warp: ldmatrix, stmatrix, movmatrix, mma.sync.  All 32 lanes call, at
// one place.
//
// The 8x8 piece of 16-bit elements that these move: lane l holds row l / 4, columns 2 (l % 4) and
// the next, as one register.  Elements of other sizes are moved as the 16-bit ones of the same
// bytes.
#pragma once

#include "swage/device/cuda/elements.cuh"
#include "swage/device/cuda/shared.cuh"

namespace swage {

/// Loads 1, 2 or 4 such pieces, one register each, or their transposes.  Lane l passes the address
/// of 16 bytes, row l % 8 of piece l / 8; those of lanes beyond the pieces do not matter.  7.5.
template <int Count, bool Transposed = false>
__device__ __forceinline__ void loadMatrix(SharedAddress row, unsigned (&registers)[Count]) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  if constexpr (Count == 1 && !Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(row)
                 : "memory");
  else if constexpr (Count == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(registers[0])
                 : "r"(row)
                 : "memory");
  else if constexpr (Count == 2 && !Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(row)
                 : "memory");
  else if constexpr (Count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(registers[0]), "=r"(registers[1])
                 : "r"(row)
                 : "memory");
  else if constexpr (!Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(row)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(row)
                 : "memory");
}

/// The opposite.  9.0.
template <int Count, bool Transposed = false>
__device__ __forceinline__ void storeMatrix(SharedAddress row, const unsigned (&registers)[Count]) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  if constexpr (Count == 1 && !Transposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
                 :
                 : "r"(row), "r"(registers[0])
                 : "memory");
  else if constexpr (Count == 1)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};"
                 :
                 : "r"(row), "r"(registers[0])
                 : "memory");
  else if constexpr (Count == 2 && !Transposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(row), "r"(registers[0]), "r"(registers[1])
                 : "memory");
  else if constexpr (Count == 2)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(row), "r"(registers[0]), "r"(registers[1])
                 : "memory");
  else if constexpr (!Transposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row), "r"(registers[0]), "r"(registers[1]), "r"(registers[2]),
                   "r"(registers[3])
                 : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row), "r"(registers[0]), "r"(registers[1]), "r"(registers[2]),
                   "r"(registers[3])
                 : "memory");
}

/// The transpose of such a piece.  7.5.
__device__ __forceinline__ unsigned transposeMatrix(unsigned piece) {
  unsigned transposed;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(piece));
  return transposed;
}

/// What products of the element are summed up in.
template <class A> struct Accumulator { using Type = float; };
template <> struct Accumulator<s8> { using Type = int; };
template <> struct Accumulator<u8> { using Type = int; };

namespace ptx {
template <class A, class B> struct Multiplier; // no instruction takes these elements
#define SWAGE_MULTIPLIER(A, B, SHAPE, TYPES, REGISTER)                                             \
  template <> struct Multiplier<A, B> {                                                            \
    static __device__ __forceinline__ void run(Accumulator<A>::Type (&d)[4],                       \
                                               const unsigned (&a)[4], const unsigned (&b)[2]) {   \
      asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES                                     \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
                   : "+" REGISTER(d[0]), "+" REGISTER(d[1]), "+" REGISTER(d[2]),                   \
                     "+" REGISTER(d[3])                                                            \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));            \
    }                                                                                              \
  };
SWAGE_MULTIPLIER(f16, f16, "m16n8k16", "f32.f16.f16.f32", "f")
SWAGE_MULTIPLIER(bf16, bf16, "m16n8k16", "f32.bf16.bf16.f32", "f")
SWAGE_MULTIPLIER(tf32, tf32, "m16n8k8", "f32.tf32.tf32.f32", "f")
SWAGE_MULTIPLIER(e4m3, e4m3, "m16n8k32", "f32.e4m3.e4m3.f32", "f")
SWAGE_MULTIPLIER(e4m3, e5m2, "m16n8k32", "f32.e4m3.e5m2.f32", "f")
SWAGE_MULTIPLIER(e5m2, e4m3, "m16n8k32", "f32.e5m2.e4m3.f32", "f")
SWAGE_MULTIPLIER(e5m2, e5m2, "m16n8k32", "f32.e5m2.e5m2.f32", "f")
SWAGE_MULTIPLIER(s8, s8, "m16n8k32", "s32.s8.s8.s32", "r")
SWAGE_MULTIPLIER(s8, u8, "m16n8k32", "s32.s8.u8.s32", "r")
SWAGE_MULTIPLIER(u8, s8, "m16n8k32", "s32.u8.s8.s32", "r")
SWAGE_MULTIPLIER(u8, u8, "m16n8k32", "s32.u8.u8.s32", "r")
#undef SWAGE_MULTIPLIER
} // namespace ptx

/// D += A B, where D is 16x8, A is 16xK and B is Kx8; the bytes of a row of A, and of a column of
/// B, are 32: K is 16 for f16 and bf16, 8 for tf32, 32 for e4m3, e5m2 (mixed as you like), s8 and
/// u8. With g = lane / 4 and t = lane % 4:
///   d: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
///   a: four bytes each, of row g, g + 8, g, g + 8, from byte 4t, 4t, 4t + 16, 4t + 16
///   b: four bytes each, of column g, from byte 4t and 4t + 16
/// Products are exact; how their sum is rounded is the hardware's own business (integers wrap).
/// 8.0, 8-bit floats 8.9.
template <class A, class B = A>
__device__ __forceinline__ void multiply(typename Accumulator<A>::Type (&d)[4],
                                         const unsigned (&a)[4], const unsigned (&b)[2]) {
  ptx::Multiplier<A, B>::run(d, a, b);
}

} // namespace swage
