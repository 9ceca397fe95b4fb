//===- SelectRowSchedule.cpp - Schedules of rows --------------------------===//
//
// Part of --swage-select-schedule: kernels with a collective. What the numbers rest on is in
// docs/notes/rows.md.
//
//===----------------------------------------------------------------------===//

#include "RowSelection.h"
#include "swage/Dialect/Swage/Analysis/RowBounds.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace mlir;
using namespace swage;

/// Elements of a row that a thread keeps where the row waits in shared memory and not in registers;
/// and accesses, of a LayerNorm with others beside it.
constexpr int64_t kStagedElements = 56, kWideStagedAccesses = 24;
/// The same where one thread has the whole row.
constexpr int64_t kWholeRowElements = 88;
/// Threads of a multiprocessor that hide each other's waits where rows are short.
constexpr int64_t kBusyThreads = 800;
/// Threads that share one of few rows, if each then has two to four narrow accesses; and the most
/// accesses of such rows.
constexpr int64_t kNarrowThreads = 256, kNarrowAccesses = 2048;
/// Bytes of a row beyond which it goes by aligned vectors if no others of 16 bytes fit it.
constexpr int64_t kLongBytes = 64 << 10;

/// Bytes of an element of the narrowest operand that changes along a dimension.
int64_t ScheduleSelector::narrowestAlong(unsigned dim) const {
  int64_t narrow = 16;
  for (ViewAttr view : views())
    if (!LinearAccess::of(view.getAccess())->isBroadcast(dim))
      narrow = std::min(narrow, elementBytes(view.getElement()));
  return narrow;
}

/// Whether an operand has more than one element of a row.
bool ScheduleSelector::changesAlongRow(ViewAttr view) const {
  return !LinearAccess::of(view.getAccess())->isBroadcast(kernel.getRank() - 1);
}

/// Whether an operand has elements of rows, not the same ones for all rows.
bool ScheduleSelector::hasRows(ViewAttr view) const {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  unsigned kept = kernel.getReduced().front();
  return !access.isBroadcast(kernel.getRank() - 1) &&
         !llvm::all_of(llvm::seq(kept), [&](unsigned dim) { return access.isBroadcast(dim); });
}

/// Of the operands that have rows of their own: bytes of an element of the widest one and of all of
/// them, and how many they are.
ScheduleSelector::Streams ScheduleSelector::streams() const {
  Streams all{1, 0, 0};
  for (ViewAttr view : views())
    if (hasRows(view)) {
      all.widest = std::max(all.widest, elementBytes(view.getElement()));
      all.bytes += elementBytes(view.getElement());
      ++all.count;
    }
  return all;
}

/// How many elements of an innermost run neighbouring lanes write: of more than 16 bytes each they
/// would write every sector by halves.
int64_t ScheduleSelector::mostWritten() const {
  int64_t bytes = 1;
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (changesAlongRow(view))
      bytes = std::max(bytes, elementBytes(view.getElement()));
  return std::max<int64_t>(1, 16 / bytes);
}

/// The elements of a vector along a dimension, no more than are written.
int64_t ScheduleSelector::writableVector(unsigned dim) const {
  return std::min(vectorAlong(kernel, dim, facts), mostWritten());
}

/// Whether something that is the same for all rows has elements of its own along them, like gamma.
bool ScheduleSelector::readsAgain() const {
  return llvm::any_of(views(),
                      [&](ViewAttr view) { return changesAlongRow(view) && !hasRows(view); });
}

/// Whether all tensors that change along the row begin at a multiple of 16 bytes.
bool ScheduleSelector::beginAligned() const {
  return llvm::all_of(
      views(), [&](ViewAttr view) { return !changesAlongRow(view) || view.getAlign() >= 16; });
}

bool ScheduleSelector::isNorm() const { return swage::isNorm(kernel.getCollective().getKind()); }

bool ScheduleSelector::isLayerNorm() const {
  return kernel.getCollective().getKind() == Collective::LayerNorm;
}

/// Of more than one tensor, whose threads have registers for fewer elements of each.
bool ScheduleSelector::isWideLayerNorm(const Rows &rows) const {
  return rows.streams > 1 && isLayerNorm();
}

