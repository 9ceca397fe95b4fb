//===- FindLibrary.h - Which file a library would be opened from ----------===//
#ifndef SWAGE_LIB_JIT_FINDLIBRARY_H
#define SWAGE_LIB_JIT_FINDLIBRARY_H

#include <string>

namespace swage {

/// The file that the dynamic loader takes for `soname`, found without opening it: where this
/// library was linked to look, in LD_LIBRARY_PATH, in the loader's own cache and its default
/// directories. Empty where that does not tell, as with another C library than glibc.
std::string findLibrary(const std::string &soname);

/// Whether a library of this name is in the process.
bool isLoaded(const std::string &soname);

} // namespace swage

#endif // SWAGE_LIB_JIT_FINDLIBRARY_H
