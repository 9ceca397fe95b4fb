//===- Workspace.h - Where intermediate tensors lie -----------------------===//
#ifndef SWAGE_LIB_RUNTIME_WORKSPACE_H
#define SWAGE_LIB_RUNTIME_WORKSPACE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace swage {

/// Of every value in the workspace, in bytes.
constexpr uint64_t kWorkspaceAlignment = 256;

/// A tensor that one launch writes and later ones read.
struct WorkspaceValue {
  size_t firstUse = 0, lastUse = 0; ///< launches, both included
  uint64_t bytes = 0;
  /// The value of as many bytes whose place this one takes: its last use is this one's first.  No
  /// two values take the place of the same one.
  std::optional<size_t> takesPlaceOf;
  uint64_t offset = 0; ///< set by placeValues
};

struct WorkspaceSize {
  uint64_t bytes = 0;      ///< of the whole
  uint64_t lowerBound = 0; ///< most bytes that are in use at once: no placement needs less
};

/// Gives each value an offset such that no two overlap that are in use at the same time, but for
/// those that take each other's place.
WorkspaceSize placeValues(std::vector<WorkspaceValue> &values);

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_WORKSPACE_H
