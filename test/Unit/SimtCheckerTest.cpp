//===- SimtCheckerTest.cpp - What the checker takes for ordered -----------===//
//
// Clocks and shadow against models that keep everything, and the reports of small kernels.
//
//===----------------------------------------------------------------------===//
#include "CheckerState.h"
#include "HostCompiler.h"
#include "SimtTestSupport.h"

#include <map>
#include <random>
#include <set>

using namespace swage;
using namespace swage::simt;

namespace swage::simt {
/// Accesses that return what is wrong with them instead of ending a launch.
struct CheckerPeer {
  static Conflict access(Checker &checker, Thread &thread, Block &block, SharedAddress at,
                         unsigned bytes, Use use) {
    return checker.state->tryAccess(thread, block, at, bytes, use, nullptr);
  }
  static Conflict access(Checker &checker, const EngineOperation &operation, Thread &issuer,
                         Block &block, SharedAddress at, unsigned bytes, Use use) {
    return checker.state->blocks[block.rank].shadow.access(
        checker.state->accessor(operation, issuer, nullptr), at, bytes, use);
  }
};
} // namespace swage::simt

namespace {

unsigned below(std::mt19937 &random, unsigned bound) {
  return std::uniform_int_distribution<unsigned>(0, bound - 1)(random);
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

constexpr unsigned kGroups = 3;

/// A number for each agent, one by one.
struct Dense {
  std::array<uint32_t, kGroups * kGroupAgents> at{};
};

void expectSame(const EpochVector &vector, const Dense &dense) {
  for (unsigned i = 0; i < dense.at.size(); ++i)
    ASSERT_EQ(vector.get(i / kGroupAgents, i % kGroupAgents), dense.at[i]) << i;
}

TEST(EpochVector, IsAVector) {
  std::mt19937 random(1);
  std::array<EpochVector, 4> vectors;
  std::array<Dense, 4> dense;
  for (unsigned step = 0; step < 20000; ++step) {
    unsigned a = below(random, 4), b = below(random, 4), group = below(random, kGroups);
    unsigned lane = below(random, kGroupAgents), epoch = below(random, 50);
    uint32_t *lanes = &dense[a].at[group * kGroupAgents];
    switch (below(random, 6)) {
    case 0:
      vectors[a].raise(group, lane, epoch);
      lanes[lane] = std::max(lanes[lane], epoch);
      break;
    case 1:
      vectors[a].raiseGroup(group, epoch);
      for (unsigned i = 0; i < kGroupAgents; ++i)
        lanes[i] = std::max(lanes[i], epoch);
      break;
    case 2:
      vectors[a].join(vectors[b]);
      for (unsigned i = 0; i < dense[a].at.size(); ++i)
        dense[a].at[i] = std::max(dense[a].at[i], dense[b].at[i]);
      break;
    case 3:
      vectors[a].intersect(vectors[b]);
      for (unsigned i = 0; i < dense[a].at.size(); ++i)
        dense[a].at[i] = std::min(dense[a].at[i], dense[b].at[i]);
      break;
    case 4: {
      bool covers = true;
      for (unsigned i = 0; i < dense[a].at.size(); ++i)
        covers &= dense[a].at[i] >= dense[b].at[i];
      ASSERT_EQ(vectors[a].covers(vectors[b]), covers);
      uint32_t mask = random();
      bool isAbove = true;
      for (unsigned i = 0; i < kGroupAgents; ++i)
        isAbove &= !(mask >> i & 1) || lanes[i] > epoch;
      ASSERT_TRUE(mask == 0 || vectors[a].isAbove(group, mask, epoch) == isAbove);
      break;
    }
    case 5:
      if (below(random, 20) == 0) {
        vectors[a] = EpochVector();
        dense[a] = Dense();
      }
      break;
    }
    expectSame(vectors[a], dense[a]);
    if (::testing::Test::HasFatalFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Happens-before
//===----------------------------------------------------------------------===//

/// What a model agent knows: of each agent, up to which of its actions.
using Knowledge = std::map<unsigned, unsigned>;

void join(Knowledge &a, const Knowledge &b) {
  for (const auto &[agent, count] : b)
    a[agent] = std::max(a[agent], count);
}

/// Nothing is shared or left out: each agent counts its actions, and everybody keeps all numbers.
struct Model {
  struct View {
    Knowledge seen, fenced;
    void join(const View &other) {
      ::join(seen, other.seen);
      ::join(fenced, other.fenced);
    }
  };
  struct Event {
    unsigned agent = 0, number = 0;
    bool isAtomic = false, isGeneric = true;
  };
  struct Byte {
    bool isWritten = false;
    Event write;
    std::vector<Event> reads;
  };

  explicit Model(unsigned threads) : views(threads), actions(threads), bytes(64) {}

  static bool knows(const Knowledge &known, const Event &event) {
    auto found = known.find(event.agent);
    return found != known.end() && found->second >= event.number;
  }
  bool allows(const View &view, bool isAsync, unsigned at, unsigned count, Use use) const {
    auto isBefore = [&](const Event &event) {
      return knows(view.seen, event) && (!isAsync || !event.isGeneric || knows(view.fenced, event));
    };
    for (unsigned i = at; i < at + count; ++i) {
      const Byte &byte = bytes[i];
      if (use != Use::Write && !byte.isWritten)
        return false;
      if (byte.isWritten && !isBefore(byte.write))
        return false;
      for (const Event &event : byte.reads) {
        if (event.isAtomic ? use != Use::Atomic && !isBefore(event)
                           : use != Use::Read && !knows(view.seen, event))
          return false;
      }
    }
    return true;
  }
  void record(const Event &event, unsigned at, unsigned count, Use use) {
    for (unsigned i = at; i < at + count; ++i) {
      if (use == Use::Write)
        bytes[i] = {true, event, {}};
      else
        bytes[i].reads.push_back(event);
    }
  }
  /// The thread does something that has a place in the order.
  unsigned act(unsigned thread) {
    views[thread].seen[thread] = ++actions[thread];
    return actions[thread];
  }

  std::vector<View> views;
  std::vector<unsigned> actions;
  std::vector<Byte> bytes;
};

constexpr unsigned kTestBlocks = 2, kTestThreads = 136; // a warpgroup, and a warp of eight lanes

struct Machinery {
  Machinery() {
    for (unsigned rank = 0; rank < kTestBlocks; ++rank) {
      auto block = std::make_unique<Block>();
      block->cluster = &cluster;
      block->rank = block->index = rank;
      block->dynamicSharedBytes = 64;
      block->threads = std::vector<Thread>(kTestThreads);
      for (unsigned i = 0; i < kTestThreads; ++i) {
        block->threads[i].home = block.get();
        block->threads[i].thread = i;
      }
      cluster.blocks.push_back(std::move(block));
    }
    cluster.checker = std::make_unique<Checker>(cluster);
  }
  Thread &thread(unsigned index) {
    return cluster.blocks[index / kTestThreads]->threads[index % kTestThreads];
  }
  Cluster cluster;
};

/// Random programs on both.  Most accesses are those that the model allows; one that it does not
/// ends the program, as it does a launch.
void runRandomProgram(unsigned seed, unsigned &conflicts) {
  std::mt19937 random(seed);
  constexpr unsigned kAll = kTestBlocks * kTestThreads;
  Machinery machinery;
  Checker &checker = *machinery.cluster.checker;
  Model model(kAll);
  unsigned agents = kAll;
  struct Copy {
    EngineOperation operation;
    unsigned agent, thread;
    bool inOrder;
  };
  std::vector<Copy> copies;
  std::vector<unsigned> multiplies; // their agents
  std::array<SyncClock, 3> clocks;
  std::array<Model::View, 3> views;

  // A few threads do most, so that they meet at the same bytes.
  std::vector<unsigned> active;
  for (unsigned i = 0; i < 6; ++i)
    active.push_back(below(random, 3) ? below(random, 40) : below(random, kAll));
  auto anyThread = [&] { return active[below(random, unsigned(active.size()))]; };
  auto meet = [&](const std::vector<unsigned> &group) {
    std::vector<Thread *> threads;
    Model::View all;
    for (unsigned thread : group) {
      threads.push_back(&machinery.thread(thread));
      model.act(thread);
      all.join(model.views[thread]);
    }
    for (unsigned thread : group)
      model.views[thread].join(all);
    checker.meet(threads.data(), threads.size());
  };
  auto consecutive = [](unsigned first, unsigned count) {
    std::vector<unsigned> group(count);
    for (unsigned i = 0; i < count; ++i)
      group[i] = first + i;
    return group;
  };

  for (unsigned step = 0; step < 150; ++step) {
    unsigned thread = anyThread();
    Thread &actor = machinery.thread(thread);
    unsigned log2 = below(random, 5), bytes = 1u << log2;
    unsigned at = below(random, 64 >> log2) << log2;
    Block &block = *machinery.cluster.blocks[0];
    switch (below(random, 12)) {
    default: { // an access of a thread
      Use use = Use(below(random, 8) == 0 ? 2 : below(random, 2));
      bool allowed = model.allows(model.views[thread], false, at, bytes, use);
      // The model must see the thread's own access as before whatever it does next.
      if (!allowed && below(random, 12) != 0)
        break;
      Conflict conflict =
          CheckerPeer::access(checker, actor, block, kDynamicSharedBase + at, bytes, use);
      ASSERT_EQ(!conflict, allowed) << "seed " << seed << ", step " << step;
      if (conflict) {
        ++conflicts;
        return;
      }
      model.record({thread, model.act(thread), use == Use::Atomic, true}, at, bytes, use);
      break;
    }
    case 0: // a warp, some of its lanes, a block, or anybody
      switch (below(random, 4)) {
      case 0:
        meet(consecutive(thread / kTestThreads * kTestThreads + thread % kTestThreads / 32 * 32,
                         thread % kTestThreads / 32 == 4 ? 8 : 32));
        break;
      case 1:
        meet(consecutive(thread / kTestThreads * kTestThreads, kTestThreads));
        break;
      default: {
        std::set<unsigned> some = {thread, anyThread(), anyThread()};
        meet({some.begin(), some.end()});
        break;
      }
      }
      break;
    case 1: {
      unsigned clock = below(random, 3);
      model.act(thread);
      views[clock].join(model.views[thread]);
      checker.release(actor, clocks[clock]);
      model.act(thread);
      break;
    }
    case 2: {
      unsigned clock = below(random, 3);
      model.views[thread].join(views[clock]);
      checker.acquire(actor, clocks[clock]);
      break;
    }
    case 3:
      model.act(thread);
      join(model.views[thread].fenced, model.views[thread].seen);
      checker.fenceProxyAsync(actor);
      model.act(thread);
      break;
    case 4: { // a bulk copy, or a cp.async
      bool isGeneric = below(random, 3) == 0, write = isGeneric || below(random, 2);
      bool allowed =
          model.allows(model.views[thread], !isGeneric, at, bytes, write ? Use::Write : Use::Read);
      if (!allowed && below(random, 12) != 0)
        break;
      Thread *issuers[] = {&actor};
      Copy copy;
      copy.operation = checker.begin(isGeneric ? Engine::CopyAsync
                                     : write   ? Engine::BulkLoad
                                               : Engine::BulkStore,
                                     issuers, 1);
      copy.agent = agents++;
      copy.thread = thread;
      copy.inOrder = isGeneric || !write;
      Conflict conflict =
          CheckerPeer::access(checker, copy.operation, actor, block, kDynamicSharedBase + at, bytes,
                              write ? Use::Write : Use::Read);
      ASSERT_EQ(!conflict, allowed) << "seed " << seed << ", step " << step;
      if (conflict) {
        ++conflicts;
        return;
      }
      model.record({copy.agent, 1, false, isGeneric}, at, bytes, write ? Use::Write : Use::Read);
      model.act(thread);
      copies.push_back(copy);
      break;
    }
    case 5: { // the end of one, and of those before it that end in order
      if (copies.empty())
        break;
      const Copy copy = copies[below(random, unsigned(copies.size()))];
      std::vector<unsigned> ended;
      for (const Copy &other : copies)
        if (other.agent == copy.agent ||
            (copy.inOrder && other.operation.agent == copy.operation.agent &&
             other.operation.epoch < copy.operation.epoch))
          ended.push_back(other.agent);
      if (copy.inOrder) {
        for (unsigned agent : ended)
          model.views[copy.thread].seen[agent] = 1;
        checker.acquire(machinery.thread(copy.thread), copy.operation);
      } else {
        unsigned clock = below(random, 3);
        for (unsigned agent : ended)
          views[clock].seen[agent] = 1;
        checker.complete(copy.operation, clocks[clock]);
      }
      break;
    }
    case 6: { // wgmma reads
      Model::View all;
      for (unsigned warp = 0; warp < 4; ++warp) {
        Model::View own;
        for (unsigned lane = 0; lane < 32; ++lane)
          own.join(model.views[warp * 32 + lane]);
        if (warp == 0) {
          all = own;
          continue;
        }
        for (auto *half : {&all.seen, &all.fenced})
          for (auto &[agent, count] : *half)
            count = std::min(count, (half == &all.seen ? own.seen : own.fenced)[agent]);
      }
      if (!model.allows(all, true, at, bytes, Use::Read) && below(random, 4) != 0)
        break;
      bool allowed = model.allows(all, true, at, bytes, Use::Read);
      std::vector<Thread *> issuers;
      for (unsigned i = 0; i < 128; ++i)
        issuers.push_back(&machinery.thread(i));
      EngineOperation operation = checker.begin(Engine::Wgmma, issuers.data(), issuers.size());
      Conflict conflict = CheckerPeer::access(checker, operation, *issuers[0], block,
                                              kDynamicSharedBase + at, bytes, Use::Read);
      ASSERT_EQ(!conflict, allowed) << "seed " << seed << ", step " << step;
      if (conflict) {
        ++conflicts;
        return;
      }
      model.record({agents, 1, false, false}, at, bytes, Use::Read);
      for (unsigned i = 0; i < 128; ++i)
        model.act(i);
      multiplies.push_back(agents);
      if (below(random, 2)) { // and somebody waits for it
        unsigned waiter = below(random, 128);
        checker.acquire(machinery.thread(waiter), operation);
        for (unsigned agent : multiplies) // in order
          model.views[waiter].seen[agent] = 1;
      }
      ++agents;
      break;
    }
    }
  }
}

TEST(Checker, AgreesWithAModelThatKeepsEverything) {
  unsigned conflicts = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    runRandomProgram(seed, conflicts);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(conflicts, 500u);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

const char kKernels[] = R"(
#include "swage/device/bulk.cuh"
#include "swage/device/cluster.cuh"
#include "swage/device/shared.cuh"

extern "C" __global__ void race(float *y) {
  float *words = reinterpret_cast<float *>(swage::arena<512>());
  words[swage::threadIndex()] = 1;
  swage::barrier();
  words[swage::threadIndex()] = 2;
  y[swage::threadIndex()] = words[swage::threadIndex() ^ 32];
}
extern "C" __global__ void otherBlock(const float *const *x, float **pointer, float *y) {
  float *word = reinterpret_cast<float *>(swage::arena<4>());
  if (swage::threadIndex() == 0 && swage::clusterRank() == 0) {
    *word = 1;
    *pointer = word;
  }
  swage::clusterBarrier();
  if (swage::threadIndex() == 0 && swage::clusterRank() == 1)
    *y = **pointer;
  swage::clusterBarrier();
}
extern "C" __global__ void copy(const float *x, float *y, int from, int to) {
  y[to] = x[from];
}
extern "C" __global__ void fencedByOne(float *y) {
  char *arena = swage::dynamicArena();
  reinterpret_cast<float *>(arena)[swage::threadIndex()] = 1;
  swage::barrier();
  if (swage::threadIndex() == 0) {
    swage::fenceProxyAsync();
    swage::bulkStore(y, swage::sharedAddress(arena), 256);
    swage::bulkCommit();
    swage::bulkWait<0>();
  }
}
extern "C" __global__ void lateArena(float *y) {
  float *dynamic = reinterpret_cast<float *>(swage::dynamicArena());
  dynamic[swage::threadIndex()] = 1;
  float *fixed = reinterpret_cast<float *>(swage::arena<256>());
  fixed[swage::threadIndex()] = dynamic[swage::threadIndex()];
  y[swage::threadIndex()] = fixed[swage::threadIndex()];
}
)";

class Reports : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    auto compiler = HostCompiler::get(true);
    ASSERT_TRUE(compiler) << compiler.error().message;
    CompileRequest request = kernelRequest("", kKernels);
    request.name = "checker.cu";
    auto binary = (*compiler)->compile(request);
    ASSERT_TRUE(binary) << binary.error().log;
    auto loaded = Module::load(binary->image);
    ASSERT_TRUE(loaded) << loaded.error().message;
    module = *loaded;
  }
  static void TearDownTestSuite() { module.reset(); }

  /// The report, or "".
  std::string run(const char *kernel, std::vector<void *> arguments,
                  const char *options = "check") {
    Launch launch;
    launch.module = module.get();
    launch.kernel = module->find(kernel);
    launch.threads = threads;
    launch.blocks = launch.clusterSize = cluster;
    launch.dynamicSharedBytes = 256;
    launch.arguments = arguments.data();
    launch.memory = &memory;
    auto finding = simt::run(launch, *SimulatorOptions::parse(options));
    return finding ? finding->str() : "";
  }
  void addMemory(float *begin, uint64_t bytes, const char *name) {
    memory.push_back({reinterpret_cast<char *>(begin), bytes, name});
    std::sort(memory.begin(), memory.end(),
              [](const MemoryRange &a, const MemoryRange &b) { return a.begin < b.begin; });
  }

  static std::shared_ptr<Module> module;
  unsigned threads = 64, cluster = 1;
  std::vector<MemoryRange> memory;
  // One array, so that it is known what lies beside what.
  alignas(256) float all[1024] = {};
  float *x = all + 256, *y = all + 512;
};
std::shared_ptr<Module> Reports::module;

TEST_F(Reports, BothSidesOfARace) {
  addMemory(y, 256, "y");
  std::string report = run("race", {&y}, "check,order=reverse");
  EXPECT_CONTAINS(report, "shared-race: a ");
  EXPECT_CONTAINS(report, " of 4 bytes of static shared memory at offset ");
  EXPECT_CONTAINS(report, "; nothing orders that after the ");
  EXPECT_CONTAINS(report, "checker.cu:11");
  EXPECT_CONTAINS(report, "checker.cu:12");
}

TEST_F(Reports, SharedMemoryOfAnotherBlockThroughAPointer) {
  cluster = 2;
  addMemory(y, 256, "y");
  float *pointer = x;
  addMemory(x, 256, "x");
  std::string report = run("otherBlock", {&x, &pointer, &y});
  EXPECT_CONTAINS(report,
                  "out-of-bounds: a read of 4 bytes through a pointer into the shared memory "
                  "of block 0; needed: loadCluster or storeCluster");
}

TEST_F(Reports, NearestAllocation) {
  threads = 1;
  addMemory(x, 64, "x");
  addMemory(y, 128, "");
  int zero = 0, past = 18, before = -3, far = 32;
  EXPECT_EQ(run("copy", {&x, &y, &zero, &zero}), "");
  EXPECT_CONTAINS(run("copy", {&x, &y, &past, &zero}),
                  "out-of-bounds: a read of 4 bytes 8 bytes past the end of x (64 bytes)");
  EXPECT_CONTAINS(run("copy", {&x, &y, &before, &zero}), "12 bytes before x (64 bytes)");
  EXPECT_CONTAINS(run("copy", {&x, &y, &zero, &far}),
                  "a write of 4 bytes 0 bytes past the end of an allocation (128 bytes)");
  float *null = nullptr;
  EXPECT_CONTAINS(run("copy", {&null, &y, &zero, &zero}), "null pointer");
}

TEST_F(Reports, InputsThatAreOutputsToo) {
  threads = 1;
  addMemory(x, 64, "x");
  int zero = 0, one = 1;
  EXPECT_EQ(run("copy", {&x, &x, &zero, &one}), "");
  addMemory(y, 64, "y");
  int toInput = int(x - y);
  EXPECT_CONTAINS(
      run("copy", {&x, &y, &zero, &toInput}),
      "read-only-write: a write of 4 bytes to x (64 bytes) at offset 0, which the kernel "
      "gets as a pointer to const (parameter 0)");
}

TEST_F(Reports, WhoFencesMattersWhenStrict) {
  addMemory(y, 256, "y");
  EXPECT_EQ(run("fencedByOne", {&y}), "");
  EXPECT_CONTAINS(run("fencedByOne", {&y}, "check,strict"),
                  "missing-fence: bulkStore reads dynamic "
                  "shared memory at offset ");
}

TEST_F(Reports, DynamicMemoryOutlivesTheArena) {
  addMemory(y, 256, "y");
  EXPECT_EQ(run("lateArena", {&y}), "");
}

} // namespace
