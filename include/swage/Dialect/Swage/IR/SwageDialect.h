//===- SwageDialect.h - The swage dialect in C++ ----------------*- C++ -*-===//
//
// Everything that TableGen makes of SwageDialect.td, SwageAttrs.td and SwageOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_DIALECT_SWAGE_IR_SWAGEDIALECT_H
#define SWAGE_DIALECT_SWAGE_IR_SWAGEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "swage/Dialect/Swage/IR/SwageDialect.h.inc"

#include "swage/Dialect/Swage/IR/SwageEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "swage/Dialect/Swage/IR/SwageAttrs.h.inc"

namespace swage {
class CollectiveOp;
class PhaseOp;

/// The most threads that share what neighbouring columns have of a row: those of one warp merge it,
/// four each (templates/swage/position_exchange.cuh).
constexpr int64_t kMostThreadRows = 128;

/// The most blocks of a cluster.
constexpr int64_t kLargestCluster = 16;

/// The most states of a position that a thread of a crowd of columns looks for, and reads at a time
/// (templates/swage/column_crowd.cuh).
constexpr int64_t kMostLooks = 8;

/// Offsets that a block may form beyond the last element; no more elements of a column are taken at
/// a time. (lib/Runtime/Layout.cpp, without MLIR, has it as well.)
constexpr int64_t kOvershoot = 1 << 20;

/// The most scratch memory that a launch is given.
constexpr int64_t kMostScratch = 1 << 30;

/// Bytes of one element in memory; i1 takes one.
int64_t elementBytes(mlir::Type element);

/// Whether what an output yields is the number of a row of the output in front of it.
inline bool isRow(Source source) {
  return source == Source::Row || source == Source::CircularRow || source == Source::PagedRow;
}
/// Whether a view is of one of the launch's tensors.
inline bool hasTensor(Source source) {
  return source != Source::Coordinate && source != Source::Shared;
}
/// Whether a kernel has a parameter for a view.
inline bool hasParameter(Source source) { return hasTensor(source) && !isRow(source); }
/// Whether a phase yields the logarithm of a weight, of scores within its reach.
inline bool isExponent(Phase kind) {
  return kind == Phase::Exponent || kind == Phase::NearExponent;
}

/// Bits of the offsets that a schedule of any family counts in; 32 of what is none.
int64_t indexBitsOf(mlir::Attribute schedule);

/// Whether a collective gives each element a value of its own: norms and softmax.
bool hasElementResult(Collective kind);
/// Whether it is LayerNorm or RMSNorm.
bool isNorm(Collective kind);
/// How many results a collective has that are the same for the whole row: its statistics.
unsigned statisticsOf(Collective kind);

/// The most collectives that a kernel has over its rows.
constexpr unsigned kMaxCollectives = 4;
} // namespace swage

#define GET_OP_CLASSES
#include "swage/Dialect/Swage/IR/SwageOps.h.inc"

#endif // SWAGE_DIALECT_SWAGE_IR_SWAGEDIALECT_H
