//===- Hash.cpp - Content hashes ------------------------------------------===//
//
// The only user of xxhash.h, which is compiled in whole.
//
//===----------------------------------------------------------------------===//
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "swage/Support/Hash.h"

using namespace swage;

std::string Hash128::hex() const {
  static const char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = digits[(high >> (4 * i)) & 15];
    text[31 - i] = digits[(low >> (4 * i)) & 15];
  }
  return text;
}

Hash128 swage::hashBytes(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}
