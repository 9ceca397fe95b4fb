//===- Layout.cpp - Shapes to launches ------------------------------------===//
//
// Everything symbolic of a launch is evaluated here, once for each set of shapes: runtime sizes,
// checks, blocks, the bytes of the sizes parameter, and where intermediate tensors lie.
//
//===----------------------------------------------------------------------===//
#include "Workspace.h"
#include "swage/Runtime/Divider.h"
#include "swage/Runtime/Variant.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;

/// Offsets that a block may form beyond the last element; the schedules count on the same.
static constexpr int64_t kOvershoot = 1 << 20;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

template <class T> static void append(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// A divider for an extent; of an extent 0 nothing is divided, but loops run to it.
template <class Divider> static Divider dividerOf(int64_t extent) {
  Divider divider(static_cast<decltype(Divider::divisor)>(std::max<int64_t>(extent, 1)));
  if (extent == 0)
    divider.divisor = 0;
  return divider;
}

/// The Sizes struct of the generated source: symbols, then dividers, in C layout.
static std::string sizesBytes(const Dims &symbols, const Dims &dividers, int indexBits) {
  std::string bytes;
  for (int64_t symbol : symbols) {
    if (indexBits == 32)
      append(bytes, static_cast<int32_t>(symbol));
    else
      append(bytes, symbol);
  }
  for (int64_t extent : dividers) {
    if (indexBits == 32)
      append(bytes, dividerOf<Divider32>(extent));
    else
      append(bytes, dividerOf<Divider64>(extent));
  }
  return bytes;
}

/// Values of all expressions; false where one does not fit 64 bits.
static bool evaluate(const std::vector<SizeExpression> &expressions, const Dims &symbols,
                     Dims &values) {
  values.clear();
  values.reserve(expressions.size());
  for (const SizeExpression &expression : expressions) {
    std::optional<int64_t> value = expression.evaluate(symbols);
    if (!value)
      return false;
    values.push_back(*value);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static std::string describe(const Dims &dims) {
  std::vector<std::string> texts;
  for (int64_t extent : dims)
    texts.push_back(std::to_string(extent));
  return join(texts, "x");
}

/// More than any device holds, and bytes of it still fit 64 bits.  What is empty counts as if it
/// had one element along each such dimension.
static bool isTooLarge(const Dims &shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(elements, std::max<int64_t>(extent, 1), &elements) ||
        elements > int64_t{1} << 48)
      return true;
  return false;
}

/// The declared types with the actual extents.
static Expected<std::vector<TensorType>> actualInputs(const Variant &variant,
                                                      const std::vector<Dims> &inputs) {
  if (inputs.size() != variant.inputs.size())
    return makeError(Stage::Input,
                     fmt::format("the shapes of {} inputs are given; @{} has {}", inputs.size(),
                                 variant.entryName, variant.inputs.size()));
  std::vector<TensorType> actual = variant.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TensorType &type = actual[i];
    if (inputs[i].size() != type.shape.size())
      return makeError(Stage::Input, fmt::format("input {} has {} dimensions ({}); needed: {} ({})",
                                                 i, inputs[i].size(), describe(inputs[i]),
                                                 type.shape.size(), variant.inputs[i].str()));
    for (size_t dim = 0; dim < inputs[i].size(); ++dim) {
      int64_t extent = inputs[i][dim], declared = variant.inputs[i].shape[dim];
      if (extent < 0)
        return makeError(Stage::Input,
                         fmt::format("input {} has extent {} in dimension {}", i, extent, dim));
      if (declared != TensorType::kDynamic && extent != declared)
        return makeError(Stage::Input,
                         fmt::format("input {} has extent {} in dimension {}; needed: {} ({})", i,
                                     extent, dim, declared, variant.inputs[i].str()));
      type.shape[dim] = extent;
    }
    if (isTooLarge(inputs[i]))
      return makeError(Stage::Input, fmt::format("input {} ({}) has more than 2^48 elements", i,
                                                 describe(inputs[i])));
  }
  return actual;
}

/// What an extent must be instead, in words; empty if it keeps the promise.
static std::string brokenPromise(const Guards::Extent &promise, int64_t extent) {
  if (promise.multipleOf > 1 && extent % promise.multipleOf != 0)
    return fmt::format("a multiple of {}", promise.multipleOf);
  if (promise.atMost > 0 && extent > promise.atMost)
    return fmt::format("at most {}", promise.atMost);
  return {};
}

/// Extents that the kernels were compiled for.
static Status checkGuards(const Variant &variant, const std::vector<TensorType> &inputs) {
  size_t number = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t dim = 0; dim < inputs[i].shape.size(); ++dim) {
      if (variant.inputs[i].shape[dim] != TensorType::kDynamic)
        continue;
      if (number == variant.guards.extents.size())
        return {};
      int64_t extent = inputs[i].shape[dim];
      std::string needed = brokenPromise(variant.guards.extents[number++], extent);
      if (!needed.empty())
        return makeError(Stage::Input,
                         fmt::format("input {} ({}) has extent {} in dimension {}; needed: {}, "
                                     "which the kernels rely on",
                                     i, inputs[i].str(), extent, dim, needed));
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
class LayoutBuilder {
public:
  LayoutBuilder(const Variant &variant, std::vector<TensorType> inputs) : variant(variant) {
    layout.inputs = std::move(inputs);
    layout.results = variant.results;
    layout.aliases = variant.aliases;
    layout.launches.reserve(variant.launches.size());
    layout.indexBits = variant.guards.indexBits;
    values.resize(variant.workspaceValues);
    valueTypes.resize(variant.workspaceValues);
  }

  Status run();

  Layout layout;
  bool fits = true;

private:
  Status addLaunch(const SymbolicLaunch &symbolic, size_t number);
  /// The shapes that a kernel expects against the arguments' own.
  Status checkInputs(const SymbolicLaunch &symbolic, const KernelInfo &info) const;
  Status checkFacts(const SymbolicLaunch &symbolic, const KernelInfo &info) const;
  std::optional<Dims> extentsOf(const SymbolicView &view) const;
  Status checkBounds(const KernelInfo &info, const SymbolicView &view, const char *what,
                     size_t number, const Dims &shape) const;
  bool offsetsFit(const SymbolicKernel &kernel) const;
  /// A kernel's parameters for views; nothing where a number does not fit 64 bits.
  std::optional<std::vector<LaunchView>> launchViews(const std::vector<SymbolicView> &views) const;
  void addInputs(const SymbolicLaunch &symbolic, LaunchInfo &launch, size_t number);
  void addOutputs(const SymbolicLaunch &symbolic, LaunchInfo &launch, size_t number);
  Status checkKept(const LaunchInfo &launch, const KernelInfo &info) const;
  void noteInPlace(const SymbolicLaunch &symbolic, size_t number);
  void takePlaces();

  const Variant &variant;
  std::vector<WorkspaceValue> values;
  /// Launches, and the values that are theirs alone.
  std::vector<std::pair<size_t, size_t>> scratch;
  std::vector<TensorType> valueTypes;
  /// Outputs that may take the place of an input of their launch, if that dies with it.
  struct InPlace {
    size_t launch;
    unsigned output, input; ///< workspace values
  };
  std::vector<InPlace> inPlace;
  // Of the launch in progress, here so that their memory serves all launches.
  Dims symbols, extents, dividers;
  std::vector<Dims> inputShapes, outputShapes; ///< one for each view
};
} // namespace

Status LayoutBuilder::checkInputs(const SymbolicLaunch &symbolic, const KernelInfo &info) const {
  const SymbolicKernel &kernel = variant.symbolic[symbolic.kernel];
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    SymbolicLaunch::Place place = symbolic.inputs[kernel.inputs[i].tensor];
    if (place.kind != BufferKind::Input)
      continue;
    const TensorType &actual = layout.inputs[place.index];
    const Dims &needed = inputShapes[i];
    if (actual.shape.size() != needed.size())
      continue; // a cast to another rank does not exist
    for (size_t dim = 0; dim < needed.size(); ++dim)
      if (actual.shape[dim] != needed[dim])
        return makeError(
            Stage::Input,
            fmt::format("input {} ({}) has extent {} in dimension {}; needed: {}, because kernel "
                        "@{} reads it together with other inputs",
                        place.index, actual.str(), actual.shape[dim], dim, needed[dim], info.name));
  }
  return {};
}

