//===- GuardBands.cpp - Buffers that notice stray writes ------------------===//

#include "swage/Reference/GuardBands.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>

using namespace swage::reference;

void swage::reference::poison(const GuardedLayout &layout, uint8_t pattern, void *image) {
  std::memset(image, pattern, layout.imageBytes());
}

void swage::reference::poisonGuards(const GuardedLayout &layout, uint8_t pattern, void *image) {
  std::memset(image, pattern, layout.payloadOffset());
  std::memset(static_cast<char *>(image) + layout.payloadOffset() + layout.payloadBytes, pattern,
              layout.guardBytes);
}

std::optional<GuardViolation> swage::reference::checkGuards(const GuardedLayout &layout,
                                                            uint8_t pattern, const void *image) {
  const uint8_t *bytes = static_cast<const uint8_t *>(image);
  std::optional<GuardViolation> violation;
  auto check = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (bytes[i] == pattern)
        continue;
      if (!violation)
        violation = GuardViolation{i - layout.payloadOffset(), bytes[i], 0};
      ++violation->bytes;
    }
  };
  check(0, layout.payloadOffset());
  check(layout.payloadOffset() + layout.payloadBytes, layout.imageBytes());
  return violation;
}

std::string GuardViolation::message() const {
  return llvm::formatv("{0} bytes outside the buffer were overwritten, the first at byte {1} "
                       "(counted from its begin), now {2:x2}",
                       bytes, offset, found);
}

int64_t swage::reference::firstDifference(const void *a, const void *b, int64_t bytes) {
  if (bytes <= 0 || std::memcmp(a, b, bytes) == 0)
    return -1;
  const uint8_t *left = static_cast<const uint8_t *>(a), *right = static_cast<const uint8_t *>(b);
  return std::mismatch(left, left + bytes, right).first - left;
}
