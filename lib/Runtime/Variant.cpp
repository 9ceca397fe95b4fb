//===- Variant.cpp - A program's kernels for one set of guards ------------===//

#include "swage/Runtime/Variant.h"
#include "swage/Runtime/Trace.h"
#include "swage/Support/ShapeClass.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace swage;

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

std::vector<SymbolicLaunch::Size> swage::dynamicExtents(const std::vector<TensorType> &inputs) {
  std::vector<SymbolicLaunch::Size> places;
  for (unsigned i = 0; i < inputs.size(); ++i)
    for (unsigned dim = 0; dim < inputs[i].shape.size(); ++dim)
      if (inputs[i].shape[dim] == TensorType::kDynamic)
        places.push_back({i, dim});
  return places;
}

std::vector<Guards::Extent> swage::extentClasses(const std::vector<ExtentNeeds> &needs,
                                                 const Dims &extents) {
  std::vector<Guards::Extent> classes;
  for (size_t i = 0; i < extents.size(); ++i) {
    Guards::Extent extent = needs[i].promised;
    int64_t multiple = needs[i].multiple ? multipleClass(extents[i]) : 1, common;
    if (!__builtin_mul_overflow(extent.multipleOf / std::gcd(extent.multipleOf, multiple), multiple,
                                &common))
      extent.multipleOf = common;
    for (int64_t limit : {needs[i].limit ? limitClass(extents[i]) : 0,
                          needs[i].count ? countClass(extents[i]) : 0})
      if (limit != 0 && (extent.atMost == 0 || limit < extent.atMost))
        extent.atMost = limit;
    classes.push_back(extent);
  }
  return classes;
}

bool swage::operator==(const Guards &a, const Guards &b) {
  auto isSame = [](const Guards::Extent &x, const Guards::Extent &y) {
    return x.multipleOf == y.multipleOf && x.atMost == y.atMost;
  };
  return a.arch == b.arch && a.indexBits == b.indexBits && a.alignment == b.alignment &&
         std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end(), isSame);
}

std::string Guards::str(const std::vector<TensorType> &inputs) const {
  std::vector<std::string> parts{arch, fmt::format("{}-bit offsets", indexBits)};
  std::vector<std::string> bytes;
  for (uint8_t each : alignment)
    bytes.push_back(std::to_string(each));
  if (std::adjacent_find(bytes.begin(), bytes.end(), std::not_equal_to<>()) == bytes.end())
    bytes.resize(std::min<size_t>(bytes.size(), 1));
  if (!bytes.empty())
    parts.push_back(fmt::format("addresses aligned to {} bytes", join(bytes, "/")));
  std::vector<SymbolicLaunch::Size> places = dynamicExtents(inputs);
  for (size_t i = 0; i < std::min(places.size(), extents.size()); ++i) {
    std::vector<std::string> facts;
    if (extents[i].multipleOf > 1)
      facts.push_back(fmt::format("a multiple of {}", extents[i].multipleOf));
    if (extents[i].atMost > 0)
      facts.push_back(fmt::format("at most {}", extents[i].atMost));
    if (!facts.empty())
      parts.push_back(fmt::format("input {} dimension {} {}", places[i].argument, places[i].dim,
                                  join(facts, " and ")));
  }
  return join(parts, ", ");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<Kernel>> Variant::load(const KernelInfo &kernel, const Device &device,
                                                const Context *context) const {
  if (!kernel.binary)
    return makeError(Stage::Load, fmt::format("kernel @{} has no machine code", kernel.name));
  std::pair<const KernelBinary *, const cuda::Driver *> key(kernel.binary.get(),
                                                            device.sharedDriver().get());
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto known = loaded.find(key); known != loaded.end() && known->second->isPrepared(device))
      return known->second;
  }
  // Outside of the lock, which no sink of events may hold up.
  std::optional<TraceSpan> span;
  if (context)
    span.emplace(*context, TraceEvent::Kind::Load, kernel.name,
                 fmt::format("{} on device {}", kernel.binary->arch, device.ordinal()));
  std::lock_guard<std::mutex> lock(mutex);
  auto failed = [&](Error error) {
    if (span)
      span->cancel();
    return error;
  };
  auto known = loaded.find(key);
  if (known == loaded.end()) {
    auto fresh = Kernel::load(device.sharedDriver(), *kernel.binary);
    if (!fresh)
      return failed(fresh.takeError());
    known = loaded.emplace(key, *fresh).first;
  } else if (known->second->isPrepared(device) && span) {
    span->cancel(); // by another thread, meanwhile
  }
  if (auto function = known->second->prepare(device, kernel.dynamicSharedBytes, kernel.clusterSize);
      !function)
    return failed(function.takeError());
  return known->second;
}

