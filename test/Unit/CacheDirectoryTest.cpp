//===- CacheDirectoryTest.cpp - Directories that cannot be trusted --------===//
//
// Entries are machine code: what another user could have put there is not read.  A directory that
// cannot be used costs one warning, and kernels are still compiled.
//
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"
#include "swage/Support/Text.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace swage;

namespace {
class CacheDirectoryTest : public CacheTest {
protected:
  /// Runs `body` as a user without privileges: root may write anywhere.
  template <class Body> static void asNobody(Body body) {
    asUser([] { return setgid(65534) == 0 && setuid(65534) == 0; }, body);
  }
  template <class Become, class Body> static void asUser(Become become, Body body) {
    pid_t child = fork();
    if (child == 0) {
      if (geteuid() == 0 && !become())
        _exit(2);
      _exit(body() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }

  /// What root keeps for everybody: one entry, for all to read.
  void publishAsRoot() {
    ASSERT_EQ(chmod(root.c_str(), 0755), 0);
    ASSERT_TRUE(get(*open(), key("a")));
    ASSERT_EQ(chmod(options.cacheDir.c_str(), 0755), 0);
    ASSERT_EQ(chmod(entryPath(key("a")).c_str(), 0644), 0);
    compiles = 0;
  }
  bool isHit(CacheMode mode) {
    options.cacheMode = mode;
    auto cache = open();
    return get(*cache, key("a")) && cache->stats().diskHits == 1;
  }

  /// Two kernels are compiled, none is kept, and the one warning contains `part` and names the
  /// variable.
  void expectMemoryOnly(const std::string &part) {
    auto cache = open();
    EXPECT_TRUE(get(*cache, key("a")));
    EXPECT_TRUE(get(*cache, key("b")));
    EXPECT_TRUE(get(*cache, key("a")));
    EXPECT_EQ(compiles, 2);
    EXPECT_EQ(cache->stats().published, 0u);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(part), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find("set SWAGE_CACHE_DIR"), std::string::npos) << warnings[0];
  }
};
} // namespace

TEST_F(CacheDirectoryTest, NoDirectoryIsNotWorthAWarning) {
  options.cacheDir.clear();
  auto cache = open();
  EXPECT_TRUE(get(*cache, key()));
  EXPECT_TRUE(get(*cache, key()));
  EXPECT_EQ(compiles, 1);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheDirectoryTest, ParentsAreCreated) {
  options.cacheDir = root + "/a/b//c";
  EXPECT_TRUE(get(*open(), key()));
  EXPECT_TRUE(get(*open(), key()));
  EXPECT_EQ(compiles, 1);
}

TEST_F(CacheDirectoryTest, ADirectoryThatOthersMayWrite) {
  ASSERT_TRUE(get(*open(), key("a")));
  compiles = 0;
  for (auto [mode, name] : {std::pair(0777, "0777"), {0770, "0770"}, {0702, "0702"}}) {
    ASSERT_EQ(chmod(options.cacheDir.c_str(), mode_t(mode)), 0);
    expectMemoryOnly(std::string("others may write to it (mode ") + name + "; needed: 0700)");
    compiles = 0;
    warnings.clear();
  }
}

TEST_F(CacheDirectoryTest, AParentThatAnybodyMayWrite) {
  std::string parent = root + "/open";
  options.cacheDir = parent + "/between/cache";
  ASSERT_TRUE(get(*open(), key("a")));
  compiles = 0;
  ASSERT_EQ(chmod(parent.c_str(), 0777), 0);
  expectMemoryOnly("anybody may write to '" + options.cacheDir + "/../..' (mode 0777; needed: a ");
  // Whatever links the name goes through, the directory is where it is.
  std::string link = root + "/link";
  ASSERT_EQ(symlink((parent + "/between").c_str(), link.c_str()), 0);
  options.cacheDir = link + "/cache";
  warnings.clear();
  compiles = 0;
  expectMemoryOnly("anybody may write to '" + options.cacheDir + "/../..'");
  // As /tmp is: nobody can exchange what is ours.
  ASSERT_EQ(chmod(parent.c_str(), 01777), 0);
  warnings.clear();
  EXPECT_TRUE(isHit(CacheMode::ReadWrite));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheDirectoryTest, ASymbolicLinkAsDirectory) {
  ASSERT_EQ(mkdir((root + "/elsewhere").c_str(), 0700), 0);
  ASSERT_EQ(symlink((root + "/elsewhere").c_str(), options.cacheDir.c_str()), 0);
  expectMemoryOnly("it is a symbolic link or not a directory");
  EXPECT_TRUE(std::filesystem::is_empty(root + "/elsewhere"));
}

TEST_F(CacheDirectoryTest, AFileAsDirectory) {
  ASSERT_TRUE(writeFile(options.cacheDir, "x"));
  expectMemoryOnly("it is a symbolic link or not a directory");
}

TEST_F(CacheDirectoryTest, AForeignDirectory) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root to give a directory away";
  ASSERT_EQ(mkdir(options.cacheDir.c_str(), 0700), 0);
  ASSERT_EQ(chown(options.cacheDir.c_str(), 65534, 65534), 0);
  expectMemoryOnly("it belongs to user 65534, not to user 0");
}

