//===- SelectColumnSchedule.cpp - Schedules of rows across memory ---------===//
//
// Part of --swage-select-schedule: kernels with a collective along a dimension that is not
// innermost. What the numbers rest on is in docs/notes/rows.md.
//
//===----------------------------------------------------------------------===//

#include "RowSelection.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// Elements of a row that a thread keeps.
constexpr int64_t kColumnElements = 40;
/// In a cluster a thread has so many vectors, and elements, if rows come out even; or fewer
/// elements.
constexpr int64_t kEvenVectors = 50, kEvenElements = 100, kUnevenElements = 32;
/// More rows than anything is decided by.
constexpr int64_t kManyRows = int64_t(1) << 40;
/// Threads of all clusters that need no more of them.
constexpr int64_t kEnoughThreads = 50000;
/// Elements of a multiprocessor from which on neighbouring rows share more of a line.
constexpr int64_t kManyElements = 18432;

/// What decides how rows across the contiguous dimension are dealt out.
struct ScheduleSelector::Columns {
  int64_t length, count;        ///< elements of a row, rows; if unknown, 0 and kManyRows
  int64_t bytes;                ///< of the narrowest element along which rows lie side by side
  int64_t ownBytes = 8;         ///< of the narrowest one that each element of the rows has
  std::optional<int64_t> inner; ///< rows side by side
  int64_t enoughThreads;        ///< of all blocks
  int64_t operands = 0;         ///< as large as the rows, one at least
  int64_t operandBytes = 0;     ///< of an element of all of these
  int64_t words;                ///< of the numbers that the collective is over
  bool hasMeans;                ///< which take registers until they are put right

  bool hasMore(int64_t positions) const { return !inner || positions < *inner; }
  /// So many lanes, or half as many and so on, at least `least`, if these take all that lie side by
  /// side.
  int64_t lanesBeside(int64_t lanes, int64_t vector, int64_t least = 1) const {
    while (lanes > least && !hasMore(lanes / 2 * vector))
      lanes /= 2;
    return lanes;
  }
  int64_t leastThreads(int64_t vector, int64_t elements) const {
    return llvm::PowerOf2Ceil(llvm::divideCeil(length, elements / vector));
  }
  bool fillDevice(int64_t vector, int64_t perRow) const;
  int64_t threadsFor(int64_t vector, int64_t elements) const;
  int64_t vectorsInCluster(int64_t vector, int64_t threads, int64_t blocks, bool isEven) const;
};

SelectedSchedule ScheduleSelector::makeColumn(int64_t perRow, int64_t lanes, int64_t vector,
                                              int64_t perThread, bool staged, StringRef where,
                                              int64_t blocks, int64_t resident) const {
  return {RowScheduleAttr::get(context(), RowClass::Column, perRow, lanes, vector, perThread, index,
                               blocks, staged, /*shelved_steps=*/0,
                               /*bypass_l1=*/false, /*aligned=*/false, resident),
          "the row runs across the contiguous dimension" + where.str()};
}

/// Whether the rows can wait in shared memory, of which two blocks have enough.
bool ScheduleSelector::fitsTwice(const SelectedSchedule &staged) const {
  auto schedule = cast<RowScheduleAttr>(staged.schedule);
  return stagedBytes(kernel, schedule) > 0 &&
         sharedBytes(kernel, schedule) <= device.sharedBytesPerSm / 2 - kReservedBytes;
}

/// Whether vectors of positions, by so many threads each, are threads enough. (There may be more of
/// them than can be counted.)
bool ScheduleSelector::Columns::fillDevice(int64_t vector, int64_t perRow) const {
  return count / vector >= enoughThreads / perRow;
}

/// Threads for each row of at most `elements` elements; few positions leave most of a
/// multiprocessor idle unless each gets many.
int64_t ScheduleSelector::Columns::threadsFor(int64_t vector, int64_t elements) const {
  int64_t perRow = leastThreads(vector, elements);
  while (!fillDevice(vector, perRow) && 8 * perRow <= length && perRow < kMostThreadRows)
    perRow *= 2;
  return perRow;
}

