//===- SelectAttentionSchedule.cpp - Schedules of attention ---------------===//
//
// The rules follow what was measured (docs/notes/attention.md). With wgmma short heads are bound by
// exponentials and take three warpgroups, long ones by tensor cores and take two with as many keys
// a block as registers and shared memory hold. Rows of an odd number of 16 bytes come slower from
// L2: three warpgroups ask for them less often. Without wgmma shared memory is the bound, and a
// warp takes as many queries as its registers hold outputs of.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSelector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"

using namespace mlir;
using namespace swage;

/// Keys and values whose tiles are taken together, so that they stay in L2 while others stream by.
static constexpr int64_t kSectionBytes = 16 << 20;

/// Keys of 8 bits whose products tensor cores add up: lib/Reference/Attention.cpp.
static constexpr int64_t kMostRun = 2112;

/// Whether scores are scaled and masked by position only, which leaves registers.
static bool isPlain(KernelOp kernel) {
  for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>()))
    if (i >= AttentionInput::Count && view.getSource() != Source::Coordinate &&
        dependsOn(kernel.getCollective().getValue(), kernel.getBody().getArgument(i)))
      return false;
  Value score = kernel.getCollective().getValue();
  while (auto select = score.getDefiningOp<arith::SelectOp>())
    score = select.getTrueValue();
  if (auto product = score.getDefiningOp<arith::MulFOp>())
    score = product.getLhs();
  return score == scoresOf(kernel).getResult();
}

/// Whether the kernel reads and makes nothing but attention's operands and result.
static bool isAlone(KernelOp kernel) {
  return kernel.getOutputs().size() == 1 &&
         llvm::count_if(kernel.getInputs().getAsRange<ViewAttr>(), [](ViewAttr view) {
           return view.getSource() == Source::Memory;
         }) == AttentionInput::Count;
}

/// Whether scores are only multiplied by factors that a head has one of, and masked by position.
static bool isMultiplied(KernelOp kernel) {
  for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>())) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (i >= AttentionInput::Count && view.getSource() != Source::Coordinate &&
        !(access.isBroadcast(AttentionDim::Query) && access.isBroadcast(AttentionDim::Key)))
      return false;
  }
  Value score = kernel.getCollective().getValue();
  while (auto select = score.getDefiningOp<arith::SelectOp>())
    score = select.getTrueValue();
  while (auto product = score.getDefiningOp<arith::MulFOp>())
    score = product.getLhs();
  return score == scoresOf(kernel).getResult();
}

SelectedSchedule ScheduleSelector::attention() const {
  if (std::string problem = accessProblem(kernel); !problem.empty())
    return {{}, problem};
  return device.arch == "sm_90a" ? hopperAttention() : portableAttention();
}

/// Whether scores depend on something that is read for each key, which takes registers.
static bool readsForKeys(KernelOp kernel) {
  for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>()))
    if (i >= AttentionInput::Count && view.getSource() == Source::Memory &&
        !LinearAccess::of(view.getAccess())->isBroadcast(AttentionDim::Key) &&
        dependsOn(kernel.getCollective().getValue(), kernel.getBody().getArgument(i)))
      return true;
  return false;
}

/// What a query costs, in keys that it is multiplied with, on the average of tiles that see this
/// many keys, by blocks of `keys`. Measured at 14 short shapes (docs/notes/attention.md): a block
/// costs 35 keys beside its own, nothing hides the first one's softmax, less so where it is the only
/// one, and a tile costs 200 keys.
static double costOfQuery(ArrayRef<int64_t> seen, int64_t keys) {
  double cost = 0;
  for (int64_t count : seen) {
    int64_t blocks = std::max<int64_t>(1, llvm::divideCeil(count, keys));
    cost += blocks * (keys + 35) + 1.5 * keys + (blocks == 1 ? 60 : 0) + 200;
  }
  return cost / seen.size();
}

/// The schedule, or one with smaller blocks where these leave enough less over at the end of few
/// keys.
static AttentionScheduleAttr fitKeys(AttentionScheduleAttr schedule, KernelOp kernel,
                                     int64_t step) {
  std::optional<int64_t> queries = constantSize(kernel.getExtents().getResult(AttentionDim::Query)),
                         keys = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  constexpr int64_t few = 4096;
  if (!keys || *keys > few)
    return schedule;
  SmallVector<int64_t> seen{*keys};
  // A mask of any kind, as if it were causal.
  if (kernel.getCollective().getValue().getDefiningOp<arith::SelectOp>() && queries &&
      *queries <= few) {
    seen.clear();
    int64_t rows = 64 * schedule.getGroups();
    for (int64_t first = 0; first < std::max<int64_t>(1, *queries); first += rows)
      seen.push_back(std::min(first + rows, *keys));
  }
  int64_t best = schedule.getKeys();
  for (int64_t fewer = best - step; fewer >= 48; fewer -= step)
    if (costOfQuery(seen, fewer) * 1.03 < costOfQuery(seen, best))
      best = fewer;
  // What waits for the next values before its products has more of them on the way.
  int64_t stages = best <= 64 && !schedule.getEager() ? 3 : schedule.getStages();
  return AttentionScheduleAttr::get(
      schedule.getContext(), schedule.getGroups(), best, stages,
      schedule.getQuerySlots(), schedule.getPatience(), schedule.getEager(),
      schedule.getHoldsQuery(), schedule.getDynamic(), schedule.getSection(), schedule.getIndex(),
      schedule.getRun());
}

