//===- CacheFireTest.cpp - The cache under fire ---------------------------===//
//
// Processes that race, processes that are killed, and entries that are damaged: every key gives its
// own kernel or is a miss.
//
//===----------------------------------------------------------------------===//
#include "CacheFire.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <sys/wait.h>

using namespace swage;

CacheFireTest::Tally CacheFireTest::tally;

namespace {
/// Prints the closing line.
class Closing : public testing::Environment {
public:
  void TearDown() override {
    const CacheFireTest::Tally &tally = CacheFireTest::tally;
    std::printf("cache under fire: %d processes raced over %d keys, %d were killed (%d while they "
                "published), %d bytes flipped, %d truncations, %d faults of the file system: %s\n",
                tally.processes, tally.keys, tally.kills, tally.midway, tally.flips,
                tally.truncations, tally.faults,
                testing::UnitTest::GetInstance()->Passed() ? "no wrong kernel" : "FAILED");
  }
};
[[maybe_unused]] testing::Environment *const closing =
    testing::AddGlobalTestEnvironment(new Closing);

/// Of a write half is done before the end.
class LethalFiles : public FaultyFiles {
public:
  ssize_t write(int file, const void *bytes, size_t count) override {
    if (calls.size() == failAt)
      (void)FileSystem::write(file, bytes, count / 2);
    return FaultyFiles::write(file, bytes, count);
  }
};

class CacheRaceTest : public CacheFireTest {
protected:
  size_t countFiles(const char *extension) const {
    size_t count = 0;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(options.cacheDir, error))
      count += entry.path().extension() == extension;
    return count;
  }
  /// Each of the kernels is found right or not at all; returns how many are found.
  int expectWhole(int count, size_t bytes) {
    int found = 0;
    options.cacheMode = CacheMode::Require;
    auto cache = open();
    for (int which = 0; which < count; ++which)
      if (auto kernel = fetch(*cache, which, bytes)) {
        EXPECT_TRUE(isRight(**kernel, which, bytes)) << which;
        ++found;
      }
    EXPECT_EQ(cache->stats().rejected, 0u);
    options.cacheMode = CacheMode::ReadWrite;
    return found;
  }
};
} // namespace

TEST_F(CacheRaceTest, ProcessesStartCold) {
  constexpr int kProcesses = 16, kKeys = 20;
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    pid_t child = fork();
    if (child == 0) {
      std::vector<int> order(kKeys);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), std::mt19937(unsigned(process / 4)));
      close(gate[1]);
      char nothing;
      bool ok = ::read(gate[0], &nothing, 1) == 0;
      auto cache = open();
      for (int which : order) {
        auto kernel = fetch(*cache, which, 20000);
        ok &= bool(kernel) && isRight(**kernel, which, 20000);
      }
      CacheStats stats = cache->stats();
      ok &= stats.rejected == 0 && stats.misses == stats.published;
      _exit(ok && warnings.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  close(gate[0]);
  close(gate[1]);
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(expectWhole(kKeys, 20000), kKeys);
  EXPECT_EQ(fileCount(), size_t(kKeys));
  tally.processes += kProcesses;
  tally.keys += kKeys;
}

