//===- CompileKernel.cpp - One source through the cache -------------------===//

#include "swage/JIT/CompileKernel.h"

using namespace swage;

Expected<std::shared_ptr<const KernelBinary>>
swage::compileKernel(const Nvrtc &nvrtc, KernelCache &cache, const CompileRequest &request) {
  auto flags = nvrtc.options(request);
  if (!flags)
    return flags.takeError();
  CacheKeyFields fields;
  fields.source = request.source;
  for (const auto &[name, text] : request.headers)
    fields.headers.push_back({name, text});
  fields.options = *flags;
  fields.arch = request.arch;
  fields.compilerMajor = nvrtc.version().major;
  fields.compilerMinor = nvrtc.version().minor;
  fields.compilerBuild = nvrtc.version().build;
  fields.entryNames = {request.entry};
  auto binary = cache.getOrCompile(CacheKey::make(fields), [&] { return nvrtc.compile(request); });
  if (!binary || !request.wantPtx || !(*binary)->ptx.empty())
    return binary;
  // Cached without PTX, which is only wanted now.
  auto again = nvrtc.compile(request);
  if (!again)
    return again.takeError();
  return std::make_shared<const KernelBinary>(std::move(*again));
}