/// A promise about one extent holds for all that the graph makes equal to it, as long as the
/// caller's are equal: those of tensors that no kernel reads are not compared.
Status LayoutBuilder::checkFacts(const SymbolicLaunch &symbolic, const KernelInfo &info) const {
  const std::vector<Guards::Extent> &facts = variant.symbolic[symbolic.kernel].facts;
  for (size_t i = 0; i < std::min(facts.size(), symbols.size()); ++i) {
    SymbolicLaunch::Size size = symbolic.sizes[i];
    std::string needed = brokenPromise(facts[i], symbols[i]);
    if (!needed.empty())
      return makeError(
          Stage::Input,
          fmt::format("input {} ({}) has extent {} in dimension {}; needed: {}, which is promised "
                      "of an extent that the graph makes equal to it and kernel @{} relies on",
                      size.argument, layout.inputs[size.argument].str(), symbols[i], size.dim,
                      needed, info.name));
  }
  return {};
}

/// What a view goes along; nothing where that leaves 64 bits.
std::optional<Dims> LayoutBuilder::extentsOf(const SymbolicView &view) const {
  Dims own;
  if (!view.extents.empty() && !evaluate(view.extents, symbols, own))
    return std::nullopt;
  return view.extents.empty() ? extents : own;
}

/// No access of a view leaves its tensor.
Status LayoutBuilder::checkBounds(const KernelInfo &info, const SymbolicView &view,
                                  const char *what, size_t number, const Dims &shape) const {
  std::optional<int64_t> last = view.offset.evaluate(symbols);
  std::optional<Dims> extents = extentsOf(view);
  if (extents && std::find(extents->begin(), extents->end(), 0) != extents->end())
    return {};
  int64_t elements = 1, largest = last.value_or(0);
  bool isCounted = last && largest >= 0 && extents;
  for (int64_t extent : shape)
    isCounted &= extent >= 0 && !__builtin_mul_overflow(elements, extent, &elements);
  for (size_t dim = 0; extents && dim < extents->size(); ++dim) {
    std::optional<int64_t> step = view.strides[dim].evaluate(symbols);
    int64_t reach;
    isCounted &= step && *step >= 0 && (*extents)[dim] >= 0 &&
                 !__builtin_mul_overflow(*step, (*extents)[dim] - 1, &reach) &&
                 !__builtin_add_overflow(largest, reach, &largest);
  }
  if (isCounted && largest < elements)
    return {};
  return makeError(Stage::Input,
                   fmt::format("kernel @{}: {} {} reaches {} of a tensor of {}", info.name, what,
                               number,
                               isCounted ? fmt::format("element {}", largest)
                                         : "beyond 64 bits or before its first element",
                               elements));
}

