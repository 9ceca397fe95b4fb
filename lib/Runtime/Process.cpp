//===- Process.cpp - Whether this is still the same process ---------------===//

#include "Process.h"

#include <pthread.h>

std::atomic<unsigned> swage::forkCount{0};

/// Runs in each child before fork returns there.
static const int registered = pthread_atfork(
    nullptr, nullptr, [] { swage::forkCount.fetch_add(1, std::memory_order_relaxed); });
