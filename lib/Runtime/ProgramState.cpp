//===- ProgramState.cpp - From a call to its plan -------------------------===//
//
// Through the table of plans, else through the variants, else through whatever makes them.
//
//===----------------------------------------------------------------------===//
#include "ProgramState.h"

#include "swage/Runtime/Trace.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
using namespace swage::cuda;

std::string swage::archOf(const Device &device) {
  return (device.driver().isSimulator() ? std::string(kSimulatedArch) : "") +
         device.properties().arch;
}

std::string swage::describeDims(const Dims &dims) {
  std::vector<std::string> texts;
  for (int64_t extent : dims)
    texts.push_back(std::to_string(extent));
  return "{" + join(texts, ", ") + "}";
}

static std::vector<uint8_t> elementAlignments(const std::vector<TensorType> &inputs,
                                              const std::vector<TensorType> &results) {
  std::vector<uint8_t> alignments;
  for (const auto *types : {&inputs, &results})
    for (const TensorType &type : *types)
      alignments.push_back(uint8_t(type.elementBytes));
  return alignments;
}

Program::State::State(std::string name, std::vector<TensorType> inputs,
                      std::vector<TensorType> results, std::shared_ptr<VariantSource> source,
                      const Context &context)
    : name(std::move(name)), inputs(std::move(inputs)), results(std::move(results)),
      source(std::move(source)), context(context),
      variants(this->name, this->inputs, elementAlignments(this->inputs, this->results),
               this->source, context),
      plans(context.options().planLimit) {
  for (const auto *types : {&this->inputs, &this->results})
    for (const TensorType &type : *types)
      declared.push_back({elementNamed(type.element).value_or(ElementType::F32),
                          uint8_t(type.elementBytes), type.shape});
  keyWords = kDeviceWords + alignmentWords(declared.size()) + variants.places().size();
}

Status Program::State::checkUsable(const Device &device) const {
  if (Status own = context.checkProcess(); !own)
    return own;
  return device.health();
}

std::string Program::State::describe(const std::vector<Dims> &dims) const {
  std::vector<std::string> texts;
  for (size_t i = 0; i < dims.size(); ++i)
    texts.push_back(TensorType{inputs[i].element, 0, dims[i]}.str());
  return join(texts, ", ");
}

Status Program::State::checkShapes(const std::vector<Dims> &dims) const {
  auto bad = [&](std::string what) {
    return makeError(Stage::Input, fmt::format("program '{}': {}", printable(name), what));
  };
  if (dims.size() != inputs.size())
    return bad(
        fmt::format("the shapes of {} inputs are given; needed: {}", dims.size(), inputs.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dims &shape = inputs[i].shape;
    if (dims[i].size() != shape.size())
      return bad(fmt::format("input {} has {} dimensions {}; needed: {} ({})", i, dims[i].size(),
                             describeDims(dims[i]), shape.size(), inputs[i].str()));
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] == TensorType::kDynamic ? dims[i][dim] < 0 : dims[i][dim] != shape[dim])
        return bad(fmt::format("input {} has extent {} in dimension {}; needed: {}", i,
                               dims[i][dim], dim,
                               shape[dim] == TensorType::kDynamic
                                   ? "0 or more"
                                   : fmt::format("{} ({})", shape[dim], inputs[i].str())));
  }
  return {};
}

Expected<std::vector<uint8_t>>
Program::State::alignmentClasses(const std::vector<uint8_t> &given) const {
  if (given.size() > 1 && given.size() != declared.size())
    return makeError(Stage::Input,
                     fmt::format("{} alignments are given; needed: 1 or {}, one for each input and "
                                 "then one for each result",
                                 given.size(), declared.size()));
  std::vector<uint8_t> classes;
  for (size_t i = 0; i < declared.size(); ++i) {
    uint8_t bytes = given.empty() ? kFullAlignment : given[given.size() == 1 ? 0 : i];
    uint8_t natural = declared[i].naturalAlignment;
    if (bytes == 0 || (bytes & (bytes - 1)) != 0 || (given.size() > 1 && bytes < natural))
      return makeError(Stage::Input, fmt::format("alignment {} is {}; needed: a power of two of at "
                                                 "least {}, the size of an element",
                                                 i, bytes, natural));
    classes.push_back(bytes >= kFullAlignment ? kFullAlignment : natural);
  }
  return classes;
}

Dims Program::State::extentsOf(const std::vector<Dims> &dims) const {
  Dims extents;
  for (const SymbolicLaunch::Size &place : variants.places())
    extents.push_back(dims[place.argument][place.dim]);
  return extents;
}

PlanKey Program::State::keyOf(const Call &call) const {
  PlanKey key(keyWords);
  startKey(key, call.device, declared.size());
  for (size_t i = 0; i < declared.size(); ++i)
    if (call.alignment[i] == kFullAlignment)
      setAligned(key, i);
  size_t next = kDeviceWords + alignmentWords(declared.size());
  for (const SymbolicLaunch::Size &place : variants.places())
    key[next++] = uint64_t(call.inputs[place.argument][place.dim]);
  return key;
}

