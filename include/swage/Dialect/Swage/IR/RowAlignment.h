//===- RowAlignment.h - Rows that begin anywhere ----------------*- C++ -*-===//
//
// A row schedule with `aligned` takes a row by vectors that begin where memory is aligned
// (templates/swage/row_aligned.cuh). Its vectors lie in the memory of one operand; others are in step
// with it or not.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_ROWALIGNMENT_H
#define SWAGE_DIALECT_SWAGE_IR_ROWALIGNMENT_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Whether a kernel's rows are such that vectors could be aligned: of one dimension and a fixed
/// length below 2^30, without groups of a last collective, and some operand has rows of its own.
bool isAlignable(KernelOp kernel);

/// One of a kernel's inputs or outputs.
struct OperandRef {
  bool isOutput;
  unsigned position;
  bool operator==(const OperandRef &other) const {
    return isOutput == other.isOutput && position == other.position;
  }
};

/// The operand in whose memory vectors are aligned: the first output that has rows of its own, or else
/// the first such input.
std::optional<OperandRef> alignedOperand(KernelOp kernel);

/// Whether each row of this operand begins with an aligned vector of `vector` elements. isAlignable()
/// holds.
bool beginsAligned(KernelOp kernel, OperandRef operand, int64_t vector);

/// Whether vectors of `vector` elements that are aligned in the memory of alignedOperand() are aligned
/// in this one's too, in every row. isAlignable() holds.
bool isInStep(KernelOp kernel, OperandRef operand, int64_t vector);

/// Whether they are if both tensors begin alike: as far as is known, at any element.
bool mayBeInStep(KernelOp kernel, OperandRef operand, int64_t vector);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_ROWALIGNMENT_H
