//===- SelectCrowdSchedule.cpp - Rows of more blocks than a cluster has ---===//
//
// Part of --swage-select-schedule: so few and so long rows that clusters would leave most of the
// device idle, and rows that a cluster does not hold on chip.
//
//===----------------------------------------------------------------------===//

#include "RowSelection.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// Bytes of a row and its results that one multiprocessor gets done in a microsecond.
constexpr double kBytesPerSm = 45e3;
/// Microseconds by which an exchange through memory takes longer than one of a cluster.
constexpr double kExchange = 2;
/// Threads of a block, or twice as many where each has more than so many vectors; what they take in
/// a step.
constexpr int64_t kFewThreads = 512, kManyVectors = 16, kStep = 2048;

/// Microseconds that so many multiprocessors take for so many bytes.
static double moveTime(double bytes, int64_t multiprocessors, const DeviceProperties &device) {
  return bytes /
         std::min(static_cast<double>(multiprocessors) * kBytesPerSm, device.memoryBandwidth / 1e6);
}

/// Whether a block or a cluster has its row on chip between two looks at it.
static bool holdsRow(RowScheduleAttr schedule) {
  return schedule.getKind() != RowClass::Looped ||
         (schedule.getStaged() && schedule.getShelvedSteps() == 0);
}

/// A crowd of `blocks`, of whose row so many steps wait in shared memory.
SelectedSchedule ScheduleSelector::crowd(const Rows &rows, int64_t blocks, int64_t threads,
                                         int64_t perThread, int64_t steps) const {
  return makeRow(rows, RowClass::Looped, threads, 1, perThread,
                 rows.name + " is shared by " + std::to_string(blocks) +
                     " blocks, which meet in memory",
                 blocks, /*staged=*/steps > 0, steps);
}

/// Steps of a row that fit into so much shared memory of a block, and bytes of one.
ScheduleSelector::Steps ScheduleSelector::crowdSteps(const Rows &rows, int64_t threads,
                                                     int64_t perThread, int64_t room) const {
  auto bytesOf = [&](int64_t steps) {
    SelectedSchedule selected = crowd(rows, device.smCount, threads, perThread, steps);
    return sharedBytes(kernel, cast<RowScheduleAttr>(selected.schedule));
  };
  int64_t step = bytesOf(1) - bytesOf(0);
  return {step > 0 ? std::max<int64_t>(0, room - bytesOf(0)) / step : 0, step};
}

/// Few rows: crowds as large as the device allows, where that takes less time than clusters. As
/// much of the row as fits waits in shared memory.
std::optional<SelectedSchedule> ScheduleSelector::fewRowsInCrowds(const Rows &rows, int64_t count,
                                                                  double bytes) const {
  int64_t blocks = std::min(device.smCount / count, rows.vectors / kFewThreads),
          cluster = device.ccMajor < 9 ? 1 : kLargestCluster;
  if (blocks <= kLargestCluster || moveTime(bytes, blocks * count, device) + kExchange >=
                                       moveTime(bytes, cluster * count, device))
    return std::nullopt;
  int64_t share = llvm::divideCeil(rows.vectors, blocks),
          threads = share > kFewThreads * kManyVectors ? 2 * kFewThreads : kFewThreads,
          perThread = std::min(kStep / threads, rows.capacity);
  while (perThread > 1 && 2 * share <= threads * perThread)
    perThread /= 2;
  int64_t steps = llvm::divideCeil(share, threads * perThread),
          fit = crowdSteps(rows, threads, perThread, device.sharedBytesPerBlockOptIn).count;
  return crowd(rows, blocks, threads, perThread, std::min(steps, fit));
}

