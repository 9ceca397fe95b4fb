//===- Shadow.h - Who touched shared memory last --------------------------===//
//
// For every piece of a block's shared memory: the last write, and the reads and atomics since.
// Pieces are as large as the accesses allow, from 16 bytes down to one, page by page; pages that no
// thread touches cost nothing.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_SHADOW_H
#define SWAGE_LIB_SIMT_SHADOW_H

#include "Clock.h"
#include "swage/device/cpu/abi.cuh"

#include <memory>
#include <vector>

namespace swage::simt {

enum class Use : uint8_t { Read, Write, Atomic };

/// Who accesses, and what happened before as far as that one knows.
struct Accessor {
  static constexpr uint16_t kNobody = 0xffff;

  Agent agent; ///< leaves its mark with this epoch
  uint32_t epoch = 0;
  const ClockData *known = nullptr;
  /// Beside `known`: what this thread did before these epochs, and its copies that it waited for.
  Agent thread = {kNobody, 0}, copies = {kNobody, 0};
  uint32_t threadBefore = 0, copiesBefore = 0;
  /// Through the async proxy, which of the thread's own writes sees those before these epochs.
  bool isAsync = false;
  uint32_t threadFenced = 0, copiesFenced = 0;
  uint32_t code = 0;

  bool knows(Agent other, uint32_t otherEpoch) const;
  bool seesThroughProxy(Agent other, uint32_t otherEpoch) const;
};

/// What is wrong with an access.
struct Conflict {
  enum class Kind : uint8_t { None, Race, Fence, Uninitialized };
  Kind kind = Kind::None;
  SharedAddress at = 0;
  Agent other;
  Use otherUse = Use::Write;
  uint32_t otherEpoch = 0, otherCode = 0;

  explicit operator bool() const { return kind != Kind::None; }
};

class Shadow {
public:
  /// `genericGroups`: agents of groups below work through the generic proxy.
  Shadow(unsigned bytes, unsigned genericGroups);

  /// Nothing is written.
  void reset();
  /// Nothing is written from this address on.
  void resetFrom(SharedAddress begin);

  /// Records the access unless there is a conflict.
  Conflict access(const Accessor &accessor, SharedAddress at, unsigned bytes, Use use);

private:
  /// Lanes of a group that read, or changed atomically.
  struct Reads {
    uint32_t epoch = 0, code = 0, mask = 0;
    uint16_t group = 0, isAtomic = 0;
  };
  struct Cell {
    uint32_t writeEpoch = 0, writeCode = 0; ///< epoch 0: never written
    Agent writer;
    Reads reads;
    uint32_t more = 0; ///< index + 1 of further ones in `lists`
  };
  static constexpr unsigned kPageLog2 = 8, kPageBytes = 1u << kPageLog2, kLargestPiece = 4;
  struct Page {
    std::unique_ptr<Cell[]> cells;
    uint32_t generation = 0;
    uint8_t pieceLog2 = kLargestPiece, capacityLog2 = 0;
  };

  void renew(Page &page, unsigned pieceLog2, uint32_t generation);
  void split(Page &page, unsigned pieceLog2);
  uint32_t newList();
  bool touch(Cell &cell, const Accessor &accessor, Use use, Conflict &conflict);
  bool checkWrite(const Cell &cell, const Accessor &accessor, Conflict &conflict) const;
  bool checkReads(const Reads &reads, const Accessor &accessor, Conflict &conflict) const;
  bool isBefore(const Reads &reads, const Accessor &accessor) const;
  void addReader(Cell &cell, const Accessor &accessor, bool isAtomic);

  unsigned genericGroups;
  std::vector<Page> pages;
  SharedAddress upperBegin = ~0u; ///< pages from there on have upperGeneration
  uint32_t generation = 1, upperGeneration = 1, lastGeneration = 1;
  std::vector<std::vector<Reads>> lists;
  std::vector<uint32_t> freeLists; ///< index + 1, of those below usedLists
  uint32_t usedLists = 0;
};

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_SHADOW_H
