//===- HostileTextTest.cpp - Texts that are meant to do harm --------------===//
//
// Each goes from text to CUDA sources in a process of its own with little memory, time and stack:
// it is refused with a place or accepted, and nothing else.
//
//===----------------------------------------------------------------------===//
#include "HostileText.h"
#include "AnySource.h"
#include "swage/JIT/Program.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace swage;

namespace {

constexpr rlim_t kMemory = rlim_t(1) << 30;
constexpr rlim_t kSeconds = 2;
/// What a thread of a host's pool may have.
constexpr size_t kStack = size_t(1) << 20;

struct Work {
  const HostileText *text;
  std::string outcome;
};

/// "accepted", or "<stage>: <message>".
void *process(void *argument) {
  Work &work = *static_cast<Work *>(argument);
  auto failed = [&](const Error &error) {
    work.outcome = std::string(stageName(error.stage)) + ": " + error.message;
    return nullptr;
  };
  std::string text = work.text->make();
  // Nobody promised a NUL behind a view.
  size_t size = text.size();
  text += '@';
  auto program = Program::parse(std::string_view(text).substr(0, size), {"hostile.mlir", "main"});
  if (!program)
    return failed(program.error());
  auto executable = program->compile(withoutMachineCode());
  if (!executable)
    return failed(executable.error());
  work.outcome = "accepted";
  return nullptr;
}

[[noreturn]] void runChild(const HostileText &text, int output) {
#ifndef __SANITIZE_ADDRESS__
  rlimit memory = {kMemory, kMemory};
  setrlimit(RLIMIT_AS, &memory);
#endif
  rlimit seconds = {kSeconds, kSeconds};
  setrlimit(RLIMIT_CPU, &seconds);
  rlimit noDump = {0, 0};
  setrlimit(RLIMIT_CORE, &noDump);
  Work work{&text, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, process, &work) != 0)
    _exit(3);
  pthread_join(thread, nullptr);
  work.outcome.resize(std::min<size_t>(work.outcome.size(), 4096));
  _exit(write(output, work.outcome.data(), work.outcome.size()) < 0 ? 4 : 0);
}

class HostileTextTest : public testing::TestWithParam<HostileText> {};

} // namespace

TEST_P(HostileTextTest, IsRefusedOrAccepted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0)
    runChild(GetParam(), ends[1]);
  close(ends[1]);
  std::string outcome;
  char part[4096];
  for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;)
    outcome.append(part, size_t(count));
  close(ends[0]);
  int status = -1;
  rusage used = {};
  ASSERT_EQ(wait4(child, &status, 0, &used), child);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  RecordProperty("kilobytes", int(used.ru_maxrss));
  RecordProperty("milliseconds", int(used.ru_utime.tv_sec * 1000 + used.ru_utime.tv_usec / 1000));
  if (!GetParam().refusal) {
    EXPECT_EQ(outcome, "accepted");
  } else {
    EXPECT_NE(outcome.find(GetParam().refusal), outcome.npos) << outcome;
    EXPECT_NE(outcome.find("hostile.mlir"), outcome.npos) << "no place: " << outcome;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, HostileTextTest, testing::ValuesIn(hostileTexts()),
                         [](const auto &info) { return std::string(info.param.name); });
