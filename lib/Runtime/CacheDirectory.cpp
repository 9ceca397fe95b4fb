//===- CacheDirectory.cpp - The directory that holds cache entries --------===//
//
// The directory is opened anew for each operation, which costs microseconds and survives its
// deletion; all checks are made on open descriptors, so that nothing can be exchanged between check
// and use.
//
//===----------------------------------------------------------------------===//
#include "CacheDirectory.h"
#include "CacheEntry.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

using namespace swage;

/// No kernel comes near this; a larger file is not an entry.
static constexpr off_t kLargestEntry = off_t{256} << 20;
static constexpr time_t kStaleSeconds = 24 * 3600;
static constexpr time_t kStampSeconds = 3600;
static constexpr std::string_view kTemporarySuffix = ".tmp";

/// A file descriptor.
class CacheDirectory::File {
public:
  File(FileSystem &files, int fd) : files(files), fd(fd) {}
  ~File() {
    if (fd >= 0) {
      int error = errno;
      files.close(fd);
      errno = error;
    }
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return fd >= 0; }
  int get() const { return fd; }
  int release() { return std::exchange(fd, -1); }

private:
  FileSystem &files;
  int fd;
};

static std::string systemMessage() { return std::strerror(errno); }

/// Repeats a call that a signal interrupted; not for ever, should a file system always say so.
template <class Call> static auto retried(Call call) {
  auto result = call();
  for (int i = 0; result < 0 && errno == EINTR && i < 100; ++i)
    result = call();
  return result;
}

static timespec currentTime() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

static bool isOwnFile(const struct stat &info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid();
}

Error CacheDirectory::failed(const std::string &verb, const std::string &reason) const {
  return makeError(Stage::Cache,
                   fmt::format("kernel cache '{}': cannot {}: {}", printable(path), verb, reason));
}

bool CacheDirectory::isTrusted(uid_t user) const {
  return user == geteuid() || (owner == Owner::UserOrRoot && user == 0);
}

/// Who may write to a directory may rename what is in it; where it is sticky, only what is his.
/// The way up is the one that the kernel knows, whatever links the name goes through.  On failure
/// the reason, which is empty when the directory was removed meanwhile.
bool CacheDirectory::checkParents(int directory, std::string &reason) const {
  if (parentsAreSafe)
    return true;
  struct stat below = {}, info;
  for (std::string up = "..";; up += "/..") {
    if (files.statusAt(directory, up.c_str(), info) != 0) {
      reason = errno == ENOENT ? "" : systemMessage();
      return false;
    }
    if ((info.st_mode & S_IWOTH) && !(info.st_mode & S_ISVTX)) {
      reason = fmt::format("anybody may write to '{}/{}' (mode {:04o}; needed: a sticky bit, or no "
                           "right to write for others)",
                           printable(path), up, info.st_mode & 07777);
      return false;
    }
    // The parent of the root is the root.
    if (info.st_ino == below.st_ino && info.st_dev == below.st_dev)
      break;
    below = info;
  }
  parentsAreSafe = true;
  return true;
}

