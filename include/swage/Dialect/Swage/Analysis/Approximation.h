//===- Approximation.h - What may be computed in fewer steps ----*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_APPROXIMATION_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_APPROXIMATION_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Gives the divisions and functions of the kernel's body whose last digits nobody sees the
/// fast-math flags `arcp` and `afn`: nothing is made of them but results of 16 bits or fewer, and
/// the row results (log-sum-exp, rstd) that such a norm or softmax has beside its elements. Others
/// lose those flags, if the graph gave them: what a kernel may do does not depend on them.
void allowApproximations(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_APPROXIMATION_H
