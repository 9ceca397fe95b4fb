//===- SimtWgmmaTest.cpp - Matrix instructions in kernels -----------------===//
//
// What kernels do right and wrong around ldmatrix and wgmma, in every mode of the simulator.
//
//===----------------------------------------------------------------------===//
#include "HostCompiler.h"
#include "Launch.h"
#include "SimtTestSupport.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace swage;
using namespace swage::simt;

namespace {

/// D = 1 + A B^T, A 64 x 64 and B 128 x 64 in bf16, both in rows of 128 swizzled bytes of shared
/// memory; `mode` is a case of the tests below.
const char kKernels[] = R"(
#include "swage/device/bulk.cuh"
#include "swage/device/matrix.cuh"
#include "swage/device/wgmma.cuh"
using namespace swage;

extern "C" __global__ void product(const unsigned short *a, const unsigned short *b, float *out,
                                   int mode) {
  char *shared = mode == 27 ? arena<49152>() + 24576 : dynamicArena();
  const SharedAddress base = sharedAddress(shared);
  const unsigned thread = threadIndex();
  if (mode == 14 && thread >= 64)
    return;
  const auto fill = [&](float factor) {
    for (unsigned i = thread; i < 192 * 64; i += 128) {
      const unsigned row = i / 64, k = i % 64;
      unsigned short bits = row < 64 ? a[i] : b[i - 64 * 64];
      *reinterpret_cast<unsigned short *>(shared + row * 128 + ((k / 8) ^ (row % 8)) * 16 +
                                          k % 8 * 2) = narrow<bf16>(factor * widen(bf16{bits})).bits;
    }
  };
  fill(1);
  if (mode != 2)
    fenceProxyAsync();
  if (mode != 3)
    barrier();
  float d[64], e[64];
  for (int i = 0; i < 64; ++i)
    d[i] = e[i] = 1;
  unsigned long long left = matrixDescriptor(base, 16, 1024, Swizzle::B128);
  unsigned long long right = matrixDescriptor(base + 8192, 16, 1024, Swizzle::B128);
  if (mode == 8)
    right |= 1ull << 46;
  if (mode == 9)
    right += 8192 / 16;
  if (mode == 10)
    right = matrixDescriptor(base + 8192, 16, 512, Swizzle::B128);
  if (mode == 11 && thread == 77)
    left += 2;
  const auto multiplyAll = [&](float (&into)[64], bool accumulate) {
    for (int k = 0; k < 4; ++k)
      warpgroupMultiply<bf16, 128>(into, left + 2 * k, right + 2 * k, accumulate || k);
  };
  if (mode != 4)
    warpgroupFence();
  if (mode == 12) {
    if (thread < 96)
      warpgroupMultiply<bf16, 128>(d, left, right, true);
    barrier();
  } else if (mode == 20) { // A in registers: row 16 w + lane % 16, pieces 2 k and 2 k + 1
    for (int k = 0; k < 4; ++k) {
      const unsigned row = thread / 32 * 16 + thread % 16, piece = 2 * k + thread % 32 / 16;
      unsigned registers[4];
      loadMatrix<4>(base + row * 128 + (piece ^ row % 8) * 16, registers);
      warpgroupFence();
      warpgroupMultiplyRegisters<bf16, 128>(d, &registers, right + 2 * k, true);
    }
  } else {
    multiplyAll(d, mode != 21);
  }
  if (mode == 5)
    d[3] = 7;
  warpgroupCommit();
  if (mode == 13 && thread == 5)
    warpgroupCommit();
  if (mode == 6)
    fill(2);
  if (mode == 22 || mode == 23) {
    multiplyAll(e, true);
    warpgroupCommit();
    warpgroupWait<1>();
    if (mode == 22)
      warpgroupWait<0>();
    for (int i = 0; i < 64; ++i)
      d[i] = e[i];
  }
  if (mode == 24) // D goes on through two groups
    for (int k = 0; k < 4; ++k) {
      warpgroupMultiply<bf16, 128>(d, left + 2 * k, right + 2 * k, true);
      warpgroupCommit();
      warpgroupWait<1>();
    }
  if (mode != 1)
    warpgroupWait<0>();
  if (mode == 7 || mode == 25 || mode == 26) {
    if (mode != 26)
      for (int i = 0; i < 64; ++i)
        d[i] *= 2;
    if (mode == 25)
      warpgroupFence();
    multiplyAll(d, true);
    warpgroupCommit();
    warpgroupWait<0>();
  }
  for (int i = 0; i < 64; ++i) {
    const unsigned row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
    const unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
    out[row * 128 + column] = d[i];
  }
}

/// Four matrices of 8 x 8 through registers, to where the other lanes say.
extern "C" __global__ void move(const unsigned *from, unsigned *to, int mode) {
  char *shared = dynamicArena();
  const unsigned thread = threadIndex();
  for (unsigned i = thread; i < 128; i += 32)
    reinterpret_cast<unsigned *>(shared)[i] = from[i];
  if (mode != 4)
    syncWarp();
  SharedAddress at = sharedAddress(shared) + thread * 16;
  if (mode == 5 && thread == 9)
    at += 8;
  if (mode == 6 && thread == 31)
    at += 1024;
  unsigned registers[4];
  if (mode == 7) {
    if (thread < 16)
      loadMatrix<4>(at, registers);
    else
      loadMatrix<4, true>(at, registers);
  } else if (mode & 1) {
    loadMatrix<4, true>(at, registers);
  } else {
    loadMatrix<4>(at, registers);
  }
  const SharedAddress back = sharedAddress(shared) + 512 + (31 - thread) * 16;
  if (mode & 2)
    storeMatrix<4, true>(back, registers);
  else
    storeMatrix<4>(back, registers);
  syncWarp();
  for (unsigned i = thread; i < 128; i += 32)
    to[i] = reinterpret_cast<unsigned *>(shared + 512)[i];
}
)";