bool Variant::isLoaded(const Device &device, const Layout &layout) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (const LaunchInfo &launch : layout.launches) {
    auto known = loaded.find({kernels[launch.kernel].binary.get(), device.sharedDriver().get()});
    if (launch.blocks != 0 && (known == loaded.end() || !known->second->isPrepared(device)))
      return false;
  }
  return true;
}

/// A launch as a plan holds it: the kernel that it runs, its blocks and threads, and its arguments
/// in the order of the views.
static LaunchSpec freeze(const LaunchInfo &launch, std::shared_ptr<Kernel> kernel) {
  LaunchSpec spec;
  spec.kernel = std::move(kernel);
  spec.grid[0] = launch.blocks;
  spec.threads = launch.threads;
  spec.clusterSize = launch.clusterSize;
  spec.dynamicSharedBytes = launch.dynamicSharedBytes;
  spec.overlap = launch.overlap;
  auto placeOf = [](const LaunchTensor &tensor, uint64_t offset = 0) {
    unsigned index = tensor.kind == BufferKind::Workspace ? 0 : tensor.index;
    return LaunchArgument::buffer(tensor.kind, index, tensor.offset + offset);
  };
  for (auto [output, input] : launch.kept)
    spec.copies.push_back({placeOf(launch.inputs[input]), placeOf(launch.outputs[output]),
                           launch.outputs[output].type.bytes()});
  for (bool isOutput : {false, true})
    for (const LaunchView &view : isOutput ? launch.outputViews : launch.inputViews) {
      const LaunchTensor *tensor = &(isOutput ? launch.outputs : launch.inputs)[view.tensor];
      for (auto [output, input] : launch.readBehind)
        if (!isOutput && input == view.tensor)
          tensor = &launch.outputs[output];
      auto place = placeOf(*tensor, view.tileOffset);
      spec.arguments.push_back(view.tile ? LaunchArgument::tile(std::move(place), *view.tile)
                                         : std::move(place));
    }
  if (launch.scratchBytes)
    spec.arguments.push_back(LaunchArgument::workspace(launch.scratchOffset));
  if (!launch.sizes.empty())
    spec.arguments.push_back(LaunchArgument::value(launch.sizes));
  return spec;
}

Expected<Plan> Variant::plan(const Device &device, const Layout &layout,
                             const Context *context) const {
  PlanSpec spec;
  for (size_t i = 0; i < layout.inputs.size(); ++i)
    spec.inputs.push_back({fmt::format("argument {}", i), layout.inputs[i].bytes(), 1});
  for (size_t i = 0; i < layout.results.size(); ++i)
    spec.outputs.push_back({fmt::format("result {}", i), layout.results[i].bytes(), 1});
  spec.workspaceBytes = layout.workspaceBytes;
  spec.aliases = aliases;
  for (const LaunchInfo &launch : layout.launches) {
    if (launch.blocks == 0 && launch.kept.empty())
      continue;
    for (auto *tensors : {&launch.inputs, &launch.outputs})
      for (const LaunchTensor &tensor : *tensors)
        if (tensor.kind != BufferKind::Workspace) {
          BufferSpec &buffer =
              (tensor.kind == BufferKind::Input ? spec.inputs : spec.outputs)[tensor.index];
          buffer.alignment = std::max(buffer.alignment, tensor.alignment);
        }
    // What is always empty has no machine code; a result may keep what an argument holds all the
    // same.
    Expected<std::shared_ptr<Kernel>> kernel = std::shared_ptr<Kernel>();
    if (launch.blocks != 0)
      kernel = load(kernels[launch.kernel], device, context);
    if (!kernel)
      return kernel.takeError();
    spec.launches.push_back(freeze(launch, *kernel));
  }
  return Plan::create(device, std::move(spec));
}

Expected<Plan> Variant::planLaunch(const Device &device, const Layout &layout, size_t index,
                                   const Context *context) const {
  LaunchInfo launch = layout.launches[index];
  launch.kept.clear(); // what the kernel does not write is the caller's
  launch.readBehind.clear();
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
  launch.scratchOffset = 0;
  spec.workspaceBytes = launch.scratchBytes;
  if (launch.blocks != 0) {
    auto kernel = load(kernels[launch.kernel], device, context);
    if (!kernel)
      return kernel.takeError();
    spec.launches.push_back(freeze(launch, *kernel));
  }
  return Plan::create(device, std::move(spec));
}