/// Whether all that the kernel writes stays in L2.
bool ScheduleSelector::staysInL2() const {
  std::optional<int64_t> kept = product(false), reduced = product(true);
  int64_t bytes = 0;
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (changesAlongRow(view))
      bytes += elementBytes(view.getElement());
  int64_t room = device.l2Bytes / 4 * 3;
  return kept && reduced &&
         *kept <= room / std::max<int64_t>(1, bytes) / std::max<int64_t>(1, *reduced);
}

/// Whether so many fifths of L2 hold what is read and written.
bool ScheduleSelector::fitsL2(const Rows &rows, int64_t fifths) const {
  return rows.count && double(*rows.count) * double(rows.vectors * rows.vector * rows.moved) <=
                           double(device.l2Bytes) * double(fifths) / 5;
}

bool swage::isBounded(KernelOp kernel) {
  Block scratch;
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToEnd(&scratch);
  return bool(rowBounds(kernel, builder));
}

int64_t swage::residentBlocks(int64_t threads, int64_t registers) {
  int64_t warps = 4 * std::min<int64_t>(16, 512 / llvm::alignTo(registers, 8));
  return warps / (threads / 32);
}

SelectedSchedule ScheduleSelector::makeRow(const Rows &rows, RowClass kind, int64_t perRow,
                                           int64_t rowsPerBlock, int64_t perThread,
                                           std::string reason, int64_t blocks, bool staged,
                                           int64_t shelvedSteps) const {
  // A group of the last collective is whole vectors of neighbouring lanes.
  perThread = llvm::alignTo(perThread, llvm::divideCeil(rows.grouped, 32));
  bool bypassL1 = kind == RowClass::Block && staysInL2();
  return {RowScheduleAttr::get(context(), kind, perRow, rowsPerBlock, rows.vector, perThread, index,
                               blocks, staged, shelvedSteps, bypassL1, rows.aligned, rows.resident),
          reason};
}

/// The lanes that take a row by at most `perThread` vectors each, at least `least`; 0 if a warp is
/// too small.  A row costs each of its threads about as much as three vectors do, whether they are
/// there or not; the first `freeThreads` threads cost as much as one another.  Where rows are torn
/// each access has a part of a sector at either end, which costs as much as 16 vectors (of 115
/// shapes: docs/notes/rows.md), or 40 of f32, of which there are half as many in the same time.
int64_t ScheduleSelector::lanesFor(const Rows &rows, int64_t least, int64_t perThread) const {
  int64_t best = 0,
          tear = !rows.torn                       ? 0
                 : rows.widest >= 4 * rows.vector ? 40
                                                  : 16,
          streams = rows.torn ? rows.streams : 1;
  auto cost = [&](int64_t threads) {
    int64_t each = llvm::divideCeil(rows.vectors, threads);
    // Where they are kept nothing beats one or two vectors that leave no lane idle; two, where what
    // is made once for a row is much of the work.
    if (!rows.onlySummed && each <= 2 && threads * each == rows.vectors)
      return rows.onlyScaled && rows.freeThreads < rows.vectors ? 3 - each : each;
    return std::max(threads, rows.freeThreads) * (3 + each * streams) + tear * each * streams;
  };
  for (int64_t threads = least; threads <= 32; threads *= 2)
    if (rows.vectors <= threads * perThread && (!best || cost(threads) < cost(best)))
      best = threads;
  return best;
}

/// How many times the lanes of a warp wait for a bank of shared memory when `lanes` neighbours each read
/// an element of `bytes` of a row, and the next ones of the next row.
static int64_t rowConflicts(int64_t rowBytes, int64_t lanes, int64_t bytes) {
  SmallVector<int64_t> places;
  for (int64_t lane = 0; lane < 32; ++lane)
    places.push_back(lane / lanes * rowBytes + lane % lanes * bytes);
  return bankConflicts(places);
}

