//===- CacheFaultTest.cpp - Every system call fails in every way ----------===//
//
// A recorded run tells which calls the cache makes; then it is repeated once for each of them, each
// errno that its manual page lists and each way to fail.  Whatever happens: the kernel is the right
// one, there is at most one warning, and afterwards the directory heals.
//
//===----------------------------------------------------------------------===//
#include "CacheFire.h"

#include <algorithm>
#include <cerrno>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace swage;

namespace {
using Call = FaultyFiles::Call;

const std::vector<int> &errors(Call call) {
  static const std::vector<int> table[FaultyFiles::CallCount] = {
      /*Open*/ {EACCES, EAGAIN,    EBUSY,  EDQUOT, EEXIST,       EINTR,  EIO,    EISDIR,
                ELOOP,  EMFILE,    ENFILE, ENOENT, ENAMETOOLONG, ENOMEM, ENOSPC, ENOTDIR,
                ENXIO,  EOVERFLOW, EPERM,  EROFS,  ESTALE,       ETXTBSY},
      /*Read*/ {EAGAIN, EBADF, EFAULT, EINTR, EINVAL, EIO, EISDIR, ESTALE},
      /*Write*/ {EAGAIN, EBADF, EDQUOT, EFBIG, EINTR, EINVAL, EIO, ENOSPC, EPERM, EPIPE, ESTALE},
      /*Sync*/ {EBADF, EDQUOT, EINTR, EINVAL, EIO, ENOSPC, EROFS},
      /*Close*/ {EBADF, EDQUOT, EINTR, EIO, ENOSPC},
      /*Status*/ {EACCES, EBADF, EFAULT, EIO, ENOMEM, EOVERFLOW, ESTALE},
      /*StatusAt*/
      {EACCES, EBADF, EIO, ELOOP, ENAMETOOLONG, ENOENT, ENOMEM, ENOTDIR, EOVERFLOW, ESTALE},
      /*MakeDirectory*/
      {EACCES, EDQUOT, EEXIST, EINTR, EIO, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOMEM, ENOSPC,
       ENOTDIR, EPERM, EROFS},
      /*Rename*/
      {EACCES, EBUSY, EDQUOT, EEXIST, EINTR, EINVAL, EIO, EISDIR, ELOOP, EMLINK, ENAMETOOLONG,
       ENOENT, ENOMEM, ENOSPC, ENOTDIR, EPERM, EROFS, ESTALE, EXDEV},
      /*Remove*/
      {EACCES, EBUSY, EINTR, EIO, EISDIR, ELOOP, ENOENT, ENOMEM, ENOTDIR, EPERM, EROFS, ESTALE},
      /*Stamp*/ {EACCES, EINVAL, EIO, EPERM, EROFS},
      /*List*/ {EACCES, EINTR, EIO, EMFILE, ENFILE, ENOENT, ENOMEM, ESTALE}};
  return table[call];
}

class CacheFaultTest : public CacheFireTest {
protected:
  /// Thousands of directories come and go: in memory, where there is such a place.
  CacheFaultTest() {
    if (access("/dev/shm", W_OK) == 0)
      parent = "/dev/shm/";
  }

  /// What the directory holds, and what is asked of the cache.
  struct Scenario {
    const char *name;
    CacheMode mode;
    bool isHit;
    void (*prepare)(CacheFaultTest &test);
  };
  static const std::vector<Scenario> scenarios;

