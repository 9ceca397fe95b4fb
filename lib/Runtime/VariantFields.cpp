//===- VariantFields.cpp - Variants as bytes ------------------------------===//

#include "VariantFields.h"

#include <algorithm>

using namespace swage;

void fields::Writer::shared(const std::shared_ptr<const KernelBinary> &shared) {
  if (!shared)
    return number(uint32_t(0));
  // By its fields, so that equal kernels of several variants are one.
  std::string before = std::move(bytes);
  bytes.clear();
  binary(*this, *shared);
  auto [known, isNew] = binaryNumbers.try_emplace(std::move(bytes), tables.binaries.size() + 1);
  if (isNew)
    tables.binaries.push_back(shared);
  bytes = std::move(before);
  number(known->second);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isAlignment(uint64_t bytes) {
  return bytes > 0 && bytes <= 1 << 20 && (bytes & (bytes - 1)) == 0;
}

const char *fields::checkTypes(const std::vector<TensorType> &types) {
  for (const TensorType &type : types) {
    std::optional<ElementType> element = elementNamed(type.element);
    if (!element || elementBytes(*element) != type.elementBytes)
      return "an element type is unknown";
    for (int64_t extent : type.shape)
      if (extent < 0 && extent != TensorType::kDynamic)
        return "an extent is negative";
  }
  return nullptr;
}

static bool areMet(const std::vector<Guards::Extent> &promises) {
  for (const Guards::Extent &extent : promises)
    if (extent.multipleOf < 1 || extent.atMost < 0)
      return false;
  return true;
}

static const char *checkGuards(const Guards &guards, size_t tensors, size_t extents) {
  if ((guards.indexBits != 32 && guards.indexBits != 64) || guards.alignment.size() != tensors ||
      guards.extents.size() != extents)
    return "guards are of another program";
  for (uint8_t bytes : guards.alignment)
    if (!isAlignment(bytes))
      return "an alignment is no power of two";
  return areMet(guards.extents) ? nullptr : "a guard on an extent holds for none";
}

/// The rest is checked where it becomes a tensor map (TensorTile.cpp).
static bool isOf(const SymbolicTile &tile, const SymbolicKernel &kernel) {
  return !tile.dims.empty() && std::all_of(tile.dims.begin(), tile.dims.end(), [&](unsigned dim) {
    return dim < kernel.extents.size();
  });
}

/// Of one launch's own memory: what the parts of few queries' attention take is 16 MB at most.
static constexpr uint64_t kMostScratchBytes = uint64_t(1) << 30;

static const char *checkKernel(const KernelInfo &info, const SymbolicKernel &kernel,
                               const std::string &arch) {
  if (info.threads < 1 || info.threads > 1024 || (info.indexBits != 32 && info.indexBits != 64))
    return "a kernel has no such launch";
  if (info.clusterSize < 1 || info.clusterSize > 16 || info.dynamicSharedBytes > 1 << 20 ||
      info.scratchBytes > kMostScratchBytes)
    return "a kernel has no such clusters or memory";
  if (info.binary && (info.binary->arch != arch || info.binary->name != info.name))
    return "machine code is of another kernel";
  if (kernel.isReduced.size() != kernel.extents.size())
    return "an iteration space has two ranks";
  if (!areMet(kernel.facts))
    return "what a kernel relies on holds for no size";
  for (auto *views : {&kernel.inputs, &kernel.outputs})
    for (const SymbolicView &view : *views)
      if (view.strides.size() != kernel.extents.size() || !isAlignment(view.alignment) ||
          view.elementBytes < 1 || view.elementBytes > 8 ||
          (!view.extents.empty() && view.extents.size() != kernel.extents.size()) ||
          (view.tile && !isOf(*view.tile, kernel)))
        return "an access does not fit its kernel";
  if (kernel.elementsPerBlock < 0)
    return "a block takes fewer than no elements";
  return nullptr;
}

/// Every position that a layout looks up, and that values are written before they are read.
static const char *checkLaunches(const Variant &variant) {
  std::vector<bool> written(variant.results.size()), stored;
  auto isWritten = [&](SymbolicLaunch::Place place) {
    switch (place.kind) {
    case BufferKind::Input:
      return place.index < variant.inputs.size();
    case BufferKind::Output:
      return place.index < written.size() && written[place.index];
    case BufferKind::Workspace:
      return place.index < stored.size() && stored[place.index];
    }
    return false;
  };
  // Writes a place that is not written yet.
  auto write = [&](SymbolicLaunch::Place place) {
    if (place.kind == BufferKind::Workspace && place.index == stored.size())
      stored.push_back(false);
    bool isOutput = place.kind == BufferKind::Output;
    std::vector<bool> &all = isOutput ? written : stored;
    if ((!isOutput && place.kind != BufferKind::Workspace) || place.index >= all.size() ||
        all[place.index])
      return false;
    all[place.index] = true;
    return true;
  };
  for (const SymbolicLaunch &launch : variant.launches) {
    if (launch.kernel >= variant.kernels.size())
      return "a launch has no kernel";
    for (SymbolicLaunch::Size size : launch.sizes)
      if (size.argument >= variant.inputs.size() ||
          size.dim >= variant.inputs[size.argument].shape.size())
        return "a runtime size is of no input";
    for (SymbolicLaunch::Place place : launch.inputs)
      if (!isWritten(place))
        return "a launch reads what is not written";
    for (SymbolicLaunch::Place place : launch.outputs)
      if (!write(place))
        return "a launch writes what it must not";
    const SymbolicKernel &kernel = variant.symbolic[launch.kernel];
    for (const SymbolicView &view : kernel.inputs)
      if (view.tensor >= launch.inputs.size())
        return "a kernel has more inputs than its launch";
    for (const SymbolicView &view : kernel.outputs)
      if (view.tensor >= launch.outputs.size())
        return "a kernel has more outputs than its launch";
      else if (SymbolicLaunch::Place to = launch.outputs[view.tensor];
               to.kind == BufferKind::Output &&
               (view.shape.size() != variant.results[to.index].shape.size() ||
                view.elementBytes != variant.results[to.index].elementBytes))
        return "a launch writes another type than the result has";
    for (const auto &pairs : {kernel.inPlace, kernel.kept})
      for (auto [output, input] : pairs)
        if (output >= launch.outputs.size() || input >= launch.inputs.size())
          return "a kernel works in place on what its launch does not have";
  }
  for (auto [result, input] : variant.aliases)
    if (result >= variant.results.size() || input >= variant.inputs.size())
      return "memory is shared with what is not there";
  if (stored.size() != variant.workspaceValues)
    return "the number of intermediate tensors is another";
  for (bool each : written)
    if (!each)
      return "a result is not written";
  return nullptr;
}

const char *fields::checkVariant(const Variant &variant, size_t dynamicExtents) {
  if (const char *problem = checkGuards(
          variant.guards, variant.inputs.size() + variant.results.size(), dynamicExtents))
    return problem;
  if (variant.symbolic.size() != variant.kernels.size())
    return "a kernel is described twice or not at all";
  for (size_t i = 0; i < variant.kernels.size(); ++i)
    if (const char *problem =
            checkKernel(variant.kernels[i], variant.symbolic[i], variant.guards.arch))
      return problem;
  return checkLaunches(variant);
}
