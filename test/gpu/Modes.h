//===- Modes.h - What swage-gpu-tests can do ------------------------------===//
#ifndef SWAGE_TEST_GPU_MODES_H
#define SWAGE_TEST_GPU_MODES_H

#include "swage/JIT/Program.h"

namespace swage::test {

struct WrapperOptions {
  std::string root;     ///< of the source tree; empty: where this program was built
  std::string recorded; ///< outputs of the simulator; empty: it runs here
  std::string only;     ///< part of a name
  unsigned seeds = 2, threads = 16;
};

/// The kernels of test/Wrappers and test/Simt/Kernels on the GPU.  Returns the number of failures.
int runWrappers(const WrapperOptions &options);

/// Cold compile, disk cache and launch of the LayerNorm kernel. `self`: this executable.
Status runLatency(const Device &device, const std::string &self);
/// What the second process of runLatency does.
Status runLatencyChild(const Device &device, const std::string &cacheDir);

/// What Plan::launch and Program::run cost beside cuLaunchKernel.
Status runCallLatency(const Device &device);
/// From a graph's text, or its bundle, to the first launch; `folder` receives caches and bundles.
Status runStartLatency(const Device &device, const std::string &self, const std::string &folder);
/// One start: "cold" with so many threads, "disk" with a cache directory, "bundle" with a file.
Status runStartChild(const Device &device, const std::string &way, const std::string &argument);

} // namespace swage::test

#endif // SWAGE_TEST_GPU_MODES_H