TEST_F(CacheDirectoryTest, AForeignHome) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root to give a directory away";
  // As sudo may leave it: HOME is the user's, and a directory of root there would lock the user
  // out.
  ASSERT_EQ(chown(root.c_str(), 65534, 65534), 0);
  options.cacheBase = root;
  expectMemoryOnly("belongs to user 65534");
  EXPECT_FALSE(std::filesystem::exists(options.cacheDir));
}

TEST_F(CacheDirectoryTest, AHomeThatDoesNotExist) {
  // As Debian has it for users that are services.
  ASSERT_EQ(chmod(root.c_str(), 0755), 0);
  options.cacheBase = root + "/nonexistent";
  options.cacheDir = options.cacheBase + "/.cache/swage";
  asNobody([&] {
    expectMemoryOnly("cannot create it: Permission denied");
    return !HasFailure();
  });
}

TEST_F(CacheDirectoryTest, TheEffectiveUserCounts) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root to act for another user";
  publishAsRoot();
  asUser([] { return seteuid(65534) == 0; },
         [&] {
           expectMemoryOnly("it belongs to user 0, not to user 65534");
           return !HasFailure();
         });
}

TEST_F(CacheDirectoryTest, ACacheOfRootIsOnlyRead) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root to publish for others";
  publishAsRoot();
  asNobody([&] {
    EXPECT_TRUE(isHit(CacheMode::ReadOnly));
    EXPECT_TRUE(isHit(CacheMode::Require));
    EXPECT_TRUE(warnings.empty());
    EXPECT_FALSE(isHit(CacheMode::ReadWrite));
    EXPECT_EQ(warnings.size(), 1u);
    return !HasFailure();
  });
  for (auto [path, mode] : {std::pair(entryPath(key("a")), 0666), {options.cacheDir, 0775}}) {
    struct stat before = {};
    ASSERT_EQ(stat(path.c_str(), &before), 0);
    ASSERT_EQ(chmod(path.c_str(), mode_t(mode)), 0);
    asNobody([&] { return !isHit(CacheMode::ReadOnly) && !HasFailure(); });
    ASSERT_EQ(chmod(path.c_str(), before.st_mode & 07777), 0);
  }
  // Of nobody else than root and this user.
  for (const std::string &path : {entryPath(key("a")), options.cacheDir}) {
    ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
    asNobody([&] { return !isHit(CacheMode::ReadOnly) && !HasFailure(); });
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  asNobody([&] { return isHit(CacheMode::ReadOnly); });
}

TEST_F(CacheDirectoryTest, AnUnwritableParent) {
  ASSERT_EQ(chmod(root.c_str(), 0555), 0);
  asNobody([&] {
    expectMemoryOnly("cannot create it: Permission denied");
    return !HasFailure();
  });
}

TEST_F(CacheDirectoryTest, AnUnwritableDirectoryIsStillRead) {
  ASSERT_TRUE(get(*open(), key("kept")));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(options.cacheDir.c_str(), 65534, 65534), 0);
    ASSERT_EQ(chown(entryPath(key("kept")).c_str(), 65534, 65534), 0);
    ASSERT_EQ(chmod(root.c_str(), 0755), 0);
  }
  ASSERT_EQ(chmod(options.cacheDir.c_str(), 0500), 0);
  compiles = 0;
  asNobody([&] {
    auto cache = open();
    EXPECT_TRUE(get(*cache, key("new")));
    EXPECT_TRUE(get(*cache, key("newer")));
    EXPECT_TRUE(get(*cache, key("kept")));
    EXPECT_EQ(compiles, 2);
    EXPECT_EQ(warnings.size(), 1u);
    return !HasFailure();
  });
  ASSERT_EQ(chmod(options.cacheDir.c_str(), 0700), 0);
}

