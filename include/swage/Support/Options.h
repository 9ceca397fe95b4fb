//===- Options.h - Every SWAGE_ environment variable ----------------------===//
//
// The environment is read once, through one table, into one struct.  Nothing else in Swage calls
// getenv: what a run depends on is visible here, and a misspelt variable is reported instead of
// ignored.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_OPTIONS_H
#define SWAGE_SUPPORT_OPTIONS_H

#include "swage/Support/Api.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swage {

enum class CacheMode {
  ReadWrite,
  ReadOnly, ///< what is missing is compiled and kept in memory
  Require,  ///< what is missing is an error: a program that serves must not compile
  Off,
};

struct SWAGE_API Options {
  /// SWAGE_CACHE_DIR, else $XDG_CACHE_HOME/swage, else $HOME/.cache/swage; empty: kernels are
  /// cached in memory only.
  std::string cacheDir;
  /// The directory that must belong to this user for a default cacheDir to be used ($HOME or
  /// $XDG_CACHE_HOME); empty when SWAGE_CACHE_DIR names the cache explicitly.
  std::string cacheBase;
  /// SWAGE_CACHE.
  CacheMode cacheMode = CacheMode::ReadWrite;
  /// SWAGE_CACHE_LIMIT: bytes that the entries may take before the least recently used go; 0: any
  /// number of them.
  uint64_t cacheLimit = uint64_t(2) << 30;
  /// SWAGE_CUDA_DRIVER: a file; empty: libcuda.so.1.
  std::string cudaDriver;
  /// SWAGE_NVRTC: a file or a directory that holds it; empty: the usual places.
  std::string nvrtc;
  /// SWAGE_HOST_COMPILER: a file or a name on PATH; empty: g++, clang++ or c++.
  std::string hostCompiler;
  /// SWAGE_DUMP: a directory that receives generated sources, PTX and machine code; empty: no
  /// dumps.
  std::string dumpDir;
  /// What was wrong with the environment, one line each; whoever owns the terminal prints them.
  std::vector<std::string> warnings;

  /// The environment of this process, read on the first call.
  static const Options &get();
  /// Reads "NAME=value" strings; other names than SWAGE_*, HOME and XDG_CACHE_HOME are skipped.
  static Options parse(const char *const *environment);
};

/// One row of the table, for --help texts and the documentation.
struct OptionInfo {
  std::string_view name;
  std::string_view values;
  std::string_view help;
};
SWAGE_API const std::vector<OptionInfo> &environmentOptions();

/// "1500", "64K", "500M", "2G", "1.5T", also "2GiB": powers of 1024.  Nothing for other texts.
std::optional<uint64_t> parseByteSize(std::string_view text);

} // namespace swage

#endif // SWAGE_SUPPORT_OPTIONS_H
