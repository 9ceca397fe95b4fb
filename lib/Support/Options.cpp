//===- Options.cpp - Every SWAGE_ environment variable --------------------===//
//
// One row per variable: its name, what it may hold, what it does, and the function that stores it.
// A new variable is a new row and a new field.
//
//===----------------------------------------------------------------------===//
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <filesystem>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

using namespace swage;

namespace {
struct Row {
  OptionInfo info;
  /// Returns whether the value is one of those the variable may hold.
  bool (*store)(Options &options, std::string_view value);
};
} // namespace

static std::string absolutePath(std::string_view path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? std::string(path) : absolute.lexically_normal().string();
}

static const Row table[] = {
    {{"SWAGE_CACHE_DIR", "directory", "where compiled kernels are kept"},
     [](Options &options, std::string_view value) {
       options.cacheDir = absolutePath(value);
       options.cacheBase.clear();
       return true;
     }},
    {{"SWAGE_CACHE", "read-write|read-only|require|off", "how the kernel cache on disk is used"},
     [](Options &options, std::string_view value) {
       if (value == "read-write")
         options.cacheMode = CacheMode::ReadWrite;
       else if (value == "read-only")
         options.cacheMode = CacheMode::ReadOnly;
       else if (value == "require")
         options.cacheMode = CacheMode::Require;
       else if (value == "off")
         options.cacheMode = CacheMode::Off;
       else
         return false;
       return true;
     }},
    {{"SWAGE_CACHE_LIMIT", "a size such as 500M or 2G, or none",
      "what the kernel cache on disk may take before the least recently used kernels go"},
     [](Options &options, std::string_view value) {
       std::optional<uint64_t> bytes = value == "none" ? 0 : parseByteSize(value);
       // A cache of no bytes is SWAGE_CACHE=off.
       if (!bytes || (*bytes == 0 && value != "none"))
         return false;
       options.cacheLimit = *bytes;
       return true;
     }},
    {{"SWAGE_CUDA_DRIVER", "file", "the CUDA driver library, instead of libcuda.so.1"},
     [](Options &options, std::string_view value) {
       options.cudaDriver = value;
       return true;
     }},
    {{"SWAGE_NVRTC", "file or directory", "the NVRTC library, or where to look for it"},
     [](Options &options, std::string_view value) {
       options.nvrtc = value;
       return true;
     }},
    {{"SWAGE_HOST_COMPILER", "file or name",
      "the C++ compiler that the simulator compiles kernels with, instead of g++, clang++ or c++"},
     [](Options &options, std::string_view value) {
       bool isFile = value.find('/') != std::string_view::npos;
       options.hostCompiler = isFile ? absolutePath(value) : std::string(value);
       return true;
     }},
    {{"SWAGE_DUMP", "directory", "receives generated sources, PTX and machine code"},
     [](Options &options, std::string_view value) {
       options.dumpDir = absolutePath(value);
       return true;
     }},
};

const std::vector<OptionInfo> &swage::environmentOptions() {
  static const std::vector<OptionInfo> infos = [] {
    std::vector<OptionInfo> infos;
    for (const Row &row : table)
      infos.push_back(row.info);
    return infos;
  }();
  return infos;
}

std::optional<uint64_t> swage::parseByteSize(std::string_view text) {
  std::string_view suffix = text;
  // Digits one by one: the locale of the program has no say in what its environment means.
  double value = 0, place = 1;
  bool digits = false, point = false;
  for (; !suffix.empty(); suffix.remove_prefix(1)) {
    char c = suffix.front();
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits = true;
      value = value * 10 + (c - '0');
      place *= point ? 10 : 1;
    } else {
      break;
    }
  }
  constexpr std::string_view units = "KMGT";
  if (size_t unit = suffix.empty() ? units.npos : units.find(suffix.front()); unit != units.npos) {
    for (size_t i = 0; i <= unit; ++i)
      value *= 1024;
    suffix.remove_prefix(1);
    if (suffix == "B" || suffix == "iB")
      suffix = {};
  } else if (point) {
    return std::nullopt;
  }
  value /= place;
  if (!digits || !suffix.empty() || !(value < 0x1p62))
    return std::nullopt;
  return uint64_t(value);
}

static void storeVariable(Options &options, std::string_view name, std::string_view value) {
  for (const Row &row : table) {
    if (row.info.name != name)
      continue;
    if (!row.store(options, value))
      options.warnings.push_back(
          fmt::format("{}='{}' is ignored: expected {}", name, printable(value), row.info.values));
    return;
  }
  std::vector<std::string_view> known;
  for (const Row &row : table)
    known.push_back(row.info.name);
  std::string nearest = nearestMatch(name, known);
  options.warnings.push_back(
      fmt::format("unknown environment variable {}{}", printable(name),
                  nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

Options Options::parse(const char *const *environment) {
  Options options;
  std::string_view home, xdgCache;
  for (; environment && *environment; ++environment) {
    std::string_view entry = *environment;
    size_t equals = entry.find('=');
    // An empty value is how scripts unset a variable.
    if (equals == std::string_view::npos || equals + 1 == entry.size())
      continue;
    std::string_view name = entry.substr(0, equals);
    std::string_view value = entry.substr(equals + 1);
    if (name == "HOME")
      home = value;
    else if (name == "XDG_CACHE_HOME")
      xdgCache = value;
    else if (name.substr(0, 6) == "SWAGE_")
      storeVariable(options, name, value);
  }
  // The specification of XDG_CACHE_HOME asks for absolute paths and for ignoring others.
  if (options.cacheDir.empty()) {
    if (!xdgCache.empty() && xdgCache.front() == '/') {
      options.cacheBase = xdgCache;
      options.cacheDir = options.cacheBase + "/swage";
    } else if (!home.empty() && home.front() == '/') {
      options.cacheBase = home;
      options.cacheDir = options.cacheBase + "/.cache/swage";
    }
  }
  return options;
}

const Options &Options::get() {
  static const Options options = [] {
    // A program that runs with more rights than its caller takes no paths from the caller.
    if (getauxval(AT_SECURE))
      return Options();
    return parse(environ);
  }();
  return options;
}
