//===- Signals.cpp - Crashes and endless loops of kernels -----------------===//
//
// A signal that a kernel causes while its fiber runs is turned into a finding: the handler leaves
// the fiber for the worker's main stack. Signals from anywhere else go to whoever handled them
// before.
//
//===----------------------------------------------------------------------===//
#include "Scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <fmt/format.h>
#include <pthread.h>
#include <thread>

using namespace swage;
using namespace swage::simt;

static constexpr int kCaught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
/// Sent by the watchdog: ignored by default, and hardly used for anything else.
static constexpr int kStuckSignal = SIGURG;
static constexpr size_t kAlternateStackBytes = 64 << 10;
/// A thread that runs for so many seconds without waiting for anything is stuck.
static constexpr unsigned kStuckAfter = 20;

static struct sigaction previousActions[NSIG];

/// Where the thread was in the kernel; with `callers`, also if it was in a function that the kernel
/// has called.
static const void *codeAt(const Module &module, void *context, bool callers) {
#if defined(__x86_64__)
  auto *machine = static_cast<ucontext_t *>(context);
  uintptr_t at = uintptr_t(machine->uc_mcontext.gregs[REG_RIP]);
  uintptr_t top = uintptr_t(machine->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  auto *machine = static_cast<ucontext_t *>(context);
  uintptr_t at = machine->uc_mcontext.pc, top = machine->uc_mcontext.sp;
#endif
#if defined(__x86_64__) || defined(__aarch64__)
  // As for all places: the return address, one past the instruction.
  auto *code = reinterpret_cast<const char *>(at) + 1;
  if (module.contains(code))
    return code;
  if (!callers)
    return nullptr;
  auto *stack = reinterpret_cast<void *const *>(top);
  for (int i = 0; i < 64; ++i)
    if (module.contains(stack[i]))
      return stack[i];
#endif
  return nullptr;
}

static std::string describe(int signal, const void *address, const Thread &thread) {
  if (signal == kStuckSignal)
    return fmt::format("the thread has run for {} s without an end; if it waits for another "
                       "thread, its loop must call swage::pause",
                       kStuckAfter);
  if (signal == SIGFPE)
    return "integer division by zero, or its overflow";
  if (signal == SIGILL)
    return "the compiler put a trap here: what the source does is undefined";
  if (thread.fiber.stack && thread.fiber.stack->guards(address))
    return fmt::format("the thread needs more than {} KB of stack", kStackBytes >> 10);
  return fmt::format("access to unmapped memory at 0x{:x}; run with 'check' to see of what",
                     reinterpret_cast<uintptr_t>(address));
}

static void handle(int signal, siginfo_t *info, void *context) {
  WorkerImpl *worker = currentWorker;
  bool isOurs = signal != kStuckSignal || (worker && worker->isStuck.exchange(false));
  // On a fiber only: the main stack is our own code, and a crash there is ours.
  if (isOurs && worker && worker->running && !worker->mainTask) {
    Thread &thread = *worker->running;
    // The stack cannot be read where it has run into its guard; and a thread that is not stuck in
    // the kernel itself may hold a lock of the C library.
    bool callers = signal != kStuckSignal &&
                   !(thread.fiber.stack && thread.fiber.stack->guards(info->si_addr));
    const void *code = codeAt(*worker->launch.module, context, callers);
    if (code || signal != kStuckSignal) {
      FindingKind kind = signal == kStuckSignal ? FindingKind::NoProgress
                         : signal == SIGFPE     ? FindingKind::Undefined
                                                : FindingKind::Crash;
      worker->handle.fail(thread, kind, code, describe(signal, info->si_addr, thread));
    }
  }
  const struct sigaction &previous = previousActions[signal];
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
    return;
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
    return;
  }
  if (signal != kStuckSignal)
    sigaction(signal, &previous, nullptr); // and the instruction is tried once more
}

static void install() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (int signal : kCaught)
    sigaction(signal, &action, &previousActions[signal]);
  sigaction(kStuckSignal, &action, &previousActions[kStuckSignal]);
}

void swage::simt::blockSignalsOfHost() {
  sigset_t signals;
  sigfillset(&signals);
  for (int signal : kCaught)
    sigdelset(&signals, signal);
  sigdelset(&signals, kStuckSignal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

//===----------------------------------------------------------------------===//
// Watchdog
//===----------------------------------------------------------------------===//

namespace {
/// Looks at all workers of the process once in a while; its thread lives as long as there are any.
class Watchdog {
public:
  void add(WorkerImpl &worker) {
    std::lock_guard<std::mutex> lock(mutex);
    watched.push_back({&worker, pthread_self(), worker.beats.load(), computedBy(pthread_self())});
    // After a fork, the child has no watching thread.
    if (watching != getpid()) {
      watching = getpid();
      std::thread([this] { watch(); }).detach();
    }
  }
  void remove(WorkerImpl &worker) {
    std::lock_guard<std::mutex> lock(mutex);
    watched.erase(std::find_if(watched.begin(), watched.end(),
                               [&](const Watched &other) { return other.worker == &worker; }));
  }

private:
  struct Watched {
    WorkerImpl *worker;
    pthread_t thread;
    uint64_t beats;
    double computed; ///< at the last beat
  };

  /// Seconds of processor time: waiting for a processor, or stopped, a thread is not stuck.
  static double computedBy(pthread_t thread) {
    clockid_t clock;
    timespec time = {};
    if (pthread_getcpuclockid(thread, &clock) == 0)
      clock_gettime(clock, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }

  void watch() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (;;) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      std::lock_guard<std::mutex> lock(mutex);
      for (Watched &entry : watched) {
        uint64_t beats = entry.worker->beats.load(std::memory_order_relaxed);
        if (beats != entry.beats) {
          entry.beats = beats;
          entry.computed = computedBy(entry.thread);
        } else if (computedBy(entry.thread) - entry.computed > kStuckAfter) {
          entry.worker->isStuck.store(true);
          pthread_kill(entry.thread, kStuckSignal);
        }
      }
    }
  }

  std::mutex mutex;
  std::vector<Watched> watched;
  pid_t watching = 0; ///< the process that has a watching thread
};
} // namespace

static Watchdog &watchdog() {
  static Watchdog &instance = *new Watchdog; // its thread outlives every static object
  return instance;
}

SignalScope::SignalScope(WorkerImpl &worker)
    : worker(worker), alternateStack(new char[kAlternateStackBytes]) {
  static std::once_flag once;
  std::call_once(once, install);
  stack_t stack = {};
  stack.ss_sp = alternateStack.get();
  stack.ss_size = kAlternateStackBytes;
  sigaltstack(&stack, &previousStack);
  watchdog().add(worker);
}

SignalScope::~SignalScope() {
  watchdog().remove(worker);
  sigaltstack(&previousStack, nullptr);
}
