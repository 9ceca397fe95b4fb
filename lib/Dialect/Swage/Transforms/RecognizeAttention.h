//===- RecognizeAttention.h - Decomposed attention --------------*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_RECOGNIZEATTENTION_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_RECOGNIZEATTENTION_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Replaces the result of a product of weights and values by that of an attention, if it is one.
/// Says in a remark what it did, or what kept it from that. What has no uses any more stays.
void recognizeAttention(MatmulOp product);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_RECOGNIZEATTENTION_H
