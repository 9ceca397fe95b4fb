// Matrix instructions of a warpgroup (wgmma): 128 threads, from a multiple of 128, multiply A of 64
// rows with B of N columns, N every multiple of 8 up to 256.  A and B are in shared memory as
// descriptors say, or A is in registers; D is in registers.  All threads of the warpgroup call, at
// one place. Compute capability 9.0a.  This file: f16, bf16 and tf32; wgmma_float8.cuh: e4m3 and
// e5m2.
//
// The instructions run beside the threads: after warpgroupFence, and until warpgroupWait, nothing
// may touch the registers of D, nor those of A, and of what is in shared memory only reading is
// allowed. ptxas decides that by itself for the whole function, and makes everything wait for
// everything (warnings C7510 to C7515) where it sees registers move: pinRegisters keeps the
// compiler from that, where it would move them at all.
#pragma once

#include "swage/device/cuda/elements.cuh"
#include "swage/device/cuda/shared.cuh"
#include "swage/device/cuda/wgmma_operands.cuh"

namespace swage {

/// How 16-byte pieces are permuted in shared memory: within rows of that many bytes, by the row.
enum class Swizzle { None, B32, B64, B128 };

/// Where a matrix is in shared memory, 18 bits of address and two distances, all multiples of 16. A
/// line is what is contiguous: along K, or with Transpose... along the other dimension.
///   None: pieces of 8 lines of 16 bytes, one after the other.  Lines along K: strideBytes to the
///   next
///     8 lines, leadingBytes to the next 16 bytes along K.  Transposed: strideBytes to the next 16
///     bytes of the lines, leadingBytes to the next 8 lines.
///   B32, B64, B128: lines of that many bytes, one after the other; strideBytes to the next 8
///   lines.
///     leadingBytes to the next so many bytes of the lines; not used where lines are along K.
/// A swizzled matrix begins at a multiple of 8 of its lines; a step of 32 bytes along K is added to
/// `start`, and with it to the permutation, which is one of address bits.
__device__ __forceinline__ unsigned long long matrixDescriptor(SharedAddress start,
                                                               unsigned leadingBytes,
                                                               unsigned strideBytes,
                                                               Swizzle swizzle) {
  const unsigned low = (start & 0x3ffffu) >> 4 | (leadingBytes & 0x3ffffu) >> 4 << 16;
  const unsigned high = (strideBytes & 0x3ffffu) >> 4 | ((4u - static_cast<unsigned>(swizzle)) & 3u)
                                                            << 30;
  return static_cast<unsigned long long>(high) << 32 | low;
}

/// Before the first warpgroupMultiply, and before one whose registers the threads have touched
/// since; not needed between those that accumulate into the same registers.
__device__ __forceinline__ void warpgroupFence() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
/// The warpgroup's multiplications since the last call are one group.
__device__ __forceinline__ void warpgroupCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/// Until at most `Pending` groups are under way.
template <int Pending> __device__ __forceinline__ void warpgroupWait() {
  static_assert(Pending >= 0 && Pending <= 7);
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Pending) : "memory");
}

/// Values of these registers are computed before this place, and not moved past it: for D, and A,
/// before warpgroupFence and after warpgroupWait.
template <int Count> __device__ __forceinline__ void pinRegisters(float (&registers)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    asm volatile("" : "+f"(registers[i]) : : "memory");
}
template <int Count> __device__ __forceinline__ void pinRegisters(unsigned (&registers)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    asm volatile("" : "+r"(registers[i]) : : "memory");
}

namespace ptx {
template <class A, class B> struct WarpgroupMultiplier {
  static_assert(sizeof(A) == 0, "no instruction takes these elements; for 8-bit floats include "
                                "swage/device/wgmma_float8.cuh");
};
} // namespace ptx

/// D = A B, or D += A B with `accumulate`; and then, for `Steps` up to 4, D += A B of what is
/// StrideA and StrideB times 16 bytes further on.  One statement for all of them: with as many
/// operands as D has registers, statements are what takes time to compile.  A is 64xK and B is KxN,
/// of which a row (a column) has 32 bytes: K is 16 for f16 and bf16, 8 for tf32, 32 for e4m3 and
/// e5m2 (mixed as you like).  In shared memory consecutive elements are along K, or, with
/// Transpose..., along the other dimension (16-bit elements only).  With w = warp % 4, g = lane / 4
/// and t = lane % 4, d[4j], ... are (16w + g, 8j + 2t), (16w + g, 8j + 2t + 1), (16w + g + 8, 8j +
/// 2t), (16w + g + 8, 8j + 2t + 1).
template <class A, int N, bool TransposeA = false, bool TransposeB = false, class B = A,
          int Steps = 1, int StrideA = 0, int StrideB = 0>
__device__ __forceinline__ void warpgroupMultiply(float (&d)[N / 2], unsigned long long a,
                                                  unsigned long long b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static_assert(sizeof(A) == 2 || (!TransposeA && !TransposeB));
  static_assert(Steps >= 1 && Steps <= 4);
  ptx::WarpgroupMultiplier<A, B>::template shared<N, TransposeA, TransposeB, Steps, StrideA,
                                                  StrideB>(d, a, b, accumulate);
}

