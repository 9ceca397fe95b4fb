//===- Inspect.cpp - Explanations and artifacts of the C API --------------===//

#include "Wrap.h"

using namespace swage;
using namespace swage::capi;

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

namespace {
struct ExplanationObject {
  Explanation explanation;
  std::string guards;
  std::string text;
};
} // namespace

static ExplanationObject *unwrap(SwageExplanation handle) {
  return static_cast<ExplanationObject *>(handle.ptr);
}

SwageError swageProgramExplain(SwageProgram program, SwageDevice device, const SwageShape *shapes,
                               size_t inputCount, SwageExplanation *explanation) {
  if (!explanation)
    return isNull("explanation");
  explanation->ptr = nullptr;
  if (!program.ptr)
    return isNull("program");
  if (!device.ptr)
    return isNull("device");
  const Program &of = *unwrap(program);
  auto inputs = unwrapShapes(of, shapes, inputCount);
  if (!inputs)
    return fail(inputs.takeError());
  auto explained = of.explain(*unwrap(device), *inputs);
  if (!explained)
    return fail(explained.takeError());
  std::string guards = explained->guards.str(of.inputs());
  std::string text = explained->str();
  explanation->ptr =
      new ExplanationObject{std::move(*explained), std::move(guards), std::move(text)};
  return succeed();
}

bool swageExplanationHasPlan(SwageExplanation explanation) {
  return explanation.ptr && unwrap(explanation)->explanation.hasPlan;
}

bool swageExplanationHasVariant(SwageExplanation explanation) {
  return explanation.ptr && unwrap(explanation)->explanation.hasVariant;
}

SwageStringRef swageExplanationGetGuards(SwageExplanation explanation) {
  return explanation.ptr ? wrap(unwrap(explanation)->guards) : swageStringRef("");
}

SwageStringRef swageExplanationGetReason(SwageExplanation explanation) {
  return explanation.ptr ? wrap(unwrap(explanation)->explanation.reason) : swageStringRef("");
}

SwageStringRef swageExplanationGetText(SwageExplanation explanation) {
  return explanation.ptr ? wrap(unwrap(explanation)->text) : swageStringRef("");
}

void swageExplanationDestroy(SwageExplanation explanation) { delete unwrap(explanation); }

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

static Artifact *unwrap(SwageArtifact handle) { return static_cast<Artifact *>(handle.ptr); }

SwageError swageProgramGetArtifact(SwageProgram program, SwageDevice device,
                                   const SwageShape *shapes, size_t inputCount,
                                   SwageArtifact *artifact) {
  if (!artifact)
    return isNull("artifact");
  artifact->ptr = nullptr;
  if (!program.ptr)
    return isNull("program");
  if (!device.ptr)
    return isNull("device");
  auto inputs = unwrapShapes(*unwrap(program), shapes, inputCount);
  if (!inputs)
    return fail(inputs.takeError());
  return finish(unwrap(program)->artifact(*unwrap(device), *inputs), artifact);
}

size_t swageArtifactGetPassCount(SwageArtifact artifact) {
  return artifact.ptr ? unwrap(artifact)->passes.size() : 0;
}

SwageError swageArtifactGetPass(SwageArtifact artifact, size_t index, SwagePass *pass) {
  if (!artifact.ptr)
    return isNull("artifact");
  if (!pass)
    return isNull("pass");
  const auto &passes = unwrap(artifact)->passes;
  if (index >= passes.size())
    return outOfRange(index, passes.size());
  *pass = {wrap(passes[index].first), wrap(passes[index].second)};
  return succeed();
}

size_t swageArtifactGetKernelCount(SwageArtifact artifact) {
  return artifact.ptr ? unwrap(artifact)->kernels.size() : 0;
}

SwageError swageArtifactGetKernel(SwageArtifact artifact, size_t index, SwageKernelInfo *kernel) {
  if (!artifact.ptr)
    return isNull("artifact");
  if (!kernel)
    return isNull("kernel");
  const auto &kernels = unwrap(artifact)->kernels;
  if (index >= kernels.size())
    return outOfRange(index, kernels.size());
  const Artifact::OfKernel &from = kernels[index];
  const SwageStringRef empty = swageStringRef("");
  const KernelBinary *binary = from.info.binary.get();
  SwageKernelInfo to{};
  to.name = wrap(from.info.name);
  to.family = wrap(from.info.family);
  to.schedule = wrap(from.info.schedule);
  to.source = wrap(from.info.source);
  to.ptx = binary ? wrap(binary->ptx) : empty;
  to.sass = wrap(from.sass);
  to.sassProblem = wrap(from.sassProblem);
  to.log = binary ? wrap(binary->log) : empty;
  to.image = binary ? wrap(binary->image) : empty;
  to.key = wrap(from.key);
  to.threads = from.info.threads;
  to.indexBits = uint32_t(from.info.indexBits);
  to.sharedBytes = from.info.dynamicSharedBytes;
  if (binary) {
    to.registers = uint32_t(binary->resources.registers);
    to.spillBytes = uint32_t(binary->resources.spillStores + binary->resources.spillLoads);
    to.sharedBytes += uint32_t(binary->resources.sharedBytes);
  }
  return writeStruct(to, kernel, "SwageKernelInfo");
}

double swageArtifactGetLowerMilliseconds(SwageArtifact artifact) {
  return artifact.ptr ? unwrap(artifact)->lowerMilliseconds : 0;
}

double swageArtifactGetCompileMilliseconds(SwageArtifact artifact) {
  return artifact.ptr ? unwrap(artifact)->compileMilliseconds : 0;
}

void swageArtifactDestroy(SwageArtifact artifact) { delete unwrap(artifact); }
