// What matrix.cuh has only on newer hardware: stmatrix, and mma.sync of 8-bit floats.
//
// arch: sm_90
#include "swage/device/float8.cuh"
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
__device__ void store(Results &results, const unsigned *in, char *shared) {
  const unsigned lane = swage::laneIndex();
  auto *words = reinterpret_cast<unsigned *>(shared);
  for (unsigned i = lane; i < 128; i += 32)
    words[i] = 0x11111111u * (i % 16);
  swage::syncWarp();
  unsigned registers[Count];
  for (int i = 0; i < Count; ++i)
    registers[i] = in[32 * i + lane];
  // Every row once, in an order that depends on the input.
  const unsigned row = (lane * (2 * (in[0] % 16) + 1) + in[1]) % 32;
  swage::storeMatrix<Count, Transposed>(swage::sharedAddress(shared) + 16 * row, registers);
  swage::syncWarp();
  for (unsigned i = lane; i < 128; i += 32)
    results.add(words[i]);
  swage::syncWarp();
}

/// Integers between -7 and 7, or numbers between -1 and 1.
__device__ float elementOf(unsigned bits, bool isExact) {
  if (isExact)
    return static_cast<float>(static_cast<int>(bits % 15u) - 7);
  return swage::bitCast<float>(bits << 31 | (123u + bits % 4u) << 23 | (bits & 0xf0u) << 15);
}
template <class T> __device__ unsigned registerOf(unsigned bits, bool isExact) {
  const unsigned low = swage::narrowPair(T{}, elementOf(bits & 0xffu, isExact),
                                         elementOf(bits >> 8 & 0xffu, isExact));
  const unsigned high = swage::narrowPair(T{}, elementOf(bits >> 16 & 0xffu, isExact),
                                          elementOf(bits >> 24, isExact));
  return high << 16 | low;
}

template <class A, class B>
__device__ void multiply(Results &results, const unsigned *in, bool isExact) {
  const unsigned *word = in + 16 * swage::threadIndex();
  const unsigned a[4] = {registerOf<A>(word[0], isExact), registerOf<A>(word[1], isExact),
                         registerOf<A>(word[2], isExact), registerOf<A>(word[3], isExact)};
  const unsigned b[2] = {registerOf<B>(word[4], isExact), registerOf<B>(word[5], isExact)};
  float d[4] = {};
  if (isExact)
    for (int i = 0; i < 4; ++i)
      d[i] = elementOf(word[6 + i], true);
  swage::multiply<A, B>(d, a, b);
  for (float value : d)
    results.add(value);
}
} // namespace

// launch: store_matrix grid=1 block=32 in=512 out=3072 exact
extern "C" __global__ void store_matrix(const unsigned *in, unsigned *out) {
  char *shared = swage::arena<512>();
  Results results{out + swage::threadIndex(), 32};
  store<1, false>(results, in, shared);
  store<1, true>(results, in, shared);
  store<2, false>(results, in, shared);
  store<2, true>(results, in, shared);
  store<4, false>(results, in, shared);
  store<4, true>(results, in, shared);
}

// Small integers, whose sums are exact even in few bits.
//
// launch: multiply_float8 grid=1 block=64 in=4096 out=4096 exact
extern "C" __global__ void multiply_float8(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  multiply<swage::e4m3, swage::e4m3>(results, in, true);
  multiply<swage::e4m3, swage::e5m2>(results, in, true);
  multiply<swage::e5m2, swage::e4m3>(results, in, true);
  multiply<swage::e5m2, swage::e5m2>(results, in, true);
}

// 32 addends below 1, whose sum is below 2^5: where it has no more than 13 bits behind the leading
// one, as on some hardware, each is off by 2^-8.
//
// launch: multiply_float8_rounded grid=1 block=64 in=4096 out=4096 tolerance=0.125
extern "C" __global__ void multiply_float8_rounded(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  multiply<swage::e4m3, swage::e4m3>(results, in, false);
  multiply<swage::e4m3, swage::e5m2>(results, in, false);
  multiply<swage::e5m2, swage::e4m3>(results, in, false);
  multiply<swage::e5m2, swage::e5m2>(results, in, false);
}
