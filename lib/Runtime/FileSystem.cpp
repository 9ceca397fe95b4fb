//===- FileSystem.cpp - The system calls of the kernel cache --------------===//

#include "FileSystem.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

using namespace swage;

FileSystem &FileSystem::real() {
  // Never destroyed: caches may be used while the program exits.
  static FileSystem *files = new FileSystem();
  return *files;
}

int FileSystem::open(int directory, const char *path, int flags, mode_t mode) {
  return ::openat(directory, path, flags, mode);
}

ssize_t FileSystem::read(int file, void *bytes, size_t count) { return ::read(file, bytes, count); }

ssize_t FileSystem::write(int file, const void *bytes, size_t count) {
  return ::write(file, bytes, count);
}

int FileSystem::sync(int file) { return ::fsync(file); }

int FileSystem::close(int file) { return ::close(file); }

int FileSystem::status(int file, struct stat &info) { return ::fstat(file, &info); }

int FileSystem::statusAt(int directory, const char *path, struct stat &info) {
  return ::fstatat(directory, path, &info, AT_SYMLINK_NOFOLLOW);
}

int FileSystem::makeDirectory(const char *path, mode_t mode) { return ::mkdir(path, mode); }

int FileSystem::rename(int directory, const char *from, const char *to) {
  return ::renameat(directory, from, directory, to);
}

int FileSystem::remove(int directory, const char *path) { return ::unlinkat(directory, path, 0); }

int FileSystem::stamp(int file) {
  timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  return ::futimens(file, times);
}

int FileSystem::list(int directory, std::vector<std::string> &names) {
  // A descriptor of its own, for the position in the directory is part of one.
  int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0)
    return -1;
  DIR *stream = ::fdopendir(own);
  if (!stream) {
    int error = errno;
    ::close(own);
    errno = error;
    return -1;
  }
  errno = 0;
  while (dirent *entry = ::readdir(stream)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      names.push_back(entry->d_name);
    errno = 0;
  }
  int error = errno;
  ::closedir(stream);
  errno = error;
  return error == 0 ? 0 : -1;
}
