// High products, byte permutes, counts of bits.
//
// arch: sm_80
#include "swage/device/device.cuh"

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

// launch: bits grid=4 block=128 in=16384 out=32768 exact
extern "C" __global__ void bits(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 128 + swage::threadIndex();
  Results results{out + thread, 512};
  const unsigned a = in[thread], b = in[512 + thread], c = in[1024 + thread] >> (a & 31u);
  const unsigned long long wide = static_cast<unsigned long long>(a) << 32 | b;
  const unsigned long long narrow = wide >> (c & 63u);
  results.add(swage::mulHigh(a, b));
  results.add(swage::mulHigh(wide, ~narrow));
  results.add(swage::permuteBytes(a, b, 0x3210));
  results.add(swage::permuteBytes(a, b, 0x5140));
  results.add(swage::permuteBytes(a, b, c & 0x7777u));
  results.add(swage::popCount(c));
  results.add(swage::popCount(narrow));
  results.add(swage::leadingZeros(c));
  results.add(swage::leadingZeros(narrow));
  results.add(swage::leadingZeros(0u));
  results.add(swage::leadingZeros(0ull));
  results.add(swage::bitCast<unsigned>(swage::bitCast<int>(a)));
  results.add(swage::bitCast<double>(wide & 0xbfffffffffffffffull));
  results.add(swage::maskedXor(a, b, c));
}
