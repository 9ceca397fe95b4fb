//===- MachineChecks.cpp - What is around kernels -------------------------===//

#include "CacheDirectory.h"
#include "Checks.h"

#include "swage/JIT/Disassembler.h"
#include "swage/Runtime/Trace.h"
#include "swage/Support/ByteSize.h"
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

using namespace swage;
using namespace swage::doctor;

//===----------------------------------------------------------------------===//
// Versions and variables
//===----------------------------------------------------------------------===//

void doctor::checkVersions(Report &report) {
  utsname machine = {};
  uname(&machine);
  // Of the library that runs, not of the one that it was built with.
  char libc[64] = "another C library";
  confstr(_CS_GNU_LIBC_VERSION, libc, sizeof libc);
  report.add(Finding(Level::Ok, "Swage",
                     fmt::format("{}, on {} {} {}, {}, {} cores", SWAGE_VERSION, machine.sysname,
                                 machine.release, machine.machine, libc,
                                 std::thread::hardware_concurrency()))
                 .with("version", SWAGE_VERSION)
                 .with("machine", machine.machine));
}

std::string doctor::environmentVariable(std::string_view name) {
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    if (text.size() > name.size() && text.substr(0, name.size()) == name &&
        text[name.size()] == '=')
      return std::string(text.substr(name.size() + 1));
  }
  return "";
}

/// The nearest directory above `path`, or itself, that exists.
static std::string existingParent(const std::string &path) {
  std::filesystem::path parent = path;
  struct stat info;
  while (stat(parent.c_str(), &info) != 0 && parent.has_relative_path())
    parent = parent.parent_path();
  return parent.empty() ? "." : parent.string();
}