  /// What prepares and judges a case waits for no disk.
  std::unique_ptr<KernelCache> open() {
    return std::make_unique<KernelCache>(
        options, [this](const std::string &message) { warnings.push_back(message); }, quick);
  }
  void reset() {
    quick.disarm();
    std::filesystem::remove_all(root + "/a");
    std::filesystem::remove_all(root + "/evil");
    options.cacheDir = root + "/a/cache";
    options.cacheBase = root;
    options.cacheLimit = uint64_t(2) << 30;
    options.cacheMode = CacheMode::ReadWrite;
    warnings.clear();
  }
  void keep(int which, time_t age) {
    ASSERT_TRUE(fetch(*open(), which));
    setAge(pathOf(which), age);
  }
  size_t temporaries() const {
    size_t count = 0;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(options.cacheDir, error))
      count += entry.path().extension() == ".tmp";
    return count;
  }
  static size_t openFiles() {
    size_t count = 0;
    for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      (void)entry;
      ++count;
    }
    return count;
  }

  /// Runs a scenario with this file system; false: something is wrong, and what it is was said.
  void run(const Scenario &scenario, FaultyFiles &files) {
    ++tally.faults;
    options.cacheMode = scenario.mode;
    bool mayFail = scenario.mode == CacheMode::Require;
    size_t before = openFiles();
    KernelCache cache(
        options, [this](const std::string &message) { warnings.push_back(message); }, files);
    auto kernel = fetch(cache, 0);
    files.disarm();
    if (kernel) {
      EXPECT_TRUE(isRight(**kernel, 0));
    } else {
      EXPECT_TRUE(mayFail && kernel.error().stage == Stage::Cache) << kernel.error().str();
    }
    EXPECT_EQ(openFiles(), before) << "a descriptor was lost";
    stats = cache.stats();
    EXPECT_LE(warnings.size(), mayFail ? 0u : 1u);
    if (scenario.mode == CacheMode::ReadWrite && stats.diskHits + stats.published == 0) {
      EXPECT_EQ(warnings.size(), 1u) << "a kernel is lost silently";
    }
    for (const std::string &warning : warnings)
      EXPECT_EQ(warning.find('\n'), warning.npos) << warning;

    // The trouble is over: the same cache publishes again, and whatever is there is right.
    if (scenario.mode == CacheMode::ReadWrite) {
      auto next = fetch(cache, 9);
      ASSERT_TRUE(next);
      EXPECT_TRUE(isRight(**next, 9));
      EXPECT_EQ(cache.stats().published, stats.published + 1);
    }
    options.cacheMode = CacheMode::Require;
    for (int which : {0, 1, 2, 3, 9})
      if (auto found = fetch(*open(), which)) {
        EXPECT_TRUE(isRight(**found, which)) << which;
      }
    options.cacheMode = CacheMode::ReadWrite;
    auto healed = fetch(*open(), 0);
    ASSERT_TRUE(healed);
    EXPECT_TRUE(isRight(**healed, 0));
    options.cacheMode = CacheMode::Require;
    EXPECT_TRUE(fetch(*open(), 0));
  }

  /// The calls of a scenario in which nothing fails.
  std::vector<Call> record(const Scenario &scenario) {
    reset();
    scenario.prepare(*this);
    FaultyFiles files;
    run(scenario, files);
    EXPECT_TRUE(warnings.empty());
    EXPECT_FALSE(HasFailure()) << scenario.name;
    return files.calls;
  }

  /// Runs every scenario once for each call that it makes and each of `variants`.
  template <class Variants, class Arm> void forEachCall(Variants variants, Arm arm) {
    for (const Scenario &scenario : scenarios) {
      std::vector<Call> calls = record(scenario);
      for (size_t at = 0; at < calls.size(); ++at)
        for (int variant : variants(calls[at])) {
          SCOPED_TRACE(testing::Message()
                       << scenario.name << ", call " << at << " ("
                       << FaultyFiles::callName(calls[at]) << "), variant " << variant);
          reset();
          scenario.prepare(*this);
          FaultyFiles files;
          arm(files, at, variant);
          run(scenario, files);
          before = at == 0 ? FaultyFiles::CallCount : calls[at - 1];
          checkMore(scenario, calls[at], variant);
          if (HasFailure())
            return;
        }
    }
  }
  std::function<void(const Scenario &, Call, int)> checkMore = [](const Scenario &, Call, int) {};
  FaultyFiles quick;
  CacheStats stats;                     ///< while there was trouble
  Call before = FaultyFiles::CallCount; ///< the call that came before the trouble
};