/// Short rows that begin anywhere go by single elements, which only shared memory puts together to
/// whole accesses.  Rows of a few vectors, an odd number of them, leave lanes idle, and a thread for
/// each row finds its vectors in shared memory without conflicts.
std::optional<SelectedSchedule> ScheduleSelector::stagedRows(const Rows &rows) const {
  int64_t most = std::min(isWideLayerNorm(rows) ? kWideStagedAccesses : kStagedElements,
                          kStagedElements / rows.vector);
  bool anywhere = rows.bytes < 8,
       wholeRows = rows.vectors % 2 == 1 && rows.vectors > 1 && rows.vectors <= 64 &&
                   rows.vectors * rows.vector <= kWholeRowElements && rows.freeThreads <= 2;
  // Norms of longer rows are as fast by single elements: gamma and beta go by them anyway.
  if ((!anywhere && !wholeRows) || rows.grouped > 1 || (isNorm() && rows.vectors > 352))
    return std::nullopt;
  // A row costs each of its threads about as much as three elements do, and lanes that read from the
  // same bank wait for each other; two of them do so anyway.
  int64_t threads = 1, least = 0, ideal = 0, mostLanes = rows.freeThreads > 16 ? 32 : 16;
  for (int64_t lanes = 1; lanes <= mostLanes && anywhere; lanes *= 2) {
    int64_t each = llvm::divideCeil(rows.vectors, lanes),
            cost = std::max(lanes, rows.freeThreads) * (3 + each) * 4;
    if (each > most)
      continue;
    ideal = ideal == 0 ? cost : std::min(ideal, cost);
    int64_t conflicts = rowConflicts(rows.vectors * rows.bytes, lanes, rows.bytes);
    cost = std::max(cost, cost * (1 + conflicts) / 4);
    if (least == 0 || cost < least) {
      threads = lanes;
      least = cost;
    }
  }
  bool isSlow = least > ideal * 5 / 4 && rows.vectors * rows.vector >= kAlignedLeast;
  if (anywhere && (least == 0 || (isSlow && isAlignable(kernel))))
    return std::nullopt;
  for (int64_t block : {128, 64, 32}) {
    if (!anywhere && block > 64)
      continue;
    SelectedSchedule staged =
        makeRow(rows, RowClass::Group, threads, block / threads,
                llvm::divideCeil(rows.vectors, threads),
                rows.name + (anywhere ? " begins anywhere" : " is an odd number of vectors") +
                    ": through shared memory, threads for each: " + std::to_string(threads),
                /*blocks=*/1, /*staged=*/true);
    auto schedule = cast<RowScheduleAttr>(staged.schedule);
    if (stagedBytes(kernel, schedule) > 0 &&
        sharedBytes(kernel, schedule) <= device.sharedBytesPerBlock)
      return staged;
  }
  return std::nullopt;
}

/// Inputs that are read behind the first collective, in front of a further one or by the epilogue,
/// beside the elements that these phases are handed.
static llvm::SetVector<unsigned> laterInputs(KernelOp kernel) {
  llvm::SetVector<unsigned> inputs;
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  for (unsigned i = 1; i < collectives.size(); ++i)
    inputs.insert_range(inputsRead(kernel, collectives[i].getValue(), Phase::Between, i - 1));
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues()))
    if (phaseOf(kernel, i) == Phase::Epilogue)
      inputs.insert_range(inputsRead(kernel, value, Phase::Epilogue));
  return inputs;
}

/// Whether an element of a row is two of a tensor's, of which two others are made: norms that a
/// rotary embedding turns (SplitNorms.cpp). The compiler saves four registers by reading late what
/// turns them, in front of a second wait for memory, unless it is told that few blocks are wanted.
bool ScheduleSelector::turnsHalves() const {
  llvm::SetVector<unsigned> early = prologueInputs(kernel);
  auto areOfOne = [](ViewAttr a, ViewAttr b) { return a.getTensor() == b.getTensor(); };
  return early.size() == 2 && areOfOne(kernel.getInput(early[0]), kernel.getInput(early[1])) &&
         kernel.getOutputs().size() == 2 && areOfOne(kernel.getOutput(0), kernel.getOutput(1)) &&
         !kernel.getCollective().getValue().getType().isF64();
}

