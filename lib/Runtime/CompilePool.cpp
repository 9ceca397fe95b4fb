//===- CompilePool.cpp - Threads that compile -----------------------------===//

#include "CompilePool.h"

#include "Process.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <pthread.h>

using namespace swage;

namespace {
/// Lives on the stack of the thread that waits for it.
struct Batch {
  const std::vector<std::function<void()>> &tasks;
  Urgency urgency;
  size_t next = 0, done = 0; ///< tasks handed out, and finished
};
} // namespace

struct CompilePool::Shared {
  explicit Shared(unsigned limit) : limit(limit) {}

  const unsigned limit;
  const unsigned generation = processGeneration();
  std::mutex mutex; ///< of what follows and of all batches
  std::condition_variable work, finished;
  std::list<Batch *> waiting; ///< with tasks not handed out; the more urgent first
  std::vector<pthread_t> threads;
  bool stopping = false;

  void serve();
  void step(Batch &batch, std::unique_lock<std::mutex> &lock);
  void startThreads(size_t wanted);
};

/// Of the task that this thread runs.
static thread_local Urgency current = Urgency::Blocking;

/// Runs one task of a batch that has some left.
void CompilePool::Shared::step(Batch &batch, std::unique_lock<std::mutex> &lock) {
  const std::function<void()> &task = batch.tasks[batch.next++];
  if (batch.next == batch.tasks.size())
    waiting.remove(&batch);
  lock.unlock();
  Urgency before = std::exchange(current, batch.urgency);
  task();
  current = before;
  lock.lock();
  // The batch may be gone once this is seen.
  if (++batch.done == batch.tasks.size())
    finished.notify_all();
}

void CompilePool::Shared::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return stopping || !waiting.empty(); });
    if (stopping)
      return;
    step(*waiting.front(), lock);
  }
}

/// Not std::thread, which throws where there are no more threads.
void CompilePool::Shared::startThreads(size_t wanted) {
  while (threads.size() < std::min<size_t>(limit, wanted)) {
    pthread_t thread;
    auto body = [](void *self) -> void * {
      static_cast<Shared *>(self)->serve();
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, this) != 0)
      return;
    threads.push_back(thread);
  }
}

CompilePool::CompilePool(unsigned threads) : shared(new Shared(threads)) {}

void CompilePool::run(const std::vector<std::function<void()>> &tasks, Urgency urgency) {
  if (current == Urgency::WarmUp)
    urgency = Urgency::WarmUp;
  if (tasks.empty())
    return;
  std::unique_lock<std::mutex> lock(shared->mutex);
  Batch batch{tasks, urgency};
  auto place = std::find_if(shared->waiting.begin(), shared->waiting.end(),
                            [&](Batch *other) { return other->urgency > urgency; });
  shared->waiting.insert(place, &batch);
  if (tasks.size() > 1 && !shared->stopping) {
    shared->startThreads(tasks.size() - 1);
    shared->work.notify_all();
  }
  while (batch.next < tasks.size())
    shared->step(batch, lock);
  shared->finished.wait(lock, [&] { return batch.done == tasks.size(); });
}

void CompilePool::stop() {
  if (shared->generation != processGeneration())
    return;
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->stopping = true;
  shared->work.notify_all();
  std::vector<pthread_t> threads = std::exchange(shared->threads, {});
  lock.unlock();
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

CompilePool::~CompilePool() {
  if (shared->generation != processGeneration())
    return;
  stop();
  delete shared;
}
