//===- Program.cpp - Programs and plans of the C API ----------------------===//

#include "Wrap.h"

using namespace swage;
using namespace swage::capi;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Expected<std::vector<Dims>> capi::unwrapShapes(const Program &program, const SwageShape *shapes,
                                               size_t count) {
  const std::vector<TensorType> &inputs = program.inputs();
  if (count != inputs.size())
    return makeError(Stage::Input, fmt::format("{} shapes were given, needed: one for each of the "
                                               "{} inputs of '{}'",
                                               count, inputs.size(), program.name()));
  if (!shapes && count)
    return makeError(Stage::Input, "'shapes' is null");
  std::vector<Dims> result(count);
  for (size_t i = 0; i < count; ++i) {
    const SwageShape &shape = shapes[i];
    // Before anything is read: a wrong rank is a wrong number of extents in memory.
    if (shape.rank != inputs[i].shape.size())
      return makeError(Stage::Input,
                       fmt::format("the shape of input {} has rank {}, needed: {} ({})", i,
                                   shape.rank, inputs[i].shape.size(), inputs[i].str()));
    if (!shape.extents && shape.rank)
      return makeError(Stage::Input, fmt::format("the extents of input {} are null", i));
    result[i].assign(shape.extents, shape.extents + shape.rank);
  }
  return result;
}

