//===- Progress.cpp - A line a second for what takes long -----------------===//

#include "swage/JIT/Progress.h"

#include <chrono>

using namespace swage;

Progress::Progress(Report report, std::string stage)
    : report(std::move(report)), stage(std::move(stage)) {
  if (!this->report)
    return;
  thread = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex);
    while (!wake.wait_for(lock, std::chrono::seconds(1), [this] { return done; }))
      this->report(this->stage);
  });
}

Progress::~Progress() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
  }
  wake.notify_one();
  thread.join();
}

void Progress::update(std::string text) {
  std::lock_guard<std::mutex> lock(mutex);
  stage = std::move(text);
}
