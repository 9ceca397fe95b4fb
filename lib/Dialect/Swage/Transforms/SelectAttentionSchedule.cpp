//===- SelectAttentionSchedule.cpp - Schedules of attention ---------------===//
//
// The rules follow what was measured (docs/notes/attention.md). With wgmma short heads are bound by
// exponentials and take three warpgroups where there are enough tiles, long ones by tensor cores
// and take two with as many keys a block as registers and shared memory hold. Rows of an odd number
// of 16 bytes come slower from L2: three warpgroups ask for them less often. Without wgmma shared
// memory is the bound, and a warp takes as many queries as its registers hold outputs of.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSelector.h"
#include "StepPositions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include <numeric>
#include <queue>

using namespace mlir;
using namespace swage;

/// Heads whose tiles are dealt out together at the end, for each block that runs at once: enough
/// for blocks to end together, and no more, because what comes head after head is read from memory
/// more evenly (docs/notes/attention.md).
static int64_t tailHeads(int64_t blocks) { return llvm::divideCeil(blocks, 4); }

/// Bytes of keys and values of these heads, which stay in L2 while others stream by.
static int64_t sectionBytes(const DeviceProperties &device) { return device.l2Bytes / 2; }

SmallVector<unsigned> swage::furtherInputs(KernelOp kernel) {
  SmallVector<unsigned> inputs;
  for (unsigned i = AttentionProblem::of(kernel)->ownInputs(); i < kernel.getInputs().size(); ++i)
    if (kernel.getInput(i).getSource() != Source::Coordinate)
      inputs.push_back(i);
  return inputs;
}

static bool doScoresRead(KernelOp kernel, unsigned input) {
  return dependsOn(kernel.getCollective().getValue(), kernel.getBody().getArgument(input));
}

static bool doScoresRead(KernelOp kernel) {
  return llvm::any_of(furtherInputs(kernel),
                      [&](unsigned input) { return doScoresRead(kernel, input); });
}

/// The scores before they are masked.
static Value unmaskedScores(KernelOp kernel) {
  Value score = kernel.getCollective().getValue();
  while (auto select = score.getDefiningOp<arith::SelectOp>())
    score = select.getTrueValue();
  return score;
}

/// Whether weights are changed behind their sum.
static bool hasWeights(KernelOp kernel) { return weightTerms(kernel).size() > 1; }

/// Whether weights take random bits of which keys share no counters; four do where their rows begin
/// at multiples of four.  The text that makes bits is then there for each key.
static bool hasBitsForEachKey(KernelOp kernel) {
  std::optional<int64_t> keys = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  bool sharesCounters = keys && *keys % 4 == 0;
  return hasWeights(kernel) && !sharesCounters &&
         llvm::any_of(furtherInputs(kernel), [&](unsigned input) {
           return kernel.getInput(input).getSource() == Source::Random;
         });
}

static bool isMasked(KernelOp kernel) {
  return kernel.getCollective().getValue().getDefiningOp<arith::SelectOp>() != nullptr;
}

/// Whether scores are scaled and masked by position only, which leaves registers.
static bool isPlain(KernelOp kernel) {
  if (hasWeights(kernel))
    return false;
  Value score = unmaskedScores(kernel);
  if (auto product = score.getDefiningOp<arith::MulFOp>())
    score = product.getLhs();
  return score == scoresOf(kernel).getResult() && !doScoresRead(kernel);
}

/// Whether scores take a tanh.
static bool areScoresBound(KernelOp kernel) {
  Value score = unmaskedScores(kernel);
  return llvm::any_of(kernel.getBody().front().getOps<math::TanhOp>(),
                      [&](math::TanhOp tanh) { return dependsOn(score, tanh.getResult()); });
}

/// Whether scores take a tanh, and read something beside that.
static bool doScoresTakeMuch(KernelOp kernel) {
  return doScoresRead(kernel) && areScoresBound(kernel);
}

bool swage::isInvariant(KernelOp kernel) { return kernel.getCollective().getBatchInvariant(); }

/// Whether the kernel reads and makes nothing but attention's operands and result.
static bool isAlone(KernelOp kernel) {
  return kernel.getOutputs().size() == 1 && furtherInputs(kernel).empty();
}

