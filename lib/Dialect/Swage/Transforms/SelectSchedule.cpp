//===- SelectSchedule.cpp - --swage-select-schedule ------------------------===//
//
// The rules are those of the templates' essays: 16-byte accesses on the narrowest operand where
// shape and alignment allow, none wider of what is written, enough loads in flight, and rows on
// chip as long as a thread's share fits its registers.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSelector.h"
#include "mlir/IR/OperationSupport.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/FlatSpace.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <set>

namespace swage {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

/// A size that is only known at run time counts as small enough; the JIT checks it and asks for 64
/// bits otherwise.
int64_t ScheduleSelector::indexWidth() const {
  for (AffineExpr offset : largestOffsets(kernel))
    if (std::optional<int64_t> constant = constantSize(offset);
        constant && *constant >= INT32_MAX - kOvershoot)
      return 64;
  return 32;
}

int64_t swage::bankConflicts(ArrayRef<int64_t> places) {
  std::array<std::set<int64_t>, 32> words;
  size_t most = 0;
  for (int64_t place : places) {
    std::set<int64_t> &bank = words[place / 4 % 32];
    bank.insert(place / 4);
    most = std::max(most, bank.size());
  }
  return int64_t(most);
}

std::optional<int64_t> ScheduleSelector::largest(bool reduced, const SizeFacts &facts) const {
  return mostElements(kernel, reduced, facts);
}

//===----------------------------------------------------------------------===//
// Pointwise and runs
//===----------------------------------------------------------------------===//

/// How many lines of 128 bytes a warp touches that reads one element of each of its vectors, which
/// follow each other in a space that is counted through.
double ScheduleSelector::linesOf(ViewAttr view, int64_t vector) const {
  constexpr double kLine = 128, kWarp = 32;
  LinearAccess access = *LinearAccess::of(view.getAccess());
  double points = kWarp * double(vector), elements = 1, bytes = 0;
  for (unsigned dim = kernel.getRank(); dim-- > 0 && points > 1;) {
    double count = double(constantSize(extent(dim)).value_or(INT64_MAX));
    if (!access.isBroadcast(dim)) {
      // An unknown stride is a long one.
      if (bytes == 0)
        bytes = double(constantSize(access.strides[dim]).value_or(int64_t(kLine)) *
                       elementBytes(view.getElement()));
      elements *= std::min(points, count);
    }
    points /= std::max(1.0, count);
  }
  return std::clamp(elements * bytes / kLine, 1.0, kWarp);
}

/// The vector of points that are counted through. What stands still along a dimension is read
/// element by element, V elements apart in neighbouring lanes: L1 delivers a line a cycle, memory
/// about 18 bytes.
int64_t ScheduleSelector::countedVector(ArrayRef<ViewAttr> gathered) const {
  constexpr double kWarp = 32, kMemory = 18, kEnough = 0.8;
  constexpr int64_t kGathered = 64; // elements of a thread, a register each
  auto flat = [&](ViewAttr view) { return isFlat(kernel, view); };
  int64_t vector = vectorAlong(kernel, kernel.getRank() - 1, facts, /*tail=*/true, flat);
  if (gathered.empty())
    return vector;
  vector = std::min<int64_t>(vector, 8);
  while (vector > 1 && vector * int64_t(gathered.size()) > kGathered)
    vector /= 2;
  double moved = 0;
  for (ViewAttr view : views())
    moved += flat(view) ? double(elementBytes(view.getElement())) : 0;
  auto lines = [&](int64_t vector) {
    double sum = 0;
    for (ViewAttr view : gathered)
      sum += linesOf(view, vector);
    return sum;
  };
  while (vector > 1 && lines(vector) > kWarp * kEnough * moved / kMemory &&
         lines(vector / 2) < lines(vector))
    vector /= 2;
  return vector;
}

SelectedSchedule ScheduleSelector::pointwise() {
  unsigned inner = kernel.getRank() - 1;
  int64_t vector = writableVector(inner), narrow = narrowestAlong(inner);
  bool tail = false;
  SmallVector<ViewAttr> gathered;
  if (isFlatSpace(kernel)) {
    int64_t narrowest = 16; // of what goes by vectors anyway
    for (ViewAttr view : views()) {
      Access access = countedAccess(kernel, view);
      if (access == Access::Gather)
        gathered.push_back(view);
      else if (access == Access::Vector)
        narrowest = std::min(narrowest, elementBytes(view.getElement()));
    }
    int64_t wider = std::min(countedVector(gathered), mostWritten());
    // Accesses of eight bytes are better than elements one by one.
    tail = wider > vector && (gathered.empty() || vector * narrowest < 8);
    vector = tail ? wider : vector;
  }
  // Elements that are written one by one, between others: neighbouring lanes fill a sector
  // together.
  if (llvm::all_of(kernel.getOutputs().getAsRange<ViewAttr>(), [&](ViewAttr view) {
        return isRow(view.getSource()) ||
               constantSize(LinearAccess::of(view.getAccess())->strides[inner]).value_or(0) > 1;
      }))
    vector = 1;
  // Narrow accesses need more of them in flight: 32 bytes a thread, eight accesses at most, of
  // vectors four; 16 bytes, or eight elements, beside those that are read one by one. Many operands
  // are in flight by themselves.
  int64_t access = std::max<int64_t>(1, vector * narrow), unroll = 1;
  if (access < 16 && views().size() <= 12)
    unroll = tail && !gathered.empty() ? std::max<int64_t>(16 / access, 8 / vector)
                                       : std::min<int64_t>(32 / access, vector > 1 ? 4 : 8);
  // Two streams in flight fill a multiprocessor with half the threads a block, and more blocks even
  // out the end.
  int64_t streams = llvm::count_if(kernel.getInputs().getAsRange<ViewAttr>(), [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    return view.getSource() == Source::Memory &&
           llvm::none_of(llvm::seq<unsigned>(kernel.getRank()),
                         [&](unsigned dim) { return access.isBroadcast(dim); });
  });
  int64_t threads = streams > 1 ? 128 : 256;
  std::optional<int64_t> points = product(false);
  while (points && threads > 64 &&
         llvm::divideCeil(*points, vector * threads * unroll) < uint64_t(device.smCount))
    threads /= 2;
  std::string reason = "vectors of " + std::to_string(vector) +
                       (tail ? " counted over all points" : " along the innermost extent");
  return {PointwiseScheduleAttr::get(context(), threads, vector, unroll, tail, index), reason};
}

SelectedSchedule ScheduleSelector::runs() {
  SelectedSchedule selected = pointwise();
  auto plain = cast<PointwiseScheduleAttr>(selected.schedule);
  int64_t movement = plain.getVector() * elementBytes(kernel.getOutput(0).getElement());
  if (plain.getTail())
    return selected;
  int64_t unroll = movement < 16 ? std::min<int64_t>(8, 32 / movement) : 1;
  return {PermuteScheduleAttr::get(context(), PermuteClass::Runs, plain.getThreads(), movement,
                                   unroll, 0, 1, 1, 1, 1, index, 1),
          "both sides share the innermost run, which moves by " + std::to_string(movement) +
              " bytes"};
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SelectedSchedule ScheduleSelector::tiles(const TileProblem &problem) {
  unsigned out = kernel.getRank() - 1, in = problem.in;
  int64_t bytes = problem.widest;
  auto isTurned = [&](ViewAttr view) { return problem.isTurned(view); };
  int64_t widest = 16 / bytes;
  int64_t vectorIn = std::min(widest, vectorAlong(kernel, in, facts, false, isTurned));
  auto isStraight = [&](ViewAttr view) { return !isTurned(view); };
  int64_t vectorOut = problem.merged > 1
                          ? problem.vectorOut()
                          : std::min(widest, vectorAlong(kernel, out, facts, false, isStraight));
  // Half a vector on the reading side of narrow elements: the register transposes need fewer
  // registers, so more blocks are resident.
  if (bytes <= 2 && vectorIn == widest && problem.areInputs)
    vectorIn /= 2;
  int64_t side = bytes == 8 ? 32 : bytes >= 4 ? 64 : 128;
  if (bytes == 16 || std::max(vectorIn, vectorOut) == 1)
    side = 32;
  int64_t tileIn = side, tileOut = side, threads = bytes == 2 && side == 128 ? 512 : 256;
  while (tileIn * tileOut * problem.bytes > 48 * 1024)
    (tileIn >= tileOut ? tileIn : tileOut) /= 2;
  // No larger than the tensor needs, and no smaller than one pass of the threads over the tile.
  auto shrink = [&](int64_t &tile, AffineExpr extent, int64_t least) {
    std::optional<int64_t> constant = constantSize(extent);
    while (constant && tile / 2 >= *constant && tile / 2 >= least)
      tile /= 2;
  };
  shrink(tileIn, extent(in), std::max<int64_t>(8, vectorIn));
  shrink(tileOut, problem.extents().back(), std::max<int64_t>(8, vectorOut));
  auto fits = [&] {
    auto [blocks, vectors] = problem.shares(tileIn, tileOut, vectorIn, vectorOut);
    return std::min(blocks, vectors) >= threads;
  };
  while (!fits() && threads > 32)
    threads /= 2;
  while (!fits() && vectorIn * vectorOut > 1)
    (vectorIn >= vectorOut ? vectorIn : vectorOut) /= 2;
  return tilesOf(problem, threads, tileIn, tileOut, vectorIn, vectorOut);
}

SelectedSchedule ScheduleSelector::tilesOf(const TileProblem &problem, int64_t threads,
                                           int64_t tileIn, int64_t tileOut, int64_t vectorIn,
                                           int64_t vectorOut) const {
  std::string merged =
      problem.merged > 1 ? ", the last " + std::to_string(problem.merged) + " as one" : "";
  return {PermuteScheduleAttr::get(context(), PermuteClass::Tiles, threads, 1, 1, problem.in,
                                   tileIn, tileOut, vectorIn, vectorOut, index, problem.merged),
          "input and output are contiguous along different dimensions" + merged + ": tiles of " +
              std::to_string(tileIn) + " by " + std::to_string(tileOut) + " through shared memory"};
}

/// Tiles whose rows go on over as many of the last dimensions as can be one, where these are good;
/// of 4 bytes half as wide along the other side where more of them are full so.
std::optional<SelectedSchedule> ScheduleSelector::mergedTiles() {
  TileProblem problem = TileProblem::merging(kernel, *transposedDim(kernel));
  if (problem.merged == 1)
    return std::nullopt;
  SelectedSchedule selected = tiles(problem);
  auto wide = cast<PermuteScheduleAttr>(selected.schedule);
  if (!hasGoodTiles(selected) && problem.widest == 4 && wide.getTileIn() >= 2 * wide.getVectorIn())
    selected = tilesOf(problem, wide.getThreads(), wide.getTileIn() / 2, wide.getTileOut() * 2,
                       wide.getVectorIn(), wide.getVectorOut());
  if (hasGoodTiles(selected) && !tearsBytes(selected))
    return smallTiles(selected);
  return std::nullopt;
}

/// Whether rows of bytes do not begin with sectors: boxes tear less of them.
bool ScheduleSelector::tearsBytes(const SelectedSchedule &selected) const {
  int64_t merged = cast<PermuteScheduleAttr>(selected.schedule).getMerged();
  return llvm::any_of(kernel.getOutputs().getAsRange<ViewAttr>(), [&](ViewAttr output) {
    return elementBytes(output.getElement()) == 1 &&
           !haveWholeSectors(ArrayRef(constantStrides(output)).drop_back(size_t(merged - 1)), 1);
  });
}

//===----------------------------------------------------------------------===//
// Reductions over outer and middle dimensions
//===----------------------------------------------------------------------===//

/// How many rows of a thread are on their way at once: as many as 16 narrow or 8 wider ones, but
/// few that the row does not have.
static int64_t rowsInFlight(int64_t each, int64_t access) {
  int64_t best = 4, least = llvm::alignTo(each, best);
  for (int64_t rows = 8; rows <= (access <= 4 ? 16 : 8); rows *= 2)
    if (int64_t taken = llvm::alignTo(each, rows); taken <= std::max(least, each + each / 16))
      best = rows;
  return best;
}

SelectedSchedule ScheduleSelector::reduce() {
  unsigned keptInner = kernel.getReduced().front() - 1;
  // 16 bytes of what is read; the few results may be narrower.
  int64_t narrow = 16;
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
    if (view.getSource() == Source::Memory)
      narrow = std::min(narrow, elementBytes(view.getElement()));
  std::optional<int64_t> length = product(true), kept = product(false),
                         inner = constantSize(extent(keptInner));
  constexpr int64_t kEnoughThreads = 1400, kManyThreads = 3 * kEnoughThreads;
  constexpr int64_t kAtOnceRows = 32, kAtOnceBytes = 128, kAtOnceElements = 64,
                    kEnoughBytes = 48 << 10, kFewBeside = 64;
  struct Block {
    int64_t vector, lanes, groups;
    int64_t threads(int64_t kept) const { return kept / vector * groups; }
  };
  auto haveThreads = [&](const Block &block, int64_t each) {
    return !kept || block.threads(*kept) >= each * device.smCount;
  };
  // A thread takes a short row at once where all of them ask for enough.
  auto isAtOnce = [&](int64_t vector) {
    return length && *length > 0 && *length <= kAtOnceRows &&
           *length * vector <= std::min(kAtOnceElements, kAtOnceBytes / narrow) &&
           (!kept || *kept * *length * narrow >= kEnoughBytes * device.smCount);
  };
  auto blockOf = [&](int64_t vector) {
    if (isAtOnce(vector))
      return Block{vector, 256, 1};
    // 256 bytes side by side are as good as more and leave more groups to share the row. Fewer
    // where that leaves multiprocessors idle.
    Block block{vector, std::clamp<int64_t>(256 / (vector * narrow), 16, 128), 1};
    while (inner && block.lanes > 1 && block.lanes / 2 * vector >= *inner)
      block.lanes /= 2;
    while (kept && block.lanes > 4 && *kept < 2 * device.smCount * block.lanes * vector)
      block.lanes /= 2;
    // More groups where threads leave multiprocessors half empty; of 16 elements shared memory has
    // room for 256 threads' states.
    block.groups = 256 / block.lanes;
    if (!haveThreads(block, kEnoughThreads) && vector <= 8)
      block.groups *= 2;
    block.groups = std::min(block.groups, kMostThreadRows);
    auto isMuch = [&] { // to merge, for what threads have
      Block half{vector, block.lanes, block.groups / 2};
      return block.groups * block.lanes > 128 || haveThreads(half, kEnoughThreads);
    };
    while (length && block.groups > 1 &&
           (block.groups > *length || (4 * block.groups > *length && isMuch())))
      block.groups /= 2;
    return block;
  };
  int64_t widest = std::min(writableVector(keptInner), 16 / narrow);
  // Where few elements are side by side a thread takes all of them by narrower accesses.
  int64_t vector = widest;
  while (inner && *inner <= kFewBeside && !isAtOnce(vector) && vector > 1 && isAtOnce(1))
    vector /= 2;
  Block block = blockOf(vector);
  if (!isAtOnce(vector) && widest * narrow > 8) {
    // Narrow elements have many states by 16 bytes; but they are as good where threads follow each
    // other for long. Others go by 8 bytes where that makes more threads, and there are too few.
    Block half = blockOf(widest / 2);
    bool haveManyStates = narrow < 4 && (isAtOnce(widest / 2) || !haveThreads(block, kManyThreads)),
         makesThreads = narrow >= 4 && !haveThreads(block, kEnoughThreads) &&
                        half.threads(*kept) > block.threads(*kept);
    if (haveManyStates || makesThreads)
      block = half;
  }
  block.lanes = std::max<int64_t>(block.lanes, 64 / block.groups);
  int64_t each = length ? llvm::divideCeil(*length, block.groups) : INT64_MAX / 64;
  int64_t unroll = 1;
  if (isAtOnce(block.vector))
    unroll = std::max<int64_t>(each, 1);
  else if (each > 2)
    unroll = rowsInFlight(each, block.vector * narrow);
  return {
      ReduceScheduleAttr::get(context(), block.lanes, block.groups, block.vector, unroll, index),
      "the reduced dimensions lie outside the contiguous one"};
}

/// Boxes of the runs of a schedule, where these are better.
SelectedSchedule ScheduleSelector::boxesOr(const SelectedSchedule &plain) {
  if (kernel.writesRows() || kernel.getRank() == 1 || !constantSize(extent(kernel.getRank() - 1)))
    return plain;
  auto pointwise = dyn_cast<PointwiseScheduleAttr>(plain.schedule);
  int64_t movement = pointwise
                         ? pointwise.getVector() * elementBytes(kernel.getOutput(0).getElement())
                         : cast<PermuteScheduleAttr>(plain.schedule).getMovement();
  return boxes(movement).value_or(plain);
}

SmallVector<int64_t> swage::constantStrides(ViewAttr view) {
  return llvm::map_to_vector(LinearAccess::of(view.getAccess())->strides,
                             [](AffineExpr stride) { return constantSize(stride).value_or(0); });
}

bool swage::haveWholeSectors(ArrayRef<int64_t> strides, int64_t bytes) {
  return llvm::all_of(strides.drop_back(),
                      [&](int64_t stride) { return stride * bytes % kSectorBytes == 0; });
}

/// Whether tiles have wide vectors and long rows on both sides, and few of their places are empty.
bool ScheduleSelector::hasGoodTiles(const SelectedSchedule &selected) const {
  auto schedule = cast<PermuteScheduleAttr>(selected.schedule);
  unsigned in = unsigned(schedule.getTransposed());
  TileProblem problem = TileProblem::of(kernel, in, schedule.getMerged());
  int64_t bytes = elementBytes(kernel.getOutput(0).getElement());
  double waste = 1;
  for (auto [extent, tile] : {std::pair(extent(in), schedule.getTileIn()),
                              {problem.extents().back(), schedule.getTileOut()}})
    if (std::optional<int64_t> constant = constantSize(extent))
      waste *= double(llvm::divideCeil(*constant, tile) * tile) / double(*constant);
  // What is found by division is worth it where a read of 4-byte elements is 16 bytes.
  int64_t least = problem.merged > 1 && problem.widest == 4 ? 16 : 8;
  return schedule.getVectorIn() * problem.widest >= least &&
         schedule.getVectorOut() * bytes >= 16 && schedule.getTileIn() * problem.widest >= 128 &&
         schedule.getTileOut() * bytes >= 128 &&
         waste <= (problem.merged > 1 && problem.widest < 8 ? 1.15 : 1.1);
}

/// Where tiles are few: smaller ones, of which a thread moves 16 to 32 bytes. Rows of a tile keep
/// 64 bytes, and 32 elements where multiprocessors would be idle.
SelectedSchedule ScheduleSelector::smallTiles(const SelectedSchedule &selected) const {
  constexpr int64_t kTilesOfEach = 3, kLeastBytes = 64, kLeastSide = 32, kMostThreads = 512;
  auto schedule = cast<PermuteScheduleAttr>(selected.schedule);
  unsigned in = unsigned(schedule.getTransposed());
  TileProblem problem = TileProblem::of(kernel, in, schedule.getMerged());
  std::optional<int64_t> points = product(false), extentIn = constantSize(extent(in)),
                         extentOut = constantSize(problem.extents().back());
  if (!points || *points == 0)
    return selected;
  int64_t tileIn = schedule.getTileIn(), tileOut = schedule.getTileOut();
  auto count = [&] {
    return *points / (*extentIn * *extentOut) * int64_t(llvm::divideCeil(*extentIn, tileIn)) *
           int64_t(llvm::divideCeil(*extentOut, tileOut));
  };
  auto shrink = [&](int64_t tilesOfEach, int64_t least) {
    while (std::max(tileIn, tileOut) > least && count() < tilesOfEach * device.smCount)
      (tileIn >= tileOut ? tileIn : tileOut) /= 2;
  };
  shrink(kTilesOfEach, std::max(kLeastSide, kLeastBytes / problem.widest));
  shrink(1, kLeastSide);
  if (tileIn == schedule.getTileIn() && tileOut == schedule.getTileOut())
    return selected;
  int64_t vector = std::max<int64_t>(1, std::min<int64_t>(4, 8 / problem.widest)),
          vectorIn = std::min<int64_t>(vector, schedule.getVectorIn()),
          vectorOut = std::min<int64_t>(vector, schedule.getVectorOut());
  // 32 bytes a thread, of 2-byte elements, are too many for the fewest tiles.
  if (count() < kTilesOfEach * device.smCount && vectorIn * vectorOut * problem.widest > 16)
    vectorOut /= 2;
  auto [blocks, vectors] = problem.shares(tileIn, tileOut, vectorIn, vectorOut);
  int64_t threads =
      std::min(kMostThreads, int64_t(llvm::bit_floor(uint64_t(std::min(blocks, vectors)))));
  if (threads < 32)
    return selected;
  return {PermuteScheduleAttr::get(context(), PermuteClass::Tiles, threads, 1, 1, in, tileIn,
                                   tileOut, vectorIn, vectorOut, index, problem.merged),
          "few elements, contiguous along different dimensions: tiles of " +
              std::to_string(tileIn) + " by " + std::to_string(tileOut) + " through shared memory"};
}

SelectedSchedule ScheduleSelector::run() {
  switch (familyOf(kernel)) {
  case Family::Pointwise:
    return boxesOr(pointwise());
  case Family::Runs:
    return boxesOr(runs());
  case Family::Tiles: {
    SelectedSchedule plain = tiles(TileProblem::of(kernel, *transposedDim(kernel)));
    if (kernel.writesRows())
      return plain;
    if (hasGoodTiles(plain)) {
      // Of bytes boxes tear less of rows that do not begin with sectors, but not of few.
      SelectedSchedule fitted = smallTiles(plain);
      if (!tearsBytes(plain) || fitted.schedule != plain.schedule)
        return fitted;
    }
    if (std::optional<SelectedSchedule> merged = mergedTiles())
      return *merged;
    return boxes().value_or(plain);
  }
  case Family::Reduce:
    return reduce();
  case Family::Attention:
    return attention();
  case Family::Row: {
    std::optional<unsigned> principal = principalDim(kernel);
    return principal && !llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(*principal))
               ? column()
               : row();
  }
  }
  return {};
}

SelectedSchedule swage::selectSchedule(KernelOp kernel, const DeviceProperties &device,
                                       int64_t index) {
  return ScheduleSelector(kernel, device, index).run();
}

/// Leaves the kernel only the facts that its schedule rests on, so that programs that know other
/// things share it.
static void dropUnusedFacts(KernelOp kernel, const DeviceProperties &device, int64_t index,
                            Attribute schedule) {
  SmallVector<int64_t> multiples(factsOf(kernel).multiples), limits(factsOf(kernel).limits);
  auto drop = [&](int64_t &fact, int64_t nothing) {
    int64_t known = std::exchange(fact, nothing);
    setFacts(kernel, {multiples, limits});
    if (known != nothing && selectSchedule(kernel, device, index).schedule != schedule) {
      fact = known;
      setFacts(kernel, {multiples, limits});
    }
  };
  for (int64_t &multiple : multiples)
    drop(multiple, 1);
  for (int64_t &limit : limits)
    drop(limit, 0);
}

static bool computesTheSame(KernelOp a, KernelOp b) {
  return a.getSymbols() == b.getSymbols() && a.getExtents() == b.getExtents() &&
         a.getReduced() == b.getReduced() && a.getInputs() == b.getInputs() &&
         a.getOutputs() == b.getOutputs() && a.getMultiplesAttr() == b.getMultiplesAttr() &&
         a.getLimitsAttr() == b.getLimitsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Gives a kernel that has lost facts the name of what is left. One that is there already takes
/// its launches over.
static void renameByFacts(KernelOp kernel, StringRef formerSuffix) {
  StringRef base = kernel.getSymName();
  if (!base.consume_back(formerSuffix) || factSuffix(kernel) == formerSuffix)
    return;
  auto module = kernel->getParentOfType<ModuleOp>();
  auto name = StringAttr::get(kernel.getContext(), base + factSuffix(kernel));
  auto other = module.lookupSymbol<KernelOp>(name);
  // A module that was written by hand may use the name for something else.
  if (other ? !computesTheSame(kernel, other) : module.lookupSymbol(name) != nullptr)
    return;
  if (failed(SymbolTable::replaceAllSymbolUses(kernel, name, module)))
    return;
  if (other)
    kernel.erase();
  else
    kernel.setSymName(name);
}

namespace {
struct SelectSchedulePass : swage::impl::SelectSchedulePassBase<SelectSchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    Expected<DeviceProperties> device = DeviceProperties::forArch(arch);
    if (!device) {
      emitError(getOperation().getLoc()) << device.takeError().message;
      return signalPassFailure();
    }
    if (index != 0 && index != 32 && index != 64) {
      emitError(getOperation().getLoc()) << "index is " << index << " bits, but must be 32 or 64";
      return signalPassFailure();
    }
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      if (kernel.getSchedule())
        continue;
      SelectedSchedule selected = selectSchedule(kernel, *device, index);
      if (!selected.schedule) {
        kernel.emitOpError() << "has no kernel yet: " << selected.reason;
        return signalPassFailure();
      }
      kernel.emitRemark() << selected.reason;
      std::string suffix = factSuffix(kernel);
      dropUnusedFacts(kernel, *device, index, selected.schedule);
      kernel.setScheduleAttr(selected.schedule);
      renameByFacts(kernel, suffix);
    }
  }
};
} // namespace
