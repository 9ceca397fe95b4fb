//===- TunerTest.cpp - The search for schedules, on the simulator ---------===//
//
// Times are made up; the kernels and their results are real.
//
//===----------------------------------------------------------------------===//

#include "Tuner.h"
#include "CaseGraphs.h"

#include "swage/Simt/Simulator.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>
#include <set>

using namespace swage;
using Outcome = TriedSchedule::Outcome;

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(FindSchedules, OffersEveryClassThatFits) {
  auto program = Program::parse(rowCase("layernorm", 4096, 768, "f16").text);
  ASSERT_TRUE(program);
  auto found = findSchedules(*program, CompileOptions());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  const std::vector<std::string> &all = found->front().candidates;
  std::set<std::string> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), all.size());
  EXPECT_EQ(distinct.count(found->front().selected), 0u);
  for (const char *part : {"kind = group, threads_per_row = 32", "kind = block", "kind = looped",
                           "vector = 8", "vector = 4", "blocks_per_row = 2", "staged = true"})
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const std::string &one) {
      return contains(one, part);
    })) << part;
  for (const std::string &one : all)
    EXPECT_TRUE(contains(one, "index = 32")) << one;
}

TEST(FindSchedules, OffersCrowdsOfOtherSizesAndOtherTails) {
  auto offers = [](const BenchCase &one, const char *part) {
    auto program = Program::parse(one.text);
    auto found = findSchedules(*program, CompileOptions());
    if (!found || found->size() != 1)
      return false;
    const std::vector<std::string> &all = found->front().candidates;
    return !contains(found->front().selected, part) &&
           std::any_of(all.begin(), all.end(),
                       [&](const std::string &other) { return contains(other, part); });
  };
  const BenchCase row = rowCase("softmax", 64, 1000000, "f32"), attention = peerCases("attn")[3];
  EXPECT_TRUE(offers(row, "blocks_per_row = 62, staged = true"));
  EXPECT_TRUE(offers(row, "blocks_per_row = 41, staged = true, shelved_steps = 12"));
  EXPECT_TRUE(offers(attention, "tail = 132"));
}

TEST(FindSchedules, OffersSomethingForEveryFamily) {
  for (const BenchCase &one :
       {permuteCase({64, 96, 64}, {0, 2, 1}, "f16"), permuteCase({64, 96, 64}, {1, 0, 2}, "f16"),
        copyCase(1), peerCases("reduce")[1], peerCases("reduce")[0],
        rowCase("softmax", 8, 128256, "f32"), rowCase("softmax", 100, 1, "f32")}) {
    auto program = Program::parse(one.text);
    ASSERT_TRUE(program);
    auto found = findSchedules(*program, CompileOptions());
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_FALSE(found->empty());
    for (const KernelSchedules &kernel : *found)
      EXPECT_GT(kernel.candidates.size(), 5u) << one.family << one.name << kernel.selected;
  }
}

TEST(FindSchedules, ToldSchedulesAreUsedAndBadOnesAreNot) {
  auto program = Program::parse(rowCase("softmax", 64, 768, "f16").text);
  ASSERT_TRUE(program);
  CompileOptions options;
  auto found = findSchedules(*program, options);
  ASSERT_TRUE(found);
  const KernelSchedules &kernel = found->front();
  // What is told is not the selected one, so it is no part of this question.
  options.schedules = kernel.kernel + "=" + kernel.candidates.front() + ";";
  auto again = findSchedules(*program, options);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->front().selected, kernel.selected);
}

