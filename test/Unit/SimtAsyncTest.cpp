//===- SimtAsyncTest.cpp - mbarriers and copies in kernels ----------------===//
//
// What runs beside threads gives the same result in every order and at every time, and what the
// hardware does not allow is reported.
//
//===----------------------------------------------------------------------===//
#include "HostCompiler.h"
#include "Launch.h"
#include "SimtTestSupport.h"
#include "TensorMap.h"

#include <cstring>
#include <fmt/format.h>
#include <numeric>

using namespace swage;
using namespace swage::simt;

namespace {

const char kKernels[] = R"(
#include "swage/device/atomic.cuh"
#include "swage/device/bulk.cuh"
#include "swage/device/cluster.cuh"
#include "swage/device/copy_async.cuh"
#include "swage/device/mbarrier.cuh"
#include "swage/device/shared.cuh"
#include "swage/device/vote.cuh"
using namespace swage;

// A producer warp and three consumer warps around a ring of three stages; out[tile] is the sum of the
// tile's 64 words, added up by the consumers.
extern "C" __global__ void ring(const unsigned *in, unsigned *out, int tiles) {
  char *shared = dynamicArena();
  const SharedAddress at = sharedAddress(shared), full = at + 3 * 256, empty = full + 24;
  if (threadIndex() == 0) {
    for (int i = 0; i < 3; ++i) {
      mbarrierInit(full + 8 * i, 1);
      mbarrierInit(empty + 8 * i, 96);
    }
    mbarrierFenceInit();
  }
  barrier();
  if (warpIndex() == 3) {
    if (electLane())
      for (int tile = 0; tile < tiles; ++tile) {
        const int stage = tile % 3;
        mbarrierWait(empty + 8 * stage, tile / 3 % 2 ^ 1);
        mbarrierExpect(full + 8 * stage, 64);
        mbarrierArriveExpect(full + 8 * stage, 192);
        bulkLoad(at + 256 * stage, in + 64 * tile, 64, full + 8 * stage);
        bulkLoad(at + 256 * stage + 64, in + 64 * tile + 16, 192, full + 8 * stage);
      }
    return;
  }
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % 3;
    while (!mbarrierTest(full + 8 * stage, tile / 3 % 2) && warpIndex() == 1)
      pause();
    if (warpIndex() != 1)
      mbarrierWait(full + 8 * stage, tile / 3 % 2);
    unsigned sum = 0;
    const unsigned *tileAt = reinterpret_cast<const unsigned *>(shared + 256 * stage);
    for (int i = threadIndex(); i < 64; i += 96)
      sum += tileAt[i];
    mbarrierArrive(empty + 8 * stage);
    for (int step = 1; step < 32; step *= 2)
      sum += shuffleXor(sum, step);
    if (laneIndex() == 0)
      atomicAdd(out + tile, sum);
  }
}

// Blocks of a cluster of four: each loads a quarter of every tile for all of them; a stage is empty
// when a thread of each block has said so.  out[block * tiles + tile] is the sum of the tile.
extern "C" __global__ void multicast(const unsigned *in, unsigned *out, int tiles) {
  char *shared = dynamicArena();
  const SharedAddress at = sharedAddress(shared), full = at + 2 * 256, empty = full + 16;
  const unsigned rank = clusterRank();
  if (threadIndex() == 0) {
    for (int i = 0; i < 2; ++i) {
      mbarrierInit(full + 8 * i, 1);
      mbarrierInit(empty + 8 * i, 4);
    }
    mbarrierFenceInit();
  }
  clusterBarrier();
  if (threadIndex() == 32)
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % 2;
      mbarrierWait(empty + 8 * stage, tile / 2 % 2 ^ 1);
      mbarrierArriveExpect(full + 8 * stage, 256);
      bulkLoadMulticast(at + 256 * stage + 64 * rank, in + 64 * tile + 16 * rank, 64,
                        full + 8 * stage, 15);
    }
  if (threadIndex() < 32)
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % 2;
      mbarrierWait(full + 8 * stage, tile / 2 % 2);
      const unsigned *tileAt = reinterpret_cast<const unsigned *>(shared + 256 * stage);
      unsigned sum = tileAt[threadIndex()] + tileAt[threadIndex() + 32];
      for (int step = 1; step < 32; step *= 2)
        sum += shuffleXor(sum, step);
      syncWarp();
      if (threadIndex() < 4)
        mbarrierArrive(mapShared(empty + 8 * stage, threadIndex()));
      if (threadIndex() == 0)
        out[blockIndex() * tiles + tile] = sum;
    }
  clusterBarrier();
}