/// How many vectors of positions, by so many threads each, a block has side by side: a sector;
/// where threads are many 64 bytes; where blocks are as well 128 bytes, and 256, torn ones in wider
/// blocks.
int64_t ScheduleSelector::lanesOf(const Columns &columns, int64_t vector, int64_t perRow,
                                  int64_t mostThreads) const {
  bool isFull = columns.fillDevice(vector, perRow),
       isTorn = columns.inner && *columns.inner * columns.bytes % kSectorBytes != 0;
  int64_t lanes = 1, positions = columns.count / vector;
  auto isNarrow = [&](int64_t run) {
    return columns.hasMore(lanes * vector) && lanes * vector * columns.bytes < run;
  };
  auto mayWiden = [&](int64_t threads, int64_t blocks) {
    return isFull && lanes * perRow < threads && positions >= blocks * lanes * device.smCount;
  };
  while (lanes * perRow < 128 || isNarrow(isFull ? 64 : kSectorBytes) ||
         (isNarrow(128) && mayWiden(512, 2)) ||
         (isNarrow(256) && mayWiden(isTorn ? mostThreads : 256, 16)))
    lanes *= 2;
  return lanes;
}

/// Columns by so wide accesses, if registers hold them. A position's states cost an exchange: few
/// positions a thread, and many coordinates.
std::optional<SelectedSchedule> ScheduleSelector::columnsInRegisters(const Columns &columns,
                                                                     int64_t vector) const {
  for (auto [elements, most] : {std::pair(kColumnElements, 256), {kRegisterElements, 512}}) {
    // Up to 16 threads take a row well as they are.
    if (elements == kColumnElements && columns.length * vector <= 16 * kRegisterElements)
      continue;
    int64_t least = columns.leastThreads(vector, elements);
    if (least > kMostThreadRows)
      continue;
    for (int64_t perRow = columns.threadsFor(vector, elements); perRow >= least; perRow /= 2) {
      int64_t lanes = lanesOf(columns, vector, perRow, most),
              each = llvm::divideCeil(columns.length, perRow);
      if (lanes * perRow <= (each * vector <= 16 ? 1024 : most))
        return makeColumn(perRow, lanes, vector, each, false, ", in registers");
    }
  }
  return std::nullopt;
}

/// The most vectors of a thread of so large blocks: rows that come out even need no checks, and so
/// fewer registers. An element takes `words` of these.
int64_t ScheduleSelector::Columns::vectorsInCluster(int64_t vector, int64_t threads, int64_t blocks,
                                                    bool isEven) const {
  int64_t uneven = kUnevenElements / words / vector;
  if (threads == 1024) // 64 registers
    return uneven / operands * (hasMeans ? 3 : 4) / 4;
  uneven *= blocks == kLargestCluster ? 2 : 1;
  if (threads == 512) // 128 registers
    uneven = std::min<int64_t>(uneven / operands, 48);
  else
    uneven /= llvm::divideCeil(operands, 2);
  int64_t even = std::min(kEvenVectors, kEvenElements / vector) / words / operands;
  return isEven ? std::max(even, uneven) : uneven;
}

