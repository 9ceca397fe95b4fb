//===- Isolation.cpp - A check in a process of its own --------------------===//

#include "Isolation.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace swage;
using namespace swage::doctor;
using Clock = std::chrono::steady_clock;

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

void Report::send(char kind, const std::string &text) {
  std::string record = kind + text + '\0';
  for (size_t done = 0; done < record.size();) {
    ssize_t count = write(pipe, record.data() + done, record.size() - done);
    if (count < 0 && errno != EINTR)
      return;
    done += count > 0 ? size_t(count) : 0;
  }
}

void Report::add(const Finding &finding) { send('F', finding.serialize()); }
void Report::step(const std::string &name) { send('S', name); }

[[noreturn]] static void runChild(int pipe, pid_t parent,
                                  const std::function<void(Report &)> &checks) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  Report report(pipe);
  try {
    checks(report);
  } catch (const std::exception &) {
    abort();
  }
  // Nothing of the parent's is flushed or torn down twice.
  _exit(0);
}

//===----------------------------------------------------------------------===//
// The parent
//===----------------------------------------------------------------------===//

/// How the child ended; nothing if it went well.
static std::string endOf(pid_t child) {
  int status = 0;
  // A process that waits for a device in the kernel does not even end when killed.
  for (int tries = 0; tries < 50; ++tries) {
    pid_t waited = waitpid(child, &status, WNOHANG);
    if (waited == child) {
      if (WIFSIGNALED(status))
        return fmt::format("crashed ({})", strsignal(WTERMSIG(status)));
      if (WEXITSTATUS(status) != 0)
        return fmt::format("ended the process with status {}", WEXITSTATUS(status));
      return "";
    }
    if (waited < 0 && errno != EINTR)
      return "";
    usleep(100'000 / (tries < 10 ? 20 : 1));
  }
  return "cannot be ended";
}

/// Takes the complete records from the front of `bytes`.
static void takeRecords(std::string &bytes, std::string &step,
                        const std::function<void(Finding)> &sink) {
  for (size_t end; (end = bytes.find('\0')) != std::string::npos; bytes.erase(0, end + 1)) {
    std::string record = bytes.substr(0, end);
    if (record.substr(0, 1) == "S")
      step = record.substr(1);
    else if (auto finding = Finding::parse(std::string_view(record).substr(1)))
      sink(std::move(*finding));
  }
}

void doctor::runIsolated(const std::string &what, std::chrono::seconds limit,
                         const std::string &advice, const std::function<void(Report &)> &checks,
                         const std::function<void(Finding)> &sink) {
  std::fflush(nullptr);
  int ends[2];
  pid_t parent = getpid();
  pid_t child = pipe(ends) == 0 ? fork() : -1;
  if (child < 0)
    return sink({Level::Problem, what,
                 fmt::format("cannot start a process to look at it: {}", std::strerror(errno)),
                 "raise the limits of processes and open files (ulimit -u, ulimit -n)"});
  if (child == 0) {
    close(ends[0]);
    runChild(ends[1], parent, checks);
  }
  close(ends[1]);

  std::string bytes, step;
  bool inTime = false;
  for (auto deadline = Clock::now() + limit; !inTime;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd wait = {ends[0], POLLIN, 0};
    int ready = left.count() > 0 ? poll(&wait, 1, int(left.count())) : 0;
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      break;
    char block[4096];
    ssize_t count = read(ends[0], block, sizeof block);
    if (count > 0)
      bytes.append(block, size_t(count));
    else if (count == 0 || errno != EINTR)
      inTime = true;
    takeRecords(bytes, step, sink);
  }
  close(ends[0]);
  if (!inTime)
    kill(child, SIGKILL);
  std::string end = endOf(child);
  if (!inTime)
    end = fmt::format("did not answer within {} s", limit.count());
  if (!end.empty())
    sink({Level::Problem, what, fmt::format("{} {}", step.empty() ? "it" : step, end), advice});
}