// Each block sends its 64 words on to the next one of the cluster: half of them in one copy, half
// word by word.
extern "C" __global__ void pass(const unsigned *in, unsigned *out) {
  unsigned *words = reinterpret_cast<unsigned *>(dynamicArena());
  const SharedAddress at = sharedAddress(words), arrived = at + 512;
  const unsigned next = (clusterRank() + 1) % clusterSize(), own = threadIndex();
  if (own == 0) {
    mbarrierInit(arrived, 1);
    mbarrierFenceInit();
    mbarrierArriveExpect(arrived, 256);
  }
  words[own] = in[blockIndex() * 64 + own];
  fenceProxyAsync();
  barrier();
  clusterBarrier();
  if (own == 0)
    bulkCopyShared(mapShared(at + 256, next), at, 128, mapShared(arrived, next));
  if (own >= 32 && own < 48)
    storeClusterAsync(mapShared(at + 256 + 4 * own, next), words[own], mapShared(arrived, next));
  if (own >= 48 && own < 56)
    storeClusterAsync(mapShared(at + 256 + 8 * own - 192, next),
                      *reinterpret_cast<unsigned long long *>(words + 2 * own - 48),
                      mapShared(arrived, next));
  mbarrierWait(arrived, 0);
  out[blockIndex() * 64 + own] = words[64 + own];
  clusterBarrier();
}

// cp.async in three groups, the last one waited for through an mbarrier; what is behind `count`
// words is zero.
extern "C" __global__ void groups(const unsigned *in, unsigned *out, int count) {
  unsigned *words = reinterpret_cast<unsigned *>(dynamicArena());
  const SharedAddress at = sharedAddress(words), arrived = at + 3 * 64 * 16;
  const int own = threadIndex();
  if (own == 0)
    mbarrierInit(arrived, 64);
  barrier();
  for (int group = 0; group < 3; ++group) {
    const int word = group * 256 + 4 * own, left = 4 * (count - word);
    const int bytes = left < 0 ? 0 : left < 16 ? left : 16;
    if (group == 1) {
      for (int i = 0; i < 2; ++i) {
        const int rest = bytes - 8 * i;
        copyAsync<8>(at + 4 * word + 8 * i, in + word + 2 * i, rest < 0 ? 0 : rest < 8 ? rest : 8);
      }
    } else {
      copyAsync<16>(at + 4 * word, in + word, bytes);
    }
    if (group < 2)
      copyAsyncCommit();
  }
  copyAsyncArrive(arrived);
  copyAsyncWait<1>();
  barrier();
  out[own] = words[own] + words[64 + own] + words[128 + own] + words[192 + own];
  copyAsyncWait<0>();
  barrier();
  out[64 + own] = words[256 + (own ^ 63)] + words[320 + own] + words[384 + own] + words[448 + own];
  mbarrierWait(arrived, 0);
  out[128 + own] = words[512 + (own ^ 63)] + words[576 + own] + words[640 + own] + words[704 + own];
}

// A box in, each byte of it changed, and out again.
template <class Load, class Store>
__device__ void changeBox(unsigned bytes, Load load, Store store) {
  char *shared = dynamicArena();
  const SharedAddress arrived = sharedAddress(arena<8>());
  if (threadIndex() == 0) {
    mbarrierInit(arrived, 1);
    mbarrierFenceInit();
    mbarrierArriveExpect(arrived, bytes);
    load(sharedAddress(shared), arrived);
  }
  barrier();
  mbarrierWait(arrived, 0);
  for (unsigned i = threadIndex(); i < bytes; i += 32)
    shared[i] ^= 0x55;
  fenceProxyAsync();
  barrier();
  if (threadIndex() == 0) {
    store(sharedAddress(shared));
    bulkCommit();
    bulkWait<0>();
  }
}

