//===- FuzzVariantEntry.cpp - What claims to be a result of passes --------===//
//
// The input is what a cache entry holds, whose frame the target cache-entry looks after: a kind,
// and then a variant or what schedules need.  What is accepted is the same when it is written
// again, and a variant lays out some shapes or says why not.
//
//===----------------------------------------------------------------------===//
#include "Fuzz.h"
#include "swage/Runtime/VariantEntry.h"

#include <string>

using namespace swage;

template <class T, class Parse, class Serialize>
static void roundTrip(const Expected<T> &read, const std::string &bytes, Parse parse,
                      Serialize serialize) {
  if (!read) {
    if (read.error().message.empty())
      fuzzFailure("an error without a message", bytes);
    return;
  }
  std::string written = serialize(*read);
  auto again = parse(written);
  if (!again)
    fuzzFailure("what was written is not accepted", again.error().str());
  if (serialize(*again) != written)
    fuzzFailure("what was written is read differently", bytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    roundTrip(parseNeeds(bytes), bytes, parseNeeds, serializeNeeds);
    return 0;
  }
  auto lowered = parseLowered(bytes);
  roundTrip(lowered, bytes, parseLowered, serializeLowered);
  if (!lowered)
    return 0;
  for (int64_t extent : {0, 1, 64}) {
    std::vector<Dims> dims;
    for (const TensorType &type : lowered->variant->inputs) {
      dims.push_back(type.shape);
      for (int64_t &each : dims.back())
        if (each == TensorType::kDynamic)
          each = extent;
    }
    if (auto layout = lowered->variant->layOut(dims); !layout && layout.error().message.empty())
      fuzzFailure("an error without a message", bytes);
  }
  return 0;
}
