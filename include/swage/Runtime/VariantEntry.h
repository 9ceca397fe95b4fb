//===- VariantEntry.h - What passes decided, kept in the cache ------------===//
//
// The second kind of cache entry.  It holds what passes and emission made of a graph for one
// request: the variant with the CUDA source of its kernels, whose machine code has entries of its
// own; or which guards are worth having.  A process that finds it runs no pass.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_VARIANTENTRY_H
#define SWAGE_RUNTIME_VARIANTENTRY_H

#include "swage/Runtime/KernelCache.h"
#include "swage/Runtime/Variant.h"
#include "swage/Support/Options.h"

namespace swage {

/// Everything that decides what passes make of a graph.
struct VariantKeyFields {
  /// The build of the passes, so that a rebuilt one does not find what another made.
  std::string passes;
  std::string kind;     ///< of the result: "variant", "needs"
  std::string graph;    ///< the module's text
  std::string filename; ///< is in locations
  std::string entry;    ///< function of the module
  std::string arch;     ///< with the prefix of a simulated one
  int indexBits = 0;
  bool fuse = true;
  Overlap overlap = Overlap::Auto;
  std::vector<int64_t> alignment;
  std::vector<Guards::Extent> extents;
  std::string schedules; ///< that kernels are told, instead of the selected ones
};

/// The key in canonical text, as that of a kernel.
CacheKey variantKey(const VariantKeyFields &fields);

/// The kind of what an entry of this key holds: "variant" or "needs"; empty for a kernel.
std::string resultKind(std::string_view keyText);

/// A variant whose kernels were not compiled.
struct LoweredVariant {
  std::shared_ptr<Variant> variant;
  std::vector<uint8_t> isEmpty; ///< of each kernel: 1 where there is nothing to compile
};

std::string serializeLowered(const LoweredVariant &lowered);
/// An error of stage Cache for whatever serializeLowered does not write.
Expected<LoweredVariant> parseLowered(std::string_view bytes);

std::string serializeNeeds(const std::vector<ExtentNeeds> &needs);
Expected<std::vector<ExtentNeeds>> parseNeeds(std::string_view bytes);

} // namespace swage

#endif // SWAGE_RUNTIME_VARIANTENTRY_H