extern "C" __global__ void change(const __grid_constant__ TensorMap from,
                                  const __grid_constant__ TensorMap to, int rank, unsigned bytes) {
  const int b = blockIndex();
  changeBox(
      bytes,
      [&](SharedAddress at, SharedAddress arrived) {
        if (rank == 1)
          tensorLoad(at, from, arrived, 16 * b);
        else if (rank == 2)
          tensorLoad(at, from, arrived, 0, 5 * b);
        else if (rank == 3)
          tensorLoad(at, from, arrived, 0, 0, 3 * b);
        else if (rank == 4)
          tensorLoad(at, from, arrived, 0, 0, 0, 2 * b);
        else
          tensorLoad(at, from, arrived, 0, 0, 0, 0, 2 * b);
      },
      [&](SharedAddress at) {
        if (rank == 1)
          tensorStore(to, at, 16 * b);
        else if (rank == 2)
          tensorStore(to, at, 0, 5 * b);
        else if (rank == 3)
          tensorStore(to, at, 0, 0, 3 * b);
        else if (rank == 4)
          tensorStore(to, at, 0, 0, 0, 2 * b);
        else
          tensorStore(to, at, 0, 0, 0, 0, 2 * b);
      });
}

// Every block adds its rank to all of the tensor.
extern "C" __global__ void addUp(const __grid_constant__ TensorMap to) {
  unsigned *words = reinterpret_cast<unsigned *>(dynamicArena());
  for (int i = threadIndex(); i < 256; i += 32)
    words[i] = blockIndex() * 1000 + i;
  fenceProxyAsync();
  barrier();
  if (threadIndex() == 0) {
    tensorReduceAdd(to, sharedAddress(words), 0, 0);
    bulkCommit();
    bulkWaitRead<0>();
  }
}

// Two buffers, each written again as soon as its store has read it.
extern "C" __global__ void storeTwice(unsigned *out, int steps, bool waits) {
  unsigned *words = reinterpret_cast<unsigned *>(dynamicArena());
  const int own = threadIndex();
  for (int step = 0; step < steps; ++step) {
    const int buffer = step % 2;
    if (own == 0 && waits)
      bulkWaitRead<1>();
    barrier();
    words[32 * buffer + own] = 100 * step + own;
    fenceProxyAsync();
    barrier();
    if (own == 0) {
      bulkStore(out + 32 * step, sharedAddress(words + 32 * buffer), 128);
      bulkCommit();
    }
  }
  if (own == 0)
    bulkWait<0>();
}

