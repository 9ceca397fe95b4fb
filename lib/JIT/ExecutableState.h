//===- ExecutableState.h - Making variants, and what Executable holds -----===//
#ifndef SWAGE_LIB_JIT_EXECUTABLESTATE_H
#define SWAGE_LIB_JIT_EXECUTABLESTATE_H

#include "swage/JIT/ProgramIR.h"

#include <memory>
#include <mutex>

namespace swage {

struct Executable::State {
  Program program; ///< keeps the graph
  CompileOptions options;
  std::shared_ptr<const Variant> narrow;
  std::mutex mutex; ///< of `wide`
  std::shared_ptr<const Variant> wide;
};

/// What to make of a graph.
struct VariantRequest {
  CompileOptions options;
  int indexBits = 0;
  /// Promises about the dynamic extents of the inputs, as in Guards; empty: there are none.
  std::vector<Guards::Extent> extents;
  std::string reason; ///< why it is needed, for events
};

/// Passes and emission, with the program's mutex held, or what the cache has of them; then the
/// compiler, without.  `artifact`, if given, receives the IR after each pass, keys and PTX.
Expected<std::shared_ptr<const Variant>> compileVariant(ProgramIR &program, const Context &context,
                                                        const VariantRequest &request,
                                                        Artifact *artifact = nullptr);

/// The request that an executable with these options starts from.
Expected<VariantRequest> requestFor(const Program &program, const CompileOptions &options);

struct LoweredModule; // BuildVariant.h
/// The passes, with `schedules` ("kernel=schedule;...") instead of the selected ones.  The program's
/// mutex must be held.
Status lowerProgram(ProgramIR &program, const VariantRequest &request,
                    const std::string &schedules, LoweredModule &lowered);
/// The schedules that kernels get instead of the selected ones.
std::string schedulesFor(const CompileOptions &options);

/// Which of the dynamic extents of the inputs schedules depend on.  Runs the passes, unless `cache`
/// has what they said.
Expected<std::vector<ExtentNeeds>> analyzeNeeds(ProgramIR &program, KernelCache &cache);

/// The architecture as guards name it: with the prefix of a simulated one.
std::string archOf(const CompileOptions &options);

/// The one of the options, else that of the context.
KernelCache &cacheOf(const CompileOptions &options, const Context &context);

} // namespace swage

#endif // SWAGE_LIB_JIT_EXECUTABLESTATE_H
