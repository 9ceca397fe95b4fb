//===- TensorTiles.h - Views that are moved in boxes ----------------------===//
#ifndef SWAGE_DIALECT_SWAGE_IR_TENSORTILES_H
#define SWAGE_DIALECT_SWAGE_IR_TENSORTILES_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"

namespace swage {

/// Elements that a copy moves along one dimension at most.
inline constexpr int64_t kMostBox = 256;

/// Why the copy engine could not move a view of the kernel as the tiles of its geometry say; empty
/// if it can, as far as is known without the runtime sizes (TensorTile::encode looks at the rest).
std::string findBadTile(KernelOp kernel);

} // namespace swage

#endif // SWAGE_DIALECT_SWAGE_IR_TENSORTILES_H
