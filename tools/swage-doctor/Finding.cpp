//===- Finding.cpp - One line of the report -------------------------------===//

#include "Finding.h"
#include "swage/Support/Text.h"

#include <fmt/format.h>
#include <vector>

using namespace swage;
using namespace swage::doctor;

const char *doctor::levelName(Level level) {
  return level == Level::Ok ? "ok" : level == Level::Warning ? "warning" : "problem";
}

std::string Finding::str() const {
  std::string text =
      fmt::format("{:<8} {}: {}\n", levelName(level), printable(what), printable(facts));
  if (!advice.empty())
    text += fmt::format("{:<8} -> {}\n", "", printable(advice));
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

std::string doctor::jsonString(std::string_view text) {
  std::string quoted = "\"";
  // What printable escapes need not be: what is left is ASCII.
  for (char c : printable(text)) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Finding::json() const {
  std::string text = fmt::format("{{\"level\": {}, \"what\": {}, \"facts\": {}",
                                 jsonString(levelName(level)), jsonString(what), jsonString(facts));
  if (!advice.empty())
    text += ", \"advice\": " + jsonString(advice);
  std::string members;
  for (const auto &[name, value] : values)
    members +=
        fmt::format("{}{}: {}", members.empty() ? "" : ", ", jsonString(name), jsonString(value));
  if (!members.empty())
    text += ", \"values\": {" + members + "}";
  return text + "}";
}

//===----------------------------------------------------------------------===//
// From process to process
//===----------------------------------------------------------------------===//

static constexpr char kSeparator = '\x1f';

static std::string withoutControls(std::string_view text) {
  std::string clean(text);
  for (char &c : clean)
    if (static_cast<unsigned char>(c) < 0x20)
      c = ' ';
  return clean;
}

std::string Finding::serialize() const {
  std::string text(1, char('0' + int(level)));
  auto add = [&](const std::string &field) { (text += kSeparator) += withoutControls(field); };
  add(what);
  add(facts);
  add(advice);
  for (const auto &[name, value] : values) {
    add(name);
    add(value);
  }
  return text;
}

std::optional<Finding> Finding::parse(std::string_view text) {
  std::vector<std::string> fields;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(kSeparator, begin), text.size());
    fields.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (fields.size() < 4 || fields.size() % 2 != 0 || fields[0].size() != 1 || fields[0][0] < '0' ||
      fields[0][0] > '2')
    return std::nullopt;
  Finding finding(Level(fields[0][0] - '0'), fields[1], fields[2], fields[3]);
  for (size_t i = 4; i < fields.size(); i += 2)
    finding.with(fields[i], fields[i + 1]);
  return finding;
}

Finding doctor::findingOf(Level level, std::string what, std::string_view message) {
  // "NVRTC: no libnvrtc.so.13 ...; needed: ..." under the heading "NVRTC".
  if (std::string prefix = what + ": "; message.substr(0, prefix.size()) == prefix)
    message.remove_prefix(prefix.size());
  size_t split = message.find("; ");
  std::string facts(message.substr(0, split));
  std::string advice(split == message.npos ? "" : message.substr(split + 2));
  return {level, std::move(what), std::move(facts), std::move(advice)};
}

Finding doctor::findingOf(Level level, std::string what, const Error &error) {
  Finding finding = findingOf(level, std::move(what), std::string_view(error.message));
  // The first line of the compiler's log that speaks of an error.
  if (size_t at = error.log.find("error"); at != std::string::npos) {
    size_t begin = error.log.rfind('\n', at) + 1; // npos + 1 is 0
    finding.facts += ": " + error.log.substr(begin, error.log.find('\n', at) - begin);
  }
  return finding;
}
