//===- JitSource.h - Variants from the compiler ---------------------------===//
#ifndef SWAGE_LIB_JIT_JITSOURCE_H
#define SWAGE_LIB_JIT_JITSOURCE_H

#include "swage/JIT/ProgramIR.h"

#include <memory>

namespace swage {

std::shared_ptr<VariantSource> compilerSource(std::shared_ptr<ProgramIR> program,
                                              const Context &context);

} // namespace swage

#endif // SWAGE_LIB_JIT_JITSOURCE_H
