//===- Addresses.h - What a kernel may touch beside shared memory ---------===//
//
// Global allocations, and the host's memory that a kernel sees: its arguments, its module, the
// table of the simulator and the views of its threads.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_ADDRESSES_H
#define SWAGE_LIB_SIMT_ADDRESSES_H

#include "Launch.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace swage::simt {

struct Cluster;

class Addresses {
public:
  explicit Addresses(const Cluster &cluster);

  /// Whether the access is allowed.
  bool allows(uintptr_t at, uint64_t bytes, bool write) {
    const Slot &slot = slots[slotOf(at)];
    for (const Range &range : slot)
      if (at - range.begin < range.bytes && bytes <= range.bytes - (at - range.begin) &&
          !(write && range.isReadOnly))
        return true;
    return lookUp(at, bytes, write);
  }
  /// Why not: "... 4 bytes past the end of x (64 bytes)".
  struct Refusal {
    FindingKind kind;
    std::string message;
  };
  Refusal refusal(uintptr_t at, uint64_t bytes, bool write) const;

private:
  struct Range {
    uintptr_t begin = 0;
    uint64_t bytes = 0;
    bool isReadOnly = false;
  };
  using Slot = std::array<Range, 2>;
  static size_t slotOf(uintptr_t at) { return (at >> 12 ^ at >> 18) % 64; }

  bool lookUp(uintptr_t at, uint64_t bytes, bool write);
  /// The allocation that begins at or before the address; null if none does.
  const MemoryRange *before(uintptr_t at) const;
  /// The parameter that makes the allocation read-only, or -1.
  int readOnlyParameter(const MemoryRange &range) const;

  const Launch &launch;
  std::vector<Range> host;
  std::vector<std::pair<const MemoryRange *, int>> readOnly; ///< allocations and parameters
  std::array<Slot, 64> slots;                                ///< found lately, by address
  std::array<Range, 8> recent;                               ///< and by age
  size_t nextRecent = 0;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_ADDRESSES_H
