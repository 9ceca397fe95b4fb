//===- SwageDialect.cpp - Registration of the swage dialect ---------------===//

#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "swage/Dialect/Swage/IR/SwageDialect.cpp.inc"

#include "swage/Dialect/Swage/IR/SwageEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "swage/Dialect/Swage/IR/SwageAttrs.cpp.inc"

/// A range is one of integers that the argument can hold.
static LogicalResult verifyRange(RankedTensorType type, ArrayRef<int64_t> numbers,
                                 llvm::function_ref<InFlightDiagnostic()> error) {
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (!element || element.getWidth() == 1)
    return error() << "but does not hold integers of 8 bits or more";
  if (numbers.size() != 2)
    return error() << "with " << numbers.size() << " numbers, but it must have two";
  if (numbers[0] > numbers[1])
    return error() << "from " << numbers[0] << " to " << numbers[1] << ", which is empty";
  for (int64_t number : numbers)
    if (!llvm::isIntN(element.getWidth(), number))
      return error() << number << ", which is no " << element;
  return success();
}

/// Promises about extents, and ranges, fit the argument that they are about. What the other
/// attributes say is checked where it is used.
LogicalResult swage::SwageDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                            unsigned argument,
                                                            NamedAttribute attribute) {
  bool isMultiple = attribute.getName() == kMultipleOf;
  if (!isMultiple && attribute.getName() != kAtMost && attribute.getName() != kRange)
    return success();
  auto error = [&] {
    return op->emitOpError() << "argument " << argument << " has " << attribute.getName().getValue()
                             << " ";
  };
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto type =
      function ? dyn_cast<RankedTensorType>(function.getArgumentTypes()[argument]) : nullptr;
  if (!numbers)
    return error() << attribute.getValue() << ", but it must be an array of i64";
  if (!type)
    return error() << "but is no ranked tensor";
  if (attribute.getName() == kRange)
    return verifyRange(type, numbers, error);
  if (numbers.size() != type.getRank())
    return error() << "with " << numbers.size() << " numbers, but has rank " << type.getRank();
  for (auto [dim, number] : llvm::enumerate(numbers.asArrayRef())) {
    if (number < isMultiple)
      return error() << number << " in dimension " << dim << ", but it must be "
                     << (isMultiple ? "positive" : "positive, or 0 for no bound");
    int64_t extent = type.getDimSize(dim);
    if (type.isDynamicDim(dim))
      continue;
    if (isMultiple ? extent % number != 0 : number && extent > number)
      return error() << number << " in dimension " << dim << ", but the extent is " << extent;
  }
  return success();
}

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