/// Whether scores are only multiplied by factors that a head has one of, and masked by position.
static bool isMultiplied(KernelOp kernel) {
  Value score = unmaskedScores(kernel);
  while (auto product = score.getDefiningOp<arith::MulFOp>())
    score = product.getLhs();
  return score == scoresOf(kernel).getResult() &&
         llvm::all_of(furtherInputs(kernel), [&](unsigned input) {
           LinearAccess access = *LinearAccess::of(kernel.getInput(input).getAccess());
           return access.isBroadcast(AttentionDim::Query) && access.isBroadcast(AttentionDim::Key);
         });
}

/// What is read for each key: where that is `staged`, but for what comes through shared memory.
static SmallVector<unsigned> inputsOfKeys(KernelOp kernel, bool staged) {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  SmallVector<unsigned> inputs = furtherInputs(kernel);
  llvm::erase_if(inputs, [&](unsigned input) {
    return !isOfKeys(kernel.getInput(input)) || (staged && problem.scoreTileOf(input));
  });
  return inputs;
}

bool swage::readsForKeys(KernelOp kernel, bool staged) {
  return hasWeights(kernel) || llvm::any_of(inputsOfKeys(kernel, staged), [&](unsigned input) {
           return doScoresRead(kernel, input);
         });
}

/// Whether scores and masks read several things for each key: a bias and documents, say.
static bool readsMuchForKeys(KernelOp kernel, bool staged) {
  return readsForKeys(kernel, staged) && inputsOfKeys(kernel, staged).size() > 1;
}

namespace {
/// What a mask says of positions: a query sees keys from its own number plus `first` on, up to its
/// own number plus `last`, and none from `end` on.
struct SeenKeys {
  std::optional<int64_t> first, last;
  int64_t end;
  bool saysSomething = false;

  /// Keys that some of the queries `from` to `to`, the last one not included, see.
  int64_t by(int64_t from, int64_t to) const {
    int64_t stop = last ? std::min(end, to + *last) : end;
    return std::max<int64_t>(1, stop - std::max<int64_t>(0, first ? from + *first : 0));
  }
};
} // namespace

static SeenKeys seenKeys(KernelOp kernel, int64_t keys) {
  SmallVector<Value> conditions;
  for (auto select = kernel.getCollective().getValue().getDefiningOp<arith::SelectOp>(); select;
       select = select.getTrueValue().getDefiningOp<arith::SelectOp>())
    conditions.push_back(select.getCondition());
  SeenKeys seen{std::nullopt, std::nullopt, keys, false};
  for (unsigned i = 0; i < conditions.size(); ++i) {
    if (auto both = conditions[i].getDefiningOp<arith::AndIOp>())
      conditions.append({both.getLhs(), both.getRhs()});
    auto compare = conditions[i].getDefiningOp<arith::CmpIOp>();
    std::optional<Position> a, b;
    if (compare)
      a = positionOf(kernel, compare.getLhs());
    if (a)
      b = positionOf(kernel, compare.getRhs());
    if (!b)
      continue;
    using Predicate = arith::CmpIPredicate;
    Predicate predicate = compare.getPredicate();
    bool isLess = predicate == Predicate::slt || predicate == Predicate::sle,
         isMore = predicate == Predicate::sgt || predicate == Predicate::sge;
    if (!isLess && !isMore)
      continue;
    // How far keys may be behind what they are compared with: at most 0, or less than that.
    Position over = isLess ? sumOf(*a, *b, -1) : sumOf(*b, *a, -1);
    if (predicate == Predicate::slt || predicate == Predicate::sgt)
      ++over.offset;
    int64_t key = over.strides[AttentionDim::Key], query = over.strides[AttentionDim::Query];
    over.strides[AttentionDim::Key] = over.strides[AttentionDim::Query] = 0;
    if (llvm::any_of(over.strides, [](int64_t stride) { return stride != 0; }))
      continue;
    if (key == 1 && query == -1)
      seen.last = std::min(seen.last.value_or(-over.offset), -over.offset);
    else if (key == -1 && query == 1)
      seen.first = std::max(seen.first.value_or(over.offset), over.offset);
    else if (key == 1 && query == 0)
      seen.end = std::min(seen.end, 1 - over.offset);
    seen.saysSomething |= (key == 1 && query <= 0) || (key == -1 && query == 1);
  }
  return seen;
}

