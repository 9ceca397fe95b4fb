//===- RowStaging.cpp - What a staged row schedule moves ------------------===//
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// What the exchanges of a row take, at most: two of 32 warps and 16 blocks each, in f64, and their
/// mbarriers.
static constexpr int64_t kExchangeBytes = 2336;

/// Whether the threads of a block come by their share of a row step by step.
static bool walksRow(RowScheduleAttr schedule) {
  return schedule.getKind() == RowClass::Looped || schedule.getKind() == RowClass::Column;
}

bool swage::isInSlab(KernelOp kernel, RowScheduleAttr schedule, ViewAttr view) {
  if (!schedule.getStaged() || walksRow(schedule) || view.getSource() != Source::Memory)
    return false;
  LinearAccess access = *LinearAccess::of(view.getAccess());
  unsigned firstReduced = kernel.getReduced().front();
  AffineExpr dense = getAffineConstantExpr(1, kernel.getContext());
  for (unsigned dim = kernel.getRank(); dim-- > 0 && dense;) {
    AffineExpr extent = kernel.getExtents().getResult(dim);
    if (constantSize(extent) == 1)
      continue;
    // Blocks of one row need only that to be contiguous.
    bool together = dim >= firstReduced || schedule.getRowsPerBlock() > 1;
    if (together ? access.strides[dim] != dense : access.isBroadcast(dim))
      return false;
    dense = multiplySizes(dense, extent);
  }
  return dense != nullptr;
}

bool swage::hasOwnRows(KernelOp kernel, ViewAttr view, unsigned inner) {
  if (view.getSource() != Source::Memory)
    return false;
  LinearAccess access = *LinearAccess::of(view.getAccess());
  for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
    if (access.isBroadcast(dim) && constantSize(kernel.getExtents().getResult(dim)) != 1)
      return false;
  return constantSize(access.strides[inner]) == 1;
}

bool swage::isShelved(KernelOp kernel, RowScheduleAttr schedule, unsigned input) {
  ViewAttr view = kernel.getInput(input);
  if (!schedule.getStaged() || !walksRow(schedule))
    return false;
  unsigned inner = schedule.getKind() == RowClass::Column ? kernel.getReduced().front() - 1
                                                          : kernel.getRank() - 1;
  if (!hasOwnRows(kernel, view, inner))
    return false;
  if (schedule.getAligned() && !mayBeInStep(kernel, {false, input}, schedule.getVector()))
    return false;
  // The widths that a copy can have.
  return schedule.getVector() * elementBytes(view.getElement()) >= 4;
}

/// Adds the inputs that a scalar is computed from; whether a collective is among what it needs.
/// `seen`: what has been found of the ops before, of which many may share operands.
static bool collectInputs(Value value, llvm::SetVector<unsigned> &inputs,
                          llvm::DenseMap<Operation *, bool> &seen) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    inputs.insert(argument.getArgNumber());
    return false;
  }
  Operation *op = value.getDefiningOp();
  if (auto known = seen.find(op); known != seen.end())
    return known->second;
  bool found = isa<CollectiveOp>(op);
  for (Value operand : op->getOperands())
    found |= collectInputs(operand, inputs, seen);
  seen[op] = found;
  return found;
}

llvm::SetVector<unsigned> swage::prologueInputs(KernelOp kernel) {
  llvm::SetVector<unsigned> inputs;
  if (PhaseOp prologue = kernel.getPhase(Phase::Prologue)) {
    inputs.insert(prologue.getLoads().begin(), prologue.getLoads().end());
    return inputs;
  }
  llvm::DenseMap<Operation *, bool> seen;
  collectInputs(kernel.getCollective().getValue(), inputs, seen);
  for (Value result : kernel.getBody().front().getTerminator()->getOperands()) {
    llvm::SetVector<unsigned> own;
    seen.clear();
    if (!collectInputs(result, own, seen))
      inputs.insert(own.begin(), own.end());
  }
  return inputs;
}

/// The type of the elements that the first collective combines.
static Type collectedType(KernelOp kernel) {
  if (PhaseOp prologue = kernel.getPhase(Phase::Prologue))
    return prologue.getBody().front().back().getOperand(0).getType();
  return kernel.getCollective().getValue().getType();
}

int64_t swage::vectorsOfRun(KernelOp kernel, int64_t vector) {
  return constantSize(kernel.getExtents().getResults().back()).value_or(0) / vector;
}

bool swage::isWoven(KernelOp kernel, RowScheduleAttr schedule) {
  int64_t run = vectorsOfRun(kernel, schedule.getVector());
  return schedule.getKind() == RowClass::Looped && schedule.getRowsPerBlock() > 1 && run > 0 &&
         !llvm::isPowerOf2_64(run);
}

std::optional<int64_t> swage::mostElements(KernelOp kernel, bool ofRow, const SizeFacts &facts) {
  int64_t total = 1;
  for (unsigned dim = 0; dim < kernel.getRank(); ++dim) {
    if (llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(dim)) != ofRow)
      continue;
    std::optional<int64_t> bound = upperBound(kernel.getExtents().getResult(dim), facts);
    if (!bound || llvm::MulOverflow(total, *bound, total))
      return std::nullopt;
  }
  return total;
}

