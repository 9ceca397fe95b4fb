//===- DeviceProperties.h - What heuristics know about a GPU --------------===//
//
// Plain data, passed into passes and heuristics and never queried by them, so that schedules for
// any GPU can be made and tested on a machine without one.  It lives in Support because Transforms
// may not see the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_DEVICEPROPERTIES_H
#define SWAGE_SUPPORT_DEVICEPROPERTIES_H

#include "swage/Support/Api.h"
#include "swage/Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swage {

struct SWAGE_API DeviceProperties {
  std::string name; ///< "NVIDIA H200"
  std::string arch; ///< what kernels are compiled for, with its suffix: "sm_90a"
  int ccMajor = 0;
  int ccMinor = 0;
  int smCount = 0;
  int warpSize = 32;
  int maxThreadsPerBlock = 1024;
  int maxThreadsPerSm = 0;
  int maxBlocksPerSm = 0;
  int registersPerSm = 65536;
  int sharedBytesPerSm = 0;
  int sharedBytesPerBlock = 49152; ///< without opting in
  int sharedBytesPerBlockOptIn = 0;
  int64_t l2Bytes = 0;
  int64_t memoryBytes = 0;
  double memoryBandwidth = 0; ///< peak, bytes per second; 0 when the driver does not say

  /// A representative GPU of an architecture: an H200 for "sm_90a", and for "sm_90", which is the
  /// same without the instructions that later GPUs do not have.
  static Expected<DeviceProperties> forArch(std::string_view arch);
  static std::vector<std::string> knownArchs();
};

/// "sm_90a" for 9.0: the architecture that gives a device its full instruction set.
std::string archForComputeCapability(int major, int minor);

} // namespace swage

#endif // SWAGE_SUPPORT_DEVICEPROPERTIES_H
