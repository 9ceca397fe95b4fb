//===- Progress.h - A line a second for what takes long -------------------===//
#ifndef SWAGE_JIT_PROGRESS_H
#define SWAGE_JIT_PROGRESS_H

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace swage {

/// Calls `report` with the stage's text each second that the stage lasts; a stage of less than a
/// second is not mentioned.
class Progress {
public:
  using Report = std::function<void(const std::string &)>;

  Progress(Report report, std::string stage);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  void update(std::string stage);

private:
  Report report;
  std::string stage;
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread thread;
};

} // namespace swage

#endif // SWAGE_JIT_PROGRESS_H