/// Whether an index of 32 bits holds every offset, size and divisor.
bool LayoutBuilder::offsetsFit(const SymbolicKernel &kernel) const {
  for (const SizeExpression &offset : kernel.largestOffsets) {
    std::optional<int64_t> value = offset.evaluate(symbols);
    if (!value || *value >= INT32_MAX - kOvershoot)
      return false;
  }
  auto isNarrow = [](int64_t size) { return size < INT32_MAX; };
  return std::all_of(symbols.begin(), symbols.end(), isNarrow) &&
         std::all_of(dividers.begin(), dividers.end(), isNarrow);
}

std::optional<std::vector<LaunchView>>
LayoutBuilder::launchViews(const std::vector<SymbolicView> &views) const {
  std::vector<LaunchView> result;
  for (const SymbolicView &view : views) {
    LaunchView &launch = result.emplace_back();
    launch.tensor = view.tensor;
    if (!view.tile)
      continue;
    auto bytes = [&](const SizeExpression &elements) -> std::optional<uint64_t> {
      std::optional<int64_t> value = elements.evaluate(symbols);
      uint64_t product;
      if (!value || *value < 0 ||
          __builtin_mul_overflow(uint64_t(*value), uint64_t(view.elementBytes), &product))
        return std::nullopt;
      return product;
    };
    TensorTile &tile = launch.tile.emplace();
    tile.element = view.element;
    tile.elementBytes = uint64_t(view.elementBytes);
    tile.box = view.tile->box;
    tile.swizzle = view.tile->swizzle;
    std::optional<Dims> extents = extentsOf(view);
    if (!extents)
      return std::nullopt;
    for (unsigned dim : view.tile->dims) {
      std::optional<uint64_t> stride = bytes(view.strides[dim]);
      if (!stride || (*extents)[dim] < 0)
        return std::nullopt;
      tile.extents.push_back(uint64_t((*extents)[dim]));
      tile.byteStrides.push_back(*stride);
    }
    // What lies within the innermost dimension is moved with it.
    if (uint64_t within = tile.byteStrides[0] / tile.elementBytes; within > 1) {
      if (__builtin_mul_overflow(tile.extents[0], within, &tile.extents[0]) ||
          __builtin_mul_overflow(tile.box[0], within, &tile.box[0]))
        return std::nullopt;
      tile.byteStrides[0] = tile.elementBytes;
    }
    std::optional<uint64_t> offset = bytes(view.offset);
    if (!offset)
      return std::nullopt;
    launch.tileOffset = tile.isEmpty() ? 0 : *offset;
  }
  return result;
}

