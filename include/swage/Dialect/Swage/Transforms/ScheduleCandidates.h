//===- ScheduleCandidates.h - What an autotuner may try ---------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_SCHEDULECANDIDATES_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_SCHEDULECANDIDATES_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Schedules of the family and index width of the one that the kernel has, which is not among them:
/// a grid over all other fields, as far as the kernel's verifier accepts it and registers suffice.
/// None for a kernel without a schedule.
llvm::SmallVector<mlir::Attribute> scheduleCandidates(KernelOp kernel);

/// Gives a kernel that has a schedule another one, of its own index width, if its verifier accepts
/// it; otherwise the kernel stays as it is.  Reports nothing.
bool tryReplaceSchedule(KernelOp kernel, mlir::Attribute schedule);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_SCHEDULECANDIDATES_H
