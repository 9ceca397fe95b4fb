//===- CacheEntry.h - What tells a file to be a cache entry ---------------===//
//
// Private to lib/Runtime and swage-cache; keys and entries themselves are in KernelCache.h and
// VariantEntry.h.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_CACHEENTRY_H
#define SWAGE_LIB_RUNTIME_CACHEENTRY_H

#include <string>
#include <string_view>
#include <vector>

namespace swage {

/// The first bytes of every entry, whatever its schema.
constexpr std::string_view kEntryMagic = "SWAGEKRN";

/// Whether entryFileName could have made it.
bool isEntryFileName(std::string_view name);

/// Appends a field to a key's text; a label is one word.
void addKeyField(std::string &text, std::string_view label, std::string_view value);

/// The values of all fields with this label in a key's text, in order: "compiler", "arch",
/// "option", "entry", "source".
std::vector<std::string> keyField(std::string_view keyText, std::string_view label);

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_CACHEENTRY_H