// One mistake each.
extern "C" __global__ void mistake(int what, const float *in, float *out,
                                   const __grid_constant__ TensorMap map) {
  char *shared = dynamicArena();
  const SharedAddress at = sharedAddress(shared), bar = at + 1024;
  const unsigned own = threadIndex();
  if (own == 0 && what != 3) {
    mbarrierInit(bar, what == 1 ? 0 : what == 2 ? 1u << 20 : 2);
    if (what != 30)
      mbarrierFenceInit();
  }
  clusterBarrier();
  const unsigned other = (clusterRank() + 1) % clusterSize();
  if (own == 0) {
    switch (what) {
    case 3: mbarrierArrive(bar); break;
    case 4: mbarrierArrive(bar + 4); break;
    case 5: mbarrierInvalidate(bar); mbarrierWait(bar, 0); break;
    case 6: *reinterpret_cast<unsigned *>(shared + 1024) = 7; mbarrierArrive(bar); break;
    case 7: mbarrierWait(mapShared(bar, other), 1); break;
    case 8: mbarrierArrive(bar, 3); break;
    case 9: mbarrierArriveExpect(bar, 16); mbarrierArrive(bar); mbarrierArrive(bar); break;
    case 10: mbarrierExpect(bar, 1 << 19); mbarrierExpect(bar, 1 << 19); break;
    case 11: mbarrierArriveExpect(bar, 16); mbarrierArrive(bar); bulkLoad(at, in, 32, bar); break;
    case 13: mbarrierInit(bar, 2); break;
    case 14: mbarrierWait(bar, 3); break;
    case 15: mbarrierArrive(bar, 0); break;
    case 16: bulkLoad(at, in, 24, bar); break;
    case 17: bulkLoad(at + 8, in, 16, bar); break;
    case 18: bulkLoad(at, in + 1, 16, bar); break;
    case 19: bulkLoad(at + 2032, in, 32, bar); break;
    case 20: bulkLoad(mapShared(at, other), in, 32, bar); break;
    case 21: bulkLoadMulticast(at, in, 32, bar, 4); break;
    case 22: bulkLoad(at, in + 1020, 32, bar); break;
    case 23: tensorLoad(at, map, bar, 0); break;
    case 24: tensorLoad(at + 64, map, bar, 0, 0); break;
    case 25: tensorLoad(at, map, bar, 2, 0); break;
    case 26: tensorStore(map, at, 0, -1); break;
    case 27: tensorLoad(at, *reinterpret_cast<const TensorMap *>(in), bar, 0, 0); break;
    case 28: tensorStore(map, mapShared(at, other), 0, 0); break;
    case 29: tensorReduceAdd(map, at, 0, 0); break;
    case 30: bulkLoad(at, in, 32, bar); break;
    case 31: copyAsync<16>(at, in, 17); break;
    case 32: copyAsync<8>(at + 4, in); break;
    case 33: copyAsync<16>(at, in + 1); break;
    case 34: mbarrierExpect(bar, 32); bulkLoad(at, in, 32, bar); break;
    case 35: fenceProxyAsync(); bulkStore(out, at, 16); bulkCommit(); break;
    case 36: bulkStore(out + 1, at, 16); break;
    case 37: bulkCopyShared(mapShared(at, other), mapShared(at, other), 16, mapShared(bar, other)); break;
    case 38: mbarrierInit(mapShared(bar, other), 1); break;
    case 39: storeClusterAsync(mapShared(at + 2, other), 1u, mapShared(bar, other)); break;
    }
  }
  // Thread 1 is still at the first phase when thread 0 ends the second.
  if (what == 40) {
    if (own == 1)
      mbarrierWait(bar, 0);
    if (own == 0) {
      mbarrierArrive(bar, 2);
      mbarrierArrive(bar, 2);
    }
  }
  if (what == 41 && own == 1)
    mbarrierWait(bar, 0);
  if (what == 41 && own == 0)
    mbarrierInit(bar, 1);
  // Nothing waits before the data is used.
  if (what == 42 && own == 0) {
    mbarrierArriveExpect(bar, 16);
    mbarrierArrive(bar);
    bulkLoad(at, in, 16, bar);
    out[0] = *reinterpret_cast<float *>(shared);
    mbarrierWait(bar, 0);
  }
  if (what == 43) {
    copyAsync<4>(at + 4 * own, in + own);
    copyAsyncCommit();
    out[own] = *reinterpret_cast<float *>(shared + 4 * own);
    copyAsyncWait<0>();
  }
  // 16 bytes more are expected than come.
  if (what == 45 && own == 0) {
    mbarrierArriveExpect(bar, 48);
    mbarrierArrive(bar);
    bulkLoad(at, in, 32, bar);
    mbarrierWait(bar, 0);
  }
  // 16 bytes fewer.
  if (what == 46 && own == 0) {
    mbarrierArriveExpect(bar, 16);
    mbarrierArrive(bar);
    bulkLoad(at, in, 32, bar);
    mbarrierWait(bar, 0);
  }
  // The fence is missing.
  if (what == 44) {
    *reinterpret_cast<float *>(shared + 4 * own) = 1.0f;
    barrier();
    if (own == 0) {
      bulkStore(out, at, 128);
      bulkCommit();
      bulkWait<0>();
    }
  }
  clusterBarrier();
}
)";

