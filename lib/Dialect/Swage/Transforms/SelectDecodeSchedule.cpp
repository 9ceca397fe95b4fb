//===- SelectDecodeSchedule.cpp - Schedules of attention of few queries ---===//
//
// The rules follow what was measured (docs/notes/decode.md). What counts is how fast keys and
// values are read: that enough of them are on their way, that few blocks must merge, and, of 8
// bits, which take longer to widen than to read, that there are enough warps.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSelector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include <cmath>

using namespace mlir;
using namespace swage;

/// Whether what is read decides which keys are seen: lengths, perhaps.
static bool doMasksRead(KernelOp kernel) {
  SmallVector<unsigned> inputs = furtherInputs(kernel);
  Value score = kernel.getCollective().getValue();
  while (auto select = score.getDefiningOp<arith::SelectOp>()) {
    Value seen = select.getCondition();
    if (llvm::any_of(inputs, [&](unsigned input) {
          return dependsOn(seen, kernel.getBody().getArgument(input));
        }))
      return true;
    score = select.getTrueValue();
  }
  return false;
}

/// Keys and values of a warp that arrive together, where few queries wait for them: enough for the
/// copy engine, and few enough that there are two or three such stages.
static constexpr int64_t kStageBytes = 8 << 10;

/// Keys and values on their way to a multiprocessor that memory needs to be busy. More than that
/// makes it slower, by up to a tenth (docs/notes/decode.md); of 8 bits half of it is enough.
static constexpr int64_t kBytesUnderWay = 96 << 10, kNarrowUnderWay = 48 << 10;

/// Keys and values that are read while a unit, or a chunk of its keys, is concluded.
static constexpr int64_t kConclusionBytes = 30 << 10;

/// Keys and values of a chunk, where results do not depend on the batch.
static constexpr int64_t kChunkBytes = 256 << 10;

/// Registers of a thread for scores, outputs and queries, of sixteen warps, for which ptxas finds
/// room beside what else it keeps.
static constexpr int64_t kMostOfSixteen = 80;

/// Whether there are so few queries that what counts is how fast keys and values are read, and not
/// how fast they are multiplied.
bool ScheduleSelector::isDecoding() const {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  if (problem.isNarrow() || problem.isWide() || !problem.sharing)
    return false;
  if (problem.isForFewQueries())
    return true;
  // To conclude a head takes as long as to read so many keys, longer the more queries it has.
  std::optional<int64_t> keys = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  if (keys && *keys <= 128 && problem.sharing > 8 && !isInvariant(kernel))
    return false;
  return *queriesOf(kernel) <= problem.kFewQueries && problem.sharing <= problem.kMostSharing;
}

/// Whether the copy engine brings rows better as they are in memory. Of rows that are no multiples
/// of 128 bytes boxes have few columns at the end, but long rows of a multiple of 64 bytes lie in
/// too few banks as they are. Of 8 bits a row of 64 bytes would take the room of 128 in a box, and
/// rows of 128 all lie in the same banks.
static bool isBetterLinear(const AttentionProblem &problem) {
  auto any = [&](auto is) { return is(problem.headDim) || is(problem.valueDim); };
  if (problem.hasNarrowCache())
    return any([](int64_t dim) { return dim % 64 != 0 || dim == 64; }) &&
           !any([](int64_t dim) { return dim % 128 == 0; });
  return any([](int64_t dim) { return dim % 32 != 0 || (dim % 64 != 0 && dim < 128); });
}

/// Blocks, of so many for each multiprocessor, that have whole units as evenly as can be: as few as
/// have as many to take. There is a unit.
ScheduleSelector::WholeUnits ScheduleSelector::dealUnits(int64_t units, int64_t blocks) const {
  int64_t multiprocessors = device.smCount,
          turns = llvm::divideCeil(units, multiprocessors * blocks),
          spans = llvm::divideCeil(units, turns);
  return {spans, int64_t(llvm::divideCeil(spans, multiprocessors)) * turns};
}

/// Who shares a multiprocessor. Keys and values of 8 bits are widened by instructions that wait for
/// each other, so that sixteen warps have more done than eight: four blocks of four, where each has
/// a unit of its own or lengths are found in memory, so that units are concluded under each other's
/// keys; two blocks of eight, where there are more units than multiprocessors, but not twice as
/// many. A unit that half of the warps read, or that more blocks have to merge, takes longer than
/// that gains; and if some multiprocessors then have more units than others, it must be short.
ScheduleSelector::Crowd ScheduleSelector::crowdOf(const AttentionProblem &problem) const {
  constexpr int64_t mostSharing = 16;
  // Heads of 192 and 256 were no faster, and with factors for each key registers do not suffice
  // from 144 on (docs/notes/decode.md).
  int64_t dim = std::max(problem.headDim, problem.valueDim),
          mostDim = readsForKeys(kernel) ? 128 : 160;
  std::optional<int64_t> units = unitsOf(kernel, 1);
  if (!problem.hasNarrowCache() || isInvariant(kernel) || device.arch != "sm_90a" || !units ||
      problem.sharing > mostSharing || dim > mostDim)
    return {8, 1};
  std::optional<int64_t> keys = constantSize(extent(AttentionDim::Key));
  double gain = keys && *keys > 0 ? 1 + double(kConclusionBytes) / (*keys * problem.keyBytes()) : 1;
  bool areMany = doMasksRead(kernel)
                     ? *units * 2 > device.smCount
                     : *units >= 2 * device.smCount &&
                           dealUnits(*units, 4).most <= gain * dealUnits(*units, 1).most;
  if (areMany)
    return {4, 4};
  if (*units > device.smCount && *units < 2 * device.smCount)
    return {8, 2};
  return {8, 1};
}

