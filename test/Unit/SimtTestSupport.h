//===- SimtTestSupport.h - Small kernels for tests of the simulator -------===//
#ifndef SWAGE_TEST_UNIT_SIMTTESTSUPPORT_H
#define SWAGE_TEST_UNIT_SIMTTESTSUPPORT_H

#include "swage/Support/KernelCompiler.h"
#include "swage/Support/Text.h"

#include <filesystem>
#include <gtest/gtest.h>

#define EXPECT_CONTAINS(TEXT, PART)                                                                \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << "'" << (TEXT) << "' lacks '" << (PART) << "'"

/// The headers of the device layer, from the source tree.
inline std::vector<std::pair<std::string, std::string>> deviceHeaders() {
  std::vector<std::pair<std::string, std::string>> headers;
  const std::filesystem::path root = SWAGE_TEMPLATES;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(root / "swage/device")) {
    std::string name = entry.path().lexically_relative(root).string();
    if (entry.path().extension() != ".cuh" || name.find("/cuda/") != std::string::npos)
      continue;
    auto text = swage::readFile(entry.path().string());
    EXPECT_TRUE(text);
    headers.push_back({name, std::move(*text)});
  }
  return headers;
}

inline swage::CompileRequest kernelRequest(const std::string &entry, const std::string &source) {
  swage::CompileRequest request;
  request.name = entry + ".cu";
  request.entry = entry;
  request.arch = "sm_90a";
  request.headers = deviceHeaders();
  request.source = "#include \"swage/device/device.cuh\"\n" + source;
  return request;
}

/// y[i] = 2 x[i] + a for i < count.
inline const char kTwice[] =
    "extern \"C\" __global__ void twice(const float *x, float *y, int count, float a) {\n"
    "  int i = swage::blockIndex() * 64 + swage::threadIndex();\n"
    "  if (i < count)\n"
    "    y[i] = 2 * x[i] + a; // twice.mlir:7\n"
    "}\n";

#endif // SWAGE_TEST_UNIT_SIMTTESTSUPPORT_H
