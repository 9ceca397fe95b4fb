// The functions of float and double that the templates themselves call.
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

namespace {
/// The i-th random double of this thread.
__device__ double doubleOf(const unsigned *in, unsigned thread, unsigned i) {
  const unsigned *word = in + (2 * i) * 8192 + thread;
  return swage::bitCast<double>(static_cast<unsigned long long>(word[8192]) << 32 | word[0]);
}
} // namespace

// Which of two, on random bits, on equal numbers and on zeros of both signs.
// launch: extrema grid=64 block=128 in=131072 out=917504 exact
extern "C" __global__ void extrema(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 128 + swage::threadIndex();
  Results results{out + thread, 8192};
  for (int i = 0; i < 3; ++i) {
    float x = swage::bitCast<float>(in[thread]), y = swage::bitCast<float>(in[8192 + thread]);
    if (i == 1)
      y = swage::bitCast<float>(in[thread] ^ 0x80000000u);
    if (i == 2) {
      x = swage::bitCast<float>(in[thread] & 0x80000000u);
      y = swage::bitCast<float>(in[8192 + thread] & 0x80000000u);
    }
    results.add(swage::maximumOf(x, y));
    results.add(swage::minimumOf(x, y));
    results.add(swage::maximumNumberOf(x, y));
    results.add(swage::minimumNumberOf(x, y));
  }
  const float x = swage::bitCast<float>(in[thread]), y = swage::bitCast<float>(in[8192 + thread]);
  const double wideX = doubleOf(in, thread, 0), wideY = doubleOf(in, thread, 1);
  const bool isNan = wideX != wideX || wideY != wideY;
  results.add(isNan ? 0.0 : swage::maximumOf(wideX, wideY));
  results.add(isNan ? 0.0 : swage::minimumOf(wideX, wideY));
  results.add(isNan ? 0.0 : swage::maximumNumberOf(wideX, wideY));
  results.add(isNan ? 0.0 : swage::minimumNumberOf(wideX, wideY));
  results.add(swage::maximumOf(x, swage::bitCast<float>(0x7fc00001u)));
  results.add(swage::minimumOf(swage::bitCast<float>(0xffc00001u), y));
  results.add(swage::maximumNumberOf(x, swage::bitCast<float>(0x7f800001u)));
  results.add(swage::minimumNumberOf(swage::bitCast<float>(0xffc00001u), y));
  results.add(swage::IsFloating<float> && swage::IsFloating<double> && !swage::IsFloating<int>);
  results.add(swage::infinity());
  results.add(0u);
}

// launch: reciprocals grid=64 block=128 in=32768 out=32768 ulp=1
extern "C" __global__ void reciprocals(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 128 + swage::threadIndex();
  Results results{out + thread, 8192};
  results.add(swage::reciprocal(swage::bitCast<float>(in[thread])));
}

// exp has 2 units on the GPU, rsqrt 2; the simulator's own are within 1.
// launch: exponentials grid=64 block=128 in=65536 out=131072 ulp=3
extern "C" __global__ void exponentials(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 128 + swage::threadIndex();
  Results results{out + thread, 8192};
  const unsigned bits = in[thread];
  results.add(swage::exp(swage::bitCast<float>(bits)));
  // Exponents where the result is a number.
  results.add(swage::exp(
      swage::bitCast<float>((bits & 0x807fffffu) | (110u + in[8192 + thread] % 24u) << 23)));
  results.add(swage::rsqrt(swage::bitCast<float>(bits)));
  results.add(swage::rsqrt(swage::bitCast<float>(bits & 0x7fffffffu)));
}

// launch: exponentials_64 grid=64 block=128 in=131072 out=262144 ulp64=3
extern "C" __global__ void exponentials_64(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 128 + swage::threadIndex();
  auto *wide = reinterpret_cast<double *>(out) + thread;
  const double x = doubleOf(in, thread, 0), y = doubleOf(in, thread, 1);
  const auto bits = swage::bitCast<unsigned long long>(x);
  wide[0] = swage::exp(x);
  wide[8192] = swage::exp(swage::bitCast<double>(
      (bits & 0x800fffffffffffffull) |
      (1000ull + (swage::bitCast<unsigned long long>(y) >> 20) % 33u) << 52));
  wide[16384] = swage::rsqrt(swage::bitCast<double>(bits & 0x7fffffffffffffffull));
  wide[24576] = swage::reciprocal(y);
}
