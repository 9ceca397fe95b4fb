//===- CompilePool.h - Threads that compile -------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_COMPILEPOOL_H
#define SWAGE_LIB_RUNTIME_COMPILEPOOL_H

#include "swage/Runtime/Context.h"

#include <functional>
#include <vector>

namespace swage {

/// Runs batches of tasks on threads of its own, started when first needed, and on the thread that
/// asks.  As that one works too, tasks may run batches in turn, and a process that gets no more
/// threads is slow and nothing else.
class CompilePool {
public:
  explicit CompilePool(unsigned threads);
  /// Waits for tasks that run.  In a process forked from the pool's there is nothing to wait for.
  ~CompilePool();
  CompilePool(const CompilePool &) = delete;
  CompilePool &operator=(const CompilePool &) = delete;

  /// Returns when all tasks are done.
  void run(const std::vector<std::function<void()>> &tasks, Urgency urgency);
  /// Takes no more from what waits, and returns when no thread of the pool runs a task.
  void stop();

private:
  struct Shared;
  Shared *shared; ///< left behind in a forked child, where its locks may be held for ever
};

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_COMPILEPOOL_H