/// A module of all kernels, and the runs of one.
class SimtAsyncTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    for (bool checked : {false, true}) {
      auto compiler = HostCompiler::get(checked);
      if (!compiler)
        return;
      CompileRequest request = kernelRequest("copies", kKernels);
      request.entry.clear(); // all kernels
      auto binary = (*compiler)->compile(request);
      ASSERT_TRUE(binary) << binary.error().str();
      auto module = Module::load(binary->image);
      ASSERT_TRUE(module) << module.error().str();
      modules[checked] = *module;
    }
  }
  static void TearDownTestSuite() { modules[0] = modules[1] = nullptr; }
  void SetUp() override {
    if (auto compiler = HostCompiler::get(false); !compiler)
      GTEST_SKIP() << compiler.error().message;
    ASSERT_TRUE(modules[0] && modules[1]);
  }

  struct Shape {
    unsigned blocks = 1, threads = 32, cluster = 1, shared = 4096;
  };
  template <class... Arguments>
  std::optional<Finding> run(const char *kernel, const std::string &options, Shape shape,
                             Arguments... arguments) {
    auto parsed = SimulatorOptions::parse(options);
    EXPECT_TRUE(parsed);
    Launch launch;
    launch.module = modules[parsed->check].get();
    launch.kernel = launch.module->find(kernel);
    if (!launch.kernel) {
      ADD_FAILURE() << "no kernel " << kernel;
      return std::nullopt;
    }
    launch.blocks = shape.blocks;
    launch.threads = shape.threads;
    launch.clusterSize = shape.cluster;
    launch.dynamicSharedBytes = shape.shared;
    void *pointers[] = {&arguments...};
    launch.arguments = pointers;
    launch.memory = &memory;
    return simt::run(launch, *parsed);
  }

  /// An allocation that the kernels may use, zero or counting up.
  template <class T> T *allocate(size_t count, bool counts = true) {
    storage.push_back(std::make_unique<char[]>(count * sizeof(T) + 256));
    auto begin = reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(storage.back().get()) + 255) &
                                       ~uintptr_t(255));
    for (size_t i = 0; i < count; ++i)
      begin[i] = counts ? T(i % 251 + i / 1000) : T(0);
    MemoryRange range{reinterpret_cast<char *>(begin), count * sizeof(T), "buffer"};
    memory.insert(std::upper_bound(memory.begin(), memory.end(), range,
                                   [](const auto &a, const auto &b) { return a.begin < b.begin; }),
                  range);
    return begin;
  }

  static std::vector<std::string> everyOptions() {
    std::vector<std::string> all;
    for (const char *order : {"forward", "reverse", "random"})
      for (const char *async : {"eager", "late", "random"})
        for (const char *check : {"", ",check", ",check,strict"})
          all.push_back(fmt::format("order={},async={},workers=1{}", order, async, check));
    for (int seed = 2; seed < 8; ++seed)
      all.push_back(fmt::format("order=random,async=random,seed={},workers=2,check", seed));
    return all;
  }

  static std::shared_ptr<Module> modules[2];
  std::vector<std::unique_ptr<char[]>> storage;
  std::vector<MemoryRange> memory;
};
std::shared_ptr<Module> SimtAsyncTest::modules[2];

struct alignas(64) TensorMap {
  char bytes[128];
};

#define EXPECT_CLEAN(FINDING, OPTIONS)                                                             \
  {                                                                                                \
    const auto finding = FINDING;                                                                  \
    EXPECT_FALSE(finding) << (OPTIONS) << "\n" << finding->str();                                  \
  }

TEST_F(SimtAsyncTest, Ring) {
  constexpr int kTiles = 17;
  auto *in = allocate<unsigned>(64 * kTiles);
  for (const std::string &options : everyOptions()) {
    auto *out = allocate<unsigned>(kTiles, false);
    EXPECT_CLEAN(run("ring", options, {1, 128}, in, out, kTiles), options);
    for (int tile = 0; tile < kTiles; ++tile)
      ASSERT_EQ(out[tile], std::accumulate(in + 64 * tile, in + 64 * tile + 64, 0u)) << options;
  }
}

TEST_F(SimtAsyncTest, Multicast) {
  constexpr int kTiles = 9;
  auto *in = allocate<unsigned>(64 * kTiles);
  for (const std::string &options : everyOptions()) {
    auto *out = allocate<unsigned>(8 * kTiles, false);
    EXPECT_CLEAN(run("multicast", options, {8, 64, 4}, in, out, kTiles), options);
    for (int i = 0; i < 8 * kTiles; ++i)
      ASSERT_EQ(out[i], std::accumulate(in + i % kTiles * 64, in + i % kTiles * 64 + 64, 0u))
          << options;
  }
}

