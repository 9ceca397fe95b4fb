//===- Interpreter.h - The oracle -------------------------------*- C++ -*-===//
//
// Evaluates a graph-level function in f64, with the error that a kernel may make and the result of
// an honest f32 evaluation next to each element. Knows the ops' definitions and the precision rule,
// and nothing of how kernels are made: it judges them.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_INTERPRETER_H
#define SWAGE_REFERENCE_INTERPRETER_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Types.h"
#include "swage/Reference/Value.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace swage::reference {

struct EvaluateOptions {
  /// "line:column" of graph values that the compiler stores between two kernels in their element
  /// type: their honest evaluation is rounded, and their error grows by that rounding. The
  /// reference stays as it is.
  std::set<std::string> stored;

  /// Evaluation fails, before it allocates, where live values would take more bytes than this.
  int64_t memoryLimit = int64_t(64) << 30;
};

/// The values of the function's results. Dynamic extents come from the inputs. Wrong inputs and
/// unknown ops are reported as errors at their location.
mlir::FailureOr<std::vector<Value>> evaluate(mlir::func::FuncOp function,
                                             llvm::ArrayRef<const Tensor *> inputs,
                                             const EvaluateOptions &options = {});

/// The element type, or nullopt for types that no tensor of ours holds. `index` is I64.
std::optional<ElementType> elementTypeOf(mlir::Type type);

/// "line:column" of the file location inside `location`, or "".
std::string lineAndColumn(mlir::Location location);

} // namespace swage::reference

#endif // SWAGE_REFERENCE_INTERPRETER_H