/// No element is ever split, whatever the caller declares.
static uint64_t alignmentOf(const std::vector<SymbolicView> &views, size_t tensor) {
  uint64_t alignment = 1;
  for (const SymbolicView &view : views)
    if (view.tensor == tensor)
      alignment = std::max({alignment, view.alignment, uint64_t(view.elementBytes),
                            view.tile ? TensorTile::kAlignment : 1});
  return alignment;
}

void LayoutBuilder::addInputs(const SymbolicLaunch &symbolic, LaunchInfo &launch, size_t number) {
  const SymbolicKernel &kernel = variant.symbolic[symbolic.kernel];
  launch.inputs.resize(symbolic.inputs.size());
  for (size_t i = 0; i < symbolic.inputs.size(); ++i) {
    SymbolicLaunch::Place place = symbolic.inputs[i];
    LaunchTensor &tensor = launch.inputs[i];
    tensor.kind = place.kind;
    tensor.index = place.index;
    tensor.alignment = alignmentOf(kernel.inputs, i);
    tensor.type = place.kind == BufferKind::Input    ? layout.inputs[place.index]
                  : place.kind == BufferKind::Output ? layout.results[place.index]
                                                     : valueTypes[place.index];
    if (place.kind == BufferKind::Workspace)
      values[place.index].lastUse = number;
  }
}

void LayoutBuilder::addOutputs(const SymbolicLaunch &symbolic, LaunchInfo &launch, size_t number) {
  const SymbolicKernel &kernel = variant.symbolic[symbolic.kernel];
  launch.outputs.resize(symbolic.outputs.size());
  for (size_t i = 0; i < symbolic.outputs.size(); ++i) {
    SymbolicLaunch::Place place = symbolic.outputs[i];
    LaunchTensor &tensor = launch.outputs[i];
    tensor.kind = place.kind;
    tensor.index = place.index;
    tensor.alignment = alignmentOf(kernel.outputs, i);
    for (size_t view = 0; view < kernel.outputs.size(); ++view)
      if (kernel.outputs[view].tensor == i)
        tensor.type = {kernel.outputs[view].element, kernel.outputs[view].elementBytes,
                       outputShapes[view]};
    if (place.kind == BufferKind::Output) {
      // A view may say bits where the graph says f16.
      tensor.type.element = layout.results[place.index].element;
      layout.results[place.index] = tensor.type;
    } else {
      valueTypes[place.index] = tensor.type;
      values[place.index] = {number, number, tensor.type.bytes(), std::nullopt, 0};
    }
  }
}

/// What an output keeps of an input is like it, and no row is written twice.
Status LayoutBuilder::checkKept(const LaunchInfo &launch, const KernelInfo &info) const {
  for (const auto &[count, together] : variant.symbolic[launch.kernel].rows) {
    std::optional<int64_t> most = count.evaluate(symbols), rows = together.evaluate(symbols);
    if (!most || !rows || *rows > *most)
      return makeError(Stage::Input,
                       fmt::format("kernel @{} adds {} rows to a tensor that has {}", info.name,
                                   rows.value_or(INT64_MAX), most.value_or(INT64_MAX)));
  }
  for (auto [output, input] : launch.kept)
    if (const TensorType &to = launch.outputs[output].type, &from = launch.inputs[input].type;
        to.shape != from.shape || to.elementBytes != from.elementBytes)
      return makeError(Stage::Input,
                       fmt::format("kernel @{} adds rows to a tensor of {}, which is to have {}, "
                                   "because they come with other inputs",
                                   info.name, from.str(), to.str()));
  return {};
}

