//===- Scheduler.cpp - Fibers, clusters and workers -----------------------===//
//
// A thread runs until it waits. The next one is taken from the ready ring by the order that the
// options ask for; when the ring is empty, an asynchronous copy takes effect; when there is none,
// the threads that wait in loops go on, after another cluster has been started for them to wait
// for. When there is nothing of this, the launch is deadlocked.
//
//===----------------------------------------------------------------------===//
#include "Scheduler.h"

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

using namespace swage;
using namespace swage::simt;

thread_local WorkerImpl *swage::simt::currentWorker = nullptr;

/// After this long without any thread making progress, loops that wait are taken to wait forever.
static constexpr std::chrono::seconds kPatience{3};
/// And after so many looks of each: who has looked that often without success may help itself
/// (templates/swage/crowd.cuh: 100), which takes longer than that where very many threads look.
static constexpr uint64_t kLooks = 256;
/// A worker that computes may do what the others wait for: it counts as waiting only if it has
/// looked within this time.
static constexpr std::chrono::seconds kLookedLately{1};
/// What waits for each other: as much as an H200 holds at once.
static constexpr size_t kMaxResidentBlocks = 132 * 32, kMaxResidentThreads = 132 * 2048;
static constexpr size_t kSharedSpan = (kSharedEnd + 4095) / 4096 * 4096;

//===----------------------------------------------------------------------===//
// Ring
//===----------------------------------------------------------------------===//

void Ring::reserve(size_t wanted) {
  if (wanted <= slots.size())
    return;
  size_t capacity = 64;
  while (capacity < wanted)
    capacity *= 2;
  std::vector<Thread *> larger(capacity);
  for (size_t i = 0; i < count; ++i)
    larger[i] = slots[(head + i) & mask];
  slots = std::move(larger);
  head = 0;
  mask = capacity - 1;
}

Thread *Ring::popAt(size_t index) {
  Thread *&slot = slots[(head + index) & mask];
  Thread *thread = slot;
  slot = slots[(head + count - 1) & mask];
  --count;
  return thread;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

std::string Thread::str() const {
  return fmt::format("block {}, thread {} (warp {}, lane {})", block, thread, warp(), lane());
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014); never 0, where xorshift would stay.
static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return (x ^ (x >> 31)) | 1;
}

WorkerImpl::WorkerImpl(const Launch &launch, const SimulatorOptions &options, LaunchState &state,
                       unsigned number)
    : launch(launch), options(options), state(state), handle(*this), number(number),
      randomState(mixed(options.seed + mixed(number))), stacks(StackPool::take()) {
  for (auto stack = stacks.rbegin(); stack != stacks.rend(); ++stack)
    freeStacks.push_back(stack->get());
}

static void freeShared(Cluster &cluster) {
  for (auto &block : cluster.blocks)
    if (block->shared)
      munmap(block->shared, kSharedSpan);
}

WorkerImpl::~WorkerImpl() {
  for (auto *clusters : {&resident, &idle})
    for (auto &cluster : *clusters)
      freeShared(*cluster);
  StackPool::giveBack(std::move(stacks));
}

/// Null when there is no memory.
static std::unique_ptr<Cluster> makeCluster(WorkerImpl &worker) {
  const Launch &launch = worker.launch;
  auto cluster = std::make_unique<Cluster>();
  cluster->worker = &worker.handle;
  for (unsigned rank = 0; rank < launch.clusterSize; ++rank) {
    auto block = std::make_unique<Block>();
    block->cluster = cluster.get();
    block->rank = rank;
    block->threads = std::vector<Thread>(launch.threads);
    block->warps.resize((launch.threads + kWarpLanes - 1) / kWarpLanes);
    block->warpgroups.resize((launch.threads + kWarpgroupThreads - 1) / kWarpgroupThreads);
    void *shared = mmap(nullptr, kSharedSpan, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) {
      freeShared(*cluster);
      return nullptr;
    }
    block->shared = static_cast<char *>(shared);
    block->dynamicSharedBytes = launch.dynamicSharedBytes;
    for (unsigned i = 0; i < launch.threads; ++i) {
      Thread &thread = block->threads[i];
      thread.home = block.get();
      thread.thread = i;
      thread.threads = launch.threads;
      thread.blocks = launch.blocks;
      thread.clusterRank = rank;
      thread.clusterSize = launch.clusterSize;
      thread.dynamicShared = block->shared + kDynamicSharedBase;
      thread.dynamicSharedBytes = launch.dynamicSharedBytes;
    }
    cluster->blocks.push_back(std::move(block));
  }
  if (worker.options.check)
    cluster->checker = std::make_unique<Checker>(*cluster);
  return cluster;
}

