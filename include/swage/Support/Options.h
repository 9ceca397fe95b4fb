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
#include "swage/Support/Error.h"

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

/// What a dump holds; several are added up.
enum DumpPart : unsigned {
  DumpIR = 1,      ///< "ir": the module and each kernel after each pass
  DumpCuda = 2,    ///< "cuda": the source of each kernel
  DumpPtx = 4,     ///< "ptx"
  DumpCubin = 8,   ///< "cubin": machine code; a shared object for the simulator
  DumpSass = 16,   ///< "sass": machine code as text, where there is a disassembler
  DumpLog = 32,    ///< "log": what the compiler printed
  DumpLaunch = 64, ///< "launch": tensors, accesses and geometry, and a script for the simulator
  DumpAll = 127,   ///< "all"
};

/// SWAGE_DUMP and swage-run --dump: "DIR" for everything, or "DIR:what,what".  What follows the
/// last colon are words unless there is a slash in it: a directory with a colon in its name is
/// given as "a:b/".
struct DumpRequest {
  std::string directory; ///< absolute; empty: no dump
  unsigned parts = DumpAll;

  bool wants(DumpPart part) const { return !directory.empty() && (parts & part) != 0; }
};
SWAGE_API Expected<DumpRequest> parseDump(std::string_view text);

/// A kernel that is compiled from a file instead of the generated text.
struct KernelOverride {
  std::string kernel; ///< its name, or "prefix*"
  std::string file;   ///< absolute
};

/// Which kernels of a program may start before those in front of them have ended (programmatic
/// dependent launch): from sm_90 on.
enum class Overlap {
  Off,
  On,   ///< all
  Auto, ///< those that are over soon, and attention of few queries
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
  /// SWAGE_DUMP: how kernels come to be, as files.
  DumpRequest dump;
  /// SWAGE_NVDISASM: a file or a name on PATH; empty: nvdisasm or cuobjdump, in the usual places.
  std::string disassembler;
  /// SWAGE_OVERRIDE: "kernel=file.cu,prefix*=file.cu"; the first that fits a kernel counts.
  std::vector<KernelOverride> overrides;
  /// SWAGE_OVERLAP.
  Overlap overlap = Overlap::Auto;
  /// SWAGE_TUNED: whether schedules that an autotuner found are used, and the file that has them;
  /// no file: the one in the cache's directory.
  bool tuned = true;
  std::string tunedFile;
  /// SWAGE_TRACE: a file for events as Chrome's trace viewer and Perfetto read them; "%p" in it is
  /// the id of the process; empty: none.
  std::string traceFile;
  /// SWAGE_NOTICES: whether a line on stderr tells of compiles that take long.
  bool notices = true;
  /// What was wrong with the environment, one line each; whoever owns the terminal prints them.
  std::vector<std::string> warnings;

  /// The environment of this process, read on the first call.
  static const Options &get();
  /// Reads "NAME=value" strings; other names than SWAGE_*, HOME and XDG_CACHE_HOME are skipped.
  static Options parse(const char *const *environment);
  /// Stores one variable as parse does; an error for an unknown name and for a value that it may
  /// not hold.
  Status set(std::string_view name, std::string_view value);
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
