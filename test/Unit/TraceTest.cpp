//===- TraceTest.cpp - Events in files, on stderr and for profilers -------===//

#include "swage/Runtime/Trace.h"
#include "swage/Support/Text.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace swage;
using std::chrono::milliseconds;

namespace {
class TraceTest : public testing::Test {
protected:
  void SetUp() override { std::filesystem::remove(path); }
  void TearDown() override { std::filesystem::remove(path); }

  std::string text() const {
    auto bytes = readFile(path);
    return bytes ? *bytes : std::string();
  }
  /// Runs `body` in a child and returns its wait status.
  template <class Body> int inChild(Body body) {
    pid_t child = fork();
    if (child == 0) {
      body();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  const std::string path = testing::TempDir() + "swage-trace-" + std::to_string(getpid()) + ".json";
};
} // namespace

static TraceEvent eventOf(TraceEvent::Kind kind, const std::string &name, milliseconds length) {
  TraceEvent event;
  event.kind = kind;
  event.name = name;
  event.begin = std::chrono::steady_clock::time_point(std::chrono::seconds(5));
  event.end = event.begin + length;
  event.thread = 3;
  return event;
}

static TraceEvent compileOf(const std::string &name, milliseconds length = milliseconds(10)) {
  return eventOf(TraceEvent::Kind::Compile, name, length);
}

/// What Python reads, one name a line; empty where it is no JSON.
static std::string namesOf(const std::string &path) {
  std::string command = "python3 -c \"import json,sys\nfor e in json.load(open(sys.argv[1])): "
                        "print(e['name'])\" '" +
                        path + "' 2>/dev/null";
  std::string names;
  if (FILE *pipe = popen(command.c_str(), "r")) {
    char part[256];
    while (size_t count = fread(part, 1, sizeof part, pipe))
      names.append(part, count);
    pclose(pipe);
  }
  return names;
}

TEST_F(TraceTest, AFinishedFileIsJson) {
  {
    EventSink sink = traceFileSink(path);
    TraceEvent event = compileOf("row_\"1\"\n\xff", milliseconds(2));
    event.detail = "sm_90a";
    event.reason = "back\\slash";
    sink(event);
    sink(eventOf(TraceEvent::Kind::Plan, "main", milliseconds(0)));
  }
  std::string json = text();
  EXPECT_NE(json.find(R"("cat":"compile")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("tid":3,"ts":5000000.000,"ph":"X","dur":2000.000)"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("args":{"detail":"sm_90a","reason":"back\\slash"})"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("ph":"i")"), std::string::npos) << json;
  EXPECT_EQ(json.substr(json.size() - 4), "}\n]\n");
  if (system("python3 -c 1 2>/dev/null") == 0) {
    EXPECT_EQ(namesOf(path), "process_name\nrow_\"1\"\\x0a\\xff\nmain\n");
  }
}

TEST_F(TraceTest, WhatWasDoneBeforeAKillIsThere) {
  int status = inChild([&] {
    EventSink sink = traceFileSink(path);
    sink(compileOf("first"));
    sink(compileOf("second"));
    raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  std::string json = text();
  EXPECT_EQ(json.front(), '[');
  EXPECT_NE(json.find("second"), std::string::npos) << json;
  EXPECT_EQ(json.back(), '}');
}

TEST_F(TraceTest, AnExitFinishesWhatStillLives) {
  int status = inChild([&] {
    auto *leaked = new EventSink(traceFileSink(path));
    (*leaked)(compileOf("kept"));
    std::exit(0);
  });
  EXPECT_EQ(status, 0);
  std::string json = text();
  ASSERT_GT(json.size(), 3u);
  EXPECT_EQ(json.substr(json.size() - 3), "\n]\n");
}

TEST_F(TraceTest, SinksOfOneFileShareItAndThreadsDoNotMix) {
  {
    EventSink first = traceFileSink(path), second = traceFileSink(path);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        for (int k = 0; k < 100; ++k)
          (i % 2 ? first : second)(compileOf(std::string(50, char('a' + i))));
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  std::string json = text();
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 803);
  if (system("python3 -c 1 2>/dev/null") == 0) {
    EXPECT_FALSE(namesOf(path).empty());
  }
}

TEST_F(TraceTest, AChildLeavesTheFileAlone) {
  {
    EventSink sink = traceFileSink(path);
    sink(compileOf("parent"));
    inChild([&] {
      sink(compileOf("child"));
      std::exit(0);
    });
    sink(compileOf("later"));
  }
  EXPECT_EQ(text().find("child"), std::string::npos) << text();
  EXPECT_NE(text().find("later"), std::string::npos) << text();
  EXPECT_EQ(text().find("]"), text().size() - 2) << text();
}

TEST_F(TraceTest, TheProcessIsInTheName) {
  std::string pattern = testing::TempDir() + "swage-trace-%p.json";
  traceFileSink(pattern)(compileOf("x"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(TraceTest, WhatCannotBeWrittenCostsOneWarning) {
  std::vector<std::string> warnings;
  auto warn = [&](const std::string &line) { warnings.push_back(line); };
  for (std::string bad :
       {std::string("/nonexistent/trace.json"), std::string("/dev/full"), testing::TempDir()}) {
    EventSink sink = traceFileSink(bad, warn);
    sink(compileOf("a"));
    sink(compileOf("b"));
    ASSERT_EQ(warnings.size(), 1u) << bad;
    EXPECT_NE(warnings[0].find("cannot write the trace into '" + bad), std::string::npos)
        << warnings[0];
    warnings.clear();
  }
  // A FIFO that nobody reads.
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  traceFileSink(path, warn)(compileOf("a"));
  EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(TraceTest, AFullDiskLeavesWholeEvents) {
  int status = inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int warnings = 0;
    auto *sink = new EventSink(traceFileSink(path, [&](const std::string &) { ++warnings; }));
    for (int i = 0; i < 50; ++i)
      (*sink)(compileOf("kernel"));
    _exit(warnings == 1 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  ASSERT_FALSE(text().empty());
  EXPECT_EQ(text().back(), '}');
}

TEST(Notices, LongCompilesAreTold) {
  std::vector<std::string> lines;
  EventSink sink =
      noticeSink("/the/cache", [&](const std::string &line) { lines.push_back(line); });
  sink(compileOf("quick", milliseconds(900)));
  sink(eventOf(TraceEvent::Kind::Lower, "main", milliseconds(5000)));
  EXPECT_TRUE(lines.empty());
  TraceEvent slow = compileOf("row_1", milliseconds(2340));
  slow.reason = "input 0 is aligned to 4 bytes";
  sink(slow);
  sink(compileOf("row_2", milliseconds(1100)));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "compiling kernel row_1 took 2.3 s (input 0 is aligned to 4 bytes); warmup "
                      "compiles ahead of the first call, and the next process finds it in "
                      "'/the/cache' (SWAGE_NOTICES=off: no such lines)");
  EXPECT_EQ(lines[1], "compiling kernel row_2 took 1.1 s");
}

TEST(Notices, ManyCompilesInARowAreToldOnce) {
  std::vector<std::string> lines;
  EventSink sink = noticeSink("", [&](const std::string &line) { lines.push_back(line); });
  for (int i = 0; i < 8; ++i)
    sink(compileOf("a"));
  sink(eventOf(TraceEvent::Kind::CacheHit, "a", milliseconds(0)));
  for (int i = 0; i < 8; ++i)
    sink(compileOf("a"));
  EXPECT_TRUE(lines.empty());
  for (int i = 0; i < 30; ++i)
    sink(compileOf("a", milliseconds(100)));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("9 kernels in a row had to be compiled, for 0.2 s in all; "), 0u)
      << lines[0];
  EXPECT_NE(lines[0].find("SWAGE_CACHE_DIR"), std::string::npos) << lines[0];
}

TEST(EnvironmentSink, FollowsOptionsAndHost) {
  ContextOptions options;
  options.environment = Options();
  EXPECT_TRUE(environmentSink(options)); // notices
  options.events = [](const TraceEvent &) {};
  EXPECT_FALSE(environmentSink(options));
  options.events = nullptr;
  options.environment.notices = false;
  EXPECT_FALSE(environmentSink(options));
  options.environment.traceFile = "/nonexistent/trace.json";
  testing::internal::CaptureStderr();
  EXPECT_TRUE(environmentSink(options));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("swage: cannot write the trace"),
            std::string::npos);
}

TEST(EnvironmentSink, WarningsAreSaidOnce) {
  ContextOptions options;
  options.environment = Options();
  options.environment.warnings = {"SWAGE_TEST='x' cannot be used"};
  testing::internal::CaptureStderr();
  environmentSink(options);
  environmentSink(options);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "swage: warning: SWAGE_TEST='x' cannot be used\n");
}

TEST(TraceSpan, ReportsWhenItEnds) {
  std::vector<TraceEvent> events;
  ContextOptions options;
  options.environment = Options();
  options.compileThreads = 1;
  options.events = [&](const TraceEvent &event) { events.push_back(event); };
  Context context(options);
  {
    TraceSpan span(context, TraceEvent::Kind::Load, "row_1", "sm_90a");
    span.event.reason = "first use";
    EXPECT_TRUE(events.empty());
    TraceSpan failed(context, TraceEvent::Kind::Load, "row_2");
    failed.cancel();
  }
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "row_1");
  EXPECT_EQ(events[0].detail, "sm_90a");
  EXPECT_EQ(events[0].reason, "first use");
  EXPECT_GE(events[0].end, events[0].begin);
  EXPECT_EQ(context.stats().kernelsLoaded, 1u);
}

#ifdef NVTX_TOOL
// The lock that is held here belongs to a thread that a child does not have.
TEST_F(TraceTest, AChildForkedMeanwhileEnds) {
  int status = -1;
  (void)traceFileSink("/nowhere/trace.json", [&](const std::string &) {
    pid_t child = fork();
    if (child == 0) {
      alarm(5);
      std::exit(0);
    }
    waitpid(child, &status, 0);
  });
  EXPECT_EQ(status, 0);
}

TEST(TraceSpan, ProfilersSeeRanges) {
  ASSERT_TRUE(hasNvtx());
  // NVTX looks for a tool once in a process.
  std::string command = "NVTX_INJECTION64_PATH='" NVTX_TOOL "' '" +
                        std::filesystem::read_symlink("/proc/self/exe").string() +
                        "' --gtest_filter=TraceSpan.ReportsWhenItEnds";
  FILE *pipe = popen(command.c_str(), "r");
  ASSERT_TRUE(pipe);
  std::string output;
  char part[256];
  while (size_t count = fread(part, 1, sizeof part, pipe))
    output.append(part, count);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_NE(output.find("domain swage\n[load row_1\n[load row_2\n]\n]\n"), std::string::npos)
      << output;
}
#endif