/// How long it takes where two things limit it: as long as the slower one, and longer where neither
/// is much slower.
static double nearBoth(double one, double other) {
  return std::pow(std::pow(one, 4) + std::pow(other, 4), 0.25);
}

/// Microseconds to merge so many parts of a unit through memory.
static double mergeInMemory(int64_t parts) { return parts > 1 ? 2.2 + 0.03 * parts : 0; }

std::optional<SelectedSchedule> ScheduleSelector::decode() const {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  if (problem.isNarrow() || problem.isWide() || !problem.sharing)
    return std::nullopt;
  bool bulk = device.arch == "sm_90a",
       linear = bulk && problem.areRowsAdjacent && isBetterLinear(problem);
  int64_t keyBytes = problem.keyBytes();
  auto make = [&](int64_t atoms, int64_t warps, int64_t blocks, int64_t share,
                  int64_t stages) -> DecodeScheduleAttr {
    int64_t rowTiles = llvm::divideCeil(problem.sharing, 16 * atoms),
            spans = spansOf(problem, rowTiles, blocks),
            parts = blocks == 1 ? clusterOf(problem, rowTiles, warps, share * warps, spans) : 1;
    auto dealt = [&](int64_t spans, int64_t parts) -> DecodeScheduleAttr {
      auto schedule = DecodeScheduleAttr::get(
          context(), warps, share * warps, stages,
          /*patience=*/8, blocks, spans, bulk && problem.isMovedInBulk(share), index, atoms, linear,
          isInvariant(kernel) ? llvm::alignTo(kChunkBytes / keyBytes, share * warps) : 0, parts);
      // Sixteen warps have half of the registers. One KiB of a block's shared memory is the
      // system's own.
      bool fits = problem.sharedBytes(schedule) <= device.sharedBytesPerSm / blocks - 1024 &&
                  problem.registers(schedule) <=
                      (blocks > 1 ? kMostOfSixteen : problem.mostRegisters(schedule));
      return fits ? schedule : DecodeScheduleAttr();
    };
    if (parts > 1)
      if (DecodeScheduleAttr schedule = dealt(parts * *unitsOf(kernel, rowTiles), parts))
        return schedule;
    return dealt(spans, 1);
  };
  auto selected = [&](DecodeScheduleAttr schedule) {
    return SelectedSchedule{schedule, "attention of few queries by " +
                                          std::to_string(schedule.getKeys()) + " keys"};
  };
  if (Crowd crowd = crowdOf(problem); crowd.blocks > 1)
    for (int64_t share : {32, 16})
      if (DecodeScheduleAttr schedule =
              make(/*atoms=*/1, crowd.warps, crowd.blocks, share, /*stages=*/2))
        return selected(schedule);

  // Keys are read for 32 rows at once where registers hold their outputs; but for 16, again from
  // L2, where that has them all, or all units run at once: parts of 16 rows are merged by twice as
  // many blocks.
  std::optional<int64_t> units = unitsOf(kernel, llvm::divideCeil(problem.sharing, 16)),
                         once = unitsOf(kernel, 1), all = constantSize(extent(AttentionDim::Key));
  bool isNear = !isInvariant(kernel) && units && all && problem.sharing <= 128 &&
                (*once * *all * keyBytes <= device.l2Bytes * 3 / 4 || *units <= device.smCount);
  // Short rows of 8 bits take more room than they have bytes, and eight warps have more to do.
  int64_t team = problem.team(),
          keys = problem.hasNarrowCache()
                     ? std::clamp<int64_t>(kStageBytes / problem.cacheRow(bulk) / 16 * 16, 16, 32)
                     : std::clamp<int64_t>(kStageBytes / keyBytes / 16 * 16, 16, 64);
  SmallVector<std::pair<int64_t, int64_t>> places = {{keys, 3}, {keys, 2}};
  int64_t underWay = kBytesUnderWay;
  // By the copy engine 32 keys wherever they fit: what a warp does once for some keys it does twice
  // as often for 16.
  if (problem.hasNarrowCache() && bulk) {
    places = {{32, 3}, {32, 2}, {16, 3}, {16, 2}};
    underWay = kNarrowUnderWay;
  }
  // Teams exchange scores once for a step, and have half of them where these have 16 keys.
  if (team > 1)
    places.insert(places.begin(), {32, 2});
  for (auto [atoms, warps] :
       {std::pair<int64_t, int64_t>{2, 8}, {2, 4}, {1, 8}, {1, 4}, {1, 2}, {1, 1}}) {
    if (warps * team > 8 || (atoms == 2 && (team > 1 || problem.sharing <= 16 || isNear)))
      continue;
    for (auto [share, stages] : places) {
      // Beside what is summed up for 32 rows, registers hold fewer scores.
      if (problem.hasNarrowCache() && atoms == 2)
        share = 16;
      if (stages > 2 && 2 * share * warps * keyBytes >= underWay)
        continue;
      if (DecodeScheduleAttr schedule = make(atoms, warps, /*blocks=*/1, share, stages))
        return selected(schedule);
    }
  }
  return std::nullopt;
}

