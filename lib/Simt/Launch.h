//===- Launch.h - One launch on the simulator -----------------------------===//
#ifndef SWAGE_LIB_SIMT_LAUNCH_H
#define SWAGE_LIB_SIMT_LAUNCH_H

#include "Finding.h"
#include "Module.h"
#include "swage/Simt/SimulatorOptions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swage::simt {

/// A global allocation.
struct MemoryRange {
  char *begin = nullptr;
  uint64_t bytes = 0;
  std::string name; ///< for reports
};

struct Launch {
  const Module *module = nullptr;
  const KernelInfo *kernel = nullptr;
  unsigned blocks = 1;      ///< one-dimensional, as all kernels of Swage
  unsigned threads = 1;     ///< per block
  unsigned clusterSize = 1; ///< blocks; divides `blocks`
  unsigned dynamicSharedBytes = 0;
  bool overlap = false;     ///< it may start before the launches in front have ended
  unsigned capability = 90; ///< compute capability of the device, times ten
  void *const *arguments = nullptr;                 ///< as cuLaunchKernel takes them
  const std::vector<MemoryRange> *memory = nullptr; ///< sorted by address, no overlaps
};

/// Where an argument leads: what it points to, or the tensor that it is a map of; null: nowhere.
char *pointedTo(const ParameterInfo &parameter, const void *argument);

/// How much work a launch was.
struct LaunchStats {
  uint64_t switches = 0; ///< of fibers
  uint64_t meetings = 0; ///< of warps, barriers, ...
};

/// Runs the kernel to its end, or to the first finding.  Thread-safe.
std::optional<Finding> run(const Launch &launch, const SimulatorOptions &options,
                           LaunchStats *stats = nullptr);

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_LAUNCH_H
