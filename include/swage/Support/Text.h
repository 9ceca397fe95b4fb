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

/// What stands between the characters of `separators`; parts may be empty, and there is at least one.
std::vector<std::string_view> splitAt(std::string_view text, std::string_view separators);

/// What a file that is read whole may have; devices and pipes may go on for ever.
constexpr size_t kFileLimit = size_t(256) << 20;

/// The bytes of a file; one of more than `limit` bytes is an error.
Expected<std::string> readFile(const std::string &path, size_t limit = kFileLimit);
/// Writes `bytes`, then `more`: all or nothing, through a temporary file that takes the name when
/// it is complete. Devices and pipes, which cannot be replaced, are written as they are.
Status writeFile(const std::string &path, std::string_view bytes, std::string_view more = {});
/// Whether writeFile would work: an error now rather than after a minute's work.
Status checkWritable(const std::string &path);

} // namespace swage

#endif // SWAGE_SUPPORT_TEXT_H
