//===- ScalarProgram.cpp - A region of scalar ops as a function -----------===//

#include "ScalarProgram.h"
#include "Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace swage::reference {

FailureOr<ScalarProgram> ScalarProgram::of(Region &region,
                                           llvm::function_ref<Value(mlir::Value)> captured) {
  ScalarProgram program;
  llvm::DenseMap<mlir::Value, unsigned> registers;
  auto add = [&](mlir::Value value, const Number &number) {
    program.initial.push_back(number);
    return registers[value] = static_cast<unsigned>(program.initial.size()) - 1;
  };
  auto registerOf = [&](mlir::Value value) {
    auto found = registers.find(value);
    return found != registers.end() ? found->second : add(value, captured(value).load(0));
  };
  Block &block = region.front();
  for (BlockArgument argument : block.getArguments())
    add(argument, {});
  for (Operation &op : block.without_terminator()) {
    if (isa<arith::ConstantOp>(op))
      continue;
    Step step;
    ValueRange operands = op.getOperands();
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      step.tensor = captured(extract.getTensor());
      operands = extract.getIndices();
    } else if (!(step.scalar = scalarOf(&op, precisionOf(&op)))) {
      return op.emitOpError("is not known to the reference");
    }
    for (mlir::Value operand : operands)
      step.operands.push_back(registerOf(operand));
    step.result = add(op.getResult(0), {});
    program.steps.push_back(std::move(step));
  }
  program.yielded = registerOf(block.getTerminator()->getOperand(0));
  return program;
}

/// The element at the coordinates, or an uncertain one where there is none.
static Number elementAt(const Value &tensor, llvm::ArrayRef<Number> coordinates) {
  int64_t at = 0;
  bool isThere = true;
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, tensor.shape())) {
    isThere &= coordinate.error == 0 && coordinate.integer >= 0 && coordinate.integer < extent;
    at = at * extent + coordinate.integer;
  }
  Number nothing;
  nothing.error = kUncertain;
  return isThere ? tensor.load(at) : nothing;
}

Number ScalarProgram::run(std::vector<Number> &registers) const {
  llvm::SmallVector<Number, 8> operands;
  for (const Step &step : steps) {
    operands.clear();
    for (unsigned operand : step.operands)
      operands.push_back(registers[operand]);
    registers[step.result] =
        step.tensor ? elementAt(*step.tensor, operands) : step.scalar(operands.data());
  }
  return registers[yielded];
}

} // namespace swage::reference
