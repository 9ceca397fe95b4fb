//===- Tuning.h - What an autotuner may try -------------------------------===//
#ifndef SWAGE_JIT_TUNING_H
#define SWAGE_JIT_TUNING_H

#include "swage/JIT/Program.h"

namespace swage {

/// The schedule that a kernel gets without tuning, and those that could take its place.
struct KernelSchedules {
  std::string kernel;
  std::string selected;
  std::vector<std::string> candidates; ///< accepted by the kernel's verifier
};

/// Of each kernel that these options make of a program; compiles nothing.  A candidate is tried by
/// CompileOptions::schedules.
Expected<std::vector<KernelSchedules>> findSchedules(const Program &program,
                                                     const CompileOptions &options);

} // namespace swage

#endif // SWAGE_JIT_TUNING_H
