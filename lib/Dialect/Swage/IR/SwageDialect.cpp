//===- SwageDialect.cpp - Registration of the swage dialect ---------------===//

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "swage/Dialect/Swage/IR/SwageDialect.cpp.inc"

#include "swage/Dialect/Swage/IR/SwageEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "swage/Dialect/Swage/IR/SwageAttrs.cpp.inc"

void swage::SwageDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "swage/Dialect/Swage/IR/SwageAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "swage/Dialect/Swage/IR/SwageOps.cpp.inc"
      >();
}
