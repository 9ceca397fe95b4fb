//===- Threads.cpp - Warps, barriers and clusters -------------------------===//
//
// Every collective is a rendezvous: each thread leaves what it has and waits; the last one to
// arrive computes for all and wakes them. That costs one switch for each thread.
//
//===----------------------------------------------------------------------===//
#include "Reduce.h"
#include "Scheduler.h"

#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

/// The functions of the table run on fibers, where their return address is the place in the kernel.
#define CODE SWAGE_SIMT_CALLER

static bool samePlace(const void *a, const void *b) {
  if (a == b)
    return true;
  bool same = false;
  Worker &worker = Worker::current();
  worker.onMainStack([&] { same = worker.launch().module->samePlace(a, b); });
  return same;
}

//===----------------------------------------------------------------------===//
// Meetings
//===----------------------------------------------------------------------===//

/// Fails unless the thread may join the meeting in which others of its warp wait. Apart from
/// meetWarp because the happy path makes no text.
[[gnu::noinline]] static void failToMeet(const Meeting &meeting, unsigned mask, const char *what,
                                         const void *code) {
  Worker &worker = Worker::current();
  const Thread &thread = Worker::thread();
  unsigned other = unsigned(__builtin_ctz(meeting.arrived));
  std::string message;
  if (meeting.expected != mask)
    message = fmt::format("{} with lanes 0x{:08x} meets {} with lanes 0x{:08x}", what, mask,
                          meeting.what, meeting.expected);
  else if (std::strcmp(meeting.what, what) != 0)
    message = fmt::format("lane {} is in {} while lane {} of the same warp is in {}", thread.lane(),
                          what, other, meeting.what);
  else if (!samePlace(meeting.code, code))
    message = fmt::format("lanes {} and {} of a warp reach {} in different places", thread.lane(),
                          other, what);
  else
    return;
  worker.fail(thread, FindingKind::Divergence, code, message,
              {{fmt::format("lane {} waits in {}", other, meeting.what), meeting.code}});
}

/// Lanes that have finished are not waited for, as CUDA says of its _sync functions; the matrix
/// instructions want all.
static unsigned lanesNeeded(const Meeting &meeting, const Warp &warp) {
  bool wantsAll = meeting.orders && meeting.combine;
  return wantsAll ? meeting.expected : meeting.expected & ~warp.finished;
}

/// All have come.  `lanes`: the warp's threads; `last`: the one that noticed and does not wait.
static void completeMeeting(Meeting &meeting, Warp &warp, Thread *lanes, const Thread *last) {
  const Meeting complete = meeting;
  Cluster &cluster = *lanes->home->cluster;
  ++currentWorker->stats.meetings;
  meeting.arrived = 0;
  while (warp.used && !warp.meetings[warp.used - 1].arrived)
    --warp.used;
  if (complete.combine) {
    void *arguments[kWarpLanes] = {};
    for (unsigned left = complete.arrived; left; left &= left - 1) {
      unsigned lane = unsigned(__builtin_ctz(left));
      arguments[lane] = lanes[lane].argument;
    }
    complete.combine(arguments, complete.context);
  }
  if (complete.orders && cluster.checker) {
    Thread *together[kWarpLanes];
    size_t count = 0;
    for (unsigned left = complete.arrived; left; left &= left - 1)
      together[count++] = &lanes[__builtin_ctz(left)];
    cluster.checker->meet(together, count);
  }
  // From the last lane down: the forward order runs what was woken last first.
  for (unsigned left = complete.arrived; left;) {
    unsigned lane = 31 - unsigned(__builtin_clz(left));
    left ^= 1u << lane;
    if (&lanes[lane] != last)
      cluster.worker->wake(lanes[lane]);
  }
}