TEST_F(SimtAsyncTest, FromBlockToBlock) {
  auto *in = allocate<unsigned>(64 * 6);
  for (const std::string &options : everyOptions()) {
    auto *out = allocate<unsigned>(64 * 6, false);
    EXPECT_CLEAN(run("pass", options, {6, 64, 3}, in, out), options);
    for (unsigned i = 0; i < 64 * 6; ++i) {
      unsigned block = i / 64, from = block / 3 * 3 + (block + 2) % 3;
      ASSERT_EQ(out[i], in[from * 64 + i % 64]) << options;
    }
  }
}

TEST_F(SimtAsyncTest, Groups) {
  auto *in = allocate<unsigned>(768);
  for (int count : {768, 700, 601, 300, 255, 2, 0})
    for (const std::string &options : everyOptions()) {
      auto *out = allocate<unsigned>(192, false);
      EXPECT_CLEAN(run("groups", options, {1, 64, 1, 3 * 64 * 16 + 8}, in, out, count), options);
      auto at = [&](int i) { return i < count ? in[i] : 0; };
      for (int i = 0; i < 64; ++i) {
        ASSERT_EQ(out[i], at(i) + at(64 + i) + at(128 + i) + at(192 + i)) << options;
        for (int group : {1, 2}) {
          int base = 256 * group;
          ASSERT_EQ(out[64 * group + i], at(base + (i ^ 63)) + at(base + 64 + i) +
                                             at(base + 128 + i) + at(base + 192 + i))
              << options << " count " << count << " group " << group;
        }
      }
    }
}

TEST_F(SimtAsyncTest, BoxesOfEveryRank) {
  for (unsigned rank = 1; rank <= 5; ++rank)
    for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
      // Rows of 32, 64 or 128 bytes; the last box leaves the tensor.
      const uint64_t span = swizzle ? 16u << swizzle : 64;
      const uint64_t outer[] = {0, 0, 13, 8, 5, 5}, step[] = {16, 16, 5, 3, 2, 2};
      uint64_t dims[5] = {span, 3, 2, 2, 2}, strides[4];
      dims[rank - 1] = rank == 1 ? 40 : outer[rank];
      uint64_t bytes = rank == 1 ? 48 : span;
      for (unsigned dim = 1; dim < rank; ++dim) {
        strides[dim - 1] = bytes;
        bytes *= dims[dim];
      }
      uint32_t box[5] = {unsigned(span), 3, 2, 2, 2}, ones[5] = {1, 1, 1, 1, 1};
      box[rank - 1] = unsigned(step[rank]);
      unsigned boxBytes = std::accumulate(box, box + rank, 1u, std::multiplies<>());
      unsigned blocks = unsigned((dims[rank - 1] + step[rank] - 1) / step[rank]);
      auto *in = allocate<unsigned char>(bytes);
      for (const std::string &options : everyOptions()) {
        auto *out = allocate<unsigned char>(bytes, false);
        TensorMap from, to;
        ASSERT_TRUE(
            encodeTensorMap(&from, 0, rank, in, dims, strides, box, ones, 0, swizzle, 0, 0));
        ASSERT_TRUE(encodeTensorMap(&to, 0, rank, out, dims, strides, box, ones, 0, swizzle, 0, 0));
        EXPECT_CLEAN(run("change", options, {blocks, 32, 1, std::max(boxBytes, 128u)}, from, to,
                         int(rank), boxBytes),
                     options);
        for (size_t i = 0; i < (rank == 1 ? 40 : bytes); ++i)
          ASSERT_EQ(out[i], in[i] ^ 0x55) << options << " rank " << rank << " swizzle " << swizzle;
      }
    }
}

TEST_F(SimtAsyncTest, Reduction) {
  const uint64_t dims[] = {16, 16}, strides[] = {64};
  const uint32_t box[] = {16, 16}, ones[] = {1, 1};
  for (const std::string &options : everyOptions()) {
    auto *out = allocate<unsigned>(256, false);
    TensorMap to;
    ASSERT_TRUE(encodeTensorMap(&to, 2, 2, out, dims, strides, box, ones, 0, 0, 0, 0));
    EXPECT_CLEAN(run("addUp", options, {8, 32, 1, 1024}, to), options);
    for (unsigned i = 0; i < 256; ++i)
      ASSERT_EQ(out[i], 28000 + 8 * i) << options;
  }
}