enum Case {
  Right = 0,
  NoWait,
  NoProxyFence,
  NoBarrier,
  NoFence,
  WrittenInFlight,
  TileOverwritten,
  WrittenThenMultiplied,
  ReservedBits,
  OutOfBounds,
  OverlappingRows,
  DifferentDescriptors,
  ThreeWarps,
  CommitByOneThread,
  HalfWarpgroup,
  FromRegisters = 20,
  NotAccumulated,
  TwoAccumulators,
  TwoAccumulatorsOneWait,
  ManyGroups,
  ScaledAndContinued,
  ContinuedUntouched,
  EndOfStaticArena,
};

class SimtWgmmaTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (auto found = HostCompiler::get(false); !found)
      GTEST_SKIP() << found.error().message;
    std::mt19937 random(1);
    const auto element = [&] { // -2..2 in eighths: sums are exact
      const float value = float(int(random() % 33) - 16) / 8;
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      return uint16_t(bits >> 16);
    };
    std::generate(a.begin(), a.end(), element);
    std::generate(b.begin(), b.end(), element);
  }

  static const Module &moduleFor(const std::string &kernel, bool checked) {
    static std::map<std::pair<std::string, bool>, std::shared_ptr<Module>> modules;
    std::shared_ptr<Module> &module = modules[{kernel, checked}];
    if (!module) {
      auto binary = (*HostCompiler::get(checked))->compile(kernelRequest(kernel, kKernels));
      EXPECT_TRUE(binary) << binary.error().str();
      auto loaded = Module::load(binary->image);
      EXPECT_TRUE(loaded) << loaded.error().str();
      module = *loaded;
    }
    return *module;
  }

  std::optional<Finding> launch(const char *kernel, std::vector<void *> pointers, int mode,
                                const std::string &options, unsigned threads, unsigned shared,
                                std::vector<MemoryRange> memory) {
    const auto parsed =
        *SimulatorOptions::parse(options + (options.empty() ? "" : ",") + "workers=1");
    std::vector<void *> arguments;
    for (void *&pointer : pointers)
      arguments.push_back(&pointer);
    arguments.push_back(&mode);
    Launch launch;
    launch.module = &moduleFor(kernel, parsed.check);
    launch.kernel = launch.module->find(kernel);
    if (!launch.kernel) {
      ADD_FAILURE() << "no kernel " << kernel;
      return std::nullopt;
    }
    launch.threads = threads;
    launch.dynamicSharedBytes = shared;
    launch.arguments = arguments.data();
    std::sort(memory.begin(), memory.end(),
              [](const MemoryRange &x, const MemoryRange &y) { return x.begin < y.begin; });
    launch.memory = &memory;
    std::optional<Finding> finding = run(launch, parsed);
    if (finding)
      launch.module->describe(*finding);
    return finding;
  }
  template <class T> static MemoryRange range(std::vector<T> &data, const char *name) {
    return {reinterpret_cast<char *>(data.data()), data.size() * sizeof(T), name};
  }

  std::optional<Finding> product(int mode, const std::string &options, unsigned threads = 128) {
    std::fill(out.begin(), out.end(), -1000.0f);
    return launch("product", {a.data(), b.data(), out.data()}, mode, options, threads,
                  mode == EndOfStaticArena ? 0 : 24576,
                  {range(a, "a"), range(b, "b"), range(out, "out")});
  }
  /// start + factor A B^T
  bool isProduct(double start, double factor) const {
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned column = 0; column < 128; ++column) {
        double sum = start;
        for (unsigned k = 0; k < 64; ++k)
          sum += factor * widen(a[row * 64 + k]) * widen(b[column * 64 + k]);
        if (out[row * 128 + column] != float(sum))
          return false;
      }
    return true;
  }
  static double widen(uint16_t bits) {
    const uint32_t word = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, 4);
    return value;
  }
  bool hasNaN() const {
    return std::any_of(out.begin(), out.end(), [](float value) { return std::isnan(value); });
  }
  void expectFinding(int mode, const std::string &options, FindingKind kind,
                     const std::string &part, unsigned threads = 128) {
    const std::optional<Finding> finding = product(mode, options, threads);
    ASSERT_TRUE(finding) << "mode " << mode << ", " << options;
    EXPECT_EQ(finding->kind, kind) << finding->str();
    EXPECT_CONTAINS(finding->message, part);
    EXPECT_FALSE(finding->place.lines.empty()) << finding->str();
  }

  std::vector<uint16_t> a = std::vector<uint16_t>(64 * 64), b = std::vector<uint16_t>(128 * 64);
  std::vector<float> out = std::vector<float>(64 * 128);
};

