//===- LaunchGeometry.h - What a schedule makes of a launch -----*- C++ -*-===//
#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_LAUNCHGEOMETRY_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_LAUNCHGEOMETRY_H

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Support/DeviceProperties.h"

namespace swage {

/// Blocks, threads, clusters, spaces and memory of a kernel's launch, as its schedule and its
/// iteration space have them; nothing else may decide them. It has a schedule that fits it.
LaunchAttr geometryOf(KernelOp kernel, const DeviceProperties &device);

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_LAUNCHGEOMETRY_H
