//===- SwageKernelOps.cpp - Verifiers of the kernel-level ops -------------===//
//
// Labels in comments are those of SwageKernelOps.td. A schedule may be edited by hand, so K5 checks
// everything that a template assumes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Dialect/Swage/IR/TensorTiles.h"
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

int64_t swage::elementBytes(Type element) {
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

bool swage::hasElementResult(Collective kind) {
  return kind == Collective::LayerNorm || kind == Collective::RmsNorm ||
         kind == Collective::Softmax || kind == Collective::LogSoftmax;
}

unsigned swage::statisticsOf(Collective kind) {
  return kind == Collective::LayerNorm || kind == Collective::Softmax ||
                 kind == Collective::LogSoftmax
             ? 2
             : 1;
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

/// What the fuser makes is far smaller; more would take a compiler minutes, and the stack of
/// whoever follows its values.
static constexpr size_t kMaxKernelOps = 4096, kMaxKernelViews = 256;

/// Shared memory that every supported GPU gives one block without opting in to more.
static constexpr int64_t kSharedMemory = kDeclaredSharedBytes;

bool KernelOp::isAttention() {
  return isa_and_nonnull<AttentionScheduleAttr, PortableAttentionScheduleAttr, DecodeScheduleAttr>(
             getScheduleAttr()) ||
         !getBody().getOps<ContractOp>().empty();
}

CollectiveOp KernelOp::getCollective() {
  auto collectives = getBody().getOps<CollectiveOp>();
  return collectives.empty() ? CollectiveOp() : *collectives.begin();
}

CollectiveOp KernelOp::getSecondCollective() {
  auto collectives = getBody().getOps<CollectiveOp>();
  return collectives.empty() || std::next(collectives.begin()) == collectives.end()
             ? CollectiveOp()
             : *std::next(collectives.begin());
}

PhaseOp KernelOp::getPhase(Phase kind) {
  for (auto phase : getBody().getOps<PhaseOp>())
    if (phase.getKind() == kind)
      return phase;
  return {};
}

ViewAttr KernelOp::getRowsOf(unsigned i) {
  if (i + 1 >= getOutputs().size() || !isRow(getOutput(i + 1).getSource()))
    return {};
  return getOutput(i + 1);
}

bool KernelOp::writesRows() {
  return llvm::any_of(getOutputs().getAsRange<ViewAttr>(),
                      [](ViewAttr view) { return isRow(view.getSource()); });
}

std::string KernelOp::findOutOfBounds(ArrayRef<int64_t> sizes) {
  std::optional<SmallVector<int64_t>> all = evaluateSizes(getExtents(), sizes);
  if (!all)
    return "an extent beyond 64 bits";
  if (llvm::is_contained(*all, 0))
    return {};
  auto check = [&](ViewAttr view, Twine what, ViewAttr rows = {}) -> std::string {
    if (view.getSource() != Source::Memory)
      return {};
    std::optional<SmallVector<int64_t>> shape = evaluateSizes(view.getShape(), sizes),
                                        extents =
                                            evaluateSizes(view.getExtentsOr(getExtents()), sizes);
    if (!extents)
      return (what + " has an extent beyond 64 bits").str();
    if (llvm::is_contained(*extents, 0))
      return {};
    LinearAccess access = *LinearAccess::of(view.getAccess());
    std::optional<int64_t> first = evaluateSize(access.offset, sizes);
    int64_t elements = 1, last = first.value_or(0);
    bool fits = shape && first && *first >= 0;
    for (int64_t extent : shape ? *shape : SmallVector<int64_t>())
      fits &= extent >= 0 && !llvm::MulOverflow(elements, extent, elements);
    for (auto [stride, extent] : llvm::zip_equal(access.strides, *extents)) {
      std::optional<int64_t> step = evaluateSize(stride, sizes);
      int64_t reach;
      fits &= step && *step >= 0 && extent >= 0 && !llvm::MulOverflow(*step, extent - 1, reach) &&
              !llvm::AddOverflow(last, reach, last);
    }
    if (rows) { // it goes as far as to the last one
      std::optional<int64_t> count = evaluateSize(rows.getShape().getResult(0), sizes),
                             together = evaluateSize(rows.getShape().getResult(1), sizes),
                             step = evaluateSize(rows.getAccess().getResult(0), sizes);
      int64_t reach;
      if (count && together && *together > *count)
        return (what + " has " + Twine(*together) + " rows for a tensor that has " + Twine(*count))
            .str();
      fits &= count && step && *count > 0 && *step >= 0 &&
              !llvm::MulOverflow(*step, *count - 1, reach) && !llvm::AddOverflow(last, reach, last);
    }
    if (fits && last < elements)
      return {};
    return (what + " reaches " +
            (fits ? "element " + Twine(last).str() : "beyond 64 bits or before its first element") +
            " of a tensor of " + Twine(elements))
        .str();
  };
  for (auto [i, view] : llvm::enumerate(getInputs().getAsRange<ViewAttr>()))
    if (std::string problem = check(view, "input " + Twine(i)); !problem.empty())
      return problem;
  for (auto [i, view] : llvm::enumerate(getOutputs().getAsRange<ViewAttr>()))
    if (std::string problem = check(view, "output " + Twine(i), getRowsOf(i)); !problem.empty())
      return problem;
  return {};
}

SizeFacts swage::factsOf(KernelOp kernel) {
  return {kernel.getMultiples().value_or(ArrayRef<int64_t>()),
          kernel.getLimits().value_or(ArrayRef<int64_t>())};
}

void swage::setFacts(KernelOp kernel, const SizeFacts &facts) {
  auto attribute = [&](ArrayRef<int64_t> numbers, int64_t nothing) {
    bool any = llvm::any_of(numbers, [&](int64_t number) { return number != nothing; });
    return any ? DenseI64ArrayAttr::get(kernel.getContext(), numbers) : DenseI64ArrayAttr();
  };
  DenseI64ArrayAttr multiples = attribute(facts.multiples, 1), limits = attribute(facts.limits, 0);
  kernel.setMultiplesAttr(multiples);
  kernel.setLimitsAttr(limits);
}

static LogicalResult verifyView(KernelOp kernel, ViewAttr view, StringRef what) {
  if (view.getAccess().getNumDims() != kernel.getRank() ||
      view.getAccess().getNumSymbols() != kernel.getSymbols())
    return kernel.emitOpError() << what << " has an access of " << view.getAccess().getNumDims()
                                << " coordinates and " << view.getAccess().getNumSymbols()
                                << " sizes, but the kernel has " << kernel.getRank() << " and "
                                << kernel.getSymbols();
  if (!LinearAccess::of(view.getAccess())) // K1
    return kernel.emitOpError() << what << " has an access that is not linear in the coordinates";
  return success();
}

/// Vectors of `vector` elements must cover dimension `dim` without a remainder, whatever the
/// runtime sizes.
static LogicalResult verifyDivides(KernelOp kernel, int64_t vector, unsigned dim) {
  AffineExpr extent = kernel.getExtents().getResult(dim);
  if (vector == 1 || isMultipleOf(extent, vector, factsOf(kernel)))
    return success();
  auto diagnostic = kernel.emitOpError()
                    << "schedule has vectors of " << vector << ", but dimension " << dim << " has ";
  if (std::optional<int64_t> constant = constantSize(extent))
    return diagnostic << "extent " << *constant;
  return diagnostic << "a dynamic extent that need not be a multiple";
}

/// Every operand along `dim` of an access that goes `vector` elements at a time must start at a
/// multiple of it, but those that stay where they are along `moving`.
static LogicalResult verifyVector(KernelOp kernel, int64_t vector, unsigned dim,
                                  std::optional<unsigned> moving = std::nullopt) {
  SizeFacts facts = factsOf(kernel);
  auto check = [&](ViewAttr view, Twine what) -> LogicalResult {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (isRow(view.getSource()) && !isMultipleOf(access.offset, vector, facts))
      return kernel.emitOpError() << what << " has rows whose offsets are no multiples of the "
                                  << "vector of " << vector;
    if (vector == 1 || (moving && access.isBroadcast(*moving)) ||
        constantSize(access.strides[dim]) != 1 || view.getSource() != Source::Memory)
      return success();
    int64_t bytes = vector * elementBytes(view.getElement());
    if (std::min<int64_t>(bytes, 16) > view.getAlign())
      return kernel.emitOpError() << what << " is aligned to " << view.getAlign()
                                  << " bytes, but a vector of " << vector << " needs "
                                  << std::min<int64_t>(bytes, 16);
    for (auto [i, stride] : llvm::enumerate(access.strides))
      if (i != dim && !isMultipleOf(stride, vector, facts))
        return kernel.emitOpError() << what << " has a stride in dimension " << i
                                    << " that is no multiple of the vector of " << vector;
    if (!isMultipleOf(access.offset, vector, facts))
      return kernel.emitOpError() << what << " has an offset that is no multiple of the vector of "
                                  << vector;
    return success();
  };
  for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>()))
    if (failed(check(view, "input " + Twine(i))))
      return failure();
  for (auto [i, view] : llvm::enumerate(kernel.getOutputs().getAsRange<ViewAttr>()))
    if (failed(check(view, "output " + Twine(i))))
      return failure();
  return success();
}

