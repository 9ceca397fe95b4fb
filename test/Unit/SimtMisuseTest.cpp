//===- SimtMisuseTest.cpp - Mistakes with mbarriers and copies ------------===//
//
// What the hardware does not allow, or does not wait for, is reported, in the line of the kernel.
//
//===----------------------------------------------------------------------===//
#include "SimtKernelTest.h"
#include "TensorMap.h"

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
  // The one that waits for bytes does so for its warp.
  if (what == 47) {
    if (electLane()) {
      mbarrierArriveExpect(bar, 48);
      mbarrierArrive(bar);
      bulkLoad(at, in, 32, bar);
      mbarrierWait(bar, 0);
    }
    syncWarp();
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

struct Mistake {
  int what;
  const char *options;
  FindingKind kind;
  const char *message;
};

class SimtMisuseTest : public SimtKernelTest, public ::testing::WithParamInterface<Mistake> {
protected:
  SimtMisuseTest() : SimtKernelTest(kKernels) {}
};

TEST_P(SimtMisuseTest, AreReported) {
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
INSTANTIATE_TEST_SUITE_P(All, SimtMisuseTest, ::testing::ValuesIn(kMistakes), [](const auto &info) {
  return "Mistake" + std::to_string(info.param.what) + "_" + std::to_string(info.index);
});

class SimtForgivenTest : public SimtKernelTest {
protected:
  SimtForgivenTest() : SimtKernelTest(kKernels) {}
};

TEST_F(SimtForgivenTest, MistakesThatTheHardwareForgives) {
  auto *in = allocate<float>(1024);
  auto *out = allocate<float>(1024, false);
  for (int what : {13, 14})
    EXPECT_CLEAN(run("mistake", "check", {2, 32, 2, 2048}, what, in, out, TensorMap()), what);
}

TEST_F(SimtForgivenTest, DestinationsArePoisonedUntilTheirWait) {
  auto *in = allocate<float>(1024);
  for (int what : {42, 43}) {
    auto *out = allocate<float>(1024, false);
    EXPECT_CLEAN(run("mistake", "async=late", {2, 32, 2, 2048}, what, in, out, TensorMap()), what);
    EXPECT_NE(out[0], out[0]);
  }
}

TEST_F(SimtForgivenTest, ADeadlockNamesWhatIsMissing) {
  auto *in = allocate<float>(1024);
  auto *out = allocate<float>(1024, false);
  for (int what : {45, 47}) {
    auto found = run("mistake", "", {2, 32, 2, 2048}, what, in, out, TensorMap());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, FindingKind::Deadlock);
    EXPECT_CONTAINS(found->message, "16 bytes that an mbarrier expects never come");
    EXPECT_CONTAINS(found->str(),
                    "in mbarrierWait (mbarrier 0x800, parity 0: phase 0, 0 of 2 arrivals "
                    "pending, 16 bytes expected)");
    ASSERT_EQ(found->related.size(), 3u);
    EXPECT_CONTAINS(found->related[1].what, "the last bytes expected by block");
  }
}

} // namespace
