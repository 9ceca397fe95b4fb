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
// compiler from that.
#pragma once

#include "swage/device/cuda/elements.cuh"
#include "swage/device/cuda/shared.cuh"

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

/// D = A B, or D += A B with `accumulate`.  A is 64xK and B is KxN, of which a row (a column) has
/// 32 bytes: K is 16 for f16 and bf16, 8 for tf32, 32 for e4m3 and e5m2 (mixed as you like).  In
/// shared memory consecutive elements are along K, or, with Transpose..., along the other dimension
/// (16-bit elements only).  With w = warp % 4, g = lane / 4 and t = lane % 4, d[4j], ... are
///   (16w + g, 8j + 2t), (16w + g, 8j + 2t + 1), (16w + g + 8, 8j + 2t), (16w + g + 8, 8j + 2t +
///   1).
template <class A, int N, bool TransposeA = false, bool TransposeB = false, class B = A>
__device__ __forceinline__ void warpgroupMultiply(float (&d)[N / 2], unsigned long long a,
                                                  unsigned long long b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static_assert(sizeof(A) == 2 || (!TransposeA && !TransposeB));
  ptx::WarpgroupMultiplier<A, B>::template shared<N, TransposeA, TransposeB>(d, a, b, accumulate);
}

/// The same with A in registers: those of `multiply` (matrix.cuh), rows 16w to 16w + 15 in warp w.
template <class A, int N, bool TransposeB = false, class B = A>
__device__ __forceinline__ void warpgroupMultiplyRegisters(float (&d)[N / 2],
                                                           const unsigned (&a)[4],
                                                           unsigned long long b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static_assert(sizeof(A) == 2 || !TransposeB);
  ptx::WarpgroupMultiplier<A, B>::template registers<N, TransposeB>(d, a, b, accumulate);
}

//===----------------------------------------------------------------------===//
// The instructions: one statement for each N, element and place of A
//===----------------------------------------------------------------------===//