void LayoutBuilder::noteInPlace(const SymbolicLaunch &symbolic, size_t number) {
  const SymbolicKernel &kernel = variant.symbolic[symbolic.kernel];
  int64_t elements = 1;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(elements, extent, &elements))
      return;
  bool isExact = kernel.elementsPerBlock != 0 && elements % kernel.elementsPerBlock == 0;
  for (auto [output, input] : kernel.inPlace) {
    bool isKept = std::find(kernel.kept.begin(), kernel.kept.end(), std::pair(output, input)) !=
                  kernel.kept.end();
    if (!isExact && !isKept)
      continue;
    SymbolicLaunch::Place to = symbolic.outputs[output], from = symbolic.inputs[input];
    auto isSame = [from](SymbolicLaunch::Place other) {
      return other.kind == from.kind && other.index == from.index;
    };
    if (to.kind == BufferKind::Workspace && from.kind == BufferKind::Workspace &&
        std::count_if(symbolic.inputs.begin(), symbolic.inputs.end(), isSame) == 1)
      inPlace.push_back({number, to.index, from.index});
  }
}

/// Each output takes the first place that is given up, and each place is taken once.
void LayoutBuilder::takePlaces() {
  std::vector<bool> isTaken(values.size());
  for (const InPlace &candidate : inPlace) {
    WorkspaceValue &output = values[candidate.output];
    const WorkspaceValue &input = values[candidate.input];
    if (isTaken[candidate.input] || output.takesPlaceOf || input.lastUse != candidate.launch ||
        input.bytes != output.bytes)
      continue;
    output.takesPlaceOf = candidate.input;
    isTaken[candidate.input] = true;
  }
}

