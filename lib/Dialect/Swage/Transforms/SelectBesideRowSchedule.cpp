//===- SelectBesideRowSchedule.cpp - Rows that are made of short runs -----===//
//
// Part of --swage-select-schedule: rows whose runs in memory are so short that a block reads those
// of several rows beside each other, as GroupNorm with channels last. What the numbers rest on is
// in docs/notes/rows.md.
//
//===----------------------------------------------------------------------===//

#include "RowSelection.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// Bytes beside each other, by the lanes of a warp, and by those of several.
constexpr int64_t kBesideBytes = 128, kWovenBytes = 160;
/// Bytes of rows in a block of which many are on the device, and of few.
constexpr int64_t kLargePart = 64 << 10, kSmallPart = 24 << 10;

/// Vectors of a run, if rows are made of several, and beside each run lie those of other rows; or
/// 0.
int64_t ScheduleSelector::runBeside(const Rows &rows) const {
  unsigned inner = kernel.getRank() - 1, keptInner = kernel.getReduced().front() - 1;
  int64_t length = constantSize(extent(inner)).value_or(0);
  bool areNeighbours = llvm::all_of(views(), [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    return access.isBroadcast(inner) || constantSize(access.strides[keptInner]) == length;
  });
  bool isOneRun = kernel.getReduced().size() == 1;
  return isOneRun || !areNeighbours || rows.grouped > 1 ? 0 : length / rows.vector;
}

/// How many rows a block has beside each other so that it reads 128 bytes together, by the lanes of
/// a warp.
int64_t ScheduleSelector::rowsBeside(const Rows &rows) const {
  int64_t kept = constantSize(extent(kernel.getReduced().front() - 1)).value_or(1),
          run = runBeside(rows), beside = 1;
  if (!llvm::isPowerOf2_64(run))
    return 1;
  while (2 * beside * run <= 32 && beside * run * rows.bytes < kBesideBytes &&
         kept % (2 * beside) == 0)
    beside *= 2;
  return beside;
}

/// Rows that come out even, of runs that are no power of two of vectors: two or four beside each
/// other, 80 to 160 bytes, in blocks of 160 to 480 threads. They wait in shared memory, of which
/// two blocks have room on a multiprocessor if so all rows are on the device at once; of smaller
/// blocks where there are more rows, and of yet smaller ones where there are few.
std::optional<SelectedSchedule> ScheduleSelector::wovenRows(const Rows &rows) const {
  std::optional<int64_t> length = product(true);
  int64_t kept = constantSize(extent(kernel.getReduced().front() - 1)).value_or(1),
          run = runBeside(rows), beside = 1, most = device.ccMajor < 9 ? 1 : kLargestCluster;
  if (run == 0 || llvm::isPowerOf2_64(run) || !length || rows.bytes < 4 || rows.bounded)
    return std::nullopt;
  while (beside < 4 && 2 * beside * run * rows.bytes <= kWovenBytes && kept % (2 * beside) == 0)
    beside *= 2;
  // Of all runs of a row, each thread row takes as many.
  int64_t runs = *length / rows.vector / run, threadRows = 1, lanes = run * beside;
  while (runs % (2 * threadRows) == 0 && 2 * threadRows * lanes <= 480)
    threadRows *= 2;
  if (beside == 1 || threadRows * lanes < 128 || threadRows * lanes % 32 != 0)
    return std::nullopt;
  std::optional<SelectedSchedule> found;
  for (int64_t blocks = 1; blocks <= most && runs % (threadRows * blocks) == 0; blocks *= 2) {
    int64_t each = runs / (threadRows * blocks),
            perThread = std::min<int64_t>({8, each, kRegisterElements / rows.vector});
    while (each % perThread != 0)
      --perThread;
    SelectedSchedule woven = makeRow(rows, RowClass::Looped, threadRows * run, beside, perThread,
                                     rows.name + " waits in shared memory of " +
                                         std::to_string(blocks) + " blocks, beside others",
                                     blocks, /*staged=*/true);
    if (!fitsTwice(woven))
      continue;
    found = woven;
    int64_t bytes = stagedBytes(kernel, cast<RowScheduleAttr>(woven.schedule)),
            all = rows.count ? *rows.count / beside * blocks : INT64_MAX;
    bool areOnDevice = all <= 2 * device.smCount, areFew = all < 3 * device.smCount / 2;
    if (areFew ? bytes <= kSmallPart : areOnDevice || bytes <= kLargePart)
      break;
  }
  return found;
}
