//===- SimtAsyncTest.cpp - mbarriers and copies in kernels ----------------===//
//
// What runs beside threads gives the same result in every order and at every time, and what the
// hardware does not allow is reported.
//
//===----------------------------------------------------------------------===//
#include "SimtKernelTest.h"
#include "TensorMap.h"

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

// The first `rows` rows of a box of 64-byte rows under the 128-byte swizzle, and nothing else of it.
extern "C" __global__ void storePart(const __grid_constant__ TensorMap to, int rows) {
  char *shared = dynamicArena();
  for (int i = threadIndex(); i < rows * 16; i += 32) {
    const int row = i / 16, chunk = i % 16 / 4 ^ row % 8;
    reinterpret_cast<unsigned *>(shared + 128 * row + 16 * chunk)[i % 4] = 100 + i;
  }
  fenceProxyAsync();
  barrier();
  if (threadIndex() == 0) {
    tensorStore(to, sharedAddress(shared), 0, 2);
    bulkCommit();
    bulkWait<0>();
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
)";

class SimtAsyncTest : public SimtKernelTest {
protected:
  SimtAsyncTest() : SimtKernelTest(kKernels) {}
};

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

TEST_F(SimtAsyncTest, AStoreNeedsWhatIsInBounds) {
  // Rows 2 to 6 of a tensor of 7 rows, through a box of 8.
  const uint64_t dims[] = {16, 7}, strides[] = {64};
  const uint32_t box[] = {16, 8}, ones[] = {1, 1};
  auto *out = allocate<unsigned>(112, false);
  TensorMap to;
  ASSERT_TRUE(encodeTensorMap(&to, 2, 2, out, dims, strides, box, ones, 0, 3, 0, 0));
  for (const std::string &options : everyOptions()) {
    std::fill(out, out + 112, 0u);
    EXPECT_CLEAN(run("storePart", options, {1, 32, 1, 1024}, to, 5), options);
    for (unsigned i = 0; i < 112; ++i)
      ASSERT_EQ(out[i], i < 32 ? 0 : 100 + i - 32) << options;
  }
  auto found = run("storePart", "check", {1, 32, 1, 1024}, to, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FindingKind::Uninitialized) << found->str();
}

TEST_F(SimtAsyncTest, SomeCopiesNeedClusters) {
  auto *in = allocate<unsigned>(64);
  auto *out = allocate<unsigned>(64, false);
  auto found = run("pass", "", {1, 64, 1}, in, out);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->message, "bulkCopyShared in a launch without clusters");
}

} // namespace
