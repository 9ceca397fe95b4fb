//===- InPlace.h - Outputs that may take an input's memory ------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_INPLACE_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_INPLACE_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include <utility>

namespace swage {

/// (output, input) tensors of a scheduled kernel that may be the same memory, if no other tensor of
/// the launch is: every element of the input is read by one thread alone, at the point where that
/// thread writes the same bytes of the output.  Of a pointwise kernel only: the others read an
/// element on several threads or twice.
llvm::SmallVector<std::pair<unsigned, unsigned>> inPlacePairs(KernelOp kernel);

/// Elements that one block of a pointwise kernel takes. Past the end of the iteration space threads
/// read its last elements once more and do nothing with them.
int64_t elementsPerBlock(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_INPLACE_H
