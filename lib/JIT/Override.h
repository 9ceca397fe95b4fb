//===- Override.h - Kernels from files of the user ------------------------===//
#ifndef SWAGE_LIB_JIT_OVERRIDE_H
#define SWAGE_LIB_JIT_OVERRIDE_H

#include "swage/Runtime/Variant.h"
#include "swage/Support/Options.h"

#include <functional>

namespace swage {

/// Gives the kernels that `overrides` name the text of their files, and says so: a line for each
/// kernel and for each override that fits none of them, once in a process.
Status applyOverrides(const std::vector<KernelOverride> &overrides,
                      std::vector<KernelInfo> &kernels,
                      const std::function<void(const std::string &)> &print);

} // namespace swage

#endif // SWAGE_LIB_JIT_OVERRIDE_H
