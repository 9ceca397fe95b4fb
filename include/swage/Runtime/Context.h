//===- Context.h - What programs share ------------------------------------===//
//
// Options, the kernel cache, the threads that compile, counters and the receiver of events.  Most
// hosts use the one of the process.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_CONTEXT_H
#define SWAGE_RUNTIME_CONTEXT_H

#include "swage/Runtime/KernelCache.h"
#include "swage/Runtime/TraceEvent.h"
#include "swage/Support/Api.h"
#include "swage/Support/KernelCompiler.h"

#include <functional>
#include <memory>
#include <vector>

namespace swage {

struct ContextOptions {
  /// What the environment says; a host may change its copy.
  Options environment = Options::get();
  unsigned compileThreads = 0; ///< 0: one for each core, at most 8
  /// Receives every event; by default one line on stderr for a compile that takes over a second.
  EventSink events;
  /// For GPUs; null: NVRTC, opened when the first kernel is compiled.
  std::shared_ptr<const KernelCompiler> compiler;
  /// For simulated devices: simt::simulatorCompiler; null: programs cannot be compiled for them.
  std::shared_ptr<const KernelCompiler> simulatorCompiler;
  /// Null: one made from `environment`.
  std::shared_ptr<KernelCache> cache;
  size_t planLimit = 4096; ///< of each program: plans beyond are dropped, least recently used first
};

/// Counters since the context was made.
struct ContextStats {
  CacheStats cache;
  uint64_t programs = 0;
  uint64_t variants = 0;        ///< made by the passes
  uint64_t kernelsCompiled = 0; ///< by the compiler, not found in a cache
  uint64_t kernelsLoaded = 0;
  uint64_t plans = 0;
  uint64_t plansEvicted = 0;
  uint64_t launches = 0; ///< by Program::run; Plan::launch counts nothing
  double lowerMilliseconds = 0, compileMilliseconds = 0,
         loadMilliseconds = 0; ///< sums over threads
};

/// What comes first where compile threads have a choice.
enum class Urgency {
  Blocking, ///< somebody waits for it
  WarmUp,   ///< somebody may need it later
};

/// Shared; copies are cheap.  Safe to use from several threads.  A context does not survive fork:
/// in the child every call that would compile, load or launch is an error of stage Input.
class SWAGE_API Context {
public:
  explicit Context(ContextOptions options = {});
  /// The one of the process, made on the first call and never destroyed.
  static Context &process();

  const ContextOptions &options() const;
  KernelCache &cache() const;
  ContextStats stats() const;

  /// Runs `tasks` on the compile threads and the caller's own; returns when all are done.  What a
  /// task of a warm-up runs in turn belongs to the warm-up.
  void runAll(const std::vector<std::function<void()>> &tasks,
              Urgency urgency = Urgency::Blocking) const;
  /// Counts the event and hands it to the sink.
  void report(const TraceEvent &event) const;
  /// An error in a process that was forked from the one that made the context.
  Status checkProcess() const;

  struct State;
  State &internals() const { return *state; }

private:
  std::shared_ptr<State> state;
};

} // namespace swage

#endif // SWAGE_RUNTIME_CONTEXT_H
