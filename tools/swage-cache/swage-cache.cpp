//===- swage-cache.cpp - What is in the kernel cache ----------------------===//
//
// Lists, verifies, prunes, extracts and clears.  It may run beside programs that use the cache,
// needs neither MLIR nor NVRTC nor a GPU, and changes no time of last use.  Exit code 0: done; 1:
// there is a finding (a damaged entry, no such entry, one that could not be removed); 2: it could
// not run.
//
//===----------------------------------------------------------------------===//
#include "CacheDirectory.h"
#include "CacheEntry.h"
#include "FailedSources.h"
#include "swage/Runtime/VariantEntry.h"
#include "swage/Support/ByteSize.h"
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <optional>

using namespace swage;

static constexpr const char *kHelp =
    R"(usage: swage-cache [--dir=DIRECTORY] COMMAND

  list [--sort=used|size|name]   every kernel, and every result of passes ("variant", "needs"):
                                 hash, name, architecture, compiler, size, last use
  verify [--remove]              reads and checks every entry; --remove: removes damaged ones
  prune [--to=SIZE] [--older-than=AGE] [--dry-run]
                                 removes the least recently used until SIZE is left (default: the
                                 limit), and what was not used for AGE (30m, 12h, 7d, 2w)
  extract HASH [--out=DIRECTORY] machine code, source, PTX and compiler log of one kernel as files,
                                 or the graph and the sources of a variant; a hash's first digits
                                 suffice
  clear [--dry-run]              removes every entry, and the sources that did not compile

The directory is SWAGE_CACHE_DIR, else $XDG_CACHE_HOME/swage, else ~/.cache/swage; the limit is
SWAGE_CACHE_LIMIT (default 2G).  Programs may use the cache meanwhile: what is removed they compile
again.  Exit code 0: done, 1: something is damaged, missing or could not be removed, 2: not run.
)";

//===----------------------------------------------------------------------===//
// Numbers for people
//===----------------------------------------------------------------------===//

static time_t secondsSince(const timespec &when) {
  return std::max<time_t>(0, time(nullptr) - when.tv_sec);
}

static std::string formatAge(const timespec &when) {
  time_t seconds = secondsSince(when);
  if (seconds < 60)
    return fmt::format("{}s", seconds);
  if (seconds < 3600)
    return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 3600)
    return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

static std::optional<time_t> parseAge(std::string_view text) {
  time_t value = 0;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    if ((value = value * 10 + (text[digits] - '0')) > 100'000'000)
      return std::nullopt;
  constexpr std::string_view units = "smhdw";
  constexpr time_t seconds[] = {1, 60, 3600, 86400, 7 * 86400};
  if (digits == 0 || digits + 1 != text.size() || units.find(text[digits]) == units.npos)
    return std::nullopt;
  return value * seconds[units.find(text[digits])];
}

