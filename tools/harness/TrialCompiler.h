//===- TrialCompiler.h - Kernels under many schedules ---------------------===//
#ifndef SWAGE_TOOLS_HARNESS_TRIALCOMPILER_H
#define SWAGE_TOOLS_HARNESS_TRIALCOMPILER_H

#include "swage/JIT/Program.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace swage {

struct TriedSchedule {
  enum class Outcome {
    Timed,    ///< and not judged: others are faster
    Accepted, ///< and right
    Rejected, ///< `why` its results are wrong
    Unusable, ///< `why` it was not run: the compiler or the driver refused it, or it spills
    Same,     ///< as one that came before: the same source
    Untried,  ///< the time was up
  };
  std::string schedule;
  Outcome outcome = Outcome::Untried;
  double seconds = 0; ///< 0: was not timed
  std::string why;
};

/// A schedule on its way through a search.
struct Trial {
  TriedSchedule schedule;
  std::optional<Executable> executable; ///< none: it does not compile
  std::optional<Layout> layout;
  std::optional<Plan> launch; ///< of the kernel alone
  std::string source;
  bool spills = false;
};

/// A program with its shapes, one kernel of which is tried under other schedules.
struct TrialProgram {
  const Program &program;
  CompileOptions options;
  const std::vector<Dims> &dims;
};

/// Compiles the program with the trial's schedule for `kernel`.
void compileTrial(const TrialProgram &one, const std::string &kernel, Trial &trial);

/// Compiles trials in their order, several at once.  Each thread parses the graph for itself: the
/// passes of one context would wait for each other.
class TrialCompiler {
public:
  using Clock = std::chrono::steady_clock;

  /// What is referred to must live as long.
  TrialCompiler(const TrialProgram &one, const std::string &kernel, unsigned threads,
                std::vector<Trial *> trials);
  /// Leaves what has not been begun.
  ~TrialCompiler();

  /// One that is done, in the order of their ends; null after the last, or if none is by then.
  Trial *next(Clock::time_point deadline);

private:
  void work();

  const TrialProgram &one;
  const std::string &kernel;
  const std::vector<Trial *> trials;
  std::atomic<size_t> begun{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Trial *> done;
  size_t taken = 0;
  std::vector<std::thread> workers;
};

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_TRIALCOMPILER_H
