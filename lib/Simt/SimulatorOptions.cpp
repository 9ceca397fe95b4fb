//===- SimulatorOptions.cpp - How a simulated kernel runs -----------------===//

#include "swage/Simt/SimulatorOptions.h"
#include "swage/Support/Text.h"

#include <charconv>
#include <fmt/format.h>

using namespace swage;
using namespace swage::simt;

static const char *const kOrders[] = {"forward", "reverse", "random"};
static const char *const kAsynchronies[] = {"eager", "late", "random"};
static const char kAllowed[] = "order=forward|reverse|random, async=eager|late|random, check, "
                               "strict, seed=NUMBER, workers=NUMBER";

static Error badOption(std::string_view part, std::string_view why) {
  return makeError(Stage::Input, fmt::format("simulator option '{}' {}; allowed: {}",
                                             printable(part), why, kAllowed));
}

/// Stores the position of `value` among the three names.
template <class Enum>
static bool choose(std::string_view value, const char *const (&names)[3], Enum &choice) {
  for (int i = 0; i < 3; ++i)
    if (value == names[i]) {
      choice = Enum(i);
      return true;
    }
  return false;
}

template <class Number> static bool read(std::string_view value, Number &number) {
  const char *end = value.data() + value.size();
  auto [rest, error] = std::from_chars(value.data(), end, number);
  return error == std::errc() && rest == end;
}

Expected<SimulatorOptions> SimulatorOptions::parse(std::string_view text) {
  SimulatorOptions options;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    bool isLast = part.size() == text.size();
    text.remove_prefix(isLast ? text.size() : part.size() + 1);
    if (part.empty() || (!isLast && text.empty()))
      return badOption(part, "is empty");
    size_t equals = part.find('=');
    std::string_view key = part.substr(0, equals);
    bool hasValue = equals != std::string_view::npos;
    std::string_view value = hasValue ? part.substr(equals + 1) : std::string_view();
    bool known = true, good = true;
    if (key == "order")
      good = choose(value, kOrders, options.order);
    else if (key == "async")
      good = choose(value, kAsynchronies, options.async);
    else if (key == "seed")
      good = read(value, options.seed);
    else if (key == "workers")
      good = read(value, options.workers) && options.workers <= 1024;
    else if (key == "check")
      options.check = good = !hasValue;
    else if (key == "strict")
      options.strict = good = !hasValue;
    else
      known = false;
    if (!known)
      return badOption(part, "is unknown");
    if (!good)
      return badOption(part, key == "check" || key == "strict" ? "takes no value"
                                                               : "has a value that it cannot have");
  }
  return options;
}

std::string SimulatorOptions::str() const {
  SimulatorOptions usual;
  std::string text;
  auto add = [&](const std::string &part) { text += (text.empty() ? "" : ",") + part; };
  if (order != usual.order)
    add(fmt::format("order={}", kOrders[int(order)]));
  if (async != usual.async)
    add(fmt::format("async={}", kAsynchronies[int(async)]));
  if (check)
    add("check");
  if (strict)
    add("strict");
  if (seed != usual.seed)
    add(fmt::format("seed={}", seed));
  if (workers != usual.workers)
    add(fmt::format("workers={}", workers));
  return text;
}
