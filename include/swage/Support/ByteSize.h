//===- ByteSize.h - Numbers of bytes, for people --------------------------===//
#ifndef SWAGE_SUPPORT_BYTESIZE_H
#define SWAGE_SUPPORT_BYTESIZE_H

#include <cstdint>
#include <string>

namespace swage {

/// "512B", "2.7M": in units of 1024 bytes and its powers.
std::string formatSize(uint64_t bytes);

} // namespace swage

#endif // SWAGE_SUPPORT_BYTESIZE_H