/// The keys that each tile of `rows` queries of a head sees, in the order of queries: of very many
/// queries the first. With a mask that does not speak of positions, as if it were causal from the
/// end.
static SmallVector<int64_t> seenByTiles(KernelOp kernel, int64_t rows, int64_t queries,
                                        int64_t keys) {
  SeenKeys seen = seenKeys(kernel, keys);
  if (isMasked(kernel) && !seen.saysSomething)
    seen.last = std::max<int64_t>(0, keys - queries);
  constexpr int64_t many = 1 << 16;
  int64_t end = std::clamp<int64_t>(queries, 1, many);
  SmallVector<int64_t> tiles;
  for (int64_t from = 0; from < end; from += rows)
    tiles.push_back(seen.by(from, std::min(from + rows, end)));
  return tiles;
}

/// The same of keys whose number is known; or nothing.
static SmallVector<int64_t> seenByTiles(KernelOp kernel, int64_t rows) {
  std::optional<int64_t> queries = constantSize(kernel.getExtents().getResult(AttentionDim::Query)),
                         keys = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  if (!keys || isInvariant(kernel))
    return {};
  return queries ? seenByTiles(kernel, rows, *queries, *keys) : SmallVector<int64_t>{*keys};
}

/// What a query of a tile that sees so many keys costs, in keys that it is multiplied with, by
/// blocks of `keys`. Measured at 14 short shapes (docs/notes/attention.md): a block costs 35 keys
/// beside its own, nothing hides the first one's softmax, and a tile costs 200 keys.
static double costOfQuery(int64_t seen, int64_t keys) {
  int64_t blocks = std::max<int64_t>(1, llvm::divideCeil(seen, keys));
  return blocks * (keys + 35) + 1.5 * keys + 200;
}

/// Keys of a block: at most so many, fewer where that leaves enough less over at the end of few
/// keys, for tiles of `rows` queries.
static int64_t fitKeys(KernelOp kernel, int64_t rows, int64_t most, int64_t step) {
  constexpr int64_t few = 4096;
  SmallVector<int64_t> tiles;
  if (constantSize(kernel.getExtents().getResult(AttentionDim::Key)).value_or(0) <= few)
    tiles = seenByTiles(kernel, rows);
  if (tiles.empty())
    return most;
  auto cost = [&](int64_t keys) {
    double sum = 0;
    for (int64_t seen : tiles)
      sum += costOfQuery(seen, keys);
    return sum;
  };
  int64_t best = most;
  for (int64_t fewer = best - step; fewer >= 48; fewer -= step)
    if (cost(fewer) * 1.03 < cost(best))
      best = fewer;
  return best;
}

/// Blocks of so many keys that a tile sees, in the mean, where that is known.
static std::optional<double> blocksOfTile(KernelOp kernel, int64_t rows, int64_t keys) {
  SmallVector<int64_t> tiles = seenByTiles(kernel, rows);
  if (tiles.empty())
    return std::nullopt;
  double blocks = 0;
  for (int64_t seen : tiles)
    blocks += llvm::divideCeil(seen, keys);
  return blocks / tiles.size();
}

/// Keys of which nothing is known but that there may be many.
static constexpr int64_t kUnknownKeys = 4096;

/// How long it takes to merge so many parts of a tile's keys, in queries times keys that a
/// multiprocessor of an H100 of which few are busy multiplies meanwhile.
static double mergeTime(const AttentionProblem &problem, int64_t parts) {
  double perMicrosecond = 5.5e6 / (2.0 * (problem.headDim + problem.valueDim));
  return parts > 1 ? (2.8 + 0.5 * parts) * perMicrosecond : 0;
}

/// Query heads of all sequences, at most.
std::optional<int64_t> ScheduleSelector::headsInAll() const {
  using Dim = AttentionDim;
  int64_t heads = 1;
  for (unsigned dim : {Dim::Batch, Dim::KeyHead, Dim::Group}) {
    std::optional<int64_t> size = upperBound(extent(dim), facts);
    if (!size)
      return std::nullopt;
    heads *= *size;
  }
  return heads;
}