TEST_F(SimtAsyncTest, StoresReadTheirSourceWhenTheyCan) {
  for (const std::string &options : everyOptions()) {
    auto *out = allocate<unsigned>(32 * 6, false);
    EXPECT_CLEAN(run("storeTwice", options, {1, 32, 1, 256}, out, 6, true), options);
    for (unsigned i = 0; i < 32 * 6; ++i)
      ASSERT_EQ(out[i], i / 32 * 100 + i % 32) << options;
  }
  // Without the wait a buffer is overwritten before it is read, if copies are late.
  auto *out = allocate<unsigned>(32 * 6, false);
  EXPECT_CLEAN(run("storeTwice", "async=late", {1, 32, 1, 256}, out, 6, false), "");
  EXPECT_EQ(out[0], 400u);
  auto found = run("storeTwice", "check", {1, 32, 1, 256}, out, 6, false);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FindingKind::SharedRace);
}

struct Mistake {
  int what;
  const char *options;
  FindingKind kind;
  const char *message;
};

class SimtMistakes : public SimtAsyncTest, public ::testing::WithParamInterface<Mistake> {};

TEST_P(SimtMistakes, AreReported) {
  const Mistake &mistake = GetParam();
  auto *in = allocate<float>(1024);
  auto *out = allocate<float>(1024, false);
  const uint64_t dims[] = {16, 30}, strides[] = {128};
  const uint32_t box[] = {8, 4}, ones[] = {1, 1};
  TensorMap map;
  const unsigned type = mistake.what == 29 ? 8 : 7; // f64, f32
  ASSERT_TRUE(encodeTensorMap(&map, type, 2, out, dims, strides, box, ones, 0, 0, 0, 0));
  auto found = run("mistake", mistake.options, {2, 32, 2, 2048}, mistake.what, in, out, map);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, mistake.kind) << found->str();
  EXPECT_CONTAINS(found->message, mistake.message);
  EXPECT_FALSE(found->place.lines.empty());
  bool isNamed = false;
  for (const CodeLine &line : found->place.lines)
    isNamed |= line.file == "copies.cu";
  EXPECT_TRUE(isNamed) << found->str();
}

constexpr auto kMisuse = FindingKind::BarrierMisuse, kBad = FindingKind::BadInstruction,
               kMisaligned = FindingKind::Misaligned, kOutside = FindingKind::OutOfBounds;
