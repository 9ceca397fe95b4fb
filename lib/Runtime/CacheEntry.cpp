//===- CacheEntry.cpp - Cache keys and the file form of an entry ----------===//
//
// An entry is one file: a header of fixed size, the sections (the key's text first), and a checksum
// of all that. Numbers are little-endian, as on every host that Swage supports.  Any change of the
// layout or of the key's fields changes kSchema, which makes older entries misses.
//
//===----------------------------------------------------------------------===//
#include "CacheEntry.h"
#include "swage/Runtime/KernelCache.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace swage;

static constexpr uint32_t kSchema = 2;

namespace {
enum Section { KeyText, Name, Arch, Log, Image, Ptx, SectionCount };

struct EntryHeader {
  char magic[8];
  uint32_t schema;
  uint32_t headerBytes;
  int32_t resources[6];
  uint64_t sectionBytes[SectionCount];
  uint64_t hash[2];
};
static_assert(sizeof(EntryHeader) == 104, "the file format has no padding");
} // namespace

//===----------------------------------------------------------------------===//
// Key
//===----------------------------------------------------------------------===//

void swage::addKeyField(std::string &text, std::string_view label, std::string_view value) {
  fmt::format_to(std::back_inserter(text), "{} {}\n", label, value.size());
  text += value;
  text += '\n';
}

CacheKey CacheKey::make(const CacheKeyFields &fields) {
  std::string headers;
  for (const auto &[name, text] : fields.headers) {
    addKeyField(headers, "name", name);
    addKeyField(headers, "text", text);
  }

  CacheKey key;
  key.text.reserve(fields.source.size() + 1024);
  addKeyField(key.text, "schema", fmt::format("{}", kSchema));
  addKeyField(key.text, "compiler", fields.compiler);
  addKeyField(key.text, "arch", fields.arch);
  for (const std::string &option : fields.options)
    addKeyField(key.text, "option", option);
  for (const std::string &name : fields.entryNames)
    addKeyField(key.text, "entry", name);
  addKeyField(key.text, "headers", hashBytes(headers).hex());
  addKeyField(key.text, "source", fields.source);
  key.hash = hashBytes(key.text);
  key.what =
      fmt::format("'{}' for {}", printable(join(fields.entryNames, ", ")), printable(fields.arch));
  return key;
}

std::vector<std::string> swage::keyField(std::string_view keyText, std::string_view label) {
  std::vector<std::string> values;
  while (!keyText.empty()) {
    size_t space = keyText.find(' '), end = keyText.find('\n');
    if (space == keyText.npos || end == keyText.npos || space > end)
      break;
    size_t size = 0;
    for (char digit : keyText.substr(space + 1, end - space - 1)) {
      if (digit < '0' || digit > '9' || size > keyText.size())
        return values;
      size = size * 10 + size_t(digit - '0');
    }
    std::string_view rest = keyText.substr(end + 1);
    if (size >= rest.size())
      break;
    if (keyText.substr(0, space) == label)
      values.emplace_back(rest.substr(0, size));
    keyText = rest.substr(size + 1);
  }
  return values;
}

static constexpr std::string_view kEntrySuffix = ".kernel";

std::string swage::entryFileName(const Hash128 &hash) {
  return hash.hex() + std::string(kEntrySuffix);
}

bool swage::isEntryFileName(std::string_view name) {
  constexpr size_t digits = 2 * sizeof(Hash128);
  return name.size() == digits + kEntrySuffix.size() && name.substr(digits) == kEntrySuffix &&
         std::all_of(name.begin(), name.begin() + digits,
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

template <class T> static void appendBytes(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string swage::serializeEntry(const CacheKey &key, const KernelBinary &binary) {
  const KernelResources &used = binary.resources;
  const std::string *sections[SectionCount] = {&key.text,   &binary.name,  &binary.arch,
                                               &binary.log, &binary.image, &binary.ptx};
  EntryHeader header = {};
  std::memcpy(header.magic, kEntryMagic.data(), kEntryMagic.size());
  header.schema = kSchema;
  header.headerBytes = sizeof header;
  const int resources[6] = {used.registers,  used.spillStores, used.spillLoads,
                            used.stackFrame, used.sharedBytes, used.barriers};
  std::copy(resources, resources + 6, header.resources);
  header.hash[0] = key.hash.high;
  header.hash[1] = key.hash.low;
  size_t total = sizeof header + sizeof(Hash128);
  for (int i = 0; i < SectionCount; ++i) {
    header.sectionBytes[i] = sections[i]->size();
    total += sections[i]->size();
  }

  std::string bytes;
  bytes.reserve(total);
  appendBytes(bytes, header);
  for (const std::string *section : sections)
    bytes += *section;
  Hash128 checksum = hashBytes(bytes);
  appendBytes(bytes, checksum.high);
  appendBytes(bytes, checksum.low);
  return bytes;
}

static Error badEntry(std::string message) {
  return makeError(Stage::Cache, "the cache entry " + std::move(message));
}

Expected<KernelBinary> swage::parseEntry(std::string_view bytes, const CacheKey *key,
                                         std::string *keyText) {
  EntryHeader header;
  if (bytes.size() < sizeof header + sizeof(Hash128))
    return badEntry(fmt::format("has {} bytes, too few for a header", bytes.size()));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kEntryMagic.data(), kEntryMagic.size()) != 0)
    return badEntry("does not start like one");
  if (header.schema != kSchema || header.headerBytes != sizeof header)
    return badEntry(fmt::format("has schema {}; needed: {}", header.schema, kSchema));

  std::string_view covered = bytes.substr(0, bytes.size() - sizeof(Hash128));
  Hash128 stored, actual = hashBytes(covered);
  std::memcpy(&stored.high, covered.data() + covered.size(), sizeof stored.high);
  std::memcpy(&stored.low, covered.data() + covered.size() + sizeof stored.high, sizeof stored.low);
  if (stored != actual)
    return badEntry(fmt::format("is damaged: its checksum is {}, its bytes have {}", stored.hex(),
                                actual.hex()));

  std::string_view sections[SectionCount];
  std::string_view rest = covered.substr(sizeof header);
  for (int i = 0; i < SectionCount; ++i) {
    if (header.sectionBytes[i] > rest.size())
      return badEntry("is damaged: a section reaches past its end");
    sections[i] = rest.substr(0, header.sectionBytes[i]);
    rest.remove_prefix(sections[i].size());
  }
  if (!rest.empty())
    return badEntry("is damaged: it has bytes after its last section");
  if (keyText)
    *keyText = sections[KeyText];
  if (key && sections[KeyText] != key->text)
    return badEntry("belongs to another key");

  KernelBinary binary;
  binary.name = sections[Name];
  binary.arch = sections[Arch];
  binary.log = sections[Log];
  binary.image = sections[Image];
  binary.ptx = sections[Ptx];
  const int32_t *resources = header.resources;
  binary.resources = {resources[0], resources[1], resources[2],
                      resources[3], resources[4], resources[5]};
  return binary;
}