static LogicalResult verifySchedule(KernelOp kernel, PointwiseScheduleAttr schedule) {
  if (schedule.getTail() && kernel.getRank() != 1)
    return kernel.emitOpError() << "schedule has a tail, but the iteration space has rank "
                                << kernel.getRank() << " and not 1";
  if (!schedule.getTail() &&
      failed(verifyDivides(kernel, schedule.getVector(), kernel.getRank() - 1)))
    return failure();
  return verifyVector(kernel, schedule.getVector(), kernel.getRank() - 1);
}

static LogicalResult verifySchedule(KernelOp kernel, BoxScheduleAttr schedule) {
  std::optional<BoxProblem> problem = BoxProblem::of(kernel);
  if (!problem)
    return kernel.emitOpError()
           << "has a schedule of boxes, but must have operands in memory with constant strides, "
              "outputs of one order, the innermost of stride 1, and an input of another "
              "order, which it uses";
  ArrayRef<int64_t> box = schedule.getBox();
  if (box.size() != problem->rank())
    return kernel.emitOpError() << "schedule has boxes of rank " << box.size() << ", but rank is "
                                << problem->rank();
  int64_t bytes = problem->principal().bytes;
  for (auto [dim, extent] : llvm::enumerate(problem->extents)) {
    if (box[dim] > std::max<int64_t>(1, extent))
      return kernel.emitOpError() << "schedule has boxes of " << box[dim] << " along dimension "
                                  << dim << ", but the extent there is "
                                  << (extent ? std::to_string(extent) : "known at run time only");
    // Before anything is computed from it that might not fit 64 bits.
    if ((bytes *= box[dim]) > kSharedMemory)
      return kernel.emitOpError() << "schedule has boxes of " << bytes
                                  << " bytes and more, but a block has " << kSharedMemory
                                  << " of shared memory";
  }
  if (int64_t shared = BoxLayout::of(*problem, box, schedule.getSkewed()).sharedBytes;
      shared > kSharedMemory)
    return kernel.emitOpError() << "schedule needs " << shared
                                << " bytes of shared memory, but a block has " << kSharedMemory;
  return success();
}

