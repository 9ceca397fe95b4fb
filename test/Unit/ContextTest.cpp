//===- ContextTest.cpp - Threads, counters, forks -------------------------===//

#include "FakeProgram.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <gtest/gtest.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace swage;
using namespace swage::test;

TEST(Context, RunsAllTasksOnItsThreadsAndTheCallers) {
  RecordingContext recording;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> together{0}, most{0}, ran{0};
  std::vector<std::function<void()>> tasks(64, [&] {
    int now = ++together;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --together;
    ++ran;
    std::lock_guard<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  recording.context.runAll(tasks);
  EXPECT_EQ(ran, 64);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 1u);
  EXPECT_LE(threads.size(), 4u);
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 4);
  recording.context.runAll({});
}

TEST(Context, TasksMayRunTasks) {
  RecordingContext recording;
  std::atomic<int> ran{0};
  std::vector<std::function<void()>> inner(5, [&] { ++ran; });
  std::vector<std::function<void()>> outer(20, [&] { recording.context.runAll(inner); });
  recording.context.runAll(outer, Urgency::WarmUp);
  EXPECT_EQ(ran, 100);
}

TEST(Context, OneThreadIsTheCallers) {
  ContextOptions options;
  options.environment.cacheMode = CacheMode::Off;
  options.compileThreads = 1;
  Context context(options);
  std::set<std::thread::id> threads;
  context.runAll(
      std::vector<std::function<void()>>(10, [&] { threads.insert(std::this_thread::get_id()); }));
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(Context, WhoWaitsComesBeforeAWarmUp) {
  RecordingContext recording;
  std::mutex mutex;
  std::condition_variable changed;
  int warm = 0;
  bool blocking = false;
  // All threads of the pool are in a warm-up with many tasks left; what is asked for then must not
  // come after all of them.
  std::vector<std::function<void()>> slow(200, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::lock_guard<std::mutex> lock(mutex);
    ++warm;
    changed.notify_all();
  });
  std::thread warming([&] { recording.context.runAll(slow, Urgency::WarmUp); });
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return warm > 4; });
  }
  std::atomic<int> elsewhere{0};
  auto self = std::this_thread::get_id();
  recording.context.runAll(std::vector<std::function<void()>>(40, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    elsewhere += std::this_thread::get_id() != self;
  }));
  {
    std::lock_guard<std::mutex> lock(mutex);
    blocking = warm < 200;
  }
  EXPECT_TRUE(blocking) << "the warm-up was done first";
  EXPECT_GT(elsewhere, 0) << "no thread of the pool left the warm-up";
  warming.join();
}

TEST(Context, EventsAreCounted) {
  RecordingContext recording;
  TraceEvent event;
  event.kind = TraceEvent::Kind::Compile;
  event.end = event.begin + std::chrono::milliseconds(3);
  recording.context.report(event);
  recording.context.report(event);
  event.kind = TraceEvent::Kind::Load;
  recording.context.report(event);
  ContextStats stats = recording.context.stats();
  EXPECT_EQ(stats.kernelsCompiled, 2u);
  EXPECT_NEAR(stats.compileMilliseconds, 6, 1e-6);
  EXPECT_EQ(stats.kernelsLoaded, 1u);
  EXPECT_NEAR(stats.loadMilliseconds, 3, 1e-6);
  EXPECT_EQ(stats.plans, 0u);
  EXPECT_EQ(recording.events.size(), 3u);
}

/// The exit code of a child that was forked and ran `body`; -1 if it had to be killed.
static int inChild(const std::function<int()> &body) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0)
    _exit(body());
  for (int waited = 0; waited < 200; ++waited) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

TEST(Context, DoesNotSurviveAFork) {
  RecordingContext recording;
  recording.context.runAll(std::vector<std::function<void()>>(8, [] {}));
  ASSERT_TRUE(recording.context.checkProcess());
  // A thread of this process is in the pool, with work waiting, while the child is made.
  std::atomic<bool> stop{false}, running{false};
  std::thread busy([&] {
    recording.context.runAll(std::vector<std::function<void()>>(4, [&] {
      running = true;
      while (!stop)
        std::this_thread::yield();
    }));
  });
  while (!running)
    std::this_thread::yield();
  int code = inChild([&] {
    Status own = recording.context.checkProcess();
    if (own || own.error().stage != Stage::Input ||
        own.error().message.find("forked") == std::string::npos)
      return 1;
    ContextOptions options;
    options.environment.cacheMode = CacheMode::Off;
    Context fresh(options); // a new one works
    std::atomic<int> ran{0};
    fresh.runAll(std::vector<std::function<void()>>(8, [&] { ++ran; }));
    if (!fresh.checkProcess() || ran != 8)
      return 2;
    // Destroying the parent's waits for nobody.
    recording.context = fresh;
    return 0;
  });
  stop = true;
  busy.join();
  EXPECT_EQ(code, 0);
}
