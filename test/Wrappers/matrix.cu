// ldmatrix, movmatrix and mma.sync.
//
// arch: sm_80
#include "swage/device/matrix.cuh"

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
template <int Count, bool Transposed>
__device__ void load(Results &results, swage::SharedAddress row) {
  unsigned registers[Count];
  swage::loadMatrix<Count, Transposed>(row, registers);
  for (unsigned word : registers)
    results.add(word);
}

/// An integer between -7 and 7.
__device__ float numberOf(unsigned bits) {
  return static_cast<float>(static_cast<int>(bits % 15u) - 7);
}
/// A number between -2 and 2 with all of its bits.
__device__ float fractionOf(unsigned bits) {
  return swage::bitCast<float>((bits & 0x807fffffu) | (124u + (bits >> 23) % 4u) << 23);
}

/// A register of elements.
__device__ unsigned exact(swage::f16, unsigned bits) {
  return swage::narrowPair(swage::f16{}, numberOf(bits & 0xffffu), numberOf(bits >> 16));
}
__device__ unsigned exact(swage::bf16, unsigned bits) {
  return swage::narrowPair(swage::bf16{}, numberOf(bits & 0xffffu), numberOf(bits >> 16));
}
__device__ unsigned exact(swage::tf32, unsigned bits) {
  return swage::bitCast<unsigned>(numberOf(bits));
}
__device__ unsigned exact(swage::s8, unsigned bits) { return bits; }
__device__ unsigned exact(swage::u8, unsigned bits) { return bits; }

__device__ unsigned inexact(swage::f16, unsigned bits) {
  return swage::narrowPair(swage::f16{}, fractionOf(bits), fractionOf(bits * 0x9e3779b9u));
}
__device__ unsigned inexact(swage::bf16, unsigned bits) {
  return swage::narrowPair(swage::bf16{}, fractionOf(bits), fractionOf(bits * 0x9e3779b9u));
}
__device__ unsigned inexact(swage::tf32, unsigned bits) {
  return swage::bitCast<unsigned>(fractionOf(bits)) & ~0x1fffu;
}

template <class A, class B> __device__ void multiplyExactly(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  const unsigned *word = in + 16 * swage::threadIndex();
  const unsigned a[4] = {exact(A{}, word[0]), exact(A{}, word[1]), exact(A{}, word[2]),
                         exact(A{}, word[3])};
  const unsigned b[2] = {exact(B{}, word[4]), exact(B{}, word[5])};
  typename swage::Accumulator<A>::Type d[4];
  for (int i = 0; i < 4; ++i)
    if constexpr (swage::IsFloating<typename swage::Accumulator<A>::Type>)
      d[i] = numberOf(word[6 + i]);
    else
      d[i] = static_cast<int>(word[6 + i]);
  swage::multiply<A, B>(d, a, b);
  swage::multiply<A, B>(d, a, b);
  for (auto value : d)
    results.add(value);
}

template <class A> __device__ void multiplyClosely(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  const unsigned *word = in + 16 * swage::threadIndex();
  const unsigned a[4] = {inexact(A{}, word[0]), inexact(A{}, word[1]), inexact(A{}, word[2]),
                         inexact(A{}, word[3])};
  const unsigned b[2] = {inexact(A{}, word[4]), inexact(A{}, word[5])};
  float d[4];
  for (int i = 0; i < 4; ++i)
    d[i] = fractionOf(word[6 + i]);
  swage::multiply<A>(d, a, b);
  for (float value : d)
    results.add(value);
}
} // namespace

// Rows in any order, some of them more than once.
//
// launch: load_matrix grid=1 block=64 in=4096 out=3584 exact
extern "C" __global__ void load_matrix(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<4096>();
  const unsigned thread = swage::threadIndex();
  for (unsigned i = thread; i < 1024; i += 64)
    reinterpret_cast<unsigned *>(shared)[i] = in[i];
  swage::barrier();
  Results results{out + thread, 64};
  const swage::SharedAddress row = swage::sharedAddress(shared) + (in[thread] % 256u) * 16u;
  load<1, false>(results, row);
  load<1, true>(results, row);
  load<2, false>(results, row);
  load<2, true>(results, row);
  load<4, false>(results, row);
  load<4, true>(results, row);
}

// launch: transpose_matrix grid=1 block=64 in=256 out=256 exact
extern "C" __global__ void transpose_matrix(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  out[thread] = swage::transposeMatrix(in[thread]);
}

// Small integers, whose sums are exact: this shows which element goes where.
//
// launch: multiply_f16_f16 grid=1 block=64 in=4096 out=1024 exact
extern "C" __global__ void multiply_f16_f16(const unsigned *in, unsigned *out) {
  multiplyExactly<swage::f16, swage::f16>(in, out);
}

// launch: multiply_bf16_bf16 grid=1 block=64 in=4096 out=1024 exact
extern "C" __global__ void multiply_bf16_bf16(const unsigned *in, unsigned *out) {
  multiplyExactly<swage::bf16, swage::bf16>(in, out);
}

// launch: multiply_tf32_tf32 grid=1 block=64 in=4096 out=1024 exact
extern "C" __global__ void multiply_tf32_tf32(const unsigned *in, unsigned *out) {
  multiplyExactly<swage::tf32, swage::tf32>(in, out);
}

// launch: multiply_s8_s8 grid=1 block=64 in=4096 out=1024 exact
extern "C" __global__ void multiply_s8_s8(const unsigned *in, unsigned *out) {
  multiplyExactly<swage::s8, swage::s8>(in, out);
}

// launch: multiply_s8_u8 grid=1 block=64 in=4096 out=1024 exact
extern "C" __global__ void multiply_s8_u8(const unsigned *in, unsigned *out) {
  multiplyExactly<swage::s8, swage::u8>(in, out);
}

// launch: multiply_u8_s8 grid=1 block=64 in=4096 out=1024 exact
extern "C" __global__ void multiply_u8_s8(const unsigned *in, unsigned *out) {
  multiplyExactly<swage::u8, swage::s8>(in, out);
}

// launch: multiply_u8_u8 grid=1 block=64 in=4096 out=1024 exact
extern "C" __global__ void multiply_u8_u8(const unsigned *in, unsigned *out) {
  multiplyExactly<swage::u8, swage::u8>(in, out);
}

// Products are exact, and PTX says that their sum has at least the precision of float, rounded as
// it likes: 17 addends below 2^6, each off by one unit of the last of 24 bits.
//
// launch: multiply_f16_rounded grid=1 block=64 in=4096 out=1024 tolerance=1.3e-4
extern "C" __global__ void multiply_f16_rounded(const unsigned *in, unsigned *out) {
  multiplyClosely<swage::f16>(in, out);
}

// launch: multiply_bf16_rounded grid=1 block=64 in=4096 out=1024 tolerance=1.3e-4
extern "C" __global__ void multiply_bf16_rounded(const unsigned *in, unsigned *out) {
  multiplyClosely<swage::bf16>(in, out);
}

// launch: multiply_tf32_rounded grid=1 block=64 in=4096 out=1024 tolerance=1.3e-4
extern "C" __global__ void multiply_tf32_rounded(const unsigned *in, unsigned *out) {
  multiplyClosely<swage::tf32>(in, out);
}