/// Columns in the registers of clusters whose blocks have so many threads and positions: as few of
/// them as are enough.
std::optional<SelectedSchedule> ScheduleSelector::columnsByBlocks(const Columns &columns,
                                                                  int64_t vector, int64_t threads,
                                                                  int64_t positions,
                                                                  bool mustBeEven) const {
  constexpr int64_t kLeastElements = 8;
  int64_t lanes = columns.lanesBeside(positions / vector, vector),
          enough = threads == 128 ? 30000 : kEnoughThreads,
          perRow = std::min(threads / lanes, kMostThreadRows),
          strips = llvm::divideCeil(columns.count, lanes * vector);
  std::optional<SelectedSchedule> found;
  for (int64_t blocks = 1; blocks <= kLargestCluster; blocks *= 2) {
    int64_t step = perRow * blocks, each = llvm::divideCeil(columns.length, step);
    if (each * vector < kLeastElements || (found && strips * step / 2 * lanes >= enough))
      break;
    bool isEven = columns.length % step == 0,
         mayHaveMore = isEven && positions * columns.ownBytes >= kSectorBytes;
    if (each > columns.vectorsInCluster(vector, threads, blocks, mayHaveMore) ||
        (!isEven && mustBeEven))
      continue;
    // Left to itself ptxas takes 80 registers for 64 elements of a softmax, and reads later.
    bool isSpared = !columns.hasMeans && threads <= 256 && each * vector > 48 &&
                    columns.operands == 1 && columns.words == 1 && vector * columns.ownBytes >= 4;
    found = makeColumn(perRow, lanes, vector, each, false, ", in registers of a cluster", blocks,
                       isSpared ? 512 / threads : 0);
  }
  return found;
}

/// Columns in shared memory of clusters of 16 blocks, two of them on a multiprocessor, where these
/// are enough. Not what only single elements can be copied of.
std::optional<SelectedSchedule> ScheduleSelector::shelvedColumns(const Columns &columns,
                                                                 int64_t widest) const {
  if (widest * columns.ownBytes < 8)
    return std::nullopt;
  for (int64_t bytes : {8, 4}) {
    int64_t vector = std::clamp<int64_t>(bytes / columns.ownBytes, 1, widest),
            lanes = columns.lanesBeside(8, vector, 2);
    int64_t perRow = 256 / lanes, each = llvm::divideCeil(columns.length, perRow * kLargestCluster),
            steps = llvm::divideCeil(each, 8);
    SelectedSchedule shelved = makeColumn(perRow, lanes, vector, llvm::divideCeil(each, steps),
                                          true, ", in shared memory of a cluster", kLargestCluster);
    if (fitsTwice(shelved) && columns.count / vector * perRow * kLargestCluster >= kEnoughThreads)
      return shelved;
  }
  return std::nullopt;
}

/// Columns that a block does not hold. On the chip, in clusters: by 4-byte accesses, 16 positions a
/// block, or 64 bytes of them where there are many elements, and 8 where only so rows are held.
/// Small blocks with much of a row each rather than many; those of 512 threads hold rows that come
/// out even, others better wait in shared memory. Few columns are read again by all
/// multiprocessors rather than held by blocks that large.
std::optional<SelectedSchedule> ScheduleSelector::sharedColumns(const Columns &columns,
                                                                int64_t widest) const {
  int64_t vector = std::clamp<int64_t>(4 / columns.ownBytes, 1, widest),
          many = device.smCount * kManyElements, all;
  bool isMany = llvm::MulOverflow(columns.length, columns.count, all) || all > many;
  int64_t wide = std::max<int64_t>(16, isMany ? 64 / columns.ownBytes : 0);
  using Blocks = std::pair<int64_t, bool>; // their threads, and whether rows must come out even
  auto inRegisters = [&](std::initializer_list<Blocks> sizes,
                         std::initializer_list<int64_t> widths) -> std::optional<SelectedSchedule> {
    for (auto [threads, mustBeEven] : sizes)
      for (int64_t positions : widths)
        if (std::optional<SelectedSchedule> found =
                columnsByBlocks(columns, vector, threads, positions, mustBeEven))
          return found;
    return std::nullopt;
  };
  if (auto small = inRegisters({{128, true}, {256, false}}, {wide, 16}))
    return small;
  // What a prologue stores may take the place of an operand that waits in shared memory.
  bool inRounds = columns.operands > 1;
  std::optional<SelectedSchedule> crowd = columnsInCrowds(columns, widest, inRounds);
  PhaseOp prologue = kernel.getPhase(Phase::Prologue);
  if (crowd && (!prologue || prologue.getStores().empty()))
    return crowd;
  if (auto even = inRegisters({{512, true}}, {wide, 16}))
    return even;
  if (auto shelved = shelvedColumns(columns, widest))
    return shelved;
  if (crowd)
    return crowd;
  std::initializer_list<Blocks> large = {{512, false}, {1024, false}};
  if (auto wider = inRegisters(large, {wide, 16}))
    return wider;
  if (auto narrow = inRegisters(large, {8}))
    return narrow;
  return columnsInCrowds(columns, widest, /*inRounds=*/true);
}

