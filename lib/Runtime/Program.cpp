//===- Program.cpp - A graph that runs with any shapes --------------------===//
//
// The API.  run is the hot path: it checks the tensors, looks up the plan by a key on the stack and
// launches; everything else may allocate.
//
//===----------------------------------------------------------------------===//
#include "ProgramState.h"

#include "swage/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

using namespace swage;
using namespace swage::cuda;

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

/// Row-major without gaps; where nothing is addressed, strides mean nothing.
static bool isContiguous(const TensorView &view) {
  uint64_t expected = 1; // may wrap where there is no such tensor
  bool isContiguous = true;
  for (unsigned dim = view.rank; dim-- > 0;) {
    if (view.shape[dim] == 0)
      return true;
    isContiguous &= view.shape[dim] == 1 || uint64_t(view.strides[dim]) == expected;
    expected *= uint64_t(view.shape[dim]);
  }
  return isContiguous;
}

/// Null, and CUDA's names for the default stream of all threads and of this one: streams of
/// whichever context is current.
static bool isOfCurrentContext(StreamHandle stream) {
  return reinterpret_cast<uintptr_t>(stream) <= 2;
}

/// What is wrong with a tensor, in words.
static Error badTensor(const Program::State &program, size_t number, const TensorView &view,
                       const Dims &needed) {
  bool isInput = number < program.inputs.size();
  size_t index = isInput ? number : number - program.inputs.size();
  const TensorType &type = isInput ? program.inputs[index] : program.results[index];
  Dims shape(view.shape, view.shape + (view.shape ? view.rank : 0));
  std::string found = TensorType{elementName(view.type), 0, shape}.str();
  std::string wanted = TensorType{type.element, 0, needed}.str();
  if (view.shape && view.strides && !isContiguous(view)) {
    Dims strides(view.strides, view.strides + view.rank);
    found += fmt::format(" with strides {}", describeDims(strides));
    wanted += " in row-major order without gaps";
  }
  if (view.rank != 0 && !view.shape)
    found = fmt::format("of rank {} without a shape", view.rank);
  return makeError(Stage::Input,
                   fmt::format("program '{}': {} {} is {}; needed: {}", printable(program.name),
                               isInput ? "input" : "output", index, found, wanted));
}

static Error badCount(const Program::State &program, size_t inputs, size_t outputs) {
  return makeError(
      Stage::Input,
      fmt::format("program '{}': {} inputs and {} outputs are given; needed: {} and {}",
                  printable(program.name), inputs, outputs, program.inputs.size(),
                  program.results.size()));
}

/// From views to what a plan is made of: off the hot path.
static Expected<PlanTable::Entry> missingPlan(Program::State &program, const Device &device,
                                              StreamHandle stream, const TensorView *inputs,
                                              const TensorView *outputs) {
  std::vector<Dims> dims;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    dims.emplace_back(inputs[i].shape, inputs[i].shape + inputs[i].rank);
  Call call{device, dims, {}};
  for (size_t i = 0; i < program.declared.size(); ++i) {
    const TensorView &view =
        i < program.inputs.size() ? inputs[i] : outputs[i - program.inputs.size()];
    auto address = reinterpret_cast<uintptr_t>(view.data);
    uint8_t natural = program.declared[i].naturalAlignment;
    if (address % natural != 0)
      return makeError(
          Stage::Input,
          fmt::format("program '{}': {} {} is at {:#x}; needed: an address divisible "
                      "by {}, the size of an element",
                      printable(program.name), i < program.inputs.size() ? "input" : "output",
                      i < program.inputs.size() ? i : i - program.inputs.size(), address, natural));
    call.alignment.push_back(address % kFullAlignment == 0 ? kFullAlignment : natural);
  }
  return program.planForRun(call, stream);
}

