//===- Pipelines.h - The order of the passes --------------------*- C++ -*-===//

#ifndef SWAGE_PIPELINES_PIPELINES_H
#define SWAGE_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "swage/Support/Options.h"
#include <string>

namespace swage {

struct KernelPipelineOptions : mlir::PassPipelineOptions<KernelPipelineOptions> {
  Option<std::string> arch{*this, "arch", llvm::cl::desc("GPU whose properties count"),
                           llvm::cl::init("sm_90a")};
  Option<int64_t> index{*this, "index",
                        llvm::cl::desc("index width in bits; 0 for the least that is enough"),
                        llvm::cl::init(0)};
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("group ops; otherwise one kernel an op"),
                    llvm::cl::init(true)};
  Option<Overlap> overlap{
      *this, "overlap", llvm::cl::desc("which kernels may overlap those before them"),
      llvm::cl::init(Overlap::Auto),
      llvm::cl::values(clEnumValN(Overlap::Off, "off", "none"), clEnumValN(Overlap::On, "on", "all"),
                       clEnumValN(Overlap::Auto, "auto", "those that are over soon"))};
  Option<std::string> schedules{
      *this, "schedules", llvm::cl::desc("kernel=schedule;... instead of the selected ones")};
};

/// From a graph to kernels that are ready to be printed as CUDA.
void buildKernelPipeline(mlir::OpPassManager &manager, const KernelPipelineOptions &options);

/// Makes it `--swage-kernel-pipeline`.
void registerPipelines();

} // namespace swage

#endif // SWAGE_PIPELINES_PIPELINES_H
