//===- Executable.cpp - Shapes to launches --------------------------------===//
//
// Everything symbolic of a launch is evaluated here, once for each set of shapes: runtime sizes,
// checks, blocks, the bytes of the sizes parameter, and where intermediate tensors lie.
//
//===----------------------------------------------------------------------===//
#include "ExecutableState.h"

#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Runtime/Divider.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;

/// Offsets that a block may form beyond the last element; the schedules count on the same.
static constexpr int64_t kOvershoot = 1 << 20;
static constexpr uint64_t kWorkspaceAlignment = 256;

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
static std::string sizesBytes(llvm::ArrayRef<int64_t> symbols, llvm::ArrayRef<int64_t> dividers,
                              int indexBits) {
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

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

namespace {
struct WorkspaceValue {
  size_t firstUse = 0, lastUse = 0; ///< launches
  uint64_t bytes = 0, offset = 0;
  bool placed = false;
};
} // namespace

/// Places each value at the lowest offset where no value lies that is in use at the same time.
/// Returns the bytes of the whole.
static uint64_t placeValues(std::vector<WorkspaceValue> &values) {
  uint64_t total = 0;
  for (WorkspaceValue &value : values) {
    std::vector<const WorkspaceValue *> live;
    for (const WorkspaceValue &other : values)
      if (other.placed && other.firstUse <= value.lastUse && value.firstUse <= other.lastUse)
        live.push_back(&other);
    std::sort(live.begin(), live.end(), [](auto *a, auto *b) { return a->offset < b->offset; });
    uint64_t offset = 0;
    for (const WorkspaceValue *other : live) {
      if (offset + value.bytes <= other->offset)
        break;
      uint64_t end = other->offset + other->bytes;
      offset = std::max(offset, (end + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                    kWorkspaceAlignment);
    }
    value.offset = offset;
    value.placed = true;
    total = std::max(total, offset + value.bytes);
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static std::string describe(const Dims &dims) {
  std::vector<std::string> texts;
  for (int64_t extent : dims)
    texts.push_back(std::to_string(extent));
  return join(texts, "x");
}

/// The declared types with the actual extents.
static Expected<std::vector<TensorType>> actualInputs(const Program::State &program,
                                                      const std::vector<Dims> &inputs) {
  if (inputs.size() != program.inputs.size())
    return makeError(Stage::Input,
                     fmt::format("the shapes of {} inputs are given; @{} has {}", inputs.size(),
                                 program.entryName, program.inputs.size()));
  std::vector<TensorType> actual = program.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TensorType &type = actual[i];
    if (inputs[i].size() != type.shape.size())
      return makeError(Stage::Input, fmt::format("input {} has {} dimensions ({}); needed: {} ({})",
                                                 i, inputs[i].size(), describe(inputs[i]),
                                                 type.shape.size(), program.inputs[i].str()));
    int64_t elements = 1;
    for (size_t dim = 0; dim < inputs[i].size(); ++dim) {
      int64_t extent = inputs[i][dim], declared = program.inputs[i].shape[dim];
      if (extent < 0)
        return makeError(Stage::Input,
                         fmt::format("input {} has extent {} in dimension {}", i, extent, dim));
      if (declared != TensorType::kDynamic && extent != declared)
        return makeError(Stage::Input,
                         fmt::format("input {} has extent {} in dimension {}; needed: {} ({})", i,
                                     extent, dim, declared, program.inputs[i].str()));
      if (__builtin_mul_overflow(elements, std::max<int64_t>(extent, 1), &elements) ||
          elements > int64_t{1} << 48)
        return makeError(Stage::Input, fmt::format("input {} ({}) has more than 2^48 elements", i,
                                                   describe(inputs[i])));
      type.shape[dim] = extent;
    }
  }
  return actual;
}

namespace {
class LayoutBuilder {
public:
  LayoutBuilder(const Program::State &program, Variant &variant,
                const std::vector<TensorType> &inputs)
      : program(program), variant(variant) {
    layout.inputs = inputs;
    layout.results = program.results;
    layout.kernels = variant.kernels;
    layout.indexBits = 32;
    for (const KernelInfo &kernel : variant.kernels)
      layout.indexBits = std::max(layout.indexBits, kernel.indexBits);
    values.resize(variant.workspaceValues);
    valueTypes.resize(variant.workspaceValues);
  }

  Status run();

  Layout layout;
  bool fits = true;

private:
  Status addLaunch(const SymbolicLaunch &symbolic, size_t number);
  Expected<llvm::SmallVector<int64_t>> evaluate(mlir::AffineMap map, KernelOp kernel,
                                                llvm::ArrayRef<int64_t> symbols) const;
  Status checkInputs(const SymbolicLaunch &symbolic, KernelOp kernel,
                     llvm::ArrayRef<int64_t> symbols) const;
  LaunchTensor tensor(SymbolicLaunch::Place place, TensorType type, uint64_t alignment,
                      size_t launch);

  const Program::State &program;
  Variant &variant;
  std::vector<WorkspaceValue> values;
  std::vector<TensorType> valueTypes;
};
} // namespace

Expected<llvm::SmallVector<int64_t>>
LayoutBuilder::evaluate(mlir::AffineMap map, KernelOp kernel,
                        llvm::ArrayRef<int64_t> symbols) const {
  auto values = evaluateSizes(map, symbols);
  if (!values)
    return makeError(Stage::Input, fmt::format("kernel @{}: a size does not fit 64 bits",
                                               kernel.getSymName().str()));
  return std::move(*values);
}

/// The shapes that a kernel expects against the arguments' own.
Status LayoutBuilder::checkInputs(const SymbolicLaunch &symbolic, KernelOp kernel,
                                  llvm::ArrayRef<int64_t> symbols) const {
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>()) {
    SymbolicLaunch::Place place = symbolic.inputs[view.getTensor()];
    if (place.kind != BufferKind::Input)
      continue;
    auto needed = evaluate(view.getShape(), kernel, symbols);
    if (!needed)
      return needed.takeError();
    const Dims &actual = layout.inputs[place.index].shape;
    if (actual.size() != needed->size())
      continue; // a cast to another rank does not exist
    for (size_t dim = 0; dim < actual.size(); ++dim)
      if (actual[dim] != (*needed)[dim])
        return makeError(
            Stage::Input,
            fmt::format("input {} ({}) has extent {} in dimension {}; needed: {}, because kernel "
                        "@{} reads it together with other inputs",
                        place.index, layout.inputs[place.index].str(), actual[dim], dim,
                        (*needed)[dim], kernel.getSymName().str()));
  }
  return {};
}

LaunchTensor LayoutBuilder::tensor(SymbolicLaunch::Place place, TensorType type, uint64_t alignment,
                                   size_t launch) {
  LaunchTensor tensor;
  tensor.kind = place.kind;
  tensor.alignment = alignment;
  if (place.kind == BufferKind::Workspace) {
    WorkspaceValue &value = values[place.index];
    value.lastUse = launch;
    value.bytes = type.bytes();
  }
  tensor.index = place.index;
  tensor.type = std::move(type);
  return tensor;
}

Status LayoutBuilder::addLaunch(const SymbolicLaunch &symbolic, size_t number) {
  KernelOp kernel = variant.ops[symbolic.kernel];
  const KernelInfo &info = variant.kernels[symbolic.kernel];
  llvm::SmallVector<int64_t> symbols;
  for (SymbolicLaunch::Size size : symbolic.sizes)
    symbols.push_back(layout.inputs[size.argument].shape[size.dim]);
  if (Status checked = checkInputs(symbolic, kernel, symbols); !checked)
    return checked;

  if (std::string problem = kernel.findOutOfBounds(symbols); !problem.empty())
    return makeError(Stage::Input, fmt::format("kernel @{}: {}", info.name, problem));
  LaunchAttr geometry = kernel.getGeometryAttr();
  auto extents = evaluate(kernel.getExtents(), kernel, symbols);
  auto blocks = evaluate(geometry.getBlocks(), kernel, symbols);
  auto dividers = evaluate(geometry.getDividers(), kernel, symbols);
  for (auto *values : {&extents, &blocks, &dividers})
    if (!*values)
      return values->takeError();

  LaunchInfo launch;
  launch.kernel = symbolic.kernel;
  launch.threads = unsigned(geometry.getThreads());
  bool isEmpty = false;
  for (size_t dim = 0; dim < extents->size(); ++dim)
    isEmpty |= (*extents)[dim] == 0 && !llvm::is_contained(kernel.getReduced(), int64_t(dim));
  launch.blocks = isEmpty ? 0 : uint64_t(std::max<int64_t>(1, (*blocks)[0]));
  if (launch.blocks > 0x7fffffff)
    return makeError(Stage::Input, fmt::format("kernel @{} needs {} blocks; the limit is {}",
                                               info.name, launch.blocks, 0x7fffffff));
  if (info.indexBits == 32 && !isEmpty) {
    for (mlir::AffineExpr offset : largestOffsets(kernel)) {
      auto value = evaluateSize(offset, symbols);
      fits &= value && *value < INT32_MAX - kOvershoot;
    }
    for (int64_t symbol : symbols)
      fits &= symbol < INT32_MAX;
    if (!fits)
      return {};
  }
  auto moved = evaluateSize(bytesMoved(kernel), symbols);
  launch.bytesMoved = moved ? uint64_t(*moved) : 0;
  launch.sizes = sizesBytes(symbols, *dividers, info.indexBits);

  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
    launch.inputViews.push_back(unsigned(view.getTensor()));
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    launch.outputViews.push_back(unsigned(view.getTensor()));
  // No element is ever split, whatever the caller declares.
  auto alignmentOf = [](mlir::ArrayAttr views, int64_t tensor) {
    int64_t alignment = 1;
    for (ViewAttr view : views.getAsRange<ViewAttr>())
      if (view.getTensor() == tensor)
        alignment = std::max({alignment, view.getAlign(), elementBytes(view.getElement())});
    return uint64_t(alignment);
  };
  for (size_t i = 0; i < symbolic.inputs.size(); ++i) {
    SymbolicLaunch::Place place = symbolic.inputs[i];
    TensorType type = place.kind == BufferKind::Input    ? layout.inputs[place.index]
                      : place.kind == BufferKind::Output ? layout.results[place.index]
                                                         : valueTypes[place.index];
    launch.inputs.push_back(
        tensor(place, std::move(type), alignmentOf(kernel.getInputs(), int64_t(i)), number));
  }
  for (size_t i = 0; i < symbolic.outputs.size(); ++i) {
    SymbolicLaunch::Place place = symbolic.outputs[i];
    TensorType type;
    for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>()) {
      if (view.getTensor() != int64_t(i))
        continue;
      auto shape = evaluate(view.getShape(), kernel, symbols);
      if (!shape)
        return shape.takeError();
      llvm::raw_string_ostream(type.element) << view.getElement();
      type.elementBytes = elementBytes(view.getElement());
      type.shape.assign(shape->begin(), shape->end());
    }
    if (place.kind == BufferKind::Output) {
      // A view may say bits where the graph says f16.
      type.element = layout.results[place.index].element;
      layout.results[place.index] = type;
    } else {
      valueTypes[place.index] = type;
      values[place.index].firstUse = number;
    }
    launch.outputs.push_back(
        tensor(place, std::move(type), alignmentOf(kernel.getOutputs(), int64_t(i)), number));
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
  layout.workspaceBytes = placeValues(values);
  for (LaunchInfo &launch : layout.launches)
    for (auto *tensors : {&launch.inputs, &launch.outputs})
      for (LaunchTensor &tensor : *tensors)
        if (tensor.kind == BufferKind::Workspace)
          tensor.offset = values[tensor.index].offset;
  return {};
}

Expected<std::optional<Layout>> swage::layOut(const Program::State &program, Variant &variant,
                                              const std::vector<Dims> &inputs) {
  auto actual = actualInputs(program, inputs);
  if (!actual)
    return actual.takeError();
  LayoutBuilder builder(program, variant, *actual);
  if (Status built = builder.run(); !built)
    return built.takeError();
  if (!builder.fits)
    return std::optional<Layout>();
  return std::optional<Layout>(std::move(builder.layout));
}

//===----------------------------------------------------------------------===//
// Executable
//===----------------------------------------------------------------------===//

const Variant &Executable::State::variant(int indexBits) {
  // Once made, the wide variant stays as it is.
  std::lock_guard<std::mutex> lock(mutex);
  return indexBits == 64 && wide ? *wide : narrow;
}

std::vector<KernelInfo> Executable::kernels(int indexBits) const {
  return state->variant(indexBits).kernels;
}
const std::vector<std::string> &Executable::remarks(int indexBits) const {
  return state->variant(indexBits).remarks;
}
const std::vector<std::string> &Executable::storedLocations(int indexBits) const {
  return state->variant(indexBits).stored;
}

Expected<Layout> Executable::layout(const std::vector<Dims> &inputs) const {
  // The program's context is not safe to use from several threads.
  std::lock_guard<std::mutex> lock(state->program->mutex);
  auto narrow = layOut(*state->program, state->narrow, inputs);
  if (!narrow)
    return narrow.takeError();
  if (*narrow)
    return std::move(**narrow);
  std::lock_guard<std::mutex> own(state->mutex);
  if (!state->wide) {
    auto variant = compileVariant(*state->program, state->options, 64);
    if (!variant)
      return variant.takeError();
    state->wide = std::move(*variant);
  }
  auto wide = layOut(*state->program, *state->wide, inputs);
  if (!wide)
    return wide.takeError();
  if (*wide)
    return std::move(**wide);
  return makeError(Stage::Input, "offsets do not fit 64 bits");
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

Expected<std::shared_ptr<Kernel>> Executable::State::load(const KernelInfo &kernel,
                                                          const Device &device) {
  std::lock_guard<std::mutex> lock(mutex);
  auto &entry = loaded[{kernel.binary.get(), device.sharedDriver().get()}];
  if (!entry) {
    auto fresh = Kernel::load(device.sharedDriver(), *kernel.binary);
    if (!fresh)
      return fresh.takeError();
    entry = *fresh;
  }
  return entry;
}

/// A launch as a plan holds it: the kernel that it runs, its blocks and threads, and its arguments
/// in the order of the views.
static LaunchSpec freeze(const LaunchInfo &launch, std::shared_ptr<Kernel> kernel) {
  LaunchSpec spec;
  spec.kernel = std::move(kernel);
  spec.grid[0] = launch.blocks;
  spec.threads = launch.threads;
  auto add = [&](const LaunchTensor &tensor) {
    unsigned index = tensor.kind == BufferKind::Workspace ? 0 : tensor.index;
    spec.arguments.push_back(LaunchArgument::buffer(tensor.kind, index, tensor.offset));
  };
  for (unsigned tensor : launch.inputViews)
    add(launch.inputs[tensor]);
  for (unsigned tensor : launch.outputViews)
    add(launch.outputs[tensor]);
  if (!launch.sizes.empty())
    spec.arguments.push_back(LaunchArgument::value(launch.sizes));
  return spec;
}

Expected<Plan> Executable::plan(const Device &device, const std::vector<Dims> &inputs) const {
  auto layout = this->layout(inputs);
  if (!layout)
    return layout.takeError();
  PlanSpec spec;
  for (size_t i = 0; i < layout->inputs.size(); ++i)
    spec.inputs.push_back({fmt::format("argument {}", i), layout->inputs[i].bytes(), 1});
  for (size_t i = 0; i < layout->results.size(); ++i)
    spec.outputs.push_back({fmt::format("result {}", i), layout->results[i].bytes(), 1});
  spec.workspaceBytes = layout->workspaceBytes;
  for (const LaunchInfo &launch : layout->launches) {
    if (launch.blocks == 0)
      continue;
    for (auto *tensors : {&launch.inputs, &launch.outputs})
      for (const LaunchTensor &tensor : *tensors)
        if (tensor.kind != BufferKind::Workspace) {
          BufferSpec &buffer =
              (tensor.kind == BufferKind::Input ? spec.inputs : spec.outputs)[tensor.index];
          buffer.alignment = std::max(buffer.alignment, tensor.alignment);
        }
    auto kernel = state->load(layout->kernels[launch.kernel], device);
    if (!kernel)
      return kernel.takeError();
    spec.launches.push_back(freeze(launch, *kernel));
  }
  return Plan::create(device, std::move(spec));
}

Expected<Plan> Executable::planLaunch(const Device &device, const Layout &layout,
                                      size_t index) const {
  LaunchInfo launch = layout.launches[index];
  PlanSpec spec;
  for (auto [tensors, kind, buffers] :
       {std::tuple(&launch.inputs, BufferKind::Input, &spec.inputs),
        std::tuple(&launch.outputs, BufferKind::Output, &spec.outputs)})
    for (LaunchTensor &tensor : *tensors) {
      tensor.kind = kind;
      tensor.index = unsigned(buffers->size());
      tensor.offset = 0;
      buffers->push_back({fmt::format("tensor {}", tensor.index), tensor.type.bytes(),
                          std::max<uint64_t>(tensor.alignment, 1)});
    }
  if (launch.blocks != 0) {
    auto kernel = state->load(layout.kernels[launch.kernel], device);
    if (!kernel)
      return kernel.takeError();
    spec.launches.push_back(freeze(launch, *kernel));
  }
  return Plan::create(device, std::move(spec));
}
