//===- BenchCases.h - The graphs of bench/peers.py, in our text -----------===//
#ifndef SWAGE_TEST_GPU_BENCHCASES_H
#define SWAGE_TEST_GPU_BENCHCASES_H

#include <cstdint>
#include <string>
#include <vector>

namespace swage::test {

struct BenchCase {
  std::string family, name; ///< as peers.py writes them
  std::string group;        ///< what peers.py calls the family on its command line
  std::string text;         ///< a module with @main
  uint64_t bytes = 0;       ///< that peers.py counts
  bool readsOnly = false;   ///< compared with a read-only stream instead of a copy
};

std::vector<BenchCase> benchCases();

/// A LayerNorm with gamma and beta.
std::string layerNormText(int64_t rows, int64_t length, const std::string &element);

} // namespace swage::test

#endif // SWAGE_TEST_GPU_BENCHCASES_H