static LogicalResult verifySchedule(KernelOp kernel, PermuteScheduleAttr schedule) {
  if (schedule.getKind() == PermuteClass::Runs) {
    if (kernel.getInputs().size() != 1 || kernel.getOutputs().size() != 1 ||
        kernel.getInput(0).getElement() != kernel.getOutput(0).getElement())
      return kernel.emitOpError() << "has a schedule of runs, but must have one input and one "
                                     "output of one element type";
    int64_t bytes = elementBytes(kernel.getInput(0).getElement());
    if (schedule.getMovement() % bytes)
      return kernel.emitOpError() << "schedule moves " << schedule.getMovement()
                                  << " bytes, but an element has " << bytes;
    int64_t vector = schedule.getMovement() / bytes;
    if (failed(verifyDivides(kernel, vector, kernel.getRank() - 1)))
      return failure();
    return verifyVector(kernel, vector, kernel.getRank() - 1);
  }
  if (schedule.getTransposed() + 1 >= kernel.getRank())
    return kernel.emitOpError() << "schedule transposes dimension " << schedule.getTransposed()
                                << ", but must name one before the innermost of "
                                << kernel.getRank();
  TileProblem problem = TileProblem::of(kernel, unsigned(schedule.getTransposed()));
  if (problem.bytes == 0)
    return kernel.emitOpError()
           << "has a schedule of tiles, but nothing that is contiguous along dimension "
           << schedule.getTransposed();
  if (int64_t shared = schedule.getTileIn() * schedule.getTileOut() * problem.bytes;
      shared > kSharedMemory)
    return kernel.emitOpError() << "schedule needs " << shared
                                << " bytes of shared memory, but a block has " << kSharedMemory;
  auto [blocks, vectors] = problem.shares(schedule.getTileIn(), schedule.getTileOut(),
                                          schedule.getVectorIn(), schedule.getVectorOut());
  if (blocks == 0 || blocks % schedule.getThreads() || vectors % schedule.getThreads())
    return kernel.emitOpError() << "schedule has " << schedule.getThreads()
                                << " threads, which do not share a tile of " << schedule.getTileIn()
                                << " by " << schedule.getTileOut() << " evenly";
  if (failed(verifyDivides(kernel, schedule.getVectorIn(), schedule.getTransposed())) ||
      failed(verifyDivides(kernel, schedule.getVectorOut(), kernel.getRank() - 1)))
    return failure();
  if (failed(verifyVector(kernel, schedule.getVectorOut(), kernel.getRank() - 1)))
    return failure();
  // What is the same everywhere along the innermost dimension is not turned.
  return verifyVector(kernel, schedule.getVectorIn(), schedule.getTransposed(),
                      kernel.getRank() - 1);
}

/// The second collective's groups, which are the innermost dimension, as in
/// templates/swage/row_parts.cuh: each belongs to lanes of one warp.
static LogicalResult verifyGroups(KernelOp kernel, RowScheduleAttr schedule) {
  int64_t size = constantSize(kernel.getExtents().getResults().back()).value_or(0);
  if (size < 1 || !llvm::isPowerOf2_64(size))
    return kernel.emitOpError() << "has groups of " << size
                                << " elements, but must have a power of two of them";
  int64_t vectors = size / schedule.getVector(), lanes = std::min<int64_t>(32, vectors);
  if (vectors < 1 || schedule.getThreadsPerRow() % lanes ||
      schedule.getVectorsPerThread() % (vectors / lanes))
    return kernel.emitOpError() << "has groups of " << size
                                << " elements, which the schedule gives to no lanes of one warp";
  return success();
}

/// Rows beside each other in a block that walks them: neighbours along the last kept dimension, in
/// each warp a run of lanes for each.
static LogicalResult verifyBeside(KernelOp kernel, RowScheduleAttr schedule) {
  int64_t rows = schedule.getRowsPerBlock();
  unsigned keptInner = kernel.getReduced().front() - 1;
  int64_t kept = constantSize(kernel.getExtents().getResult(keptInner)).value_or(0),
          run = constantSize(kernel.getExtents().getResults().back()).value_or(0) /
                schedule.getVector();
  CollectiveOp second = kernel.getSecondCollective();
  if (kept == 0 || kept % rows)
    return kernel.emitOpError() << "schedule has " << rows << " rows beside each other, of "
                                << kept;
  if (run == 0 || !llvm::isPowerOf2_64(run) || run * rows > 32)
    return kernel.emitOpError() << "schedule has " << rows << " rows with runs of " << run
                                << " vectors beside each other, which do not share a warp evenly";
  if (kernel.getPhase(Phase::GroupFinish) || (second && second.getDims()))
    return kernel.emitOpError()
           << "schedule has rows beside each other, whose groups no lanes share";
  return success();
}

/// Vectors that are aligned in memory, wherever a row begins: templates/swage/row_aligned.cuh.
static LogicalResult verifyAligned(KernelOp kernel, RowScheduleAttr schedule) {
  if (!isAlignable(kernel))
    return kernel.emitOpError() << "schedule has aligned vectors, but the row is no single "
                                   "dimension of fixed length along which something is contiguous";
  int64_t vector = schedule.getVector(),
          row = *constantSize(kernel.getExtents().getResults().back());
  if (row < 2 * vector)
    return kernel.emitOpError() << "schedule has aligned vectors of " << vector
                                << ", but a row has " << row << " elements";
  for (ArrayAttr views : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : views.getAsRange<ViewAttr>()) {
      int64_t bytes = vector * elementBytes(view.getElement());
      bool isContiguous = constantSize(LinearAccess::of(view.getAccess())->strides.back()) == 1;
      if (view.getSource() == Source::Memory && isContiguous && (bytes < 4 || bytes > 16))
        return kernel.emitOpError()
               << "schedule has aligned vectors of " << bytes << " bytes, but must have 4 to 16";
    }
  return success();
}

