//===- Parallel.cpp - Loops over elements on all cores --------------------===//

#include "swage/Reference/Parallel.h"
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

static std::atomic<unsigned> threadCount{0};

void swage::reference::setThreadCount(unsigned threads) { threadCount = threads; }

void swage::reference::parallelFor(int64_t count, int64_t chunk,
                                   llvm::function_ref<void(int64_t, int64_t)> body) {
  if (count <= 0)
    return;
  int64_t chunks = (count + chunk - 1) / chunk;
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;)
      body(i * chunk, std::min(count, (i + 1) * chunk));
  };
  unsigned threads = threadCount ? threadCount.load() : std::thread::hardware_concurrency();
  int64_t helpers = std::min<int64_t>(std::max(threads, 1u), chunks) - 1;
  std::vector<std::thread> pool;
  for (int64_t i = 0; i < helpers; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}
