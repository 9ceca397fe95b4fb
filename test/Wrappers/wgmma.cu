// wgmma of f16, bf16 and tf32.  Shared memory is full of small integers, whose sums are exact, so
// that results show which element the hardware takes from where.
//
// arch: sm_90a
#include "swage/device/bulk.cuh"
#include "swage/device/wgmma.cuh"

namespace {
/// Where a thread leaves its results: the first words of all threads, then the second ones.
struct Results {
  unsigned *next;
  unsigned threads;
  template <class T> __device__ void add(T value) {
    if constexpr (sizeof(T) == 1) {
      add<unsigned>(swage::bitCast<unsigned char>(value));
    } else if constexpr (sizeof(T) == 2) {
      add<unsigned>(swage::bitCast<unsigned short>(value));
    } else {
      struct Words {
        unsigned at[sizeof(T) / 4];
      };
      const auto words = swage::bitCast<Words>(value);
      for (unsigned word : words.at) {
        *next = word;
        next += threads;
      }
    }
  }
};
} // namespace

namespace {
using swage::Swizzle;

/// An integer between -7 and 7, or a number below 2 with all bits of the element.
__device__ float numberOf(unsigned bits, bool isExact) {
  if (isExact)
    return static_cast<float>(static_cast<int>(bits % 15u) - 7);
  return swage::bitCast<float>((bits & 0x807fffffu) | (124u + (bits >> 23) % 4u) << 23);
}

/// A register of elements.
template <class T> __device__ unsigned registerOf(unsigned bits, bool isExact) {
  if constexpr (sizeof(T) == 2)
    return swage::narrowPair(T{}, numberOf(isExact ? bits & 0xffffu : bits, isExact),
                             numberOf(isExact ? bits >> 16 : bits * 0x9e3779b9u, isExact));
  else
    return swage::bitCast<unsigned>(numberOf(bits, isExact)) & ~0x1fffu;
}

/// 40 KiB of elements, known to the matrix unit.
template <class A, class B> __device__ swage::SharedAddress fill(const unsigned *in, bool isExact) {
  auto *to = reinterpret_cast<unsigned *>(swage::dynamicArena());
  for (unsigned i = swage::threadIndex(); i < 10240; i += 128)
    to[i] = i < 2048 ? registerOf<A>(in[i], isExact) : registerOf<B>(in[i], isExact);
  swage::fenceProxyAsync();
  swage::barrier();
  return swage::sharedAddress(swage::dynamicArena());
}

/// The distances of a matrix that is packed, by swizzle: for lines along K, and for others.
template <Swizzle S, bool Transposed>
__device__ unsigned long long descriptor(swage::SharedAddress at) {
  constexpr unsigned kLine = S == Swizzle::None  ? 16
                             : S == Swizzle::B32 ? 32
                             : S == Swizzle::B64 ? 64
                                                 : 128;
  if constexpr (S == Swizzle::None)
    return swage::matrixDescriptor(at, 128, 256, S);
  else if constexpr (Transposed)
    return swage::matrixDescriptor(at, 16 * kLine, 8 * kLine, S);
  else
    return swage::matrixDescriptor(at, 16, 8 * kLine, S);
}

/// The barrier keeps the registers of the next test out of this one.
template <int Count> __device__ void keep(Results &results, const float (&d)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    results.add(d[i]);
  swage::barrier();
}

/// A B, and then once more with what follows in shared memory, by 32 bytes.
template <class A, class B, int N, Swizzle S = Swizzle::B128, bool TransposeA = false,
          bool TransposeB = false>
__device__ void fromShared(Results &results, swage::SharedAddress at) {
  constexpr unsigned kStep = S == Swizzle::B128 ? 32 : 4096;
  float d[N / 2];
#pragma unroll
  for (int i = 0; i < N / 2; ++i)
    d[i] = 1000.0f;
  swage::pinRegisters(d);
  swage::warpgroupFence();
  swage::warpgroupMultiply<A, N, TransposeA, TransposeB, B, 2, (TransposeA ? 4096 : kStep) / 16,
                           (TransposeB ? 4096 : kStep) / 16>(
      d, descriptor<S, TransposeA>(at), descriptor<S, TransposeB>(at + 8192), false);
  swage::warpgroupCommit();
  swage::warpgroupWait<0>();
  swage::pinRegisters(d);
  keep(results, d);
}

/// The same with A in registers, and D started by the threads.
template <class A, class B, int N, Swizzle S = Swizzle::B128, bool TransposeB = false>
__device__ void fromRegisters(Results &results, swage::SharedAddress at, const unsigned *in) {
  constexpr unsigned kStep = S == Swizzle::B128 && !TransposeB ? 32 : 4096;
  float d[N / 2];
#pragma unroll
  for (int i = 0; i < N / 2; ++i)
    d[i] = 3.0f;
  unsigned a[2][4];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    a[i / 4][i % 4] = registerOf<A>(in[128 * i + swage::threadIndex()], true);
  swage::pinRegisters(a[0]);
  swage::pinRegisters(a[1]);
  swage::pinRegisters(d);
  swage::warpgroupFence();
  swage::warpgroupMultiplyRegisters<A, N, TransposeB, B, 2, kStep / 16>(
      d, a, descriptor<S, TransposeB>(at + 8192), true);
  swage::warpgroupCommit();
  swage::warpgroupWait<0>();
  swage::pinRegisters(d);
  keep(results, d);
}

template <class A, class B, int... N>
__device__ void allFromShared(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<A, B>(in, true);
  (fromShared<A, B, N>(results, at), ...);
}
template <class A, class B, int... N>
__device__ void allFromRegisters(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<A, B>(in, true);
  (fromRegisters<A, B, N>(results, at, in), ...);
}

template <class A, class B, int N, bool TransposeA, bool TransposeB>
__device__ void swizzles(Results &results, swage::SharedAddress at) {
  fromShared<A, B, N, Swizzle::None, TransposeA, TransposeB>(results, at);
  fromShared<A, B, N, Swizzle::B32, TransposeA, TransposeB>(results, at);
  fromShared<A, B, N, Swizzle::B64, TransposeA, TransposeB>(results, at);
  fromShared<A, B, N, Swizzle::B128, TransposeA, TransposeB>(results, at);
}
template <class A, class B, int N, bool TransposeB>
__device__ void swizzlesOfB(Results &results, swage::SharedAddress at, const unsigned *in) {
  fromRegisters<A, B, N, Swizzle::None, TransposeB>(results, at, in);
  fromRegisters<A, B, N, Swizzle::B32, TransposeB>(results, at, in);
  fromRegisters<A, B, N, Swizzle::B64, TransposeB>(results, at, in);
  fromRegisters<A, B, N, Swizzle::B128, TransposeB>(results, at, in);
}

template <class A, class B> __device__ void rounded(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<A, B>(in, false);
  float d[32] = {};
  swage::pinRegisters(d);
  swage::warpgroupFence();
  swage::warpgroupMultiply<A, 64, false, false, B>(
      d, descriptor<Swizzle::B128, false>(at), descriptor<Swizzle::B128, false>(at + 8192), false);
  swage::warpgroupCommit();
  swage::warpgroupWait<0>();
  swage::pinRegisters(d);
  keep(results, d);
}
} // namespace

