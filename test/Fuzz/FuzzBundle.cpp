//===- FuzzBundle.cpp - Files that claim to be bundles --------------------===//
//
// The target adds the checksum and the payload's length, which would stop every mutation: the input
// is a bundle's payload.  What is accepted reads the same when it is written again, and every
// variant lays out some shapes or says why not.
//
//===----------------------------------------------------------------------===//
#include "Fuzz.h"
#include "swage/Runtime/Bundle.h"
#include "swage/Support/Hash.h"

#include <cstring>
#include <string>

using namespace swage;

/// A file around a payload, with what every bundle starts with.
static std::string withFrame(const std::string &payload) {
  static const std::string empty = Bundle().serialize();
  std::string bytes = empty.substr(0, 16);
  uint64_t size = payload.size();
  bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
  bytes += payload;
  Hash128 checksum = hashBytes(bytes);
  bytes.append(reinterpret_cast<const char *>(&checksum.high), sizeof checksum.high);
  bytes.append(reinterpret_cast<const char *>(&checksum.low), sizeof checksum.low);
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string payload(reinterpret_cast<const char *>(data), size);
  // As it is: nothing that was not written by Swage is taken.
  (void)Bundle::parse(payload);

  auto bundle = Bundle::parse(withFrame(payload));
  if (!bundle) {
    if (bundle.error().message.empty())
      fuzzFailure("an error without a message", payload);
    return 0;
  }
  std::string written = bundle->serialize();
  auto again = Bundle::parse(written);
  if (!again)
    fuzzFailure("what was written is not accepted", again.error().str());
  if (again->serialize() != written)
    fuzzFailure("what was written is read differently", payload);
  for (int64_t extent : {0, 1, 64}) {
    std::vector<Dims> dims;
    for (const TensorType &type : bundle->inputs) {
      dims.push_back(type.shape);
      for (int64_t &each : dims.back())
        if (each == TensorType::kDynamic)
          each = extent;
    }
    for (const auto &variant : bundle->variants)
      if (auto layout = variant->layOut(dims); !layout && layout.error().message.empty())
        fuzzFailure("an error without a message", payload);
  }
  return 0;
}