Status Program::run(const Device &device, StreamHandle stream, const TensorView *inputs,
                    size_t inputCount, const TensorView *outputs, size_t outputCount,
                    void *workspace, uint64_t workspaceBytes) const {
  State &program = *state;
  if (!device.isHealthy() || program.context.internals().generation != processGeneration())
    return program.checkUsable(device);
  if (inputCount != program.inputs.size() || outputCount != program.results.size())
    return badCount(program, inputCount, outputCount);

  const size_t tensors = program.declared.size();
  PlanKey key(program.keyWords);
  startKey(key, device, tensors);
  uint64_t *nextExtent = key.data() + kDeviceWords + alignmentWords(tensors);
  StackArray<void *, 64> pointers(tensors);
  for (size_t i = 0; i < tensors; ++i) {
    const TensorView &view = i < inputCount ? inputs[i] : outputs[i - inputCount];
    const DeclaredTensor &declared = program.declared[i];
    if (view.type != declared.type || view.rank != declared.shape.size() ||
        (view.rank != 0 && !view.shape))
      return badTensor(program, i, view, declared.shape);
    for (unsigned dim = 0; dim < view.rank; ++dim) {
      bool isDynamic = declared.shape[dim] == TensorType::kDynamic;
      if (isDynamic ? view.shape[dim] < 0 : view.shape[dim] != declared.shape[dim])
        return badTensor(program, i, view, declared.shape);
      if (isDynamic && i < inputCount)
        *nextExtent++ = uint64_t(view.shape[dim]);
    }
    if (view.strides && !isContiguous(view))
      return badTensor(program, i, view, declared.shape);
    pointers[i] = view.data;
    if (reinterpret_cast<uintptr_t>(view.data) % kFullAlignment == 0)
      setAligned(key, i);
  }

  PlanTable::Entry entry = program.plans.find(key);
  if (!entry) {
    auto made = missingPlan(program, device, stream, inputs, outputs);
    if (!made)
      return made.takeError();
    entry = std::move(*made);
  }
  for (size_t i = 0; i < outputCount; ++i)
    if (const Dims &shape = entry->results[i].shape;
        !std::equal(shape.begin(), shape.end(), outputs[i].shape))
      return badTensor(program, inputCount + i, outputs[i], shape);
  if (workspaceBytes < entry->plan.workspaceBytes())
    return makeError(Stage::Launch, fmt::format("program '{}': the workspace has {} bytes; needed: "
                                                "{}",
                                                printable(program.name), workspaceBytes,
                                                entry->plan.workspaceBytes()));

  program.context.internals().countLaunch();
  auto launch = [&] {
    return entry->plan.launch(stream, pointers.data(), pointers.data() + inputCount, workspace);
  };
  if (!isOfCurrentContext(stream))
    return launch();
  ScopedContext scope(device);
  return scope.status() ? launch() : scope.status();
}

//===----------------------------------------------------------------------===//
// The rest of the API
//===----------------------------------------------------------------------===//

Program Program::create(std::string name, std::vector<TensorType> inputs,
                        std::vector<TensorType> results, std::shared_ptr<VariantSource> source,
                        const Context &context) {
  return Program(std::make_shared<State>(std::move(name), std::move(inputs), std::move(results),
                                         std::move(source), context));
}

const std::string &Program::name() const { return state->name; }
const std::vector<TensorType> &Program::inputs() const { return state->inputs; }
const std::vector<TensorType> &Program::results() const { return state->results; }
const Context &Program::context() const { return state->context; }
ProgramIR *Program::ir() const { return state->source->ir(); }

Expected<Plan> Program::plan(const Device &device, const std::vector<Dims> &inputs, PlanMode mode,
                             const std::vector<uint8_t> &alignment) const {
  if (Status usable = state->checkUsable(device); !usable)
    return usable.takeError();
  if (Status checked = state->checkShapes(inputs); !checked)
    return checked.takeError();
  auto classes = state->alignmentClasses(alignment);
  if (!classes)
    return classes.takeError();
  auto entry = state->plan({device, inputs, std::move(*classes)}, mode);
  if (!entry)
    return entry.takeError();
  return (*entry)->plan;
}

static std::vector<Dims> shapesOf(const std::vector<TensorType> &types) {
  std::vector<Dims> shapes;
  for (const TensorType &type : types)
    shapes.push_back(type.shape);
  return shapes;
}

