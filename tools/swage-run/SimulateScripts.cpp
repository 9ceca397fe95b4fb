//===- SimulateScripts.cpp - Kernels of a dump on the simulator -----------===//

#include "SimulateScripts.h"

#include "swage/Support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace swage;

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
    std::vector<const LaunchTensor *> given;
    auto add = [&](const char *kind, const LaunchTensor &tensor) {
      auto known = std::find(given.begin(), given.end(), &tensor);
      std::string extents = tensor.type.shape.empty() ? "1" : "";
      for (int64_t extent : tensor.type.shape)
        extents += (extents.empty() ? "" : "x") + std::to_string(extent);
      // What is only moved may be bits without a type.
      const char *element = tensor.type.element == "i16" ? "f16" : tensor.type.element.c_str();
      command += known == given.end() ? fmt::format(" --arg={}:{}:{}", kind, element, extents)
                                      : fmt::format(" --arg=same:{}", known - given.begin());
      given.push_back(&tensor);
    };
    for (const LaunchView &view : launch.inputViews)
      add("in", launch.inputs[view.tensor]);
    for (const LaunchView &view : launch.outputViews)
      add("out", launch.outputs[view.tensor]);
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
