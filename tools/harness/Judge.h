//===- Judge.h - A program against the reference --------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_JUDGE_H
#define SWAGE_TOOLS_HARNESS_JUDGE_H

#include "GuardedRun.h"

#include "swage/Reference/Value.h"

namespace swage {

/// A program's inputs for given shapes, dense and random, and what the reference makes of them.
/// Serves any executable of the program that stores the same values between kernels.
class Judge {
public:
  static Expected<Judge> create(const Program &program, const Executable &executable,
                                const Layout &layout);

  /// Runs the plan between guard bands; an error says what is wrong with its results.
  Status check(const Device &device, const Plan &plan, const Layout &layout,
               int64_t misalign = 0) const;

private:
  std::vector<reference::Tensor> inputs;
  std::vector<reference::Value> expected;
};

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_JUDGE_H
