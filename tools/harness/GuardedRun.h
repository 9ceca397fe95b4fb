//===- GuardedRun.h - One run of a plan, watched --------------------------===//
//
// Every buffer lies between guard bands, outputs and workspace start as poison, and the bands are
// checked afterwards.  On a simulator that checks, buffers have their exact sizes instead: it sees
// the access itself.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_HARNESS_GUARDEDRUN_H
#define SWAGE_TOOLS_HARNESS_GUARDEDRUN_H

#include "InputSpec.h"

#include "swage/Reference/GuardBands.h"

namespace swage {

struct GuardedOptions {
  uint8_t poison = reference::kPoisonNaN;
  int64_t misalign = 0; ///< bytes added to the addresses of arguments and results
  bool bands = true;
  bool inPlace = false; ///< results lie in arguments where the layout allows it
};

/// The results, or an error that names the buffer whose bands were written.
Expected<std::vector<reference::Tensor>> runGuarded(const Device &device, const Plan &plan,
                                                    const Layout &layout,
                                                    const std::vector<reference::Tensor> &inputs,
                                                    const GuardedOptions &options = {});

/// The results of the last of several steps, `inputs` for each, that are replays of one captured
/// graph: results lie in arguments where the layout allows it, and the next step finds them there.
Expected<std::vector<reference::Tensor>>
replaySteps(const Device &device, const Plan &plan, const Layout &layout,
            const std::vector<std::vector<reference::Tensor>> &inputs,
            const GuardedOptions &options);

/// Runs with two poisons, the second time in place where the layout allows it: results that differ
/// were not all written, or read what they were to write, or wrote what was still to be read.
Expected<std::vector<reference::Tensor>> runTwice(const Device &device, const Plan &plan,
                                                  const Layout &layout,
                                                  const std::vector<reference::Tensor> &inputs,
                                                  int64_t misalign = 0, bool bands = true);

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_GUARDEDRUN_H
