//===- ReferenceGraph.h - Small graphs for tests of the oracle --*- C++ -*-===//

#ifndef SWAGE_TEST_UNIT_REFERENCEGRAPH_H
#define SWAGE_TEST_UNIT_REFERENCEGRAPH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Reference/InputFamilies.h"
#include "swage/Reference/Interpreter.h"
#include <vector>

namespace swage::reference::test {

inline Tensor makeTensor(ElementType type, llvm::ArrayRef<int64_t> shape) {
  return llvm::cantFail(Tensor::create(type, shape));
}

inline Tensor makeTensor(ElementType type, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<double> elements) {
  Tensor tensor = makeTensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (isFloat(type))
      tensor.setReal(i, elements[i]);
    else
      tensor.setInteger(i, static_cast<int64_t>(elements[i]));
  }
  return tensor;
}

inline Tensor makeInput(ElementType type, llvm::ArrayRef<int64_t> shape, InputFamily family,
                        uint64_t stream = 0, uint64_t seed = 1) {
  Tensor tensor = makeTensor(type, shape);
  fillInput(tensor, family, seed, stream);
  return tensor;
}

/// 0, 1, 2, ...
inline Tensor makeIota(ElementType type, llvm::ArrayRef<int64_t> shape) {
  Tensor tensor = makeTensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (isFloat(type))
      tensor.setReal(i, static_cast<double>(i));
    else
      tensor.setInteger(i, i);
  }
  return tensor;
}

/// One function, its diagnostics and its evaluation.
class Graph {
public:
  explicit Graph(llvm::StringRef text)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          message += lineAndColumn(diagnostic.getLocation()) + " " + diagnostic.str() + "\n";
          return mlir::success();
        }) {
    context.loadDialect<SwageDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::math::MathDialect, mlir::tensor::TensorDialect>();
    context.allowUnregisteredDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  /// The results; none after an error, whose text is then in `message`.
  std::vector<Value> run(llvm::ArrayRef<const Tensor *> inputs,
                         const EvaluateOptions &options = {}) {
    if (!module)
      return {};
    auto results = evaluate(function(), inputs, options);
    return mlir::failed(results) ? std::vector<Value>() : std::move(*results);
  }

  /// The function, or null where the text is not right.
  mlir::func::FuncOp function() {
    return module ? *module->getOps<mlir::func::FuncOp>().begin() : mlir::func::FuncOp();
  }

  std::string message;

private:
  mlir::MLIRContext context;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

inline std::vector<double> references(const Value &value) {
  std::vector<double> elements;
  for (int64_t i = 0; i < value.size(); ++i)
    elements.push_back(isFloat(value.type()) ? value.reference(i)
                                             : static_cast<double>(value.load(i).integer));
  return elements;
}

} // namespace swage::reference::test

#endif // SWAGE_TEST_UNIT_REFERENCEGRAPH_H
