//===- TileProblem.h - What tiles turn --------------------------*- C++ -*-===//
//
// What follows for templates/swage/permute.cuh from a kernel and the dimension that it transposes.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_TILEPROBLEM_H
#define SWAGE_DIALECT_SWAGE_IR_TILEPROBLEM_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

struct TileProblem {
  int64_t widest = 1;     ///< bytes of the widest element that is turned
  int64_t bytes = 0;      ///< of all that are turned at one place
  bool areInputs = false; ///< rather than outputs

  /// Operands that are contiguous along `in` and move along the innermost dimension.
  static TileProblem of(KernelOp kernel, unsigned in);

  /// Micro-blocks that go through registers and vectors on the other side of shared memory: each
  /// thread takes as many of a tile.
  std::pair<int64_t, int64_t> shares(int64_t tileIn, int64_t tileOut, int64_t vectorIn,
                                     int64_t vectorOut) const;
};

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_TILEPROBLEM_H