const std::vector<std::string> &allModes() {
  static const std::vector<std::string> modes = [] {
    std::vector<std::string> result;
    for (const char *check : {"", ",check", ",check,strict"})
      for (const char *order : {"forward", "reverse", "random"})
        for (const char *async : {"eager", "late", "random"})
          result.push_back(std::string("order=") + order + ",async=" + async + check);
    return result;
  }();
  return modes;
}

TEST_F(SimtWgmmaTest, RightKernelsInEveryMode) {
  for (const std::string &options : allModes()) {
    const auto expect = [&](int mode, double start, double factor) {
      const std::optional<Finding> finding = product(mode, options);
      EXPECT_FALSE(finding) << "mode " << mode << ", " << options << ": " << finding->str();
      EXPECT_TRUE(isProduct(start, factor)) << "mode " << mode << ", " << options;
    };
    expect(Right, 1, 1);
    expect(FromRegisters, 1, 1);
    expect(NotAccumulated, 0, 1);
    expect(TwoAccumulators, 1, 1);
    expect(ManyGroups, 1, 2);
    expect(ScaledAndContinued, 2, 3);
    expect(EndOfStaticArena, 1, 1);
    if (options.find("strict") == std::string::npos)
      expect(ContinuedUntouched, 1, 2);
  }
}

TEST_F(SimtWgmmaTest, RegistersAreNotThereBeforeTheWait) {
  for (const char *options : {"async=late", "async=random"})
    for (Case mode : {NoWait, TwoAccumulatorsOneWait}) {
      const std::optional<Finding> finding = product(mode, options);
      EXPECT_FALSE(finding) << finding->str();
      EXPECT_TRUE(hasNaN()) << mode << " " << options;
    }
  EXPECT_FALSE(product(NoWait, ""));
  EXPECT_FALSE(isProduct(1, 1));
  for (const char *options : {"check", "check,async=late,order=random"}) {
    for (Case mode : {NoWait, TwoAccumulatorsOneWait})
      expectFinding(mode, options, FindingKind::BadInstruction, "a read of accumulators");
    expectFinding(WrittenInFlight, options, FindingKind::BadInstruction, "a write of accumulators");
  }
}

