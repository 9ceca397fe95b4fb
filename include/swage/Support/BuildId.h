//===- BuildId.h - Which build of a library this is -----------------------===//
//
// The linker's build-id: a hash of what it linked, which two builds share only if they are equal.
// Reading it takes microseconds, and the library need not be loaded.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_BUILDID_H
#define SWAGE_SUPPORT_BUILDID_H

#include <string>

namespace swage {

/// In hexadecimal, of the program or library in this process that holds `address`; empty if it was
/// linked without.
std::string buildIdAt(const void *address);

/// Of a file of this machine's architecture; empty if it was linked without, cannot be read or is
/// no such file.
std::string buildIdOfFile(const std::string &path);

} // namespace swage

#endif // SWAGE_SUPPORT_BUILDID_H
