//===- Slicer.h - A range of one axis of a value ----------------*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SLICER_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SLICER_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// The part of a concatenation that so many elements along an axis are, or null.
mlir::Value partOf(ConcatOp concat, int64_t axis, int64_t from, int64_t size);

/// Gives `size` elements along an axis, from `from` on, of values of one shape, whose extent there
/// is static. Of what is computed by elementwise ops for one reader alone these are computed, so
/// that no reader of a part waits for all of it.
struct Slicer {
  mlir::OpBuilder &builder;
  int64_t axis, from, size;
  size_t copies = 0; ///< ops that were computed for the range

  mlir::Value of(mlir::Value value, int depth = 0);
  /// Of an elementwise op's result, however many read that.
  mlir::Value compute(mlir::Operation *op, int depth = 0);
};

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SLICER_H
