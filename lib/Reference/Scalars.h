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

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_SCALARS_H
