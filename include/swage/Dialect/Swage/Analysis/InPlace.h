//===- InPlace.h - Outputs that may take an input's memory ------*- C++ -*-===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_INPLACE_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_INPLACE_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include <utility>

namespace swage {

/// (output, input) tensors of a prepared kernel that may be the same memory, if no other tensor of
/// the launch is: the thread that writes an element of the output is the only one that uses the
/// input's, and has read it for the last time.  Of pointwise and row kernels: the others read an
/// element on several threads.
llvm::SmallVector<std::pair<unsigned, unsigned>> inPlacePairs(KernelOp kernel);

/// (output, input) tensors of a kernel, of which the output holds the input's elements where the
/// kernel writes none of the output's rows: they are the same memory, or the input is copied first.
llvm::SmallVector<std::pair<unsigned, unsigned>> keptPairs(KernelOp kernel);

/// Elements that one block of a pointwise kernel takes; 0 for the other kernels. Threads beyond the
/// end of the iteration space, or of a row, read elements that others write, and do nothing with
/// them.
int64_t elementsPerBlock(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_INPLACE_H