TEST_F(CacheRaceTest, KilledAtRandom) {
  // A child that publishes, replaces and evicts without end.
  constexpr int kKills = 200, kKeys = 8;
  constexpr size_t kBytes = 200000;
  std::mt19937 random(4);
  options.cacheLimit = kBytes * 6;
  for (int round = 0; round < kKills; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    size_t left = countFiles(".tmp");
    pid_t child = fork();
    if (child == 0) {
      std::vector<KernelBinary> kernels;
      for (int which = 0; which < kKeys; ++which)
        kernels.push_back(kernel(which, kBytes));
      (void)!::write(ready[1], "x", 1);
      for (int i = round;; ++i) {
        int which = i % kKeys;
        if (i % 3 == 0)
          (void)unlink(pathOf(which).c_str());
        (void)open()->getOrCompile(
            numbered(which), [&]() -> Expected<KernelBinary> { return kernels[size_t(which)]; });
      }
    }
    char go;
    EXPECT_EQ(::read(ready[0], &go, 1), 1);
    close(ready[0]);
    close(ready[1]);
    usleep(std::uniform_int_distribution<useconds_t>(0, 8000)(random));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ++tally.kills;
    tally.midway += countFiles(".tmp") > left;
    expectWhole(kKeys, kBytes);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  // What they left goes after a day.
  for (const auto &entry : std::filesystem::directory_iterator(options.cacheDir))
    if (entry.path().extension() == ".tmp")
      setAge(entry.path(), 25 * 3600);
  ASSERT_TRUE(fetch(*open(), 100, kBytes));
  EXPECT_EQ(countFiles(".tmp"), 0u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheRaceTest, KilledBeforeEachCall) {
  for (bool replacing : {false, true})
    for (size_t at = 0;; ++at) {
      std::filesystem::remove_all(options.cacheDir);
      options.cacheLimit = 0;
      for (int which : {1, 2, 3})
        ASSERT_TRUE(fetch(*open(), which));
      setAge(options.cacheDir + "/.1-2-3.tmp", 25 * 3600);
      if (replacing) {
        ASSERT_TRUE(writeFile(pathOf(0), "not an entry"));
      }
      options.cacheLimit = std::filesystem::file_size(pathOf(1)) * 3;
      size_t left = countFiles(".tmp");
      pid_t child = fork();
      if (child == 0) {
        LethalFiles files;
        files.failAt = at;
        files.instead = [] { kill(getpid(), SIGKILL); };
        KernelCache cache(options, {}, files);
        auto kernel = fetch(cache, 0);
        _exit(kernel && isRight(**kernel, 0) ? 0 : 1);
      }
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      if (!WIFSIGNALED(status)) {
        EXPECT_EQ(status, 0);
        EXPECT_GT(at, 15u);
        break;
      }
      ++tally.kills;
      tally.midway += countFiles(".tmp") > left;
      options.cacheMode = CacheMode::Require;
      for (int which : {0, 1, 2, 3})
        if (auto found = fetch(*open(), which)) {
          EXPECT_TRUE(isRight(**found, which)) << which;
        }
      options.cacheMode = CacheMode::ReadWrite;
      auto next = fetch(*open(), 0);
      ASSERT_TRUE(next);
      EXPECT_TRUE(isRight(**next, 0));
      EXPECT_TRUE(warnings.empty());
    }
}

TEST_F(CacheRaceTest, EveryByteFlippedAndEveryTruncation) {
  ASSERT_TRUE(fetch(*open(), 0));
  auto good = readFile(pathOf(0));
  ASSERT_TRUE(good);
  int file = ::open(pathOf(0).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  // Neither a program that may compile nor one that may not loads any of it.
  auto expectMiss = [&](const char *what, size_t at) {
    compiles = 0;
    options.cacheMode = CacheMode::ReadOnly;
    auto cache = open();
    auto kernel = fetch(*cache, 0);
    ASSERT_TRUE(kernel);
    ASSERT_TRUE(compiles == 1 && cache->stats().rejected == 1 && isRight(**kernel, 0))
        << what << " " << at;
    options.cacheMode = CacheMode::Require;
    ASSERT_FALSE(fetch(*open(), 0)) << what << " " << at;
  };
  for (size_t at = 0; at < good->size(); ++at) {
    char flipped = char((*good)[at] ^ (1 + at % 255));
    ASSERT_EQ(pwrite(file, &flipped, 1, off_t(at)), 1);
    expectMiss("byte", at);
    ASSERT_EQ(pwrite(file, &(*good)[at], 1, off_t(at)), 1);
    ++tally.flips;
  }
  ASSERT_TRUE(fetch(*open(), 0));
  for (size_t size = good->size(); size-- > 0;) {
    ASSERT_EQ(ftruncate(file, off_t(size)), 0);
    expectMiss("size", size);
    ++tally.truncations;
  }
  // Longer than any, without any bytes on the disk.
  ASSERT_EQ(ftruncate(file, off_t(1) << 32), 0);
  expectMiss("size", size_t(1) << 32);
  close(file);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheRaceTest, SwappedEntries) {
  for (int which : {0, 1})
    ASSERT_TRUE(fetch(*open(), which));
  ASSERT_EQ(rename(pathOf(0).c_str(), (root + "/x").c_str()), 0);
  ASSERT_EQ(rename(pathOf(1).c_str(), pathOf(0).c_str()), 0);
  ASSERT_EQ(rename((root + "/x").c_str(), pathOf(1).c_str()), 0);
  for (int which : {0, 1}) {
    auto cache = open();
    auto kernel = fetch(*cache, which);
    ASSERT_TRUE(kernel);
    EXPECT_TRUE(isRight(**kernel, which));
    EXPECT_EQ(cache->stats().rejected, 1u);
  }
  EXPECT_EQ(compiles, 4);
}
