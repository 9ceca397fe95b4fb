//===- TileProblem.h - What tiles turn --------------------------*- C++ -*-===//
//
// What follows for templates/swage/permute.cuh from a kernel and the dimension that it transposes.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_TILEPROBLEM_H
#define SWAGE_DIALECT_SWAGE_IR_TILEPROBLEM_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// The last `merged` dimensions may be one for tiles, where all sizes are constants, all operands
/// are in memory, inputs are turned, and what is not turned lies along these dimensions as their
/// points are counted, or is the same along all of them.  What is turned is found by division: so
/// neighbouring elements of the result make whole rows of a tile however short the last extent is.
/// (What lies so in every operand is one dimension already, by --swage-merge-dimensions.)
struct TileProblem {
  mutable KernelOp kernel;
  unsigned in;
  int64_t merged;
  int64_t widest = 1;     ///< bytes of the widest element that is turned
  int64_t bytes = 0;      ///< of all that are turned at one place
  /// Whether inputs are turned, or outputs: one of both.
  bool areInputs = false, areOutputs = false;

  /// Operands that are contiguous along `in` and move along the innermost dimension.
  static TileProblem of(KernelOp kernel, unsigned in, int64_t merged = 1);
  /// The same with as many of the last dimensions merged as can be one.
  static TileProblem merging(KernelOp kernel, unsigned in);

  bool isTurned(ViewAttr view) const;
  /// Whether so many dimensions can be one; always where it is 1.
  bool canMerge() const;
  /// Whether vectors of so many elements cover the innermost dimension, and what is not turned can
  /// be read and written by them.
  bool fitsOut(int64_t vector) const;
  /// The longest of these vectors, of up to 16 bytes of the widest element.
  int64_t vectorOut() const;
  /// The iteration space with the merged dimensions as one, and a view's offset there.
  llvm::SmallVector<mlir::AffineExpr> extents() const;
  mlir::AffineExpr offset(ViewAttr view) const;

  /// Micro-blocks that go through registers and vectors on the other side of shared memory: each
  /// thread takes as many of a tile.
  std::pair<int64_t, int64_t> shares(int64_t tileIn, int64_t tileOut, int64_t vectorIn,
                                     int64_t vectorOut) const;
};

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_TILEPROBLEM_H
