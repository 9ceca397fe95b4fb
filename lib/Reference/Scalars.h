//===- Scalars.h - arith and math ops as scalar functions -------*- C++ -*-===//

#ifndef SWAGE_LIB_REFERENCE_SCALARS_H
#define SWAGE_LIB_REFERENCE_SCALARS_H

#include "Ops.h"
#include "mlir/IR/Operation.h"

namespace swage::reference {

/// f64 where an operand or result is f64.
Precision precisionOf(mlir::Operation *op);

/// The scalar function of an elementwise op, or null for every other op.
Scalar scalarOf(mlir::Operation *op, Precision precision);

/// Whether a tensor is made of elements of 8 bits by conversions, products and moves.
bool isMadeOf8Bits(mlir::Value value);
/// A cast of keys or values that are made of 8 bits rounds them for storage, as an operand's type
/// does: kernels that multiply the 8 bits and take the factors behind the sums have no use for it.
/// Null for any other op.
Scalar roundingOfCache(mlir::Operation *op);

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_SCALARS_H
