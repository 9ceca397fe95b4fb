//===- CacheDirectory.h - The directory that holds cache entries ----------===//
//
// Private to lib/Runtime.  Entries are machine code, so only what this user owns and nobody else
// can write is read.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_CACHEDIRECTORY_H
#define SWAGE_LIB_RUNTIME_CACHEDIRECTORY_H

#include "swage/Support/Error.h"

#include <optional>
#include <string>
#include <string_view>

namespace swage {

class CacheDirectory {
public:
  /// `base`: a directory that must be this user's for `path` below it to be created; may be empty.
  CacheDirectory(std::string path, std::string base)
      : path(std::move(path)), base(std::move(base)) {}

  const std::string &name() const { return path; }

  enum class ReadOutcome {
    Found,
    Absent,
    Refused,  ///< an entry that is not a plain file of this user
    Unusable, ///< the directory itself; `reason` says why
  };
  ReadOutcome read(const std::string &file, std::string &bytes, std::string &reason) const;

  /// Makes `bytes` the content of `file`, at once or not at all.  Creates the directory.
  Status publish(const std::string &file, std::string_view bytes) const;

  /// Removes what processes that died while publishing left behind.
  void sweep() const;

private:
  std::string path;
  std::string base;
};

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_CACHEDIRECTORY_H