/// Rows that no cluster holds: crowds of small blocks, of which two or three are on a
/// multiprocessor, so that some read while others wait; as many as hold the row, if the device
/// holds two rows at once. Norms of even rows also where a cluster of the most blocks would hold
/// them. Measured on an H100 (docs/notes/rows.md).
std::optional<SelectedSchedule>
ScheduleSelector::longRowsInCrowds(Rows rows, int64_t count, double bytesOfAll,
                                   RowScheduleAttr otherwise) const {
  bool isEvenNorm = isNorm() && !rows.aligned, isHeld = holdsRow(otherwise);
  if (isHeld && !(isEvenNorm && otherwise.getBlocksPerRow() == kLargestCluster))
    return std::nullopt;
  // Vectors of gamma that begin anywhere take registers: of two ptxas spills, and of 16 bits four
  // leave no room for a second block. So do a second operand and a second result.
  bool isOdd16 = isNorm() && rows.aligned && rows.vector == 8,
       hasMore = llvm::count_if(views(), [&](ViewAttr view) { return hasRows(view); }) > 2;
  int64_t most = isOdd16      ? 1
                 : isEvenNorm ? 2
                              : 4,
          perThread = std::min(hasMore ? std::max<int64_t>(1, most / 2) : most, rows.capacity);
  auto stepsOf = [&](int64_t resident) {
    return crowdSteps(rows, kFewThreads, perThread,
                      device.sharedBytesPerSm / resident - kReservedBytes);
  };
  // Blocks that run at once, by two on each multiprocessor; registers may leave room for one.
  int64_t places = hasMore && !isEvenNorm ? device.smCount : 2 * device.smCount,
          ofRound = std::min<int64_t>(places / count, device.smCount);
  // Left to itself (`resident` is 0) ptxas spills a few bytes of some kernels, to make room for more
  // blocks than shared memory has room for. Of those it is told how many are wanted, or that one is
  // enough.
  auto tell = [&](int64_t wanted, int64_t ofPlainNorm) {
    rows.resident = hasMore ? (isEvenNorm ? wanted : 1) : isEvenNorm ? ofPlainNorm : 0;
  };
  // Norms have more to wait for, and gain by a third block.
  for (int64_t resident : {isEvenNorm || isOdd16 ? 3 : 2, 2}) {
    int64_t steps = stepsOf(resident).count;
    if (steps == 0)
      continue;
    int64_t blocks = llvm::divideCeil(rows.vectors, steps * kFewThreads * perThread);
    double rounds = static_cast<double>(blocks * count) / (resident * device.smCount);
    // To read a part of each again is better than a second round of few.
    bool isPartOfRound = ofRound > kLargestCluster && rounds > 1 && rounds < 2;
    if (blocks > kLargestCluster && blocks <= device.smCount && !isPartOfRound) {
      tell(resident, 0);
      return crowd(rows, blocks, kFewThreads, perThread, steps);
    }
  }
  Steps steps = stepsOf(2);
  if (isHeld || steps.count == 0)
    return std::nullopt;
  // The more blocks a row has the more of it they hold, but the fewer rows there are at once, which
  // read what all of them share, gamma perhaps. Blocks of a row of which some had no place would
  // wait for a whole round.
  int64_t blocks = ofRound;
  if (blocks <= kLargestCluster) {
    double held = static_cast<double>(steps.count * steps.bytes);
    blocks = held * static_cast<double>(places) > bytesOfAll
                 ? device.smCount
                 : std::max<int64_t>(places / 8, kLargestCluster + 1);
    while (places % blocks != 0 && blocks < device.smCount)
      ++blocks;
  }
  if (blocks <= kLargestCluster)
    return std::nullopt;
  // As few registers as three blocks would have were a tenth faster, but not on sm_80, which spills.
  tell(1, device.ccMajor < 9 ? 2 : 3);
  return crowd(rows, blocks, kFewThreads, perThread, steps.count);
}

/// A crowd for each row, where that takes less time than a cluster, or than a block on a device
/// without clusters. What is made of the row before its statistics may take its place on the way
/// `otherwise`, but not in a crowd, whose blocks may look at each other's parts.
std::optional<SelectedSchedule> ScheduleSelector::crowdedRows(Rows rows,
                                                              RowScheduleAttr otherwise) const {
  std::optional<int64_t> count = product(false), length = product(true);
  if (!count || *count == 0 || !length || rows.grouped > 1 || rows.beside > 1)
    return std::nullopt;
  for (unsigned i = 0; holdsRow(otherwise) && i < kernel.getOutputs().size(); ++i)
    if (Phase phase = phaseOf(kernel, i); phase == Phase::Prologue || phase == Phase::Between)
      return std::nullopt;
  int64_t widest = 1;
  double ofRows = 0, ofAll = 0; // bytes
  for (ViewAttr view : views())
    if (changesAlongRow(view)) {
      int64_t each = elementBytes(view.getElement());
      widest = std::max(widest, each);
      (hasRows(view) ? ofRows : ofAll) += static_cast<double>(each) * *length;
    }
  if (int64_t vector = 16 / widest; rows.vector < vector && widest <= 4 && isAlignable(kernel)) {
    rows.aligned = true;
    rows.vector = vector;
    rows.capacity = kRegisterElements / vector;
    rows.vectors = *length / vector;
  }
  auto crowded = fewRowsInCrowds(rows, *count, ofRows * *count + ofAll);
  if (!crowded)
    crowded = longRowsInCrowds(rows, *count, ofAll, otherwise);
  // Very many rows would meet in more memory than a kernel may have for that.
  if (crowded &&
      crowdBytes(kernel, cast<RowScheduleAttr>(crowded->schedule)).value_or(kMostScratch + 1) >
          kMostScratch)
    return std::nullopt;
  return crowded;
}
