//===- Tuner.h - The fastest right schedule of each kernel ----------------===//
//
// Tries every schedule that a kernel's verifier accepts.  What the compiler refuses, spills or
// makes the same machine code from is left out; the rest is timed alone, and the fastest take turns
// with the selected schedule.  The winner's results are those of the reference.  A kernel that the
// driver never recovers from ends the search, with an error that names its schedule.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_TUNER_H
#define SWAGE_TOOLS_HARNESS_TUNER_H

#include "Benchmark.h"
#include "Judge.h"

#include "swage/JIT/Tuning.h"
#include "swage/Runtime/TunedSchedules.h"

namespace swage {

struct TriedSchedule {
  enum class Outcome {
    Timed,    ///< alone, and not among the fastest
    Accepted, ///< and right
    Rejected, ///< `why` its results are wrong
    Unusable, ///< `why` it was not run: the compiler or the driver refused it, or it spills
    Same,     ///< as one that came before: the same source
  };
  std::string schedule;
  Outcome outcome = Outcome::Unusable;
  double seconds = 0; ///< 0: was not timed
  std::string why;
};

struct TunedKernel {
  std::string kernel;
  TriedSchedule selected;
  std::vector<TriedSchedule> tried; ///< the fastest first, without the selected one
  /// The fastest of all that are right; the selected one where none is faster.
  TriedSchedule best() const;
  /// By how much the selected one is slower, as a fraction.
  double behind() const;
  /// "layer_norm_1f: the selected schedule is within 1.8 % of the best of 61".
  std::string summary() const;
};

struct TuningOptions {
  int64_t misalign = 0;
  int finalists = 5;           ///< that take turns with the selected one
  uint64_t judgeAll = 1 << 22; ///< elements up to which all are judged, not only finalists
  size_t most = 0;             ///< candidates of a kernel that are tried; 0: all
  unsigned threads = 0;        ///< that compile; 0: one for each core, 16 at most
  std::function<void(const std::string &)> progress;
};

class Tuner {
public:
  /// Seconds of plans with the same buffers; `exactly`: they take turns.
  using Timer = std::function<Expected<std::vector<double>>(
      const std::vector<Plan> &plans, const std::vector<TensorType> &inputs, bool exactly)>;

  /// Without a timer every schedule is judged and none timed.
  Tuner(Device device, Timer timer) : device(std::move(device)), timer(std::move(timer)) {}
  /// With the times of a benchmark, which must live as long.
  Tuner(Device device, Benchmark &benchmark, int64_t misalign);

  /// Each kernel of the program by itself, the others as they are selected.
  Expected<std::vector<TunedKernel>> tune(const Program &program, const CompileOptions &options,
                                          const std::vector<Dims> &dims,
                                          const TuningOptions &tuning) const;

private:
  struct Case;
  Status tuneKernel(Case &one, const KernelSchedules &schedules, TunedKernel &tuned) const;

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
