//===- Finding.h - One line of the report ---------------------------------===//
#ifndef SWAGE_TOOLS_SWAGE_DOCTOR_FINDING_H
#define SWAGE_TOOLS_SWAGE_DOCTOR_FINDING_H

#include "swage/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace swage::doctor {

enum class Level { Ok, Warning, Problem };

/// "ok", "warning", "problem".
const char *levelName(Level level);

struct Finding {
  Level level = Level::Ok;
  std::string what;   ///< "CUDA driver"
  std::string facts;  ///< one line
  std::string advice; ///< what to do, where something is not ok
  /// The same facts for a machine.
  std::map<std::string, std::string> values;

  Finding(Level level, std::string what, std::string facts, std::string advice = {})
      : level(level), what(std::move(what)), facts(std::move(facts)), advice(std::move(advice)) {}

  /// With a value more.
  Finding &with(std::string name, std::string value) {
    values[std::move(name)] = std::move(value);
    return *this;
  }

  /// One or two lines, without control characters whatever the texts hold.
  std::string str() const;
  std::string json() const;
  /// The fields with separators between that no other field has; parse reads them back.
  std::string serialize() const;
  static std::optional<Finding> parse(std::string_view text);
};

/// A message of Swage split where it goes on with what is needed: facts and advice.
Finding findingOf(Level level, std::string what, std::string_view message);
Finding findingOf(Level level, std::string what, const Error &error);

/// A string with its quotes.
std::string jsonString(std::string_view text);

} // namespace swage::doctor

#endif // SWAGE_TOOLS_SWAGE_DOCTOR_FINDING_H