// Every N.
//
// launch: wgmma_f16_8_to_128 grid=1 block=128 shared=40960 in=40960 out=278528 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_f16_8_to_128(const unsigned *in, unsigned *out) {
  allFromShared<swage::f16, swage::f16, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112,
                120, 128>(in, out);
}

// launch: wgmma_registers_f16_8_to_128 grid=1 block=128 shared=40960 in=40960 out=278528 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_f16_8_to_128(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::f16, swage::f16, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112,
                   120, 128>(in, out);
}

// launch: wgmma_f16_136_to_200 grid=1 block=128 shared=40960 in=40960 out=387072 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_f16_136_to_200(const unsigned *in, unsigned *out) {
  allFromShared<swage::f16, swage::f16, 136, 144, 152, 160, 168, 176, 184, 192, 200>(in, out);
}

// launch: wgmma_registers_f16_136_to_200 grid=1 block=128 shared=40960 in=40960 out=387072 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_f16_136_to_200(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::f16, swage::f16, 136, 144, 152, 160, 168, 176, 184, 192, 200>(in, out);
}

// launch: wgmma_f16_208_to_256 grid=1 block=128 shared=40960 in=40960 out=415744 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_f16_208_to_256(const unsigned *in, unsigned *out) {
  allFromShared<swage::f16, swage::f16, 208, 216, 224, 232, 240, 248, 256>(in, out);
}

// launch: wgmma_registers_f16_208_to_256 grid=1 block=128 shared=40960 in=40960 out=415744 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_f16_208_to_256(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::f16, swage::f16, 208, 216, 224, 232, 240, 248, 256>(in, out);
}