Expected<std::vector<std::vector<Dims>>>
capi::unwrapShapeSets(const Program &program, const SwageShape *shapes, size_t setCount) {
  size_t inputCount = program.inputs().size();
  if (!shapes && setCount && inputCount)
    return makeError(Stage::Input, "'shapes' is null");
  std::vector<std::vector<Dims>> sets;
  for (size_t i = 0; i < setCount; ++i) {
    auto set = unwrapShapes(program, shapes + i * inputCount, inputCount);
    if (!set) {
      Error error = set.takeError();
      error.message = fmt::format("set {}: {}", i, error.message);
      return error;
    }
    sets.push_back(std::move(*set));
  }
  return sets;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

SwageError swageProgramLoad(SwageContext context, SwageStringRef path, SwageProgram *program) {
  if (!program)
    return isNull("program");
  program->ptr = nullptr;
  if (!context.ptr)
    return isNull("context");
  return finish(Program::load(std::string(unwrap(path)), unwrap(context)->context), program);
}

SwageError swageProgramSave(SwageProgram program, SwageStringRef path, const SwageStringRef *archs,
                            size_t archCount, const SwageShape *shapes, size_t setCount) {
  if (!program.ptr)
    return isNull("program");
  if (!archs && archCount)
    return isNull("archs");
  std::vector<std::string> names;
  for (size_t i = 0; i < archCount; ++i)
    names.emplace_back(unwrap(archs[i]));
  auto sets = unwrapShapeSets(*unwrap(program), shapes, setCount);
  if (!sets)
    return fail(sets.takeError());
  return finish(unwrap(program)->save(std::string(unwrap(path)), names, *sets));
}

void swageProgramDestroy(SwageProgram program) { delete unwrap(program); }

size_t swageProgramGetInputCount(SwageProgram program) {
  return program.ptr ? unwrap(program)->inputs().size() : 0;
}

size_t swageProgramGetResultCount(SwageProgram program) {
  return program.ptr ? unwrap(program)->results().size() : 0;
}

static SwageError getType(const std::vector<TensorType> &types, size_t index, SwageTensorType *type,
                          const char *function) {
  if (!type)
    return isNull("type", function);
  if (index >= types.size())
    return outOfRange(index, types.size(), function);
  const TensorType &from = types[index];
  auto element = elementNamed(from.element);
  if (!element)
    return invalid(fmt::format("element type {} is unknown to the C API", from.element), function);
  *type = {SwageElementType(*element), uint32_t(from.shape.size()), from.shape.data()};
  return succeed();
}

SwageError swageProgramGetInputType(SwageProgram program, size_t index, SwageTensorType *type) {
  if (!program.ptr)
    return isNull("program");
  return getType(unwrap(program)->inputs(), index, type, __func__);
}

SwageError swageProgramGetResultType(SwageProgram program, size_t index, SwageTensorType *type) {
  if (!program.ptr)
    return isNull("program");
  return getType(unwrap(program)->results(), index, type, __func__);
}

// A SwageTensor is a TensorView by another name: calls pass the caller's arrays on as they are.
static_assert(sizeof(SwageTensor) == sizeof(TensorView) &&
              offsetof(SwageTensor, data) == offsetof(TensorView, data) &&
              offsetof(SwageTensor, elementType) == offsetof(TensorView, type) &&
              offsetof(SwageTensor, rank) == offsetof(TensorView, rank) &&
              offsetof(SwageTensor, shape) == offsetof(TensorView, shape) &&
              offsetof(SwageTensor, strides) == offsetof(TensorView, strides));

SwageError swageProgramRun(SwageProgram program, SwageDevice device, SwageStream stream,
                           const SwageTensor *inputs, size_t inputCount, const SwageTensor *outputs,
                           size_t outputCount, void *workspace, uint64_t workspaceBytes) {
  if (!program.ptr)
    return isNull("program");
  if (!device.ptr)
    return isNull("device");
  if (!inputs && inputCount)
    return isNull("inputs");
  if (!outputs && outputCount)
    return isNull("outputs");
  return finish(unwrap(program)->run(
      *unwrap(device), stream, reinterpret_cast<const TensorView *>(inputs), inputCount,
      reinterpret_cast<const TensorView *>(outputs), outputCount, workspace, workspaceBytes));
}

SwageError swageProgramGetResultShapes(SwageProgram program, SwageDevice device,
                                       const SwageShape *shapes, size_t inputCount,
                                       int64_t *extents, size_t extentCount) {
  if (!program.ptr)
    return isNull("program");
  if (!device.ptr)
    return isNull("device");
  size_t needed = 0;
  for (const TensorType &result : unwrap(program)->results())
    needed += result.shape.size();
  if (extentCount != needed)
    return invalid(fmt::format("'extentCount' is {}, needed: {}, the ranks of all results",
                               extentCount, needed));
  if (!extents && needed)
    return isNull("extents");
  auto inputs = unwrapShapes(*unwrap(program), shapes, inputCount);
  if (!inputs)
    return fail(inputs.takeError());
  auto results = unwrap(program)->resultShapes(*unwrap(device), *inputs);
  if (!results)
    return fail(results.takeError());
  for (const Dims &result : *results)
    extents = std::copy(result.begin(), result.end(), extents);
  return succeed();
}

static Expected<Plan> makePlan(SwageProgram program, SwageDevice device, const SwageShape *shapes,
                               size_t inputCount, const SwagePlanOptions *options) {
  auto read = readOptions(options, "SwagePlanOptions");
  if (!read)
    return read.takeError();
  // In C an enum holds any number.
  unsigned wanted;
  static_assert(sizeof wanted == sizeof read->mode);
  std::memcpy(&wanted, &read->mode, sizeof wanted);
  if (wanted != SwagePlanBlocking && wanted != SwagePlanCachedOnly)
    return makeError(Stage::Input,
                     fmt::format("'mode' of SwagePlanOptions is {}, needed: {} or {}", wanted,
                                 int(SwagePlanBlocking), int(SwagePlanCachedOnly)));
  auto inputs = unwrapShapes(*unwrap(program), shapes, inputCount);
  if (!inputs)
    return inputs.takeError();
  size_t each = inputCount + unwrap(program)->results().size();
  if (read->alignment && read->alignmentCount != 1 && read->alignmentCount != each)
    return makeError(Stage::Input,
                     fmt::format("'alignmentCount' of SwagePlanOptions is {}, needed: 1 or {}",
                                 read->alignmentCount, each));
  std::vector<uint8_t> alignment;
  if (read->alignment)
    alignment.assign(read->alignment, read->alignment + read->alignmentCount);
  PlanMode mode = wanted == SwagePlanBlocking ? PlanMode::Blocking : PlanMode::CachedOnly;
  return unwrap(program)->plan(*unwrap(device), *inputs, mode, alignment);
}

SwageError swageProgramGetWorkspaceBytes(SwageProgram program, SwageDevice device,
                                         const SwageShape *shapes, size_t inputCount,
                                         const SwagePlanOptions *options, uint64_t *bytes) {
  if (!bytes)
    return isNull("bytes");
  *bytes = 0;
  if (!program.ptr)
    return isNull("program");
  if (!device.ptr)
    return isNull("device");
  auto plan = makePlan(program, device, shapes, inputCount, options);
  if (!plan)
    return fail(plan.takeError());
  *bytes = plan->workspaceBytes();
  return succeed();
}

bool swageProgramIsReady(SwageProgram program, SwageDevice device, const SwageShape *shapes,
                         size_t inputCount) {
  if (!program.ptr || !device.ptr)
    return false;
  auto inputs = unwrapShapes(*unwrap(program), shapes, inputCount);
  return inputs && unwrap(program)->isReady(*unwrap(device), *inputs);
}

SwageError swageProgramPlan(SwageProgram program, SwageDevice device, const SwageShape *shapes,
                            size_t inputCount, const SwagePlanOptions *options, SwagePlan *plan) {
  if (!plan)
    return isNull("plan");
  plan->ptr = nullptr;
  if (!program.ptr)
    return isNull("program");
  if (!device.ptr)
    return isNull("device");
  return finish(makePlan(program, device, shapes, inputCount, options), plan);
}

SwageError swageProgramWarmup(SwageProgram program, SwageDevice device, const SwageShape *shapes,
                              size_t setCount) {
  if (!program.ptr)
    return isNull("program");
  if (!device.ptr)
    return isNull("device");
  auto sets = unwrapShapeSets(*unwrap(program), shapes, setCount);
  if (!sets)
    return fail(sets.takeError());
  return finish(unwrap(program)->warmup(*unwrap(device), *sets));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

size_t swagePlanGetInputCount(SwagePlan plan) {
  return plan.ptr ? unwrap(plan)->inputs().size() : 0;
}

size_t swagePlanGetOutputCount(SwagePlan plan) {
  return plan.ptr ? unwrap(plan)->outputs().size() : 0;
}

static SwageError getBuffer(const std::vector<BufferSpec> &buffers, size_t index,
                            SwageBufferSpec *spec, const char *function) {
  if (!spec)
    return isNull("spec", function);
  if (index >= buffers.size())
    return outOfRange(index, buffers.size(), function);
  *spec = {buffers[index].bytes, buffers[index].alignment};
  return succeed();
}

SwageError swagePlanGetInput(SwagePlan plan, size_t index, SwageBufferSpec *spec) {
  if (!plan.ptr)
    return isNull("plan");
  return getBuffer(unwrap(plan)->inputs(), index, spec, __func__);
}

SwageError swagePlanGetOutput(SwagePlan plan, size_t index, SwageBufferSpec *spec) {
  if (!plan.ptr)
    return isNull("plan");
  return getBuffer(unwrap(plan)->outputs(), index, spec, __func__);
}

uint64_t swagePlanGetWorkspaceBytes(SwagePlan plan) {
  return plan.ptr ? unwrap(plan)->workspaceBytes() : 0;
}

size_t swagePlanGetKernelCount(SwagePlan plan) {
  return plan.ptr ? unwrap(plan)->kernels().size() : 0;
}

SwageError swagePlanLaunch(SwagePlan plan, SwageStream stream, const void *const *inputs,
                           size_t inputCount, void *const *outputs, size_t outputCount,
                           void *workspace) {
  if (!plan.ptr)
    return isNull("plan");
  const Plan &launched = *unwrap(plan);
  if (inputCount != launched.inputs().size() || outputCount != launched.outputs().size())
    return invalid(fmt::format("{} inputs and {} outputs, needed: {} and {}", inputCount,
                               outputCount, launched.inputs().size(), launched.outputs().size()));
  if (!inputs && inputCount)
    return isNull("inputs");
  if (!outputs && outputCount)
    return isNull("outputs");
  return finish(launched.launch(stream, inputs, outputs, workspace));
}

void swagePlanDestroy(SwagePlan plan) { delete unwrap(plan); }