const std::vector<CacheFaultTest::Scenario> CacheFaultTest::scenarios = {
    {"cold", CacheMode::ReadWrite, false, [](CacheFaultTest &) {}},
    {"miss", CacheMode::ReadWrite, false, [](CacheFaultTest &test) { test.keep(1, 0); }},
    {"hit", CacheMode::ReadWrite, true, [](CacheFaultTest &test) { test.keep(0, 7200); }},
    {"damaged", CacheMode::ReadWrite, false,
     [](CacheFaultTest &test) {
       test.keep(0, 7200);
       std::filesystem::resize_file(test.pathOf(0), 100);
     }},
    {"evicting", CacheMode::ReadWrite, false,
     [](CacheFaultTest &test) {
       for (int which : {1, 2, 3})
         test.keep(which, 7200 * which);
       setAge(test.options.cacheDir + "/.1-2-3.tmp", 48 * 3600);
       test.options.cacheLimit = std::filesystem::file_size(test.pathOf(1)) * 3;
     }},
    {"read-only hit", CacheMode::ReadOnly, true, [](CacheFaultTest &test) { test.keep(0, 7200); }},
    {"read-only miss", CacheMode::ReadOnly, false, [](CacheFaultTest &test) { test.keep(1, 0); }},
    {"require hit", CacheMode::Require, true, [](CacheFaultTest &test) { test.keep(0, 7200); }},
    {"require miss", CacheMode::Require, false, [](CacheFaultTest &test) { test.keep(1, 0); }}};
} // namespace

TEST_F(CacheFaultTest, TheRecordedCallsAreThoseOfTheProtocol) {
  size_t counts[FaultyFiles::CallCount] = {};
  for (const Scenario &scenario : scenarios)
    for (Call call : record(scenario))
      ++counts[call];
  for (int call = 0; call < FaultyFiles::CallCount; ++call)
    EXPECT_GT(counts[call], 0u) << FaultyFiles::callName(Call(call));
}

TEST_F(CacheFaultTest, OneCallFails) {
  checkMore = [this](const Scenario &scenario, Call call, int error) {
    // An interrupted call is no trouble at all.
    if (error == EINTR) {
      EXPECT_TRUE(warnings.empty()) << warnings[0];
    }
    // What may not have reached the disk gets no name.
    bool closesWritten = call == FaultyFiles::Close && before == FaultyFiles::Sync;
    if (call == FaultyFiles::Sync || call == FaultyFiles::Write || closesWritten) {
      bool isTriedAgain = error == EINTR || error == ESTALE;
      bool isUnsupported = error == EINVAL && call == FaultyFiles::Sync;
      EXPECT_EQ(stats.published, uint64_t(isTriedAgain || isUnsupported));
    }
    // Of the scenario that has a temporary from the start, listing it may be what failed.
    if (call != FaultyFiles::Remove) {
      EXPECT_LE(temporaries(), size_t(scenario.name == std::string("evicting")));
    }
  };
  forEachCall(errors, [](FaultyFiles &files, size_t at, int error) {
    files.failAt = at;
    files.error = error;
  });
}

TEST_F(CacheFaultTest, ACallFailsFromThenOn) {
  forEachCall(errors, [](FaultyFiles &files, size_t at, int error) {
    files.failAt = at;
    files.error = error;
    files.extent = FaultyFiles::SameCalls;
  });
}

TEST_F(CacheFaultTest, EverythingFailsFromThenOn) {
  auto variants = [](Call) { return std::vector<int>{EIO, EACCES, ENOENT, ESTALE, EINTR}; };
  forEachCall(variants, [](FaultyFiles &files, size_t at, int error) {
    files.failAt = at;
    files.error = error;
    files.extent = FaultyFiles::AllCalls;
  });
}

TEST_F(CacheFaultTest, WhatFailedHappenedAllTheSame) {
  // As over a network, when the answer is lost.
  auto variants = [](Call call) {
    bool changes = call == FaultyFiles::Rename || call == FaultyFiles::Remove ||
                   call == FaultyFiles::MakeDirectory || call == FaultyFiles::Stamp;
    return changes ? errors(call) : std::vector<int>();
  };
  forEachCall(variants, [](FaultyFiles &files, size_t at, int error) {
    files.failAt = at;
    files.error = error;
    files.happensAllTheSame = true;
  });
}

TEST_F(CacheFaultTest, ShortReadsAndWrites) {
  // Of 0, 1 or 100 bytes; those of no bytes are failures.
  auto variants = [](Call call) {
    return call == FaultyFiles::Read || call == FaultyFiles::Write ? std::vector<int>{0, 1, 100}
                                                                   : std::vector<int>();
  };
  checkMore = [this](const Scenario &, Call call, int bytes) {
    if (bytes > 0 && call == FaultyFiles::Write) {
      EXPECT_TRUE(warnings.empty());
    }
  };
  auto arm = [](FaultyFiles &files, size_t at, int bytes) {
    files.failAt = at;
    files.shortCount = bytes;
  };
  forEachCall(variants, arm);
  forEachCall(variants, [&](FaultyFiles &files, size_t at, int bytes) {
    arm(files, at, bytes);
    files.extent = FaultyFiles::SameCalls;
  });
}