/// Whether tiles of two warpgroups leave so much less over at the end of few queries that they make
/// up for a fifth that they are slower.
static bool areFewQueries(KernelOp kernel) {
  std::optional<int64_t> queries = constantSize(kernel.getExtents().getResult(AttentionDim::Query));
  int64_t parts = llvm::divideCeil(queries.value_or(INT32_MAX), 64);
  return llvm::divideCeil(parts, 2) * 2 * 6 < llvm::divideCeil(parts, 3) * 3 * 5;
}

SelectedSchedule ScheduleSelector::hopperAttention() const {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  int64_t dim = std::max(problem.headDim, problem.valueDim);
  // Elements of 8 bits take half the time of tensor cores, and less room.
  bool isNarrow = problem.isNarrow(), isLong = dim > 128, isPlain = ::isPlain(kernel),
       isShort = dim <= (isNarrow && isMultiplied(kernel) ? 128 : 64),
       isOdd = problem.headDim % 16 || problem.valueDim % 16,
       isWide =
           (isShort && !readsForKeys(kernel)) || (isPlain && (dim <= 80 || (isOdd && !isLong))),
       isTwo = areFewQueries(kernel);
  int64_t step = isNarrow ? 32 : 16, least = isNarrow ? 96 : isWide ? 80 : 128;
  std::optional<int64_t> all = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  bool hasRuns = isNarrow && (!all || *all > kMostRun),
       isFull = hasRuns && !(isPlain && isAlone(kernel)); // of three warpgroups' registers
  auto make = [&](int64_t keys, int64_t slots) {
    return AttentionScheduleAttr::get(context(), /*groups=*/isWide && !isTwo && !isFull ? 3 : 2, keys,
                                      /*stages=*/2, slots,
                                      /*patience=*/isNarrow ? 4 : isShort ? 0 : 8,
                                      /*eager=*/isShort || isWide || isLong || isNarrow,
                                      /*holdsQuery=*/!isWide && !isLong && isPlain,
                                      /*dynamic=*/true, kSectionBytes, index,
                                      /*run=*/hasRuns ? kMostRun / keys : 0);
  };
  // With a second place for queries a tile's first scores overlap the last one's products.
  for (int64_t slots : {2, 1})
    for (int64_t keys = 128; keys >= (slots == 1 ? step : least); keys -= step)
      if (AttentionScheduleAttr schedule = make(keys, slots);
          problem.sharedBytes(schedule) <= kMostSharedBytes &&
          problem.registers(schedule) <= problem.mostRegisters(schedule)) {
        schedule = fitKeys(schedule, kernel, step);
        return {schedule, "attention by " + std::to_string(64 * schedule.getGroups()) +
                              " queries and " + std::to_string(schedule.getKeys()) + " keys"};
      }
  return {{},
          "attention with head dims of " + std::to_string(problem.headDim) + " and " +
              std::to_string(problem.valueDim)};
}

/// Eight warps share a multiprocessor, because each has up to 255 registers: of two blocks, so that
/// one's softmax runs under the other's products, or of one where shared memory does not hold two.
/// With 32 rows a warp needs half the traffic in shared memory that it needs with 16; where their
/// outputs are too many, queries in registers make up for part of it.
SelectedSchedule ScheduleSelector::portableAttention() const {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  if (problem.isNarrow())
    return {{}, "attention of 8 bits for " + device.arch};
  bool isShort = std::max(problem.headDim, problem.valueDim) <= 64;
  int64_t taken = isPlain(kernel) ? 0 : 16; // registers, by what scores depend on
  for (auto [atoms, warps] : {std::pair<int64_t, int64_t>{2, 4}, {2, 8}, {1, 8}})
    for (int64_t keys = atoms == 2 && !isShort ? 48 : 64; keys >= 16 * atoms; keys -= 16)
      for (int64_t stages : {2, 1}) {
        auto schedule = PortableAttentionScheduleAttr::get(
            context(), warps, atoms, keys, stages, /*patience=*/isShort ? 0 : 8,
            /*holdsQuery=*/problem.headDim <= 64 || atoms == 1, kSectionBytes, index);
        // One KiB of each block's shared memory is the system's own.
        int64_t shared = device.sharedBytesPerSm * warps / 8 - 1024;
        if (problem.sharedBytes(schedule) <= shared &&
            problem.registers(schedule) + taken <= problem.mostRegisters(schedule))
          return {schedule, "attention by " + std::to_string(schedule.getRows()) + " queries and " +
                                std::to_string(keys) + " keys"};
      }
  return {{},
          "attention with head dims of " + std::to_string(problem.headDim) + " and " +
              std::to_string(problem.valueDim)};
}
