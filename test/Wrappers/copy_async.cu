// cp.async of every size, whole and cut short, in groups.
//
// arch: sm_80
#include "swage/device/copy_async.cuh"

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
template <int Bytes> __device__ void copies(char *shared, const unsigned *in, Results &results) {
  const unsigned thread = swage::threadIndex();
  const char *from = reinterpret_cast<const char *>(in) + Bytes * (in[thread] % 64u);
  char *own = shared + Bytes * thread, *other = shared + 1024 + Bytes * thread;
  swage::copyAsync<Bytes>(swage::sharedAddress(own), from);
  swage::copyAsyncCommit();
  swage::copyAsync<Bytes>(swage::sharedAddress(other), from + Bytes * 64,
                          static_cast<int>(thread % (Bytes + 1)));
  swage::copyAsyncCommit();
  swage::copyAsyncWait<1>();
  for (int i = 0; i < Bytes; i += 4)
    results.add(*reinterpret_cast<unsigned *>(own + i));
  swage::copyAsyncWait<0>();
  for (int i = 0; i < Bytes; i += 4)
    results.add(*reinterpret_cast<unsigned *>(other + i));
  // What others copied, after a barrier.
  swage::barrier();
  results.add(*reinterpret_cast<unsigned *>(shared + Bytes * (thread ^ 13u)));
  swage::barrier();
}
} // namespace

// launch: copy_async grid=2 block=64 in=4096 out=8704 exact
extern "C" __global__ void copy_async(const unsigned *in, unsigned *out) {
  Results results{out + swage::blockIndex() * 64 + swage::threadIndex(), 128};
  char *shared = swage::arena<2048>();
  copies<4>(shared, in, results);
  copies<8>(shared, in, results);
  copies<16>(shared, in, results);
}

// A pipeline of three stages.
//
// launch: copy_pipeline grid=1 block=128 in=16384 out=16384 exact
extern "C" __global__ void copy_pipeline(const unsigned *in, unsigned *out) {
  constexpr unsigned kStages = 3, kSteps = 8;
  char *shared = swage::arena<kStages * 2048>();
  const unsigned thread = swage::threadIndex();
  for (unsigned step = 0; step < kStages - 1; ++step) {
    swage::copyAsync<16>(swage::sharedAddress(shared + step * 2048 + thread * 16),
                         in + step * 512 + thread * 4);
    swage::copyAsyncCommit();
  }
  for (unsigned step = 0; step < kSteps; ++step) {
    swage::copyAsyncWait<kStages - 2>();
    swage::barrier();
    const unsigned next = step + kStages - 1;
    if (next < kSteps)
      swage::copyAsync<16>(swage::sharedAddress(shared + next % kStages * 2048 + thread * 16),
                           in + next * 512 + thread * 4);
    swage::copyAsyncCommit(); // an empty group where there is none
    const auto *words = reinterpret_cast<const unsigned *>(shared + step % kStages * 2048);
    for (unsigned i = 0; i < 4; ++i)
      out[step * 512 + i * 128 + thread] = words[511 - (i * 128 + thread)] + step;
  }
}