int Program::State::leastIndexBits(const std::vector<Dims> &dims) const {
  for (const Dims &shape : dims) {
    int64_t elements = 1;
    bool overflows = false;
    for (int64_t extent : shape)
      overflows |= __builtin_mul_overflow(elements, extent, &elements);
    if (overflows || elements > INT32_MAX)
      return 64;
  }
  return 32;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Expected<std::optional<Program::State::Served>>
Program::State::serve(const std::string &arch, const std::vector<Dims> &dims,
                      const std::vector<uint8_t> &alignment, PlanMode mode) {
  Dims extents = extentsOf(dims);
  for (int bits = leastIndexBits(dims); bits <= 64; bits += 32) {
    auto guards = variants.guardsFor(arch, bits, alignment, extents);
    if (!guards)
      return guards.takeError();
    VariantSet::Made variant;
    if (mode == PlanMode::CachedOnly) {
      variant = variants.find(*guards, extents, /*orOther=*/true);
      if (!variant)
        return std::optional<Served>();
    } else {
      auto made = variants.get(*guards, extents);
      if (!made)
        return made.takeError();
      variant = *made;
    }
    auto layout = variant->layOut(dims);
    if (!layout)
      return layout.takeError();
    if (*layout)
      return std::optional(Served{std::move(variant), std::move(**layout)});
  }
  return makeError(Stage::Input, fmt::format("program '{}': offsets for {} do not fit 64 bits",
                                             printable(name), describe(dims)));
}

Expected<PlanTable::Entry> Program::State::makePlan(const Call &call, const Served &served) {
  TraceSpan span(context, TraceEvent::Kind::Plan, name);
  auto plan = served.variant->plan(call.device, served.layout, &context);
  if (!plan) {
    span.cancel();
    return plan.takeError();
  }
  PlanKey key = keyOf(call);
  auto entry = std::make_shared<const PlanEntry>(
      PlanEntry{std::vector<uint64_t>(key.data(), key.data() + key.size()), std::move(*plan),
                served.layout.results, served.variant});
  PlanTable::Entry evicted;
  bool isNew = false;
  PlanTable::Entry kept = plans.insert(std::move(entry), evicted, isNew);
  span.event.detail = fmt::format("{} on device {}", describe(call.inputs), call.device.ordinal());
  if (!isNew)
    span.cancel(); // by another thread, meanwhile
  if (evicted) {
    TraceEvent event;
    event.kind = TraceEvent::Kind::Evict;
    event.name = name;
    event.thread = threadNumber();
    event.begin = event.end = std::chrono::steady_clock::now();
    event.detail = fmt::format("the least recently used of {} plans", context.options().planLimit);
    context.report(event);
  }
  return kept;
}

Error Program::State::notReady(const Call &call, const std::string &why) const {
  std::vector<std::string> shapes;
  for (const Dims &dims : call.inputs)
    shapes.push_back(describeDims(dims));
  std::string missing = fmt::format("program '{}' is not ready for {} on device {}",
                                    printable(name), describe(call.inputs), call.device.ordinal());
  std::string dims = "{" + join(shapes, ", ") + "}";
  const std::vector<uint8_t> &alignment = call.alignment;
  if (std::all_of(alignment.begin(), alignment.end(),
                  [](uint8_t bytes) { return bytes == kFullAlignment; }))
    return makeError(Stage::Launch, fmt::format("{}, and {}; call warmup(device, {{{}}}) before",
                                                missing, why, dims));
  // What is warmed up is for aligned addresses.
  std::string bytes = describeDims(Dims(alignment.begin(), alignment.end()));
  return makeError(Stage::Launch,
                   fmt::format("{} at addresses aligned to {} bytes, and {}; call plan(device, {}, "
                               "PlanMode::Blocking, {}) before, or pass tensors aligned to {}",
                               missing, bytes, why, dims, bytes, kFullAlignment));
}

Expected<PlanTable::Entry> Program::State::plan(const Call &call, PlanMode mode) {
  if (PlanTable::Entry found = plans.find(keyOf(call)))
    return found;
  auto served = serve(archOf(call.device), call.inputs, call.alignment, mode);
  if (!served)
    return served.takeError();
  if (!*served)
    return notReady(call, "only what is cached was asked for");
  return makePlan(call, **served);
}

Expected<PlanTable::Entry> Program::State::planForRun(const Call &call, StreamHandle stream) {
  auto isCapturing = call.device.isCapturing(stream);
  if (!isCapturing)
    return isCapturing.takeError();
  if (!*isCapturing)
    return plan(call, PlanMode::Blocking);
  auto served = serve(archOf(call.device), call.inputs, call.alignment, PlanMode::CachedOnly);
  if (!served)
    return served.takeError();
  // A load would end the capture.
  if (!*served || !(*served)->variant->isLoaded(call.device, (*served)->layout))
    return notReady(call, "a stream that is being captured allows neither compiling nor loading");
  return makePlan(call, **served);
}
