//===- Text.cpp - Small helpers for messages and files --------------------===//
//
// Edit distance, escaping, joining, whole files.
//
//===----------------------------------------------------------------------===//
#include "swage/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace swage;

/// Levenshtein distance.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string swage::nearestMatch(std::string_view name,
                                const std::vector<std::string_view> &candidates) {
  // A third of the letters may differ; beyond that a suggestion only confuses.
  size_t best = name.size() / 3 + 1;
  std::string_view match;
  for (std::string_view candidate : candidates) {
    size_t distance = editDistance(name, candidate);
    if (distance < best) {
      best = distance;
      match = candidate;
    }
  }
  return std::string(match);
}

std::string swage::printable(std::string_view text) {
  std::string result;
  for (unsigned char c : text) {
    if (c >= 0x20 && c < 0x7f) {
      result += char(c);
      continue;
    }
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
    result += escaped;
  }
  return result;
}

std::string swage::join(const std::vector<std::string> &parts, std::string_view separator) {
  std::string result;
  for (const std::string &part : parts) {
    if (&part != &parts.front())
      result += separator;
    result += part;
  }
  return result;
}

static Error fileError(const char *verb, const std::string &path, const std::string &why) {
  return makeError(Stage::Input,
                   std::string("cannot ") + verb + " '" + printable(path) + "': " + why);
}

static Error fileError(const char *verb, const std::string &path) {
  return fileError(verb, path, std::strerror(errno));
}

std::vector<std::string_view> swage::splitAt(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Expected<std::string> swage::readFile(const std::string &path, size_t limit) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return fileError("open", path);
  std::string bytes;
  char chunk[65536];
  // One byte beyond the limit tells a file of that size from a longer one.
  while (bytes.size() <= limit) {
    size_t count = std::fread(chunk, 1, std::min(sizeof chunk, limit + 1 - bytes.size()), file);
    if (count == 0)
      break;
    bytes.append(chunk, count);
  }
  bool failed = std::ferror(file);
  Error error = failed ? fileError("read", path) : Error{};
  std::fclose(file);
  if (failed)
    return error;
  if (bytes.size() > limit)
    return fileError("read", path, "it has more than " + std::to_string(limit) + " bytes");
  return bytes;
}

static bool isReplaceable(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

/// A name next to `path` that no other thread or process uses.
static std::string temporaryName(const std::string &path) {
  static std::atomic<unsigned> count{0};
  return path + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

Status swage::writeFile(const std::string &path, std::string_view bytes, std::string_view more) {
  bool replace = isReplaceable(path);
  std::string target = replace ? temporaryName(path) : path;
  std::FILE *file = std::fopen(target.c_str(), "wb");
  if (!file)
    return fileError("create", path);
  bool written = true;
  for (std::string_view part : {bytes, more})
    // What is empty may have no address, which fwrite does not allow.
    if (!part.empty())
      written = written && std::fwrite(part.data(), 1, part.size(), file) == part.size();
  Error error = written ? Error{} : fileError("write", path);
  if (std::fclose(file) != 0 && written) {
    written = false;
    error = fileError("write", path);
  }
  if (written && replace && std::rename(target.c_str(), path.c_str()) != 0) {
    written = false;
    error = fileError("write", path);
  }
  if (written)
    return {};
  if (replace)
    std::remove(target.c_str());
  return error;
}

Status swage::checkWritable(const std::string &path) {
  if (!isReplaceable(path)) {
    // Opening a pipe would wait for its reader; a directory says here that it is one.
    int file = open(path.c_str(), O_WRONLY | O_NONBLOCK);
    if (file < 0 && errno != ENXIO)
      return fileError("write", path);
    if (file >= 0)
      close(file);
    return {};
  }
  std::string probe = temporaryName(path);
  std::FILE *file = std::fopen(probe.c_str(), "wb");
  if (!file)
    return fileError("create", path);
  std::fclose(file);
  std::remove(probe.c_str());
  return {};
}