/// The same with A in registers: of each step those of `multiply` (matrix.cuh), rows 16w to 16w +
/// 15 in warp w.
template <class A, int N, bool TransposeB = false, class B = A, int Steps = 1, int StrideB = 0>
__device__ __forceinline__ void warpgroupMultiplyRegisters(float (&d)[N / 2],
                                                           const unsigned (*a)[4],
                                                           unsigned long long b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static_assert(sizeof(A) == 2 || !TransposeB);
  static_assert(Steps >= 1 && Steps <= 4);
  ptx::WarpgroupMultiplier<A, B>::template registers<N, TransposeB, Steps, StrideB>(d, a, b,
                                                                                    accumulate);
}

//===----------------------------------------------------------------------===//
// The instructions: statements for each N, element, place of A and number of steps
//===----------------------------------------------------------------------===//

#define SWAGE_MULTIPLY(N, A, B, SCALE, MORE)                                                       \
  "wgmma.mma_async.sync.aligned.m64n" #N SWAGE_TYPES " {" SWAGE_R_##N "}, " A ", " B ", " SCALE    \
                                                                      ", 1, 1" MORE "; "
#define SWAGE_STATEMENT(N, STEPS, ACCUMULATE, TEXT, ...)                                           \
  if constexpr (Columns == N && Steps == STEPS)                                                    \
    asm volatile("{ .reg .pred p; .reg .b64 a, b; setp.ne.b32 p, %" #ACCUMULATE ", 0; " TEXT "}"   \
                 : SWAGE_D_##N                                                                     \
                 : __VA_ARGS__);

