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

/// A permutation in numbers, dimensions in the order of the outputs.
struct BoxProblem {
  struct Side {
    llvm::SmallVector<int64_t> strides; ///< in elements
    int64_t bytes;                      ///< of an element
    bool beginsAligned;                 ///< the first element, at a multiple of 16 bytes
  };
  /// An input that goes through shared memory.
  struct Input : Side {
    unsigned position;                    ///< in the kernel
    llvm::SmallVector<int64_t> readOrder; ///< dimensions by strides, smallest first, 0 last
  };
  llvm::SmallVector<int64_t> extents; ///< 0: known at run time
  llvm::SmallVector<Input> inputs;    ///< full ones first, then those that have most to read
  Side out;                           ///< of several outputs the one of widest elements

  /// The kernel's, if it is one that boxes can move: no collective, elements of 1, 2, 4 or 8 bytes
  /// in memory with constant strides, the outputs' positive, the same for all and 1 along the last
  /// dimension, and an input that does not lie as they do and moves along all dimensions.
  static std::optional<BoxProblem> of(KernelOp kernel);

  const Input &principal() const { return inputs.front(); }
  /// The numbers of a kernel's input, if it goes through shared memory.
  const Input *find(unsigned position) const;
  /// Dimensions by the output's strides: the last one first.
  llvm::SmallVector<int64_t> writeOrder() const;
  unsigned rank() const { return unsigned(extents.size()); }
  /// Elements of a vector of the outputs.
  int64_t vector() const { return 16 / out.bytes; }
};

/// What a block has of an input in shared memory.
struct BoxPart {
  llvm::SmallVector<int64_t> steps; ///< bytes between neighbours, 0 where there are none
  unsigned readRun;                 ///< dimensions of what is in one piece
  int64_t readElements;             ///< of such a piece
  bool readAligned;
  int64_t elements, sharedBytes; ///< of all pieces
};

struct BoxLayout {
  llvm::SmallVector<int64_t> reach; ///< extents of what a block reads
  /// Dimensions of what is in one piece, or fewer where pieces can be turned along the next one.
  unsigned writeRun;
  int64_t writeElements; ///< of such a piece
  bool writeAligned;
  llvm::SmallVector<BoxPart> parts; ///< one for each of the problem's inputs
  bool straight;                    ///< a window lies along one dimension, in whole vectors of it
  bool tabled; ///< the places of a window's elements come from a table in shared memory
  /// How many write runs are one thread's: those of which elements that neighbour each other in the
  /// principal input are a word, or 1. `split`: such words begin anywhere, and of the last ones
  /// some runs may not exist. `apart`: the outputs' stride between them.
  int64_t turned = 1, apart = 0;
  bool split = false;
  int64_t sharedBytes = 0;

  const BoxPart &principal() const { return parts.front(); }
  /// The runs of one thread along a dimension outside of them.
  int64_t runsOfThread(const BoxProblem &problem, int64_t dim) const {
    return dim == problem.principal().readOrder.front() ? turned : 1;
  }
  /// What threads count along it.
  int64_t groups(const BoxProblem &problem, llvm::ArrayRef<int64_t> box, int64_t dim) const {
    return llvm::divideCeil(box[dim], runsOfThread(problem, dim));
  }

  /// With `skewed` that of the principal input is.
  static BoxLayout of(const BoxProblem &problem, llvm::ArrayRef<int64_t> box, bool skewed);
};

/// Where a place in shared memory is with the bytes that `skewed` leaves free.
int64_t skewedPlace(const BoxProblem::Side &side, int64_t place);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_BOXLAYOUT_H
