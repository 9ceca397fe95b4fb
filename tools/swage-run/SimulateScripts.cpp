//===- SimulateScripts.cpp - Kernels of a dump on the simulator -----------===//

#include "SimulateScripts.h"

#include "swage/Support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace swage;

template <class List> static std::string extentsOf(const List &numbers) {
  std::string text;
  for (auto number : numbers)
    text += (text.empty() ? "" : "x") + std::to_string(number);
  return text;
}

/// The map of what lies at byte `at` of argument `buffer`.
static std::string mapArgument(const TensorTile &tile, uint64_t at, size_t buffer) {
  static const char *const types[] = {"i32", "i64", "f16", "bf16", "f32", "f64"};
  bool isKnown = std::find(std::begin(types), std::end(types), tile.element) != std::end(types);
  std::string text = fmt::format(" --arg=map:{}:{}:box={}:of={}:at={}",
                                 isKnown ? tile.element : fmt::format("u{}", 8 * tile.elementBytes),
                                 extentsOf(tile.extents), extentsOf(tile.box), buffer, at);
  std::vector<uint64_t> strides;
  for (size_t dim = 1; dim < tile.extents.size(); ++dim)
    strides.push_back(tile.extents[dim] > 1 ? tile.byteStrides[dim] : TensorTile::kAlignment);
  if (!strides.empty())
    text += ":strides=" + extentsOf(strides);
  return tile.swizzle ? text + fmt::format(":swizzle={}", tile.swizzle) : text;
}

Status swage::writeSimulateScripts(const std::string &directory, const std::string &arch,
                                   const Layout &layout, const std::vector<KernelInfo> &kernels) {
  std::map<unsigned, std::string> scripts;
  for (const LaunchInfo &launch : layout.launches) {
    const KernelInfo &kernel = kernels[launch.kernel];
    if (launch.blocks == 0)
      continue;
    std::string command =
        fmt::format("swage-sim \"$(dirname \"$0\")/{}.cu\" --arch={} --grid={} --block={}",
                    kernel.name, arch, launch.blocks, launch.threads);
    if (launch.clusterSize > 1)
      command += fmt::format(" --cluster={}", launch.clusterSize);
    if (launch.dynamicSharedBytes > 0)
      command += fmt::format(" --shared={}", launch.dynamicSharedBytes);
    std::vector<const LaunchTensor *> given; // null: a map
    auto add = [&](const char *kind, const LaunchTensor &tensor, const LaunchView &view) {
      auto known = std::find(given.begin(), given.end(), &tensor);
      size_t buffer = size_t(known - given.begin());
      if (known == given.end() || !view.tile) {
        std::string extents = tensor.type.shape.empty() ? "1" : extentsOf(tensor.type.shape);
        // What is only moved may be bits without a type.
        const char *element = tensor.type.element == "i16" ? "f16" : tensor.type.element.c_str();
        command += known == given.end()
                       ? fmt::format(" --arg={}{}:{}:{}", view.tile ? "buffer:" : "", kind, element,
                                     extents)
                       : fmt::format(" --arg=same:{}", buffer);
        given.push_back(&tensor);
      }
      if (view.tile) {
        command += mapArgument(*view.tile, view.tileOffset, buffer);
        given.push_back(nullptr);
      }
    };
    for (const LaunchView &view : launch.inputViews)
      add("in", launch.inputs[view.tensor], view);
    for (const LaunchView &view : launch.outputViews)
      add("out", launch.outputs[view.tensor], view);
    if (launch.scratchBytes > 0)
      command += fmt::format(" --arg=out:i32:{}", launch.scratchBytes / 4);
    if (!launch.sizes.empty()) {
      command += " --arg=bytes:";
      for (unsigned char byte : launch.sizes)
        command += fmt::format("{:02x}", byte);
    }
    std::string &script = scripts[launch.kernel];
    script += (script.empty() ? "set -e\n" : "") + command + " \"$@\"\n";
  }
  for (const auto &[kernel, script] : scripts) {
    const std::string &name = kernels[kernel].name;
    if (Status written = writeFile(directory + "/" + name + "/simulate.sh", script); !written)
      return written;
  }
  return {};
}
