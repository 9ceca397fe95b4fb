//===- swage-opt.cpp - Runs passes over Swage modules ---------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "swage/Pipelines/Pipelines.h"
#include "swage/Support/TextGuard.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static LogicalResult run(int argc, char **argv, DialectRegistry &registry) {
  auto [inputName, outputName] =
      registerAndParseCLIOptions(argc, argv, "Swage optimizer\n", registry);
  llvm::InitLLVM init(argc, argv);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(argc, argv, inputName, outputName, registry);

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &message);
  if (!input) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  // MLIR's parser is not safe on text from outside by itself.
  llvm::StringRef text = input->getBuffer();
  swage::Status guarded =
      swage::guardText({text.data(), text.size()}, inputName == "-" ? "<stdin>" : inputName);
  if (!guarded) {
    llvm::errs() << guarded.error().message << "\n";
    return failure();
  }
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputName, &message);
  if (!output) {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, tensor::TensorDialect,
                  swage::SwageDialect>();
  registerTransformsPasses();
  swage::registerSwagePasses();
  swage::registerPipelines();
  return asMainReturnCode(run(argc, argv, registry));
}