// A in shared memory: its place and that of B, then both further on.
#define SWAGE_SHARED_FIRST(N, MORE, A, B)                                                          \
  SWAGE_MULTIPLY(N, "%" #A, "%" #B, "p", MORE) "mov.b64 a, %" #A "; mov.b64 b, %" #B "; "
#define SWAGE_SHARED_NEXT(N, MORE, STRIDE_A, STRIDE_B)                                             \
  "add.s64 a, a, %" #STRIDE_A "; add.s64 b, b, %" #STRIDE_B                                        \
  "; " SWAGE_MULTIPLY(N, "a", "b", "1", MORE)
#define SWAGE_SHARED_STEPS(N, STEPS, TEXT, I2)                                                     \
  SWAGE_STATEMENT(N, STEPS, I2, TEXT, "l"(a), "l"(b), "r"(int(accumulate)), "n"(int(TransposeA)),  \
                  "n"(int(TransposeB)), "n"(StrideA), "n"(StrideB))
#define SWAGE_SHARED_TEXTS(N, FIRST, NEXT, I2)                                                     \
  SWAGE_SHARED_STEPS(N, 1, FIRST, I2)                                                              \
  SWAGE_SHARED_STEPS(N, 2, FIRST NEXT, I2)                                                         \
  SWAGE_SHARED_STEPS(N, 3, FIRST NEXT NEXT, I2)                                                    \
  SWAGE_SHARED_STEPS(N, 4, FIRST NEXT NEXT NEXT, I2)
#define SWAGE_SHARED(N, I0, I1, I2, I3, I4, I5, I6, ...)                                           \
  SWAGE_SHARED_TEXTS(N, SWAGE_SHARED_FIRST(N, "", I0, I1), SWAGE_SHARED_NEXT(N, "", I5, I6), I2)
#define SWAGE_SHARED_TRANSPOSING(N, I0, I1, I2, I3, I4, I5, I6, ...)                               \
  SWAGE_SHARED_TEXTS(N, SWAGE_SHARED_FIRST(N, ", %" #I3 ", %" #I4, I0, I1),                        \
                     SWAGE_SHARED_NEXT(N, ", %" #I3 ", %" #I4, I5, I6), I2)

// A in registers, of each step four: the place of B, then further on.
#define SWAGE_A(I, J, K, L) "{%" #I ", %" #J ", %" #K ", %" #L "}"
#define SWAGE_REGISTERS_FIRST(N, MORE, A, B)                                                       \
  SWAGE_MULTIPLY(N, A, "%" #B, "p", MORE) "mov.b64 b, %" #B "; "
#define SWAGE_REGISTERS_NEXT(N, MORE, A, STRIDE)                                                   \
  "add.s64 b, b, %" #STRIDE "; " SWAGE_MULTIPLY(N, A, "b", "1", MORE)
#define SWAGE_A_OPERANDS(STEP) "r"(a[STEP][0]), "r"(a[STEP][1]), "r"(a[STEP][2]), "r"(a[STEP][3])
#define SWAGE_REGISTERS_STEPS(N, STEPS, TEXT, I1, ...)                                             \
  SWAGE_STATEMENT(N, STEPS, I1, TEXT, "l"(b), "r"(int(accumulate)), "n"(int(TransposeB)),          \
                  "n"(StrideB), __VA_ARGS__)
#define SWAGE_REGISTERS_TEXTS(N, FIRST, SECOND, THIRD, FOURTH, I1)                                 \
  SWAGE_REGISTERS_STEPS(N, 1, FIRST, I1, SWAGE_A_OPERANDS(0))                                      \
  SWAGE_REGISTERS_STEPS(N, 2, FIRST SECOND, I1, SWAGE_A_OPERANDS(0), SWAGE_A_OPERANDS(1))          \
  SWAGE_REGISTERS_STEPS(N, 3, FIRST SECOND THIRD, I1, SWAGE_A_OPERANDS(0), SWAGE_A_OPERANDS(1),    \
                        SWAGE_A_OPERANDS(2))                                                       \
  SWAGE_REGISTERS_STEPS(N, 4, FIRST SECOND THIRD FOURTH, I1, SWAGE_A_OPERANDS(0),                  \
                        SWAGE_A_OPERANDS(1), SWAGE_A_OPERANDS(2), SWAGE_A_OPERANDS(3))
#define SWAGE_REGISTERS(N, I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12, I13, I14, I15,   \
                        I16, I17, I18, I19)                                                        \
  SWAGE_REGISTERS_TEXTS(N, SWAGE_REGISTERS_FIRST(N, "", SWAGE_A(I4, I5, I6, I7), I0),              \
                        SWAGE_REGISTERS_NEXT(N, "", SWAGE_A(I8, I9, I10, I11), I3),                \
                        SWAGE_REGISTERS_NEXT(N, "", SWAGE_A(I12, I13, I14, I15), I3),              \
                        SWAGE_REGISTERS_NEXT(N, "", SWAGE_A(I16, I17, I18, I19), I3), I1)
#define SWAGE_REGISTERS_TRANSPOSING(N, I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12, I13, \
                                    I14, I15, I16, I17, I18, I19)                                  \
  SWAGE_REGISTERS_TEXTS(N, SWAGE_REGISTERS_FIRST(N, ", %" #I2, SWAGE_A(I4, I5, I6, I7), I0),       \
                        SWAGE_REGISTERS_NEXT(N, ", %" #I2, SWAGE_A(I8, I9, I10, I11), I3),         \
                        SWAGE_REGISTERS_NEXT(N, ", %" #I2, SWAGE_A(I12, I13, I14, I15), I3),       \
                        SWAGE_REGISTERS_NEXT(N, ", %" #I2, SWAGE_A(I16, I17, I18, I19), I3), I1)

// The two functions of a WarpgroupMultiplier; SWAGE_TYPES, defined around each use, is what the
// name of the instruction says from K on.
#define SWAGE_IS_COLUMNS(N, ...) || Columns == N
#define SWAGE_WARPGROUP_MULTIPLIER(SHARED, REGISTERS)                                              \
  template <int Columns, bool TransposeA, bool TransposeB, int Steps, int StrideA, int StrideB>    \
  static __device__ __forceinline__ void shared(float(&d)[Columns / 2], unsigned long long a,      \
                                                unsigned long long b, bool accumulate) {           \
    static_assert(false SWAGE_WGMMA_SHAPES(SWAGE_IS_COLUMNS), "not in SWAGE_WGMMA_SHAPES");        \
    SWAGE_WGMMA_SHAPES(SHARED)                                                                     \
  }                                                                                                \
  template <int Columns, bool TransposeB, int Steps, int StrideB>                                  \
  static __device__ __forceinline__ void registers(float(&d)[Columns / 2], const unsigned(*a)[4],  \
                                                   unsigned long long b, bool accumulate) {        \
    static_assert(false SWAGE_WGMMA_SHAPES(SWAGE_IS_COLUMNS), "not in SWAGE_WGMMA_SHAPES");        \
    SWAGE_WGMMA_SHAPES(REGISTERS)                                                                  \
  }

namespace ptx {
#define SWAGE_TYPES "k16.f32.f16.f16"
template <> struct WarpgroupMultiplier<f16, f16> {
  SWAGE_WARPGROUP_MULTIPLIER(SWAGE_SHARED_TRANSPOSING, SWAGE_REGISTERS_TRANSPOSING)
};
#undef SWAGE_TYPES
#define SWAGE_TYPES "k16.f32.bf16.bf16"
template <> struct WarpgroupMultiplier<bf16, bf16> {
  SWAGE_WARPGROUP_MULTIPLIER(SWAGE_SHARED_TRANSPOSING, SWAGE_REGISTERS_TRANSPOSING)
};
#undef SWAGE_TYPES
#define SWAGE_TYPES "k8.f32.tf32.tf32"
template <> struct WarpgroupMultiplier<tf32, tf32> {
  SWAGE_WARPGROUP_MULTIPLIER(SWAGE_SHARED, SWAGE_REGISTERS)
};
#undef SWAGE_TYPES
} // namespace ptx

} // namespace swage
