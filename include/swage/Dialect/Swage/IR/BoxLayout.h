//===- BoxLayout.h - Boxes of a permutation ---------------------*- C++ -*-===//
//
// What follows from the box of a schedule (templates/swage/permute_boxes.cuh): what a block reads
// and writes in one piece, what of that is aligned, and where elements lie in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_BOXLAYOUT_H
#define SWAGE_DIALECT_SWAGE_IR_BOXLAYOUT_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// A permutation in numbers, dimensions in the order of the output.
struct BoxProblem {
  struct Side {
    llvm::SmallVector<int64_t> strides; ///< in elements
    int64_t bytes;                      ///< of an element
    bool beginsAligned;                 ///< the first element, at a multiple of 16 bytes
  };
  llvm::SmallVector<int64_t> extents; ///< 0: known at run time
  Side in, out;
  llvm::SmallVector<int64_t> readOrder; ///< dimensions by the input's strides, smallest first

  /// The kernel's, if it is one that boxes can move: no collective, one input and one output of 1,
  /// 2, 4 or 8 bytes an element in memory, constant positive strides, each contiguous along some
  /// dimension, the output along the last one.
  static std::optional<BoxProblem> of(KernelOp kernel);

  /// Dimensions by the output's strides: the last one first.
  llvm::SmallVector<int64_t> writeOrder() const;
  unsigned rank() const { return unsigned(extents.size()); }
  /// Elements of a vector of the output.
  int64_t vector() const { return 16 / out.bytes; }
};

struct BoxLayout {
  llvm::SmallVector<int64_t> reach;    ///< extents of what a block reads
  llvm::SmallVector<int64_t> steps;    ///< bytes in shared memory between neighbours
  unsigned readRun, writeRun;          ///< dimensions of what is in one piece
  int64_t readElements, writeElements; ///< of such a piece
  bool readAligned, writeAligned;
  int64_t sharedBytes;

  static BoxLayout of(const BoxProblem &problem, llvm::ArrayRef<int64_t> box, bool skewed);
};

/// Where a place in shared memory is with the bytes that `skewed` leaves free.
int64_t skewedPlace(const BoxProblem &problem, int64_t place);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_BOXLAYOUT_H
