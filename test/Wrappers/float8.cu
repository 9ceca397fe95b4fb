// 8-bit floats, with every bit pattern.
//
// arch: sm_80
#include "swage/device/float8.cuh"

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

// Every pair of patterns.
// launch: widen_8 grid=128 block=512 in=4 out=2097152 exact
extern "C" __global__ void widen_8(const unsigned *in, unsigned *out) {
  const unsigned pattern = swage::blockIndex() * 512 + swage::threadIndex();
  Results results{out + pattern, 65536};
  float low, high;
  swage::widenPair(swage::e4m3{}, static_cast<unsigned short>(pattern), low, high);
  results.add(low);
  results.add(high);
  swage::widenPair(swage::e5m2{}, static_cast<unsigned short>(pattern), low, high);
  results.add(low);
  results.add(high);
  results.add(swage::widen(swage::e4m3{static_cast<unsigned char>(pattern)}));
  results.add(swage::widen(swage::e5m2{static_cast<unsigned char>(pattern)}));
  results.add(swage::roundTo<swage::e4m3>(low));
  results.add(swage::roundTo<swage::e5m2>(high));
}

// Random floats; ones around the range of each type; and ties.
// launch: narrow_8 grid=64 block=256 in=131072 out=524288 exact
extern "C" __global__ void narrow_8(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  Results results{out + thread, 16384};
  const unsigned a = in[thread], b = in[16384 + thread];
  const float wild = swage::bitCast<float>(a);
  const unsigned tame4 = (a & 0x807fffffu) | (115u + b % 23u) << 23;
  const unsigned tame5 = (a & 0x807fffffu) | (108u + b % 38u) << 23;
  const float tie4 = swage::bitCast<float>((tame4 & ~0xfffffu) | 0x80000u);
  const float tie5 = swage::bitCast<float>((tame5 & ~0x1fffffu) | 0x100000u);
  results.add(swage::narrow<swage::e4m3>(wild).bits);
  results.add(swage::narrow<swage::e5m2>(wild).bits);
  results.add(swage::narrow<swage::e4m3>(swage::bitCast<float>(tame4)).bits);
  results.add(swage::narrow<swage::e5m2>(swage::bitCast<float>(tame5)).bits);
  results.add(swage::narrow<swage::e4m3>(tie4).bits);
  results.add(swage::narrow<swage::e5m2>(tie5).bits);
  results.add(swage::narrowPair(swage::e4m3{}, swage::bitCast<float>(tame4), wild));
  results.add(swage::narrowPair(swage::e5m2{}, wild, swage::bitCast<float>(tame5)));
}
