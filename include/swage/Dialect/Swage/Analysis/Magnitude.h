//===- Magnitude.h - How large a scalar may be ------------------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_MAGNITUDE_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_MAGNITUDE_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Whether an output of 8-bit floats is given no number that rounds to more than the largest of
/// them, whatever the inputs are; NaN may come. So it is of what is clamped, and of elements over
/// the largest absolute value of their row or group, if something keeps that from being tiny.
bool isWithinLargest(KernelOp kernel, unsigned output);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_MAGNITUDE_H