/// Blocks of a cluster that share a tile's keys, by blocks of `keys`: several where there are fewer
/// tiles than multiprocessors, with as many queries as there may be. Clusters of 4 and more do not
/// fill all of these, whose groups have 14 to 18; what does not run at once takes twice as long.
int64_t ScheduleSelector::partsOf(const AttentionProblem &problem, int64_t rows,
                                  int64_t keys) const {
  std::optional<int64_t> queries = upperBound(extent(AttentionDim::Query), facts),
                         heads = headsInAll();
  if (!queries.value_or(0) || !heads || problem.isNarrow() || isInvariant(kernel))
    return 1;
  int64_t tiles = llvm::divideCeil(*queries, rows) * *heads;
  if (tiles > device.smCount)
    return 1;
  int64_t all = upperBound(extent(AttentionDim::Key), facts).value_or(kUnknownKeys),
          blocks =
              llvm::divideCeil(*llvm::max_element(seenByTiles(kernel, rows, *queries, all)), keys);
  auto cost = [&](int64_t parts) {
    return double(llvm::divideCeil(blocks, parts) * rows * keys) + mergeTime(problem, parts);
  };
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min<int64_t>(8, blocks); ++parts)
    if (tiles <= device.smCount / parts * 7 / 8 && cost(parts) < cost(best))
      best = parts;
  return best;
}

/// What all tiles take, in queries times keys that a multiprocessor multiplies by three
/// warpgroups: tiles with most work first, each by the multiprocessor that is free first. Half of
/// it is when the last one ends, and half the mean of all, because few that are left run faster;
/// the mean alone where clusters share tiles, where there are very many, and where the number of
/// heads is unknown or must not matter. Two warpgroups are a fifth slower, or two fifths where rows
/// are odd, which they read more often. Fitted to 35 shapes (docs/notes/attention.md).
double ScheduleSelector::timeOfTiles(const AttentionProblem &problem, int64_t groups, int64_t keys,
                                     bool areShared) const {
  std::optional<int64_t> queries = upperBound(extent(AttentionDim::Query), facts),
                         all = upperBound(extent(AttentionDim::Key), facts), heads = headsInAll();
  if (isInvariant(kernel))
    heads = all = std::nullopt;
  bool isOdd = problem.headDim % 16 || problem.valueDim % 16;
  double rate = groups == 3 ? 1 : isOdd ? 1.4 : 1.2;
  if (!queries)
    return rate;
  int64_t rows = 64 * groups;
  SmallVector<double> tiles; // of one head
  for (int64_t seen : seenByTiles(kernel, rows, *queries, all.value_or(kUnknownKeys)))
    tiles.push_back(costOfQuery(seen, keys) * rate * rows);
  llvm::sort(tiles, std::greater<>());
  double mean = std::accumulate(tiles.begin(), tiles.end(), 0.0) * heads.value_or(1) /
                static_cast<double>(device.smCount);
  constexpr int64_t many = 64; // tiles of a multiprocessor
  if (areShared || !heads || *heads * static_cast<int64_t>(tiles.size()) > many * device.smCount)
    return mean;
  std::priority_queue<double, std::vector<double>, std::greater<>> ends(
      std::greater<>(), std::vector<double>(device.smCount, 0.0));
  double last = 0;
  for (double tile : tiles)
    for (int64_t head = 0; head < *heads; ++head) {
      last = std::max(last, ends.top() + tile);
      ends.push(ends.top() + tile);
      ends.pop();
    }
  return std::max(last / 2 + mean / 2, tiles.front());
}

static SelectedSchedule selected(Attribute schedule, int64_t queries, int64_t keys) {
  return {schedule, "attention by " + std::to_string(queries) + " queries and " +
                        std::to_string(keys) + " keys"};
}

static SelectedSchedule refused(const AttentionProblem &problem) {
  return {{},
          "attention with head dims of " + std::to_string(problem.headColumns) + " and " +
              std::to_string(problem.valueColumns)};
}

