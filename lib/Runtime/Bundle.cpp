//===- Bundle.cpp - Compiled programs as files ----------------------------===//
//
// A bundle is a header of fixed size, a payload, and a checksum of all that.  The payload is a
// sequence of fields (VariantFields.h); any change of them changes kVersion.  The checksum tells
// damage; what passes it may still be anything, and is checked.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/Bundle.h"
#include "VariantFields.h"
#include "swage/Support/Hash.h"
#include "swage/Support/Text.h"

#include <cstring>
#include <fmt/format.h>

using namespace swage;
using namespace swage::fields;

static constexpr char kMagic[] = {'S', 'W', 'A', 'G', 'E', 'B', 'N', 'D'};
static constexpr uint32_t kVersion = 7;

namespace {
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes;
  uint64_t payloadBytes;
};
static_assert(sizeof(Header) == 24, "the file format has no padding");
} // namespace

/// All but the variants.
template <class A, class T> static void signature(A &a, T &bundle) {
  a.text(bundle.entryName);
  tensorTypes(a, bundle.inputs);
  tensorTypes(a, bundle.results);
  a.list(bundle.needs, [](A &a, auto &needs) { needsBits(a, needs); });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

std::string Bundle::serialize() const {
  Writer fields;
  signature(fields, *this);
  fields.list(variants, [](Writer &a, auto &each) { variant(a, *each); });
  // What these refer to is known only now and comes first; the binaries refer to texts in turn.
  std::string rest = std::move(fields.bytes);
  fields.bytes.clear();
  fields.list(fields.tables.binaries, [](Writer &a, auto &each) { binary(a, *each); });
  Writer tables;
  texts(tables, fields.tables.texts);

  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.headerBytes = sizeof header;
  header.payloadBytes = tables.bytes.size() + fields.bytes.size() + rest.size();
  Writer file;
  file.bytes.reserve(sizeof header + header.payloadBytes + sizeof(Hash128));
  file.bytes.append(reinterpret_cast<const char *>(&header), sizeof header);
  file.bytes += tables.bytes;
  file.bytes += fields.bytes;
  file.bytes += rest;
  Hash128 checksum = hashBytes(file.bytes);
  file.number(checksum.high);
  file.number(checksum.low);
  return std::move(file.bytes);
}

Status Bundle::write(const std::string &path) const { return writeFile(path, serialize()); }

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Error badBundle(std::string message) {
  return makeError(Stage::Load, "the bundle " + std::move(message));
}

/// What lies between header and checksum.
static Expected<std::string_view> payloadOf(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header + sizeof(Hash128))
    return badBundle(fmt::format("has {} bytes, too few for a header", bytes.size()));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return badBundle("does not start like one");
  if (header.version != kVersion || header.headerBytes != sizeof header)
    return badBundle(
        fmt::format("has format version {}; needed: {}; save it again", header.version, kVersion));
  std::string_view covered = bytes.substr(0, bytes.size() - sizeof(Hash128));
  if (header.payloadBytes != covered.size() - sizeof header)
    return badBundle(fmt::format("is damaged: it has {} bytes; needed: {}", bytes.size(),
                                 header.payloadBytes + sizeof header + sizeof(Hash128)));
  Hash128 stored, actual = hashBytes(covered);
  std::memcpy(&stored.high, covered.data() + covered.size(), sizeof stored.high);
  std::memcpy(&stored.low, covered.data() + covered.size() + sizeof stored.high, sizeof stored.low);
  if (stored != actual)
    return badBundle(fmt::format("is damaged: its checksum is {}, its bytes have {}", stored.hex(),
                                 actual.hex()));
  return covered.substr(sizeof header);
}

Expected<Bundle> Bundle::parse(std::string_view bytes) {
  auto payload = payloadOf(bytes);
  if (!payload)
    return payload.takeError();
  Tables tables;
  Reader reader(*payload, tables);
  texts(reader, tables.texts);
  reader.list(tables.binaries, [](Reader &a, auto &each) {
    auto fresh = std::make_shared<KernelBinary>();
    binary(a, *fresh);
    each = std::move(fresh);
  });
  Bundle bundle;
  signature(reader, bundle);
  std::vector<std::shared_ptr<Variant>> variants;
  reader.list(variants, [&](Reader &a, auto &each) {
    each = std::make_shared<Variant>();
    variant(a, *each);
    each->entryName = bundle.entryName;
    each->inputs = bundle.inputs;
    each->results = bundle.results;
  });
  if (reader.failed || !reader.bytes.empty())
    return badBundle("is damaged: its fields do not end where it ends");

  const char *problem = checkTypes(bundle.inputs);
  if (!problem)
    problem = checkTypes(bundle.results);
  size_t dynamic = dynamicExtents(bundle.inputs).size();
  if (!problem && bundle.needs.size() != dynamic)
    problem = "guards are of another program";
  for (size_t i = 0; i < variants.size() && !problem; ++i)
    problem = checkVariant(*variants[i], dynamic);
  if (problem)
    return badBundle(fmt::format("is damaged: {}", problem));
  bundle.variants.assign(variants.begin(), variants.end());
  return bundle;
}

Expected<Bundle> Bundle::read(const std::string &path) {
  auto bytes = readFile(path);
  if (!bytes)
    return makeError(Stage::Load, bytes.error().message);
  auto bundle = parse(*bytes);
  if (!bundle) {
    Error error = bundle.takeError();
    error.message = fmt::format("'{}': {}", printable(path), error.message);
    return error;
  }
  return bundle;
}
