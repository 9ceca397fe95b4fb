//===- RestateElements.h - Elements from row results ------------*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_RESTATEELEMENTS_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_RESTATEELEMENTS_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// A phase is handed the elements of the collective before it alone. Those of earlier ones, where
/// it needs them, are made again in the kernel's body: of the collective's operand and its row
/// results, by the collective's own formula.
void restateElements(KernelOp kernel);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_RESTATEELEMENTS_H
