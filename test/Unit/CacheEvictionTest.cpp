//===- CacheEvictionTest.cpp - The cache stays within its limit -----------===//
//
// What goes is what has not been used for longest, by the stamps that hits leave; what is no entry
// stays, whatever it takes.
//
//===----------------------------------------------------------------------===//
#include "CacheDirectory.h"
#include "CacheTestSupport.h"
#include "swage/Support/Text.h"

#include <sys/wait.h>

using namespace swage;

namespace {
class CacheEvictionTest : public CacheTest {
protected:
  static constexpr time_t kHour = 3600;

  CacheKey numbered(int i) const { return key("kernel " + std::to_string(100 + i)); }
  bool has(int i) const { return std::filesystem::exists(entryPath(numbered(i))); }
  /// Kernels 0 to `count` - 1, of which kernel i was last used `count` - i + 1 hours ago.
  void fill(int count) {
    auto cache = open();
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(get(*cache, numbered(i)));
      setAge(entryPath(numbered(i)), (count - i + 1) * kHour);
    }
    entryBytes = std::filesystem::file_size(entryPath(numbered(0)));
  }
  uint64_t total() const {
    uint64_t bytes = 0;
    for (const auto &entry : std::filesystem::directory_iterator(options.cacheDir))
      bytes += entry.file_size();
    return bytes;
  }

  uint64_t entryBytes = 0;
};
} // namespace

TEST_F(CacheEvictionTest, TheLeastRecentlyUsedGo) {
  fill(10);
  options.cacheLimit = 10 * entryBytes;
  // A hit makes kernel 0 the youngest; one of the last hour leaves no stamp.
  ASSERT_TRUE(get(*open(), numbered(0)));
  EXPECT_LT(age(entryPath(numbered(0))), 60);
  auto cache = open();
  ASSERT_TRUE(get(*cache, numbered(10)));
  // Down to four fifths of the limit: 8 of 11.
  EXPECT_EQ(cache->stats().evicted, 3u);
  for (int i = 0; i <= 10; ++i)
    EXPECT_EQ(has(i), i == 0 || i > 3) << i;
  EXPECT_EQ(total(), 8 * entryBytes);
  // Two more fit.
  ASSERT_TRUE(get(*cache, numbered(1)));
  ASSERT_TRUE(get(*cache, numbered(2)));
  EXPECT_TRUE(has(4));
  ASSERT_TRUE(get(*cache, numbered(3)));
  EXPECT_FALSE(has(4));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheEvictionTest, StampsAreRare) {
  fill(1);
  std::string path = entryPath(numbered(0));
  setAge(path, 50 * 60);
  ASSERT_TRUE(get(*open(), numbered(0)));
  EXPECT_GE(age(path), 50 * 60);
  // The clock was wrong once.
  setAge(path, -100 * kHour);
  ASSERT_TRUE(get(*open(), numbered(0)));
  EXPECT_LT(age(path), 60);
  EXPECT_GE(age(path), 0);
  setAge(path, 2 * kHour);
  options.cacheMode = CacheMode::ReadOnly;
  ASSERT_TRUE(get(*open(), numbered(0)));
  EXPECT_GE(age(path), 2 * kHour);
  options.cacheMode = CacheMode::Require;
  ASSERT_TRUE(get(*open(), numbered(0)));
  EXPECT_LT(age(path), 60);
  EXPECT_EQ(compiles, 1);
}

TEST_F(CacheEvictionTest, OnlyEntriesAreRemoved) {
  fill(4);
  std::string hash(32, 'a'), content = *readFile(entryPath(numbered(0)));
  std::string foreign(100000, 'x');
  std::vector<std::pair<std::string, std::string>> files = {
      {hash + ".kernel", foreign},     // not one by its content
      {hash + ".kernel.bak", content}, // nor by its name
      {std::string(32, 'A') + ".kernel", content},
      {std::string(31, 'a') + ".kernel", content},
      {"x" + hash + ".kernel", content},
      {"thesis.tex", content}};
  for (const auto &[name, bytes] : files) {
    ASSERT_TRUE(writeFile(options.cacheDir + "/" + name, bytes));
    std::string path = options.cacheDir + "/" + name;
    timespec times[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::string link = options.cacheDir + "/" + std::string(32, 'b') + ".kernel";
  std::string folder = options.cacheDir + "/" + std::string(32, 'c') + ".kernel";
  ASSERT_TRUE(writeFile(root + "/target", content));
  ASSERT_EQ(symlink((root + "/target").c_str(), link.c_str()), 0);
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  std::string alien = options.cacheDir + "/" + std::string(32, 'd') + ".kernel";
  ASSERT_TRUE(writeFile(alien, content));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(alien.c_str(), 65534, 65534), 0);
  }

  options.cacheLimit = 2 * entryBytes;
  ASSERT_TRUE(get(*open(), numbered(4)));
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(has(i)) << i;
  EXPECT_TRUE(has(4)) << "the one just published";
  for (const auto &[name, bytes] : files)
    EXPECT_TRUE(std::filesystem::exists(options.cacheDir + "/" + name)) << name;
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::exists(root + "/target"));
  EXPECT_TRUE(std::filesystem::is_directory(folder));
  EXPECT_EQ(std::filesystem::exists(alien), geteuid() == 0);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheEvictionTest, WhatWasUsedSinceItWasListedStays) {
  fill(2);
  CacheDirectory directory(options.cacheDir, "");
  auto files = directory.list();
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ((*files)[0].name, entryFileName(numbered(0).hash));
  EXPECT_EQ((*files)[0].bytes, entryBytes);
  ASSERT_TRUE(get(*open(), numbered(0)));
  EXPECT_FALSE(*directory.remove((*files)[0]));
  EXPECT_TRUE(*directory.remove((*files)[1]));
  EXPECT_TRUE(*directory.remove((*files)[1])) << "gone is gone";
  EXPECT_TRUE(has(0));
  EXPECT_FALSE(has(1));
}

TEST_F(CacheEvictionTest, AKernelLargerThanTheLimitIsNotKept) {
  options.cacheLimit = 4000;
  auto cache = open();
  ASSERT_TRUE(get(*cache, key("a"), 5000));
  ASSERT_TRUE(get(*cache, key("b"), 5000));
  ASSERT_TRUE(get(*cache, key("c"), 500));
  EXPECT_EQ(fileCount(), 1u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("SWAGE_CACHE_LIMIT: 4000"), std::string::npos) << warnings[0];
}

TEST_F(CacheEvictionTest, NoLimit) {
  options.cacheLimit = 0;
  auto cache = open();
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(get(*cache, numbered(i)));
  EXPECT_EQ(fileCount(), 5u);
}

TEST_F(CacheEvictionTest, ProcessesEvictWhatOthersUse) {
  // 8 processes and room for 10 of 40 kernels: all of them are right, and the limit holds.
  options.cacheLimit = 60000;
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    pid_t child = fork();
    if (child == 0) {
      bool ok = true;
      for (int i = 0; i < 80; ++i) {
        auto cache = open();
        int which = (process * 5 + i * 7) % 40;
        auto kernel = get(*cache, numbered(which), 5000 + size_t(which));
        ok &= bool(kernel) && (*kernel)->image.size() == 5000 + size_t(which) &&
              cache->stats().rejected == 0;
      }
      _exit(ok && warnings.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(total(), options.cacheLimit);
  EXPECT_GT(total(), options.cacheLimit / 4);
}