/// A warp takes rows of up to four vectors a lane, neighbouring lanes 64 bytes or more, or of more
/// narrow ones; with few rows as many lanes as there are vectors.
std::optional<SelectedSchedule> ScheduleSelector::groupedRows(const Rows &rows, bool few) const {
  bool areFloats = rows.widest >= 4 * rows.vector;
  int64_t perThread = std::min<int64_t>(rows.capacity, 4);
  if (rows.vector < 4)
    perThread = !areFloats ? rows.capacity : rows.vector == 1 ? 10 : 8;
  int64_t mostOfFew = std::min<int64_t>(perThread, 12),
          together = std::clamp<int64_t>(64 / rows.bytes, 8, 16);
  // What is only summed up takes registers while it is on its way, 64 elements of it. Lanes by
  // narrow accesses need not be neighbours: L1 has the lines of their rows.
  if (rows.onlySummed && rows.bytes < 8) {
    perThread = 12;
    mostOfFew = 20;
    together = 1;
  } else if (rows.onlySummed) {
    perThread = mostOfFew = std::min<int64_t>(8, 64 / rows.vector);
  } else if (rows.onlyScaled) {
    together = 2;
  }
  // Two warps take what would fill one, with half the registers each; unless a mask leaves each warp
  // another part of the work, which they would wait for.
  bool fillsWarp = rows.vector >= 8 && rows.vectors >= 120 && rows.vectors <= 128 &&
                   !rows.bounded && !rows.onlySummed;
  int64_t most = 32 * perThread;
  if (few) {
    // Not what is read behind the exchange, a gate, in front of which lanes would wait again.
    bool waitsAgain = llvm::any_of(laterInputs(kernel),
                                   [&](unsigned input) { return hasRows(kernel.getInput(input)); });
    most = 32 * (rows.bounded || waitsAgain ? 2 : mostOfFew);
  }
  if (rows.vectors > most || fillsWarp)
    return std::nullopt;
  int64_t all = std::min<int64_t>(32, llvm::PowerOf2Ceil(rows.vectors));
  int64_t least = std::max(together, rows.grouped);
  int64_t threads = few ? all : lanesFor(rows, std::min(least, all), perThread);
  int64_t each = llvm::divideCeil(rows.vectors, threads);
  // Blocks of one warp: where a multiprocessor has few rows, which then are even; and where all
  // stays in L2 and few blocks follow each other, of which the sooner one ends the better, unless a
  // LayerNorm shares what it reads of gamma and beta.
  constexpr int64_t kFollowing = 48;
  bool isNarrow = rows.bytes < 8;
  int64_t perMultiprocessor = rows.count ? *rows.count / device.smCount : INT64_MAX,
          fewRows = !isNarrow || (areFloats && each > 2) ? 12 : 4;
  bool follows = each > 2 && threads == 32 && isNorm() && staysInL2() && rows.bytes >= 16 &&
                 !(isLayerNorm() && streams().count <= 2) && perMultiprocessor >= kFollowing;
  // Few rows wait for all loads of a lane, for which a block of one warp has the registers: from so
  // many vectors on it pays, of narrow ones where there are gamma and beta as well.
  int64_t worthIt = isLayerNorm() ? (isNarrow ? 3 : 2) : isNarrow ? INT64_MAX : areFloats ? 2 : 3;
  bool waits = each >= worthIt;
  bool isAlone = few ? waits : each > 1 && (perMultiprocessor < fewRows || follows);
  // Of rows of different lengths fewer wait for the longest; what is only summed up is done so soon
  // that blocks of 128 threads would follow each other too fast.
  int64_t layers = perMultiprocessor / llvm::divideCeil(kBusyThreads, threads); // one after another
  int64_t block = isAlone                          ? 32
                  : each > 1 && rows.bounded       ? 64
                  : rows.onlyScaled && layers >= 4 ? 512
                  : rows.onlySummed && layers >= 1 ? 256
                                                   : 128;
  Rows told = rows;
  if (block == 128 && turnsHalves())
    told.resident = 4;
  return makeRow(told, RowClass::Group, threads, block / threads, each,
                 rows.name + " fits the registers of " + std::to_string(threads) + " threads");
}

/// How many blocks share each of few rows in registers: about two for every multiprocessor, or four
/// where two fifths of L2 hold what is read and written and there is one collective, which pays for
/// rows that begin anywhere if a cluster has eight. Clusters of 16, for which many multiprocessors
/// have no room, are for rows that leave some of these idle, for shorter ones that share them, and
/// for few of the longest LayerNorms.
int64_t ScheduleSelector::blocksOfFew(const Rows &rows) const {
  int64_t blocks = 1, least = rows.aligned ? 256 : 512;
  auto hasRoom = [&](int64_t wanted) {
    int64_t taken = wanted * *rows.count;
    bool isSmall = kernel.countCollectives() == 1 && fitsL2(rows, 2);
    if (wanted < 16)
      return taken <= device.smCount * (isSmall && (wanted == 8 || !rows.aligned) ? 4 : 2);
    // Eight blocks of the longest LayerNorms have twice as many threads as are best.
    bool isLongNorm = isSmall && isLayerNorm() && rows.vectors > 8 * 1024;
    return taken <= device.smCount * 3 / 4 ||
           (taken > device.smCount && taken <= 2 * device.smCount && rows.vectors <= 16 * 1024) ||
           (isLongNorm && !rows.aligned && taken <= 4 * device.smCount);
  };
  while (device.ccMajor >= 9 && rows.count && blocks < 16 && hasRoom(2 * blocks) &&
         rows.vectors >= 2 * blocks * least)
    blocks *= 2;
  return blocks;
}

