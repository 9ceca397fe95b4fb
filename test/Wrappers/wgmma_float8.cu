// wgmma of 8-bit floats; as wgmma.cu.
//
// arch: sm_90a
#include "swage/device/bulk.cuh"
#include "swage/device/float8.cuh"
#include "swage/device/wgmma_float8.cuh"

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

/// An integer between -7 and 7, or a number below 1 with all bits of the element.
__device__ float numberOf(unsigned bits, bool isExact) {
  if (isExact)
    return static_cast<float>(static_cast<int>(bits % 15u) - 7);
  return swage::bitCast<float>(bits << 31 | (123u + bits % 4u) << 23 | (bits & 0xf0u) << 15);
}

/// A register of elements.
template <class T> __device__ unsigned registerOf(unsigned bits, bool isExact) {
  const unsigned low =
      swage::narrowPair(T{}, numberOf(bits & 0xffu, isExact), numberOf(bits >> 8 & 0xffu, isExact));
  const unsigned high =
      swage::narrowPair(T{}, numberOf(bits >> 16 & 0xffu, isExact), numberOf(bits >> 24, isExact));
  return high << 16 | low;
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

// launch: wgmma_e4m3_e4m3 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e4m3_e4m3(const unsigned *in, unsigned *out) {
  allFromShared<swage::e4m3, swage::e4m3, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_registers_e4m3_e4m3 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_e4m3_e4m3(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::e4m3, swage::e4m3, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_layouts_e4m3_e4m3 grid=1 block=128 shared=40960 in=40960 out=65536 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_e4m3_e4m3(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::e4m3, swage::e4m3>(in, true);
  swizzles<swage::e4m3, swage::e4m3, 64, false, false>(results, at);
}

// launch: wgmma_e4m3_e5m2 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e4m3_e5m2(const unsigned *in, unsigned *out) {
  allFromShared<swage::e4m3, swage::e5m2, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_registers_e4m3_e5m2 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_e4m3_e5m2(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::e4m3, swage::e5m2, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_layouts_e4m3_e5m2 grid=1 block=128 shared=40960 in=40960 out=65536 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_e4m3_e5m2(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::e4m3, swage::e5m2>(in, true);
  swizzles<swage::e4m3, swage::e5m2, 64, false, false>(results, at);
}

// launch: wgmma_e5m2_e4m3 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e5m2_e4m3(const unsigned *in, unsigned *out) {
  allFromShared<swage::e5m2, swage::e4m3, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_registers_e5m2_e4m3 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_e5m2_e4m3(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::e5m2, swage::e4m3, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_layouts_e5m2_e4m3 grid=1 block=128 shared=40960 in=40960 out=65536 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_e5m2_e4m3(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::e5m2, swage::e4m3>(in, true);
  swizzles<swage::e5m2, swage::e4m3, 64, false, false>(results, at);
}

// launch: wgmma_e5m2_e5m2 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e5m2_e5m2(const unsigned *in, unsigned *out) {
  allFromShared<swage::e5m2, swage::e5m2, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_registers_e5m2_e5m2 grid=1 block=128 shared=40960 in=40960 out=124928 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_registers_e5m2_e5m2(const unsigned *in, unsigned *out) {
  allFromRegisters<swage::e5m2, swage::e5m2, 8, 24, 64, 136, 256>(in, out);
}

// launch: wgmma_layouts_e5m2_e5m2 grid=1 block=128 shared=40960 in=40960 out=65536 exact
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_layouts_e5m2_e5m2(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 128};
  const swage::SharedAddress at = fill<swage::e5m2, swage::e5m2>(in, true);
  swizzles<swage::e5m2, swage::e5m2, 64, false, false>(results, at);
}

// Numbers with all their bits: 32 addends below 1.  PTX promises nothing; the hardware keeps 13
// bits behind the leading one of the largest addend, and the sum is below 2^5.
//
// launch: wgmma_e4m3_e4m3_rounded grid=1 block=128 shared=40960 in=40960 out=16384 tolerance=0.125
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e4m3_e4m3_rounded(const unsigned *in, unsigned *out) {
  rounded<swage::e4m3, swage::e4m3>(in, out);
}

// launch: wgmma_e4m3_e5m2_rounded grid=1 block=128 shared=40960 in=40960 out=16384 tolerance=0.125
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e4m3_e5m2_rounded(const unsigned *in, unsigned *out) {
  rounded<swage::e4m3, swage::e5m2>(in, out);
}

// launch: wgmma_e5m2_e4m3_rounded grid=1 block=128 shared=40960 in=40960 out=16384 tolerance=0.125
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e5m2_e4m3_rounded(const unsigned *in, unsigned *out) {
  rounded<swage::e5m2, swage::e4m3>(in, out);
}

// launch: wgmma_e5m2_e5m2_rounded grid=1 block=128 shared=40960 in=40960 out=16384 tolerance=0.125
extern "C" __global__ void __launch_bounds__(128, 1)
    wgmma_e5m2_e5m2_rounded(const unsigned *in, unsigned *out) {
  rounded<swage::e5m2, swage::e5m2>(in, out);
}