/// Keys of a block, at most, for which ptxas finds registers: those of outputs and scores leave few
/// for what makes random bits, for what is read for each key, for a tanh beside what is read, and
/// for masks from both sides.
static int64_t mostKeysOf(KernelOp kernel, int64_t dim, bool isNarrow, bool isWide, bool isOdd,
                          bool staged) {
  bool weighs = hasWeights(kernel), readsOne = readsForKeys(kernel, staged),
       readsMuch = readsMuchForKeys(kernel, staged);
  if (dim > 128 && weighs)
    return dim <= 192 ? 64 : 32;
  if (hasBitsForEachKey(kernel))
    return 64;
  if (isNarrow && dim > 96 && readsMuch)
    return dim <= 160 ? 96 : 64;
  if (isNarrow && dim > 112 && readsOne)
    return dim <= 192 ? 96 : 64;
  if (!isNarrow && doScoresTakeMuch(kernel) && readsMuch)
    return dim <= 96 ? 112 : dim <= 136 ? 96 : dim < 168 ? 80 : dim <= 240 ? 64 : 48;
  if (dim > 144 && readsOne)
    return dim < 184 ? 96 : dim <= 240 ? 64 : 48;
  // Heads of 72 and 88: up to 4 % less by longer blocks without a mask, 2 % more beside a causal
  // one.
  if (isWide && isOdd)
    return isNarrow || dim <= 64 || isMasked(kernel) ? 96 : 112;
  if (isWide && !isNarrow && dim < 64 && doScoresTakeMuch(kernel))
    return 112;
  return dim > 224 ? 64 : 128;
}

/// Whether the result shows what rounding does to a row's largest weight, which is 1 only if no sum
/// is left as it was for patience.
static bool isSharp(const AttentionProblem &problem) { return problem.result.isF32(); }

