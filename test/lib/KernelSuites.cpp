//===- KernelSuites.cpp - Kernels of the device layer, judged -------------===//
#include "KernelSuites.h"

#include "WrapperReference.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <set>
#include <thread>

using namespace swage;
using namespace swage::test;

namespace {
class Summary {
public:
  Summary(std::string what, const Machine &machine)
      : what(std::move(what)), where(machine.name()) {}
  void pass() { ++passed; }
  void fail(const std::string &title, const std::string &why) {
    ++failed;
    std::printf("FAILED %s: %s\n", title.c_str(), why.c_str());
    std::fflush(stdout);
  }
  int finish(const std::string &more = "") {
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s on %s: %d passed, %d failed%s in %.1f s\n", what.c_str(), where.c_str(), passed,
                failed, more.c_str(), seconds);
    return failed;
  }

private:
  std::string what, where;
  int passed = 0, failed = 0;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};
} // namespace

namespace {
/// Says what has been running for long: on a GPU a hang ends with the process.
class Watch {
public:
  Watch() : thread([this] { run(); }) {}
  ~Watch() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      done = true;
    }
    change.notify_one();
    thread.join();
  }
  void begin(std::string title) {
    std::lock_guard<std::mutex> lock(mutex);
    current = std::move(title);
    start = std::chrono::steady_clock::now();
  }

private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (!change.wait_for(lock, std::chrono::seconds(5), [this] { return done; }))
      if (!current.empty() && std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) {
        std::printf("running for more than 20 s: %s\n", current.c_str());
        std::fflush(stdout);
        current.clear();
      }
  }
  std::mutex mutex;
  std::condition_variable change;
  bool done = false;
  std::string current;
  std::chrono::steady_clock::time_point start;
  std::thread thread; // the last: it uses the others
};
} // namespace

/// Every text once; what fails is reported by the run.
static void compileAll(Machine &machine, const std::vector<const KernelRun *> &runs,
                       unsigned threads) {
  std::set<std::string> seen;
  std::vector<const KernelRun *> distinct;
  for (const KernelRun *run : runs)
    if (seen.insert(run->text).second)
      distinct.push_back(run);
  std::atomic<size_t> next{0};
  std::vector<std::thread> pool;
  for (unsigned i = 0; i < std::max(1u, threads); ++i)
    pool.emplace_back([&] {
      for (size_t at = next++; at < distinct.size(); at = next++)
        (void)machine.compile(*distinct[at]);
    });
  for (std::thread &thread : pool)
    thread.join();
}

Expected<std::vector<KernelProblem>>
swage::test::problemsIn(const std::vector<std::string> &files) {
  std::vector<KernelProblem> all;
  for (const std::string &file : files) {
    auto some = problemsOf(file);
    if (!some)
      return some.takeError();
    std::move(some->begin(), some->end(), std::back_inserter(all));
  }
  return all;
}

int swage::test::judgeKernels(Machine &machine, const std::vector<std::string> &files,
                              const SuiteOptions &options) {
  Summary summary("hand-written kernels", machine);
  std::vector<KernelProblem> problems;
  auto all = problemsIn(files);
  if (!all)
    summary.fail("hand-written kernels", all.error().str());
  else
    for (KernelProblem &problem : *all)
      if (problem.title.find(options.only) != std::string::npos)
        problems.push_back(std::move(problem));
  std::vector<const KernelRun *> runs;
  for (const KernelProblem &problem : problems)
    runs.push_back(&problem.run);
  compileAll(machine, runs, options.threads);
  double worst = 0;
  Watch watch;
  for (const KernelProblem &problem : problems) {
    RunReport report;
    watch.begin(problem.title);
    auto buffers = machine.run(problem.run, &report);
    if (!buffers) {
      summary.fail(problem.title, buffers.error().str());
      continue;
    }
    Judgement judgement = problem.judge(*buffers);
    worst = std::max(worst, judgement.worst);
    if (!judgement.failure.empty())
      summary.fail(problem.title, judgement.failure);
    else
      summary.pass();
    if (options.verbose && judgement.failure.empty())
      std::printf("%s: %.2f of the bound, %.1f ms\n", problem.title.c_str(), judgement.worst,
                  report.runSeconds * 1e3);
  }
  return summary.finish(fmt::format(", largest error {:.2f} of its bound", worst));
}

ExpectedOutput swage::test::fromRecording(const Recording &recording) {
  return [&](const WrapperCase &test, uint64_t seed) -> Expected<std::optional<std::string>> {
    const std::string *output = recording.find(test, seed);
    return output ? std::optional<std::string>(*output) : std::nullopt;
  };
}

ExpectedOutput swage::test::fromMachine(Machine &machine) {
  return [&](const WrapperCase &test, uint64_t seed) -> Expected<std::optional<std::string>> {
    auto buffers = machine.run(test.seeded(seed));
    if (!buffers)
      return buffers.takeError();
    return std::optional<std::string>((*buffers)[1]);
  };
}

ExpectedOutput swage::test::fromReferences() {
  return [](const WrapperCase &test, uint64_t seed) -> Expected<std::optional<std::string>> {
    const References &references = allReferences();
    auto found = references.find(test.name);
    if (found == references.end())
      return std::optional<std::string>();
    KernelRun run = test.seeded(seed);
    Memory in(run.buffers[0]), out(run.buffers[1]);
    found->second(test, in, out);
    return std::optional<std::string>(out.bytes);
  };
}