/// Blocks, of which each has a part of a head's keys, or several heads'. To merge parts takes 2 us
/// and more, and a multiprocessor reads no more than 50 bytes a nanosecond, of 8 bits 36 where
/// these come by the copy engine, all of them 4600: a part is as long as the sum of both is least.
/// Near where both limits meet neither is reached. `blocks`: how many share a multiprocessor, which
/// leave units whole.
int64_t ScheduleSelector::spansOf(const AttentionProblem &problem, int64_t rowTiles,
                                  int64_t blocks) const {
  std::optional<int64_t> known = unitsOf(kernel, rowTiles),
                         keys = constantSize(extent(AttentionDim::Key));
  int64_t most = device.smCount * blocks, units = known.value_or(0);
  // Where a mask reads something keys are not even.
  if (units == 0 || doMasksRead(kernel) || (!keys && blocks == 1))
    return most;
  if (units >= most)
    return dealUnits(units, blocks).spans;
  if (blocks > 1)
    return units;
  double ofOne = problem.hasNarrowCache() && device.arch == "sm_90a" ? 36e3 : 48e3;
  auto cost = [&](int64_t parts) {
    double bytes = double(*keys) * problem.keyBytes(), perSm = bytes / parts / ofOne,
           memory = bytes * units / 4600e3;
    return nearBoth(perSm, memory) + mergeInMemory(parts);
  };
  int64_t best = 1;
  for (int64_t parts = 2; parts * units <= most; ++parts)
    if (cost(parts) < cost(best))
      best = parts;
  return best * units;
}

/// Clusters of so many blocks, each with a multiprocessor of its own, that run at once. A cluster
/// lies in one group of multiprocessors, and groups are not alike: an H200 of 132 had room for 66
/// pairs, 39 of three, 30 of four, 17 of six and 15 of eight, but only 7 of ten or more.
static int64_t clustersAtOnce(int64_t smCount, int64_t parts) {
  return parts == 2 ? smCount / 2 : smCount * 3 / 4 / parts;
}

/// Blocks of a cluster that share a unit, or 1. To merge takes 1 us within clusters and 2 us and
/// more through memory, as `spans` blocks do that have parts of units, but clusters do not fill all
/// multiprocessors. A mask that reads something may only be of one sequence, whose units are mostly
/// as long as each other: parts of a unit are, however long other units may be. `tileKeys`: keys of
/// a tile. Rates are those of 78 shapes (docs/notes/decode.md), those of spansOf are of older ones.
int64_t ScheduleSelector::clusterOf(const AttentionProblem &problem, int64_t rowTiles,
                                    int64_t warps, int64_t tileKeys, int64_t spans) const {
  std::optional<int64_t> known = unitsOf(kernel, rowTiles),
                         keys = constantSize(extent(AttentionDim::Key));
  if (device.arch != "sm_90a" || isInvariant(kernel) || problem.hasProbabilities ||
      known.value_or(0) == 0 || !keys ||
      (doMasksRead(kernel) && constantSize(extent(AttentionDim::Batch)) != 1))
    return 1;
  int64_t units = *known, tiles = llvm::divideCeil(*keys, tileKeys);
  // Bytes of a microsecond, and microseconds.
  double ofSm = (problem.hasNarrowCache() ? 5e3 : 10e3) * warps * problem.team(),
         memory = double(*keys) * problem.keyBytes() * units / 4400e3;
  auto read = [&](int64_t ofBlock) {
    return nearBoth(double(ofBlock) * tileKeys * problem.keyBytes() / ofSm, memory);
  };
  int64_t ofUnit = std::max<int64_t>(spans / units, 1), best = 1;
  double least = read(llvm::divideCeil(tiles, ofUnit) * llvm::divideCeil(units, spans)) +
                 mergeInMemory(ofUnit);
  for (int64_t parts : {2, 3, 4, 6, 8}) {
    double uneven = parts > 2 ? 1.03 : 1,
           cost = read(llvm::divideCeil(tiles, parts)) * uneven + 0.7 + 0.1 * parts;
    if (cost < least && parts <= tiles && units <= clustersAtOnce(device.smCount, parts)) {
      least = cost;
      best = parts;
    }
  }
  return best;
}
