//===- FailedSources.cpp - Kernels that did not compile -------------------===//

#include "FailedSources.h"
#include "CacheDirectory.h"
#include "swage/Support/Hash.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace swage;

/// "<32 hexadecimal digits>.cu": nothing else in the folder is ours to remove.
static bool isSourceName(std::string_view name) {
  return name.size() == 35 && name.substr(32) == ".cu" &&
         name.find_first_not_of("0123456789abcdef") == 32;
}

/// Removes the oldest sources, with their logs, until `keep` are left. Returns how many there were.
static size_t trim(const std::string &folder, FileSystem &files, size_t keep) {
  int directory =
      files.open(AT_FDCWD, folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (directory < 0)
    return 0;
  std::vector<std::string> names;
  (void)files.list(directory, names);
  std::vector<std::pair<int64_t, std::string>> sources; // by age
  for (std::string &name : names) {
    struct stat info;
    if (isSourceName(name) && files.statusAt(directory, name.c_str(), info) == 0 &&
        S_ISREG(info.st_mode) && info.st_uid == geteuid())
      sources.push_back(
          {int64_t(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec, std::move(name)});
  }
  std::sort(sources.begin(), sources.end());
  for (size_t i = 0; i + keep < sources.size(); ++i) {
    std::string &name = sources[i].second;
    (void)files.remove(directory, name.c_str());
    name.replace(32, 3, ".log");
    (void)files.remove(directory, name.c_str());
  }
  (void)files.close(directory);
  return sources.size();
}

std::string swage::keepFailedSource(const std::string &cache, const std::string &base,
                                    FileSystem &files, std::string_view source,
                                    std::string_view log) {
  std::string folder = cache + "/" + kFailedFolder;
  std::string name = hashBytes(source).hex();
  CacheDirectory directory(folder, base, files);
  if (!directory.publish(name + ".cu", source))
    return {};
  // The message has the log as well.
  (void)directory.publish(name + ".log", log);
  trim(folder, files, kFailedSources);
  return folder + "/" + name + ".cu";
}

size_t swage::removeFailedSources(const std::string &cache, FileSystem &files) {
  std::string folder = cache + "/" + kFailedFolder;
  size_t count = trim(folder, files, 0);
  // It goes as well when it is empty.
  (void)::rmdir(folder.c_str());
  return count;
}
