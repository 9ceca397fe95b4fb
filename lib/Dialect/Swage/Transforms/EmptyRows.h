//===- EmptyRows.h - Rows that are -inf throughout --------------*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_EMPTYROWS_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_EMPTYROWS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace swage {

/// Whether `condition` is `whenEmpty` for exactly those rows of x, along its last dimension, that
/// are -inf throughout. `ops` takes the ops that it is made by.
bool tellsEmptyRows(mlir::Value condition, bool whenEmpty, mlir::Value x,
                    llvm::SmallPtrSetImpl<mlir::Operation *> &ops);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_EMPTYROWS_H
