//===- RowStaging.h - What a staged row schedule moves ----------*- C++ -*-===//
//
// A staged row kernel moves some of its operands through shared memory, in slabs: see
// templates/swage/slab.cuh.  Which, and how much memory that takes, is decided here for the
// verifier, the schedule and the phases.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_ROWSTAGING_H
#define SWAGE_DIALECT_SWAGE_IR_ROWSTAGING_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Whether a staged row schedule moves this view of its kernel through shared memory: one that has
/// each element of a block's rows once, contiguously.
bool isStaged(KernelOp kernel, RowScheduleAttr schedule, ViewAttr view);

/// Bytes of shared memory that a block of a staged row schedule needs at most; 0 if it moves nothing
/// through it.
int64_t stagedBytes(KernelOp kernel, RowScheduleAttr schedule);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_ROWSTAGING_H
