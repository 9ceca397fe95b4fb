//===- SelectCrowdSchedule.cpp - Rows that all multiprocessors share ------===//
//
// Part of --swage-select-schedule: so few and so long rows that clusters would leave most of the
// device idle.
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

/// A crowd for each row, where that takes less time than a cluster, or than a block on a device
/// without clusters. As much of the row as fits waits in shared memory. What is made of the row
/// before its statistics may take its place on the way `otherwise`, but not in a crowd, whose
/// blocks may look at each other's parts.
std::optional<SelectedSchedule> ScheduleSelector::crowdedRows(Rows rows,
                                                              RowScheduleAttr otherwise) const {
  std::optional<int64_t> count = product(false), length = product(true);
  if (!count || *count == 0 || !length || rows.grouped > 1 || rows.beside > 1)
    return std::nullopt;
  for (unsigned i = 0; holdsRow(otherwise) && i < kernel.getOutputs().size(); ++i)
    if (Phase phase = phaseOf(kernel, i); phase == Phase::Prologue || phase == Phase::Between)
      return std::nullopt;
  int64_t widest = 1;
  double bytes = 0;
  unsigned inner = kernel.getRank() - 1;
  for (ViewAttr view : views())
    if (!LinearAccess::of(view.getAccess())->isBroadcast(inner)) {
      int64_t each = elementBytes(view.getElement());
      widest = std::max(widest, each);
      bytes += static_cast<double>(each) * *length * (hasRows(view) ? *count : 1);
    }
  if (int64_t vector = 16 / widest; rows.vector < vector && widest <= 4 && isAlignable(kernel)) {
    rows.aligned = true;
    rows.vector = vector;
    rows.capacity = kRegisterElements / vector;
    rows.vectors = *length / vector;
  }
  int64_t blocks = std::min(device.smCount / *count, rows.vectors / kFewThreads),
          cluster = device.ccMajor < 9 ? 1 : kLargestCluster;
  if (blocks <= kLargestCluster || moveTime(bytes, blocks * *count, device) + kExchange >=
                                       moveTime(bytes, cluster * *count, device))
    return std::nullopt;
  int64_t share = llvm::divideCeil(rows.vectors, blocks),
          threads = share > kFewThreads * kManyVectors ? 2 * kFewThreads : kFewThreads,
          perThread = std::min(kStep / threads, rows.capacity);
  while (perThread > 1 && 2 * share <= threads * perThread)
    perThread /= 2;
  auto make = [&](int64_t steps) {
    return makeRow(rows, RowClass::Looped, threads, 1, perThread,
                   rows.name + " is shared by " + std::to_string(blocks) +
                       " blocks, which meet in memory",
                   blocks, /*staged=*/steps > 0, steps);
  };
  auto bytesOf = [&](int64_t steps) {
    return sharedBytes(kernel, cast<RowScheduleAttr>(make(steps).schedule));
  };
  int64_t step = bytesOf(1) - bytesOf(0), room = device.sharedBytesPerBlockOptIn - bytesOf(0),
          steps = llvm::divideCeil(share, threads * perThread);
  return make(step > 0 ? std::min(steps, room / step) : 0);
}