/// How many blocks share a row.  A cluster's blocks wait for each other: it is for rows that one
/// block cannot hold, and for few long ones.
int64_t ScheduleSelector::blocksFor(const Rows &rows) const {
  int64_t blocks = blocksOfFew(rows);
  int64_t threads = rows.bytes < 8 ? 256 : 512;
  if (device.ccMajor >= 9 && rows.vectors > rows.ofOneBlock())
    while (blocks < 16 && rows.vectors > blocks * threads * rows.capacity)
      blocks *= 2;
  return blocks;
}

/// How many blocks a multiprocessor is to hold where a thread's inputs take more registers than its
/// elements do; 0 elsewhere.  The compiler then saves registers by reading a part of the inputs late, a
/// second wait for memory, or takes so many that fewer blocks fit.  Told how many are wanted it does
/// neither.  LayerNorms gain nothing from it.
int64_t ScheduleSelector::blocksWithInputs(const Rows &rows, int64_t threads,
                                           int64_t elements) const {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  if (llvm::any_of(llvm::drop_begin(collectives),
                   [](CollectiveOp collective) { return collective.isPerElement(0); }))
    return 0;
  llvm::SetVector<unsigned> early = prologueInputs(kernel), late = laterInputs(kernel);
  // Bytes of an element, for the prologue, for later, and of the former for both.
  int64_t soon = 0, ahead = 0, kept = 0;
  for (auto [input, attribute] : llvm::enumerate(kernel.getInputs())) {
    auto view = cast<ViewAttr>(attribute);
    if (view.getSource() == Source::Random)
      return 0; // The loads are in the order of the text anyway.
    if (view.getSource() != Source::Memory || !hasRows(view))
      continue;
    bool isOwn = hasOwnRows(kernel, view, kernel.getRank() - 1);
    if (early.contains(input))
      soon += elementBytes(view.getElement());
    else if (isOwn)
      ahead += elementBytes(view.getElement());
    if (isOwn && early.contains(input) && late.contains(input))
      kept += elementBytes(view.getElement());
  }
  // What RowChunk leaves for later, kReadsAhead and kKeepsInputs (row_parts.cuh).
  // Of one collective's inputs the compiler holds what is kept in fewer registers than it is given.
  int64_t together = threads * elements;
  bool isAhead = together * ahead <= 6144 * 4,
       keeps = isAhead && kept > 0 && collectives.size() > 1 && together * kept <= 16384 * 4;
  ahead = (isAhead ? ahead : 0) + (keeps ? kept : 0);
  // Two loads for each vector are taken apart, one is not.
  if (rows.widest <= 16 || soon <= 4)
    soon = 0;
  if ((soon == 0 && ahead == 0) || rows.widest > 4 * rows.vector)
    return 0;
  int64_t blocks =
      residentBlocks(threads, std::max((keeps ? 24 : 16) + elements + elements * ahead / 4,
                                       24 + elements * soon / 4));
  return blocks > 1 ? blocks : 0;
}

