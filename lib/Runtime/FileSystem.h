//===- FileSystem.h - The system calls of the kernel cache ----------------===//
//
// Every call that the cache makes on files goes through here, so that a test can make each of them
// fail in each way that its manual page lists.  Private to lib/Runtime and swage-cache.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_FILESYSTEM_H
#define SWAGE_LIB_RUNTIME_FILESYSTEM_H

#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <vector>

namespace swage {

/// Results are those of POSIX: -1 and errno.  `directory` is a descriptor, or AT_FDCWD.
class FileSystem {
public:
  virtual ~FileSystem() = default;

  virtual int open(int directory, const char *path, int flags, mode_t mode);
  virtual ssize_t read(int file, void *bytes, size_t count);
  virtual ssize_t write(int file, const void *bytes, size_t count);
  virtual int sync(int file);
  virtual int close(int file);
  virtual int status(int file, struct stat &info);
  /// Of what the name stands for, a link included.
  virtual int statusAt(int directory, const char *path, struct stat &info);
  virtual int makeDirectory(const char *path, mode_t mode);
  virtual int rename(int directory, const char *from, const char *to);
  virtual int remove(int directory, const char *path);
  /// Sets the modification time to now.
  virtual int stamp(int file);
  /// The names in a directory, "." and ".." apart, in no order.
  virtual int list(int directory, std::vector<std::string> &names);

  static FileSystem &real();
};

} // namespace swage

#endif // SWAGE_LIB_RUNTIME_FILESYSTEM_H
