//===- TunedSchedules.cpp - What an autotuner found -----------------------===//

#include "swage/Runtime/TunedSchedules.h"
#include "CacheDirectory.h"
#include "swage/Support/Hash.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>

using namespace swage;

static constexpr std::string_view kFirstLine = "swage tuned schedules 1";
static constexpr const char *kFileName = "tuned-schedules";
/// A file that is larger was not written by us.
static constexpr size_t kLargest = 64 << 20;

/// What stands between separators holds none of them.
static std::string field(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c == '\t' || c == '\n' || c == '\r')
      c = ' ';
  return result;
}

static bool parseMicroseconds(std::string_view text, double &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

TunedSchedules TunedSchedules::parse(std::string_view text) {
  TunedSchedules result;
  std::vector<std::string_view> lines = splitAt(text, "\n");
  if (lines.front() != kFirstLine)
    return result;
  for (size_t i = 1; i < lines.size(); ++i) {
    size_t tab = lines[i].find('\t');
    if (tab == std::string_view::npos ||
        lines[i].substr(0, tab) != hashBytes(lines[i].substr(tab + 1)).hex())
      continue;
    std::vector<std::string_view> fields = splitAt(lines[i].substr(tab + 1), "\t");
    TunedSchedule entry;
    if (fields.size() != 6 || !parseMicroseconds(fields[4], entry.microseconds) ||
        !parseMicroseconds(fields[5], entry.selectedMicroseconds))
      continue;
    entry.arch = fields[0];
    entry.device = fields[1];
    entry.kernel = fields[2];
    entry.schedule = fields[3];
    result.add(std::move(entry));
  }
  return result;
}

std::string TunedSchedules::format() const {
  std::string text = std::string(kFirstLine) + "\n";
  for (const TunedSchedule &entry : entries) {
    std::string line = fmt::format("{}\t{}\t{}\t{}\t{:.3f}\t{:.3f}", field(entry.arch),
                                   field(entry.device), field(entry.kernel), field(entry.schedule),
                                   entry.microseconds, entry.selectedMicroseconds);
    text += hashBytes(line).hex() + "\t" + line + "\n";
  }
  return text;
}

void TunedSchedules::add(TunedSchedule found) {
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const TunedSchedule &entry) {
                                 return entry.arch == found.arch && entry.device == found.device &&
                                        entry.kernel == found.kernel;
                               }),
                entries.end());
  if (!found.schedule.empty())
    entries.push_back(std::move(found));
}

std::string TunedSchedules::forDevice(std::string_view arch, std::string_view device) const {
  std::map<std::string_view, const TunedSchedule *> chosen;
  for (const TunedSchedule &entry : entries) {
    if (entry.arch != arch || entry.schedule.find(';') != std::string::npos)
      continue;
    const TunedSchedule *&known = chosen[entry.kernel];
    if (!known || known->device != device)
      known = &entry;
  }
  std::string text;
  for (const auto &[kernel, entry] : chosen)
    text += fmt::format("{}={};", kernel, entry->schedule);
  return text;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Folder and name of the file; an empty folder where there is none.
static std::pair<std::string, std::string> placeOf(const Options &options) {
  if (!options.tuned)
    return {};
  if (!options.tunedFile.empty()) {
    size_t slash = options.tunedFile.rfind('/');
    return {options.tunedFile.substr(0, std::max<size_t>(slash, 1)),
            options.tunedFile.substr(slash + 1)};
  }
  if (options.cacheMode == CacheMode::Off)
    return {};
  return {options.cacheDir, kFileName};
}

static CacheDirectory openFolder(const Options &options, const std::string &folder) {
  bool writes = options.cacheMode == CacheMode::ReadWrite;
  return CacheDirectory(folder, options.tunedFile.empty() ? options.cacheBase : std::string(),
                        FileSystem::real(),
                        writes ? CacheDirectory::Owner::User : CacheDirectory::Owner::UserOrRoot);
}

TunedSchedules TunedSchedules::load(const Options &options) {
  auto [folder, name] = placeOf(options);
  std::string bytes, reason;
  if (folder.empty() ||
      openFolder(options, folder).read(name, bytes, reason) != CacheDirectory::ReadOutcome::Found)
    return {};
  return bytes.size() > kLargest ? TunedSchedules() : parse(bytes);
}

Status TunedSchedules::checkPlace(const Options &options) {
  auto [folder, name] = placeOf(options);
  if (folder.empty())
    return {};
  CacheDirectory directory = openFolder(options, folder);
  std::string bytes, reason;
  if (directory.read(name, bytes, reason) != CacheDirectory::ReadOutcome::Found)
    bytes = TunedSchedules().format();
  return directory.publish(name, bytes);
}

Status TunedSchedules::store(const Options &options, const std::vector<TunedSchedule> &found) {
  auto [folder, name] = placeOf(options);
  if (folder.empty())
    return makeError(Stage::Cache,
                     "there is no place for tuned schedules: SWAGE_TUNED or SWAGE_CACHE is off");
  TunedSchedules tuned = load(options);
  for (const TunedSchedule &entry : found)
    tuned.add(entry);
  return openFolder(options, folder).publish(name, tuned.format());
}