/// Blocks that keep a row, or `share` vectors of it, in registers.
std::optional<SelectedSchedule> ScheduleSelector::blockRows(Rows rows, int64_t blocks,
                                                            bool few) const {
  int64_t share = llvm::divideCeil(rows.vectors, blocks);
  if (share > 1024 * rows.capacity)
    return std::nullopt;
  // Too little of the rows on a multiprocessor costs most, then blocks of too many threads, then
  // idle lanes. 16 elements a thread keep enough loads in flight; by narrow accesses, where two
  // bytes become one, and where a mask leaves some of them nothing to do, more of them pay for what
  // a thread does once. With few rows nothing hides what a step takes: as many threads as keep a
  // multiprocessor busy, but where no gamma is read vector by vector (see `costsMerge`) threads may
  // have more.
  int64_t wanted = std::max<int64_t>(1, 16 / rows.vector), best = 0;
  if (rows.widest < 16)
    wanted = rows.vector == 1
                 ? 32
                 : std::max<int64_t>(1, 80 / std::max<int64_t>(1, rows.moved * rows.vector));
  else if ((rows.bytes < rows.widest && rows.moved < 4) || rows.bounded)
    wanted = rows.capacity;
  auto threadsFor = [&](int64_t perThread) {
    int64_t threads = std::max<int64_t>(64, llvm::alignTo(llvm::divideCeil(share, perThread), 32));
    // 31 warps have no more registers each than 32 have, and merge with checks that take some.
    return threads == 992 ? 1024 : threads;
  };
  // How much a multiprocessor has of the rows at once, beside the one that waits at its barrier,
  // falls short of what keeps memory busy, in steps.  A LayerNorm that is not dealt out evenly waits
  // longer: its threads' statistics have counts.
  bool counts = isLayerNorm();
  int64_t base = rows.vector == 1 || !counts ? 16 : 24;
  auto residentWith = [&](int64_t perThread, int64_t base) {
    int64_t elements = perThread * rows.vector,
            registers = rows.aligned ? 36 + elements * 3 / 2 : base + elements;
    return residentBlocks(threadsFor(perThread), registers);
  };
  auto shortage = [&](int64_t perThread) {
    constexpr int64_t step = 8 << 10;
    int64_t threads = threadsFor(perThread);
    int64_t enough = (counts && threads * perThread != share ? 48 : 40) << 10;
    int64_t there = rows.count ? blocks * *rows.count / device.smCount + 1 : INT64_MAX,
            others = std::min(residentWith(perThread, base), there) - 1;
    int64_t missing = enough - others * share * rows.widest * rows.streams;
    return few ? 0 : llvm::divideCeil(std::max<int64_t>(0, missing), step);
  };
  if (few && rows.bytes < 8 && blocks == 1 && !rows.aligned) {
    wanted = std::clamp<int64_t>(llvm::divideCeil(rows.vectors, kNarrowThreads), 2, 4);
  } else if (few) {
    int64_t busy = *rows.count * rows.vectors / (kBusyBlockThreads * device.smCount);
    wanted = std::clamp<int64_t>(busy, 1, readsAgain() ? wanted : rows.capacity);
  } else if ((wanted * rows.vector == 16 || rows.widest < 16) && rows.count &&
             blocks * *rows.count <= residentWith(2, base) * device.smCount) {
    wanted = std::min<int64_t>(wanted, 2);
  }
  // Of two waves of blocks the second may leave most of the device idle, or the third of the
  // largest blocks: for how much of what all blocks take, in quarters. Of more waves blocks end at
  // different times. Vectors of f32 make do with fewer registers. One wave is better than either.
  int64_t least = rows.widest == 4 * rows.vector ? std::min<int64_t>(base, 20) : base;
  auto waves = [&](int64_t perThread) {
    int64_t there = blocks * rows.count.value_or(0),
            fit = std::max<int64_t>(1, residentWith(perThread, least) * device.smCount),
            all = llvm::divideCeil(there, fit), most = threadsFor(perThread) > 512 ? 3 : 2;
    return std::pair(all <= 1 || all > most ? 0 : 4 * (all * fit - there) / there, all > 1);
  };
  // A warp costs more to merge than it gains: of a LayerNorm only where other blocks share its
  // multiprocessor, of an RMSNorm nowhere that was timed.
  bool costsMerge = !isNorm() || (counts && blocks * rows.count.value_or(0) > device.smCount);
  int64_t mostThreads = blocks > 1 && rows.aligned             ? 1024
                        : few && rows.bytes >= 8 && costsMerge ? 256
                                                               : 512;
  auto cost = [&](int64_t perThread) {
    int64_t threads = threadsFor(perThread);
    int64_t tooMany = (threads > mostThreads) + (threads > std::max<int64_t>(mostThreads, 512));
    auto [idleWave, hasMore] = waves(perThread);
    return std::tuple(idleWave, shortage(perThread), tooMany,
                      (threads * perThread - share) * 3 / share, hasMore,
                      std::abs(perThread - wanted));
  };
  for (int64_t perThread = 1; perThread <= rows.capacity; ++perThread)
    if (threadsFor(perThread) <= 1024 && (!best || cost(perThread) < cost(best)))
      best = perThread;
  int64_t threads = threadsFor(best);
  bool exact = product(true) && blocks * threads * best == rows.vectors;
  if (!rows.aligned && !few && blocks == 1 && !counts)
    rows.resident = blocksWithInputs(rows, threads, best * rows.vector);
  // Left to itself ptxas saves registers for blocks that do not come: 1.5 to 4.5 % of few long
  // rows.
  if (!rows.aligned && few && blocks > 1)
    rows.resident = std::clamp<int64_t>(llvm::divideCeil(blocks * *rows.count, device.smCount), 1,
                                        std::max<int64_t>(1, residentWith(best, base)));
  return makeRow(rows, RowClass::Block, threads, 1, best,
                 rows.name + " fits the registers of " +
                     (blocks == 1 ? "one block" : std::to_string(blocks) + " blocks") +
                     (exact ? " exactly" : ""),
                 blocks);
}