static std::vector<const WrapperCase *> select(const std::vector<WrapperCase> &cases,
                                               const SuiteOptions &options, Machine &machine) {
  std::vector<const WrapperCase *> selected;
  std::vector<const KernelRun *> runs;
  for (const WrapperCase &test : cases)
    if (test.name.find(options.only) != std::string::npos ||
        test.run.file.find(options.only) != std::string::npos) {
      selected.push_back(&test);
      runs.push_back(&test.run);
    }
  compileAll(machine, runs, options.threads);
  return selected;
}

int swage::test::compareWrappers(Machine &machine, const std::vector<WrapperCase> &cases,
                                 const ExpectedOutput &expected, const SuiteOptions &options) {
  Summary summary("kernels of the wrappers", machine);
  Watch watch;
  for (const WrapperCase *test : select(cases, options, machine)) {
    std::string failure;
    double seconds = 0;
    for (uint64_t seed = 1; seed <= options.seeds && failure.empty(); ++seed) {
      RunReport report;
      watch.begin(test->name);
      auto buffers = machine.run(test->seeded(seed), &report);
      seconds += report.runSeconds;
      auto wanted = expected(*test, seed);
      if (!buffers)
        failure = buffers.error().str();
      else if (!wanted)
        failure = "expected output: " + wanted.error().str();
      else if (!*wanted)
        failure = "there is no expected output";
      else
        failure = test->compare((*buffers)[1], **wanted);
      if (!failure.empty() && options.seeds > 1)
        failure = fmt::format("seed {}: {}", seed, failure);
    }
    if (failure.empty())
      summary.pass();
    else
      summary.fail(test->run.file + ", " + test->name, failure);
    if (options.verbose && failure.empty())
      std::printf("%s: %.1f ms\n", test->name.c_str(), seconds * 1e3);
  }
  return summary.finish();
}

int swage::test::compareSchedules(const std::vector<KernelProblem> &problems,
                                  const std::vector<WrapperCase> &cases,
                                  const SuiteOptions &options) {
  struct Case {
    std::string title;
    KernelRun run;
    const WrapperCase *wrapper; ///< null: hand-written
  };
  std::vector<Case> runs;
  for (const KernelProblem &problem : problems)
    if (problem.title.find(options.only) != std::string::npos)
      runs.push_back({problem.title, problem.run, nullptr});
  for (const WrapperCase &test : cases)
    if (test.name.find(options.only) != std::string::npos)
      runs.push_back({test.name, test.seeded(1), &test});
  std::vector<const KernelRun *> texts;
  for (const Case &run : runs)
    texts.push_back(&run.run);

  std::vector<std::vector<std::string>> expected(runs.size());
  int failed = 0;
  for (bool check : {false, true}) {
    simt::SimulatorOptions first;
    first.check = check;
    auto machine = Machine::simulator(first);
    if (!machine) {
      std::printf("%s\n", machine.error().str().c_str());
      return 1;
    }
    Summary summary(check ? "schedules, checked," : "schedules", **machine);
    compileAll(**machine, texts, options.threads);
    for (uint64_t seed = 0; seed <= options.seeds; ++seed) {
      // The first time nothing is left to chance; then the policies take turns.
      simt::SimulatorOptions how = first;
      how.seed = seed;
      if (seed > 0) {
        how.order = seed % 4 == 1 ? simt::Order::Reverse : simt::Order::Random;
        how.async = seed % 2 ? simt::Asynchrony::Late : simt::Asynchrony::Random;
      }
      (*machine)->simulate(how);
      for (size_t i = 0; i < runs.size(); ++i) {
        const Case &test = runs[i];
        std::string title = test.title + " with --sim=" + how.str();
        auto buffers = (*machine)->run(test.run);
        if (!buffers)
          summary.fail(title, buffers.error().str());
        else if (expected[i].empty())
          expected[i] = std::move(*buffers), summary.pass();
        else if (expected[i] != *buffers && seed == 0 && test.wrapper &&
                 test.wrapper->compare((*buffers)[1], expected[i][1]).empty())
          expected[i] = std::move(*buffers), summary.pass(); // other NaNs of another build
        else if (expected[i] != *buffers)
          summary.fail(title, "other results than in forward order");
        else
          summary.pass();
      }
    }
    failed += summary.finish();
  }
  return failed;
}

int swage::test::recordWrappers(Machine &machine, const std::vector<WrapperCase> &cases,
                                Recording &recording, const SuiteOptions &options) {
  Summary summary("recorded", machine);
  for (const WrapperCase *test : select(cases, options, machine))
    for (uint64_t seed = 1; seed <= options.seeds; ++seed) {
      auto buffers = machine.run(test->seeded(seed));
      if (buffers) {
        recording.add(*test, seed, std::move((*buffers)[1]));
        summary.pass();
      } else {
        summary.fail(test->name, buffers.error().str());
      }
    }
  return summary.finish();
}

const References &swage::test::allReferences() {
  static const References references = [] {
    References all;
    addThreadReferences(all);
    addMemoryReferences(all);
    addClusterReferences(all);
    addTensorReferences(all);
    addMatrixReferences(all);
    addNumberReferences(all);
    return all;
  }();
  return references;
}
