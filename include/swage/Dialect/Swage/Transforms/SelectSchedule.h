//===- SelectSchedule.h - The schedule heuristic ----------------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_TRANSFORMS_SELECTSCHEDULE_H
#define SWAGE_DIALECT_SWAGE_TRANSFORMS_SELECTSCHEDULE_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Support/DeviceProperties.h"
#include <string>

namespace swage {

struct SelectedSchedule {
  mlir::Attribute schedule;
  std::string reason;
};

/// The schedule of a kernel whose dimensions are merged: a pure function of the kernel and the
/// device. `index` is 32, 64, or 0 for the least width that reaches every offset.
SelectedSchedule selectSchedule(KernelOp kernel, const DeviceProperties &device, int64_t index);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_TRANSFORMS_SELECTSCHEDULE_H
