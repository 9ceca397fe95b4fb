//===- Isolation.h - A check in a process of its own ----------------------===//
//
// What is examined may be broken in ways that end or hang a process: a driver that crashes in its
// initialisation, a library for another machine, a file system that does not answer.  Each group of
// checks therefore runs in a child, and its end, whatever it is, is one more finding.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TOOLS_SWAGE_DOCTOR_ISOLATION_H
#define SWAGE_TOOLS_SWAGE_DOCTOR_ISOLATION_H

#include "Finding.h"

#include <chrono>
#include <functional>

namespace swage::doctor {

/// Where checks put their findings.
class Report {
public:
  explicit Report(int pipe) : pipe(pipe) {}

  void add(const Finding &finding);
  /// What begins now: named if the process does not survive it.
  void step(const std::string &name);

private:
  void send(char kind, const std::string &text);
  int pipe;
};

/// Runs `checks` in a child and gives each finding to `sink` as it comes.  When the child crashes
/// or takes longer than `limit`, a last finding, a problem of `what`, says so and advises `advice`.
void runIsolated(const std::string &what, std::chrono::seconds limit, const std::string &advice,
                 const std::function<void(Report &)> &checks,
                 const std::function<void(Finding)> &sink);

} // namespace swage::doctor

#endif // SWAGE_TOOLS_SWAGE_DOCTOR_ISOLATION_H
