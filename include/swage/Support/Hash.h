//===- Hash.h - Content hashes --------------------------------------------===//
//
// XXH3 with 128 bits, compiled in from its header: fast enough to check a cache entry on every read
// (several GB/s) and stable between machines and releases.  It guards against accidents, not
// against an adversary: whatever must be right even then compares the bytes themselves, as the
// kernel cache does with its key.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_HASH_H
#define SWAGE_SUPPORT_HASH_H

#include <cstdint>
#include <string>
#include <string_view>

namespace swage {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  /// 32 lower-case hexadecimal digits.
  std::string hex() const;
  friend bool operator==(const Hash128 &a, const Hash128 &b) {
    return a.high == b.high && a.low == b.low;
  }
  friend bool operator!=(const Hash128 &a, const Hash128 &b) { return !(a == b); }
  friend bool operator<(const Hash128 &a, const Hash128 &b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
};

Hash128 hashBytes(std::string_view bytes);

} // namespace swage

#endif // SWAGE_SUPPORT_HASH_H
