// Atomic operations: each by itself in a place of its own thread, then many threads at one place,
// where only what does not depend on their order is kept; and signals between blocks.
//
// arch: sm_80
#include "swage/device/atomic.cuh"
#include "swage/device/vote.cuh"

namespace {
constexpr unsigned kThreads = 64;

template <class T> __device__ T valueOf(const unsigned *in, unsigned thread, unsigned i) {
  const unsigned *word = in + 2 * kThreads * i + thread;
  const unsigned long long wide = static_cast<unsigned long long>(word[kThreads]) << 32 | word[0];
  // Floats: no infinity nor NaN, and every fourth one a denormal.
  if constexpr (swage::IsFloating<T> && sizeof(T) == 4)
    return swage::bitCast<float>(word[0] & (thread % 4 == 3 ? 0x807fffffu : 0xbfffffffu));
  else if constexpr (swage::IsFloating<T>)
    return swage::bitCast<double>(
        wide & (thread % 4 == 3 ? 0x800fffffffffffffull : 0xbfffffffffffffffull));
  else
    return static_cast<T>(wide);
}

enum class Kind { Bits, Wide, Float };
template <class T> constexpr Kind kKind = swage::IsFloating<T> ? Kind::Float : Kind::Bits;
template <> constexpr Kind kKind<long long> = Kind::Wide; // only minimum and maximum

// After each: what was there before, then what is there now, of all threads.
#define GLOBAL(...)                                                                                \
  {                                                                                                \
    T *at = to + kThreads + thread;                                                                \
    *at = a;                                                                                       \
    to[thread] = __VA_ARGS__;                                                                      \
    to += 2 * kThreads;                                                                            \
  }
#define SHARED(...)                                                                                \
  {                                                                                                \
    *pointer = a;                                                                                  \
    to[thread] = __VA_ARGS__;                                                                      \
    to[kThreads + thread] = *pointer;                                                              \
    to += 2 * kThreads;                                                                            \
  }

template <class T> __device__ void global(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  const T a = valueOf<T>(in, thread, 0), b = valueOf<T>(in, thread, 1);
  T *to = reinterpret_cast<T *>(out);
  if constexpr (kKind<T> != Kind::Wide) {
    GLOBAL(swage::atomicAdd(at, b))
    GLOBAL(swage::addRelease(at, b))
    GLOBAL(swage::atomicExchange(at, b))
  }
  if constexpr (kKind<T> != Kind::Float) {
    GLOBAL(swage::atomicMin(at, b))
    GLOBAL(swage::atomicMax(at, b))
    GLOBAL(swage::loadAcquire(at))
    GLOBAL((swage::storeRelease(at, b), b))
    GLOBAL(swage::loadRelaxed(at))
    GLOBAL((swage::storeRelaxed(at, b), b))
  }
  if constexpr (kKind<T> == Kind::Bits) {
    GLOBAL(swage::atomicAnd(at, b))
    GLOBAL(swage::atomicOr(at, b))
    GLOBAL(swage::atomicXor(at, b))
    GLOBAL(swage::atomicCompareExchange(at, thread % 2 ? a : b, b))
  }
}

template <class T> __device__ void shared(const unsigned *in, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  const T a = valueOf<T>(in, thread, 0), b = valueOf<T>(in, thread, 1);
  T *to = reinterpret_cast<T *>(out);
  T *pointer = reinterpret_cast<T *>(swage::arena<512>()) + thread;
  const swage::SharedAddress at = swage::sharedAddress(pointer);
  if constexpr (kKind<T> != Kind::Wide) {
    SHARED(swage::atomicAddShared(at, b))
    SHARED(swage::atomicExchangeShared(at, b))
  }
  if constexpr (kKind<T> != Kind::Float) {
    SHARED(swage::atomicMinShared(at, b))
    SHARED(swage::atomicMaxShared(at, b))
  }
  if constexpr (kKind<T> == Kind::Bits) {
    SHARED(swage::atomicAndShared(at, b))
    SHARED(swage::atomicOrShared(at, b))
    SHARED(swage::atomicXorShared(at, b))
    SHARED(swage::atomicCompareExchangeShared(at, thread % 2 ? a : b, b))
  }
}
#undef SHARED
#undef GLOBAL
} // namespace

// launch: atomic_u32 grid=1 block=64 in=1024 out=6656 exact
extern "C" __global__ void atomic_u32(const unsigned *in, unsigned *out) {
  global<unsigned>(in, out);
}
// launch: atomic_shared_u32 grid=1 block=64 in=1024 out=4096 exact
extern "C" __global__ void atomic_shared_u32(const unsigned *in, unsigned *out) {
  shared<unsigned>(in, out);
}

// launch: atomic_s32 grid=1 block=64 in=1024 out=6656 exact
extern "C" __global__ void atomic_s32(const unsigned *in, unsigned *out) { global<int>(in, out); }
// launch: atomic_shared_s32 grid=1 block=64 in=1024 out=4096 exact
extern "C" __global__ void atomic_shared_s32(const unsigned *in, unsigned *out) {
  shared<int>(in, out);
}

// launch: atomic_u64 grid=1 block=64 in=1024 out=13312 exact
extern "C" __global__ void atomic_u64(const unsigned *in, unsigned *out) {
  global<unsigned long long>(in, out);
}
// launch: atomic_shared_u64 grid=1 block=64 in=1024 out=8192 exact
extern "C" __global__ void atomic_shared_u64(const unsigned *in, unsigned *out) {
  shared<unsigned long long>(in, out);
}