/// The block as it is when its threads start.
static void resetBlock(Block &block, unsigned index) {
  block.index = index;
  block.live = unsigned(block.threads.size());
  block.staticSharedBytes = 0;
  std::memset(block.shared + kDynamicSharedBase, kPoisonByte, block.dynamicSharedBytes);
  for (Warp &warp : block.warps)
    warp.used = warp.finished = 0;
  for (Warpgroup &group : block.warpgroups) {
    group.arrived = 0;
    group.multiplies.clear();
    group.multiplyState.reset();
  }
  if (block.hasCopies) {
    block.hasCopies = false;
    for (Thread &thread : block.threads) {
      thread.copies.clear();
      thread.bulkStores.clear();
    }
  }
  if (block.arrivedAtBarriers)
    for (Barrier &barrier : block.barriers)
      barrier = Barrier();
  block.arrivedAtBarriers = 0;
  block.mbarriers.clear();
  for (Thread &thread : block.threads) {
    thread.block = index;
    thread.finished = false;
    thread.arrivedAtCluster = false;
    thread.mustWaitForGrids = block.cluster->worker->launch().overlap;
    thread.atomicReads = 0;
    thread.fiber = Fiber();
  }
}

bool WorkerImpl::startCluster() {
  if (state.stopped.load(std::memory_order_relaxed))
    return false;
  uint64_t position = state.next.fetch_add(1, std::memory_order_relaxed);
  if (position >= state.clusters)
    return false;
  if (idle.empty()) {
    auto made = makeCluster(*this);
    if (!made) {
      finding = Finding();
      finding->message = "no memory for the shared memory of another block";
      state.stopped.store(true);
      return false;
    }
    idle.push_back(std::move(made));
  }
  std::unique_ptr<Cluster> cluster = std::move(idle.back());
  idle.pop_back();
  cluster->index = unsigned((position * state.multiplier + state.offset) % state.clusters);
  cluster->live = launch.threads * launch.clusterSize;
  cluster->barrier = Barrier();
  for (auto &block : cluster->blocks)
    resetBlock(*block, cluster->index * launch.clusterSize + block->rank);
  if (cluster->checker) {
    for (auto &block : cluster->blocks)
      for (Thread &thread : block->threads)
        thread.clock = ThreadClock();
    cluster->checker->reset();
  }
  ready.reserve((resident.size() + 1) * cluster->live); // all may be ready at once
  for (auto &block : cluster->blocks)
    for (Thread &thread : block->threads)
      ready.pushBack(&thread);
  resident.push_back(std::move(cluster));
  state.residentBlocks += launch.clusterSize;
  return true;
}

void WorkerImpl::retire(Cluster &cluster) {
  // What nobody waited for takes effect now.
  for (auto *operations : {&signalling, &others})
    for (size_t i = 0; i < operations->size();) {
      AsyncRef operation = (*operations)[i];
      if (operation->issuer->home->cluster != &cluster) {
        ++i;
        continue;
      }
      operations->erase(operations->begin() + ptrdiff_t(i));
      if (!operation->done) {
        operation->done = true;
        operation->perform();
      }
    }
  auto at = std::find_if(resident.begin(), resident.end(),
                         [&](const auto &other) { return other.get() == &cluster; });
  idle.push_back(std::move(*at));
  resident.erase(at);
  state.residentBlocks -= launch.clusterSize;
}

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

Stack *WorkerImpl::takeStack() {
  if (freeStacks.empty()) {
    auto stack = Stack::create(stacks.size());
    if (!stack)
      return nullptr;
    stacks.push_back(std::move(stack));
    return stacks.back().get();
  }
  Stack *stack = freeStacks.back();
  freeStacks.pop_back();
  return stack;
}