// The other elements, for some N.
//
// launch: wgmma_bf16 grid=1 block=128 shared=40960 in=40960 out=102400 exact
extern "C" __global__ void __launch_bounds__(128, 1) wgmma_bf16(const unsigned *in, unsigned *out) {
  allFromShared<swage::bf16, swage::bf16, 8, 40, 96, 256>(in, out);
}

// launch: wgmma_registers_bf16 grid=1 block=128 shared=40960 in=40960 out=102400 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_bf16(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::bf16, swage::bf16, 8, 40, 96, 256>(in, out);
}

// launch: wgmma_tf32 grid=1 block=128 shared=40960 in=40960 out=102400 exact
extern "C" __global__ void __launch_bounds__(128, 1) wgmma_tf32(const unsigned *in, unsigned *out) {
  allFromShared<swage::tf32, swage::tf32, 8, 40, 96, 256>(in, out);
}

// launch: wgmma_registers_tf32 grid=1 block=128 shared=40960 in=40960 out=102400 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_tf32(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::tf32, swage::tf32, 8, 40, 96, 256>(in, out);
}

// Every layout of both operands.
//
// launch: wgmma_layouts_f16_64 grid=1 block=128 shared=40960 in=40960 out=262144 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_f16_64(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::f16, swage::f16>(in, true);
  swizzles<swage::f16, swage::f16, 64, false, false>(results, at);
  swizzles<swage::f16, swage::f16, 64, false, true>(results, at);
  swizzles<swage::f16, swage::f16, 64, true, false>(results, at);
  swizzles<swage::f16, swage::f16, 64, true, true>(results, at);
}

// launch: wgmma_layouts_f16_128 grid=1 block=128 shared=40960 in=40960 out=524288 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_f16_128(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::f16, swage::f16>(in, true);
  swizzles<swage::f16, swage::f16, 128, false, false>(results, at);
  swizzles<swage::f16, swage::f16, 128, false, true>(results, at);
  swizzles<swage::f16, swage::f16, 128, true, false>(results, at);
  swizzles<swage::f16, swage::f16, 128, true, true>(results, at);
}

// launch: wgmma_registers_layouts_f16 grid=1 block=128 shared=40960 in=40960 out=131072 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_layouts_f16(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::f16, swage::f16>(in, true);
  swizzlesOfB<swage::f16, swage::f16, 64, false>(results, at, in);
  swizzlesOfB<swage::f16, swage::f16, 64, true>(results, at, in);
}

// launch: wgmma_layouts_bf16_64 grid=1 block=128 shared=40960 in=40960 out=131072 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_bf16_64(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::bf16, swage::bf16>(in, true);
  swizzles<swage::bf16, swage::bf16, 64, false, true>(results, at);
  swizzles<swage::bf16, swage::bf16, 64, true, false>(results, at);
}

// launch: wgmma_registers_layouts_bf16 grid=1 block=128 shared=40960 in=40960 out=131072 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_layouts_bf16(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::bf16, swage::bf16>(in, true);
  swizzlesOfB<swage::bf16, swage::bf16, 64, false>(results, at, in);
  swizzlesOfB<swage::bf16, swage::bf16, 64, true>(results, at, in);
}

// launch: wgmma_layouts_tf32_64 grid=1 block=128 shared=40960 in=40960 out=65536 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_tf32_64(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::tf32, swage::tf32>(in, true);
  swizzles<swage::tf32, swage::tf32, 64, false, false>(results, at);
}

// launch: wgmma_registers_layouts_tf32 grid=1 block=128 shared=40960 in=40960 out=65536 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_layouts_tf32(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::tf32, swage::tf32>(in, true);
  swizzlesOfB<swage::tf32, swage::tf32, 64, false>(results, at, in);
}

// An N that is no multiple of the swizzled line: part of a line is used.
//
// launch: wgmma_layouts_f16_24 grid=1 block=128 shared=40960 in=40960 out=24576 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_f16_24(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::f16, swage::f16>(in, true);
  swizzles<swage::f16, swage::f16, 24, false, true>(results, at);
}

// Two groups under way, which are waited for one after the other.
//
// launch: wgmma_groups grid=1 block=128 shared=40960 in=40960 out=24576 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_groups(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::bf16, swage::bf16>(in, true);
  const unsigned long long a = descriptor<Swizzle::B128, false>(at);
  const unsigned long long b = descriptor<Swizzle::B128, false>(at + 8192);
  float first[16], second[32];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    first[i] = 3.0f;
