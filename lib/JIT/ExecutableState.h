//===- ExecutableState.h - What Executable holds --------------------------===//
#ifndef SWAGE_LIB_JIT_EXECUTABLESTATE_H
#define SWAGE_LIB_JIT_EXECUTABLESTATE_H

#include "swage/JIT/ProgramIR.h"

namespace swage {

struct Executable::State {
  std::shared_ptr<Program::State> program;
  CompileOptions options;
  std::shared_ptr<const Variant> narrow;
  std::mutex mutex; ///< of `wide`; taken before the program's
  std::shared_ptr<const Variant> wide;
};

/// Passes, emission and the compiler. The program's mutex must be held.
Expected<std::shared_ptr<const Variant>>
compileVariant(Program::State &program, const CompileOptions &options, int indexBits);

} // namespace swage

#endif // SWAGE_LIB_JIT_EXECUTABLESTATE_H
