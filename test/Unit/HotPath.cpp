//===- HotPath.cpp - What a call on the hot path must not do --------------===//

#include "HotPath.h"

#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <new>
#include <pthread.h>

using namespace swage::test;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static thread_local HotPathCounts counts;

HotPathCounts swage::test::hotPathCounts() { return counts; }
bool swage::test::countsAll() { return !SANITIZED; }

std::chrono::duration<double, std::nano> swage::test::threadTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

#if SANITIZED

// Not inlined: GCC 12 takes an inlined pair of them for a mismatch.
__attribute__((noinline)) void *operator new(size_t bytes) {
  ++counts.allocations;
  if (void *pointer = std::malloc(bytes ? bytes : 1))
    return pointer;
  std::abort();
}
__attribute__((noinline)) void operator delete(void *pointer) noexcept { std::free(pointer); }
__attribute__((noinline)) void operator delete(void *pointer, size_t) noexcept {
  std::free(pointer);
}

#else

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t bytes) {
  ++counts.allocations;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  ++counts.allocations;
  return __libc_calloc(count, bytes);
}
void *realloc(void *pointer, size_t bytes) {
  ++counts.allocations;
  return __libc_realloc(pointer, bytes);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  using Function = int(pthread_mutex_t *);
  static Function *const next =
      reinterpret_cast<Function *>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++counts.locks;
  return next(mutex);
}
}

#endif