// launch: atomic_s64 grid=1 block=64 in=1024 out=6144 exact
extern "C" __global__ void atomic_s64(const unsigned *in, unsigned *out) {
  global<long long>(in, out);
}
// launch: atomic_shared_s64 grid=1 block=64 in=1024 out=2048 exact
extern "C" __global__ void atomic_shared_s64(const unsigned *in, unsigned *out) {
  shared<long long>(in, out);
}

// launch: atomic_f32 grid=1 block=64 in=1024 out=1536 exact
extern "C" __global__ void atomic_f32(const unsigned *in, unsigned *out) { global<float>(in, out); }
// launch: atomic_shared_f32 grid=1 block=64 in=1024 out=1024 exact
extern "C" __global__ void atomic_shared_f32(const unsigned *in, unsigned *out) {
  shared<float>(in, out);
}

// launch: atomic_f64 grid=1 block=64 in=1024 out=3072 exact
extern "C" __global__ void atomic_f64(const unsigned *in, unsigned *out) {
  global<double>(in, out);
}
// launch: atomic_shared_f64 grid=1 block=64 in=1024 out=2048 exact
extern "C" __global__ void atomic_shared_f64(const unsigned *in, unsigned *out) {
  shared<double>(in, out);
}

// Many threads at one place, in each of two blocks; floats are integers, so that sums are exact.
// Words of `out`: 16 of each block in global memory, then 16 of each copied from shared memory.
//
// launch: atomic_crowd grid=2 block=128 in=1024 out=256 exact
extern "C" __global__ void atomic_crowd(const unsigned *in, unsigned *out) {
  const unsigned own = swage::threadIndex(), thread = swage::blockIndex() * 128 + own;
  auto *shared = reinterpret_cast<unsigned *>(swage::arena<64>());
  unsigned *to = out + 16 * swage::blockIndex();
  if (own < 16) {
    const unsigned start = own == 3 ? 0xffffffffu : own == 5 ? 0x7fffffffu : 0u;
    to[own] = start;
    shared[own] = start;
  }
  swage::barrier();
  const unsigned value = in[thread];
  const auto number = static_cast<float>(value % 1000u) - 300.0f;
  const swage::SharedAddress at = swage::sharedAddress(shared);
  swage::atomicAdd(to, value);
  swage::atomicAddShared(at, value);
  swage::atomicAdd(reinterpret_cast<float *>(to + 1), number);
  swage::atomicAddShared(at + 4, number);
  swage::atomicMax(to + 2, value);
  swage::atomicMaxShared(at + 8, value);
  swage::atomicMin(to + 3, value);
  swage::atomicMinShared(at + 12, value);
  swage::atomicMax(reinterpret_cast<int *>(to + 4), static_cast<int>(value));
  swage::atomicMaxShared(at + 16, static_cast<int>(value));
  swage::atomicMin(reinterpret_cast<int *>(to + 5), static_cast<int>(value));
  swage::atomicMinShared(at + 20, static_cast<int>(value));
  swage::atomicOr(to + 6, 1u << value % 32);
  swage::atomicOrShared(at + 24, 1u << value % 32);
  swage::atomicXor(to + 7, value);
  swage::atomicXorShared(at + 28, value);
  swage::atomicAdd(reinterpret_cast<unsigned long long *>(to + 8), value);
  swage::atomicAddShared(at + 32, static_cast<unsigned long long>(value));
  swage::atomicAdd(reinterpret_cast<double *>(to + 10), number);
  swage::atomicAddShared(at + 40, static_cast<double>(number));
  // A sum by compare and exchange.
  unsigned seen = 0;
  for (unsigned old; (old = swage::atomicCompareExchange(to + 12, seen, seen + value)) != seen;)
    seen = old;
  seen = 0;
  for (unsigned old;
       (old = swage::atomicCompareExchangeShared(at + 48, seen, seen + value)) != seen;)
    seen = old;
  // What all have taken out, and what stays, is what all have put in.
  swage::atomicXor(to + 14, swage::atomicExchange(to + 13, value));
  swage::atomicXorShared(at + 56, swage::atomicExchangeShared(at + 52, value));
  swage::barrier();
  if (own == 0) {
    swage::atomicXor(to + 14, swage::atomicExchange(to + 13, 0u));
    swage::atomicXorShared(at + 56, swage::atomicExchangeShared(at + 52, 0u));
  }
  swage::barrier();
  if (own < 16)
    out[32 + 16 * swage::blockIndex() + own] = shared[own];
}

// Each block waits for the one before, adds to what that one wrote, and lets the next one go; in
// the end all wait for all.  Flags begin as 0xffffffff.
//
// launch: signals grid=4 block=64 in=1024 out=2240 exact
extern "C" __global__ void signals(const unsigned *in, unsigned *out) {
  const unsigned own = swage::threadIndex(), block = swage::blockIndex();
  unsigned *flag = out + 512, *counter = out + 544;
  auto *wide = reinterpret_cast<unsigned long long *>(out + 528);
  if (block > 0) {
    if (own == 0) {
      while (swage::loadAcquire(flag + block - 1) == 0xffffffffu)
        swage::pause();
      while (swage::loadAcquire(wide + block - 1) == ~0ull)
        swage::pause();
    }
    swage::barrier();
  }
  const unsigned before = block > 0 ? swage::loadAcquire(out + 64 * (block - 1) + own) : 0u;
  out[64 * block + own] = before * 3u + in[64 * block + own];
  swage::barrier();
  if (own == 0) {
    swage::storeRelease(flag + block, block);
    swage::storeRelease(wide + block, static_cast<unsigned long long>(block) << 40);
  }
  if (own == 0) {
    swage::fenceGpu();
    swage::addRelease(counter, 1u);
    while (swage::loadAcquire(counter) != 3u)
      swage::pause();
  }
  swage::barrier();
  out[256 + 64 * block + own] = swage::loadAcquire(out + 64 * (3 - block) + own);
}