// The registers of D as text, "%0, ..., %7" for N = 16, and as operands.
#define SWAGE_R_8 "%0, %1, %2, %3"
#define SWAGE_R_16 SWAGE_R_8 ", %4, %5, %6, %7"
#define SWAGE_R_24 SWAGE_R_16 ", %8, %9, %10, %11"
#define SWAGE_R_32 SWAGE_R_24 ", %12, %13, %14, %15"
#define SWAGE_R_40 SWAGE_R_32 ", %16, %17, %18, %19"
#define SWAGE_R_48 SWAGE_R_40 ", %20, %21, %22, %23"
#define SWAGE_R_56 SWAGE_R_48 ", %24, %25, %26, %27"
#define SWAGE_R_64 SWAGE_R_56 ", %28, %29, %30, %31"
#define SWAGE_R_72 SWAGE_R_64 ", %32, %33, %34, %35"
#define SWAGE_R_80 SWAGE_R_72 ", %36, %37, %38, %39"
#define SWAGE_R_88 SWAGE_R_80 ", %40, %41, %42, %43"
#define SWAGE_R_96 SWAGE_R_88 ", %44, %45, %46, %47"
#define SWAGE_R_104 SWAGE_R_96 ", %48, %49, %50, %51"
#define SWAGE_R_112 SWAGE_R_104 ", %52, %53, %54, %55"
#define SWAGE_R_120 SWAGE_R_112 ", %56, %57, %58, %59"
#define SWAGE_R_128 SWAGE_R_120 ", %60, %61, %62, %63"
#define SWAGE_R_136 SWAGE_R_128 ", %64, %65, %66, %67"
#define SWAGE_R_144 SWAGE_R_136 ", %68, %69, %70, %71"
#define SWAGE_R_152 SWAGE_R_144 ", %72, %73, %74, %75"
#define SWAGE_R_160 SWAGE_R_152 ", %76, %77, %78, %79"
#define SWAGE_R_168 SWAGE_R_160 ", %80, %81, %82, %83"
#define SWAGE_R_176 SWAGE_R_168 ", %84, %85, %86, %87"
#define SWAGE_R_184 SWAGE_R_176 ", %88, %89, %90, %91"
#define SWAGE_R_192 SWAGE_R_184 ", %92, %93, %94, %95"
#define SWAGE_R_200 SWAGE_R_192 ", %96, %97, %98, %99"
#define SWAGE_R_208 SWAGE_R_200 ", %100, %101, %102, %103"
#define SWAGE_R_216 SWAGE_R_208 ", %104, %105, %106, %107"
#define SWAGE_R_224 SWAGE_R_216 ", %108, %109, %110, %111"
#define SWAGE_R_232 SWAGE_R_224 ", %112, %113, %114, %115"
#define SWAGE_R_240 SWAGE_R_232 ", %116, %117, %118, %119"
#define SWAGE_R_248 SWAGE_R_240 ", %120, %121, %122, %123"
#define SWAGE_R_256 SWAGE_R_248 ", %124, %125, %126, %127"
#define SWAGE_D(I, J, K, L) "+f"(d[I]), "+f"(d[J]), "+f"(d[K]), "+f"(d[L])
#define SWAGE_D_8 SWAGE_D(0, 1, 2, 3)
#define SWAGE_D_16 SWAGE_D_8, SWAGE_D(4, 5, 6, 7)
#define SWAGE_D_24 SWAGE_D_16, SWAGE_D(8, 9, 10, 11)
#define SWAGE_D_32 SWAGE_D_24, SWAGE_D(12, 13, 14, 15)
#define SWAGE_D_40 SWAGE_D_32, SWAGE_D(16, 17, 18, 19)
#define SWAGE_D_48 SWAGE_D_40, SWAGE_D(20, 21, 22, 23)
#define SWAGE_D_56 SWAGE_D_48, SWAGE_D(24, 25, 26, 27)
#define SWAGE_D_64 SWAGE_D_56, SWAGE_D(28, 29, 30, 31)
#define SWAGE_D_72 SWAGE_D_64, SWAGE_D(32, 33, 34, 35)
#define SWAGE_D_80 SWAGE_D_72, SWAGE_D(36, 37, 38, 39)
#define SWAGE_D_88 SWAGE_D_80, SWAGE_D(40, 41, 42, 43)
#define SWAGE_D_96 SWAGE_D_88, SWAGE_D(44, 45, 46, 47)
#define SWAGE_D_104 SWAGE_D_96, SWAGE_D(48, 49, 50, 51)
#define SWAGE_D_112 SWAGE_D_104, SWAGE_D(52, 53, 54, 55)
#define SWAGE_D_120 SWAGE_D_112, SWAGE_D(56, 57, 58, 59)
#define SWAGE_D_128 SWAGE_D_120, SWAGE_D(60, 61, 62, 63)
#define SWAGE_D_136 SWAGE_D_128, SWAGE_D(64, 65, 66, 67)
#define SWAGE_D_144 SWAGE_D_136, SWAGE_D(68, 69, 70, 71)
#define SWAGE_D_152 SWAGE_D_144, SWAGE_D(72, 73, 74, 75)
#define SWAGE_D_160 SWAGE_D_152, SWAGE_D(76, 77, 78, 79)
#define SWAGE_D_168 SWAGE_D_160, SWAGE_D(80, 81, 82, 83)
#define SWAGE_D_176 SWAGE_D_168, SWAGE_D(84, 85, 86, 87)
#define SWAGE_D_184 SWAGE_D_176, SWAGE_D(88, 89, 90, 91)
#define SWAGE_D_192 SWAGE_D_184, SWAGE_D(92, 93, 94, 95)
#define SWAGE_D_200 SWAGE_D_192, SWAGE_D(96, 97, 98, 99)
#define SWAGE_D_208 SWAGE_D_200, SWAGE_D(100, 101, 102, 103)
#define SWAGE_D_216 SWAGE_D_208, SWAGE_D(104, 105, 106, 107)
#define SWAGE_D_224 SWAGE_D_216, SWAGE_D(108, 109, 110, 111)
#define SWAGE_D_232 SWAGE_D_224, SWAGE_D(112, 113, 114, 115)
#define SWAGE_D_240 SWAGE_D_232, SWAGE_D(116, 117, 118, 119)
#define SWAGE_D_248 SWAGE_D_240, SWAGE_D(120, 121, 122, 123)
#define SWAGE_D_256 SWAGE_D_248, SWAGE_D(124, 125, 126, 127)