static LogicalResult verifySchedule(KernelOp kernel, RowScheduleAttr schedule) {
  CollectiveOp second = kernel.getSecondCollective();
  if (kernel.getPhase(Phase::GroupFinish) || (second && second.getDims()))
    if (failed(verifyGroups(kernel, schedule)))
      return failure();
  if (kernel.getReduced().empty() || kernel.getReduced().front() == 0)
    return kernel.emitOpError()
           << "has a row schedule, but must have kept dimensions before reduced ones";
  // The vectorised dimension: along the row, or across the rows of neighbouring columns.
  unsigned vectorDim = schedule.getKind() == RowClass::Column ? kernel.getReduced().front() - 1
                                                              : kernel.getRank() - 1;
  if (failed(schedule.getAligned() ? verifyAligned(kernel, schedule)
                                   : verifyDivides(kernel, schedule.getVector(), vectorDim)))
    return failure();
  if (schedule.getKind() == RowClass::Group || schedule.getKind() == RowClass::Block) {
    int64_t row = 1;
    for (int64_t dim : kernel.getReduced()) {
      std::optional<int64_t> extent =
          upperBound(kernel.getExtents().getResult(dim), factsOf(kernel));
      if (!extent)
        return kernel.emitOpError() << stringifyRowClass(schedule.getKind())
                                    << " keeps a row in registers, but the extent of dimension "
                                    << dim << " is dynamic and has no limit";
      if (llvm::MulOverflow(row, *extent, row))
        row = INT64_MAX;
    }
    int64_t covered = schedule.getBlocksPerRow() * schedule.getThreadsPerRow() *
                      schedule.getVector() * schedule.getVectorsPerThread();
    // A row is whole vectors, so a limit within one counts for the vectors before it; or it begins
    // and ends anywhere in them.
    int64_t vector = schedule.getVector(),
            least = schedule.getAligned() ? row + vector - 1 : row / vector * vector;
    if (covered < least)
      return kernel.emitOpError() << "schedule covers " << covered
                                  << " elements a row, but the row has " << row;
  }
  if (schedule.getKind() == RowClass::Looped && schedule.getRowsPerBlock() > 1)
    if (failed(verifyBeside(kernel, schedule)))
      return failure();
  if (crowdBytes(kernel, schedule).value_or(INT64_MAX) > kMostScratch)
    return kernel.emitOpError()
           << "has " << schedule.getBlocksPerRow()
           << " blocks a row, which meet in memory, but there may be too many rows for that";
  if (schedule.getStaged() && stagedBytes(kernel, schedule) == 0)
    return kernel.emitOpError() << "has a staged schedule, but no operand that can be";
  if (int64_t shared = sharedBytes(kernel, schedule); shared > kMostSharedBytes)
    return kernel.emitOpError() << "schedule needs " << shared
                                << " bytes of shared memory, but a block has " << kMostSharedBytes;
  return schedule.getAligned() ? success() : verifyVector(kernel, schedule.getVector(), vectorDim);
}

static LogicalResult verifySchedule(KernelOp kernel, ReduceScheduleAttr schedule) {
  if (kernel.getReduced().empty() || kernel.getReduced().front() == 0)
    return kernel.emitOpError()
           << "has a reduce schedule, but must have kept dimensions before reduced ones";
  unsigned keptInner = kernel.getReduced().front() - 1;
  if (failed(verifyDivides(kernel, schedule.getVector(), keptInner)))
    return failure();
  int64_t shared = schedule.getLanes() * schedule.getRowGroups() * schedule.getVector() * 8;
  if (shared > kSharedMemory)
    return kernel.emitOpError() << "schedule needs " << shared
                                << " bytes of shared memory, but a block has " << kSharedMemory;
  return verifyVector(kernel, schedule.getVector(), keptInner);
}

