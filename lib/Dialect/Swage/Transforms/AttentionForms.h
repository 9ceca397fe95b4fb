//===- AttentionForms.h - One form of attention for kernels -----*- C++ -*-===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ATTENTIONFORMS_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ATTENTIONFORMS_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Brings what frameworks put around attention into it: heads of keys and values that are repeated
/// become groups, masks that the graph computes are computed in the regions, -inf becomes a mask.
void absorbIntoAttention(AttentionOp op);

/// Pattern: attention with n != 1 batch dimensions -> reshape, attention with one, reshape
void mergeBatches(AttentionOp op);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_ATTENTIONFORMS_H
