//===- Benchmark.h - Times of plans ---------------------------------------===//
//
// CUDA-graph replays over rotating buffers whose inputs together exceed the L2 cache three times;
// the median of the replays.  The same as bench/peers.py does for its peers.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_SWAGE_RUN_BENCHMARK_H
#define SWAGE_TOOLS_SWAGE_RUN_BENCHMARK_H

#include "swage/JIT/Program.h"

#include <map>

namespace swage {

class Benchmark {
public:
  static Expected<Benchmark> create(const Device &device);

  /// Median seconds of one launch of `plan`; `inputs` are the types of its inputs, which are
  /// filled with random numbers.
  Expected<double> seconds(const Plan &plan, const std::vector<TensorType> &inputs);

  /// Median seconds of copying so that `bytes` are moved, half of them read.
  Expected<double> copySeconds(uint64_t bytes);
  /// Median seconds of reading `bytes`.
  Expected<double> readSeconds(uint64_t bytes);

private:
  Benchmark(Device device, Stream stream, std::shared_ptr<Kernel> copy,
            std::shared_ptr<Kernel> read)
      : device(std::move(device)), stream(std::move(stream)), copy(std::move(copy)),
        read(std::move(read)) {}
  Expected<double> streamSeconds(uint64_t bytes, bool writes);
  Status fillRandom(Buffer &target, const TensorType &type);

  Device device;
  Stream stream;
  std::shared_ptr<Kernel> copy, read;
  std::map<std::pair<uint64_t, bool>, double> known;
  std::map<std::string, std::string> randoms; ///< bytes for each element type
};

/// One measurement, as bench/compare.py reads it.
struct Record {
  std::string family, caseName;
  double seconds = 0;
  uint64_t bytes = 0;
  double share = 0; ///< of a copy, or of a read-only stream, of the same bytes
};

/// Writes the records as a JSON array.
Status writeRecords(const std::string &path, const std::vector<Record> &records);

} // namespace swage

#endif // SWAGE_TOOLS_SWAGE_RUN_BENCHMARK_H