const Mistake kMistakes[] = {
    {1, "", kMisuse, "mbarrierInit: 0 arrivals a phase; allowed: 1 to 1048575"},
    {2, "", kMisuse, "mbarrierInit: 1048576 arrivals a phase"},
    {3, "", kMisuse, "mbarrierArrive: mbarrier 0x800 is not initialised"},
    {4, "", kMisuse, "mbarrierArrive: the mbarrier address 0x804 is not a multiple of 8"},
    {5, "", kMisuse, "mbarrierWait: mbarrier 0x800 is invalidated"},
    {6, "", kMisuse, "mbarrierArrive: something was written over mbarrier 0x800"},
    {7, "", kMisuse, "mbarrierWait: mbarrier 0x800 of block 1 belongs to another block"},
    {8, "", kMisuse, "mbarrierArrive: 3 arrivals where 2 of 2 are pending"},
    {9, "", kMisuse,
     "mbarrierArrive: all 2 arrivals of phase 0 have happened, and 16 bytes have yet to come"},
    {10, "", kMisuse, "mbarrierExpect: 1048576 bytes expected by one phase"},
    {11, "", kMisuse, "bulkLoad: 16 bytes more than expected came to phase 0"},
    {11, "async=late", kMisuse, "block 0 has finished while bulkLoad was under way"},
    {46, "async=late", kMisuse, "bulkLoad: 16 bytes more than expected came to phase 0"},
    {13, "strict", kMisuse, "mbarrierInit: mbarrier 0x800 is initialised again without"},
    {14, "strict", kMisuse, "mbarrierWait: parity 3; a phase has parity 0 or 1"},
    {15, "", kMisuse, "mbarrierArrive: 0 arrivals"},
    {16, "", kBad, "bulkLoad of 24 bytes; needed: a multiple of 16"},
    {17, "", kMisaligned, "bulkLoad"},
    {18, "", kMisaligned, "bulkLoad"},
    {19, "", kOutside, "bulkLoad of 32 bytes of shared memory"},
    {20, "", kBad, "bulkLoad into block 1 with an mbarrier of block 0"},
    {21, "", kBad, "bulkLoadMulticast to blocks 0x4 of a cluster of 2"},
    {22, "", kOutside, ""},
    {22, "check", kOutside, ""},
    {23, "", kBad, "tensorLoad with 1 coordinates and a tensor map of rank 2"},
    {24, "", kMisaligned, "tensorLoad"},
    {25, "", kBad, "tensorLoad: coordinate 2 of elements of 4 bytes"},
    {26, "", kBad, "tensorStore: coordinate -1 in dimension 1"},
    {27, "", kBad, "tensorLoad with something that is no tensor map"},
    {28, "", kBad, "tensorStore from the memory of another block"},
    {29, "", kBad, "tensorReduceAdd to a tensor of data type 8"},
    {30, "check", FindingKind::MissingFence, "bulkLoad completes on mbarrier 0x800"},
    {31, "", kBad, "copyAsync of 16 bytes from 17 bytes"},
    {32, "", kMisaligned, "copyAsync"},
    {33, "", kMisaligned, "copyAsync"},
    {34, "async=late", kMisuse, "has finished while bulkLoad was under way"},
    {35, "async=late", kMisuse, "bulkWaitRead is missing"},
    {36, "", kMisaligned, "bulkStore"},
    {37, "", kBad, "bulkCopyShared from the memory of another block"},
    {38, "", kMisuse, "mbarrierInit: mbarrier 0x800 of block 1 belongs to another block"},
    {39, "", kMisaligned, "storeClusterAsync"},
    {40, "order=reverse", kMisuse, "phase 1 of an mbarrier is over before block"},
    {41, "order=reverse", kMisuse, "is initialised again while"},
    {42, "check", FindingKind::SharedRace, ""},
    {43, "check", FindingKind::SharedRace, ""},
    {44, "check", FindingKind::MissingFence, ""},
};
INSTANTIATE_TEST_SUITE_P(All, SimtMistakes, ::testing::ValuesIn(kMistakes), [](const auto &info) {
  return "Mistake" + std::to_string(info.param.what) + "_" + std::to_string(info.index);
});

TEST_F(SimtAsyncTest, SomeCopiesNeedClusters) {
  auto *in = allocate<unsigned>(64);
  auto *out = allocate<unsigned>(64, false);
  auto found = run("pass", "", {1, 64, 1}, in, out);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->message, "bulkCopyShared in a launch without clusters");
}

TEST_F(SimtAsyncTest, MistakesThatTheHardwareForgives) {
  auto *in = allocate<float>(1024);
  auto *out = allocate<float>(1024, false);
  for (int what : {13, 14})
    EXPECT_CLEAN(run("mistake", "check", {2, 32, 2, 2048}, what, in, out, TensorMap()), what);
}

TEST_F(SimtAsyncTest, DestinationsArePoisonedUntilTheirWait) {
  auto *in = allocate<float>(1024);
  for (int what : {42, 43}) {
    auto *out = allocate<float>(1024, false);
    EXPECT_CLEAN(run("mistake", "async=late", {2, 32, 2, 2048}, what, in, out, TensorMap()), what);
    EXPECT_NE(out[0], out[0]);
  }
}

TEST_F(SimtAsyncTest, ADeadlockNamesWhatIsMissing) {
  auto *in = allocate<float>(1024);
  auto *out = allocate<float>(1024, false);
  auto found = run("mistake", "", {2, 32, 2, 2048}, 45, in, out, TensorMap());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FindingKind::Deadlock);
  EXPECT_CONTAINS(found->str(), "mbarrierWait");
  EXPECT_CONTAINS(found->str(), "16 bytes");
}

} // namespace
