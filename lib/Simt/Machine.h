//===- Machine.h - Threads, blocks and clusters while they run ------------===//
//
// Each CUDA thread is a fiber. A worker is one thread of the host; it runs whole clusters, so
// everything that threads of a cluster share is touched by one host thread only and needs no locks.
// Several clusters are resident in a worker only when all of the first one's threads wait in loops
// for what another block does (Worker::pause).
//
// Rules for code that runs on a fiber:
//  - `fail` and a deadlock elsewhere drop the stack without unwinding it: hold no lock and nothing
//    whose loss matters across a call that can wait or fail.
//  - the stack is small (kStackBytes); what needs more goes through Worker::onMainStack.
//  - `const void *code` is a return address in the module, taken in the function of the Abi table.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_MACHINE_H
#define SWAGE_LIB_SIMT_MACHINE_H

#include "Checker.h"
#include "Fiber.h"
#include "Launch.h"

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace swage::simt {

class Worker;
struct WorkerImpl;
struct Block;
struct Cluster;
struct Thread;

constexpr unsigned kWarpLanes = 32, kWarpgroupThreads = 128;
constexpr unsigned kMaxThreads = 1024, kMaxClusterSize = 16;
constexpr unsigned kMaxDynamicSharedBytes = 232448; ///< sm_90
constexpr unsigned kMaxDeclaredArena = 48 << 10;    ///< a larger one is dynamic
constexpr unsigned kMaxStaticSharedBytes = 48 << 10;
static_assert(kDynamicSharedBase + kMaxDynamicSharedBytes <= kStaticSharedBase);
/// Which of the two regions an address belongs to; none lies beyond kSharedEnd.
constexpr bool isStaticShared(SharedAddress at) { return at >= kStaticSharedBase; }
constexpr unsigned kSharedEnd = kStaticSharedBase + kMaxStaticSharedBytes;
constexpr unsigned kNamedBarriers = 16;
/// What shared memory, and the registers and shared memory that an engine has yet to write, hold.
constexpr unsigned char kPoisonByte = 0xff;

/// Why a thread does not run.
struct Wait {
  enum class For : unsigned char {
    Nothing,
    Warp,
    Warpgroup,
    Barrier,
    ClusterBarrier,
    Mbarrier,
    Pause
  };
  For kind = For::Nothing;
  const char *what = nullptr; ///< "mbarrierWait"
  const void *code = nullptr;
  unsigned a = 0, b = 0; ///< lanes; id; address and parity
};

/// An operation of an engine beside the threads: a copy or a matrix multiplication.
class AsyncOperation {
public:
  virtual ~AsyncOperation() = default;
  /// Takes effect: called once, on the worker of its cluster, perhaps on a fiber of another thread.
  virtual void perform() = 0;

  Thread *issuer = nullptr;
  const void *code = nullptr;
  /// Its completion is an arrival on an mbarrier, for which threads wait without forcing it.
  bool signals = false;
  bool done = false;
};
using AsyncRef = std::shared_ptr<AsyncOperation>;

/// Asynchronous operations by commit groups, oldest first: cp.async, bulk stores, wgmma.
struct AsyncGroups {
  std::vector<AsyncRef> open;
  std::deque<std::vector<AsyncRef>> committed;

  void clear() {
    open.clear();
    if (!committed.empty())
      committed.clear();
  }
};

/// What begins anew with each block is in the first cache line.
struct alignas(64) Thread : ThreadView {
  bool finished = false;
  bool arrivedAtCluster = false; ///< and has not waited yet
  bool mustWaitForGrids = false; ///< before it touches global memory
  unsigned atomicReads = 0;      ///< since it began
  Fiber fiber;
  Block *home = nullptr;
  unsigned clusterPhase = 0; ///< in which it arrived
  Wait wait;
  void *argument = nullptr; ///< of the meeting it waits in
  AsyncGroups copies;       ///< cp.async
  AsyncGroups bulkStores;
  ThreadClock clock; ///< empty unless checked

  unsigned lane() const { return thread % kWarpLanes; }
  unsigned warp() const { return thread / kWarpLanes; }
  unsigned warpgroup() const { return thread / kWarpgroupThreads; }
  /// "block 3, thread 17 (warp 0, lane 17)"
  std::string str() const;
};

/// What the last thread to arrive does for all: `arguments[i]` is what thread i of the warp or
/// warpgroup passed, null where it does not take part.
using Combine = void (*)(void *const *arguments, void *context);

/// Lanes of a warp on their way to one collective operation.
struct Meeting {
  unsigned expected = 0, arrived = 0; ///< lanes
  const char *what = nullptr;
  const void *code = nullptr;
  bool orders = false;
  Combine combine = nullptr;
  void *context = nullptr;
};

struct Warp {
  /// Those that lanes wait in; others on their way to one may be in another before, so that masks
  /// overlap.
  std::array<Meeting, 16> meetings;
  unsigned used = 0;     ///< behind the last that lanes wait in
  unsigned finished = 0; ///< lanes
};

struct Warpgroup {
  Meeting meeting;
  unsigned arrived = 0;
  AsyncGroups multiplies;
  std::shared_ptr<struct MultiplyState> multiplyState; ///< Wgmma.cpp
};

/// A hardware barrier of a block, or of a cluster.
struct Barrier {
  unsigned expected = 0; ///< 0: all threads that have not finished
  unsigned arrived = 0;
  unsigned count = 0; ///< predicates that hold
  const char *what = nullptr;
  const void *code = nullptr;
  std::vector<Thread *> waiting;
  SyncClock clock;     ///< of those that arrived without waiting
  unsigned phase = 0;  ///< of a cluster barrier, whose arrival and wait are apart
  SyncClock completed; ///< of the phase before
};

/// Who did something last, for reports.
struct Event {
  const Thread *thread = nullptr;
  const char *what = nullptr;
  const void *code = nullptr;
};

/// An mbarrier: its state is here, its eight bytes in shared memory only show whether they are
/// written.
struct Mbarrier {
  unsigned phase = 0; ///< phases that are over
  unsigned pending = 0, count = 0;
  int64_t transactions = 0; ///< bytes still expected
  bool valid = false;       ///< initialised, and not invalidated since
  bool fenced = false;      ///< the initialisation is visible to the copy engines
  std::vector<Thread *> waiting;
  std::vector<Thread *> woken; ///< by the last phase, and have not run since
  SyncClock clock;             ///< of all that arrived
  SyncClock completed;         ///< of the phases that are over
  Event begin, arrival, expectation, end;
};

struct Block {
  Cluster *cluster = nullptr;
  unsigned index = 0; ///< in the grid
  unsigned rank = 0;  ///< in the cluster
  unsigned live = 0;  ///< threads that have not finished
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  std::array<Barrier, kNamedBarriers> barriers;
  unsigned arrivedAtBarriers = 0;              ///< threads, at all of them
  std::map<SharedAddress, Mbarrier> mbarriers; ///< by address without rank

  /// The byte at shared address A is shared[A]; valid only inside of the two regions.
  char *shared = nullptr;
  unsigned staticSharedBytes = 0, dynamicSharedBytes = 0;
  bool hasCopies = false; ///< in the groups of its threads

  /// Whether [at, at + bytes) lies in one region; `at` without rank.
  bool holds(SharedAddress at, unsigned bytes) const {
    auto inside = [&](unsigned base, unsigned size) {
      return at >= base && at - base <= size && bytes <= size - (at - base);
    };
    return inside(kStaticSharedBase, staticSharedBytes) ||
           inside(kDynamicSharedBase, dynamicSharedBytes);
  }
};

struct Cluster {
  Worker *worker = nullptr;
  unsigned index = 0; ///< in the grid
  unsigned live = 0;  ///< threads
  std::vector<std::unique_ptr<Block>> blocks;
  Barrier barrier;
  std::unique_ptr<Checker> checker; ///< null unless checked
};

/// One host thread of a launch.
class Worker {
public:
  /// The worker of this host thread; only inside of a launch.
  static Worker &current();
  /// The CUDA thread that runs; only on a fiber.
  static Thread &thread();

  const Launch &launch() const;
  const SimulatorOptions &options() const;
  uint64_t random();

  /// Suspends the running thread until wake.  Fails with a report if nobody can run any more.
  void suspend(const Wait &wait);
  void wake(Thread &thread);
  /// The running thread waits for something that other blocks do: lets others run, and further
  /// blocks start.
  void pause(const void *code);
  /// Runs `function` on the large stack of the host thread.
  void onMainStack(const std::function<void()> &function);

  /// Ends the launch with this finding about `thread`.
  [[noreturn]] void fail(const Thread &thread, FindingKind kind, const void *code,
                         std::string message, std::vector<RelatedPlace> related = {});
  [[noreturn]] void fail(Finding finding);

  /// Performs the operation now (eager), or keeps it for later.  The issuer has poisoned what it
  /// will write unless options().async is Eager.
  void issue(const AsyncRef &operation);
  /// Performs it if that has not happened.
  void finish(AsyncOperation &operation);

private:
  friend struct WorkerImpl;
  explicit Worker(WorkerImpl &impl) : impl(impl) {}
  WorkerImpl &impl;
};

/// The lanes of `mask` meet in this operation; returns when all have arrived and `combine` has run.
/// Lanes that are missing because they are elsewhere are a Divergence; those that have finished are
/// not waited for, except in matrix instructions (with `combine` and `orders`).  `orders`: memory
/// accesses before are visible after (syncWarp, and the aligned matrix instructions; not shuffles).
void meetWarp(unsigned mask, const char *what, const void *code, bool orders, void *argument,
              Combine combine, void *context);
/// The same for all 128 threads of the warpgroup.
void meetWarpgroup(const char *what, const void *code, bool orders, void *argument, Combine combine,
                   void *context);

/// A shared address of an instruction, resolved: fails unless it is `alignment`-aligned and
/// [at, at + bytes) lies in the shared memory of a block of the cluster.
struct SharedPlace {
  Block *block;
  SharedAddress at; ///< without rank
  char *data() const { return block->shared + at; }
};
SharedPlace sharedPlace(Thread &thread, SharedAddress at, unsigned bytes, unsigned alignment,
                        const char *what, const void *code);
/// As sharedPlace, and tells the checker that the thread reads or writes there (generic proxy).
SharedPlace accessShared(Thread &thread, SharedAddress at, unsigned bytes, unsigned alignment,
                         bool write, const char *what, const void *code);
/// Fails unless [at, at + bytes) is aligned and does not reach beyond the allocation that it begins in;
/// what begins in none is memory of the host.  A checked launch takes global allocations only and,
/// with `write`, those that the kernel may write.
void accessGlobal(Thread &thread, const void *at, uint64_t bytes, unsigned alignment, bool write,
                  const char *what, const void *code);

/// Fails where a thread that has to wait for the grids before its own touches global memory.
void checkHasWaited(const Thread &thread, const void *at, bool write, const void *code);

/// The mbarrier at this address; fails unless it is initialised and intact.  (Mbarrier.cpp)
Mbarrier &mbarrierAt(Thread &thread, SharedAddress at, const char *what, const void *code);
/// Arrivals and transferred bytes; the phase completes when none are pending and no bytes are
/// expected.  `by`: the thread that arrives, or that issued what arrives.
void arriveAtMbarrier(Mbarrier &mbarrier, Thread &by, unsigned arrivals, int64_t bytesArrived,
                      const char *what, const void *code);
/// What has been done to it, the latest first.
std::vector<RelatedPlace> historyOf(const Mbarrier &mbarrier);
/// The initialisation of the block's mbarriers, or only of those that the thread initialised, is
/// visible to the copy engines.
void fenceMbarriers(Thread &thread, bool onlyOwn);

/// The thread has finished: what waits for the live threads of its warp, block or cluster may be
/// complete now.
void leaveWarp(Thread &thread);
void leaveBarriers(Thread &thread);

/// The functions of each file, into the table that modules get.
void addThreadFunctions(Abi &abi);    // Threads.cpp: current, warps, barriers, clusters
void addMemoryFunctions(Abi &abi);    // Memory.cpp: access, arena, shared addresses, atomics, fence
void addMatrixFunctions(Abi &abi);    // Matrix.cpp: ldmatrix, stmatrix, mma.sync
void addWarpgroupFunctions(Abi &abi); // Wgmma.cpp
void addMbarrierFunctions(Abi &abi);  // Mbarrier.cpp
void addCopyFunctions(Abi &abi);      // AsyncCopy.cpp: cp.async, bulk and tensor-map copies
/// Those of a device of this compute capability.
const Abi &abiTable(unsigned capability);

#define SWAGE_SIMT_CALLER __builtin_return_address(0)

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_MACHINE_H
