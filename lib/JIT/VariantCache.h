//===- VariantCache.h - Results of passes in the kernel cache -------------===//
#ifndef SWAGE_LIB_JIT_VARIANTCACHE_H
#define SWAGE_LIB_JIT_VARIANTCACHE_H

#include "ExecutableState.h"
#include "swage/Runtime/VariantEntry.h"

#include <optional>

namespace swage {

/// The key of what passes make of a request with these schedules (of schedulesFor); `kind` as in
/// VariantKeyFields.  None where nothing
/// tells which build of the passes this is.
std::optional<CacheKey> resultKey(const ProgramIR &program, const VariantRequest &request,
                                  const std::string &kind, const std::string &schedules);

/// What is kept of it, if it can be used.
std::optional<LoweredVariant> findLowered(const ProgramIR &program, KernelCache &cache,
                                          const CacheKey &key);
std::optional<std::vector<ExtentNeeds>> findNeeds(const ProgramIR &program, KernelCache &cache,
                                                  const CacheKey &key);

} // namespace swage

#endif // SWAGE_LIB_JIT_VARIANTCACHE_H