/// Columns by blocks that meet in memory, one on every multiprocessor, which read them again: of 32
/// positions, or 64 where there are more. `inRounds`: of so many that a quarter of the
/// multiprocessors takes 64 at a time, and finds them in L2 when it comes back. A few blocks less
/// where rows come out even for them, without checks.
std::optional<SelectedSchedule>
ScheduleSelector::columnsInCrowds(const Columns &columns, int64_t widest, bool inRounds) const {
  for (int64_t positions : {32, 64}) {
    bool isWide = positions == 64; // 1024 threads of 64 registers, too few for states of f64
    if (columns.count == 0 || (isWide && columns.words > 1))
      break;
    int64_t vector = std::min<int64_t>(widest, 4),
            lanes = columns.lanesBeside(positions / vector, vector),
            perRow = std::min(16 * positions / lanes, kMostThreadRows),
            strips = llvm::divideCeil(columns.count, lanes * vector);
    if (inRounds && isWide && lanes * vector == positions &&
        device.smCount / strips <= kLargestCluster)
      strips = 4;
    // Half of the 128 registers hold what has been read; of 64 less, of several operands for fewer
    // elements.
    int64_t elements =
                std::min<int64_t>((isWide ? 96 : 256) / std::max<int64_t>(columns.operandBytes, 1),
                                  isWide ? 16 / llvm::divideCeil(columns.operands, 2) : 32),
            perThread =
                std::clamp<int64_t>(elements / vector, 1, (isWide ? 8 : 16) / columns.words),
            most = std::min(device.smCount / strips, kMostLooks * (perRow / vector)),
            step = perRow * perThread, blocks = most;
    if (most <= kLargestCluster)
      continue;
    if (columns.length < most * step)
      break;
    while (columns.length % (blocks * step) != 0 && 16 * blocks > 15 * most)
      --blocks;
    if (columns.length % (blocks * step) != 0)
      blocks = most;
    // Told that no other block comes, ptxas does not spill to make room for one.
    SelectedSchedule crowd = makeColumn(perRow, lanes, vector, perThread, false,
                                        ", by blocks that meet in memory", blocks, /*resident=*/1);
    if (crowdBytes(kernel, cast<RowScheduleAttr>(crowd.schedule)).value_or(kMostScratch + 1) >
        kMostScratch)
      break;
    return crowd;
  }
  return std::nullopt;
}

/// Columns that no cluster's registers hold: by 8-byte accesses, 128 bytes side by side or what
/// there are four clusters for, but a sector; of 16 blocks, as large as threads of a row make them.
SelectedSchedule ScheduleSelector::longColumns(const Columns &columns, int64_t widest) const {
  int64_t vector = std::clamp<int64_t>(8 / columns.ownBytes, 1, widest), lanes = 16,
          perThread = std::min<int64_t>(index == 64 ? 4 : 8, kRegisterElements / vector);
  auto isTooWide = [&] {
    int64_t positions = lanes * vector;
    return !columns.hasMore(positions / 2) ||
           (4 * positions > columns.count && positions * columns.ownBytes > kSectorBytes);
  };
  while (lanes > 1 && isTooWide())
    lanes /= 2;
  return makeColumn(std::min(1024 / lanes, kMostThreadRows), lanes, vector,
                    std::max<int64_t>(perThread / columns.operands / columns.words, 1), false,
                    ", by a cluster", kLargestCluster);
}