static std::string plural(size_t count, const char *what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

namespace {
struct Arguments {
  std::string command;
  std::string hash;
  std::string dir;
  std::string out = ".";
  std::string sort = "used";
  std::optional<uint64_t> to;
  std::optional<time_t> olderThan;
  bool dryRun = false, remove = false, help = false;
};

/// An option, the command it is for and how it is stored; `store` returns whether the value will
/// do.
struct Flag {
  std::string_view name, command, values;
  bool (*store)(Arguments &arguments, std::string_view value);
};
} // namespace

static const Flag flags[] = {
    {"--dir", "", "a directory",
     [](Arguments &arguments, std::string_view value) {
       arguments.dir = value;
       return !value.empty();
     }},
    {"--sort", "list", "used, size or name",
     [](Arguments &arguments, std::string_view value) {
       arguments.sort = value;
       return value == "used" || value == "size" || value == "name";
     }},
    {"--remove", "verify", "",
     [](Arguments &arguments, std::string_view) { return arguments.remove = true; }},
    {"--to", "prune", "a size such as 500M or 2G",
     [](Arguments &arguments, std::string_view value) {
       arguments.to = parseByteSize(value);
       return arguments.to.has_value();
     }},
    {"--older-than", "prune", "an age such as 30m, 12h, 7d or 2w",
     [](Arguments &arguments, std::string_view value) {
       arguments.olderThan = parseAge(value);
       return arguments.olderThan.has_value();
     }},
    {"--dry-run", "prune clear", "",
     [](Arguments &arguments, std::string_view) { return arguments.dryRun = true; }},
    {"--out", "extract", "a directory",
     [](Arguments &arguments, std::string_view value) {
       arguments.out = value;
       return !value.empty();
     }},
};

static Error badUsage(std::string message) {
  return makeError(Stage::Input, std::move(message) + "; see swage-cache --help");
}

static Error unknownWord(std::string_view what, std::string_view word,
                         const std::vector<std::string_view> &known) {
  std::string nearest = nearestMatch(word, known);
  return badUsage(fmt::format("unknown {} '{}'{}", what, printable(word),
                              nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

static Expected<Arguments> parseArguments(int argc, char **argv) {
  static const std::vector<std::string_view> commands = {"list", "verify", "prune", "extract",
                                                         "clear"};
  Arguments arguments;
  std::vector<const Flag *> given;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--help" || word == "-h" || word == "help") {
      arguments.help = true;
      return arguments;
    }
    if (word.empty() || word.front() != '-') {
      if (arguments.command.empty())
        arguments.command = word;
      else if (arguments.command == "extract" && arguments.hash.empty())
        arguments.hash = word;
      else
        return badUsage(fmt::format("'{}' is one argument too many", printable(word)));
      continue;
    }
    size_t equals = word.find('=');
    std::string_view name = word.substr(0, equals);
    const Flag *flag = std::find_if(std::begin(flags), std::end(flags),
                                    [&](const Flag &flag) { return flag.name == name; });
    if (flag == std::end(flags)) {
      std::vector<std::string_view> names = {"--help"};
      for (const Flag &known : flags)
        names.push_back(known.name);
      return unknownWord("option", name, names);
    }
    std::string_view value;
    if (equals != word.npos)
      value = word.substr(equals + 1);
    else if (!flag->values.empty() && i + 1 < argc)
      value = argv[++i];
    if (flag->values.empty() && equals != word.npos)
      return badUsage(fmt::format("{} takes no value", name));
    if (!flag->store(arguments, value))
      return badUsage(fmt::format("{}='{}'; needed: {}", name, printable(value), flag->values));
    given.push_back(flag);
  }
  if (arguments.command.empty())
    return badUsage("a command is needed: list, verify, prune, extract or clear");
  if (std::find(commands.begin(), commands.end(), arguments.command) == commands.end())
    return unknownWord("command", arguments.command, commands);
  for (const Flag *flag : given)
    if (!flag->command.empty() && flag->command.find(arguments.command) == flag->command.npos)
      return badUsage(fmt::format("{} is no option of {}", flag->name, arguments.command));
  if (arguments.command == "extract" && arguments.hash.empty())
    return badUsage("extract needs the hash of an entry, as list shows it");
  return arguments;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace {
struct Entry {
  CacheFile file;
  KernelBinary binary;
  std::string keyText;
  std::string damage; ///< empty: it is whole
  std::string kind;   ///< empty: a kernel
  LoweredVariant lowered;

  /// As list shows it.
  std::string title() const {
    return kind.empty() ? binary.name : fmt::format("{} ({})", binary.name, kind);
  }
  std::string hash() const { return file.name.substr(0, file.name.find('.')); }
  std::string compiler() const {
    std::vector<std::string> values = keyField(keyText, "compiler");
    return values.empty() ? std::string() : values.front();
  }
};
} // namespace

/// Nothing when another process has removed it.
static std::optional<Entry> readEntry(const CacheDirectory &directory, const CacheFile &file) {
  Entry entry;
  entry.file = file;
  std::string bytes;
  CacheDirectory::ReadOutcome outcome = directory.read(file.name, bytes, entry.damage);
  if (outcome == CacheDirectory::ReadOutcome::Absent)
    return std::nullopt;
  if (outcome != CacheDirectory::ReadOutcome::Found)
    return entry;
  Expected<KernelBinary> binary = parseEntry(bytes, nullptr, &entry.keyText);
  if (!binary)
    entry.damage = binary.takeError().message;
  else if (entryFileName(hashBytes(entry.keyText)) != file.name)
    entry.damage = "the cache entry belongs to another key";
  else
    entry.binary = std::move(*binary);
  entry.kind = resultKind(entry.keyText);
  if (!entry.damage.empty())
    return entry;
  if (entry.kind == "variant") {
    if (auto lowered = parseLowered(entry.binary.image))
      entry.lowered = std::move(*lowered);
    else
      entry.damage = lowered.error().message;
  } else if (!entry.kind.empty()) {
    if (auto needs = parseNeeds(entry.binary.image); !needs)
      entry.damage = needs.error().message;
  }
  return entry;
}

static std::string fitting(std::string text, size_t width) {
  text = printable(text);
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

static int list(const CacheDirectory &directory, const std::vector<CacheFile> &files,
                const Arguments &arguments, uint64_t limit) {
  std::vector<Entry> entries;
  uint64_t total = 0;
  // The most recently used first.
  for (auto file = files.rbegin(); file != files.rend(); ++file)
    if (std::optional<Entry> entry = readEntry(directory, *file)) {
      total += entry->file.bytes;
      // What is shown of tens of thousands of them need not be kept whole.
      entry->binary.image.clear();
      entry->binary.image.shrink_to_fit();
      entry->lowered = {};
      entries.push_back(std::move(*entry));
    }
  if (arguments.sort == "size")
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry &a, const Entry &b) { return a.file.bytes > b.file.bytes; });
  else if (arguments.sort == "name")
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry &a, const Entry &b) { return a.title() < b.title(); });

  std::vector<std::vector<std::string>> rows = {
      {"hash", "kernel", "arch", "compiler", "size", "used"}};
  size_t damaged = 0, ofPasses = 0;
  for (const Entry &entry : entries) {
    damaged += !entry.damage.empty();
    ofPasses += !entry.kind.empty();
    rows.push_back({entry.hash().substr(0, 16),
                    entry.damage.empty() ? fitting(entry.title(), 48) : "(damaged)",
                    fitting(entry.binary.arch, 16), fitting(entry.compiler(), 32),
                    formatSize(entry.file.bytes), formatAge(entry.file.used)});
  }
  size_t widths[6] = {};
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : entries.empty() ? decltype(rows)() : rows)
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {:>{}}  {:>{}}\n", row[0], widths[0], row[1],
               widths[1], row[2], widths[2], row[3], widths[3], row[4], widths[4], row[5],
               widths[5]);
  fmt::print("{}{}, {}{} in '{}'{}\n", plural(entries.size() - ofPasses, "kernel"),
             ofPasses == 0 ? "" : ", " + plural(ofPasses, "result") + " of passes",
             formatSize(total), limit == 0 ? "" : fmt::format(" of {}", formatSize(limit)),
             printable(directory.name()),
             damaged == 0 ? "" : fmt::format("; {} damaged, see swage-cache verify", damaged));
  return 0;
}

