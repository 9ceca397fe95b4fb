//===- CacheTestSupport.h - Directories and kernels for cache tests -------===//
//
// A fresh directory per test, and binaries that tell from which compile they came.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_UNIT_CACHETESTSUPPORT_H
#define SWAGE_TEST_UNIT_CACHETESTSUPPORT_H

#include "swage/Runtime/KernelCache.h"

#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

class CacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = parent + "swage-cache-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    root = pattern;
    options.cacheDir = root + "/cache";
    umask(022);
  }
  void TearDown() override {
    std::error_code error;
    std::filesystem::permissions(root, std::filesystem::perms::owner_all, error);
    std::filesystem::remove_all(root, error);
  }

  static swage::CacheKey key(const std::string &source = "kernel source") {
    swage::CacheKeyFields fields;
    fields.source = source;
    fields.arch = "sm_90a";
    return swage::CacheKey::make(fields);
  }
  static swage::KernelBinary binary(size_t cubinBytes = 5000) {
    swage::KernelBinary binary;
    binary.name = "row";
    binary.arch = "sm_90a";
    for (size_t i = 0; i < cubinBytes; ++i)
      binary.image += char(i * 131 >> 3);
    binary.ptx = ".version 9.0";
    binary.log = "ptxas info";
    binary.resources = {24, 4, 8, 16, 528, 1};
    return binary;
  }

  /// A cache as another process would open it.
  std::unique_ptr<swage::KernelCache> open() {
    return std::make_unique<swage::KernelCache>(
        options, [this](const std::string &message) { warnings.push_back(message); });
  }
  /// The kernel, counting compiles.
  swage::Expected<std::shared_ptr<const swage::KernelBinary>>
  get(swage::KernelCache &cache, const swage::CacheKey &key, size_t cubinBytes = 5000) {
    return cache.getOrCompile(key, [&]() -> swage::Expected<swage::KernelBinary> {
      ++compiles;
      return binary(cubinBytes);
    });
  }
  std::string entryPath(const swage::CacheKey &key) const {
    return options.cacheDir + "/" + swage::entryFileName(key.hash);
  }
  /// Makes a file, or an entry, that was last used `seconds` ago.
  static void setAge(const std::string &path, time_t seconds) {
    int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    timespec times[2] = {{time(nullptr) - seconds, 0}, {time(nullptr) - seconds, 0}};
    EXPECT_EQ(futimens(file, times), 0);
    close(file);
  }
  static time_t age(const std::string &path) {
    struct stat info = {};
    EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
    return time(nullptr) - info.st_mtime;
  }
  size_t fileCount() const {
    size_t count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(options.cacheDir)) {
      (void)entry;
      ++count;
    }
    return count;
  }

  std::string parent = testing::TempDir(); ///< where root is made
  std::string root;
  swage::Options options;
  std::vector<std::string> warnings;
  int compiles = 0;
};

#endif // SWAGE_TEST_UNIT_CACHETESTSUPPORT_H
