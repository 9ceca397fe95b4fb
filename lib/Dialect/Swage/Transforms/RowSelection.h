//===- RowSelection.h - What the rules of rows share ------------*- C++ -*-===//
//
// Part of --swage-select-schedule. Rows in registers are in SelectRowSchedule.cpp, rows that begin
// anywhere in SelectAlignedRowSchedule.cpp, rows that wait in shared memory in
// SelectShelvedRowSchedule.cpp, rows that more blocks share than a cluster has in
// SelectCrowdSchedule.cpp, rows that are made of short runs in SelectBesideRowSchedule.cpp, rows
// across memory in SelectColumnSchedule.cpp.
// What the numbers rest on is in docs/notes/rows.md.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ROWSELECTION_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ROWSELECTION_H

#include "ScheduleSelector.h"

namespace swage {

/// Elements of a row that a thread keeps in f32 registers without spilling.
constexpr int64_t kRegisterElements = 32;
/// Rows of so many 16-bit elements that begin anywhere go by aligned vectors; of the other number
/// if threads waited for banks of shared memory.
constexpr int64_t kAlignedLength = 224, kAlignedLeast = 96;
/// The same of a LayerNorm of more than one tensor.
constexpr int64_t kWideAlignedLength = 176;
/// Threads of a multiprocessor that hide each other's waits where a block has a row, or a part of
/// it.
constexpr int64_t kBusyBlockThreads = 600;
/// Shared memory that the system takes of a block.
constexpr int64_t kReservedBytes = 1024;

/// What decides how rows are dealt out.
struct ScheduleSelector::Rows {
  int64_t vector, vectors; ///< elements of a vector, vectors of the longest row
  int64_t bytes, widest;   ///< of the narrowest access; of the widest one of rows
  int64_t moved;           ///< bytes for each element of a row
  int64_t streams;         ///< operands that have rows, for every one that is read and one written
  bool onlySummed = false; ///< or its largest found: no element is used again, or written
  bool onlyScaled = false; ///< to bytes by their largest absolute value, 16-bit elements or wider
  bool torn = false;       ///< rows that are written do not begin with sectors of memory
  bool bounded;            ///< a mask leaves one part of each row
  int64_t capacity;        ///< vectors that a thread's registers hold
  int64_t grouped;         ///< vectors of a group of the last collective, or 1
  int64_t beside;          ///< rows beside each other, if they are made of short runs
  bool aligned = false;    ///< vectors begin where memory is aligned
  int64_t resident = 0;    ///< blocks that a multiprocessor is to hold
  std::optional<int64_t> count;
  int64_t freeThreads = 0; ///< that a row may have for nothing: others would have no work
  std::string name;        ///< "a row of 768"

  /// The most vectors that one block's registers hold: four for each thread, unless they are
  /// narrow.
  int64_t ofOneBlock() const {
    return 1024 * (vector < 4 ? capacity : std::min<int64_t>(capacity, 4));
  }
};

/// About how many blocks a multiprocessor holds: each quarter of it has registers for so many
/// warps.
int64_t residentBlocks(int64_t threads, int64_t registers);

/// Whether a mask leaves of each row one part, which is all that is read.
bool isBounded(KernelOp kernel);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ROWSELECTION_H
