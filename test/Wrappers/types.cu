// 16-bit storage types, with every bit pattern.
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

// All 65536 patterns.
// launch: widen_16 grid=128 block=512 in=4 out=1835008 exact
extern "C" __global__ void widen_16(const unsigned *in, unsigned *out) {
  const unsigned pattern = swage::blockIndex() * 512 + swage::threadIndex();
  Results results{out + pattern, 65536};
  const auto bits = static_cast<unsigned short>(pattern);
  results.add(swage::widen(swage::f16{bits}));
  results.add(swage::widen(swage::bf16{bits}));
  results.add(swage::widen(swage::bits16{bits}));
  const unsigned pair = pattern << 16 | (pattern ^ 0xffffu);
  results.add(swage::widenHalf(swage::f16{}, pair, false));
  results.add(swage::widenHalf(swage::f16{}, pair, true));
  results.add(swage::widenHalf(swage::bf16{}, pair, pattern & 1u));
  results.add(swage::widenHalf(swage::bits16{}, pair, pattern & 1u));
}

// Random floats, and ones with f16's exponents, where rounding has work to do.
// launch: narrow_16 grid=64 block=256 in=131072 out=720896 exact
extern "C" __global__ void narrow_16(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 256 + swage::threadIndex();
  Results results{out + thread, 16384};
  const unsigned a = in[thread], b = in[16384 + thread];
  const float wild = swage::bitCast<float>(a);
  const float tame = swage::bitCast<float>((a & 0x807fffffu) | (98u + b % 48u) << 23);
  // Halfway between two of f16, and of bf16.
  const float tie16 = swage::bitCast<float>((swage::bitCast<unsigned>(tame) & ~0x1fffu) | 0x1000u);
  const float tieB16 = swage::bitCast<float>((a & 0xffff0000u) | 0x8000u);
  results.add(swage::narrow<swage::f16>(wild).bits);
  results.add(swage::narrow<swage::f16>(tame).bits);
  results.add(swage::narrow<swage::f16>(tie16).bits);
  results.add(swage::narrow<swage::bf16>(wild).bits);
  results.add(swage::narrow<swage::bf16>(tieB16).bits);
  results.add(swage::narrow<swage::bits16>(static_cast<unsigned short>(a)).bits);
  results.add(swage::narrowPair(swage::f16{}, tame, wild));
  results.add(swage::narrowPair(swage::bf16{}, tieB16, wild));
  results.add(swage::narrowPair(swage::bits16{}, static_cast<unsigned short>(a),
                                static_cast<unsigned short>(b)));
  results.add(swage::roundTo<swage::f16>(tame));
  results.add(swage::roundTo<swage::bf16>(tame));
}
