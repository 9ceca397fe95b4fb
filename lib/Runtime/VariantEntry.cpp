//===- VariantEntry.cpp - What passes decided, kept in the cache ----------===//
//
// The payload is a sequence of fields (VariantFields.h); the frame around it, with the checksum, is
// that of every entry.  Any change of the fields changes kVersion.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/VariantEntry.h"
#include "CacheEntry.h"
#include "VariantFields.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
using namespace swage::fields;

static constexpr int kVersion = 6;
static constexpr std::string_view kKind = "kind";

//===----------------------------------------------------------------------===//
// Key
//===----------------------------------------------------------------------===//

CacheKey swage::variantKey(const VariantKeyFields &fields) {
  CacheKey key;
  key.text.reserve(fields.graph.size() + 1024);
  auto add = [&](std::string_view label, const auto &value) {
    addKeyField(key.text, label, fmt::format("{}", value));
  };
  add(kKind, fmt::format("{} {}", fields.kind, kVersion));
  add("compiler", "Swage " + fields.passes);
  add("arch", fields.arch);
  add("index", fields.indexBits);
  add("fuse", fields.fuse);
  add("overlap", static_cast<int>(fields.overlap));
  for (int64_t bytes : fields.alignment)
    add("alignment", bytes);
  for (const Guards::Extent &extent : fields.extents)
    add("extent", fmt::format("{} {}", extent.multipleOf, extent.atMost));
  add("schedules", fields.schedules);
  add("file", fields.filename);
  add("entry", fields.entry);
  add("source", fields.graph);
  key.hash = hashBytes(key.text);
  key.what = fmt::format("{} of '{}' for {}", fields.kind, printable(fields.entry),
                         printable(fields.arch));
  return key;
}

std::string swage::resultKind(std::string_view keyText) {
  std::vector<std::string> values = keyField(keyText, kKind);
  return values.empty() ? std::string() : values.front().substr(0, values.front().find(' '));
}

//===----------------------------------------------------------------------===//
// Payload
//===----------------------------------------------------------------------===//

static Error badEntry(const char *problem) {
  return makeError(Stage::Cache, fmt::format("the cache entry is damaged: {}", problem));
}

static constexpr const char *kBadEnd = "its fields do not end where it ends";

std::string swage::serializeLowered(const LoweredVariant &lowered) {
  Writer body;
  body.text(lowered.variant->entryName);
  tensorTypes(body, lowered.variant->inputs);
  tensorTypes(body, lowered.variant->results);
  variant(body, *lowered.variant);
  numbers(body, lowered.isEmpty);
  // What these refer to is known only now and comes first.
  Writer payload;
  texts(payload, body.tables.texts);
  return payload.bytes + body.bytes;
}

Expected<LoweredVariant> swage::parseLowered(std::string_view bytes) {
  Tables tables;
  Reader reader(bytes, tables);
  texts(reader, tables.texts);
  LoweredVariant lowered;
  lowered.variant = std::make_shared<Variant>();
  Variant &read = *lowered.variant;
  reader.text(read.entryName);
  tensorTypes(reader, read.inputs);
  tensorTypes(reader, read.results);
  variant(reader, read);
  numbers(reader, lowered.isEmpty);
  if (reader.failed || !reader.bytes.empty())
    return badEntry(kBadEnd);
  for (auto *types : {&read.inputs, &read.results})
    if (const char *problem = checkTypes(*types))
      return badEntry(problem);
  if (const char *problem = checkVariant(read, dynamicExtents(read.inputs).size()))
    return badEntry(problem);
  if (lowered.isEmpty.size() != read.kernels.size())
    return badEntry("it has another number of kernels");
  return lowered;
}

/// In each extent the promise of the graph, beside what a bundle keeps.
template <class A, class T> static void needsFields(A &a, T &needs) {
  a.list(needs, [](A &a, auto &each) {
    needsBits(a, each);
    a.number(each.promised.multipleOf);
    a.number(each.promised.atMost);
  });
}

std::string swage::serializeNeeds(const std::vector<ExtentNeeds> &needs) {
  Writer writer;
  needsFields(writer, needs);
  return std::move(writer.bytes);
}

Expected<std::vector<ExtentNeeds>> swage::parseNeeds(std::string_view bytes) {
  Tables none;
  Reader reader(bytes, none);
  std::vector<ExtentNeeds> needs;
  needsFields(reader, needs);
  if (reader.failed || !reader.bytes.empty())
    return badEntry(kBadEnd);
  for (const ExtentNeeds &each : needs)
    if (each.promised.multipleOf < 1 || each.promised.atMost < 0)
      return badEntry("a guard on an extent holds for none");
  return needs;
}
