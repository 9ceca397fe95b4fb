//===- VariantCache.cpp - Results of passes in the kernel cache -----------===//

#include "VariantCache.h"

#include "mlir/Pass/PassManager.h"
#include "swage/Pipelines/Pipelines.h"
#include "swage/Support/BuildId.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>

using namespace swage;

/// The builds of all libraries that passes are in; empty if one of them does not tell.  Devices,
/// templates' names and the emitter are in the first.
static const std::string &buildOfPasses() {
  static const auto *build = [] {
    auto run = &mlir::PassManager::run;
    void *places[] = {reinterpret_cast<void *>(&buildKernelPipeline), nullptr,
                      reinterpret_cast<void *>(&llvm::errs)};
    // The first word of a pointer to a member that is not virtual is its address.
    std::memcpy(&places[1], &run, sizeof places[1]);
    auto *all = new std::string();
    std::string last;
    for (void *place : places) {
      std::string id = buildIdAt(place);
      if (id.empty()) {
        all->clear();
        break;
      }
      if (id != last)
        *all += (all->empty() ? "" : " ") + id;
      last = id;
    }
    return all;
  }();
  return *build;
}

std::optional<CacheKey> swage::resultKey(const ProgramIR &program, const VariantRequest &request,
                                         const std::string &kind,
                                         const std::string &schedules) {
  VariantKeyFields fields;
  fields.passes = buildOfPasses();
  if (fields.passes.empty())
    return std::nullopt;
  fields.kind = kind;
  fields.graph = program.text;
  fields.filename = program.filename;
  fields.entry = program.entryName;
  fields.arch = archOf(request.options);
  fields.indexBits = request.indexBits;
  fields.fuse = request.options.fuse;
  fields.overlap = request.options.environment.overlap;
  fields.schedules = schedules;
  fields.alignment = request.options.alignment;
  fields.extents = request.extents;
  return variantKey(fields);
}

static bool isSame(const std::vector<TensorType> &a, const std::vector<TensorType> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) {
    return x.element == y.element && x.shape == y.shape;
  });
}

std::optional<LoweredVariant> swage::findLowered(const ProgramIR &program, KernelCache &cache,
                                                 const CacheKey &key) {
  std::optional<LoweredVariant> found;
  cache.findVariant(key, [&](std::string_view bytes) -> Status {
    auto lowered = parseLowered(bytes);
    if (!lowered)
      return lowered.takeError();
    if (!isSame(lowered->variant->inputs, program.inputs) ||
        !isSame(lowered->variant->results, program.results))
      return makeError(Stage::Cache, "the cache entry is of another program");
    found = std::move(*lowered);
    return {};
  });
  return found;
}

std::optional<std::vector<ExtentNeeds>> swage::findNeeds(const ProgramIR &program,
                                                         KernelCache &cache, const CacheKey &key) {
  std::optional<std::vector<ExtentNeeds>> found;
  cache.findVariant(key, [&](std::string_view bytes) -> Status {
    auto needs = parseNeeds(bytes);
    if (!needs)
      return needs.takeError();
    if (needs->size() != dynamicExtents(program.inputs).size())
      return makeError(Stage::Cache, "the cache entry is of another program");
    found = std::move(*needs);
    return {};
  });
  return found;
}