/// Rows of norms that read nothing again, if blocks of 128 or 256 threads hold all of them at once
/// with 40 elements a thread: GroupNorms of multiples of 320 channels. Fewer threads share a row
/// than by 32 elements, and none has a check. (Of kernels that take 72 registers an eighth of the
/// blocks waits, which still is the fastest.)
std::optional<SelectedSchedule> ScheduleSelector::evenRows(const Rows &rows) const {
  constexpr int64_t kVector = 8, kPerThread = 5, kRegisters = 64;
  if (!isNorm() || readsAgain() || rows.aligned || rows.vector != kVector || rows.widest != 16 ||
      rows.moved > 4 || rows.beside > 1 || rows.grouped > 1 || !product(true) || !rows.count)
    return std::nullopt;
  int64_t most = device.ccMajor < 9 ? 1 : 16;
  for (int64_t threads : {128, 256}) {
    int64_t blocks = rows.vectors / (threads * kPerThread), all = blocks * *rows.count;
    if (blocks * threads * kPerThread == rows.vectors && llvm::isPowerOf2_64(uint64_t(blocks)) &&
        blocks <= most && all >= device.smCount &&
        all <= residentBlocks(threads, kRegisters) * device.smCount)
      return makeRow(rows, RowClass::Block, threads, 1, kPerThread,
                     rows.name + " fits the registers of " + std::to_string(blocks) +
                         " blocks exactly, five vectors a thread",
                     blocks);
  }
  return std::nullopt;
}

/// How rows are dealt out.  The figures behind the numbers are in docs/notes/rows.md.
SelectedSchedule ScheduleSelector::row() {
  unsigned inner = kernel.getRank() - 1;
  Rows rows;
  // Accesses of 8 bytes are as good as those of 16, which ones of 32 are not; but the fewer lanes
  // have a group the fewer steps their exchange takes.
  rows.vector = writableVector(inner);
  Streams all = streams();
  if (narrowestAlong(inner) == 1 && all.widest > 1 && !kernel.hasGroups())
    rows.vector = std::min<int64_t>(rows.vector, 8);
  rows.bytes = rows.vector * narrowestAlong(inner);
  rows.widest = rows.vector * all.widest;
  rows.moved = all.bytes;
  rows.streams = std::max<int64_t>(1, all.count / 2);
  rows.capacity = std::max<int64_t>(1, kRegisterElements / rows.vector);
  rows.grouped = kernel.hasGroups() ? *constantSize(extent(inner)) / rows.vector : 1;
  rows.beside = rowsBeside(rows);
  rows.count = largest(false);
  rows.freeThreads =
      rows.count ? kBusyThreads * device.smCount / std::max<int64_t>(*rows.count, 1) : 0;
  // A runtime length takes the schedule of the longest: its end is masked.
  std::optional<int64_t> length = largest(true);
  if (!length || *length == 0)
    return makeRow(rows, RowClass::Looped, 512, 1, std::min<int64_t>(4, rows.capacity),
                   length ? "the row is empty" : "nothing bounds the row's length");
  rows.vectors = std::max<int64_t>(1, *length / rows.vector);
  rows.bounded = isBounded(kernel);
  rows.torn = product(true) && kernel.getReduced().size() == 1 &&
              llvm::any_of(kernel.getOutputs().getAsRange<ViewAttr>(), [&](ViewAttr view) {
                return hasRows(view) &&
                       !haveWholeSectors(constantStrides(view), elementBytes(view.getElement()));
              });
  rows.onlySummed = kernel.countCollectives() == 1 && !isNorm() &&
                    llvm::all_of(kernel.getOutputs().getAsRange<ViewAttr>(),
                                 [&](ViewAttr view) { return !changesAlongRow(view); });
  rows.onlyScaled = kernel.countCollectives() == 1 && narrowestAlong(inner) == 1 &&
                    all.widest > 1 && rows.vector == 8 &&
                    kernel.getCollective().getKind() == Collective::AbsMax;
  rows.name = (product(true) ? "a row of " : "a row of at most ") + std::to_string(*length);
  // Rows of caches go by vectors of a row as they lie.
  if (kernel.writesRows()) {
    bool few = rows.count && *rows.count < 4 * device.smCount;
    auto grouped = groupedRows(rows, few);
    return grouped ? *grouped : *blockRows(rows, /*blocks=*/1, few);
  }
  if (auto woven = wovenRows(rows))
    return *woven;
  SelectedSchedule selected = rowOfClusters(rows, *length);
  auto crowded = crowdedRows(rows, cast<RowScheduleAttr>(selected.schedule));
  return crowded ? *crowded : selected;
}