TEST_F(SimtWgmmaTest, MissingFences) {
  for (const char *options : {"check", "check,async=late,order=reverse"}) {
    expectFinding(NoProxyFence, options, FindingKind::MissingFence, "fenceProxyAsync");
    expectFinding(NoFence, options, FindingKind::MissingFence, "warpgroupFence");
    expectFinding(WrittenThenMultiplied, options, FindingKind::MissingFence,
                  "no warpgroupFence since thread");
  }
  // Registers that nobody wrote may go on without a fence today.
  EXPECT_FALSE(product(ContinuedUntouched, "check"));
  expectFinding(ContinuedUntouched, "check,strict", FindingKind::MissingFence,
                "since the last warpgroupWait");
}

TEST_F(SimtWgmmaTest, RacesWithTheEngine) {
  for (const char *options : {"check", "check,async=late,order=random"}) {
    expectFinding(NoBarrier, options, FindingKind::SharedRace, "");
    expectFinding(TileOverwritten, options, FindingKind::SharedRace, "");
  }
}

TEST_F(SimtWgmmaTest, BadOperands) {
  for (const char *options : {"", "check"}) {
    expectFinding(ReservedBits, options, FindingKind::BadInstruction,
                  "sets bits that are reserved");
    expectFinding(OutOfBounds, options, FindingKind::OutOfBounds,
                  "leads to offset 24576 of dynamic shared memory, of which the block has 24576");
    expectFinding(DifferentDescriptors, options, FindingKind::BadInstruction,
                  "thread 77 of the warpgroup");
  }
  expectFinding(OverlappingRows, "check", FindingKind::BadInstruction, "overlap");
}

TEST_F(SimtWgmmaTest, WarpgroupsThatAreNotTogether) {
  for (const char *options : {"", "order=reverse", "check"}) {
    const std::optional<Finding> finding = product(ThreeWarps, options);
    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->kind == FindingKind::Divergence || finding->kind == FindingKind::Deadlock)
        << finding->str();
    expectFinding(CommitByOneThread, options, FindingKind::Divergence, "warpgroupCommit 2 times");
    const std::optional<Finding> half = product(HalfWarpgroup, options);
    ASSERT_TRUE(half);
    expectFinding(Right, options, FindingKind::Divergence, "in a warpgroup of 96 threads", 96);
  }
}

TEST_F(SimtWgmmaTest, MatricesOfAWarp) {
  std::vector<uint16_t> from(256), to(256);
  for (unsigned i = 0; i < 256; ++i)
    from[i] = uint16_t(i * 257);
  const auto move = [&](int mode, const std::string &options, unsigned threads = 32) {
    std::fill(to.begin(), to.end(), 0);
    return launch("move", {from.data(), to.data()}, mode, options, threads, 1024,
                  {range(from, "from"), range(to, "to")});
  };
  for (const char *options : {"", "order=reverse", "order=random,check", "check,strict"}) {
    for (int mode = 0; mode < 4; ++mode) {
      const std::optional<Finding> finding = move(mode, options);
      ASSERT_FALSE(finding) << finding->str();
      // Matrix m is stored by lanes 8 m to 8 m + 7, which name the rows of matrix 3 - m backwards.
      const bool transposes = mode == 1 || mode == 2;
      for (unsigned m = 0; m < 4; ++m)
        for (unsigned row = 0; row < 8; ++row)
          for (unsigned column = 0; column < 8; ++column)
            ASSERT_EQ(to[(3 - m) * 64 + (7 - row) * 8 + column],
                      from[m * 64 + (transposes ? column * 8 + row : row * 8 + column)])
                << "mode " << mode;
    }
    auto finding = move(5, options);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->kind, FindingKind::Misaligned) << finding->str();
    EXPECT_CONTAINS(finding->thread, "lane 9");
    finding = move(6, options);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->kind, FindingKind::OutOfBounds) << finding->str();
    EXPECT_CONTAINS(finding->thread, "lane 31");
    finding = move(7, options);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->kind, FindingKind::Divergence) << finding->str();
    finding = move(0, options, 24);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->kind, FindingKind::Divergence) << finding->str();
    EXPECT_CONTAINS(finding->message, "in a warp of 24 threads");
  }
  auto finding = move(4, "check");
  ASSERT_TRUE(finding);
  EXPECT_TRUE(finding->kind == FindingKind::SharedRace ||
              finding->kind == FindingKind::Uninitialized)
      << finding->str();
}

} // namespace
