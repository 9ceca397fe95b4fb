//===- GlobalMemory.h - The allocations of simulated devices --------------===//
//
// Memory of the host, one mapping for each allocation: it ends, up to the alignment that cudaMalloc
// promises, at a page that cannot be touched, and another lies in front of it.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_GLOBALMEMORY_H
#define SWAGE_LIB_SIMT_GLOBALMEMORY_H

#include "Launch.h"

#include <map>
#include <mutex>

namespace swage::simt {

class GlobalMemory {
public:
  /// Zeroed; null when the host has no more.
  char *allocate(uint64_t bytes);
  /// False: nothing was allocated there.
  bool free(char *begin);
  /// Whether [begin, begin + bytes) lies in one allocation.
  bool holds(const char *begin, uint64_t bytes) const;
  /// All allocations by address; those that a pointer among `pointers` leads into are named by its
  /// position.
  std::vector<MemoryRange> ranges(const std::vector<const char *> &pointers) const;

  /// Bytes that the host could still give.
  static uint64_t available();

private:
  struct Mapping {
    char *base;
    uint64_t mapped;
    uint64_t bytes;
  };
  mutable std::mutex mutex;
  std::map<const char *, Mapping> all;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_GLOBALMEMORY_H