Expected<std::vector<Dims>> Program::resultShapes(const Device &device,
                                                  const std::vector<Dims> &inputs) const {
  if (Status usable = state->checkUsable(device); !usable)
    return usable.takeError();
  if (Status checked = state->checkShapes(inputs); !checked)
    return checked.takeError();
  auto alignment = state->alignmentClasses({});
  Call call{device, inputs, *alignment};
  if (PlanTable::Entry entry = state->plans.find(state->keyOf(call)))
    return shapesOf(entry->results);
  // Shapes are the same for any architecture, alignment and index width.
  for (const VariantSet::Made &variant : state->variants.all())
    if (auto layout = variant->layOut(inputs); layout && *layout)
      return shapesOf((*layout)->results);
  auto served = state->serve(archOf(device), inputs, call.alignment, PlanMode::Blocking);
  if (!served)
    return served.takeError();
  return shapesOf((*served)->layout.results);
}

Expected<Explanation> Program::explain(const Device &device,
                                       const std::vector<Dims> &inputs) const {
  if (Status usable = state->checkUsable(device); !usable)
    return usable.takeError();
  if (Status checked = state->checkShapes(inputs); !checked)
    return checked.takeError();
  auto alignment = state->alignmentClasses({});
  Call call{device, inputs, *alignment};
  Dims extents = state->extentsOf(inputs);
  Explanation explanation;
  explanation.inputs = state->inputs;
  explanation.hasPlan = state->plans.contains(state->keyOf(call));
  for (int bits = state->leastIndexBits(inputs); bits <= 64; bits += 32) {
    auto guards = state->variants.guardsFor(archOf(device), bits, call.alignment, extents);
    if (!guards)
      return guards.takeError();
    auto variant = state->variants.find(*guards, extents, !state->source->compiles());
    if (!variant) {
      explanation.guards = std::move(*guards);
      explanation.reason = state->variants.whyNone(explanation.guards, extents);
      return explanation;
    }
    auto layout = variant->layOut(inputs);
    if (!layout)
      return layout.takeError();
    if (!*layout)
      continue;
    explanation.hasVariant = true;
    explanation.guards = variant->guards;
    explanation.workspaceBytes = (*layout)->workspaceBytes;
    explanation.workspaceLowerBound = (*layout)->workspaceLowerBound;
    for (const KernelInfo &kernel : variant->kernels)
      explanation.kernels.push_back(
          kernel.name + ": " + kernel.schedule +
          (kernel.overriddenBy.empty() ? "" : ", from " + kernel.overriddenBy));
    break;
  }
  return explanation;
}

std::string Explanation::str() const {
  std::string text = hasPlan      ? "planned: a call costs a lookup\n"
                     : hasVariant ? "compiled: the first call with these shapes makes a plan\n"
                                  : "not compiled: " + reason + "\n";
  text += (hasVariant ? "variant: " : "needed: ") + guards.str(inputs) + "\n";
  for (const std::string &kernel : kernels)
    text += "  " + kernel + "\n";
  if (workspaceBytes != 0)
    text += fmt::format("workspace: {} bytes, of which {} are in use at once\n", workspaceBytes,
                        workspaceLowerBound);
  return text;
}

bool Program::isReady(const Device &device, const std::vector<Dims> &inputs) const {
  auto explanation = explain(device, inputs);
  return explanation && (explanation->hasPlan || explanation->hasVariant);
}

