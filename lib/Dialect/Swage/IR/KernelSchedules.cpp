//===- KernelSchedules.cpp - What schedules demand of kernels -------------===//
//
// A schedule may be edited by hand, so everything is checked that a template assumes.
//
//===----------------------------------------------------------------------===//

#include "KernelSchedules.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/FlatSpace.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// Shared memory that every supported GPU gives one block without opting in to more.
static constexpr int64_t kSharedMemory = kDeclaredSharedBytes;

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
/// multiple of it, but those that stay where they are along `moving`. If points are `counted`
/// through only flat ones go so, and rows begin anywhere.
static LogicalResult verifyVector(KernelOp kernel, int64_t vector, unsigned dim,
                                  std::optional<unsigned> moving = std::nullopt,
                                  bool counted = false) {
  SizeFacts facts = factsOf(kernel);
  auto check = [&](ViewAttr view, Twine what) -> LogicalResult {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (isRow(view.getSource()) && !isMultipleOf(access.offset, vector, facts))
      return kernel.emitOpError() << what << " has rows whose offsets are no multiples of the "
                                  << "vector of " << vector;
    if (vector == 1 || (moving && access.isBroadcast(*moving)) ||
        constantSize(access.strides[dim]) != 1 || view.getSource() != Source::Memory ||
        (counted && countedAccess(kernel, view) != Access::Vector))
      return success();
    int64_t bytes = vector * elementBytes(view.getElement());
    if (std::min<int64_t>(bytes, 16) > view.getAlign())
      return kernel.emitOpError() << what << " is aligned to " << view.getAlign()
                                  << " bytes, but a vector of " << vector << " needs "
                                  << std::min<int64_t>(bytes, 16);
    for (auto [i, stride] : llvm::enumerate(access.strides))
      if (i != dim && !counted && !isMultipleOf(stride, vector, facts))
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

static LogicalResult verify(KernelOp kernel, PointwiseScheduleAttr schedule) {
  unsigned inner = kernel.getRank() - 1;
  if (schedule.getTail() && !isFlatSpace(kernel))
    return kernel.emitOpError()
           << "schedule has a tail, but results must lie as points are counted, and inputs too or "
              "be the same along a dimension";
  if (!schedule.getTail() && failed(verifyDivides(kernel, schedule.getVector(), inner)))
    return failure();
  return verifyVector(kernel, schedule.getVector(), inner, std::nullopt, schedule.getTail());
}

static LogicalResult verify(KernelOp kernel, BoxScheduleAttr schedule) {
  std::optional<BoxProblem> problem = BoxProblem::of(kernel);
  if (!problem)
    return kernel.emitOpError()
           << "has a schedule of boxes, but must have operands in memory with constant strides, "
              "outputs of one order, the innermost of stride 1, and an input of another "
              "order, which it uses and which moves along all dimensions";
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

static LogicalResult verify(KernelOp kernel, PermuteScheduleAttr schedule) {
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
  TileProblem problem =
      TileProblem::of(kernel, unsigned(schedule.getTransposed()), schedule.getMerged());
  if (problem.bytes == 0)
    return kernel.emitOpError()
           << "has a schedule of tiles, but nothing that is contiguous along dimension "
           << schedule.getTransposed();
  if (problem.areInputs && problem.areOutputs)
    return kernel.emitOpError() << "has a schedule of tiles, but both inputs and outputs that are "
                                   "contiguous along dimension "
                                << schedule.getTransposed();
  if (int64_t shared = schedule.getTileIn() * schedule.getTileOut() * problem.bytes;
      shared > kSharedMemory)
    return kernel.emitOpError() << "schedule needs " << shared
                                << " bytes of shared memory, but a block has " << kSharedMemory;
  if (!problem.canMerge())
    return kernel.emitOpError() << "schedule counts the last " << schedule.getMerged()
                                << " dimensions as one, but not everything lies so that it could";
  auto [blocks, vectors] = problem.shares(schedule.getTileIn(), schedule.getTileOut(),
                                          schedule.getVectorIn(), schedule.getVectorOut());
  if (blocks == 0 || blocks % schedule.getThreads() || vectors % schedule.getThreads())
    return kernel.emitOpError() << "schedule has " << schedule.getThreads()
                                << " threads, which do not share a tile of " << schedule.getTileIn()
                                << " by " << schedule.getTileOut() << " evenly";
  if (failed(verifyDivides(kernel, schedule.getVectorIn(), schedule.getTransposed())))
    return failure();
  if (schedule.getMerged() > 1) {
    if (!problem.fitsOut(schedule.getVectorOut()))
      return kernel.emitOpError() << "schedule has vectors of " << schedule.getVectorOut()
                                  << ", which do not fit its last " << schedule.getMerged()
                                  << " dimensions as one";
  } else if (failed(verifyDivides(kernel, schedule.getVectorOut(), kernel.getRank() - 1)) ||
             failed(verifyVector(kernel, schedule.getVectorOut(), kernel.getRank() - 1))) {
    return failure();
  }
  // What is the same everywhere along the innermost dimension is not turned.
  return verifyVector(kernel, schedule.getVectorIn(), schedule.getTransposed(),
                      kernel.getRank() - 1);
}

/// The last collective's groups, which are the innermost dimension, as in
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
          run = vectorsOfRun(kernel, schedule.getVector());
  if (kept == 0 || kept % rows)
    return kernel.emitOpError() << "schedule has " << rows << " rows beside each other, of "
                                << kept;
  if (isWoven(kernel, schedule)) {
    int64_t length = rowLength(kernel).value_or(0) / schedule.getVector(),
            threads = schedule.getThreadsPerRow(),
            step = schedule.getBlocksPerRow() * threads * schedule.getVectorsPerThread();
    if (threads % run || length == 0 || length % step)
      return kernel.emitOpError() << "schedule has rows of " << length << " vectors in runs of "
                                  << run << ", which steps of " << step << " by " << threads
                                  << " threads a row do not share evenly";
  } else if (run == 0 || run * rows > 32) {
    return kernel.emitOpError() << "schedule has " << rows << " rows with runs of " << run
                                << " vectors beside each other, which do not share a warp evenly";
  }
  if (kernel.hasGroups())
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

static LogicalResult verify(KernelOp kernel, RowScheduleAttr schedule) {
  if (kernel.hasGroups() && failed(verifyGroups(kernel, schedule)))
    return failure();
  if (kernel.getReduced().empty() || kernel.getReduced().front() == 0)
    return kernel.emitOpError()
           << "has a row schedule, but must have kept dimensions before reduced ones";
  if (kernel.writesRows() &&
      (schedule.getAligned() || schedule.getStaged() || schedule.getKind() == RowClass::Column))
    return kernel.emitOpError() << "adds rows to a cache, which go by vectors of a row as they lie";
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

static LogicalResult verify(KernelOp kernel, ReduceScheduleAttr schedule) {
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

template <class Schedule> static LogicalResult verifyAttention(KernelOp kernel, Schedule schedule) {
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
    if (schedule.getScoreStages() > 0 && problem->scoreTiles.empty())
      return kernel.emitOpError() << "schedule stages what scores read for each query and key, but "
                                     "they read nothing that lies together for a query";
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
      return kernel.emitOpError() << "schedule copies rows that follow each other in memory, but "
                                     "these do not";
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
    if (int64_t parts = schedule.getParts(); parts > 1) {
      std::optional<int64_t> units = unitsOf(kernel, problem->rowTiles(schedule));
      if (!units)
        return kernel.emitOpError() << "schedule deals each unit out to " << parts
                                    << " blocks, but there may be any number of units";
      if (*units * parts != schedule.getSpans())
        return kernel.emitOpError() << "schedule has " << schedule.getSpans() << " spans, but "
                                    << *units * parts << " parts of units";
      if (problem->hasProbabilities)
        return kernel.emitOpError() << "schedule deals each unit out to " << parts
                                    << " blocks, but one makes its probabilities";
    }
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

LogicalResult swage::verifySchedule(KernelOp kernel) {
  std::optional<Attribute> schedule = kernel.getSchedule();
  if (!schedule)
    return success();
  if (kernel.getRank() == 0)
    return kernel.emitOpError() << "has a schedule, but an iteration space of rank 0";
  for (auto [i, dim] : llvm::enumerate(kernel.getReduced()))
    if (dim != static_cast<int64_t>(kernel.getRank() - kernel.getReduced().size() + i))
      return kernel.emitOpError() << "has a schedule, but reduces dimension " << dim
                                  << " before a kept one";
  if (isa<AttentionScheduleAttr, PortableAttentionScheduleAttr, DecodeScheduleAttr>(*schedule))
    return llvm::TypeSwitch<Attribute, LogicalResult>(*schedule)
        .Case<AttentionScheduleAttr, PortableAttentionScheduleAttr, DecodeScheduleAttr>(
            [&](auto attention) { return verifyAttention(kernel, attention); });
  if (kernel.isAttention() ||
      kernel.getReduced().empty() == isa<RowScheduleAttr, ReduceScheduleAttr>(*schedule))
    return kernel.emitOpError() << "has schedule " << *schedule << ", but reduces "
                                << kernel.getReduced().size() << " dimensions";
  if (isa<ReduceScheduleAttr>(*schedule))
    if (CollectiveOp collective = kernel.getCollective(); collective && collective.isPerElement(0))
      return kernel.emitOpError() << "has a reduce schedule, but computes "
                                  << stringifyCollective(collective.getKind());
  auto ofRow = dyn_cast<RowScheduleAttr>(*schedule);
  if (kernel.countCollectives() > 1 && (!ofRow || ofRow.getKind() == RowClass::Column))
    return kernel.emitOpError()
           << "has several collectives, but a schedule of a class that has one";
  return llvm::TypeSwitch<Attribute, LogicalResult>(*schedule)
      .Case<PointwiseScheduleAttr, PermuteScheduleAttr, BoxScheduleAttr, RowScheduleAttr,
            ReduceScheduleAttr>([&](auto known) { return verify(kernel, known); })
      .Default([&](Attribute) {
        return kernel.emitOpError()
               << "has schedule " << *schedule << ", which is of no kernel family";
      });
}
