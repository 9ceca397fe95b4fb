//===- ByteSize.cpp - Numbers of bytes, for people ------------------------===//

#include "swage/Support/ByteSize.h"

#include <fmt/format.h>

std::string swage::formatSize(uint64_t bytes) {
  double value = double(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{}B", bytes) : fmt::format("{:.1f}{}", value, " KMGT"[unit]);
}
