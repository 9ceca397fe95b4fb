//===- CompileKernel.h - One source through the cache ---------------------===//
#ifndef SWAGE_JIT_COMPILEKERNEL_H
#define SWAGE_JIT_COMPILEKERNEL_H

#include "swage/Runtime/KernelCache.h"
#include "swage/Support/KernelCompiler.h"

namespace swage {

/// The machine code for a request: from the cache, or compiled and kept there.
Expected<std::shared_ptr<const KernelBinary>>
compileKernel(const KernelCompiler &compiler, KernelCache &cache, const CompileRequest &request);

/// The key under which compileKernel keeps a request's machine code.
Expected<CacheKey> cacheKeyOf(const KernelCompiler &compiler, const CompileRequest &request);

} // namespace swage

#endif // SWAGE_JIT_COMPILEKERNEL_H