#pragma unroll
  for (int i = 0; i < 32; ++i)
    second[i] = 5.0f;
  swage::pinRegisters(first);
  swage::pinRegisters(second);
  swage::warpgroupFence();
  swage::warpgroupMultiply<swage::bf16, 32>(first, a, b, true);
  swage::warpgroupCommit();
  swage::warpgroupMultiply<swage::bf16, 64>(second, a + 2, b + 2, (in[0] & 1u) != 0);
  swage::warpgroupMultiply<swage::bf16, 64>(second, a + 4, b + 6, true);
  swage::warpgroupCommit();
  swage::warpgroupWait<1>();
  swage::pinRegisters(first);
  keep(results, first);
  swage::warpgroupWait<0>();
  swage::pinRegisters(second);
  keep(results, second);
}

// Three and four steps in a statement, and one.
//
// launch: wgmma_steps grid=1 block=128 shared=40960 in=40960 out=49152 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_steps(const unsigned *in, unsigned *out) {
  using swage::bf16;
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<bf16, bf16>(in, true);
  const unsigned long long a = descriptor<Swizzle::B128, false>(at);
  const unsigned long long b = descriptor<Swizzle::B128, false>(at + 8192);
  unsigned held[4][4];
#pragma unroll
  for (int i = 0; i < 16; ++i)
    held[i / 4][i % 4] = registerOf<bf16>(in[128 * i + swage::threadIndex()], true);
  float d[32] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i)
    swage::pinRegisters(held[i]);
  swage::pinRegisters(d);
  swage::warpgroupFence();
  const auto end = [&] {
    swage::warpgroupCommit();
    swage::warpgroupWait<0>();
    swage::pinRegisters(d);
    keep(results, d);
    swage::warpgroupFence();
  };
  swage::warpgroupMultiply<bf16, 64, false, false, bf16, 3, 2, 2>(d, a, b, true);
  swage::warpgroupMultiply<bf16, 64>(d, a + 6, b + 6, true);
  end();
  swage::warpgroupMultiply<bf16, 64, false, false, bf16, 4, 2, 2>(d, a, b, false);
  swage::warpgroupMultiplyRegisters<bf16, 64, false, bf16, 4, 2>(d, held, b, true);
  end();
  swage::warpgroupMultiplyRegisters<bf16, 64, false, bf16, 3, 2>(d, held, b, false);
  swage::warpgroupMultiplyRegisters<bf16, 64>(d, held + 3, b + 6, true);
  const unsigned long long lines = descriptor<Swizzle::B128, true>(at + 8192);
  swage::warpgroupMultiplyRegisters<bf16, 64, true, bf16, 3, 128>(d, held, lines, true);
  swage::warpgroupMultiplyRegisters<bf16, 64, true, bf16, 4, 128>(d, held, lines, true);
  end();
}

// Numbers with all their bits.  Products are exact, and PTX asks of their sum the precision of
// float: 16 addends below 4, each off by one unit of the last of 24 bits.
//
// launch: wgmma_f16_rounded grid=1 block=128 shared=40960 in=40960 out=16384 tolerance=1.3e-4
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_f16_rounded(const unsigned *in, unsigned *out) {
  rounded<swage::f16, swage::f16>(in, out);
}

// launch: wgmma_bf16_rounded grid=1 block=128 shared=40960 in=40960 out=16384 tolerance=1.3e-4
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_bf16_rounded(const unsigned *in, unsigned *out) {
  rounded<swage::bf16, swage::bf16>(in, out);
}

// launch: wgmma_tf32_rounded grid=1 block=128 shared=40960 in=40960 out=16384 tolerance=1.3e-4
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_tf32_rounded(const unsigned *in, unsigned *out) {
  rounded<swage::tf32, swage::tf32>(in, out);
}

// Descriptors of the same places, but for the start, are the same on both sides.
//
// launch: wgmma_descriptors grid=1 block=128 shared=40960 in=512 out=4096 exact
extern "C" __global__ void wgmma_descriptors(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const unsigned bits = in[swage::threadIndex()];
  results.add(swage::matrixDescriptor(bits & 0x3fff0u, bits >> 3 & 0x3fff0u, bits >> 9 & 0x3fff0u,
                                      Swizzle::None));
  results.add(swage::matrixDescriptor(bits & 0x3fff0u, 16, bits >> 9 & 0x3fff0u, Swizzle::B32));
  results.add(swage::matrixDescriptor(bits & 0x3fff0u, 16, bits >> 9 & 0x3fff0u, Swizzle::B64));
  results.add(swage::matrixDescriptor(bits & 0x3fff0u, 16, bits >> 9 & 0x3fff0u, Swizzle::B128));
}