AttentionScheduleAttr ScheduleSelector::hopperSchedule(const AttentionProblem &problem,
                                                       int64_t scoreStages) const {
  bool staged = scoreStages > 0;
  int64_t dim = std::max(problem.headDim, problem.valueDim);
  // Elements of 8 bits take half the time of tensor cores, and less room.
  bool isNarrow = problem.isNarrow(), isLong = dim > 128, isPlain = ::isPlain(kernel),
       isShort = dim <= (isNarrow && isMultiplied(kernel) ? 128 : 64),
       isOdd = problem.headDim % 16 || problem.valueDim % 16,
       isWide = (isShort && !readsForKeys(kernel, staged)) ||
                (isPlain && (dim <= 80 || (isOdd && !isLong)));
  std::optional<int64_t> all = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  constexpr int64_t mostRun = AttentionProblem::kMostRun;
  bool hasRuns = isNarrow && (!all || *all > mostRun || isInvariant(kernel)),
       isFull = hasRuns && !(isPlain && isAlone(kernel)), // of three warpgroups' registers
       weighs = hasWeights(kernel), eager = isShort || isWide || isLong || isNarrow || weighs;
  int64_t mostKeys = mostKeysOf(kernel, dim, isNarrow, isWide, isOdd, staged);
  // Of 8 bits a largest weight that is not a power of two is off by up to a sixteenth: more
  // patience is faster, but results are further off than an honest evaluation's
  // (docs/notes/attention.md).
  int64_t patience = isNarrow ? 1 : isShort || isSharp(problem) ? 0 : 8;
  int64_t beside = isNarrow ? 96 : isWide ? 80 : mostKeys; // a second place for queries
  int64_t step = isNarrow ? 32 : 16, least = std::min(beside, mostKeys);
  auto make = [&](int64_t groups, int64_t keys, int64_t slots, int64_t parts = 1,
                  int64_t stages = 2) {
    // What waits for the next values before its products has more of them on the way, where they
    // are short.
    if (keys <= 64 && !eager)
      stages = std::max<int64_t>(stages, 3);
    return AttentionScheduleAttr::get(context(), groups, keys, stages, slots, patience, eager,
                                      /*holdsQuery=*/!isWide && !isLong && isPlain,
                                      /*dynamic=*/parts == 1, sectionBytes(device),
                                      tailHeads(device.smCount), index,
                                      /*run=*/hasRuns ? mostRun / keys : 0, parts, scoreStages);
  };
  auto fits = [&](AttentionScheduleAttr schedule) {
    return problem.sharedBytes(schedule) <= kMostSharedBytes &&
           problem.registers(schedule) <= problem.mostRegisters(schedule);
  };
  // A tile of few blocks takes less time than what comes for the next one, which is asked for
  // when a place is free: more of these, as far as they fit. Blocks that a mask cuts have a loop of
  // their own with one place (attention_hopper.cuh), which is left as it is.
  auto withPlaces = [&](AttentionScheduleAttr least) {
    std::optional<double> blocks = blocksOfTile(kernel, 64 * least.getGroups(), least.getKeys());
    bool isCut = least.getQuerySlots() == 1 && isMasked(kernel);
    int64_t mostSlots = blocks && *blocks <= 3 && !isCut ? 3 : least.getQuerySlots(),
            mostStages = blocks && *blocks <= 4 ? 4 : least.getStages();
    for (int64_t slots = mostSlots; slots >= least.getQuerySlots(); --slots)
      for (int64_t stages = mostStages; stages >= least.getStages(); --stages)
        if (AttentionScheduleAttr more =
                make(least.getGroups(), least.getKeys(), slots, /*parts=*/1, stages);
            fits(more))
          return more;
    return least;
  };
  // With a second place for queries a tile's first scores overlap the last one's products.
  auto fit = [&](int64_t groups) -> AttentionScheduleAttr {
    // Beside the exact tanh of 64 scores three warpgroups have no registers for their outputs.
    int64_t most = groups == 3 && !isNarrow && dim >= 48 && areScoresBound(kernel)
                       ? std::min<int64_t>(mostKeys, 112)
                       : mostKeys;
    for (int64_t slots : {2, 1})
      for (int64_t keys = most; keys >= (slots == 1 ? step : least); keys -= step)
        if (fits(make(groups, keys, slots))) {
          int64_t rows = 64 * groups, fitting = fitKeys(kernel, rows, keys, step),
                  parts = partsOf(problem, rows, fitting);
          if (parts == 1)
            return withPlaces(make(groups, fitting, slots));
          // What parts leave for each other may take more than their keys.
          if (AttentionScheduleAttr shared = make(groups, fitting, 1, parts); fits(shared))
            return shared;
        }
    return {};
  };
  AttentionScheduleAttr two = fit(2), three = isWide && !isFull ? fit(3) : AttentionScheduleAttr();
  auto time = [&](AttentionScheduleAttr schedule) {
    bool areShared = two.getParts() > 1 || three.getParts() > 1;
    return timeOfTiles(problem, schedule.getGroups(), schedule.getKeys(), areShared);
  };
  bool isFaster = three && (!two || time(three) <= time(two));
  return isFaster ? three : two;
}

/// Whether what scores read for each query and key comes through shared memory. A tile of few keys
/// waits for copies longer than it takes (docs/notes/attention.md).
static bool areScoresStaged(KernelOp kernel, const AttentionProblem &problem) {
  int64_t few = std::max(problem.headDim, problem.valueDim) <= 32 ? 160 : 96;
  std::optional<int64_t> keys = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  return !problem.scoreTiles.empty() && (!keys || *keys > few || isInvariant(kernel));
}

