//===- SelectAlignedRowSchedule.cpp - Rows that begin anywhere ------------===//
//
// Part of --swage-select-schedule: rows whose vectors are aligned in memory and not in the row.
//
//===----------------------------------------------------------------------===//

#include "RowSelection.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// What a thread waits for each vector, in the units of the model below.
constexpr double kVectorWait = 4000;
/// The most threads of a block that has a row.
constexpr int64_t kAlignedBlock = 512;
/// Elements of a thread, at most, of a norm of 16 bits that moves more than a row in and one out.
constexpr int64_t kWideElements = 24;

/// How many blocks a multiprocessor holds if the compiler is told to see to that, which takes the
/// registers that it may, but not many more than it needs.
static int64_t residentIfAsked(int64_t threads, int64_t registers) {
  int64_t blocks = residentBlocks(threads, registers);
  if (blocks < 2)
    return blocks;
  int64_t allowed = std::min<int64_t>(65536 / (threads * blocks) / 8 * 8, registers + 16);
  return std::max<int64_t>(std::min(blocks, residentBlocks(threads, allowed)), 1);
}

/// Rows that begin anywhere, by vectors that are aligned in memory. Threads wait for instructions:
/// what a row takes beside its copy is those of each thread and of each of its vectors, whether
/// there or not, and what too few blocks and threads do not hide of each other's waits. The numbers
/// are fitted to LayerNorm in bf16 by 250 schedules, with an error of 3 %; f32 has time for four
/// times as many instructions. Where a multiprocessor has fewer rows than it could hold, nothing
/// hides what each vector of a thread waits for. Few rows are in the registers of clusters.
std::optional<SelectedSchedule> ScheduleSelector::alignedRows(Rows rows, bool few) const {
  unsigned inner = kernel.getRank() - 1;
  int64_t widest = 1, length = largest(true).value_or(0);
  for (ViewAttr view : views())
    if (changesAlongRow(view))
      widest = std::max(widest, elementBytes(view.getElement()));
  bool waits = widest >= 4, anywhere = rows.bytes < 8;
  if (!isAlignable(kernel) || widest > 4 || (length < kAlignedLeast && !waits))
    return std::nullopt;
  rows.aligned = true;
  rows.beside = 1;
  auto by = [&](int64_t bytes) {
    rows.vector = bytes / widest;
    rows.bytes = rows.vector * narrowestAlong(inner);
    rows.widest = bytes;
    rows.capacity = (rows.bounded           ? kRegisterElements
                     : waits || bytes == 16 ? 40
                                            : 44) /
                    rows.vector;
    rows.vectors = llvm::divideCeil(length + rows.vector - 1, rows.vector);
    return rows.bytes >= 4 && length >= 2 * rows.vector;
  };
  int64_t cluster = by(16) ? blocksOfFew(rows) : 1;
  if (cluster > 1 && rows.vectors <= cluster * kAlignedBlock * rows.capacity)
    return blockRows(rows, cluster, /*few=*/true);
  if (by(16)) {
    Rows walked = rows;
    walked.vectors = length / rows.vector;
    if (auto shelved = shelvedRows(walked))
      return shelved;
  }
  if (few && !anywhere)
    return std::nullopt;
  // Of a second input there are registers for what is under way.
  auto registers = [&](int64_t elements, bool isGroup) {
    elements = elements * (2 * widest + rows.moved) / (4 * widest);
    if (waits)
      return (beginAligned() ? 32 : 40) + elements;
    return rows.vector == 4 ? 25 + elements * 9 / 8 : (isGroup ? 36 : 40) + elements * 9 / 10;
  };
  // Neighbouring lanes move whole sectors, or parts of them go twice.
  int64_t run = length * widest % 64 == 0 || length < kAlignedLength ? 64 : 128;
  // With a residual, a gate or a second norm, two or three vectors of 16 bytes a thread are faster
  // than what the model would choose, by 5 to 14 %.  Two norms have registers for two blocks of 384
  // threads.  A row that begins anywhere has a vector more.
  int64_t most = kernel.countCollectives() > 1 ? 384 : kAlignedBlock;
  bool isWide =
      isNorm() && widest == 2 && rows.moved >= 3 * widest && length < (most - 1) * kWideElements;
  std::optional<SelectedSchedule> best;
  double least = 0, there = rows.count ? double(*rows.count) / device.smCount : 0;
  for (int64_t bytes : {8, 16}) {
    // What a mask leaves out is left out by vectors.
    if (few || (bytes == 8 && (waits || rows.bounded || isWide)) || !by(bytes))
      continue;
    for (int64_t threads = 8; threads <= kAlignedBlock; threads += std::min<int64_t>(threads, 32)) {
      int64_t each = llvm::divideCeil(rows.vectors, threads);
      int64_t block = std::max<int64_t>(threads, 64);
      bool isGroup = threads <= 32;
      if (isWide && each * rows.vector > kWideElements)
        continue;
      if (isGroup ? threads * bytes < run || each * rows.vector > (waits ? 20 : 64)
                  : each > rows.capacity)
        continue;
      int64_t asked = residentBlocks(block, registers(each * rows.vector, isGroup)),
              blocks = residentIfAsked(block, registers(each * rows.vector, isGroup));
      if (asked == 0)
        continue;
      double work = threads * (5.2 + 0.6 * rows.vector + each * (0.6 + 0.4 * rows.vector)),
             held = double(blocks * block) / threads;
      if (rows.count && there < held)
        work += kVectorWait * each * (1 / std::max(there, block / threads / 2.0) - 1 / held);
      double cost = work / length / (waits ? 4 : 1) + 0.34 / blocks + 254.0 / (blocks * block);
      if (best && cost >= least)
        continue;
      least = cost;
      rows.resident = threads <= 64 || rows.bounded || isWide ? 0 : asked;
      // A norm's threads of few f32 elements need more registers than the model has for them.
      if (waits && isNorm() && rows.resident) {
        int64_t needed = std::min<int64_t>(36 + std::max<int64_t>(each * rows.vector, 12), 64);
        rows.resident = std::min(asked, residentBlocks(block, needed));
      }
      RowClass kind = isGroup ? RowClass::Group : RowClass::Block;
      best = makeRow(rows, kind, threads, block / threads, each,
                     rows.name + " begins anywhere: " + std::to_string(threads) +
                         " threads take it by aligned vectors");
    }
  }
  if (best)
    return best;
  if (!by(16))
    return std::nullopt;
  rows.resident = 0;
  if (rows.vectors <= kAlignedBlock * rows.capacity)
    return blockRows(rows, /*blocks=*/1, few);
  return makeRow(rows, RowClass::Looped, few ? 1024 : 512, 1, 16 / rows.vector,
                 rows.name + " begins anywhere and is too long for registers", blocksFor(rows));
}