/// Collectives along a dimension that is not innermost, whose results come back to the elements:
/// neighbouring positions side by side, each walking its own row.
SelectedSchedule ScheduleSelector::column() {
  unsigned keptInner = kernel.getReduced().front() - 1;
  int64_t widest = writableVector(keptInner);
  Columns columns;
  columns.length = product(true).value_or(0);
  columns.count = std::min(product(false).value_or(kManyRows), kManyRows);
  columns.inner = constantSize(extent(keptInner));
  columns.bytes = narrowestAlong(keptInner);
  columns.words = kernel.getCollective().getValue().getType().isF64() ? 2 : 1;
  columns.hasMeans = isLayerNorm();
  columns.enoughThreads = kBusyBlockThreads * device.smCount;
  for (ViewAttr view : views())
    if (hasOwnRows(kernel, view, keptInner))
      columns.ownBytes = std::min(columns.ownBytes, elementBytes(view.getElement()));
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
    if (hasOwnRows(kernel, view, keptInner)) {
      ++columns.operands;
      columns.operandBytes += elementBytes(view.getElement());
    }
  columns.operands = std::max<int64_t>(columns.operands, 1);
  if (columns.length > 0) {
    int64_t vector =
        columns.length * widest <= kRegisterElements ? widest : std::min<int64_t>(widest, 4);
    std::optional<SelectedSchedule> best = columnsInRegisters(columns, vector);
    auto threadsOf = [&](const SelectedSchedule &selected) {
      auto schedule = cast<RowScheduleAttr>(selected.schedule);
      return columns.count / schedule.getVector() * schedule.getThreadsPerRow();
    };
    // Narrower accesses, of 4 bytes, where that makes threads of few positions.
    while (vector > 1 && vector * columns.bytes > 4 &&
           !columns.fillDevice(vector, columns.threadsFor(vector, kColumnElements))) {
      vector /= 2;
      std::optional<SelectedSchedule> narrower = columnsInRegisters(columns, vector);
      if (!narrower || (best && threadsOf(*narrower) <= threadsOf(*best)))
        break;
      best = narrower;
    }
    // Rows that are in one block's registers, if these are of enough threads, need no other block.
    auto isThin = [&] {
      auto schedule = cast<RowScheduleAttr>(best->schedule);
      int64_t threads = threadsOf(*best),
              elements = schedule.getVectorsPerThread() * schedule.getVector();
      return columns.length >= 512 &&
             (threads < 25000 || (elements > 16 && threads < columns.enoughThreads));
    };
    if (device.ccMajor >= 9 && (!best || isThin())) {
      std::optional<SelectedSchedule> shared = sharedColumns(columns, widest);
      if (!best && !shared)
        return longColumns(columns, widest);
      if (shared && (!best || cast<RowScheduleAttr>(shared->schedule).getBlocksPerRow() > 1))
        return *shared;
    }
    if (best)
      return *best;
    // Only where there are no clusters.
    if (auto crowd = columnsInCrowds(columns, widest, /*inRounds=*/false))
      return *crowd;
    SelectedSchedule staged = makeColumn(32, 8, widest, 2, true, ", in shared memory");
    if (fitsTwice(staged))
      return staged;
  }
  int64_t perRow = 8, lanes = columns.lanesBeside(32, widest, 4);
  while (lanes * perRow < 128)
    perRow *= 2;
  // Few are read by more threads each, a sector side by side.
  while (columns.length >= 8 * perRow && !columns.fillDevice(widest, perRow) &&
         perRow < kMostThreadRows && lanes * widest * columns.bytes >= 2 * kSectorBytes) {
    perRow *= 2;
    lanes /= 2;
  }
  return makeColumn(perRow, lanes, widest, 2, false, "");
}