template <class Schedule>
static LogicalResult verifyAttentionSchedule(KernelOp kernel, Schedule schedule) {
  std::string why;
  std::optional<AttentionProblem> problem = AttentionProblem::of(kernel, &why);
  if (!problem)
    return kernel.emitOpError() << "has a schedule of attention, but " << why;
  if constexpr (std::is_same_v<Schedule, AttentionScheduleAttr>) {
    if (problem->isNarrow() &&
        (schedule.getKeys() % 32 || schedule.getPatience() > 4 || !schedule.getEager()))
      return kernel.emitOpError() << "schedule takes " << schedule.getKeys()
                                  << " keys with patience " << schedule.getPatience()
                                  << ", but of 8 bits must take a multiple of 32, with one up to "
                                     "4, and be eager";
    if (!problem->isNarrow() && schedule.getRun())
      return kernel.emitOpError() << "schedule has sums in shared memory, which are of 8 bits";
    if (problem->isNarrow() && schedule.getParts() > 1)
      return kernel.emitOpError() << "schedule has " << schedule.getParts()
                                  << " parts of keys, which are not of 8 bits";
    if (CollectiveOp softmax = kernel.getCollective();
        softmax && softmax.getBatchInvariant() && schedule.getParts() > 1)
      return kernel.emitOpError() << "does not depend on the batch, but schedule has "
                                  << schedule.getParts() << " parts";
  } else if (problem->isNarrow()) {
    return kernel.emitOpError() << "schedule takes 16 bits, but the operands have 8";
  }
  if (!std::is_same_v<Schedule, PortableAttentionScheduleAttr> && problem->isWide())
    return kernel.emitOpError() << "schedule takes 16 bits or fewer, but the operands have 32";
  if constexpr (!std::is_same_v<Schedule, DecodeScheduleAttr>) {
    if (int64_t dim = std::max(problem->headDim, problem->valueDim); dim > problem->kMostDimOfMany)
      return kernel.emitOpError() << "schedule takes head dims up to " << problem->kMostDimOfMany
                                  << ", but there is one of " << dim;
    if (problem->copyBytes < 16)
      return kernel.emitOpError() << "schedule takes operands that begin at multiples of 16 bytes, "
                                     "but these do at multiples of "
                                  << problem->copyBytes;
    if (problem->keyRun)
      return kernel.emitOpError() << "schedule takes whole keys, but these are in runs of "
                                  << problem->keyRun;
    if (problem->pageSize)
      return kernel.emitOpError() << "schedule takes keys that follow each other in memory, but "
                                     "these are in pages";
    if (problem->hasProbabilities)
      return kernel.emitOpError() << "schedule keeps no scores, but an output has probabilities";
    if (problem->hasNarrowCache())
      return kernel.emitOpError() << "schedule takes operands of one type, but keys and values are "
                                  << problem->cache;
  } else {
    if (schedule.getBulk() && problem->copyBytes < 16)
      return kernel.emitOpError() << "schedule moves keys in bulk, but they begin at multiples of "
                                  << problem->copyBytes << " bytes";
    if (schedule.getBulk() && !problem->isMovedInBulk(schedule.getKeys() / schedule.getWarps()))
      return kernel.emitOpError() << "schedule moves keys in bulk, but the pages have "
                                  << problem->pageSize;
    if (schedule.getLinear() && !problem->areRowsAdjacent)
      return kernel.emitOpError() << "schedule copies rows of 16 bits that follow each other in "
                                     "memory, but these do not";
    if (schedule.getAtoms() > 1 && problem->team() > 1)
      return kernel.emitOpError() << "schedule takes 32 rows at once, but with head dims beyond "
                                  << problem->kMostDimOfWarp << " must take 16";
    if (!problem->sharing)
      return kernel.emitOpError() << "schedule takes a known number of queries that share a key "
                                     "head, but there may be any";
    // Before phases take its place.
    if (CollectiveOp softmax = kernel.getCollective())
      if (bool isInvariant = softmax.getBatchInvariant(); isInvariant != (schedule.getChunk() > 0))
        return kernel.emitOpError()
               << (isInvariant ? "does not depend on the batch, but schedule has no chunks"
                               : "schedule has chunks, but results may depend on the batch");
    if (int64_t scratch = problem->scratchBytes(schedule); scratch > kMostScratch)
      return kernel.emitOpError() << "schedule leaves parts of " << scratch
                                  << " bytes, but may leave " << kMostScratch;
  }
  if (int64_t shared = problem->sharedBytes(schedule); shared > kMostSharedBytes)
    return kernel.emitOpError() << "schedule needs " << shared
                                << " bytes of shared memory, but a block has " << kMostSharedBytes;
  if (int64_t registers = problem->registers(schedule), most = problem->mostRegisters(schedule);
      registers > most)
    return kernel.emitOpError() << "schedule keeps " << registers
                                << " registers a thread, but may keep " << most;
  return success();
}

/// What a phase is handed and hands back beside its loads and stores, and whether the kernel has
/// such a phase.
static LogicalResult verifyPhase(KernelOp kernel, PhaseOp phase) {
  if ((phase.getKind() == Phase::Body) != kernel.getReduced().empty())
    return phase.emitOpError() << "is of kind " << stringifyPhase(phase.getKind())
                               << ", but the kernel reduces " << kernel.getReduced().size()
                               << " dimensions";
  PhaseOp prologue = kernel.getPhase(Phase::Prologue);
  if (!kernel.getReduced().empty() && (!prologue || !prologue.getCollective()))
    return phase.emitOpError() << "belongs to a kernel without a prologue for a collective";
  for (auto [positions, count, what] :
       {std::tuple(phase.getLoads(), kernel.getInputs().size(), "load"),
        std::tuple(phase.getStores(), kernel.getOutputs().size(), "store")})
    for (int64_t position : positions)
      if (position < 0 || position >= static_cast<int64_t>(count))
        return phase.emitOpError()
               << "has " << what << " " << position << ", but the kernel has " << count;
  Phase kind = phase.getKind();
  PhaseOp between = kernel.getPhase(Phase::Between);
  bool isGrouped = kernel.getPhase(Phase::GroupFinish) != nullptr;
  if (between ? !between.getCollective() : isGrouped)
    return phase.emitOpError() << "belongs to a kernel without a phase for its second collective";
  bool isScore = kernel.isAttention() && (kind == Phase::Prologue || kind == Phase::Inside ||
                                          kind == Phase::Alike || kind == Phase::Exponent),
       isPerElement = isScore || kind == Phase::Between || kind == Phase::Epilogue ||
                      kind == Phase::Weight || kind == Phase::Probability;
  if (!kernel.isAttention() && kind >= Phase::Inside)
    return phase.emitOpError() << "belongs to a kernel that has no contractions";
  if (phase.getStatistics() && (isScore || kind >= Phase::Weight || !isPerElement))
    return phase.emitOpError() << "has statistics, but " << stringifyPhase(kind)
                               << " takes none or has them anyway";
  if (kind >= Phase::Query)
    for (int64_t position : phase.getLoads())
      if (position < AttentionInput::Count)
        return phase.emitOpError() << "loads input " << position
                                   << ", but is made of what is beside attention's operands";
  if ((kind == Phase::Exponent) != phase.getReach().has_value())
    return phase.emitOpError() << (phase.getReach()
                                       ? "is for all scores, but has a reach"
                                       : "has no reach, within which it is for scores");
  if (kind == Phase::Probability && (!phase.getLoads().empty() || phase.getStores().size() != 1))
    return phase.emitOpError() << "has " << phase.getLoads().size() << " loads and "
                               << phase.getStores().size()
                               << " stores, but probabilities take none and go to one output";
  bool isResult = kernel.isAttention() && kind == Phase::Epilogue,
       isPair = kind == Phase::Bounds || kind == Phase::Agree,
       isOne = isScore || isResult || kind == Phase::Prologue || kind == Phase::Between ||
               kind == Phase::Sink || kind == Phase::Offset || kind == Phase::Weight;
  size_t taken = isPair  ? 2
                 : isOne ? 1
                         : 0,
         given = kind == Phase::Exponent ? 2
                 : isPerElement          ? 1
                                         : 0;
  if (phase.getStatistics() || kind == Phase::Finish)
    given += statisticsOf(*prologue.getCollective());
  if (between && (kind == Phase::GroupFinish || (kind == Phase::Finish && !isGrouped) ||
                  (kind == Phase::Epilogue && phase.getStatistics())))
    given += statisticsOf(*between.getCollective());
  Block &body = phase.getBody().front();
  if (body.getNumArguments() != given + phase.getLoads().size())
    return phase.emitOpError() << "has " << body.getNumArguments() << " arguments, but must have "
                               << given << " and one for each of " << phase.getLoads().size()
                               << " loads";
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getValues().size() != taken + phase.getStores().size())
    return phase.emitOpError() << "yields " << (yield ? yield.getValues().size() : 0)
                               << " values, but must yield " << taken << " and one for each of "
                               << phase.getStores().size() << " stores";
  return success();
}

