//===- Scheduler.h - Inside of a worker -----------------------------------===//
//
// What Scheduler.cpp and Signals.cpp share; everybody else uses Worker (Machine.h).
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_SCHEDULER_H
#define SWAGE_LIB_SIMT_SCHEDULER_H

#include "Machine.h"

#include <atomic>
#include <chrono>
#include <csignal>

namespace swage::simt {

/// A double-ended queue of threads in one array.
class Ring {
public:
  void reserve(size_t count);
  bool empty() const { return count == 0; }
  size_t size() const { return count; }
  void pushBack(Thread *thread) { slots[(head + count++) & mask] = thread; }
  void pushFront(Thread *thread) {
    head = (head - 1) & mask;
    slots[head] = thread;
    ++count;
  }
  Thread *popFront() {
    Thread *thread = slots[head];
    head = (head + 1) & mask;
    --count;
    return thread;
  }
  Thread *popBack() { return slots[(head + --count) & mask]; }
  Thread *popAt(size_t index);

private:
  std::vector<Thread *> slots;
  size_t head = 0, count = 0, mask = 0;
};

/// What the workers of a launch share.
struct LaunchState {
  unsigned clusters = 1;
  uint64_t multiplier = 1, offset = 0;   ///< of the order of clusters, modulo their number
  std::atomic<uint64_t> next{0};         ///< position in that order
  std::atomic<size_t> residentBlocks{0}; ///< of all workers
  std::atomic<bool> stopped{false};      ///< there is a finding
  std::atomic<bool> waitedForGrids{false}; ///< some thread has
  std::atomic<int> running{0};           ///< workers
  std::atomic<int> fruitless{0};         ///< workers whose threads all wait in loops
  /// When each worker's threads last looked in vain for what they wait for.
  std::vector<std::atomic<std::chrono::steady_clock::time_point>> looked;

  /// Whether all workers have looked since.
  bool allLookedSince(std::chrono::steady_clock::time_point time) const;
};

struct WorkerImpl {
  WorkerImpl(const Launch &launch, const SimulatorOptions &options, LaunchState &state,
             unsigned number);
  ~WorkerImpl();

  /// Runs clusters until none is left or something is found.
  void run();

  void start(Thread &thread);
  bool startCluster();
  void retire(Cluster &cluster);
  /// The next thread to run; null: none can, or the launch has stopped.
  Thread *next();
  bool waitForOthers();
  void switchTo(Thread *thread, void **save);
  void threadMain();
  void finishThread(Thread &thread);
  /// A thread has done what another may wait for in a loop.
  void noteProgress() {
    fruitlessRounds = 0;
    if (isFruitless) {
      isFruitless = false;
      --state.fruitless;
    }
  }
  bool hasRoomForCluster() const;
  void performOne(std::deque<AsyncRef> &operations);
  Finding deadlock();
  [[noreturn]] void stop();
  Stack *takeStack();

  const Launch &launch;
  const SimulatorOptions &options;
  LaunchState &state;
  Worker handle;
  const unsigned number;
  uint64_t randomState;

  Ring ready;
  std::vector<Thread *> paused;
  std::deque<AsyncRef> signalling, others; ///< operations that have not taken effect
  std::vector<std::unique_ptr<Cluster>> resident, idle;

  std::vector<std::unique_ptr<Stack>> stacks;
  std::vector<Stack *> freeStacks;
  Thread *running = nullptr;
  void *mainContext = nullptr;
  const std::function<void()> *mainTask = nullptr;
  std::optional<Finding> finding;
  unsigned findingCluster = 0;
  LaunchStats stats;

  bool isFruitless = false;
  uint64_t fruitlessRounds = 0;
  std::chrono::steady_clock::time_point fruitlessSince;
  std::atomic<uint64_t> beats{0};   ///< for the watchdog: threads that began or went on
  std::atomic<bool> isStuck{false}; ///< the watchdog's verdict
};

/// The worker and the CUDA thread of this host thread, null outside of a launch.
extern thread_local WorkerImpl *currentWorker;

/// Leaves the signals that others send to the process to the threads of the host program.
void blockSignalsOfHost();

/// While it lives, signals that a kernel causes on this host thread become findings, and a watchdog
/// looks for threads that never stop.  (Signals.cpp)
class SignalScope {
public:
  explicit SignalScope(WorkerImpl &worker);
  ~SignalScope();

private:
  WorkerImpl &worker;
  std::unique_ptr<char[]> alternateStack;
  stack_t previousStack = {};
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_SCHEDULER_H
