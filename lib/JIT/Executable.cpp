//===- Executable.cpp - Kernels of two widths -----------------------------===//
//
// An executable is one variant, and a second with 64-bit offsets once shapes ask for it.
//
//===----------------------------------------------------------------------===//
#include "ExecutableState.h"

#include "swage/Support/Text.h"

#include <fmt/format.h>

using namespace swage;

std::shared_ptr<const Variant> Executable::variant(int indexBits) const {
  // Once made, the wide variant stays as it is.
  std::lock_guard<std::mutex> lock(state->mutex);
  return indexBits == 64 && state->wide ? state->wide : state->narrow;
}

const std::vector<KernelInfo> &Executable::kernels(int indexBits) const {
  return variant(indexBits)->kernels;
}
const std::vector<std::string> &Executable::remarks(int indexBits) const {
  return variant(indexBits)->remarks;
}
const std::vector<std::string> &Executable::storedLocations(int indexBits) const {
  return variant(indexBits)->storedLocations;
}

Expected<Layout> Executable::layout(const std::vector<Dims> &inputs) const {
  auto narrow = state->narrow->layOut(inputs);
  if (!narrow)
    return narrow.takeError();
  if (*narrow)
    return std::move(**narrow);
  std::shared_ptr<const Variant> variant;
  {
    std::lock_guard<std::mutex> own(state->mutex);
    if (!state->wide) {
      VariantRequest request{state->options, 64, state->narrow->guards.extents,
                             "offsets of these shapes need 64 bits"};
      auto compiled = compileVariant(*state->program.ir(), state->program.context(), request);
      if (!compiled)
        return compiled.takeError();
      state->wide = *compiled;
    }
    variant = state->wide;
  }
  auto wide = variant->layOut(inputs);
  if (!wide)
    return wide.takeError();
  if (*wide)
    return std::move(**wide);
  return makeError(Stage::Input,
                   fmt::format("program '{}': offsets for these shapes do not fit 64 bits",
                               printable(state->program.name())));
}

/// The guards on extents that a program makes for these shapes.
static Expected<std::vector<Guards::Extent>> classesOf(ProgramIR &program, KernelCache &cache,
                                                       const std::vector<Dims> &shapes) {
  Dims extents;
  for (SymbolicLaunch::Size place : dynamicExtents(program.inputs)) {
    if (place.argument >= shapes.size() || place.dim >= shapes[place.argument].size())
      return makeError(Stage::Input, fmt::format("CompileOptions::shapes has no dimension {} of "
                                                 "input {}; needed: the shapes of all {} inputs",
                                                 place.dim, place.argument, program.inputs.size()));
    extents.push_back(shapes[place.argument][place.dim]);
  }
  if (extents.empty())
    return std::vector<Guards::Extent>();
  auto needs = analyzeNeeds(program, cache);
  if (!needs)
    return needs.takeError();
  return extentClasses(*needs, extents);
}

Expected<VariantRequest> swage::requestFor(const Program &program, const CompileOptions &options) {
  VariantRequest request{options, options.indexBits, {}, {}};
  if (options.shapes.empty())
    return request;
  auto extents = classesOf(*program.ir(), cacheOf(options, program.context()), options.shapes);
  if (!extents)
    return extents.takeError();
  request.extents = std::move(*extents);
  return request;
}

Expected<Executable> Program::compile() const { return compile(CompileOptions()); }

Expected<Executable> Program::compile(const CompileOptions &options) const {
  if (Status own = context().checkProcess(); !own)
    return own.takeError();
  if (!ir())
    return makeError(Stage::Input, "a program from a bundle has no graph that could be compiled");
  auto request = requestFor(*this, options);
  if (!request)
    return request.takeError();
  auto variant = compileVariant(*ir(), context(), *request);
  if (!variant)
    return variant.takeError();
  auto executable = std::shared_ptr<Executable::State>(
      new Executable::State{*this, options, std::move(*variant), {}, nullptr});
  return Executable(std::move(executable));
}

Expected<std::vector<Dims>> Executable::shapes(const std::vector<Dims> &inputs) const {
  auto layout = this->layout(inputs);
  if (!layout)
    return layout.takeError();
  std::vector<Dims> shapes;
  for (const TensorType &result : layout->results)
    shapes.push_back(result.shape);
  return shapes;
}

Expected<Plan> Executable::plan(const Device &device, const std::vector<Dims> &inputs) const {
  auto layout = this->layout(inputs);
  if (!layout)
    return layout.takeError();
  return variant(layout->indexBits)->plan(device, *layout, &state->program.context());
}

Expected<Plan> Executable::planLaunch(const Device &device, const Layout &layout,
                                      size_t index) const {
  return variant(layout.indexBits)->planLaunch(device, layout, index, &state->program.context());
}