SelectedSchedule ScheduleSelector::hopperAttention() const {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  // Rows of other lengths begin at other multiples.
  if (isInvariant(kernel))
    for (ScoreTile &tile : problem.scoreTiles)
      tile.align = tile.elementBytes;
  AttentionScheduleAttr schedule;
  if (areScoresStaged(kernel, problem))
    schedule = hopperSchedule(problem, /*scoreStages=*/1);
  // A second place saves up to 8 %, if everything else stays as it is.
  if (schedule)
    if (AttentionScheduleAttr more = hopperSchedule(problem, /*scoreStages=*/2);
        more && more.getGroups() == schedule.getGroups() && more.getKeys() == schedule.getKeys() &&
        more.getStages() == schedule.getStages() &&
        more.getQuerySlots() == schedule.getQuerySlots())
      schedule = more;
  // Blocks of half the keys, or none, are no gain.
  if (AttentionScheduleAttr elements = hopperSchedule(problem, /*scoreStages=*/0);
      elements && (!schedule || 2 * schedule.getKeys() <= elements.getKeys()))
    schedule = elements;
  if (!schedule)
    return refused(problem);
  return selected(schedule, 64 * schedule.getGroups(), schedule.getKeys());
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
  bool weighs = hasWeights(kernel);
  // Registers, by what scores and weights depend on.
  int64_t taken = weighs ? 32 : isPlain(kernel) ? 0 : 16, fewer = weighs ? 16 : 0; // keys
  for (auto [atoms, warps] : {std::pair<int64_t, int64_t>{2, 4}, {2, 8}, {1, 8}})
    for (int64_t keys = atoms == 1 ? 64 : (isShort ? 64 : 48) - fewer; keys >= 16 * atoms;
         keys -= 16)
      for (int64_t stages : {2, 1}) {
        auto schedule = PortableAttentionScheduleAttr::get(
            context(), warps, atoms, keys, stages, /*patience=*/isShort || isSharp(problem) ? 0 : 8,
            /*holdsQuery=*/(problem.headDim * elementBytes(problem.element) <= 128 && !weighs) ||
                atoms == 1,
            sectionBytes(device), tailHeads(device.smCount * 8 / warps), index);
        // One KiB of each block's shared memory is the system's own.
        int64_t shared = device.sharedBytesPerSm * warps / 8 - 1024;
        if (problem.sharedBytes(schedule) <= shared &&
            problem.registers(schedule) + taken <= problem.mostRegisters(schedule))
          return selected(schedule, schedule.getRows(), keys);
      }
  return refused(problem);
}

/// Of f32 by two numbers of tf32; few queries are computed like many. To cut factors in two takes
/// registers, which warps with 16 rows have left.
SelectedSchedule ScheduleSelector::wideAttention() const {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  int64_t dim = std::max(problem.headDim, problem.valueDim);
  // With more keys, or places for them, beside longer outputs ptxas spills a few bytes; of 256, the
  // most usual of these, it does not with 32 if scores read nothing.
  auto [mostKeys, mostStages] = dim <= 96    ? std::pair<int64_t, int64_t>{64, 1}
                                : dim <= 128 ? std::pair<int64_t, int64_t>{32, 2}
                                : dim == 256 && !readsForKeys(kernel)
                                    ? std::pair<int64_t, int64_t>{32, 1}
                                    : std::pair<int64_t, int64_t>{16, 1};
  for (auto [warps, blocks] : {std::pair<int64_t, int64_t>{4, 2}, {8, 1}, {4, 1}})
    for (int64_t keys = mostKeys; keys >= 16; keys -= 16)
      for (int64_t stages = mostStages; stages >= 1; --stages) {
        auto schedule = PortableAttentionScheduleAttr::get(
            context(), warps, /*atoms=*/1, keys, stages, /*patience=*/0, /*holdsQuery=*/false,
            sectionBytes(device), tailHeads(device.smCount * blocks), index);
        // One KiB of each block's shared memory is the system's own.
        if (problem.sharedBytes(schedule) <= device.sharedBytesPerSm / blocks - 1024 &&
            problem.registers(schedule) <= problem.mostRegisters(schedule))
          return selected(schedule, schedule.getRows(), keys);
      }
  return refused(problem);
}

SelectedSchedule ScheduleSelector::attention() const {
  if (std::string problem = accessProblem(kernel); !problem.empty())
    return {{}, problem};
  AttentionProblem problem = *AttentionProblem::of(kernel);
  if (isDecoding())
    if (std::optional<SelectedSchedule> selected = decode())
      return *selected;
  if (problem.pageSize)
    return {{},
            "attention in pages of 8 bits, by an unknown number of queries, or of more than shared "
            "memory holds"};
  if (problem.isForFewQueries())
    return refused(problem);
  SelectedSchedule selected = problem.isWide() && !problem.isTf32            ? wideAttention()
                              : device.arch == "sm_90a" && !problem.isWide() ? hopperAttention()
                                                                             : portableAttention();
  if (!selected.schedule && problem.isTf32)
    selected = wideAttention();
  // What has no tiles of many queries may have smaller ones.
  return selected.schedule ? selected : decode().value_or(selected);
}