void swage::simt::meetWarp(unsigned mask, const char *what, const void *code, bool orders,
                           void *argument, Combine combine, void *context) {
  Worker &worker = Worker::current();
  Thread &thread = Worker::thread();
  Block &block = *thread.home;
  unsigned first = thread.warp() * kWarpLanes;
  unsigned present = unsigned(block.threads.size()) - first;
  if (present < kWarpLanes)
    mask &= (1u << present) - 1;
  if (!(mask >> thread.lane() & 1))
    worker.fail(
        thread, FindingKind::Divergence, code,
        fmt::format("{}: the calling lane {} is not among the lanes 0x{:08x} that take part", what,
                    thread.lane(), mask));
  Warp &warp = block.warps[thread.warp()];
  Meeting *meeting = nullptr, *free = nullptr;
  for (unsigned i = 0; i < warp.used; ++i) {
    Meeting &candidate = warp.meetings[i];
    if (!candidate.arrived)
      free = &candidate;
    else if (candidate.expected == mask)
      meeting = &candidate;
    else if ((candidate.expected >> thread.lane() & 1) && (candidate.arrived & mask))
      failToMeet(candidate, mask, what, code); // each waits for the other
  }
  if (!meeting) {
    if (!free && warp.used == warp.meetings.size())
      worker.fail(thread, FindingKind::Divergence, code,
                  fmt::format("{}: the warp is in more than {} places at once", what,
                              warp.meetings.size()));
    meeting = free ? free : &warp.meetings[warp.used++];
    *meeting = {mask, 0, what, code, orders, combine, context};
  } else {
    if (meeting->code != code || meeting->what != what)
      failToMeet(*meeting, mask, what, code);
  }
  thread.argument = argument;
  meeting->arrived |= 1u << thread.lane();
  if (meeting->arrived != lanesNeeded(*meeting, warp)) {
    Wait wait;
    wait.kind = Wait::For::Warp;
    wait.what = what;
    wait.code = code;
    wait.a = mask;
    worker.suspend(wait);
    return;
  }
  completeMeeting(*meeting, warp, &block.threads[first], &thread);
}

void swage::simt::leaveWarp(Thread &thread) {
  Block &block = *thread.home;
  Warp &warp = block.warps[thread.warp()];
  for (unsigned i = 0; i < warp.used; ++i) {
    Meeting &meeting = warp.meetings[i];
    if (meeting.arrived && meeting.arrived == lanesNeeded(meeting, warp))
      completeMeeting(meeting, warp, &block.threads[thread.warp() * kWarpLanes], nullptr);
  }
}

