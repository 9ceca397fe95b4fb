//===- ShapeFacts.h - What promises about sizes do to a kernel --*- C++ -*-===//
//
// Where a schedule asks about runtime sizes: which vectors divide them, and how long a row can
// get.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_SHAPEFACTS_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_SHAPEFACTS_H

#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace swage {

/// The widest vector along `dim`: 16 bytes of the narrowest operand that moves along it, no more
/// than 32 of the widest, and such that every operand that is contiguous there starts each vector
/// aligned for all sizes that the facts allow. Without `tail` it divides the extent; with it the
/// points of a flat space are counted through (FlatSpace.h). Only operands that take part count.
int64_t vectorAlong(
    KernelOp kernel, unsigned dim, const SizeFacts &facts, bool tail = false,
    llvm::function_ref<bool(ViewAttr)> takesPart = [](ViewAttr) { return true; });

/// Which promises about a symbol could change a kernel's schedule.
struct SymbolNeeds {
  bool multiple = false; ///< a divisor would widen its vectors
  bool limit = false;    ///< a bound would keep its rows in registers
  bool count = false;    ///< few of its rows, or queries, would have more threads each
};

/// The needs of each symbol of a kernel that has a schedule, prepared for emission or not. They
/// follow from the kernel and its family alone, not from facts that it has already: a program
/// whose extents nobody knows anything about says which are worth knowing. That a
/// one-dimensional space could end without a tail is not.
llvm::SmallVector<SymbolNeeds> symbolNeeds(KernelOp kernel);

/// What the facts of a kernel add to its name, such as "_s0x8_s1to1024"; nothing where there are
/// none.
std::string factSuffix(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_SHAPEFACTS_H
