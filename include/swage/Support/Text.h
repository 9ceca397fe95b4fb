//===- Text.h - Small helpers for messages and files ----------------------===//
//
// What several layers need to print good messages: the nearest match for a misspelt name, text of
// unknown origin made safe for a terminal, and whole files.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_TEXT_H
#define SWAGE_SUPPORT_TEXT_H

#include "swage/Support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace swage {

/// The candidate closest to `name`, or an empty string when none is close enough to be what was
/// meant.
std::string nearestMatch(std::string_view name, const std::vector<std::string_view> &candidates);

/// `text` with control characters and non-ASCII bytes escaped, for quoting in a message.
std::string printable(std::string_view text);

/// "a, b, c".
std::string join(const std::vector<std::string> &parts, std::string_view separator);

Expected<std::string> readFile(const std::string &path);
Status writeFile(const std::string &path, std::string_view bytes);

} // namespace swage

#endif // SWAGE_SUPPORT_TEXT_H
