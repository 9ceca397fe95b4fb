//===- Tuner.h - The fastest right schedule of each kernel ----------------===//
//
// Tries the schedules that a kernel's verifier accepts, those first that are like the selected one, as
// long as the budget lasts: the others are compiled meanwhile.  What the compiler refuses, spills or
// makes the same source from is left out; the rest is timed alone, at a glance, the fastest again, and
// the fastest of these take turns with the selected schedule.  The winner's results are those of the
// reference.  A kernel that the driver never recovers from ends the search, with an error that names
// its schedule.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_TUNER_H
#define SWAGE_TOOLS_HARNESS_TUNER_H

#include "Benchmark.h"
#include "Judge.h"
#include "TrialCompiler.h"

#include "swage/JIT/Tuning.h"
#include "swage/Runtime/TunedSchedules.h"

namespace swage {

struct TunedKernel {
  std::string kernel;
  TriedSchedule selected;
  std::vector<TriedSchedule> tried; ///< the fastest first, without the selected one
  size_t untried = 0;               ///< for which there was no time
  /// The fastest of all that are right; the selected one where none is faster.
  TriedSchedule best() const;
  /// By how much the selected one is slower, as a fraction.
  double behind() const;
  /// "layer_norm_1f: the selected schedule is within 1.8 % of the best of 61".
  std::string summary() const;
};

struct TuningOptions {
  int64_t misalign = 0;
  double budget = 0;    ///< seconds for each kernel, about; 0: until all have been tried
  size_t shortlist = 16; ///< that are looked at a second time
  size_t finalists = 5; ///< that take turns with the selected one
  size_t most = 0;      ///< candidates of a kernel that are tried; 0: all
  unsigned threads = 0; ///< that compile; 0: one for each core but one, 16 at most
  std::function<void(const std::string &)> progress;
};

class Tuner {
public:
  /// Glance: once, and no longer than it takes to see that it is above `limit` seconds.  The others take
  /// turns, Measure for long enough to tell them apart by a per cent.
  enum class Effort { Glance, Look, Measure };
  /// Seconds of plans with the same buffers.
  using Timer = std::function<Expected<std::vector<double>>(
      const std::vector<Plan> &plans, const std::vector<InputSpec> &inputs, Effort effort,
      double limit)>;

  /// Without a timer every schedule is judged and none timed.
  Tuner(Device device, Timer timer) : device(std::move(device)), timer(std::move(timer)) {}
  /// With the times of a benchmark, which must live as long.
  Tuner(Device device, Benchmark &benchmark, int64_t misalign);

  /// Each kernel of the program by itself, the others as they are selected.
  Expected<std::vector<TunedKernel>> tune(const Program &program, const CompileOptions &options,
                                          const std::vector<Dims> &dims,
                                          const TuningOptions &tuning) const;

private:
  Device device;
  Timer timer;
};

/// What swage-run prints: the fastest schedules of each kernel, the selected one among them.
void printTuning(const std::vector<TunedKernel> &kernels, size_t rows);

/// Keeps what is faster than the selected schedule by more than a measurement's error, and forgets
/// what no longer is.
Status storeTuning(const Options &options, const DeviceProperties &device,
                   const std::vector<TunedKernel> &kernels);

/// "#swage.row_schedule<kind = group, index = 32>" as "kind=group index=32".
std::string compactSchedule(const std::string &schedule);

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_TUNER_H
