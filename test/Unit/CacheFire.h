//===- CacheFire.h - A file system that fails, and kernels to tell apart --===//
//
// For the tests that disturb the cache while it works.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_UNIT_CACHEFIRE_H
#define SWAGE_TEST_UNIT_CACHEFIRE_H

#include "CacheTestSupport.h"
#include "FileSystem.h"
#include "swage/Support/Text.h"

#include <cerrno>
#include <csignal>
#include <functional>

/// The real file system, but for the calls that are to fail.
class FaultyFiles : public swage::FileSystem {
public:
  enum Call {
    Open,
    Read,
    Write,
    Sync,
    Close,
    Status,
    StatusAt,
    MakeDirectory,
    Rename,
    Remove,
    Stamp,
    List,
    CallCount
  };
  static const char *callName(Call call) {
    static const char *const names[CallCount] = {"open",   "read",   "write",    "sync",
                                                 "close",  "status", "statusAt", "makeDirectory",
                                                 "rename", "remove", "stamp",    "list"};
    return names[call];
  }

  enum Extent { OneCall, SameCalls, AllCalls };
  static constexpr size_t kNever = ~size_t{0};

  size_t failAt = kNever; ///< position among all calls
  Extent extent = OneCall;
  int error = 0;
  int shortCount = -1;            ///< bytes of a short read or write, instead of an error
  bool happensAllTheSame = false; ///< the call is made, and its failure reported
  std::function<void()> instead;  ///< runs before the call, which then is made

  std::vector<Call> calls; ///< until disarm

  void disarm() {
    armed = false;
    failAt = kNever;
  }

  int open(int directory, const char *path, int flags, mode_t mode) override {
    return fails(Open) ? -1 : FileSystem::open(directory, path, flags, mode);
  }
  ssize_t read(int file, void *bytes, size_t count) override {
    bool failing = fails(Read);
    if (failing && shortCount >= 0)
      return FileSystem::read(file, bytes, std::min(count, size_t(shortCount)));
    return failing ? -1 : FileSystem::read(file, bytes, count);
  }
  ssize_t write(int file, const void *bytes, size_t count) override {
    bool failing = fails(Write);
    if (failing && shortCount >= 0)
      return FileSystem::write(file, bytes, std::min(count, size_t(shortCount)));
    return failing ? -1 : FileSystem::write(file, bytes, count);
  }
  // The machine stays on during these tests.
  int sync(int) override { return fails(Sync) ? -1 : 0; }
  int close(int file) override {
    // The descriptor is free in any case.
    bool failing = fails(Close);
    int result = FileSystem::close(file);
    errno = failing ? error : errno;
    return failing ? -1 : result;
  }
  int status(int file, struct stat &info) override {
    return fails(Status) ? -1 : FileSystem::status(file, info);
  }
  int statusAt(int directory, const char *path, struct stat &info) override {
    return fails(StatusAt) ? -1 : FileSystem::statusAt(directory, path, info);
  }
  int makeDirectory(const char *path, mode_t mode) override {
    return change(MakeDirectory, [&] { return FileSystem::makeDirectory(path, mode); });
  }
  int rename(int directory, const char *from, const char *to) override {
    return change(Rename, [&] { return FileSystem::rename(directory, from, to); });
  }
  int remove(int directory, const char *path) override {
    return change(Remove, [&] { return FileSystem::remove(directory, path); });
  }
  int stamp(int file) override {
    return change(Stamp, [&] { return FileSystem::stamp(file); });
  }
  int list(int directory, std::vector<std::string> &names) override {
    return fails(List) ? -1 : FileSystem::list(directory, names);
  }

private:
  bool fails(Call call) {
    if (!armed)
      return false;
    size_t position = calls.size();
    calls.push_back(call);
    if (position < failAt || (position > failAt && extent == OneCall))
      return false;
    if (position == failAt)
      first = call;
    if (instead) {
      instead();
      return false;
    }
    if (extent == SameCalls && call != first)
      return false;
    errno = error;
    return true;
  }
  template <class Do> int change(Call call, Do makeChange) {
    if (!fails(call))
      return makeChange();
    if (happensAllTheSame)
      makeChange();
    errno = error;
    return -1;
  }

  bool armed = true;
  Call first = Open;
};

class CacheFireTest : public CacheTest {
protected:
  static swage::CacheKey numbered(int which) { return key("kernel " + std::to_string(which)); }
  /// Its bytes tell which it is.
  static swage::KernelBinary kernel(int which, size_t bytes = 300) {
    swage::KernelBinary result = binary(bytes);
    result.image += std::to_string(which);
    return result;
  }
  static bool isRight(const swage::KernelBinary &found, int which, size_t bytes = 300) {
    swage::KernelBinary wanted = kernel(which, bytes);
    return found.image == wanted.image && found.name == wanted.name && found.ptx == wanted.ptx &&
           found.resources.registers == wanted.resources.registers;
  }
  swage::Expected<std::shared_ptr<const swage::KernelBinary>> fetch(swage::KernelCache &cache,
                                                                    int which, size_t bytes = 300) {
    return cache.getOrCompile(numbered(which), [&]() -> swage::Expected<swage::KernelBinary> {
      ++compiles;
      return kernel(which, bytes);
    });
  }
  std::string pathOf(int which) const { return entryPath(numbered(which)); }

public:
  /// For the closing line.
  struct Tally {
    int processes = 0, keys = 0, kills = 0, midway = 0, flips = 0, truncations = 0, faults = 0;
  };
  static Tally tally;
};

#endif // SWAGE_TEST_UNIT_CACHEFIRE_H