TEST_F(CacheFaultTest, TheDirectoryIsRemovedBeforeEachCall) {
  checkMore = [this](const Scenario &scenario, Call, int) {
    EXPECT_TRUE(warnings.empty()) << warnings[0];
  };
  auto once = [](Call) { return std::vector<int>{0}; };
  forEachCall(once, [this](FaultyFiles &files, size_t at, int) {
    files.failAt = at;
    files.instead = [this] { std::filesystem::remove_all(root + "/a"); };
  });
}

TEST_F(CacheFaultTest, AnotherDirectoryTakesThePlaceOfTheCache) {
  // With an entry for the key that is whole and wrong; it is neither read nor written.
  std::string evil = root + "/evil", planted = evil + "/" + entryFileName(numbered(0).hash);
  KernelBinary wrong = kernel(0);
  wrong.image += "wrong";
  std::string bytes = serializeEntry(numbered(0), wrong);
  auto swap = [&] {
    std::error_code error;
    std::filesystem::rename(root + "/a/cache", root + "/a/away", error);
    std::filesystem::create_directories(root + "/a");
    std::filesystem::create_directory_symlink(evil, root + "/a/cache", error);
  };
  for (const Scenario &scenario : scenarios) {
    size_t count = record(scenario).size();
    for (size_t at = 0; at < count; ++at) {
      SCOPED_TRACE(testing::Message() << scenario.name << ", call " << at);
      reset();
      scenario.prepare(*this);
      std::filesystem::create_directory(evil);
      ASSERT_TRUE(writeFile(planted, bytes));
      ASSERT_EQ(chmod(planted.c_str(), 0600), 0);
      FaultyFiles files;
      files.failAt = at;
      files.instead = swap;
      options.cacheMode = scenario.mode;
      KernelCache cache(
          options, [this](const std::string &message) { warnings.push_back(message); }, files);
      ++tally.faults;
      if (auto found = fetch(cache, 0)) {
        EXPECT_TRUE(isRight(**found, 0));
      } else {
        EXPECT_EQ(scenario.mode, CacheMode::Require);
      }
      EXPECT_LE(warnings.size(), 1u);
      EXPECT_EQ(std::distance(std::filesystem::directory_iterator(evil), {}), 1);
      EXPECT_EQ(*readFile(planted), bytes);
    }
  }
}

TEST_F(CacheFaultTest, LimitsOfTheProcess) {
  // The same by the real system: a full disk and a process without descriptors.
  auto inChild = [&](auto prepare) {
    warnings.clear();
    pid_t child = fork();
    if (child == 0) {
      auto cache = open();
      prepare();
      auto first = fetch(*cache, 0), second = fetch(*cache, 1);
      _exit(first && second && isRight(**first, 0) && isRight(**second, 1) &&
                    cache->stats().published == 0 && warnings.size() == 1
                ? 0
                : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(temporaries(), 0u);
  };
  inChild([] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit most = {200, 200};
    setrlimit(RLIMIT_FSIZE, &most);
  });
#ifndef __SANITIZE_ADDRESS__ // whose checks need descriptors
  inChild([] {
    rlimit most = {0, 0};
    setrlimit(RLIMIT_NOFILE, &most);
  });
#endif
}

TEST_F(CacheFaultTest, ANetworkThatShowsNamesLate) {
  // The rename succeeds, and nobody sees the name yet: the process that compiled needs no file.
  class LateFiles : public FileSystem {
    int rename(int, const char *, const char *) override { return 0; }
  };
  LateFiles files;
  KernelCache cache(
      options, [this](const std::string &message) { warnings.push_back(message); }, files);
  for (int round = 0; round < 2; ++round)
    for (int which : {0, 1}) {
      auto kernel = fetch(cache, which);
      ASSERT_TRUE(kernel);
      EXPECT_TRUE(isRight(**kernel, which));
    }
  EXPECT_EQ(compiles, 2);
  EXPECT_TRUE(warnings.empty());
}