/// How rows of at most `length` elements are dealt out to threads, blocks and clusters.
SelectedSchedule ScheduleSelector::rowOfClusters(const Rows &rows, int64_t length) const {
  // Few rows leave most of the GPU idle unless each row gets many threads.
  auto few = [&](int64_t blocks) {
    return rows.count && *rows.count * blocks < 4 * device.smCount;
  };
  // Narrow accesses cost long rows more than what vectors that begin anywhere do.
  bool anywhere = rows.bytes < 8;
  bool isLong = rows.widest < 16 && length * (rows.widest / rows.vector) > kLongBytes;
  // Where 4 bytes fit, neighbouring lanes' are whole sectors of a long row but for its ends. In L2
  // torn sectors do not count; and of few rows nothing hides what others take more: to find out
  // where a row begins, or shared memory.
  if (anywhere && rows.torn && !rows.bounded) {
    bool isSmall = rows.freeThreads > 8 && length < kAlignedLength;
    int64_t enough = rows.streams > 1 ? 56 : 80;
    if (few(1) || isSmall || (rows.bytes == 4 && rows.vectors >= enough))
      if (auto grouped = groupedRows(rows, few(1)))
        return *grouped;
    if (few(1) && rows.vectors <= kNarrowAccesses)
      return *blockRows(rows, /*blocks=*/1, /*few=*/true);
  }
  // Sums write nothing that shared memory would collect: few rows, and short ones that L2 holds,
  // are read as they lie.
  if (anywhere && rows.onlySummed && !rows.bounded &&
      (few(1) || (fitsL2(rows, 1) && length < kAlignedLength)))
    if (auto grouped = groupedRows(rows, few(1)))
      return *grouped;
  int64_t alignedLength = isWideLayerNorm(rows) ? kWideAlignedLength : kAlignedLength;
  if ((anywhere && length >= alignedLength && !few(1)) || isLong)
    if (auto aligned = alignedRows(rows, few(1)))
      return *aligned;
  if (!few(1))
    if (auto staged = stagedRows(rows))
      return *staged;
  if (anywhere)
    if (auto aligned = alignedRows(rows, few(1)))
      return *aligned;
  // Of rows that are made of short runs a warp would read a part of each line.
  if (rows.beside > 1)
    if (auto shelved = shelvedRows(rows))
      return *shelved;
  if (auto grouped = groupedRows(rows, few(1)))
    return *grouped;
  if (auto even = evenRows(rows))
    return *even;
  if (auto shelved = shelvedRows(rows))
    return *shelved;
  int64_t blocks = blocksFor(rows);
  if (auto block = blockRows(rows, blocks, few(blocks)))
    return *block;
  return makeRow(rows, RowClass::Looped, few(blocks) ? 1024 : 512, 1,
                 std::min<int64_t>(4, rows.capacity), rows.name + " is too long for registers",
                 blocks);
}
