//===- RowBounds.h - What a mask leaves of a row ----------------*- C++ -*-===//
//
// A mask that compares the position in the row with something that is the same for the whole row
// (the row's own position, a length) leaves one range of the row, which is known before anything is
// read. So does one that compares the position divided by a constant (blocks), or the distance to
// the row's own without its sign.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_ANALYSIS_ROWBOUNDS_H
#define SWAGE_DIALECT_SWAGE_ANALYSIS_ROWBOUNDS_H

#include "mlir/IR/Builders.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Two i64 of the kernel's body that do not vary in the row: outside of positions first to last - 1
/// the collective's operand is -inf. Null where nothing bounds that side.
struct RowBounds {
  mlir::Value first, last;
  RowBounds() = default;
  RowBounds(mlir::Value first, mlir::Value last) : first(first), last(last) {}
  /// Of attention: the collective's operand at positions within the bounds of all rows at hand.
  mlir::Value inside;
  /// Of attention: whether a bound may fall from a query to the next, as what is read may.
  bool isScattered = false;
  /// Of attention: i64 that do not vary along keys, or along queries, and are equal wherever the
  /// operand is not -inf; and the operand within the bounds where they are. Or null.
  mlir::Value ofQuery, ofKey, alike;
  explicit operator bool() const { return first || last; }
};

/// The bounds that a softmax kernel's mask sets, if any, with what computes them built at
/// `builder`. Elements beyond the bounds are -inf whatever the kernel reads there, so they need not
/// be read.
RowBounds rowBounds(KernelOp kernel, mlir::OpBuilder &builder);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_ANALYSIS_ROWBOUNDS_H