/// Opens the directory and checks that it is safe to read code from; on failure the reason, which
/// is empty when there is no such directory.
int CacheDirectory::openChecked(std::string &reason) const {
  File directory(files, retried([&] {
                   return files.open(AT_FDCWD, path.c_str(),
                                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
                 }));
  if (!directory) {
    if (errno == ELOOP || errno == ENOTDIR)
      reason = "it is a symbolic link or not a directory";
    else if (errno != ENOENT)
      reason = systemMessage();
    return -1;
  }
  struct stat info;
  if (files.status(directory.get(), info) != 0)
    reason = systemMessage();
  else if (!isTrusted(info.st_uid))
    reason = fmt::format("it belongs to user {}, not to user {}", info.st_uid, geteuid());
  else if (info.st_mode & (S_IWGRP | S_IWOTH))
    reason =
        fmt::format("others may write to it (mode {:04o}; needed: 0700)", info.st_mode & 07777);
  else if (checkParents(directory.get(), reason))
    return directory.release();
  return -1;
}

/// mkdir -p with mode 0700 for what is created.
bool CacheDirectory::createDirectories() const {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string prefix = path.substr(0, slash);
    if (retried([&] { return files.makeDirectory(prefix.c_str(), 0700); }) != 0 &&
        errno != EEXIST) {
      // On a read-only file system EROFS comes before EEXIST.
      struct stat info;
      int error = errno;
      if (files.statusAt(AT_FDCWD, prefix.c_str(), info) != 0) {
        errno = error;
        return false;
      }
    }
    if (slash == std::string::npos)
      return true;
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

CacheDirectory::ReadOutcome CacheDirectory::read(const std::string &file, std::string &bytes,
                                                 std::string &reason, bool stamp) const {
  File directory(files, openChecked(reason));
  if (!directory)
    return reason.empty() ? ReadOutcome::Absent : ReadOutcome::Unusable;
  auto refused = [&](std::string why) {
    reason = std::move(why);
    return ReadOutcome::Refused;
  };
  // Non-blocking, so that a FIFO cannot hold us.
  File entry(files, retried([&] {
               return files.open(directory.get(), file.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
             }));
  if (!entry)
    return errno == ENOENT ? ReadOutcome::Absent
                           : refused(errno == ELOOP ? "it is a symbolic link" : systemMessage());
  struct stat info;
  if (files.status(entry.get(), info) != 0)
    return refused(systemMessage());
  if (!S_ISREG(info.st_mode) || !isTrusted(info.st_uid) || (info.st_mode & (S_IWGRP | S_IWOTH)))
    return refused("it is not a file that belongs to this user and that no other may write");
  // A file of ours that somebody else gave this name.  One that was just replaced has no name.
  if (info.st_nlink > 1)
    return refused(fmt::format("it has {} names; needed: 1", info.st_nlink));
  if (info.st_size > kLargestEntry)
    return refused(fmt::format("it has {} bytes", info.st_size));
  bytes.resize(size_t(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count =
        retried([&] { return files.read(entry.get(), bytes.data() + done, bytes.size() - done); });
    if (count <= 0)
      return refused(count < 0 ? systemMessage() : "it became shorter");
    done += size_t(count);
  }
  // A stamp of the future is wrong as well.
  time_t age = currentTime().tv_sec - info.st_mtime;
  if (stamp && (age > kStampSeconds || age < -kStampSeconds))
    (void)files.stamp(entry.get());
  return ReadOutcome::Found;
}

//===----------------------------------------------------------------------===//
// Publishing
//===----------------------------------------------------------------------===//

bool CacheDirectory::writeAll(int file, std::string_view bytes) const {
  while (!bytes.empty()) {
    errno = 0;
    ssize_t count = retried([&] { return files.write(file, bytes.data(), bytes.size()); });
    if (count <= 0)
      return false;
    bytes.remove_prefix(size_t(count));
  }
  return true;
}

/// Another name on each call, in all processes of this host; O_EXCL sees to those of other hosts.
static std::string temporaryName() {
  static std::atomic<unsigned> counter{0};
  return fmt::format(".{}-{}-{}{}", getpid(), counter.fetch_add(1), currentTime().tv_nsec,
                     kTemporarySuffix);
}

/// ".123-4-567890.tmp"
static bool isTemporaryName(std::string_view name) {
  if (name.size() <= 1 + kTemporarySuffix.size() || name.front() != '.' ||
      name.substr(name.size() - kTemporarySuffix.size()) != kTemporarySuffix)
    return false;
  name = name.substr(1, name.size() - 1 - kTemporarySuffix.size());
  int dashes = 0;
  char before = '-';
  for (char c : name) {
    if (c == '-' ? before == '-' || ++dashes > 2 : c < '0' || c > '9')
      return false;
    before = c;
  }
  return dashes == 2 && before != '-';
}

CacheDirectory::Failure CacheDirectory::tryPublish(const std::string &file,
                                                   std::string_view bytes) const {
  // What vanished did so because another process removed it.
  auto systemFailure = [](const char *verb) {
    return Failure{verb, systemMessage(), errno == ENOENT || errno == ESTALE || errno == EEXIST};
  };
  if (!createDirectories())
    return systemFailure("create it");
  std::string reason;
  File directory(files, openChecked(reason));
  if (!directory)
    return Failure{"use it", reason.empty() ? "it has just been removed" : reason, reason.empty()};

  std::string temporary = temporaryName();
  File output(files, retried([&] {
                return files.open(directory.get(), temporary.c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
              }));
  if (!output)
    return systemFailure("create a file in it");
  auto written = [&] {
    if (!writeAll(output.get(), bytes))
      return false;
    // A rename without fsync may, after a crash, leave the name with no content.  Some file systems
    // have none, which they say by EINVAL.
    if (retried([&] { return files.sync(output.get()); }) != 0 && errno != EINVAL)
      return false;
    // Network file systems report here what they could not write.  An interrupted close is one, and
    // may not be repeated.
    if (files.close(output.release()) != 0 && errno != EINTR)
      return false;
    return retried(
               [&] { return files.rename(directory.get(), temporary.c_str(), file.c_str()); }) == 0;
  };
  if (written())
    return {};
  Failure failure = systemFailure("write to it");
  (void)retried([&] { return files.remove(directory.get(), temporary.c_str()); });
  return failure;
}

Status CacheDirectory::publish(const std::string &file, std::string_view bytes) const {
  struct stat info;
  if (!base.empty()) {
    // The link itself may be root's, as /home is on some systems; what counts is where it leads.
    File opened(files, retried([&] {
                  return files.open(AT_FDCWD, base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
                }));
    if (opened && files.status(opened.get(), info) == 0 && info.st_uid != geteuid())
      return failed("use it", fmt::format("'{}' belongs to user {}, not to user {}",
                                          printable(base), info.st_uid, geteuid()));
  }
  Failure failure;
  for (int attempt = 0; attempt < 3; ++attempt) {
    failure = tryPublish(file, bytes);
    if (!failure.verb)
      return {};
    if (!failure.again)
      break;
  }
  return failed(failure.verb, failure.reason);
}

//===----------------------------------------------------------------------===//
// Upkeep
//===----------------------------------------------------------------------===//

static bool operator<(const timespec &a, const timespec &b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

bool CacheDirectory::scan(int directory, std::vector<CacheFile> &entries, bool sweep) const {
  std::vector<std::string> names;
  if (retried([&] {
        names.clear();
        return files.list(directory, names);
      }) != 0)
    return false;
  timespec now = currentTime();
  for (std::string &name : names) {
    bool isTemporary = sweep && isTemporaryName(name);
    struct stat info;
    if ((!isTemporary && !isEntryFileName(name)) ||
        files.statusAt(directory, name.c_str(), info) != 0 || !isOwnFile(info))
      continue;
    if (!isTemporary)
      // Nothing was used in the future, whatever the clock once said.
      entries.push_back(
          {std::move(name), uint64_t(info.st_size), now < info.st_mtim ? now : info.st_mtim});
    else if (now.tv_sec - info.st_mtime > kStaleSeconds)
      (void)files.remove(directory, name.c_str());
  }
  std::sort(entries.begin(), entries.end(), [](const CacheFile &a, const CacheFile &b) {
    if (a.used < b.used || b.used < a.used)
      return a.used < b.used;
    return a.name < b.name;
  });
  return true;
}

Expected<std::vector<CacheFile>> CacheDirectory::list() const {
  std::vector<CacheFile> entries;
  std::string reason;
  File directory(files, openChecked(reason));
  if (!directory)
    return reason.empty() ? Expected<std::vector<CacheFile>>(entries) : failed("use it", reason);
  if (!scan(directory.get(), entries, /*sweep=*/false))
    return failed("list it", systemMessage());
  return entries;
}

bool CacheDirectory::removeEntry(int directory, const CacheFile &file) const {
  {
    File entry(files, retried([&] {
                 return files.open(directory, file.name.c_str(),
                                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
               }));
    if (!entry)
      return errno == ENOENT;
    struct stat info;
    char magic[kEntryMagic.size()];
    if (files.status(entry.get(), info) != 0 || !isOwnFile(info) ||
        (file.used < info.st_mtim && !(currentTime() < info.st_mtim)) ||
        retried([&] { return files.read(entry.get(), magic, sizeof magic); }) !=
            ssize_t(sizeof magic) ||
        std::string_view(magic, sizeof magic) != kEntryMagic)
      return false;
  }
  return retried([&] { return files.remove(directory, file.name.c_str()); }) == 0 ||
         errno == ENOENT;
}

Expected<bool> CacheDirectory::remove(const CacheFile &file) const {
  std::string reason;
  File directory(files, openChecked(reason));
  if (!directory)
    return reason.empty() ? Expected<bool>(true) : failed("use it", reason);
  return removeEntry(directory.get(), file);
}

Expected<CacheDirectory::Upkeep> CacheDirectory::tidy(uint64_t limit,
                                                      const std::string &keep) const {
  Upkeep upkeep;
  std::string reason;
  File directory(files, openChecked(reason));
  if (!directory)
    return reason.empty() ? Expected<Upkeep>(upkeep) : failed("use it", reason);
  std::vector<CacheFile> entries;
  if (!scan(directory.get(), entries, /*sweep=*/true))
    return errno == ENOENT ? Expected<Upkeep>(upkeep) : failed("list it", systemMessage());
  for (const CacheFile &entry : entries)
    upkeep.total += entry.bytes;
  if (limit == 0 || upkeep.total <= limit)
    return upkeep;
  // To the limit would mean to evict again for each kernel that comes.
  uint64_t target = limit - limit / 5;
  for (const CacheFile &entry : entries) {
    if (upkeep.total <= target)
      break;
    if (entry.name == keep || !removeEntry(directory.get(), entry))
      continue;
    upkeep.total -= entry.bytes;
    ++upkeep.evicted;
  }
  return upkeep;
}
