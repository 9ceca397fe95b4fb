//===- Process.h - Whether this is still the same process -----------------===//
#ifndef SWAGE_LIB_RUNTIME_PROCESS_H
#define SWAGE_LIB_RUNTIME_PROCESS_H

#include <atomic>

namespace swage {

extern std::atomic<unsigned> forkCount;

/// A number that is another one in a process forked from this one.  A child has no threads of its
/// parent, whatever they held stays locked, and CUDA does not work: what was made with another
/// number must be left alone.  Costs one load, where getpid is a system call.
inline unsigned processGeneration() { return forkCount.load(std::memory_order_relaxed); }

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_PROCESS_H