Status LayoutBuilder::addLaunch(const SymbolicLaunch &symbolic, size_t number) {
  const SymbolicKernel &kernel = variant.symbolic[symbolic.kernel];
  const KernelInfo &info = variant.kernels[symbolic.kernel];
  auto doesNotFit = [&] {
    return makeError(Stage::Input,
                     fmt::format("kernel @{}: a size does not fit 64 bits", info.name));
  };
  symbols.clear();
  for (SymbolicLaunch::Size size : symbolic.sizes)
    symbols.push_back(layout.inputs[size.argument].shape[size.dim]);
  for (auto [views, shapes] :
       {std::pair(&kernel.inputs, &inputShapes), std::pair(&kernel.outputs, &outputShapes)}) {
    shapes->resize(std::max(shapes->size(), views->size()));
    for (size_t i = 0; i < views->size(); ++i)
      if (!evaluate((*views)[i].shape, symbols, (*shapes)[i]))
        return doesNotFit();
  }
  for (size_t i = 0; i < kernel.outputs.size(); ++i)
    if (isTooLarge(outputShapes[i]))
      return makeError(Stage::Input,
                       fmt::format("kernel @{}: output {} ({}) has more than 2^48 elements",
                                   info.name, i, describe(outputShapes[i])));
  if (Status checked = checkInputs(symbolic, info); !checked)
    return checked;
  if (Status kept = checkFacts(symbolic, info); !kept)
    return kept;
  std::optional<int64_t> blocks = kernel.blocks.evaluate(symbols);
  if (!blocks || !evaluate(kernel.extents, symbols, extents) ||
      !evaluate(kernel.dividers, symbols, dividers) ||
      std::any_of(dividers.begin(), dividers.end(),
                  [](int64_t extent) { return extent > int64_t{1} << 62; }))
    return doesNotFit();
  // An empty iteration space touches nothing.
  if (std::find(extents.begin(), extents.end(), 0) == extents.end()) {
    for (size_t i = 0; i < kernel.inputs.size(); ++i)
      if (Status inside = checkBounds(info, kernel.inputs[i], "input", i, inputShapes[i]); !inside)
        return inside;
    for (size_t i = 0; i < kernel.outputs.size(); ++i)
      if (Status inside = checkBounds(info, kernel.outputs[i], "output", i, outputShapes[i]);
          !inside)
        return inside;
  }

  LaunchInfo launch;
  launch.kernel = symbolic.kernel;
  launch.threads = info.threads;
  launch.clusterSize = info.clusterSize;
  launch.dynamicSharedBytes = info.dynamicSharedBytes;
  launch.overlap = info.overlap;
  launch.scratchBytes = info.scratchBytes;
  bool isEmpty = false; // nothing is written: a reduction over nothing is
  for (size_t dim = 0; dim < extents.size(); ++dim)
    isEmpty |= extents[dim] == 0 && !kernel.isReduced[dim];
  launch.blocks = isEmpty ? 0 : uint64_t(std::max<int64_t>(info.clusterSize, *blocks));
  if (launch.blocks > 0x7fffffff)
    return makeError(Stage::Input, fmt::format("kernel @{} needs {} blocks; the limit is {}",
                                               info.name, launch.blocks, 0x7fffffff));
  if (info.indexBits == 32 && !isEmpty && !offsetsFit(kernel)) {
    fits = false;
    return {};
  }
  launch.bytesMoved = uint64_t(kernel.bytesMoved.evaluate(symbols).value_or(0));
  if (!isEmpty)
    launch.sizes = sizesBytes(symbols, dividers, info.indexBits);
  auto inputViews = launchViews(kernel.inputs), outputViews = launchViews(kernel.outputs);
  if (!inputViews || !outputViews)
    return doesNotFit();
  launch.inputViews = std::move(*inputViews);
  launch.outputViews = std::move(*outputViews);
  for (size_t i = 0; i < launch.inputViews.size(); ++i)
    if (launch.inputViews[i].tile && launch.inputViews[i].tile->isEmpty() && !isEmpty)
      return makeError(Stage::Input,
                       fmt::format("kernel @{}: input {} has no elements; needed: at least one, "
                                   "because the copy engine reads it for what is written",
                                   info.name, i));
  for (size_t i = 0; i < launch.outputViews.size(); ++i)
    if (const std::optional<TensorTile> &tile = launch.outputViews[i].tile)
      if (uint64_t row = tile->extents[0] * tile->elementBytes; row % TensorTile::kAlignment != 0)
        return makeError(Stage::Input,
                         fmt::format("kernel @{}: output {} has rows of {} bytes; needed: a "
                                     "multiple of {}, which the copy engine writes at a time",
                                     info.name, i, row, TensorTile::kAlignment));
  addInputs(symbolic, launch, number);
  addOutputs(symbolic, launch, number);
  launch.kept = kernel.kept;
  // A kernel that may have both in one memory reads what it has written, wherever the input is.
  for (const auto &pair : kernel.kept)
    if (std::find(kernel.inPlace.begin(), kernel.inPlace.end(), pair) != kernel.inPlace.end())
      launch.readBehind.push_back(pair);
  if (Status fits = checkKept(launch, info); !fits)
    return fits;
  noteInPlace(symbolic, number);
  // Behind the values that launches hand to each other.
  if (launch.scratchBytes && launch.blocks) {
    scratch.push_back({number, values.size()});
    values.push_back({number, number, launch.scratchBytes, std::nullopt, 0});
  }
  layout.launches.push_back(std::move(launch));
  return {};
}

Status LayoutBuilder::run() {
  for (size_t i = 0; i < variant.launches.size() && fits; ++i)
    if (Status added = addLaunch(variant.launches[i], i); !added)
      return added;
  if (!fits)
    return {};
  takePlaces();
  WorkspaceSize size = placeValues(values);
  layout.workspaceBytes = size.bytes;
  layout.workspaceLowerBound = size.lowerBound;
  for (auto [launch, value] : scratch)
    layout.launches[launch].scratchOffset = values[value].offset;
  for (LaunchInfo &launch : layout.launches)
    for (auto *tensors : {&launch.inputs, &launch.outputs})
      for (LaunchTensor &tensor : *tensors)
        if (tensor.kind == BufferKind::Workspace)
          tensor.offset = values[tensor.index].offset;
  return {};
}

Expected<std::optional<Layout>> Variant::layOut(const std::vector<Dims> &inputs) const {
  auto actual = actualInputs(*this, inputs);
  if (!actual)
    return actual.takeError();
  if (Status held = checkGuards(*this, *actual); !held)
    return held.takeError();
  LayoutBuilder builder(*this, std::move(*actual));
  if (Status built = builder.run(); !built)
    return built.takeError();
  if (!builder.fits)
    return std::optional<Layout>();
  return std::optional<Layout>(std::move(builder.layout));
}
