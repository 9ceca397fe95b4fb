//===- CacheDirectory.h - The directory that holds cache entries ----------===//
//
// Private to lib/Runtime and swage-cache.  Entries are machine code, so only what this user owns
// and nobody else can write is read, with one exception: what root keeps for everybody, where
// nothing is ever written.  Only what is an entry is ever removed.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_CACHEDIRECTORY_H
#define SWAGE_LIB_RUNTIME_CACHEDIRECTORY_H

#include "FileSystem.h"
#include "swage/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace swage {

/// A file that bears the name of an entry, is a plain file and belongs to this user.
struct CacheFile {
  std::string name;
  uint64_t bytes = 0;
  timespec used = {}; ///< when it was last used, to the hour
};

class CacheDirectory {
public:
  /// Whose directory and entries are taken.
  enum class Owner { User, UserOrRoot };

  /// `base`: a directory that must be this user's for `path` below it to be created; may be empty.
  CacheDirectory(std::string path, std::string base, FileSystem &files = FileSystem::real(),
                 Owner owner = Owner::User)
      : path(std::move(path)), base(std::move(base)), files(files), owner(owner) {}

  const std::string &name() const { return path; }

  enum class ReadOutcome {
    Found,
    Absent,
    Refused,  ///< an entry that cannot be read or is not a plain file of this user
    Unusable, ///< the directory itself
  };
  /// `reason` says why, unless it is found or absent.  With `stamp` a file that is found is marked
  /// as used now.
  ReadOutcome read(const std::string &file, std::string &bytes, std::string &reason,
                   bool stamp = false) const;

  /// Makes `bytes` the content of `file`, at once or not at all.  Creates the directory.
  Status publish(const std::string &file, std::string_view bytes) const;

  /// The files that look like entries, the least recently used first; none when there is no such
  /// directory.
  Expected<std::vector<CacheFile>> list() const;

  /// Removes an entry; nothing that does not start like one, and nothing that was used or replaced
  /// since it was listed.  Returns whether it is gone.
  Expected<bool> remove(const CacheFile &file) const;

  struct Upkeep {
    uint64_t total = 0; ///< bytes of all entries, afterwards
    uint64_t evicted = 0;
  };
  /// Removes what processes that died while publishing left behind a day ago or longer; and when
  /// the entries have more than `limit` bytes, the least recently used until a fifth of that is
  /// free.  The entry `keep` stays.  A limit of 0 is none.
  Expected<Upkeep> tidy(uint64_t limit, const std::string &keep = {}) const;

private:
  class File;

  int openChecked(std::string &reason) const;
  bool checkParents(int directory, std::string &reason) const;
  bool isTrusted(uid_t user) const;
  bool createDirectories() const;
  bool writeAll(int file, std::string_view bytes) const;
  struct Failure {
    const char *verb = nullptr; ///< none: it went well
    std::string reason;
    bool again = false; ///< another process interfered
  };
  Failure tryPublish(const std::string &file, std::string_view bytes) const;
  bool scan(int directory, std::vector<CacheFile> &entries, bool sweep) const;
  bool removeEntry(int directory, const CacheFile &file) const;
  Error failed(const std::string &verb, const std::string &reason) const;

  std::string path;
  std::string base;
  FileSystem &files;
  Owner owner;
  /// The directories above are looked at once: what is wrong with them is how the machine was set
  /// up, and a way up for each kernel would take longer than to read it.
  mutable std::atomic<bool> parentsAreSafe{false};
};

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_CACHEDIRECTORY_H