/// At most two; only the second may go over fewer dimensions.
static LogicalResult verifyCollectives(KernelOp kernel) {
  auto collectives = kernel.getBody().getOps<CollectiveOp>();
  if (size_t count = llvm::range_size(collectives); count > 2)
    return kernel.emitOpError() << "has " << count << " collectives, but may have 2";
  for (CollectiveOp collective : collectives) {
    if (collective.getSink() && !kernel.isAttention())
      return collective.emitOpError() << "has a sink, but is in a kernel without contractions";
    std::optional<ArrayRef<int64_t>> dims = collective.getDims();
    if (!dims)
      continue;
    if (collective != kernel.getSecondCollective())
      return collective.emitOpError() << "has dims, but is the first of its kernel";
    ArrayRef<int64_t> reduced = kernel.getReduced();
    if (dims->empty() || dims->size() > reduced.size() || reduced.take_back(dims->size()) != *dims)
      return collective.emitOpError() << "has dims " << collective.getDimsAttr()
                                      << ", but they must be the last of those that the kernel "
                                         "reduces: "
                                      << kernel.getReducedAttr();
  }
  return success();
}

/// None, or the two of attention.
static LogicalResult verifyContractions(KernelOp kernel) {
  auto contractions = kernel.getBody().getOps<ContractOp>();
  if (contractions.empty())
    return success();
  if (size_t count = llvm::range_size(contractions); count != 2)
    return kernel.emitOpError() << "has " << count << " contractions, but must have none or 2";
  CollectiveOp softmax = kernel.getCollective();
  if (!softmax || softmax.getKind() != Collective::Softmax || kernel.getSecondCollective())
    return kernel.emitOpError() << "has contractions, but must have a softmax between them";
  ContractOp scores = scoresOf(kernel), result = weightedValuesOf(kernel);
  if (scores.getTf32() != result.getTf32() ||
      (scores.getTf32() && !kernel.getInput(AttentionInput::Queries).getElement().isF32()))
    return scores.emitOpError() << "has tf32, which both contractions of f32 have, or none";
  auto isInput = [&](Value value, unsigned position) {
    BlockArgument argument = contractedInput(value);
    return argument && argument.getArgNumber() == position;
  };
  if (!isInput(scores.getLhs(), AttentionInput::Queries) ||
      !isInput(scores.getRhs(), AttentionInput::Keys) || scores.getDim() != AttentionDim::HeadDim)
    return scores.emitOpError() << "must be of inputs 0 and 1 over dimension "
                                << unsigned(AttentionDim::HeadDim);
  if (weightTerms(kernel).back() != softmax.getValues()[0] ||
      !isInput(result.getRhs(), AttentionInput::Values) || result.getDim() != AttentionDim::Key)
    return result.emitOpError() << "must be of the softmax and input 2 over dimension "
                                << unsigned(AttentionDim::Key);
  return success();
}

