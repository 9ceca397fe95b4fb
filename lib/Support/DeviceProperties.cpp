//===- DeviceProperties.cpp - What heuristics know about a GPU ------------===//
//
// One representative GPU per architecture.  The numbers are those that the driver reports for the
// named product (cuDeviceGetAttribute), memory and bandwidth those of its data sheet.
//
//===----------------------------------------------------------------------===//
#include "swage/Support/DeviceProperties.h"
#include "swage/Support/Text.h"

#include <cstdio>
#include <fmt/format.h>

using namespace swage;

static constexpr int64_t kMiB = int64_t{1} << 20;
static constexpr int64_t kGiB = int64_t{1} << 30;

static DeviceProperties preset(std::string name, int major, int minor, int smCount,
                               int threadsPerSm, int blocksPerSm, int sharedKiBPerSm,
                               int64_t l2Bytes, int64_t memoryBytes, double gigabytesPerSecond) {
  DeviceProperties device;
  device.name = std::move(name);
  device.ccMajor = major;
  device.ccMinor = minor;
  device.arch = archForComputeCapability(major, minor);
  device.smCount = smCount;
  device.maxThreadsPerSm = threadsPerSm;
  device.maxBlocksPerSm = blocksPerSm;
  device.sharedBytesPerSm = sharedKiBPerSm * 1024;
  // One KiB per block is the system's own.
  device.sharedBytesPerBlockOptIn = (sharedKiBPerSm - 1) * 1024;
  device.l2Bytes = l2Bytes;
  device.memoryBytes = memoryBytes;
  device.memoryBandwidth = gigabytesPerSecond * 1e9;
  return device;
}

static const std::vector<DeviceProperties> &presets() {
  static const std::vector<DeviceProperties> table = {
      preset("NVIDIA A100-SXM4-80GB", 8, 0, 108, 2048, 32, 164, 40 * kMiB, 80 * kGiB, 2039),
      preset("NVIDIA GeForce RTX 3090", 8, 6, 82, 1536, 16, 100, 6 * kMiB, 24 * kGiB, 936),
      preset("NVIDIA GeForce RTX 4090", 8, 9, 128, 1536, 24, 100, 72 * kMiB, 24 * kGiB, 1008),
      preset("NVIDIA H200", 9, 0, 132, 2048, 32, 228, 60 * kMiB, 150109880320, 4800),
      preset("NVIDIA B200", 10, 0, 148, 2048, 32, 228, 126 * kMiB, 180 * kGiB, 8000),
      preset("NVIDIA GeForce RTX 5090", 12, 0, 170, 1536, 24, 100, 96 * kMiB, 32 * kGiB, 1792),
  };
  return table;
}

std::string swage::archForComputeCapability(int major, int minor) {
  // The data-centre parts since Hopper keep wgmma and tcgen05 behind the "a" suffix.
  bool hasArchSpecificCode = major >= 9 && major < 12;
  return fmt::format("sm_{}{}{}", major, minor, hasArchSpecificCode ? "a" : "");
}

std::vector<std::string> DeviceProperties::knownArchs() {
  std::vector<std::string> archs;
  for (const DeviceProperties &device : presets())
    archs.push_back(device.arch);
  return archs;
}

Expected<DeviceProperties> DeviceProperties::forArch(std::string_view arch) {
  for (const DeviceProperties &device : presets()) {
    std::string plain = fmt::format("sm_{}{}", device.ccMajor, device.ccMinor);
    if (arch == device.arch)
      return device;
    if (arch == plain) {
      DeviceProperties without = device;
      without.arch = plain;
      return without;
    }
  }
  // A sibling without numbers of its own is scheduled like the nearest older one of its generation.
  int version = 0;
  char suffix = 0, rest = 0;
  std::string text(arch);
  int parsed = std::sscanf(text.c_str(), "sm_%3d%c%c", &version, &suffix, &rest);
  if (parsed == 1 || (parsed == 2 && (suffix == 'a' || suffix == 'f'))) {
    const DeviceProperties *nearest = nullptr;
    for (const DeviceProperties &device : presets())
      if (device.ccMajor == version / 10 && device.ccMinor < version % 10)
        nearest = &device;
    if (nearest) {
      DeviceProperties device = *nearest;
      device.arch = text;
      device.ccMinor = version % 10;
      return device;
    }
  }
  return makeError(Stage::Input,
                   fmt::format("unknown architecture '{}'; known: {}, and siblings of theirs",
                               printable(arch), join(knownArchs(), ", ")));
}
