//===- FailedSourcesTest.cpp - Sources of kernels that did not compile ----===//

#include "FailedSources.h"
#include "swage/Runtime/KernelCache.h"
#include "swage/Support/Text.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace swage;
namespace fs = std::filesystem;

namespace {
class FailedSourcesTest : public testing::Test {
protected:
  FailedSourcesTest() {
    options.cacheDir = testing::TempDir() + "swage-failed-" + std::to_string(getpid());
    fs::remove_all(options.cacheDir);
  }
  ~FailedSourcesTest() override {
    chmod(options.cacheDir.c_str(), 0700);
    fs::remove_all(options.cacheDir);
  }

  std::string keep(const std::string &source) const {
    return KernelCache(options).keepFailedSource(source, "log of " + source);
  }
  size_t files() const {
    size_t count = 0;
    for (const auto &entry : fs::directory_iterator(folder()))
      count += entry.is_regular_file();
    return count;
  }
  fs::path folder() const { return fs::path(options.cacheDir) / kFailedFolder; }

  Options options;
};
} // namespace

TEST_F(FailedSourcesTest, SourceAndLogAreForThisUserAlone) {
  std::string path = keep("bad");
  ASSERT_FALSE(path.empty());
  EXPECT_EQ(*readFile(path), "bad");
  fs::path log = fs::path(path).replace_extension(".log");
  EXPECT_EQ(*readFile(log), "log of bad");
  struct stat info;
  for (const fs::path &file : {fs::path(path), log}) {
    ASSERT_EQ(stat(file.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u) << file;
  }
  ASSERT_EQ(stat(folder().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  // The same failure again is the same file.
  EXPECT_EQ(keep("bad"), path);
  EXPECT_EQ(files(), 2u);
}

TEST_F(FailedSourcesTest, TheOldestGo) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < kFailedSources + 8; ++i) {
    paths.push_back(keep("bad " + std::to_string(i)));
    ASSERT_FALSE(paths.back().empty());
    // File systems may not tell times apart that are this close.
    fs::last_write_time(paths.back(),
                        fs::file_time_type::clock::now() - std::chrono::seconds(1000 - int(i)));
  }
  EXPECT_EQ(files(), 2 * kFailedSources);
  EXPECT_FALSE(fs::exists(paths[7]));
  EXPECT_TRUE(fs::exists(paths[8]));
  EXPECT_TRUE(fs::exists(paths.back()));
}

TEST_F(FailedSourcesTest, WhatIsNotOursStays) {
  std::string path = keep("bad");
  ASSERT_TRUE(writeFile(folder() / "notes.cu", "mine"));
  EXPECT_EQ(removeFailedSources(options.cacheDir, FileSystem::real()), 1u);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(files(), 1u);
  fs::remove(folder() / "notes.cu");
  EXPECT_EQ(removeFailedSources(options.cacheDir, FileSystem::real()), 0u);
  EXPECT_FALSE(fs::exists(folder()));
  EXPECT_EQ(removeFailedSources(options.cacheDir, FileSystem::real()), 0u);
}

TEST_F(FailedSourcesTest, ACacheThatIsNotWrittenKeepsNone) {
  fs::create_directories(options.cacheDir);
  for (CacheMode mode : {CacheMode::ReadOnly, CacheMode::Require, CacheMode::Off}) {
    options.cacheMode = mode;
    EXPECT_EQ(keep("bad"), "");
  }
  options.cacheMode = CacheMode::ReadWrite;
  std::string directory = options.cacheDir;
  options.cacheDir.clear();
  EXPECT_EQ(keep("bad"), "");
  options.cacheDir = directory;
  EXPECT_FALSE(fs::exists(folder()));
}

TEST_F(FailedSourcesTest, ADirectoryThatOthersMayWriteOrThatIsALinkIsNotUsed) {
  fs::create_directories(folder());
  ASSERT_EQ(chmod(folder().c_str(), 0777), 0);
  EXPECT_EQ(keep("bad"), "");
  EXPECT_EQ(files(), 0u);
  fs::remove_all(folder());
  fs::path elsewhere = options.cacheDir + "-elsewhere";
  fs::create_directories(elsewhere);
  fs::create_directory_symlink(elsewhere, folder());
  EXPECT_EQ(keep("bad"), "");
  EXPECT_TRUE(fs::is_empty(elsewhere));
  fs::remove_all(elsewhere);
}
