//===- ContextState.h - What Context holds --------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_CONTEXTSTATE_H
#define SWAGE_LIB_RUNTIME_CONTEXTSTATE_H

#include "CompilePool.h"
#include "Process.h"
#include "swage/Runtime/Context.h"

#include <array>
#include <atomic>

namespace swage {

/// Small and the same for the life of a thread, so that threads use cache lines of their own.
unsigned threadNumber();

struct Context::State {
  explicit State(ContextOptions given);

  /// One launch by Program::run.
  void countLaunch() {
    launches[threadNumber() % launches.size()].count.fetch_add(1, std::memory_order_relaxed);
  }

  ContextOptions options;
  EventSink environmentEvents; ///< see environmentSink
  const unsigned generation = processGeneration();
  CompilePool pool;
  bool isOfProcess = false;

  std::atomic<uint64_t> programs{0}, variants{0}, kernelsCompiled{0}, kernelsLoaded{0}, plans{0},
      plansEvicted{0};
  std::atomic<uint64_t> lowerNanoseconds{0}, compileNanoseconds{0}, loadNanoseconds{0};
  struct alignas(64) Launches {
    std::atomic<uint64_t> count{0};
  };
  std::array<Launches, 16> launches;
};

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_CONTEXTSTATE_H
