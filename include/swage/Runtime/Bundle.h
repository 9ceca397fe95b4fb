//===- Bundle.h - Compiled programs as files ------------------------------===//
//
// A bundle is a program compiled ahead of time: its signature and variants with their machine code
// for one or more architectures, in one checked file.  Loading needs neither MLIR nor NVRTC.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_BUNDLE_H
#define SWAGE_RUNTIME_BUNDLE_H

#include "swage/Runtime/Variant.h"

namespace swage {

struct Bundle {
  std::string entryName;
  std::vector<TensorType> inputs, results;
  std::vector<ExtentNeeds> needs;
  std::vector<std::shared_ptr<const Variant>> variants;

  /// All or nothing, through a temporary file.
  Status write(const std::string &path) const;
  /// An error of stage Load, naming the file, for what is damaged, of another version, or no
  /// bundle.
  static Expected<Bundle> read(const std::string &path);

  std::string serialize() const;
  static Expected<Bundle> parse(std::string_view bytes);
};

} // namespace swage

#endif // SWAGE_RUNTIME_BUNDLE_H
