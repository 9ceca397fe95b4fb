//===- FuzzCacheEntry.cpp - Files that claim to be cache entries ----------===//
//
// A checksum stops nearly every mutation at the door, so the fuzzer gets one that fits: the input
// is an entry without its checksum.  What is accepted is the same when it is written again.
//
//===----------------------------------------------------------------------===//
#include "CacheEntry.h"
#include "Fuzz.h"
#include "swage/Runtime/KernelCache.h"

#include <string>

using namespace swage;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  // As it is: nothing that was not written by Swage is taken.
  (void)parseEntry(bytes, nullptr);

  Hash128 checksum = hashBytes(bytes);
  bytes.append(reinterpret_cast<const char *>(&checksum.high), sizeof checksum.high);
  bytes.append(reinterpret_cast<const char *>(&checksum.low), sizeof checksum.low);
  CacheKey key;
  auto binary = parseEntry(bytes, nullptr, &key.text);
  if (!binary) {
    if (binary.error().message.empty())
      fuzzFailure("an error without a message", bytes);
    return 0;
  }
  for (const char *label : {"compiler", "arch", "option", "entry", "headers", "source"})
    (void)keyField(key.text, label);
  auto again = parseEntry(serializeEntry(key, *binary), &key);
  if (!again)
    fuzzFailure("what was written is not accepted", again.error().str());
  if (again->image != binary->image || again->name != binary->name || again->ptx != binary->ptx ||
      again->log != binary->log || again->arch != binary->arch ||
      again->resources.barriers != binary->resources.barriers)
    fuzzFailure("what was written is read differently", bytes);
  return 0;
}
