//===- KernelSchedules.h - What schedules demand of kernels -----*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_IR_KERNELSCHEDULES_H
#define SWAGE_LIB_DIALECT_SWAGE_IR_KERNELSCHEDULES_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// (K5) Whether the kernel's schedule, if it has one, is of its family, and everything holds that
/// the template assumes; an error on the kernel says what does not.
llvm::LogicalResult verifySchedule(KernelOp kernel);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_IR_KERNELSCHEDULES_H
