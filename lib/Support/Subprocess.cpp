//===- Subprocess.cpp - One program, run to its end -----------------------===//

#include "swage/Support/Subprocess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

using namespace swage;
using Kind = SubprocessOutcome::Kind;
using Clock = std::chrono::steady_clock;

extern char **environ;

std::string SubprocessOutcome::str() const {
  switch (kind) {
  case Kind::Exited:
    return fmt::format("ended with status {}", code);
  case Kind::Signalled:
    return fmt::format("was killed by signal {} ({})", code, strsignal(code));
  case Kind::TimedOut:
    return fmt::format("was stopped after {} s", seconds);
  case Kind::NotStarted:
    return fmt::format("could not be started: {}", std::strerror(code));
  }
  return "";
}

/// The environment without what changes where compilers look, what they do beyond their options and
/// in which language they complain.
static std::vector<char *> childEnvironment(std::string &temporaries) {
  static char language[] = "LC_ALL=C";
  static const std::string_view dropped[] = {"CPATH=",
                                             "C_INCLUDE_PATH=",
                                             "CPLUS_INCLUDE_PATH=",
                                             "OBJC_INCLUDE_PATH=",
                                             "DEPENDENCIES_OUTPUT=",
                                             "SUNPRO_DEPENDENCIES=",
                                             "GCC_COLORS=",
                                             "GCC_COMPARE_DEBUG=",
                                             "CCC_OVERRIDE_OPTIONS=",
                                             "LD_RUN_PATH=",
                                             "LIBRARY_PATH=",
                                             "LC_ALL=",
                                             "TMPDIR="};
  std::vector<char *> kept;
  for (char **entry = environ; entry && *entry; ++entry) {
    bool drop = false;
    for (std::string_view prefix : dropped)
      drop |= std::string_view(*entry).substr(0, prefix.size()) == prefix;
    if (!drop)
      kept.push_back(*entry);
  }
  kept.push_back(language);
  if (!temporaries.empty())
    kept.push_back(temporaries.data());
  kept.push_back(nullptr);
  return kept;
}

/// Reads until every copy of the pipe's other end is closed; false when the time is up.
static bool readAll(int pipe, Clock::time_point end, size_t limit, std::string &output) {
  char chunk[4096];
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0)
      return false;
    pollfd ready = {pipe, POLLIN, 0};
    int count = poll(&ready, 1, int(std::min<long long>(left, 1 << 30)));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return count != 0;
    ssize_t bytes = read(pipe, chunk, sizeof chunk);
    if (bytes < 0 && errno == EINTR)
      continue;
    if (bytes <= 0)
      return true;
    output.append(chunk, std::min(size_t(bytes), limit - output.size()));
  }
}

SubprocessOutcome swage::runProgram(const std::vector<std::string> &arguments,
                                    const std::string &directory,
                                    std::chrono::duration<double> limit, size_t outputLimit) {
  SubprocessOutcome outcome;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    outcome.code = errno;
    return outcome;
  }
  std::vector<char *> words;
  for (const std::string &argument : arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  std::string temporaries = directory.empty() ? "" : "TMPDIR=" + directory;
  std::vector<char *> environment = childEnvironment(temporaries);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // In this order: the pipe is 0 itself in a program that has closed its input.
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  // A group of its own can be killed whole: drivers of compilers start the compiler proper.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  int failed =
      posix_spawnp(&child, words[0], &actions, &attributes, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (failed) {
    close(ends[0]);
    outcome.code = failed;
    return outcome;
  }

  auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  bool inTime = readAll(ends[0], end, outputLimit, outcome.output);
  close(ends[0]);
  if (!inTime)
    kill(-child, SIGKILL);
  int status = 0;
  pid_t waited;
  do
    waited = waitpid(child, &status, 0);
  while (waited < 0 && errno == EINTR);
  if (!inTime) {
    outcome.kind = Kind::TimedOut;
    outcome.seconds = limit.count();
  } else if (waited < 0) {
    // The process ignores its children's ends; what the program leaves behind tells.
    outcome.kind = Kind::Exited;
  } else if (WIFSIGNALED(status)) {
    outcome.kind = Kind::Signalled;
    outcome.code = WTERMSIG(status);
  } else {
    outcome.kind = Kind::Exited;
    outcome.code = WEXITSTATUS(status);
  }
  return outcome;
}

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error)
    parent = "/tmp";
  std::string pattern = (parent / "swage-XXXXXX").string();
  if (mkdtemp(pattern.data())) // made with mode 0700
    directory = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!directory.empty())
    std::filesystem::remove_all(directory, ignored);
}
