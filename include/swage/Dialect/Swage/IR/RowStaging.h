//===- RowStaging.h - What a staged row schedule moves ----------*- C++ -*-===//
//
// A staged row kernel moves some of its operands through shared memory: in slabs
// (templates/swage/slab.cuh), or, where it walks the row, each thread on a shelf of its own
// (shelf.cuh).  Which, and how much memory that takes, is decided here for the verifier, the
// schedule and the phases.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_ROWSTAGING_H
#define SWAGE_DIALECT_SWAGE_IR_ROWSTAGING_H

#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/SetVector.h"

namespace swage {

/// Shared memory that a kernel may declare by itself, and the most that one may ask for on any
/// device.
constexpr int64_t kDeclaredSharedBytes = 48 << 10, kMostSharedBytes = 227 << 10;

/// Whether a staged row schedule moves this view of its kernel in slabs: one that has each element of
/// a block's rows once, contiguously.
bool isInSlab(KernelOp kernel, RowScheduleAttr schedule, ViewAttr view);

/// What the prologue reads: the inputs of the first collective, and of outputs that need none.
llvm::SetVector<unsigned> prologueInputs(KernelOp kernel);

/// Whether a view has each element of the rows once, contiguously along dimension `inner`.
bool hasOwnRows(KernelOp kernel, ViewAttr view, unsigned inner);

/// Whether what a staged row schedule's prologue reads of this input waits on a shelf: one that has
/// each element of the rows once. Where vectors are aligned in memory it must be in step, or may be
/// (RowAlignment.h): a row that turns out not to be is read again.
bool isShelved(KernelOp kernel, RowScheduleAttr schedule, unsigned input);

/// The most elements that a row has, or rows that there are, if `facts` of the sizes bound them.
std::optional<int64_t> mostElements(KernelOp kernel, bool ofRow, const SizeFacts &facts);
/// Elements of a row, if that is known.
std::optional<int64_t> rowLength(KernelOp kernel);

/// Vectors of so many elements in a run of rows beside each other: of the last dimension. 0 if that
/// is not known.
int64_t vectorsOfRun(KernelOp kernel, int64_t vector);

/// Whether rows lie beside each other in runs that are no power of two of vectors
/// (templates/swage/woven_team.cuh).
bool isWoven(KernelOp kernel, RowScheduleAttr schedule);

/// Bytes of shared memory that a block of a staged row schedule moves operands through, at most; 0 if
/// none can be.
int64_t stagedBytes(KernelOp kernel, RowScheduleAttr schedule);

/// Bytes of shared memory that a block of a row schedule needs at most, with what its threads
/// exchange.
int64_t sharedBytes(KernelOp kernel, RowScheduleAttr schedule);

/// Bytes of global memory in which the blocks of all rows meet, at most, where a row has more of
/// them than a cluster holds, and 0 elsewhere; nothing where any number of rows may come.
std::optional<int64_t> crowdBytes(KernelOp kernel, RowScheduleAttr schedule);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_ROWSTAGING_H