void swage::simt::meetWarpgroup(const char *what, const void *code, bool orders, void *argument,
                                Combine combine, void *context) {
  Worker &worker = Worker::current();
  Thread &thread = Worker::thread();
  Block &block = *thread.home;
  unsigned first = thread.warpgroup() * kWarpgroupThreads;
  if (first + kWarpgroupThreads > block.threads.size())
    worker.fail(thread, FindingKind::Divergence, code,
                fmt::format("{} in a warpgroup of {} threads; needed: {}", what,
                            block.threads.size() - first, kWarpgroupThreads));
  Warpgroup &group = block.warpgroups[thread.warpgroup()];
  Meeting &meeting = group.meeting;
  if (group.arrived == 0) {
    meeting = {kWarpgroupThreads, 0, what, code};
  } else if ((meeting.what != what && std::strcmp(meeting.what, what) != 0) ||
             !samePlace(meeting.code, code)) {
    worker.fail(
        thread, FindingKind::Divergence, code,
        fmt::format("the warpgroup is in {} and in {} at once", what, meeting.what),
        {{fmt::format("{} threads wait in {}", group.arrived, meeting.what), meeting.code}});
  }
  thread.argument = argument;
  if (++group.arrived != kWarpgroupThreads) {
    Wait wait;
    wait.kind = Wait::For::Warpgroup;
    wait.what = what;
    wait.code = code;
    worker.suspend(wait);
    return;
  }
  ++currentWorker->stats.meetings;
  group.arrived = 0;
  Thread *threads = &block.threads[first];
  void *arguments[kWarpgroupThreads];
  Thread *together[kWarpgroupThreads];
  for (unsigned i = 0; i < kWarpgroupThreads; ++i) {
    arguments[i] = threads[i].argument;
    together[i] = &threads[i];
  }
  if (combine)
    combine(arguments, context);
  if (orders && block.cluster->checker)
    block.cluster->checker->meet(together, kWarpgroupThreads);
  for (unsigned i = kWarpgroupThreads; i-- > 0;)
    if (together[i] != &thread)
      worker.wake(*together[i]);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

static ThreadView *currentThread() { return currentWorker->running; }

namespace {
struct Shuffle {
  void *value;
  unsigned bytes, source;
};
} // namespace

/// What a lane gets that reads from one that does not take part: undefined, so nothing useful.
static void poison(void *value, unsigned bytes) { std::memset(value, 0xde, bytes); }

static void combineShuffle(void *const *arguments, void *) {
  unsigned char values[kWarpLanes][16];
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    if (const auto *shuffle = static_cast<const Shuffle *>(arguments[lane]))
      std::memcpy(values[lane], shuffle->value, shuffle->bytes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    if (const auto *shuffle = static_cast<const Shuffle *>(arguments[lane])) {
      if (arguments[shuffle->source])
        std::memcpy(shuffle->value, values[shuffle->source], shuffle->bytes);
      else
        poison(shuffle->value, shuffle->bytes);
    }
}

static void shuffle(unsigned mask, void *value, unsigned bytes, unsigned source, const char *name) {
  Shuffle mine{value, bytes, source % kWarpLanes};
  meetWarp(mask, name, CODE, false, &mine, combineShuffle, nullptr);
}

namespace {
struct Ballot {
  bool predicate;
  unsigned result;
};
} // namespace

static unsigned ballot(unsigned mask, bool predicate, const char *name) {
  Ballot mine{predicate, 0};
  meetWarp(
      mask, name, CODE, false, &mine,
      [](void *const *arguments, void *) {
        unsigned lanes = 0;
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          if (arguments[lane] && static_cast<Ballot *>(arguments[lane])->predicate)
            lanes |= 1u << lane;
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          if (arguments[lane])
            static_cast<Ballot *>(arguments[lane])->result = lanes;
      },
      nullptr);
  return mine.result;
}

namespace {
struct Match {
  unsigned long long value;
  unsigned result;
};
} // namespace

static unsigned match(unsigned mask, unsigned long long value) {
  Match mine{value, 0};
  meetWarp(
      mask, "matchLanes", CODE, false, &mine,
      [](void *const *arguments, void *) {
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          if (auto *own = static_cast<Match *>(arguments[lane]))
            for (unsigned other = 0; other < kWarpLanes; ++other)
              if (arguments[other] && static_cast<Match *>(arguments[other])->value == own->value)
                own->result |= 1u << other;
      },
      nullptr);
  return mine.result;
}

static unsigned reduceTwo(unsigned a, unsigned b, ReduceOp op, bool isSigned) {
  return isSigned ? unsigned(combined(int(a), int(b), op)) : combined(a, b, op);
}

namespace {
struct LaneReduce {
  unsigned value;
  ReduceOp op;
  bool isSigned;
};
} // namespace

static unsigned reduceLanes(unsigned mask, unsigned value, ReduceOp op, NumberKind kind) {
  LaneReduce mine{value, op, kind == NumberKind::Signed};
  meetWarp(
      mask, "reduceLanes", CODE, false, &mine,
      [](void *const *arguments, void *) {
        LaneReduce *first = nullptr;
        unsigned result = 0;
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          if (auto *other = static_cast<LaneReduce *>(arguments[lane])) {
            result =
                first ? reduceTwo(result, other->value, first->op, first->isSigned) : other->value;
            first = first ? first : other;
          }
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          if (auto *other = static_cast<LaneReduce *>(arguments[lane]))
            other->value = result;
      },
      nullptr);
  return mine.value;
}

static void syncWarp(unsigned mask) {
  meetWarp(mask, "syncWarp", CODE, true, nullptr, nullptr, nullptr);
}

/// The lowest lane, as the hardware chooses.
static bool elect() {
  bool mine = false;
  meetWarp(
      ~0u, "electLane", CODE, false, &mine,
      [](void *const *arguments, void *) {
        for (unsigned lane = 0; lane < kWarpLanes; ++lane)
          if (arguments[lane]) {
            *static_cast<bool *>(arguments[lane]) = true;
            return;
          }
      },
      nullptr);
  return mine;
}

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

/// All have come. `last`: the thread that noticed; it does not wait.
static void completeBarrier(Barrier &barrier, Thread *last, Block &block) {
  Worker &worker = *block.cluster->worker;
  ++currentWorker->stats.meetings;
  std::vector<Thread *> waiting = std::move(barrier.waiting);
  if (Checker *checker = block.cluster->checker.get()) {
    if (barrier.clock.data)
      for (Thread *thread : waiting)
        checker->acquire(*thread, barrier.clock);
    checker->meet(waiting.data(), waiting.size());
  }
  unsigned count = barrier.count;
  block.arrivedAtBarriers -= barrier.arrived;
  barrier = Barrier();
  for (size_t i = waiting.size(); i-- > 0;) {
    if (waiting[i]->argument)
      *static_cast<unsigned *>(waiting[i]->argument) = count;
    if (waiting[i] != last)
      worker.wake(*waiting[i]);
  }
}

/// Fails unless the thread may come to a barrier at which others have arrived.
[[gnu::noinline]] static void failToJoin(const Barrier &barrier, unsigned id, unsigned threads,
                                         const char *what, const void *code) {
  Worker &worker = Worker::current();
  const Thread &thread = Worker::thread();
  unsigned live = thread.home->live;
  std::vector<RelatedPlace> there = {
      {fmt::format("{} threads have come to {}", barrier.arrived, barrier.what), barrier.code}};
  if (barrier.expected != threads)
    worker.fail(thread, FindingKind::BarrierMisuse, code,
                fmt::format("{}: barrier {} is for {} threads here and for {} there", what, id,
                            threads ? threads : live, barrier.expected ? barrier.expected : live),
                there);
  if (!samePlace(barrier.code, code))
    worker.fail(thread, FindingKind::Divergence, code,
                fmt::format("{} is reached here while other threads of the block wait in another "
                            "place",
                            what),
                there);
}

static void arriveAtBarrier(unsigned id, unsigned threads, bool waits, bool predicate,
                            unsigned *result, const char *what, const void *code) {
  Worker &worker = Worker::current();
  Thread &thread = Worker::thread();
  Block &block = *thread.home;
  if (id >= kNamedBarriers)
    worker.fail(thread, FindingKind::BarrierMisuse, code,
                fmt::format("{}: barrier {}; there are {}", what, id, kNamedBarriers));
  if (threads % kWarpLanes != 0 || threads > (block.threads.size() + 31) / 32 * 32)
    worker.fail(thread, FindingKind::BarrierMisuse, code,
                fmt::format("{}: {} threads in a block of {}; needed: a multiple of {}", what,
                            threads, block.threads.size(), kWarpLanes));
  Barrier &barrier = block.barriers[id];
  if (barrier.arrived == 0) {
    barrier.expected = threads;
    barrier.what = what;
    barrier.code = code;
  } else {
    if (barrier.expected != threads || (threads == 0 && barrier.code != code))
      failToJoin(barrier, id, threads, what, code);
  }
  unsigned needed = threads ? threads : block.live;
  ++barrier.arrived;
  ++block.arrivedAtBarriers;
  barrier.count += predicate;
  if (barrier.arrived > needed)
    worker.fail(thread, FindingKind::BarrierMisuse, code,
                fmt::format("{}: {} threads at barrier {}; it is for {}", what, barrier.arrived, id,
                            needed));
  if (waits) {
    thread.argument = result;
    barrier.waiting.push_back(&thread);
  } else if (block.cluster->checker) {
    block.cluster->checker->release(thread, barrier.clock);
  }
  if (barrier.arrived == needed) {
    completeBarrier(barrier, &thread, block);
    return;
  }
  if (!waits)
    return;
  Wait wait;
  wait.kind = Wait::For::Barrier;
  wait.what = what;
  wait.code = code;
  wait.a = id;
  worker.suspend(wait);
}

static void barrier(unsigned id, unsigned threads) {
  arriveAtBarrier(id, threads, true, false, nullptr, threads ? "namedBarrier" : "barrier", CODE);
}
static void barrierArrive(unsigned id, unsigned threads) {
  arriveAtBarrier(id, threads, false, false, nullptr, "namedBarrierArrive", CODE);
}
static unsigned barrierCount(bool predicate) {
  unsigned count = 0;
  arriveAtBarrier(0, 0, true, predicate, &count, "barrierCount", CODE);
  return count;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

static void completeClusterBarrier(Cluster &cluster) {
  Barrier &barrier = cluster.barrier;
  ++currentWorker->stats.meetings;
  ++barrier.phase;
  barrier.arrived = 0;
  barrier.completed = barrier.clock;
  barrier.clock = SyncClock();
  std::vector<Thread *> waiting = std::move(barrier.waiting);
  barrier.waiting.clear();
  for (size_t i = waiting.size(); i-- > 0;)
    cluster.worker->wake(*waiting[i]);
}

static void clusterArrive() {
  Thread &thread = Worker::thread();
  Cluster &cluster = *thread.home->cluster;
  if (thread.arrivedAtCluster)
    Worker::current().fail(
        thread, FindingKind::BarrierMisuse, CODE,
        "clusterBarrierArrive: the thread has arrived already and not waited yet");
  thread.arrivedAtCluster = true;
  thread.clusterPhase = cluster.barrier.phase;
  if (cluster.checker)
    cluster.checker->release(thread, cluster.barrier.clock);
  if (++cluster.barrier.arrived == cluster.live)
    completeClusterBarrier(cluster);
}

static void clusterWait() {
  const void *code = CODE;
  Thread &thread = Worker::thread();
  Cluster &cluster = *thread.home->cluster;
  if (!thread.arrivedAtCluster)
    Worker::current().fail(thread, FindingKind::BarrierMisuse, code,
                           "clusterBarrierWait: the thread has not arrived");
  if (thread.clusterPhase == cluster.barrier.phase) {
    cluster.barrier.waiting.push_back(&thread);
    Wait wait;
    wait.kind = Wait::For::ClusterBarrier;
    wait.what = "clusterBarrierWait";
    wait.code = code;
    Worker::current().suspend(wait);
  }
  thread.arrivedAtCluster = false;
  if (cluster.checker)
    cluster.checker->acquire(thread, cluster.barrier.completed);
}

void swage::simt::leaveBarriers(Thread &thread) {
  Block &block = *thread.home;
  Cluster &cluster = *block.cluster;
  if (thread.arrivedAtCluster && thread.clusterPhase == cluster.barrier.phase) {
    --cluster.barrier.arrived;
    if (cluster.checker)
      cluster.checker->release(thread, cluster.barrier.clock);
  }
  if (cluster.live && cluster.barrier.arrived == cluster.live)
    completeClusterBarrier(cluster);
  for (Barrier &barrier : block.barriers)
    if (barrier.arrived && barrier.expected == 0 && barrier.arrived == block.live)
      completeBarrier(barrier, nullptr, block);
}

//===----------------------------------------------------------------------===//
// Launch control
//===----------------------------------------------------------------------===//

namespace {
struct RegisterCount {
  unsigned registers;
  bool increase;
};
} // namespace

static void setRegisters(unsigned registers, bool increase) {
  const void *code = CODE;
  RegisterCount mine{registers, increase};
  if (registers < 24 || registers > 256 || registers % 8 != 0)
    Worker::current().fail(
        Worker::thread(), FindingKind::BadInstruction, code,
        fmt::format("setmaxnreg to {} registers; allowed: 24 to 256 in steps of 8", registers));
  meetWarpgroup(increase ? "increaseRegisters" : "decreaseRegisters", code, false, &mine, nullptr,
                nullptr);
}

/// A launch begins when the one before has ended, so there is nothing to wait for; that the kernel
/// would is checked.
static void waitForPriorGrids() {
  Worker::thread().mustWaitForGrids = false;
  currentWorker->state.waitedForGrids.store(true, std::memory_order_relaxed);
}
static void allowDependentGrids() {}

void swage::simt::addThreadFunctions(Abi &abi) {
  abi.current = currentThread;
  abi.shuffle = shuffle;
  abi.ballot = ballot;
  abi.match = match;
  abi.reduce = reduceLanes;
  abi.syncWarp = syncWarp;
  abi.elect = elect;
  abi.barrier = barrier;
  abi.barrierArrive = barrierArrive;
  abi.barrierCount = barrierCount;
  abi.clusterArrive = clusterArrive;
  abi.clusterWait = clusterWait;
  abi.setRegisters = setRegisters;
  abi.waitForPriorGrids = waitForPriorGrids;
  abi.allowDependentGrids = allowDependentGrids;
}
