// Arithmetic on pairs of 16-bit floats; and what keys and values of 8 bits become.
//
// arch: sm_80
#include "swage/attention_narrow.cuh"

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

// Random pairs, and ones of numbers of about the same size.
// launch: pairs grid=64 block=128 in=65536 out=196608 exact
extern "C" __global__ void pairs(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 128 + swage::threadIndex();
  Results results{out + thread, 8192};
  const unsigned a = in[thread], b = in[8192 + thread];
  const unsigned near16 = (a & 0x7c007c00u) | (b & 0x83ff83ffu),
                 nearB16 = (a & 0x7f807f80u) | (b & 0x807f807fu);
  results.add(swage::subtractPairs(swage::f16{}, a, b));
  results.add(swage::subtractPairs(swage::f16{}, a, near16));
  results.add(swage::subtractPairs(swage::bf16{}, a, b));
  results.add(swage::subtractPairs(swage::bf16{}, a, nearB16));
  results.add(swage::multiplyPairs(swage::f16{}, a, b));
  results.add(swage::multiplyPairs(swage::f16{}, a, 0x14002c00u)); // 2^-10 and 2^-4
}

namespace {
template <class Element, class Cache> __device__ void widenEach(Results &results, unsigned word) {
  using swage::detail::widenTwo;
  results.add(widenTwo<0, 1>(Element{}, Cache{}, word));
  results.add(widenTwo<2, 3>(Element{}, Cache{}, word));
  results.add(widenTwo<0, 2>(Element{}, Cache{}, word));
  results.add(widenTwo<1, 3>(Element{}, Cache{}, word));
}
} // namespace

// Every byte in each place of a word.
// launch: widen_two grid=1 block=256 in=4 out=24576 exact
extern "C" __global__ void widen_two(const unsigned *in, unsigned *out) {
  const unsigned word = swage::threadIndex() * 0x01010101u ^ 0xc0351a00u;
  Results results{out + swage::threadIndex(), 256};
  widenEach<swage::f16, swage::s8>(results, word);
  widenEach<swage::bf16, swage::s8>(results, word);
  widenEach<swage::f16, swage::e4m3>(results, word);
  widenEach<swage::bf16, swage::e4m3>(results, word);
  widenEach<swage::f16, swage::e5m2>(results, word);
  widenEach<swage::bf16, swage::e5m2>(results, word);
}