static void threadEntry() { currentWorker->threadMain(); }

/// `thread` null: the main stack.
void WorkerImpl::switchTo(Thread *thread, void **save) {
  ++stats.switches;
  beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (!thread) {
    switchContext(save, mainContext);
    return;
  }
  if (!thread->fiber.context) {
    Stack *stack = takeStack();
    if (!stack) {
      finding = Finding();
      finding->kind = FindingKind::Crash;
      finding->message = fmt::format(
          "no memory for the stack of another thread; {} threads of {} blocks wait for each other",
          stacks.size(), resident.size() * launch.clusterSize);
      finding->thread = thread->str();
      stop();
    }
    thread->fiber.stack = stack;
    thread->fiber.context = makeContext(*stack, threadEntry);
  }
  running = thread;
  switchContext(save, thread->fiber.context);
}

/// Leaves the fiber for good; the main stack sees the finding.
void WorkerImpl::stop() {
  void *dropped;
  switchContext(&dropped, mainContext);
  __builtin_unreachable();
}

void WorkerImpl::performOne(std::deque<AsyncRef> &operations) {
  size_t index = options.async == Asynchrony::Random ? handle.random() % operations.size() : 0;
  AsyncRef operation = operations[index];
  operations.erase(operations.begin() + ptrdiff_t(index));
  if (operation->done)
    return;
  operation->done = true;
  operation->perform();
}

Thread *WorkerImpl::next() {
  if (state.stopped.load(std::memory_order_relaxed))
    return nullptr;
  if (options.async == Asynchrony::Random && (!signalling.empty() || !others.empty()) &&
      (handle.random() & 7) == 0)
    performOne(others.empty() || (!signalling.empty() && handle.random() % 2) ? signalling
                                                                              : others);
  while (ready.empty()) {
    if (!signalling.empty())
      performOne(signalling);
    else if (paused.empty() || !waitForOthers())
      return nullptr;
  }
  switch (options.order) {
  case Order::Forward:
    return ready.popFront();
  case Order::Reverse:
    return ready.popBack();
  case Order::Random:
    break;
  }
  return ready.popAt(handle.random() % ready.size());
}

bool LaunchState::allLookedSince(std::chrono::steady_clock::time_point time) const {
  return std::all_of(looked.begin(), looked.end(),
                     [&](const auto &last) { return last.load() >= time; });
}

bool WorkerImpl::hasRoomForCluster() const {
  size_t blocks = state.residentBlocks.load() + launch.clusterSize;
  return blocks <= kMaxResidentBlocks && blocks * launch.threads <= kMaxResidentThreads;
}

/// Only threads that wait in loops are left: gives them something to wait for, and lets them look
/// again.
bool WorkerImpl::waitForOthers() {
  if (state.stopped.load(std::memory_order_relaxed))
    return false;
  if (hasRoomForCluster() && startCluster())
    return true;
  auto now = std::chrono::steady_clock::now();
  if (fruitlessRounds++ == 0)
    fruitlessSince = now;
  if (fruitlessRounds > 16) {
    if (!isFruitless) {
      isFruitless = true;
      ++state.fruitless;
    }
    state.looked[number] = now;
    // Another worker that goes on may still do what is waited for.
    if (state.fruitless.load() < state.running.load())
      fruitlessSince = now;
    else if (fruitlessRounds > kLooks && now - fruitlessSince > kPatience &&
             state.allLookedSince(now - kLookedLately))
      return false;
    sched_yield();
  }
  for (Thread *thread : paused)
    ready.pushBack(thread);
  paused.clear();
  return true;
}

void Worker::wake(Thread &thread) {
  thread.wait = Wait();
  impl.noteProgress();
  // In the forward order, those that were woken together go on together: their data is in the
  // cache.
  if (impl.options.order == Order::Forward)
    impl.ready.pushFront(&thread);
  else
    impl.ready.pushBack(&thread);
}

void Worker::suspend(const Wait &wait) {
  Thread &thread = *impl.running;
  thread.wait = wait;
  Thread *next = impl.next();
  if (!next) {
    if (!impl.finding && !impl.state.stopped.load())
      impl.finding = impl.deadlock();
    impl.stop();
  }
  if (next != &thread) {
    impl.switchTo(next, &thread.fiber.context);
    impl.running = &thread;
  }
  thread.wait = Wait();
}

