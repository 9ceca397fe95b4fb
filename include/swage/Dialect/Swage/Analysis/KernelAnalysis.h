//===- KernelAnalysis.h - What a kernel moves, and how ----------*- C++ -*-===//
//
// Questions about one kernel that fusion, merging, scheduling and the tools all ask.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_KERNELANALYSIS_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_KERNELANALYSIS_H

#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "llvm/ADT/SetVector.h"
#include <string>

namespace swage {

/// The templates, by what they are good at.
enum class Family {
  Pointwise, ///< no collective, every operand walks the innermost dimension of the outputs or
             ///< stands still along it
  Runs, ///< the same, nothing computed, and the outer dimensions in another order: a permutation by
        ///< runs
  Tiles, ///< no collective, some inputs and outputs are contiguous along different dimensions
  Row, ///< a collective over the dimension along which the operands are contiguous, or a norm over
       ///< another
  Reduce,   ///< sum, max, min or mean over dimensions along which the operands are not contiguous
  Attention ///< two contractions, and a softmax between them
};

/// The dimension along which a view is contiguous, if there is one with more than one element.
std::optional<unsigned> contiguousDim(KernelOp kernel, ViewAttr view);

/// Whether a view changes along some reduced dimension.
bool variesInRow(KernelOp kernel, ViewAttr view);

/// Whether a scalar of a kernel body is computed from `source`.
bool dependsOn(mlir::Value value, mlir::Value source);

/// Whether a scalar of a kernel body does not vary along a dimension of its own; what the kernel
/// sums over or takes of a row does not count as such.
bool isSameAlong(KernelOp kernel, mlir::Value value, unsigned dim);
/// The same of a kernel that is being built, which has these inputs.
bool isSameAlong(llvm::ArrayRef<mlir::Attribute> inputs, mlir::Value value, unsigned dim);

/// The dimension along which the outputs (or, in a collective kernel, the operands that vary in a
/// row) are contiguous.
std::optional<unsigned> principalDim(KernelOp kernel);

/// For `Tiles`: the dimension along which the transposed inputs, or outputs, are contiguous.
std::optional<unsigned> transposedDim(KernelOp kernel);

Family familyOf(KernelOp kernel);

/// How many collectives of a kernel there are up to the last one that a value is made of.
unsigned collectivesBehind(KernelOp kernel, mlir::Value value);

/// The phase of a kernel with a collective that writes an output, before the phases are made.
Phase phaseOf(KernelOp kernel, unsigned output);
/// Of an output that `between` writes, which of these phases: 0 is in front of the second
/// collective.
unsigned betweenOf(KernelOp kernel, unsigned output);

/// The per-element value that the template hands to `between` or `epilogue`: the result for the
/// element of the collective before, or its operand where it has none. In attention the weighted
/// values; and to `prologue` and `inside`, the scores.
mlir::Value handedElement(KernelOp kernel, Phase phase, unsigned between = 0);

/// The row results that the template can hand to a phase.
llvm::SmallVector<mlir::Value> handedStatistics(KernelOp kernel, Phase phase, unsigned between = 0);

/// The inputs that the phase that makes a value reads for it, beside what it is handed.
llvm::SetVector<unsigned> inputsRead(KernelOp kernel, mlir::Value value, Phase phase,
                                     unsigned between = 0);

/// Whether a value is computed from one of `sources` other than through one of `given`.
bool dependsOnBeside(mlir::Value value, mlir::ValueRange sources, mlir::ValueRange given);

/// Why no template serves this kernel well; empty if one does.
std::string accessProblem(KernelOp kernel);

/// Least number of bytes that the kernel moves: every tensor's touched part once. An expression
/// over the kernel's sizes.
mlir::AffineExpr bytesMoved(KernelOp kernel);

/// What an index must hold: the largest element offset of each operand, and the number of kept and
/// of reduced positions, over the kernel's sizes.
llvm::SmallVector<mlir::AffineExpr> largestOffsets(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_KERNELANALYSIS_H