/// Why nothing can be written into `path`; empty where it can.
static std::string notWritable(const std::string &path) {
  std::string parent = existingParent(path);
  struct stat info;
  if (stat(parent.c_str(), &info) == 0 && !S_ISDIR(info.st_mode))
    return fmt::format("'{}' is no directory", parent);
  // Effective rights: real ones are not what counts.
  if (faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return fmt::format("cannot write to '{}': {}", parent, std::strerror(errno));
  return "";
}

/// The files that a variable names.
static void checkFiles(const Options &options, Finding &finding) {
  auto warn = [&](const std::string &reason, const char *advice) {
    if (reason.empty())
      return;
    finding.level = Level::Warning;
    finding.facts += ": " + reason;
    finding.advice = advice;
  };
  if (!options.dump.directory.empty())
    warn(notWritable(options.dump.directory), "name a directory that can be made or written");
  if (!options.traceFile.empty()) {
    std::string folder = std::filesystem::path(options.traceFile).parent_path();
    struct stat info;
    warn(stat(folder.c_str(), &info) != 0 ? fmt::format("'{}': {}", folder, std::strerror(errno))
                                          : notWritable(folder),
         "name a file in a directory that can be written");
  }
  for (const KernelOverride &entry : options.overrides)
    if (access(entry.file.c_str(), R_OK) != 0)
      warn(fmt::format("cannot read '{}': {}", entry.file, std::strerror(errno)),
           "kernels of this name cannot be compiled: name a file, or unset the variable");
}

void doctor::checkDiagnosis(Report &report) {
  report.step("looking for a disassembler");
  const std::string &named = Options::get().disassembler;
  auto disassembler = findDisassembler(named);
  if (disassembler)
    report.add(Finding(Level::Ok, "disassembler",
                       fmt::format("'{}': dumps have the machine code as text", *disassembler))
                   .with("path", *disassembler));
  else
    // Nothing but dumps wants one.
    report.add(findingOf(named.empty() ? Level::Ok : Level::Warning, "disassembler",
                         disassembler.error()));
  report.add(Finding(Level::Ok, "NVTX",
                     hasNvtx() ? "profilers see ranges of Swage"
                               : "this build has no ranges for profilers: the headers of NVTX were "
                                 "not there")
                 .with("built", hasNvtx() ? "yes" : "no"));
}

void doctor::checkEnvironment(Report &report) {
  bool any = false;
  for (char **entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    size_t equals = text.find('=');
    if (text.substr(0, 6) != "SWAGE_" || equals == text.npos)
      continue;
    any = true;
    std::string name(text.substr(0, equals)), value(text.substr(equals + 1));
    const char *alone[] = {*entry, nullptr};
    Options options = Options::parse(alone);
    Finding finding(Level::Ok, name, fmt::format("'{}'", value));
    if (value.empty()) {
      finding.facts = "empty, which counts as not set";
    } else if (!options.warnings.empty()) {
      finding = findingOf(Level::Warning, name, std::string_view(options.warnings.front()));
      if (finding.advice.empty()) // "NAME='value' cannot be used: expected ..."
        if (size_t split = finding.facts.find(": expected "); split != std::string::npos) {
          finding.advice = finding.facts.substr(split + 2);
          finding.facts.resize(split);
        }
    } else {
      checkFiles(options, finding);
    }
    report.add(finding.with("value", value));
  }
  if (any)
    return;
  std::vector<std::string> names;
  for (const OptionInfo &option : environmentOptions())
    names.emplace_back(option.name);
  report.add({Level::Ok, "environment",
              fmt::format("no SWAGE_ variable is set; there are {}", join(names, ", "))});
}

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

static const char *cacheModeName(CacheMode mode) {
  switch (mode) {
  case CacheMode::ReadWrite:
    return "read-write";
  case CacheMode::ReadOnly:
    return "read-only";
  case CacheMode::Require:
    return "require";
  case CacheMode::Off:
    return "off";
  }
  return "";
}

static std::string userName(uid_t id) {
  // Not getpwuid: it may load and ask what is not there.
  return id == geteuid() ? "this user" : fmt::format("user {}", id);
}

/// What the file system tells about the directory.
static std::string describeDirectory(const std::string &path, Finding &finding) {
  struct stat info;
  std::string text;
  if (lstat(path.c_str(), &info) == 0) {
    text = fmt::format("of {}, mode {:04o}", userName(info.st_uid), info.st_mode & 07777);
    finding.with("mode", fmt::format("{:04o}", info.st_mode & 07777))
        .with("owner", std::to_string(info.st_uid));
  } else {
    text = "does not exist yet";
  }
  struct statvfs space = {};
  if (statvfs(existingParent(path).c_str(), &space) == 0) {
    uint64_t free = uint64_t(space.f_bavail) * space.f_frsize;
    text += fmt::format(", {} free", formatSize(free));
    finding.with("free_bytes", std::to_string(free));
  }
  return text;
}

void doctor::checkCache(Report &report) {
  const Options &options = Options::get();
  std::string mode = cacheModeName(options.cacheMode);
  // Without a cache a program works, only longer; not where it may not compile.
  Level trouble = options.cacheMode == CacheMode::Require ? Level::Problem : Level::Warning;
  Finding finding(Level::Ok, "kernel cache", "");
  finding.with("mode", mode).with("limit_bytes", std::to_string(options.cacheLimit));
  if (options.cacheMode == CacheMode::Off) {
    finding.facts = "off (SWAGE_CACHE): every process compiles its kernels";
    return report.add(finding);
  }
  if (options.cacheDir.empty()) {
    finding.level = trouble;
    finding.facts = fmt::format("in memory only, mode {}: there is no directory for it", mode);
    finding.advice = "set SWAGE_CACHE_DIR or HOME";
    return report.add(finding);
  }
  const std::string &path = options.cacheDir;
  const char *choice = options.cacheBase.empty() ? "SWAGE_CACHE_DIR"
                       : environmentVariable("XDG_CACHE_HOME") == options.cacheBase
                           ? "XDG_CACHE_HOME"
                           : "HOME";
  report.step(fmt::format("looking into '{}'", path));
  finding.facts = fmt::format("'{}' (by {}), {}; mode {}, limit {}", path, choice,
                              describeDirectory(path, finding), mode,
                              options.cacheLimit == 0 ? "none" : formatSize(options.cacheLimit));
  finding.with("path", path).with("chosen_by", choice);

  auto files = CacheDirectory(path, options.cacheBase).list();
  struct stat info;
  bool isThere = lstat(path.c_str(), &info) == 0;
  if (files) {
    uint64_t bytes = 0;
    for (const CacheFile &file : *files)
      bytes += file.bytes;
    finding.facts += fmt::format("; {} {}, {}", files->size(),
                                 files->size() == 1 ? "entry" : "entries", formatSize(bytes));
    finding.with("entries", std::to_string(files->size())).with("bytes", std::to_string(bytes));
  } else {
    finding.level = trouble;
    finding.facts += "; " + files.error().message;
    finding.advice = "entries are machine code: the directory must be yours and writable by nobody "
                     "else (chmod 700), or SWAGE_CACHE_DIR must name one that is";
    return report.add(finding);
  }
  bool writes = options.cacheMode == CacheMode::ReadWrite;
  std::string reason = writes ? notWritable(path) : "";
  if (struct stat base; reason.empty() && writes && !isThere && !options.cacheBase.empty() &&
                        stat(options.cacheBase.c_str(), &base) == 0 && base.st_uid != geteuid())
    reason = fmt::format("'{}' belongs to {}, and nothing is created there", options.cacheBase,
                         userName(base.st_uid));
  if (!reason.empty()) {
    finding.level = trouble;
    finding.facts += "; " + reason;
    finding.advice = "name a directory that is yours with SWAGE_CACHE_DIR, or set "
                     "SWAGE_CACHE=read-only";
  } else if (options.cacheMode == CacheMode::Require && files->empty()) {
    finding.level = Level::Problem;
    finding.advice = "with SWAGE_CACHE=require a kernel that is missing is an error: fill the "
                     "cache first by a run with SWAGE_CACHE=read-write";
  } else if (auto free = finding.values.find("free_bytes");
             writes && free != finding.values.end() && free->second.size() < 8) {
    finding.level = trouble;
    finding.advice = "less than 10 MB are free: make room, or name another directory with "
                     "SWAGE_CACHE_DIR";
  }
  report.add(finding);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

void doctor::checkLimits(Report &report) {
  const struct {
    int resource;
    const char *what;
    const char *flag;
    rlim_t least;
    bool isBytes;
    const char *why;
  } rows[] = {
      {RLIMIT_NOFILE, "open files", "-n", 256, false,
       "the driver opens dozens of files for each device"},
      {RLIMIT_STACK, "stack", "-s", 4 << 20, true, "compilers and parsers recurse"},
      // CUDA reserves addresses for all memory of all devices.
      {RLIMIT_AS, "address space", "-v", rlim_t(1) << 40, true,
       "CUDA reserves addresses for all memory there is, and the simulator a stack for each "
       "thread"},
      {RLIMIT_NPROC, "processes and threads", "-u", 256, false,
       "the driver and the compile pool start threads"},
  };
  for (const auto &row : rows) {
    rlimit limit = {};
    if (getrlimit(__rlimit_resource_t(row.resource), &limit) != 0)
      continue;
    auto format = [&](rlim_t value) {
      return value == RLIM_INFINITY ? "unlimited"
             : row.isBytes          ? formatSize(value)
                                    : std::to_string(value);
    };
    bool enough = limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= row.least;
    std::string name = fmt::format("limit of {}", row.what);
    Finding finding(enough ? Level::Ok : Level::Warning, name, format(limit.rlim_cur));
    if (!enough) {
      finding.facts += fmt::format(", below {}: {}", format(row.least), row.why);
      finding.advice = fmt::format("raise it with ulimit {} (at most {} here)", row.flag,
                                   format(limit.rlim_max));
    }
    report.add(finding.with("limit", format(limit.rlim_cur)));
  }
  // /proc tells no size: read a little.
  constexpr long kUsual = 65530;
  if (std::FILE *file = std::fopen("/proc/sys/vm/max_map_count", "r")) {
    long count = 0;
    if (std::fscanf(file, "%ld", &count) == 1) {
      Finding finding(count >= kUsual ? Level::Ok : Level::Warning, "vm.max_map_count",
                      std::to_string(count));
      if (count < kUsual) {
        finding.facts += fmt::format(", below the usual {}: a simulated thread takes two", kUsual);
        finding.advice = fmt::format("sysctl vm.max_map_count={}", kUsual);
      }
      report.add(finding.with("limit", std::to_string(count)));
    }
    std::fclose(file);
  }
  std::error_code error;
  std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  if (error)
    temporary = "/tmp";
  std::string reason = notWritable(temporary.string());
  struct statvfs space = {};
  uint64_t free = statvfs(temporary.c_str(), &space) == 0 ? space.f_bavail * space.f_frsize : 0;
  bool enough = reason.empty() && free >= uint64_t(64) << 20;
  report.add({enough ? Level::Ok : Level::Warning, "temporary files",
              fmt::format("'{}', {} free{}{}", temporary.string(), formatSize(free),
                          reason.empty() ? "" : "; ", reason),
              enough ? "" : "the simulator compiles there: name another directory with TMPDIR"});
}
