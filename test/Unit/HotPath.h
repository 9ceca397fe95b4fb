//===- HotPath.h - What a call on the hot path must not do ----------------===//
//
// Counts the allocations and locks of the calling thread, through functions of the C library that
// HotPath.cpp stands in for; under a sanitizer, which does the same, through operator new alone.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_UNIT_HOTPATH_H
#define SWAGE_TEST_UNIT_HOTPATH_H

#include <chrono>
#include <cstddef>

namespace swage::test {

struct HotPathCounts {
  size_t allocations = 0;
  size_t locks = 0;
};

/// Of this thread since it began.
HotPathCounts hotPathCounts();
/// Whether locks are counted, and allocations of malloc.
bool countsAll();
/// What this thread has computed for, so that what else the machine does does not count.
std::chrono::duration<double, std::nano> threadTime();

} // namespace swage::test

#endif // SWAGE_TEST_UNIT_HOTPATH_H
