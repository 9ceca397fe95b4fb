//===- Options.cpp - Every SWAGE_ environment variable --------------------===//
//
// One row per variable: its name, what it may hold, what it does, and the function that stores it.
// A new variable is a new row and a new field.
//
//===----------------------------------------------------------------------===//
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

using namespace swage;

namespace {
struct Row {
  OptionInfo info;
  /// Returns whether the value is one of those the variable may hold; `why` may say what is wrong
  /// with it where the list of values does not.
  bool (*store)(Options &options, std::string_view value, std::string &why);
};
} // namespace

static std::string absolutePath(std::string_view path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? std::string(path) : absolute.lexically_normal().string();
}

/// A file by its path, or a program by its name, to be looked for on PATH.
static std::string fileOrName(std::string_view value) {
  return value.find('/') != std::string_view::npos ? absolutePath(value) : std::string(value);
}

Expected<DumpRequest> swage::parseDump(std::string_view text) {
  static const std::pair<std::string_view, unsigned> words[] = {
      {"ir", DumpIR},     {"cuda", DumpCuda}, {"ptx", DumpPtx},       {"cubin", DumpCubin},
      {"sass", DumpSass}, {"log", DumpLog},   {"launch", DumpLaunch}, {"all", DumpAll}};
  DumpRequest request;
  size_t colon = text.rfind(':');
  if (colon != text.npos && text.find('/', colon) == text.npos) {
    request.parts = 0;
    for (std::string_view word : splitAt(text.substr(colon + 1), ",")) {
      std::vector<std::string_view> known;
      unsigned before = request.parts;
      for (auto [name, part] : words) {
        known.push_back(name);
        request.parts |= word == name ? part : 0;
      }
      if (request.parts != before || std::find(known.begin(), known.end(), word) != known.end())
        continue;
      std::string nearest = nearestMatch(word, known);
      return makeError(
          Stage::Input,
          fmt::format("'{}' is no part of a dump{}; there are ir, cuda, ptx, cubin, sass, log, "
                      "launch and all (a directory with a colon in its name ends with a slash)",
                      printable(word),
                      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    }
    text = text.substr(0, colon);
  }
  if (text.empty())
    return makeError(Stage::Input, "a dump needs a directory");
  request.directory = absolutePath(text);
  return request;
}

static const Row table[] = {
    {{"SWAGE_CACHE_DIR", "directory", "where compiled kernels are kept"},
     [](Options &options, std::string_view value, std::string &) {
       options.cacheDir = absolutePath(value);
       options.cacheBase.clear();
       return true;
     }},
    {{"SWAGE_CACHE", "read-write|read-only|require|off", "how the kernel cache on disk is used"},
     [](Options &options, std::string_view value, std::string &) {
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
     [](Options &options, std::string_view value, std::string &) {
       std::optional<uint64_t> bytes = value == "none" ? 0 : parseByteSize(value);
       // A cache of no bytes is SWAGE_CACHE=off.
       if (!bytes || (*bytes == 0 && value != "none"))
         return false;
       options.cacheLimit = *bytes;
       return true;
     }},
    {{"SWAGE_CUDA_DRIVER", "file", "the CUDA driver library, instead of libcuda.so.1"},
     [](Options &options, std::string_view value, std::string &) {
       options.cudaDriver = value;
       return true;
     }},
    {{"SWAGE_NVRTC", "file or directory", "the NVRTC library, or where to look for it"},
     [](Options &options, std::string_view value, std::string &) {
       options.nvrtc = value;
       return true;
     }},
    {{"SWAGE_HOST_COMPILER", "file or name",
      "the C++ compiler that the simulator compiles kernels with, instead of g++, clang++ or c++"},
     [](Options &options, std::string_view value, std::string &) {
       options.hostCompiler = fileOrName(value);
       return true;
     }},
    {{"SWAGE_DUMP", "directory or directory:what,what",
      "receives IR, sources, PTX and machine code; what: ir, cuda, ptx, cubin, sass, log, launch"},
     [](Options &options, std::string_view value, std::string &why) {
       auto request = parseDump(value);
       if (request)
         options.dump = std::move(*request);
       else
         why = request.takeError().message;
       return bool(request);
     }},
    {{"SWAGE_NVDISASM", "file or name",
      "the disassembler for dumps, instead of nvdisasm or cuobjdump on PATH or in a toolkit"},
     [](Options &options, std::string_view value, std::string &) {
       options.disassembler = fileOrName(value);
       return true;
     }},
    {{"SWAGE_OVERRIDE", "kernel=file.cu or prefix*=file.cu, with commas between",
      "compiles these kernels from files instead of the generated text"},
     [](Options &options, std::string_view value, std::string &) {
       std::vector<KernelOverride> overrides;
       for (std::string_view entry : splitAt(value, ",")) {
         size_t equals = entry.find('=');
         if (equals == entry.npos || equals == 0 || equals + 1 == entry.size())
           return false;
         overrides.push_back(
             {std::string(entry.substr(0, equals)), absolutePath(entry.substr(equals + 1))});
       }
       options.overrides = std::move(overrides);
       return true;
     }},
    {{"SWAGE_OVERLAP", "auto|on|off",
      "which kernels of a program may start before those in front have ended, from sm_90 on"},
     [](Options &options, std::string_view value, std::string &) {
       options.overlap = value == "on"    ? Overlap::On
                         : value == "off" ? Overlap::Off
                                          : Overlap::Auto;
       return value == "on" || value == "off" || value == "auto";
     }},
    {{"SWAGE_TUNED", "on|off or a file with a slash in its name",
      "whether schedules that swage-run --autotune stored are used, and the file they are in"},
     [](Options &options, std::string_view value, std::string &) {
       bool isFile = value.find('/') != value.npos;
       options.tuned = value != "off";
       options.tunedFile = isFile ? absolutePath(value) : std::string();
       return isFile || value == "on" || value == "off";
     }},
    {{"SWAGE_TRACE", "file",
      "receives what took how long, for chrome://tracing and Perfetto; %p: the process's id"},
     [](Options &options, std::string_view value, std::string &) {
       options.traceFile = absolutePath(value);
       return true;
     }},
    {{"SWAGE_NOTICES", "on|off", "whether a line on stderr tells of compiles that take long"},
     [](Options &options, std::string_view value, std::string &) {
       options.notices = value == "on";
       return value == "on" || value == "off";
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

Status Options::set(std::string_view name, std::string_view value) {
  std::vector<std::string_view> known;
  for (const Row &row : table) {
    if (row.info.name == name) {
      std::string why = fmt::format("expected {}", row.info.values);
      if (row.store(*this, value, why))
        return {};
      return makeError(Stage::Input,
                       fmt::format("{}='{}' cannot be used: {}", name, printable(value), why));
    }
    known.push_back(row.info.name);
  }
  std::string nearest = nearestMatch(name, known);
  return makeError(Stage::Input,
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
      if (Status stored = options.set(name, value); !stored)
        options.warnings.push_back(stored.takeError().message);
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
