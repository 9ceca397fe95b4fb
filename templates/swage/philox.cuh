// Random bits that depend on nothing but a seed and a position: Philox4x32-10 (Salmon, Moraes, Dror
// and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011).
//
// Ten rounds of two 32-bit multiplications scramble a counter under a key into four words.  The
// word at position n of the stream (seed, offset) is word n mod 4 of the counter offset + n / 4,
// which is 64 bits wide and the lower half of the 128-bit counter; the key is the seed.
#pragma once

#include "swage/numeric.cuh"

namespace swage {

struct RandomStream {
  unsigned long long seed, offset;

  /// The words at `position`, which is a multiple of V, and behind it.
  template <int V>
  __device__ __forceinline__ void read(unsigned long long position, unsigned (&words)[V]) const {
    static_assert(powerOfTwoAbove(V) == V);
    const unsigned long long counter = offset + position / 4;
    if constexpr (V >= 4) {
#pragma unroll
      for (int i = 0; i < V / 4; ++i)
        block(counter + i, words + 4 * i);
    } else {
      unsigned four[4];
      block(counter, four);
#pragma unroll
      for (int i = 0; i < V; ++i) {
        const bool second = V == 1 ? (position & 1) != 0 : i != 0;
        const unsigned low = second ? four[1] : four[0], high = second ? four[3] : four[2];
        words[i] = (position & 2) != 0 ? high : low;
      }
    }
  }

  /// The four words of a counter.
  __device__ __forceinline__ void block(unsigned long long counter, unsigned *words) const {
    unsigned c0 = static_cast<unsigned>(counter), c1 = static_cast<unsigned>(counter >> 32);
    unsigned c2 = 0, c3 = 0;
    unsigned key0 = static_cast<unsigned>(seed), key1 = static_cast<unsigned>(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const unsigned long long a = multiplyWide(c0, 0xD2511F53u), b = multiplyWide(c2, 0xCD9E8D57u);
      c0 = static_cast<unsigned>(b >> 32) ^ c1 ^ key0;
      c2 = static_cast<unsigned>(a >> 32) ^ c3 ^ key1;
      c1 = static_cast<unsigned>(b);
      c3 = static_cast<unsigned>(a);
      key0 += 0x9E3779B9u; // the golden ratio
      key1 += 0xBB67AE85u; // sqrt(3) - 1
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
  }
};

} // namespace swage