LogicalResult KernelOp::verify() {
  size_t ops = 0, views = getInputs().size() + getOutputs().size();
  getBody().walk([&](Operation *) { ++ops; });
  if (ops > kMaxKernelOps)
    return emitOpError() << "has " << ops << " ops, but may have " << kMaxKernelOps;
  if (views > kMaxKernelViews)
    return emitOpError() << "has " << views << " views, but may have " << kMaxKernelViews;
  if (getExtents().getNumDims() != 0 || getExtents().getNumSymbols() != getSymbols())
    return emitOpError() << "extents take " << getExtents().getNumDims() << " coordinates and "
                         << getExtents().getNumSymbols() << " sizes, but must take 0 and "
                         << getSymbols();
  for (auto [what, numbers, least] :
       {std::tuple("multiples", getMultiples(), 1), std::tuple("limits", getLimits(), 0)}) { // K7
    if (!numbers)
      continue;
    if (static_cast<int64_t>(numbers->size()) != static_cast<int64_t>(getSymbols()))
      return emitOpError() << "has " << numbers->size() << " " << what << ", but takes "
                           << getSymbols() << " sizes";
    for (int64_t number : *numbers)
      if (number < least)
        return emitOpError() << what << " has " << number << ", but must be at least " << least;
  }
  if (getOutputs().empty() && getBody().front().getOps<PhaseOp>().empty())
    return emitOpError() << "has no outputs";
  for (AffineExpr extent : getExtents().getResults())
    if (std::optional<int64_t> constant = constantSize(extent); constant && *constant < 0)
      return emitOpError() << "has extent " << *constant;
  for (auto [i, view] : llvm::enumerate(getInputs().getAsRange<ViewAttr>()))
    if (failed(verifyView(*this, view, ("input " + Twine(i)).str())))
      return failure();
  for (auto [i, view] : llvm::enumerate(getOutputs().getAsRange<ViewAttr>()))
    if (failed(verifyView(*this, view, ("output " + Twine(i)).str())))
      return failure();
  for (auto [i, view] : llvm::enumerate(getInputs().getAsRange<ViewAttr>())) // K10
    if (view.getSource() == Source::Shared && (i != AttentionInput::Queries || !isAttention()))
      return emitOpError() << "input " << i << " is of source " << stringifySource(Source::Shared)
                           << ", but only attention's queries are";
  for (auto [i, view] : llvm::enumerate(getOutputs().getAsRange<ViewAttr>()))
    if (isRow(view.getSource())) { // K9
      if (i == 0 || getOutput(i - 1).getSource() != Source::Memory)
        return emitOpError() << "output " << i << " is the row of no output in front of it";
      bool isStep = isAttention() && (!getSchedule() || isa<DecodeScheduleAttr>(*getSchedule()));
      if (!isStep &&
          (!getReduced().empty() || (getSchedule() && !isa<PointwiseScheduleAttr>(*getSchedule()))))
        return emitOpError() << "output " << i
                             << " is a row, which pointwise kernels and attention of few queries "
                                "write";
    } else if (view.getSource() == Source::Shared) { // K10
      if (!isAttention() || getInput(AttentionInput::Queries).getSource() != Source::Shared)
        return emitOpError() << "output " << i << " is of source "
                             << stringifySource(view.getSource())
                             << ", but input 0 is no such queries";
    } else if (view.getSource() != Source::Memory) {
      return emitOpError() << "output " << i << " is of source "
                           << stringifySource(view.getSource()) << ", but must be in memory";
    }
  if (getSymbols() == 0) // K6
    if (std::string problem = findOutOfBounds({}); !problem.empty())
      return emitOpError() << problem;
  int64_t previous = -1;
  for (int64_t dim : getReduced()) {
    if (dim <= previous || dim >= getRank()) // K4
      return emitOpError() << "reduces dimension " << dim << " after " << previous
                           << ", but dimensions must increase and stay below the rank "
                           << getRank();
    previous = dim;
  }
  Block &body = getBody().front();
  for (PhaseOp phase : body.getOps<PhaseOp>())
    if (failed(verifyPhase(*this, phase)))
      return failure();
  if (body.getOps<PhaseOp>().empty()) {
    if (body.getNumArguments() != getInputs().size()) // K2
      return emitOpError() << "body has " << body.getNumArguments() << " arguments, but there are "
                           << getInputs().size() << " inputs";
    auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
    if (!yield || yield.getValues().size() != getOutputs().size()) // K3
      return emitOpError() << "body yields " << (yield ? yield.getValues().size() : 0)
                           << " values, but there are " << getOutputs().size() << " outputs";
    if (static_cast<bool>(getCollective()) == getReduced().empty()) // K4
      return emitOpError() << "reduces " << getReduced().size() << " dimensions, but the body has "
                           << (getCollective() ? "a" : "no") << " collective";
    if (failed(verifyCollectives(*this)) || failed(verifyContractions(*this)))
      return failure();
  }
  if (std::string problem = findBadTile(*this); !problem.empty()) // K8
    return emitOpError() << problem;
  std::optional<Attribute> schedule = getSchedule(); // K5
  if (!schedule)
    return success();
  if (getRank() == 0)
    return emitOpError() << "has a schedule, but an iteration space of rank 0";
  for (auto [i, dim] : llvm::enumerate(getReduced()))
    if (dim != static_cast<int64_t>(getRank() - getReduced().size() + i))
      return emitOpError() << "has a schedule, but reduces dimension " << dim
                           << " before a kept one";
  if (auto attention = dyn_cast<AttentionScheduleAttr>(*schedule))
    return verifyAttentionSchedule(*this, attention);
  if (auto attention = dyn_cast<PortableAttentionScheduleAttr>(*schedule))
    return verifyAttentionSchedule(*this, attention);
  if (auto attention = dyn_cast<DecodeScheduleAttr>(*schedule))
    return verifyAttentionSchedule(*this, attention);
  if (isAttention() || getReduced().empty() == isa<RowScheduleAttr, ReduceScheduleAttr>(*schedule))
    return emitOpError() << "has schedule " << *schedule << ", but reduces " << getReduced().size()
                         << " dimensions";
  if (isa<ReduceScheduleAttr>(*schedule))
    if (CollectiveOp collective = getCollective(); collective && collective.isPerElement(0))
      return emitOpError() << "has a reduce schedule, but computes "
                           << stringifyCollective(collective.getKind());
  auto ofRow = dyn_cast<RowScheduleAttr>(*schedule);
  if ((getSecondCollective() || getPhase(Phase::Between)) &&
      (!ofRow || ofRow.getKind() == RowClass::Column))
    return emitOpError() << "has a second collective, but a schedule of a class that has none";
  if (auto pointwise = dyn_cast<PointwiseScheduleAttr>(*schedule))
    return verifySchedule(*this, pointwise);
  if (auto permute = dyn_cast<PermuteScheduleAttr>(*schedule))
    return verifySchedule(*this, permute);
  if (auto boxes = dyn_cast<BoxScheduleAttr>(*schedule))
    return verifySchedule(*this, boxes);
  if (auto row = dyn_cast<RowScheduleAttr>(*schedule))
    return verifySchedule(*this, row);
  if (auto reduce = dyn_cast<ReduceScheduleAttr>(*schedule))
    return verifySchedule(*this, reduce);
  return emitOpError() << "has schedule " << *schedule << ", which is of no kernel family";
}