// X(N, the numbers of the operands after those of D)
// clang-format off
#define SWAGE_SHAPES(X)                                                                            \
  X(8, 4, 5, 6, 7, 8, 9, 10)                  X(16, 8, 9, 10, 11, 12, 13, 14)                      \
  X(24, 12, 13, 14, 15, 16, 17, 18)           X(32, 16, 17, 18, 19, 20, 21, 22)                    \
  X(40, 20, 21, 22, 23, 24, 25, 26)           X(48, 24, 25, 26, 27, 28, 29, 30)                    \
  X(56, 28, 29, 30, 31, 32, 33, 34)           X(64, 32, 33, 34, 35, 36, 37, 38)                    \
  X(72, 36, 37, 38, 39, 40, 41, 42)           X(80, 40, 41, 42, 43, 44, 45, 46)                    \
  X(88, 44, 45, 46, 47, 48, 49, 50)           X(96, 48, 49, 50, 51, 52, 53, 54)                    \
  X(104, 52, 53, 54, 55, 56, 57, 58)          X(112, 56, 57, 58, 59, 60, 61, 62)                   \
  X(120, 60, 61, 62, 63, 64, 65, 66)          X(128, 64, 65, 66, 67, 68, 69, 70)                   \
  X(136, 68, 69, 70, 71, 72, 73, 74)          X(144, 72, 73, 74, 75, 76, 77, 78)                   \
  X(152, 76, 77, 78, 79, 80, 81, 82)          X(160, 80, 81, 82, 83, 84, 85, 86)                   \
  X(168, 84, 85, 86, 87, 88, 89, 90)          X(176, 88, 89, 90, 91, 92, 93, 94)                   \
  X(184, 92, 93, 94, 95, 96, 97, 98)          X(192, 96, 97, 98, 99, 100, 101, 102)                \
  X(200, 100, 101, 102, 103, 104, 105, 106)   X(208, 104, 105, 106, 107, 108, 109, 110)            \
  X(216, 108, 109, 110, 111, 112, 113, 114)   X(224, 112, 113, 114, 115, 116, 117, 118)            \
  X(232, 116, 117, 118, 119, 120, 121, 122)   X(240, 120, 121, 122, 123, 124, 125, 126)            \
  X(248, 124, 125, 126, 127, 128, 129, 130)   X(256, 128, 129, 130, 131, 132, 133, 134)
// clang-format on

#define SWAGE_STATEMENT(N, PREDICATE, TEXT, ...)                                                   \
  if constexpr (Columns == N)                                                                      \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #PREDICATE ", 0; wgmma.mma_async.sync.aligned" \
                 ".m64n" #N SWAGE_TYPES " {" SWAGE_R_##N "}, " TEXT "; }"                          \
                 : SWAGE_D_##N                                                                     \
                 : __VA_ARGS__);

#define SWAGE_SHARED(N, I0, I1, I2, I3, I4, I5, I6)                                                \
  SWAGE_STATEMENT(N, I2, "%" #I0 ", %" #I1 ", p, 1, 1", "l"(a), "l"(b), "r"(int(accumulate)))
#define SWAGE_SHARED_TRANSPOSING(N, I0, I1, I2, I3, I4, I5, I6)                                    \
  SWAGE_STATEMENT(N, I2, "%" #I0 ", %" #I1 ", p, 1, 1, %" #I3 ", %" #I4, "l"(a), "l"(b),           \
                  "r"(int(accumulate)), "n"(int(TransposeA)), "n"(int(TransposeB)))
#define SWAGE_REGISTERS(N, I0, I1, I2, I3, I4, I5, I6)                                             \
  SWAGE_STATEMENT(N, I5, "{%" #I0 ", %" #I1 ", %" #I2 ", %" #I3 "}, %" #I4 ", p, 1, 1", "r"(a[0]), \
                  "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(accumulate)))
#define SWAGE_REGISTERS_TRANSPOSING(N, I0, I1, I2, I3, I4, I5, I6)                                 \
  SWAGE_STATEMENT(N, I5, "{%" #I0 ", %" #I1 ", %" #I2 ", %" #I3 "}, %" #I4 ", p, 1, 1, %" #I6,     \
                  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(accumulate)),        \
                  "n"(int(TransposeB)))

// The two functions of a WarpgroupMultiplier; SWAGE_TYPES, defined around each use, is what the
// name of the instruction says from K on.
#define SWAGE_WARPGROUP_MULTIPLIER(SHARED, REGISTERS)                                              \
  template <int Columns, bool TransposeA, bool TransposeB>                                         \
  static __device__ __forceinline__ void shared(float(&d)[Columns / 2], unsigned long long a,      \
                                                unsigned long long b, bool accumulate) {           \
    SWAGE_SHAPES(SHARED)                                                                           \
  }                                                                                                \
  template <int Columns, bool TransposeB>                                                          \
  static __device__ __forceinline__ void registers(float(&d)[Columns / 2], const unsigned(&a)[4],  \
                                                   unsigned long long b, bool accumulate) {        \
    SWAGE_SHAPES(REGISTERS)                                                                        \
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