void Worker::pause(const void *code) {
  Wait wait;
  wait.kind = Wait::For::Pause;
  wait.what = "a loop";
  wait.code = code;
  impl.paused.push_back(impl.running);
  suspend(wait);
}

void Worker::onMainStack(const std::function<void()> &function) {
  Thread *thread = impl.running;
  impl.mainTask = &function;
  switchContext(&thread->fiber.context, impl.mainContext);
}

void WorkerImpl::finishThread(Thread &thread) {
  thread.finished = true;
  noteProgress();
  Block &block = *thread.home;
  Cluster &cluster = *block.cluster;
  --block.live;
  --cluster.live;
  Warp &warp = block.warps[thread.warp()];
  warp.finished |= 1u << thread.lane();
  if (warp.used)
    leaveWarp(thread);
  if (block.arrivedAtBarriers || cluster.barrier.arrived)
    leaveBarriers(thread);
  if (block.live == 0 && cluster.checker)
    cluster.checker->end(block);
  if (cluster.live == 0)
    retire(cluster);
}

/// Threads one after the other on one stack, as long as they do not wait.
void WorkerImpl::threadMain() {
  for (;;) {
    Thread &thread = *running;
    launch.kernel->invoke(launch.arguments);
    Fiber fiber = thread.fiber;
    finishThread(thread);
    if (resident.empty())
      startCluster();
    Thread *following = next();
    if (following && !following->fiber.context) {
      beats.store(beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      following->fiber = fiber;
      following->fiber.context = &following->fiber; // started
      running = following;
      continue;
    }
    if (!following) {
      if (!resident.empty() && !finding && !state.stopped.load())
        finding = deadlock();
      stop();
    }
    freeStacks.push_back(fiber.stack);
    void *dropped;
    switchTo(following, &dropped);
  }
}

void WorkerImpl::run() {
  currentWorker = this;
  // Kernels round to nearest, keep denormals and never trap, whatever the program has chosen.
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  {
    SignalScope signals(*this);
    if (startCluster())
      if (Thread *first = next()) {
        switchTo(first, &mainContext);
        while (mainTask) {
          (*mainTask)();
          mainTask = nullptr;
          switchContext(&mainContext, running->fiber.context);
        }
      }
  }
  std::fesetenv(&environment);
  running = nullptr;
  currentWorker = nullptr;
  state.looked[number] = std::chrono::steady_clock::time_point::max();
  if (isFruitless)
    --state.fruitless;
  --state.running;
  if (finding) {
    state.stopped.store(true);
  }
}

//===----------------------------------------------------------------------===//
// Worker
//===----------------------------------------------------------------------===//

Worker &Worker::current() { return currentWorker->handle; }
Thread &Worker::thread() { return *currentWorker->running; }
const Launch &Worker::launch() const { return impl.launch; }
const SimulatorOptions &Worker::options() const { return impl.options; }

/// xorshift64 (Marsaglia, 2003).
uint64_t Worker::random() {
  uint64_t &x = impl.randomState;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x >> 8;
}

void Worker::issue(const AsyncRef &operation) {
  operation->issuer->home->hasCopies = true;
  if (impl.options.async == Asynchrony::Eager) {
    operation->done = true;
    operation->perform();
    return;
  }
  (operation->signals ? impl.signalling : impl.others).push_back(operation);
}

void Worker::finish(AsyncOperation &operation) {
  if (operation.done)
    return;
  for (auto *operations : {&impl.signalling, &impl.others})
    for (auto at = operations->begin(); at != operations->end(); ++at)
      if (at->get() == &operation) {
        operations->erase(at);
        operation.done = true;
        operation.perform();
        return;
      }
}

void Worker::fail(const Thread &thread, FindingKind kind, const void *code, std::string message,
                  std::vector<RelatedPlace> related) {
  Finding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  finding.place = code;
  finding.thread = thread.str();
  finding.related = std::move(related);
  impl.findingCluster = thread.home->cluster->index;
  fail(std::move(finding));
}

void Worker::fail(Finding finding) {
  impl.finding = std::move(finding);
  impl.stop();
}
