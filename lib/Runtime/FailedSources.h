//===- FailedSources.h - Kernels that did not compile ---------------------===//
//
// Their sources and the compiler's logs, in a folder of the kernel cache, so that a message can
// name a file and a command that fails again.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_FAILEDSOURCES_H
#define SWAGE_LIB_RUNTIME_FAILEDSOURCES_H

#include "FileSystem.h"

#include <string>
#include <string_view>

namespace swage {

/// Of the cache's directory, beside its entries.
constexpr const char *kFailedFolder = "failed";
/// Sources that are kept; the oldest go.
constexpr size_t kFailedSources = 32;

/// Writes "failed/<hash of the source>.cu" and ".log" below the directory of a cache, for this user
/// alone. Returns the path of the source; empty where it cannot be kept.
std::string keepFailedSource(const std::string &cache, const std::string &base, FileSystem &files,
                             std::string_view source, std::string_view log);

/// Removes all of them and returns how many sources there were.
size_t removeFailedSources(const std::string &cache, FileSystem &files);

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_FAILEDSOURCES_H