//===----------------------------------------------------------------------===//
// CollectiveOp, PhaseOp
//===----------------------------------------------------------------------===//

LogicalResult CollectiveOp::verify() {
  size_t expected = hasElementResult(getKind()) + statisticsOf(getKind());
  if (getValues().size() != expected)
    return emitOpError() << "has " << getValues().size() << " results, but "
                         << stringifyCollective(getKind()) << " gives " << expected;
  bool norm = getKind() == Collective::LayerNorm || getKind() == Collective::RmsNorm;
  if (norm != getEpsilon().has_value())
    return emitOpError() << stringifyCollective(getKind()) << (norm ? " needs eps" : " has no eps");
  if (getZeroRows() && getKind() != Collective::Softmax && getKind() != Collective::LogSoftmax)
    return emitOpError() << stringifyCollective(getKind()) << " has no zero_rows";
  if (getBatchInvariant() && getKind() != Collective::Softmax)
    return emitOpError() << stringifyCollective(getKind()) << " has no batch_invariant";
  if (getSink() &&
      (getKind() != Collective::Softmax || getSink().getType() != getValue().getType()))
    return emitOpError() << stringifyCollective(getKind()) << " of " << getValue().getType()
                         << " has a sink of " << getSink().getType()
                         << ", which is for softmax and of its type";
  return success();
}

LogicalResult PhaseOp::verify() {
  if (getAccess().size() != getLoads().size() + getStores().size())
    return emitOpError() << "has " << getAccess().size() << " accesses, but " << getLoads().size()
                         << " loads and " << getStores().size() << " stores";
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyTensor(LaunchOp launch, KernelOp kernel, ViewAttr view, TypeRange types,
                                  StringRef what) {
  if (!hasParameter(view.getSource()))
    return success();
  if (view.getTensor() >= static_cast<int64_t>(types.size()))
    return launch.emitOpError() << "has " << types.size() << " " << what << "s, but a view of @"
                                << kernel.getSymName() << " needs number " << view.getTensor();
  auto type = cast<RankedTensorType>(types[view.getTensor()]);
  // Narrow floats that are only moved are moved as bits.
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  bool bits =
      width < 32 && view.getElement().isInteger(width) && isa<FloatType>(type.getElementType());
  if (view.getSource() == Source::Random) {
    if (!type.getElementType().isInteger(64))
      return launch.emitOpError() << what << " " << view.getTensor() << " has element type "
                                  << type.getElementType() << ", but a random state has i64";
  } else if (type.getElementType() != view.getElement() && !bits)
    return launch.emitOpError() << what << " " << view.getTensor() << " has element type "
                                << type.getElementType() << ", but the kernel has "
                                << view.getElement();
  if (type.getRank() != static_cast<int64_t>(view.getShape().getNumResults()))
    return launch.emitOpError() << what << " " << view.getTensor() << " has rank " << type.getRank()
                                << ", but the kernel has " << view.getShape().getNumResults();
  for (auto [i, expr] : llvm::enumerate(view.getShape().getResults()))
    if (std::optional<int64_t> extent = constantSize(expr))
      if (!type.isDynamicDim(i) && type.getDimSize(i) != *extent)
        return launch.emitOpError()
               << what << " " << view.getTensor() << " has extent " << type.getDimSize(i)
               << " in dimension " << i << ", but the kernel has " << *extent;
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel) // L1
    return emitOpError() << "launches @" << getKernel() << ", which is no kernel of this module";
  if (getSizes().size() != static_cast<size_t>(kernel.getSymbols())) // L2
    return emitOpError() << "has " << getSizes().size() << " sizes, but @" << getKernel()
                         << " takes " << kernel.getSymbols();
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>()) // L2
    if (failed(verifyTensor(*this, kernel, view, getTensors().getTypes(), "operand")))
      return failure();
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>()) // L2
    if (failed(verifyTensor(*this, kernel, view, getOutputs().getTypes(), "result")))
      return failure();
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    if (ViewAttr rows = kernel.getRowsOf(i)) {
      auto result = cast<RankedTensorType>(getOutputs()[kernel.getOutput(i).getTensor()].getType());
      auto kept = rows.getTensor() < static_cast<int64_t>(getTensors().size())
                      ? cast<RankedTensorType>(getTensors()[rows.getTensor()].getType())
                      : RankedTensorType();
      if (!kept || kept.getElementType() != result.getElementType() ||
          failed(verifyCompatibleShape(kept, result)))
        return emitOpError() << "result " << kernel.getOutput(i).getTensor() << " of type "
                             << result << " keeps elements of operand " << rows.getTensor()
                             << ", which is not like it";
    }
  return success();
}