Status Program::warmup(const Device &device, const std::vector<std::vector<Dims>> &shapes) const {
  if (Status usable = state->checkUsable(device); !usable)
    return usable;
  for (const std::vector<Dims> &inputs : shapes)
    if (Status checked = state->checkShapes(inputs); !checked)
      return checked;
  auto alignment = state->alignmentClasses({});

  // First one shape for each variant that is missing, so that no thread waits for another; then
  // all of them, which compiles only what the first did not show to be needed.
  std::vector<const std::vector<Dims> *> first, all;
  std::vector<Guards> seen;
  for (const std::vector<Dims> &inputs : shapes) {
    auto guards = state->variants.guardsFor(archOf(device), state->leastIndexBits(inputs),
                                            *alignment, state->extentsOf(inputs));
    if (!guards)
      return guards.takeError();
    all.push_back(&inputs);
    if (std::find(seen.begin(), seen.end(), *guards) == seen.end()) {
      seen.push_back(std::move(*guards));
      first.push_back(&inputs);
    }
  }
  std::atomic<size_t> finished{0};
  std::mutex mutex;
  Status outcome;
  for (auto *phase : {&first, &all}) {
    std::vector<std::function<void()>> tasks;
    for (const std::vector<Dims> *inputs : *phase)
      tasks.push_back([&, inputs] {
        auto entry = state->plan({device, *inputs, *alignment}, PlanMode::Blocking);
        if (!entry) {
          std::lock_guard<std::mutex> lock(mutex);
          if (outcome)
            outcome = entry.takeError();
          return;
        }
        if (phase != &first)
          return;
        TraceEvent event;
        event.kind = TraceEvent::Kind::Progress;
        event.name = state->name;
        event.detail = fmt::format("warm-up: {} of {} variants", ++finished, first.size());
        event.thread = threadNumber();
        event.begin = event.end = std::chrono::steady_clock::now();
        state->context.report(event);
      });
    state->context.runAll(tasks, Urgency::WarmUp);
    if (!outcome)
      break;
  }
  return outcome;
}

Expected<Artifact> Program::artifact(const Device &device, const std::vector<Dims> &inputs) const {
  if (Status usable = state->checkUsable(device); !usable)
    return usable.takeError();
  if (Status checked = state->checkShapes(inputs); !checked)
    return checked.takeError();
  auto alignment = state->alignmentClasses({});
  auto served = state->serve(archOf(device), inputs, *alignment, PlanMode::Blocking);
  if (!served)
    return served.takeError();
  return state->source->artifact((*served)->variant->guards);
}

Status Program::save(const std::string &path, const std::vector<std::string> &archs,
                     const std::vector<std::vector<Dims>> &shapes) const {
  if (Status own = state->context.checkProcess(); !own)
    return own;
  if (archs.empty() || shapes.empty())
    return makeError(Stage::Input, fmt::format("{} architectures and {} shapes are given to save; "
                                               "needed: at least one of each",
                                               archs.size(), shapes.size()));
  if (Status writable = checkWritable(path); !writable)
    return writable;
  Bundle bundle;
  bundle.entryName = state->name;
  bundle.inputs = state->inputs;
  bundle.results = state->results;
  auto needs = state->source->needs();
  if (!needs)
    return needs.takeError();
  bundle.needs = std::move(*needs);
  // Nothing is compiled for what is loaded: what was made for few rows serves no more of them, and
  // goes with what serves any number.
  std::vector<ExtentNeeds> uncounted = bundle.needs;
  for (ExtentNeeds &each : uncounted)
    each.count = false;
  auto alignment = state->alignmentClasses({});
  for (const std::string &arch : archs)
    for (const std::vector<Dims> &inputs : shapes) {
      if (Status checked = state->checkShapes(inputs); !checked)
        return checked;
      auto served = state->serve(arch, inputs, *alignment, PlanMode::Blocking);
      if (!served)
        return served.takeError();
      Dims extents = state->extentsOf(inputs);
      Guards anyNumber = (*served)->variant->guards;
      anyNumber.extents = extentClasses(uncounted, extents);
      auto &variants = bundle.variants;
      auto keep = [&](const VariantSet::Made &variant) {
        if (std::find(variants.begin(), variants.end(), variant) == variants.end())
          variants.push_back(variant);
      };
      keep((*served)->variant);
      auto general = state->variants.get(anyNumber, extents);
      if (general)
        keep(*general);
      else if (general.error().stage != Stage::Lower) // else there are kernels for few alone
        return general.takeError();
    }
  return bundle.write(path);
}
