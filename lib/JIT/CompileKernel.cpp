//===- CompileKernel.cpp - One source through the cache -------------------===//

#include "swage/JIT/CompileKernel.h"

#include <algorithm>

using namespace swage;

/// The source without its line comments, which name lines of the model: a kernel stays the same
/// when the model gets a line in front of it. Lines keep their numbers, for the cubin has them.
static std::string withoutComments(std::string_view source) {
  // Where a line may begin inside of something, all of it counts. Generated sources have none of
  // these.
  for (std::string_view spanning : {"/*", "R\"", "\\\n"})
    if (source.find(spanning) != std::string_view::npos)
      return std::string(source);
  std::string text;
  text.reserve(source.size());
  for (size_t at = 0; at < source.size();) {
    size_t end = std::min(source.find('\n', at), source.size());
    std::string_view line = source.substr(at, end - at);
    std::string_view before = line.substr(0, line.find("//"));
    bool mayQuote = before.find_first_of("\"'") != std::string_view::npos;
    text += mayQuote ? line : before;
    text += '\n';
    at = end + 1;
  }
  return text;
}

Expected<CacheKey> swage::cacheKeyOf(const KernelCompiler &compiler,
                                     const CompileRequest &request) {
  auto flags = compiler.options(request);
  if (!flags)
    return flags.takeError();
  // A module for the simulator holds its text, whose comments are in reports.
  bool readsComments = compiler.target() == KernelTarget::Simulator;
  std::string source = readsComments ? request.source : withoutComments(request.source);
  CacheKeyFields fields;
  fields.source = source;
  for (const auto &[name, text] : request.headers)
    fields.headers.push_back({name, text});
  fields.options = *flags;
  fields.arch = request.arch;
  fields.compiler = compiler.identity();
  fields.entryNames = {request.entry};
  // Entries with PTX are entries of their own, so that they are found again.
  if (request.wantPtx)
    fields.options.push_back("with PTX");
  return CacheKey::make(fields);
}

Expected<std::shared_ptr<const KernelBinary>> swage::compileKernel(const KernelCompiler &compiler,
                                                                   KernelCache &cache,
                                                                   const CompileRequest &request) {
  auto key = cacheKeyOf(compiler, request);
  if (!key)
    return key.takeError();
  auto binary = cache.getOrCompile(*key, [&] { return compiler.compile(request); });
  if (!binary || !request.wantPtx)
    return binary;
  // A later request without PTX finds the machine code too.
  CompileRequest plain = request;
  plain.wantPtx = false;
  auto bareKey = cacheKeyOf(compiler, plain);
  if (!bareKey)
    return bareKey.takeError();
  auto bare = cache.getOrCompile(*bareKey, [&]() -> Expected<KernelBinary> {
    KernelBinary copy = **binary;
    copy.ptx.clear();
    return copy;
  });
  return bare ? binary : bare;
}
