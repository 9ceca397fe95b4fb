//===- EmitCuda.cpp - A prepared kernel as CUDA source --------------------===//

#include "swage/Codegen/EmitCuda.h"
#include "SpecEmitter.h"

using namespace mlir;
using namespace swage;

FailureOr<KernelSource> swage::emitCuda(KernelOp kernel) {
  codegen::SourceText text;
  if (failed(codegen::SpecEmitter(kernel, text).emit()))
    return failure();
  return KernelSource{kernel.getSymName().str(), text.take()};
}