std::optional<int64_t> swage::rowLength(KernelOp kernel) { return mostElements(kernel, true, {}); }

/// The shelves of a block that walks its share of the rows.
static int64_t shelfBytes(KernelOp kernel, RowScheduleAttr schedule) {
  bool isColumn = schedule.getKind() == RowClass::Column;
  int64_t length = rowLength(kernel).value_or(0), vector = isColumn ? 1 : schedule.getVector();
  int64_t bytes = 0, vectors = std::max(length / vector, std::min<int64_t>(length, 1)),
          step = schedule.getBlocksPerRow() * schedule.getThreadsPerRow() *
                 schedule.getVectorsPerThread(),
          steps = llvm::divideCeil(vectors, step), limit = schedule.getShelvedSteps(),
          each = (limit ? std::min(steps, limit) : steps) * schedule.getVectorsPerThread(),
          threads = schedule.getThreadsPerRow() * schedule.getRowsPerBlock();
  for (unsigned input : prologueInputs(kernel))
    if (isShelved(kernel, schedule, input))
      bytes += schedule.getVector() * elementBytes(kernel.getInput(input).getElement());
  int64_t total;
  if (llvm::MulOverflow(each * threads, bytes, total))
    return INT64_MAX / 2;
  return total;
}

/// The slabs of a block.
static int64_t slabBytes(KernelOp kernel, RowScheduleAttr schedule) {
  int64_t elements = schedule.getRowsPerBlock() * schedule.getThreadsPerRow() *
                     schedule.getVector() * schedule.getVectorsPerThread(),
          slabs = 0;
  for (ArrayAttr views : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : views.getAsRange<ViewAttr>())
      if (isInSlab(kernel, schedule, view))
        slabs += llvm::alignTo(elements * elementBytes(view.getElement()) + 16, 128);
  return slabs;
}

int64_t swage::stagedBytes(KernelOp kernel, RowScheduleAttr schedule) {
  if (!schedule.getStaged())
    return 0;
  return walksRow(schedule) ? shelfBytes(kernel, schedule) : slabBytes(kernel, schedule);
}

std::optional<int64_t> swage::crowdBytes(KernelOp kernel, RowScheduleAttr schedule) {
  if (!schedule.meetsInMemory())
    return 0;
  // For each block a word and those of a state, two numbers at most, and a count; or of a state of
  // each position.
  bool isColumn = schedule.getKind() == RowClass::Column;
  int64_t number = collectedType(kernel).isF64() ? 2 : 1,
          positions = schedule.getRowsPerBlock() * schedule.getVector(),
          ofBlock = 1 + (isColumn ? 2 * positions : 3) * number,
          bytes = 8 * (1 + kernel.countCollectives() * schedule.getBlocksPerRow() * ofBlock);
  std::optional<int64_t> rows = mostElements(kernel, false, factsOf(kernel));
  if (!rows)
    return std::nullopt;
  int64_t crowds = isColumn ? int64_t(llvm::divideCeil(*rows, positions)) : *rows;
  if (llvm::MulOverflow(bytes, crowds, bytes))
    return std::nullopt;
  return llvm::alignTo(bytes, 16);
}

int64_t swage::sharedBytes(KernelOp kernel, RowScheduleAttr schedule) {
  int64_t exchange = kExchangeBytes, number = collectedType(kernel).isF64() ? 8 : 4,
          threads = schedule.getThreadsPerRow() * schedule.getRowsPerBlock();
  if (schedule.getKind() == RowClass::Column) {
    // A state for each position that a thread has: two numbers at most. In a cluster an mbarrier,
    // and for each position a state of each block; in a crowd, where those are in memory, a few
    // words.
    exchange = threads * schedule.getVector() * 2 * number;
    if (int64_t blocks = schedule.getBlocksPerRow(); blocks > 1)
      exchange += 16 + (schedule.meetsInMemory() ? 0 : blocks) * schedule.getRowsPerBlock() *
                           schedule.getVector() * 2 * number;
  } else if (isWoven(kernel, schedule)) {
    // A state of every thread, and of each block for every lane of the runs; and an mbarrier.
    int64_t states = threads + schedule.getBlocksPerRow() * schedule.getRowsPerBlock() *
                                   vectorsOfRun(kernel, schedule.getVector());
    exchange = kernel.countCollectives() * llvm::alignTo(16 + states * 2 * number, 16);
  } else if (schedule.getKind() == RowClass::Looped) {
    // One of every warp and block for each row, with a count; and an mbarrier.
    int64_t entries = (threads / 32 + schedule.getBlocksPerRow()) * schedule.getRowsPerBlock();
    exchange = kernel.countCollectives() * llvm::alignTo(16 + entries * 3 * number, 16);
  }
  return stagedBytes(kernel, schedule) + exchange;
}
