//===- CompilePool.h - Many cases compiled at once --------------*- C++ -*-===//
#ifndef SWAGE_TEST_LIB_COMPILEPOOL_H
#define SWAGE_TEST_LIB_COMPILEPOOL_H

#include "swage/Runtime/KernelCache.h"
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace swage::test {

/// Calls compile(case, cache) for every case, on `threads` threads. Kernels that several cases share
/// are compiled once; the disk stays out of it.
template <class Case, class Compile>
void compileInPool(std::vector<Case> &cases, unsigned threads, const Compile &compile) {
  Options options = Options::get();
  options.cacheMode = CacheMode::Off;
  auto cache = std::make_shared<KernelCache>(options);
  std::atomic<size_t> next{0};
  std::vector<std::thread> pool;
  for (unsigned i = 0; i < threads; ++i)
    pool.emplace_back([&] {
      for (size_t at = next++; at < cases.size(); at = next++)
        compile(cases[at], cache);
    });
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace swage::test

#endif // SWAGE_TEST_LIB_COMPILEPOOL_H
