//===- ProgramIR.h - The module behind a Program --------------------------===//
//
// For tools that hand the graph to the reference interpreter.  Hosts need Program.h only.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_JIT_PROGRAMIR_H
#define SWAGE_JIT_PROGRAMIR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "swage/JIT/Program.h"

#include <mutex>
#include <string>
#include <vector>

namespace swage {

/// Behind Program::ir.
struct ProgramIR {
  ProgramIR() : context(mlir::MLIRContext::Threading::DISABLED) {}

  mlir::MLIRContext context;
  /// Held by whatever touches the context: it is not safe to use from several threads.
  std::mutex mutex;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp entry;
  std::string entryName;
  std::string filename;
  std::string text; ///< that the module was parsed from
  std::vector<TensorType> inputs, results;
};

/// Collects what a context reports: errors, with notes and locations, and remarks.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);

  std::string errors; ///< "file:line:column: message", one a line
  std::vector<std::string> remarks;

  /// The errors as one; `otherwise` where a failure left none.
  Error take(Stage stage, const std::string &otherwise) const;

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// "file:line:column", or "" for an unknown place.
std::string describeLocation(mlir::Location location);

/// The type of a tensor that Swage computes with; an error names `what`.
Expected<TensorType> tensorTypeOf(mlir::Type type, const std::string &what);

} // namespace swage

#endif // SWAGE_JIT_PROGRAMIR_H
