//===- KernelCache.h - Compiled kernels, kept in memory and on disk -------===//
//
// One file per kernel, and one for what passes made of a graph (VariantEntry.h), published by
// rename and checked on every read; whatever cannot be read is a miss and is replaced.  No lock is
// needed for correctness: two processes that compile the same kernel publish the same bytes.  A
// cache that cannot be used costs one warning and time, never a failure, unless the program asked
// for one: with SWAGE_CACHE=require a miss is an error.
//
// Entries that have not been used for longest go when a new one makes all of them more than
// SWAGE_CACHE_LIMIT.  The time of an entry's last use is its modification time, set when it is read
// and more than an hour has gone since.
//
// Entries are machine code that will run with the rights of this user, so only files that this user
// owns, in a directory that nobody else can write, are read.  In modes that never write (read-only
// and require), what belongs to root is read as well: a cache for all users of a machine.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_KERNELCACHE_H
#define SWAGE_RUNTIME_KERNELCACHE_H

#include "swage/Support/Api.h"
#include "swage/Support/Error.h"
#include "swage/Support/Hash.h"
#include "swage/Support/KernelBinary.h"
#include "swage/Support/Options.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swage {

class FileSystem;

/// Everything that decides the bytes of a compiled kernel.
struct CacheKeyFields {
  std::string_view source;
  /// Name and text of each header that the source may include.
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::vector<std::string> options; ///< in order
  std::string arch;                 ///< with its suffix
  std::string compiler;             ///< KernelCompiler::identity
  std::vector<std::string> entryNames;
};

/// The fields in one canonical text (labelled and length-prefixed, the headers by their hash) and
/// its hash.  The hash names the entry; a hit also requires equal text, so that a collision is a
/// miss and never the wrong kernel.
struct CacheKey {
  std::string text;
  Hash128 hash;
  /// The kernel and its architecture for messages, "'row_3f2a91c0' for sm_90a"; not compared.
  std::string what;

  static CacheKey make(const CacheKeyFields &fields);
};

struct CacheStats {
  uint64_t memoryHits = 0;
  uint64_t diskHits = 0;
  uint64_t misses = 0;
  uint64_t rejected = 0;    ///< entries found that were damaged, foreign or of another schema
  uint64_t published = 0;   ///< entries written
  uint64_t evicted = 0;     ///< entries removed to stay within the limit
  uint64_t variantHits = 0; ///< results of passes found on disk; the counts above are of kernels
};

class SWAGE_API KernelCache {
public:
  using Compile = std::function<Expected<KernelBinary>()>;
  using Warn = std::function<void(const std::string &)>;

  /// Uses options.cacheDir, cacheBase, cacheMode and cacheLimit.  `warn` receives at most one line
  /// about the directory; by default it goes to stderr.
  explicit KernelCache(const Options &options, Warn warn = {});
  /// For tests, whose file system fails.
  KernelCache(const Options &options, Warn warn, FileSystem &files);
  ~KernelCache();
  KernelCache(const KernelCache &) = delete;
  KernelCache &operator=(const KernelCache &) = delete;

  /// The kernel from memory, from disk, or from `compile`, which runs outside of any lock and once
  /// for all threads that ask for the same key meanwhile.  Failures are not kept.  With
  /// CacheMode::Require `compile` is never called.
  Expected<std::shared_ptr<const KernelBinary>> getOrCompile(const CacheKey &key,
                                                             const Compile &compile);

  /// Hands `take` what passes made of a graph, from disk, and returns whether it took it.  What is
  /// not there, not readable or not taken is a miss in every mode: passes can always run.  Programs
  /// keep what they have found, so that memory does not.
  bool findVariant(const CacheKey &key, const std::function<Status(std::string_view)> &take);
  /// Keeps it on disk, where the mode allows; what fails is warned about.  `name` and `arch` are
  /// for swage-cache.
  void keepVariant(const CacheKey &key, const std::string &name, const std::string &arch,
                   std::string bytes);

  /// Keeps the source and the log of a kernel that did not compile, with those of the last 32, in
  /// the directory's folder "failed".  Returns the path of the source; empty where the cache writes
  /// nothing or cannot.
  std::string keepFailedSource(std::string_view source, std::string_view log) const;

  CacheStats stats() const;
  /// The directory that is tried; empty when kernels are kept in memory only.
  std::string directory() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The file form of an entry.
std::string serializeEntry(const CacheKey &key, const KernelBinary &binary);
/// The entry, or why it cannot be used.  With a key, an entry of another key is refused; `keyText`
/// receives the text of the one it has.
Expected<KernelBinary> parseEntry(std::string_view bytes, const CacheKey *key,
                                  std::string *keyText = nullptr);
/// "<hash>.kernel".
std::string entryFileName(const Hash128 &hash);

} // namespace swage

#endif // SWAGE_RUNTIME_KERNELCACHE_H
