//===- CacheDirectory.cpp - The directory that holds cache entries --------===//
//
// The directory is opened anew for each operation, which costs microseconds and survives its
// deletion; all checks are made on open descriptors, so that nothing can be exchanged between check
// and use.
//
//===----------------------------------------------------------------------===//
#include "CacheDirectory.h"
#include "swage/Support/Text.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace swage;

/// No kernel comes near this; a larger file is not an entry.
static constexpr off_t kLargestEntry = off_t{256} << 20;
static constexpr time_t kStaleSeconds = 3600;
static constexpr std::string_view kTemporarySuffix = ".tmp";

namespace {
/// A file descriptor.
class File {
public:
  explicit File(int fd) : fd(fd) {}
  ~File() {
    if (fd >= 0)
      ::close(fd);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  explicit operator bool() const { return fd >= 0; }
  int get() const { return fd; }
  int release() { return std::exchange(fd, -1); }

private:
  int fd;
};
} // namespace

static std::string systemMessage() { return std::strerror(errno); }

/// Opens the directory and checks that it is safe to read code from; on failure the reason, which
/// is empty when there is no such directory.
static int openChecked(const std::string &path, std::string &reason) {
  File directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    if (errno == ELOOP || errno == ENOTDIR)
      reason = "it is a symbolic link or not a directory";
    else if (errno != ENOENT)
      reason = systemMessage();
    return -1;
  }
  struct stat info;
  if (fstat(directory.get(), &info) != 0)
    reason = systemMessage();
  else if (info.st_uid != geteuid())
    reason = fmt::format("it belongs to user {}, not to user {}", info.st_uid, geteuid());
  else if (info.st_mode & (S_IWGRP | S_IWOTH))
    reason =
        fmt::format("others may write to it (mode {:04o}; needed: 0700)", info.st_mode & 07777);
  return reason.empty() ? directory.release() : -1;
}

/// mkdir -p with mode 0700 for what is created.
static bool createDirectories(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string prefix = path.substr(0, slash);
    if (::mkdir(prefix.c_str(), 0700) != 0 && errno != EEXIST) {
      // On a read-only file system EROFS comes before EEXIST.
      struct stat info;
      int error = errno;
      if (::stat(prefix.c_str(), &info) != 0) {
        errno = error;
        return false;
      }
    }
    if (slash == std::string::npos)
      return true;
  }
}

CacheDirectory::ReadOutcome CacheDirectory::read(const std::string &file, std::string &bytes,
                                                 std::string &reason) const {
  File directory(openChecked(path, reason));
  if (!directory)
    return reason.empty() ? ReadOutcome::Absent : ReadOutcome::Unusable;
  // Non-blocking, so that a FIFO cannot hold us.
  File entry(openat(directory.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!entry)
    return errno == ENOENT ? ReadOutcome::Absent : ReadOutcome::Refused;
  struct stat info;
  if (fstat(entry.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) || info.st_size > kLargestEntry)
    return ReadOutcome::Refused;
  bytes.resize(size_t(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = ::read(entry.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return ReadOutcome::Refused;
    done += size_t(count);
  }
  return ReadOutcome::Found;
}

static bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes.remove_prefix(size_t(count));
  }
  return true;
}

/// Another name on each call, in all processes of this host; O_EXCL sees to those of other hosts.
static std::string temporaryName() {
  static std::atomic<unsigned> counter{0};
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format(".{}-{}-{}{}", getpid(), counter.fetch_add(1), now.tv_nsec, kTemporarySuffix);
}

Status CacheDirectory::publish(const std::string &file, std::string_view bytes) const {
  auto failed = [&](const std::string &verb, const std::string &reason) {
    return makeError(Stage::Cache, fmt::format("kernel cache '{}': cannot {}: {}", printable(path),
                                               verb, reason));
  };
  struct stat info;
  if (!base.empty() && ::stat(base.c_str(), &info) == 0 && info.st_uid != geteuid())
    return failed("use it", fmt::format("'{}' belongs to user {}, not to user {}", printable(base),
                                        info.st_uid, geteuid()));
  if (!createDirectories(path))
    return failed("create it", systemMessage());
  std::string reason;
  File directory(openChecked(path, reason));
  if (!directory)
    return failed("use it", reason.empty() ? "it has just been removed" : reason);

  std::string temporary = temporaryName();
  File output(openat(directory.get(), temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!output)
    return failed("create a file in it", systemMessage());
  // A rename without fsync may, after a crash, leave the name with no content.
  bool written = writeAll(output.get(), bytes) && fsync(output.get()) == 0 &&
                 ::close(output.release()) == 0 &&
                 renameat(directory.get(), temporary.c_str(), directory.get(), file.c_str()) == 0;
  if (!written) {
    Error error = failed("write to it", systemMessage());
    unlinkat(directory.get(), temporary.c_str(), 0);
    return error;
  }
  return {};
}

void CacheDirectory::sweep() const {
  std::string reason;
  File directory(openChecked(path, reason));
  if (!directory)
    return;
  int fd = directory.get();
  DIR *stream = fdopendir(dup(fd));
  if (!stream)
    return;
  time_t now = time(nullptr);
  while (dirent *entry = readdir(stream)) {
    std::string_view name = entry->d_name;
    if (name.size() < kTemporarySuffix.size() ||
        name.substr(name.size() - kTemporarySuffix.size()) != kTemporarySuffix)
      continue;
    struct stat info;
    if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
        now - info.st_mtime > kStaleSeconds)
      unlinkat(fd, entry->d_name, 0);
  }
  closedir(stream);
}
