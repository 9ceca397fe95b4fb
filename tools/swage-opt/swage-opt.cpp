//===- swage-opt.cpp - Runs passes over Swage modules ---------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "swage/Pipelines/Pipelines.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect, swage::SwageDialect>();
  mlir::registerTransformsPasses();
  swage::registerSwagePasses();
  swage::registerPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Swage optimizer\n", registry));
}
