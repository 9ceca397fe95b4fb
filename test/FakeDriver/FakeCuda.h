//===- FakeCuda.h - What tests see of the stand-in driver -----------------===//
//
// A libcuda.so.1 that runs nothing and records everything, so that a machine without a GPU can
// check which driver calls are made, in what order, and what happens when one fails.  Load it with
// Driver::load or SWAGE_CUDA_DRIVER and reach this struct through the exported function fakeCuda.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_FAKEDRIVER_FAKECUDA_H
#define SWAGE_TEST_FAKEDRIVER_FAKECUDA_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct FakeLaunch {
  std::string kernel;
  int device = -1;
  unsigned grid[3] = {};
  unsigned block[3] = {};
  unsigned cluster = 1;
  bool overlap = false;
  unsigned sharedBytes = 0;
  const void *stream = nullptr;
  bool captured = false;
  std::vector<std::string> parameters; ///< bytes, as many as parameterSizes says
};

/// What the fake driver writes into a tensor map: what it was given.
struct FakeTensorMap {
  const void *address;
  uint64_t extents[5];
  uint64_t strides[4]; ///< bytes, of dimensions 1 and up
  uint16_t box[5];
  uint8_t element, rank, swizzle; ///< the enumerators
};

struct FakeCuda {
  // What the driver pretends to be; set before it is used.
  int version = 13000;
  int deviceCount = 1;
  int ccMajor = 9;
  int ccMinor = 0;
  size_t memoryBytes = size_t{1} << 30;
  /// Sizes of the parameters that every kernel declares; unknown when `knowsParameters` is not set.
  std::vector<size_t> parameterSizes;
  bool knowsParameters = false;
  /// Clusters of more blocks fit no group of multiprocessors.
  unsigned largestCluster = 16;

  // Failures: calls of a name return this result, that many times (or always when negative).
  struct Failure {
    int result = 0;
    int times = -1;
  };
  std::map<std::string, Failure> failures;
  /// Once not zero, every call but the queries of errors and versions returns it.
  int stickyError = 0;

  // What happened.
  std::vector<std::string> calls; ///< names, with the most telling argument: "cuMemAlloc 64"
  std::vector<FakeLaunch> launches;
  size_t allocatedBytes = 0;
  int liveObjects = 0; ///< streams, events, graphs, libraries, allocations, retained contexts

  /// Calls of `name`, with any arguments.
  size_t count(const std::string &name) const {
    size_t count = 0;
    for (const std::string &call : calls)
      count += call.compare(0, name.size(), name) == 0 &&
               (call.size() == name.size() || call[name.size()] == ' ');
    return count;
  }
};

/// Type of the exported function `fakeCuda`.
using FakeCudaFunction = FakeCuda *();

#endif // SWAGE_TEST_FAKEDRIVER_FAKECUDA_H