namespace {
class TunerTest : public testing::Test {
protected:
  void SetUp() override {
    auto found = simt::simulatorCompiler({});
    if (!found)
      GTEST_SKIP() << found.error().message;
    auto opened = simt::openSimulator({}, "sm_90a");
    ASSERT_TRUE(opened);
    device = *opened;
    options.compiler = *found;
    program = *Program::parse(rowCase("layernorm", 6, 768, "f32").text);
    folder = testing::TempDir() + "swage-tuner-" + std::to_string(getpid());
    options.environment = Options();
    options.environment.cacheDir = folder;
    options.cache = std::make_shared<KernelCache>(options.environment);
    tuning.most = 4;
    tuning.finalists = 2;
    tuning.threads = 2;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Later plans of a tuning take less time.
  Tuner::Timer sooner() {
    return [this](const std::vector<Plan> &plans, const std::vector<InputSpec> &,
                  Tuner::Effort effort, double) {
      std::vector<double> times;
      for (size_t i = 0; i < plans.size(); ++i)
        times.push_back(effort == Tuner::Effort::Measure ? 1e-6 * double(10 - i)
                                                         : 1e-6 * (100.0 - double(++calls)));
      exactRounds += effort == Tuner::Effort::Measure;
      return times;
    };
  }

  std::vector<TunedKernel> tune(const Tuner::Timer &timer) {
    auto tuned = Tuner(*device, timer).tune(*program, options, dims, tuning);
    EXPECT_TRUE(tuned) << tuned.error().message;
    return tuned ? *tuned : std::vector<TunedKernel>();
  }

  std::optional<Device> device;
  std::optional<Program> program;
  CompileOptions options;
  TuningOptions tuning;
  std::vector<Dims> dims{{6, 768}, {768}, {768}};
  std::string folder;
  int calls = 0, exactRounds = 0;
};
} // namespace

TEST_F(TunerTest, FindsTheFastestThatIsRightAndKeepsIt) {
  std::vector<TunedKernel> tuned = tune(sooner());
  ASSERT_EQ(tuned.size(), 1u);
  const TunedKernel &kernel = tuned[0];
  EXPECT_EQ(kernel.selected.outcome, Outcome::Accepted);
  EXPECT_EQ(kernel.tried.size(), 4u);
  EXPECT_EQ(exactRounds, 1);
  // The selected one and two finalists took turns: 10, 9 and 8 us.
  EXPECT_NEAR(kernel.selected.seconds, 10e-6, 1e-12);
  EXPECT_NEAR(kernel.best().seconds, 8e-6, 1e-12);
  EXPECT_NEAR(kernel.behind(), 0.25, 1e-9);
  EXPECT_TRUE(contains(kernel.summary(), "within 25.0 % of the best of"));
  // Of the finalists only the fastest was judged.
  EXPECT_EQ(kernel.tried.front().outcome, Outcome::Accepted);
  for (size_t i = 1; i < kernel.tried.size(); ++i)
    EXPECT_TRUE(kernel.tried[i].outcome == Outcome::Timed ||
                kernel.tried[i].outcome == Outcome::Same)
        << kernel.tried[i].why;

  // Kept, and taken by the next compile of the same problem.
  ASSERT_TRUE(storeTuning(options.environment, device->properties(), tuned));
  auto scheduleOf = [&](const CompileOptions &options) {
    auto executable = program->compile(options);
    EXPECT_TRUE(executable) << executable.error().message;
    return executable ? executable->kernels()[0].schedule : std::string();
  };
  EXPECT_EQ(scheduleOf(options), kernel.best().schedule);
  CompileOptions untuned = options;
  untuned.environment.tuned = false;
  EXPECT_EQ(scheduleOf(untuned), kernel.selected.schedule);

  // Where the selected one is no slower, what was kept is forgotten.
  std::vector<TunedKernel> again = tune(
      [](const std::vector<Plan> &plans, const std::vector<InputSpec> &, Tuner::Effort, double) {
        std::vector<double> times(plans.size(), 2e-6);
        times[0] = 1e-6;
        return times;
      });
  ASSERT_EQ(again.size(), 1u);
  ASSERT_TRUE(storeTuning(options.environment, device->properties(), again));
  EXPECT_EQ(again[0].behind(), 0);
  EXPECT_EQ(scheduleOf(options), kernel.selected.schedule);
}

TEST_F(TunerTest, ATimerThatFailsIsAnError) {
  auto tuned = Tuner(*device,
                     [](const std::vector<Plan> &, const std::vector<InputSpec> &, Tuner::Effort,
                        double) -> Expected<std::vector<double>> {
                       return makeError(Stage::Run, "no time");
                     })
                   .tune(*program, options, dims, tuning);
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.error().message, "no time");
}

TEST_F(TunerTest, WhatTheDriverRefusesIsLeftOut) {
  auto refusing = [this](const std::vector<Plan> &plans, const std::vector<InputSpec> &,
                         Tuner::Effort effort, double) -> Expected<std::vector<double>> {
    if (effort == Tuner::Effort::Glance && ++calls == 2)
      return makeError(Stage::Launch, "too large a cluster");
    return std::vector<double>(plans.size(), 1e-6);
  };
  std::vector<TunedKernel> tuned = tune(refusing);
  ASSERT_EQ(tuned.size(), 1u);
  int refused = 0;
  for (const TriedSchedule &one : tuned[0].tried)
    refused += one.outcome == Outcome::Unusable && one.why == "too large a cluster";
  EXPECT_EQ(refused, 1);
  EXPECT_GT(tuned[0].best().seconds, 0);
}

TEST_F(TunerTest, WhatTheBudgetHasNoTimeForIsCounted) {
  tuning.budget = 1e-9;
  tuning.most = 40;
  std::vector<TunedKernel> tuned = tune(sooner());
  ASSERT_EQ(tuned.size(), 1u);
  EXPECT_GT(tuned[0].untried, 30u);
  EXPECT_EQ(tuned[0].tried.size() + tuned[0].untried, 40u);
  EXPECT_GT(tuned[0].best().seconds, 0);
  EXPECT_TRUE(contains(tuned[0].summary(), "no time for " + std::to_string(tuned[0].untried)));
}

TEST_F(TunerTest, WithoutATimerEveryScheduleIsJudged) {
  std::vector<TunedKernel> tuned = tune(nullptr);
  ASSERT_EQ(tuned.size(), 1u);
  EXPECT_EQ(tuned[0].selected.outcome, Outcome::Accepted);
  EXPECT_EQ(tuned[0].tried.size(), 4u);
  for (const TriedSchedule &one : tuned[0].tried) {
    EXPECT_TRUE(one.outcome == Outcome::Accepted || one.outcome == Outcome::Same) << one.why;
    EXPECT_EQ(one.seconds, 0);
  }
}

TEST(TunedKernel, OnlyWhatIsRightIsBest) {
  TunedKernel kernel;
  kernel.kernel = "row_1";
  kernel.selected = {"#s<a = 1>", Outcome::Accepted, 10e-6, ""};
  kernel.tried = {{"#s<a = 2>", Outcome::Rejected, 1e-6, "wrong"},
                  {"#s<a = 3>", Outcome::Timed, 5e-6, ""},
                  {"#s<a = 4>", Outcome::Accepted, 9.8e-6, ""}};
  EXPECT_EQ(kernel.best().schedule, "#s<a = 4>");
  EXPECT_EQ(kernel.summary(), "row_1: the selected schedule is within 2.0 % of the best of 4 "
                              "(9.80 us, a=4)");
  kernel.tried.pop_back();
  EXPECT_EQ(kernel.best().schedule, "#s<a = 1>");
  EXPECT_EQ(kernel.behind(), 0);
}
