//===- FindLibrary.cpp - Which file a library would be opened from --------===//

#include "FindLibrary.h"
#include "swage/Support/Text.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <vector>

using namespace swage;

bool swage::isLoaded(const std::string &soname) {
  void *library = dlopen(soname.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library)
    dlclose(library);
  return library != nullptr;
}

#ifdef __GLIBC__
/// The loader's directories for what this library opens: those in front of its cache, or those
/// behind.
static std::vector<std::string> searchDirectories(bool behindCache) {
  Dl_info self = {};
  void *handle = nullptr;
  if (dladdr(reinterpret_cast<void *>(&searchDirectories), &self))
    handle = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!handle) // the program itself, whose name is as it was called
    handle = dlopen(nullptr, RTLD_NOW);
  std::vector<std::string> directories;
  Dl_serinfo size = {};
  if (handle && dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
    auto *info = reinterpret_cast<Dl_serinfo *>(memory.data());
    if (dlinfo(handle, RTLD_DI_SERINFOSIZE, info) == 0 &&
        dlinfo(handle, RTLD_DI_SERINFO, info) == 0)
      for (unsigned i = 0; i < info->dls_cnt; ++i)
        if (const Dl_serpath &path = info->dls_serpath[i];
            ((path.dls_flags & LA_SER_DEFAULT) != 0) == behindCache)
          directories.emplace_back(path.dls_name);
  }
  if (handle)
    dlclose(handle);
  return directories;
}

/// The path that ldconfig noted; a name of several architectures or processors has none.
static std::string findInLoaderCache(const std::string &soname) {
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr size_t kCount = 20, kEntries = 48;
  struct Entry {
    int32_t flags;
    uint32_t name, path, osVersion;
    uint64_t hardware;
  };
  auto bytes = readFile("/etc/ld.so.cache");
  uint32_t count = 0;
  if (!bytes || bytes->size() < kEntries || bytes->compare(0, kMagic.size(), kMagic) != 0)
    return {};
  std::memcpy(&count, bytes->data() + kCount, sizeof count);
  if (count > (bytes->size() - kEntries) / sizeof(Entry))
    return {};
  std::string found;
  for (size_t i = 0; i < count; ++i) {
    Entry entry;
    std::memcpy(&entry, bytes->data() + kEntries + i * sizeof entry, sizeof entry);
    if (entry.name >= bytes->size() || entry.path >= bytes->size() ||
        soname != bytes->c_str() + entry.name)
      continue;
    if (!found.empty() || entry.hardware != 0)
      return {};
    found = bytes->c_str() + entry.path;
  }
  return found;
}

std::string swage::findLibrary(const std::string &soname) {
  auto findIn = [&](const std::vector<std::string> &directories) -> std::string {
    for (const std::string &directory : directories)
      if (std::string file = directory + "/" + soname; access(file.c_str(), R_OK) == 0)
        return file;
    return {};
  };
  std::string file = findIn(searchDirectories(/*behindCache=*/false));
  if (file.empty())
    file = findInLoaderCache(soname);
  return file.empty() ? findIn(searchDirectories(/*behindCache=*/true)) : file;
}
#else
std::string swage::findLibrary(const std::string &) { return {}; }
#endif
