//===- Pipelines.cpp - The order of the passes ----------------------------===//

#include "swage/Pipelines/Pipelines.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"

using namespace mlir;
using namespace swage;

void swage::buildKernelPipeline(OpPassManager &manager, const KernelPipelineOptions &options) {
  // Before anything folds: which values are outputs decides where fused work rounds.
  manager.addNestedPass<func::FuncOp>(createMaterializeResultsPass());
  // Static extents: every later decision is better on them.
  manager.addNestedPass<func::FuncOp>(createInferShapesPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Unfused, an op is what it was written as: recognition would fuse by itself.
  if (options.fuse) {
    manager.addNestedPass<func::FuncOp>(createRecognizePass());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  }
  // What another output has folded into goes on unrounded, as it was written.
  manager.addNestedPass<func::FuncOp>(createMaterializeResultsPass({/*folded=*/true}));
  // Before fusion, so that the first half of a split reduction still takes its producers in.
  manager.addNestedPass<func::FuncOp>(createSplitReducePass({options.arch}));
  manager.addPass(createFusePass({options.fuse}));
  // Scalar bodies: what a graph computes twice, a kernel computes once. Not launches, each of which
  // may write a result of its own.
  manager.addNestedPass<KernelOp>(createCSEPass());
  // After fusion, because one answer must hold for all operands of a kernel.
  manager.addPass(createMergeDimensionsPass());
  manager.addPass(createSelectSchedulePass({options.arch, options.index}));
  if (!options.schedules.empty())
    manager.addPass(createApplySchedulesPass({options.schedules}));
  manager.addPass(createPrepareForEmissionPass({options.arch, options.overlap}));
}

void swage::registerPipelines() {
  PassPipelineRegistration<KernelPipelineOptions>(
      "swage-kernel-pipeline", "From a graph to kernels that are ready to be printed as CUDA",
      buildKernelPipeline);
}