static int verify(const CacheDirectory &directory, const std::vector<CacheFile> &files,
                  bool remove) {
  size_t whole = 0, damaged = 0, removed = 0;
  uint64_t bytes = 0;
  for (const CacheFile &file : files) {
    std::optional<Entry> entry = readEntry(directory, file);
    if (!entry)
      continue;
    if (entry->damage.empty()) {
      ++whole;
      bytes += file.bytes;
      continue;
    }
    ++damaged;
    const char *what = "";
    if (remove) {
      Expected<bool> gone = directory.remove(file);
      bool isGone = gone && *gone;
      removed += isGone;
      what = isGone ? "; removed" : "; it does not start like an entry, and stays";
    }
    fmt::print("{}: {}{}\n", printable(file.name), entry->damage, what);
  }
  fmt::print("{} whole ({}), {} damaged{} in '{}'\n", whole, formatSize(bytes), damaged,
             remove ? fmt::format(" ({} removed)", removed) : "", printable(directory.name()));
  return damaged == removed ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Commands that remove
//===----------------------------------------------------------------------===//

/// Removes `files`, least recently used first, as long as `more` asks for it.
template <class More>
static int removeWhile(const CacheDirectory &directory, const std::vector<CacheFile> &files,
                       bool dryRun, More more) {
  uint64_t left = 0, freed = 0;
  size_t removed = 0, kept = 0;
  for (const CacheFile &file : files)
    left += file.bytes;
  for (const CacheFile &file : files) {
    if (!more(file, left))
      continue;
    if (!dryRun) {
      Expected<bool> gone = directory.remove(file);
      if (!gone) {
        fmt::print(stderr, "swage-cache: {}\n", gone.error().str());
        return 2;
      }
      if (!*gone) {
        ++kept;
        fmt::print(stderr, "swage-cache: '{}' stays: used meanwhile, not removable or no entry\n",
                   printable(file.name));
        continue;
      }
    }
    ++removed;
    freed += file.bytes;
    left -= file.bytes;
  }
  // What processes that died left behind.
  if (!dryRun)
    (void)directory.tidy(/*limit=*/0);
  fmt::print("{} {} ({}), {} left ({}) in '{}'\n", dryRun ? "would remove" : "removed",
             removed == 1 ? "1 entry" : fmt::format("{} entries", removed), formatSize(freed),
             files.size() - removed, formatSize(left), printable(directory.name()));
  return kept == 0 ? 0 : 1;
}

static int prune(const CacheDirectory &directory, const std::vector<CacheFile> &files,
                 const Arguments &arguments, uint64_t limit) {
  std::optional<uint64_t> to = arguments.to;
  if (!to && !arguments.olderThan && limit != 0)
    to = limit;
  return removeWhile(directory, files, arguments.dryRun, [&](const CacheFile &file, uint64_t left) {
    return (to && left > *to) ||
           (arguments.olderThan && secondsSince(file.used) > *arguments.olderThan);
  });
}

//===----------------------------------------------------------------------===//
// Extract
//===----------------------------------------------------------------------===//

static int extract(const CacheDirectory &directory, const std::vector<CacheFile> &files,
                   const Arguments &arguments) {
  auto fail = [](int code, const std::string &message) {
    fmt::print(stderr, "swage-cache: {}\n", message);
    return code;
  };
  std::vector<CacheFile> found;
  for (const CacheFile &file : files)
    if (file.name.compare(0, arguments.hash.size(), arguments.hash) == 0)
      found.push_back(file);
  std::string asked = printable(arguments.hash);
  if (found.empty())
    return fail(1, fmt::format("no entry has the hash '{}' in '{}'; swage-cache list shows what is "
                               "there",
                               asked, printable(directory.name())));
  if (found.size() > 1)
    return fail(1,
                fmt::format("'{}' begins the hashes of {} entries ({}, {}{}); needed: more digits",
                            asked, found.size(), found[0].name.substr(0, 16),
                            found[1].name.substr(0, 16), found.size() > 2 ? ", ..." : ""));
  std::optional<Entry> entry = readEntry(directory, found.front());
  if (!entry)
    return fail(1, fmt::format("'{}' has just been removed", found.front().name));
  if (!entry->damage.empty())
    return fail(1, fmt::format("'{}': {}", found.front().name, entry->damage));

  // A name from a file is no path.
  auto fileName = [](std::string name) {
    name.resize(std::min<size_t>(name.size(), 100));
    for (char &c : name)
      if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
        c = '_';
    return name;
  };
  std::string stem = fmt::format("{}/{}-{}", arguments.out, fileName(entry->binary.name),
                                 entry->hash().substr(0, 8));
  std::vector<std::string> sources = keyField(entry->keyText, "source");
  std::string source = sources.empty() ? std::string() : sources.front();
  std::vector<std::pair<std::string, std::string>> parts;
  if (entry->kind.empty())
    parts = {
        {entry->binary.target() == KernelTarget::Simulator ? ".so" : ".cubin", entry->binary.image},
        {".cu", source},
        {".ptx", entry->binary.ptx},
        {".log", entry->binary.log}};
  else
    parts = {{".mlir", source}};
  if (entry->lowered.variant)
    for (const KernelInfo &kernel : entry->lowered.variant->kernels)
      parts.push_back({"-" + fileName(kernel.name) + ".cu", kernel.source});
  for (const auto &[extension, bytes] : parts) {
    if (bytes.empty())
      continue;
    std::string path = stem + extension;
    if (Status status = writeFile(path, bytes); !status)
      return fail(2, status.error().message);
    fmt::print("{} ({})\n", printable(path), formatSize(bytes.size()));
  }
  return 0;
}

static int run(const Arguments &arguments) {
  const Options &options = Options::get();
  for (const std::string &warning : options.warnings)
    fmt::print(stderr, "swage-cache: warning: {}\n", warning);
  std::string path = arguments.dir.empty() ? options.cacheDir : arguments.dir;
  if (path.empty()) {
    fmt::print(stderr, "swage-cache: there is no directory for the cache: set SWAGE_CACHE_DIR or "
                       "HOME, or give --dir\n");
    return 2;
  }
  CacheDirectory directory(path, "");
  Expected<std::vector<CacheFile>> files = directory.list();
  if (!files) {
    fmt::print(stderr, "swage-cache: {}\n", files.error().message);
    return 2;
  }
  if (arguments.command == "list")
    return list(directory, *files, arguments, options.cacheLimit);
  if (arguments.command == "verify")
    return verify(directory, *files, arguments.remove);
  if (arguments.command == "prune")
    return prune(directory, *files, arguments, options.cacheLimit);
  if (arguments.command == "extract")
    return extract(directory, *files, arguments);
  if (!arguments.dryRun)
    if (size_t count = removeFailedSources(path, FileSystem::real()))
      fmt::print("removed {} that did not compile\n", plural(count, "source"));
  return removeWhile(directory, *files, arguments.dryRun,
                     [](const CacheFile &, uint64_t) { return true; });
}

int main(int argc, char **argv) {
  Expected<Arguments> arguments = parseArguments(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "swage-cache: {}\n", arguments.error().message);
    return 2;
  }
  int code = 0;
  if (arguments->help)
    std::fputs(kHelp, stdout);
  else
    code = run(*arguments);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fputs("swage-cache: cannot write to the standard output\n", stderr);
    return 2;
  }
  return code;
}