TEST_F(CacheDirectoryTest, SymbolicLinksAsEntriesAreReplaced) {
  ASSERT_TRUE(get(*open(), key()));
  std::string target = root + "/planted";
  ASSERT_EQ(rename(entryPath(key()).c_str(), target.c_str()), 0);
  ASSERT_EQ(symlink(target.c_str(), entryPath(key()).c_str()), 0);
  auto cache = open();
  ASSERT_TRUE(get(*cache, key()));
  EXPECT_EQ(compiles, 2);
  EXPECT_EQ(cache->stats().rejected, 1u);
  EXPECT_FALSE(std::filesystem::is_symlink(entryPath(key())));
  EXPECT_TRUE(std::filesystem::exists(target));
}

TEST_F(CacheDirectoryTest, EntriesThatOthersOwnOrMayWriteAreReplaced) {
  ASSERT_TRUE(get(*open(), key()));
  ASSERT_EQ(chmod(entryPath(key()).c_str(), 0666), 0);
  ASSERT_TRUE(get(*open(), key()));
  EXPECT_EQ(compiles, 2);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(entryPath(key()).c_str(), 65534, 65534), 0);
    ASSERT_TRUE(get(*open(), key()));
    EXPECT_EQ(compiles, 3);
  }
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheDirectoryTest, AnEntryWithAnotherNameIsReplaced) {
  ASSERT_TRUE(get(*open(), key("a")));
  std::string other = root + "/other-name";
  ASSERT_EQ(link(entryPath(key("a")).c_str(), other.c_str()), 0);
  auto cache = open();
  ASSERT_TRUE(get(*cache, key("a")));
  EXPECT_EQ(compiles, 2);
  EXPECT_EQ(cache->stats().rejected, 1u);
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(isHit(CacheMode::ReadWrite));
}

TEST_F(CacheDirectoryTest, AFifoDoesNotBlock) {
  ASSERT_EQ(mkdir(options.cacheDir.c_str(), 0700), 0);
  ASSERT_EQ(mkfifo(entryPath(key()).c_str(), 0600), 0);
  ASSERT_TRUE(get(*open(), key()));
  EXPECT_TRUE(std::filesystem::is_regular_file(entryPath(key())));
}

TEST_F(CacheDirectoryTest, ADirectoryAsEntry) {
  ASSERT_EQ(mkdir(options.cacheDir.c_str(), 0700), 0);
  ASSERT_EQ(mkdir(entryPath(key()).c_str(), 0700), 0);
  auto cache = open();
  ASSERT_TRUE(get(*cache, key()));
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(CacheDirectoryTest, RemovedWhileInUse) {
  auto cache = open();
  ASSERT_TRUE(get(*cache, key("a")));
  std::filesystem::remove_all(options.cacheDir);
  ASSERT_TRUE(get(*cache, key("b")));
  EXPECT_EQ(cache->stats().published, 2u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheDirectoryTest, OldTemporariesAreSwept) {
  ASSERT_EQ(mkdir(options.cacheDir.c_str(), 0700), 0);
  std::string old = options.cacheDir + "/.1-2-3.tmp";
  std::vector<std::string> kept = {options.cacheDir + "/.4-5-6.tmp"};
  setAge(old, 25 * 3600);
  setAge(kept[0], 23 * 3600);
  for (const char *foreign : {".tmp", ".1-2.tmp", ".1-2-3-4.tmp", ".1--3.tmp", ".-1-2.tmp",
                              ".1-2-.tmp", "1-2-3.tmp", ".a-2-3.tmp", ".1-2-3.tmq"}) {
    kept.push_back(options.cacheDir + "/" + foreign);
    setAge(kept.back(), 25 * 3600);
  }
  ASSERT_TRUE(get(*open(), key()));
  EXPECT_FALSE(std::filesystem::exists(old));
  for (const std::string &file : kept)
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_TRUE(std::filesystem::exists(entryPath(key())));
}
