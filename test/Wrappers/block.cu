// A thread's place, the barriers of a block, its shared memory.
//
// arch: sm_80
#include "swage/device/shared.cuh"

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

// launch: places grid=3 block=96 in=4 out=3456 exact
extern "C" __global__ void places(const unsigned *in, unsigned *out) {
  Results results{out + swage::blockIndex() * 96 + swage::threadIndex(), 288};
  results.add(swage::threadIndex());
  results.add(swage::blockIndex());
  results.add(swage::lastBlockIndex());
}

// launch: barriers grid=2 block=128 in=1024 out=10240 exact
extern "C" __global__ void barriers(const unsigned *in, unsigned *out) {
  auto *shared = reinterpret_cast<unsigned *>(swage::arena<512>());
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 128 + own;
  Results results{out + thread, 256};
  const unsigned value = in[thread];
  shared[own] = value;
  swage::barrier();
  results.add(shared[127 - own]);
  results.add(swage::barrierCount(value & 1u));
  results.add(swage::barrierAny((value & 0xffu) == 0));
  results.add(swage::barrierAny(false));
  results.add(swage::barrierAny(own == 77));
  results.add(swage::barrierAll((value & 0xffu) != 0));
  results.add(swage::barrierAll(true));
  results.add(swage::barrierAll(own != 3));
  // Each also orders shared memory.
  shared[own] = value + 1;
  results.add(swage::barrierCount(own < 5));
  results.add(shared[own ^ 64u]);
}

// Two warps write and go on, two wait for them; then the other way around; then pairs of warps.
// launch: named_barriers grid=2 block=128 in=1024 out=3072 exact
extern "C" __global__ void named_barriers(const unsigned *in, unsigned *out) {
  auto *shared = reinterpret_cast<unsigned *>(swage::arena<1024>());
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 128 + own;
  Results results{out + thread, 256};
  const unsigned value = in[thread];
  const bool first = own < 64;
  if (first) {
    shared[own] = value;
    swage::namedBarrierArrive(1, 128);
    swage::namedBarrier(2, 128);
    results.add(shared[64 + (own ^ 5u)]);
  } else {
    swage::namedBarrier(1, 128);
    results.add(shared[own - 64]);
    shared[64 + own - 64] = value * 7;
    swage::namedBarrierArrive(2, 128);
  }
  shared[128 + own] = value + own;
  const int pair = static_cast<int>(own / 64);
  swage::namedBarrier(14 + pair, 64);
  results.add(shared[128 + (own ^ 63u)]);
  swage::namedBarrier(7, 128);
  results.add(shared[128 + (own ^ 127u)]);
}

// launch: shared_memory grid=2 block=64 shared=8192 in=512 out=3072 exact
extern "C" __global__ void shared_memory(const unsigned *in, unsigned *out) {
  char *fixed = swage::arena<1024>();
  char *dynamic = swage::dynamicArena();
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 64 + own;
  Results results{out + thread, 128};
  results.add(swage::dynamicArenaBytes());
  results.add(swage::sharedAddress(dynamic) % 1024);
  results.add(swage::sharedAddress(fixed + 4 * own) - swage::sharedAddress(fixed));
  results.add(swage::sharedAddress(dynamic + 128 * own) - swage::sharedAddress(dynamic));
  *reinterpret_cast<unsigned *>(fixed + 4 * own) = in[thread];
  *reinterpret_cast<unsigned *>(dynamic + 128 * own + 124) = in[thread] * 3;
  swage::barrier();
  results.add(*reinterpret_cast<unsigned *>(fixed + 4 * (own ^ 33u)));
  results.add(*reinterpret_cast<unsigned *>(dynamic + 128 * (own ^ 33u) + 124));
}
