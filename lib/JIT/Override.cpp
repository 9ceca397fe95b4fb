//===- Override.cpp - Kernels from files of the user ----------------------===//
//
// The file takes the place of the generated text before the cache is asked, so that its kernel has
// a key of its own and the generated one keeps its entry.
//
//===----------------------------------------------------------------------===//
#include "Override.h"
#include "swage/Support/Text.h"

#include <cctype>
#include <fmt/format.h>
#include <mutex>
#include <set>

using namespace swage;

static bool fits(std::string_view pattern, std::string_view name) {
  if (!pattern.empty() && pattern.back() == '*') {
    pattern.remove_suffix(1);
    return name.substr(0, pattern.size()) == pattern;
  }
  return name == pattern;
}

/// Whether `name` is in the text as a word.
static bool mentions(std::string_view text, std::string_view name) {
  auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !isPart(text[at - 1])) && (end == text.size() || !isPart(text[end])))
      return true;
  }
  return false;
}

/// Whether this is the first time in the process.
static bool isNews(const std::string &text) {
  static std::mutex mutex;
  static auto *told = new std::set<std::string>();
  std::lock_guard<std::mutex> lock(mutex);
  return told->insert(text).second;
}

/// Whether the override has fitted a kernel of any program.
static bool wasUsed(const std::string &pattern, bool now) {
  static std::mutex mutex;
  static auto *used = new std::set<std::string>();
  std::lock_guard<std::mutex> lock(mutex);
  if (now)
    used->insert(pattern);
  return used->count(pattern) != 0;
}

Status swage::applyOverrides(const std::vector<KernelOverride> &overrides,
                             std::vector<KernelInfo> &kernels,
                             const std::function<void(const std::string &)> &print) {
  for (KernelInfo &kernel : kernels)
    for (const KernelOverride &override : overrides) {
      if (!fits(override.kernel, kernel.name))
        continue;
      wasUsed(override.kernel, true);
      std::string from = fmt::format("'{}' (SWAGE_OVERRIDE)", printable(override.file));
      auto text = readFile(override.file);
      if (!text)
        return makeError(Stage::Input, fmt::format("kernel @{} cannot be compiled from {}: {}",
                                                   kernel.name, from, text.error().message));
      if (!mentions(*text, kernel.name))
        return makeError(Stage::Input,
                         fmt::format("kernel @{} cannot be compiled from {}: the file does not "
                                     "define it; needed: extern \"C\" __global__ void {}(...), "
                                     "with the parameters of the generated kernel",
                                     kernel.name, from, kernel.name));
      kernel.source = std::move(*text);
      kernel.overriddenBy = override.file;
      kernel.overlap = false; // whether it waits by itself, nobody knows
      if (std::string line = fmt::format("kernel @{} is compiled from {}", kernel.name, from);
          isNews(line))
        print(line);
      break;
    }
  std::vector<std::string_view> names;
  for (const KernelInfo &kernel : kernels)
    names.push_back(kernel.name);
  for (const KernelOverride &override : overrides) {
    if (names.empty() || wasUsed(override.kernel, false) || !isNews(override.kernel))
      continue;
    std::string nearest = nearestMatch(override.kernel, names);
    print(fmt::format(
        "warning: SWAGE_OVERRIDE: no kernel so far is named '{}'{}", printable(override.kernel),
        nearest.empty() ? fmt::format("; there {} {}", names.size() == 1 ? "is" : "are",
                                      join({names.begin(), names.end()}, ", "))
                        : fmt::format("; did you mean '{}'?", nearest)));
  }
  return {};
}
