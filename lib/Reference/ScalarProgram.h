//===- ScalarProgram.h - A region of scalar ops as a function ---*- C++ -*-===//
//
// Registers instead of values: the region's arguments come first, then what it captures, then what
// its ops give. One set of registers serves one thread for many calls.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_REFERENCE_SCALARPROGRAM_H
#define SWAGE_LIB_REFERENCE_SCALARPROGRAM_H

#include "Ops.h"
#include "mlir/IR/Region.h"
#include "mlir/Support/LLVM.h"
#include <vector>

namespace swage::reference {

class ScalarProgram {
public:
  /// The program of a region of one block. `captured` gives values from outside, and of constants
  /// inside. Fails, with an error, at an op that is not known.
  static mlir::FailureOr<ScalarProgram> of(mlir::Region &region,
                                           llvm::function_ref<Value(mlir::Value)> captured);

  /// Registers in which what is captured stands.
  std::vector<Number> makeRegisters() const { return initial; }

  /// The first value yielded, for arguments in the first registers. An element outside of its
  /// tensor is uncertain, like everything that MLIR leaves undefined.
  Number run(std::vector<Number> &registers) const;

private:
  /// A scalar function of registers, or an element of `tensor` at them.
  struct Step {
    Scalar scalar;
    std::optional<Value> tensor;
    llvm::SmallVector<unsigned, 4> operands;
    unsigned result;
  };
  std::vector<Step> steps;
  std::vector<Number> initial;
  unsigned yielded = 0;
};

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_SCALARPROGRAM_H
