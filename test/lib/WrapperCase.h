//===- WrapperCase.h - The kernels of test/Wrappers --------------*- C++ -*-===//
//
// Each runs the wrappers of one header of the device layer on random bits; test/Wrappers/README.md
// says how a comment describes its launch.  Here they become launches, and outputs are compared.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_WRAPPERCASE_H
#define SWAGE_TEST_LIB_WRAPPERCASE_H

#include "KernelRun.h"

namespace swage::test {

struct WrapperCase {
  std::string name;
  std::string arch; ///< that the file needs at least
  KernelRun run;    ///< buffers: in, out
  enum class Comparison { Exact, Ulp, Ulp64, Tolerance } comparison = Comparison::Exact;
  double limit = 0;

  /// The launch with inputs of this seed.
  KernelRun seeded(uint64_t seed) const;
  /// Empty, or how the output differs from the expected one.
  std::string compare(std::string_view actual, std::string_view expected) const;
};

/// The kernels of a file, in order; an error names the line that cannot be read.
Expected<std::vector<WrapperCase>> wrappersOf(const std::string &path);
/// Those of all files of a directory.
Expected<std::vector<WrapperCase>> wrappersIn(const std::string &directory);

/// Outputs by case and seed, so that those of the simulator can be compared where it cannot run.
class Recording {
public:
  static Expected<Recording> read(const std::string &path);
  Status write(const std::string &path) const;

  void add(const WrapperCase &test, uint64_t seed, std::string output);
  /// Null when it was recorded for another text or not at all.
  const std::string *find(const WrapperCase &test, uint64_t seed) const;

private:
  std::vector<std::pair<std::string, std::string>> outputs;
};

} // namespace swage::test

#endif // SWAGE_TEST_LIB_WRAPPERCASE_H
