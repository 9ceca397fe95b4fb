//===- Subprocess.h - One program, run to its end -------------------------===//
#ifndef SWAGE_SUPPORT_SUBPROCESS_H
#define SWAGE_SUPPORT_SUBPROCESS_H

#include <chrono>
#include <string>
#include <vector>

namespace swage {

struct SubprocessOutcome {
  enum class Kind { Exited, Signalled, TimedOut, NotStarted };
  Kind kind = Kind::NotStarted;
  int code = 0;       ///< exit status, signal, or errno
  double seconds = 0; ///< that it was given
  std::string output; ///< standard output and error, as far as asked for

  bool succeeded() const { return kind == Kind::Exited && code == 0; }
  /// "ended with status 1", ...
  std::string str() const;
};

/// Runs arguments[0], found on PATH unless it has a slash, in `directory` (empty: this one), with
/// no input.  After `limit` it is killed, with all that it has started.  Of what it prints the
/// first `outputLimit` bytes are kept.
SubprocessOutcome runProgram(const std::vector<std::string> &arguments,
                             const std::string &directory, std::chrono::duration<double> limit,
                             size_t outputLimit = 256 << 10);

/// A directory for this user alone, removed with all that is in it.
class TemporaryDirectory {
public:
  /// An empty path where there can be none; `errno` says why.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::string &path() const { return directory; }

private:
  std::string directory;
};

} // namespace swage

#endif // SWAGE_SUPPORT_SUBPROCESS_H
