//===- Benchmark.h - Times of plans ---------------------------------------===//
//
// CUDA-graph replays over rotating buffers whose inputs together exceed the L2 cache three times;
// the median of the replays.  The same as bench/peers.py does for its peers.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_BENCHMARK_H
#define SWAGE_TOOLS_HARNESS_BENCHMARK_H

#include "InputSpec.h"
#include "Streams.h"

namespace swage {

/// Where a measurement puts its buffers, and how long it looks.
struct Conditions {
  int64_t misalign = 0; ///< bytes added to the address of every tensor
  /// One set of outputs for all sets of inputs, as peers.py has it: a framework's allocator hands
  /// the memory of a freed result out again.  Small results then stay in the cache, those of the
  /// stream too.
  bool reuseOutputs = true;
  /// (result, input) pairs of the measured plan that lie in one place: Layout::aliases.
  std::vector<std::pair<unsigned, unsigned>> inPlace;
  int rounds = 5;       ///< the stream, the plan, the stream, the plan, ...
  double seconds = 0.1; ///< of each, over all rounds
  double limit = 0;     ///< of one launch, beyond which the first replay tells enough; 0: none
};

/// Medians over the rounds, of one launch.
struct Measurement {
  double seconds = 0;
  double streamSeconds = 0; ///< of plain kernels that move the same bytes; summed up
  double share() const { return seconds > 0 ? streamSeconds / seconds : 0; }
};

class Benchmark {
public:
  static Expected<Benchmark> create(const Device &device);

  /// Times `plan` and, in turns with it, streams for each of `traffic`.  `inputs` are the plan's
  /// inputs, which are filled with random numbers.
  Expected<Measurement> measure(const Plan &plan, const std::vector<InputSpec> &inputs,
                                const std::vector<Traffic> &traffic,
                                const Conditions &conditions = {});

  /// Median seconds of plans that take turns on buffers of the same types.
  Expected<std::vector<double>> compare(const std::vector<Plan> &plans,
                                        const std::vector<InputSpec> &inputs,
                                        const Conditions &conditions = {});

private:
  /// Memory that measurements share: the inputs of one element type, those with a range apart, or
  /// all outputs.
  struct Arena {
    std::optional<Buffer> buffer;
    uint64_t used = 0; ///< by one plan
  };
  struct Set {
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    void *workspace = nullptr;
  };
  /// What is replayed.
  struct Candidate {
    Plan plan;
    std::vector<InputSpec> inputs;
    int64_t misalign = 0;
    std::vector<std::pair<unsigned, unsigned>> inPlace;
  };
  /// Launches of a plan on all of its sets, captured.
  struct Replay {
    GraphExec graph;
    size_t launches;
    int repetitions;
  };

  Benchmark(Device device, Stream stream)
      : device(device), stream(std::move(stream)), streams(std::move(device)) {}
  Status provide(Arena &arena, const InputSpec *content);
  Expected<std::vector<Set>> makeSets(const Candidate &candidate, const Conditions &conditions);
  Expected<Replay> capture(const Candidate &candidate, const std::vector<Set> &sets,
                           const Conditions &conditions);
  Expected<double> replay(const GraphExec &graph);
  Expected<double> median(const Replay &replay);
  Expected<std::vector<double>> medians(const std::vector<Candidate> &candidates,
                                        const Conditions &conditions);
  Expected<Candidate> fastestStream(const Traffic &traffic, const Conditions &conditions);

  Device device;
  Stream stream;
  Streams streams;
  std::map<std::string, Arena> arenas; ///< by `arenaOf`; "" for outputs and workspaces
  /// By the proportion, the power of two of the size, and whether outputs are reused.
  std::map<std::tuple<StreamShape, unsigned, bool>, StreamShape> fastest;
};

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_BENCHMARK_H
