// Shuffles of every width and type, and syncWarp.
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
struct alignas(16) Quad {
  unsigned word[4];
};

/// Test::run with a value of each type, made of this thread's input.
template <class Test>
__device__ void eachType(const unsigned *in, unsigned thread, Results &results) {
  const unsigned *word = in + 4 * thread;
  const unsigned long long wide = static_cast<unsigned long long>(word[2]) << 32 | word[1];
  Test::run(in, results, static_cast<unsigned char>(word[0]));
  Test::run(in, results, swage::bits16{static_cast<unsigned short>(word[0] >> 8)});
  Test::run(in, results, word[0]);
  Test::run(in, results, static_cast<int>(word[1]));
  Test::run(in, results, swage::bitCast<float>(word[1]));
  Test::run(in, results, wide);
  Test::run(in, results, swage::bitCast<double>(wide));
  Test::run(in, results, Quad{{word[0], word[1], word[2], word[3]}});
}

struct Xor {
  template <class T> static __device__ void run(const unsigned *in, Results &results, T value) {
    constexpr int kMasks[] = {1, 2, 5, 8, 16, 31};
    for (int mask : kMasks)
      results.add(swage::shuffleXor(value, mask));
    for (int i = 0; i < 2; ++i) // no constant
      results.add(swage::shuffleXor(value, static_cast<int>(in[i] & 31u)));
  }
};
struct From {
  template <class T> static __device__ void run(const unsigned *in, Results &results, T value) {
    results.add(swage::shuffleFrom(value, 0));
    results.add(swage::shuffleFrom(value, static_cast<int>(in[swage::threadIndex()] & 31u)));
    for (int width = 32; width >= 1; width /= 2)
      for (int lane = 3; lane < 18; lane += 14)
        results.add(swage::shuffleFrom(value, lane, width));
  }
};
struct Up {
  template <class T> static __device__ void run(const unsigned *in, Results &results, T value) {
    for (int width = 32; width >= 1; width /= 2)
      for (unsigned delta = 0; delta < 9; delta += 3)
        results.add(swage::shuffleUp(value, delta, width));
    results.add(swage::shuffleUp(value, in[0] & 31u));
  }
};
struct Down {
  template <class T> static __device__ void run(const unsigned *in, Results &results, T value) {
    for (int width = 32; width >= 1; width /= 2)
      for (unsigned delta = 0; delta < 9; delta += 3)
        results.add(swage::shuffleDown(value, delta, width));
    results.add(swage::shuffleDown(value, in[0] & 31u));
  }
};
} // namespace

// launch: lanes grid=2 block=96 in=4 out=1536 exact
extern "C" __global__ void lanes(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::blockIndex() * 96 + swage::threadIndex();
  Results results{out + thread, 192};
  results.add(swage::laneIndex());
  results.add(swage::warpIndex());
}

// launch: shuffle_xor grid=1 block=64 in=1024 out=26624 exact
extern "C" __global__ void shuffle_xor(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  eachType<Xor>(in, swage::threadIndex(), results);
}

// launch: shuffle_from grid=1 block=64 in=1024 out=46592 exact
extern "C" __global__ void shuffle_from(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  eachType<From>(in, swage::threadIndex(), results);
}

// launch: shuffle_up grid=1 block=64 in=1024 out=63232 exact
extern "C" __global__ void shuffle_up(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  eachType<Up>(in, swage::threadIndex(), results);
}

// launch: shuffle_down grid=1 block=64 in=1024 out=63232 exact
extern "C" __global__ void shuffle_down(const unsigned *in, unsigned *out) {
  Results results{out + swage::threadIndex(), 64};
  eachType<Down>(in, swage::threadIndex(), results);
}

// Groups of lanes that go different ways.
// launch: shuffle_groups grid=1 block=32 in=128 out=768 exact
extern "C" __global__ void shuffle_groups(const unsigned *in, unsigned *out) {
  const unsigned lane = swage::laneIndex();
  Results results{out + lane, 32};
  const unsigned value = in[lane];
  if (lane < 16) {
    results.add(swage::shuffleXor(value, 5, 0xffffu));
    results.add(swage::shuffleDown(value, 3, 16, 0xffffu));
  } else if (lane < 24) {
    results.add(swage::shuffleFrom(value, 2, 8, 0xff0000u));
    results.add(swage::shuffleUp(value, 1, 4, 0xff0000u));
  } else if (lane % 2) {
    results.add(swage::shuffleXor(value, 2, 0xaa000000u));
    results.add(swage::shuffleXor(value, 4, 0xaa000000u));
  } else {
    results.add(swage::shuffleXor(value, 6, 0x55000000u));
    results.add(lane);
  }
  results.add(swage::shuffleXor(value, 16));
  for (unsigned i = 0; i < 3; ++i)
    results.add(in[i]);
}

// launch: sync_warp grid=1 block=64 in=256 out=768 exact
extern "C" __global__ void sync_warp(const unsigned *in, unsigned *out) {
  auto *shared = reinterpret_cast<unsigned *>(swage::arena<256>());
  const unsigned thread = swage::threadIndex(), first = thread & ~31u, lane = swage::laneIndex();
  Results results{out + thread, 64};
  shared[thread] = in[thread];
  swage::syncWarp();
  results.add(shared[first + (lane + 7) % 32]);
  swage::syncWarp();
  if (lane < 8) {
    shared[first + lane] = in[thread] * 3;
    swage::syncWarp(0xffu);
    results.add(shared[first + 7 - lane]);
  } else {
    shared[first + lane] = in[thread] * 5;
    swage::syncWarp(0xffffff00u);
    results.add(shared[first + 39 - lane]);
  }
  swage::syncWarp();
  results.add(shared[thread ^ 31u]);
}
