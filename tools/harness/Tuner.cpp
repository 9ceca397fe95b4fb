//===- Tuner.cpp - The fastest right schedule of each kernel --------------===//

#include "Tuner.h"
#include "Table.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <set>
#include <thread>

using namespace swage;

/// Differences below are the measurement's.
static constexpr double kNoise = 0.01;

std::string swage::compactSchedule(const std::string &schedule) {
  size_t open = schedule.find('<'), close = std::min(schedule.rfind('>'), schedule.size());
  std::string result;
  for (size_t i = open == std::string::npos ? 0 : open + 1; i < close; ++i) {
    char c = schedule[i];
    bool besideEquals = c == ' ' && ((i + 1 < close && schedule[i + 1] == '=') ||
                                     (i > 0 && schedule[i - 1] == '='));
    if (c != ',' && !besideEquals)
      result += c;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

TriedSchedule TunedKernel::best() const {
  TriedSchedule best = selected;
  for (const TriedSchedule &one : tried)
    if (one.outcome == TriedSchedule::Outcome::Accepted && one.seconds > 0 &&
        (one.seconds < best.seconds || selected.outcome != TriedSchedule::Outcome::Accepted))
      return one;
  return best;
}

double TunedKernel::behind() const {
  TriedSchedule fastest = best();
  return fastest.seconds > 0 ? selected.seconds / fastest.seconds - 1 : 0;
}

std::string TunedKernel::summary() const {
  size_t timed = 1;
  for (const TriedSchedule &one : tried)
    timed += one.seconds > 0;
  if (selected.outcome != TriedSchedule::Outcome::Accepted)
    return fmt::format("{}: the selected schedule is not right: {}", kernel, selected.why);
  return fmt::format(
      "{}: the selected schedule is within {:.1f} % of the best of {} ({:.2f} us, {})", kernel,
      behind() * 100, timed, best().seconds * 1e6, compactSchedule(best().schedule));
}

static std::string describe(const TriedSchedule &one) {
  switch (one.outcome) {
  case TriedSchedule::Outcome::Timed:
    return "timed";
  case TriedSchedule::Outcome::Accepted:
    return "accepted";
  case TriedSchedule::Outcome::Rejected:
    return "REJECTED: " + one.why;
  case TriedSchedule::Outcome::Unusable:
    return "not run: " + one.why;
  case TriedSchedule::Outcome::Same:
    return "the same code as another";
  }
  return "";
}

void swage::printTuning(const std::vector<TunedKernel> &kernels, size_t rows) {
  for (const TunedKernel &kernel : kernels) {
    if (kernel.selected.seconds == 0)
      continue;
    Table table({"us", "of best", "result", "schedule"});
    double least = kernel.best().seconds;
    auto add = [&](const TriedSchedule &one, const char *note) {
      table.add({one.seconds > 0 ? fmt::format("{:.2f}", one.seconds * 1e6) : "-",
                 one.seconds > 0 ? fmt::format("{:.3f}", least / one.seconds) : "-", describe(one),
                 compactSchedule(one.schedule) + note});
    };
    add(kernel.selected, " (selected)");
    for (size_t i = 0; i < std::min(rows, kernel.tried.size()); ++i)
      add(kernel.tried[i], "");
    table.print();
    if (kernel.tried.size() > rows)
      std::printf("and %zu more\n", kernel.tried.size() - rows);
    std::printf("%s\n", kernel.summary().c_str());
  }
}

Status swage::storeTuning(const Options &options, const DeviceProperties &device,
                          const std::vector<TunedKernel> &kernels) {
  std::vector<TunedSchedule> found;
  for (const TunedKernel &kernel : kernels) {
    TriedSchedule best = kernel.best();
    if (best.outcome != TriedSchedule::Outcome::Accepted)
      continue;
    bool isFaster =
        kernel.behind() > kNoise || kernel.selected.outcome != TriedSchedule::Outcome::Accepted;
    found.push_back({device.arch, device.name, kernel.kernel,
                     isFaster ? best.schedule : std::string(), best.seconds * 1e6,
                     kernel.selected.seconds * 1e6});
  }
  return TunedSchedules::store(options, found);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

Tuner::Tuner(Device device, Benchmark &benchmark, int64_t misalign)
    : device(std::move(device)),
      timer([&benchmark, misalign](const std::vector<Plan> &plans,
                                   const std::vector<TensorType> &inputs, bool exactly) {
        Conditions conditions;
        conditions.misalign = misalign;
        conditions.rounds = exactly ? 5 : 1;
        conditions.seconds = exactly ? 0.1 : 0.01;
        return benchmark.compare(plans, inputs, conditions);
      }) {}

/// One program with its shapes, while its kernels are tuned.
struct Tuner::Case {
  const Program &program;
  CompileOptions options;
  const std::vector<Dims> &dims;
  const TuningOptions &tuning;
  std::optional<Judge> judge;
  uint64_t elements = 0;
};

namespace {
/// A schedule on its way through the search.
struct Trial {
  TriedSchedule schedule;
  std::optional<Executable> executable;
  std::optional<Layout> layout;
  std::optional<Plan> launch; ///< of the kernel alone
  std::string source;
  bool spills = false;
};
} // namespace

static void compileTrial(const Program &program, CompileOptions options,
                         const std::vector<Dims> &dims, const std::string &kernel, Trial &trial) {
  options.schedules += kernel + "=" + trial.schedule.schedule + ";";
  auto executable = program.compile(options);
  if (!executable) {
    trial.schedule.why = executable.error().message.substr(0, 200);
    return;
  }
  auto layout = executable->layout(dims);
  if (!layout) {
    trial.schedule.why = layout.error().message;
    return;
  }
  for (const KernelInfo &info : executable->kernels(layout->indexBits))
    if (info.name == kernel) {
      trial.source = info.source;
      trial.spills = info.binary && info.binary->resources.spillStores > 0;
    }
  trial.executable = *executable;
  trial.layout = std::move(*layout);
}

/// Compiles all of them, several at once.
static void compileTrials(const Program &program, const CompileOptions &options,
                          const std::vector<Dims> &dims, const std::string &kernel,
                          unsigned threads, std::vector<Trial> &trials) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < trials.size(); i = next++)
      compileTrial(program, options, dims, kernel, trials[i]);
  };
  unsigned count = threads ? threads : std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < std::min<size_t>(count, trials.size()); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
}

Status Tuner::tuneKernel(Case &one, const KernelSchedules &schedules, TunedKernel &tuned) const {
  using Outcome = TriedSchedule::Outcome;
  tuned.kernel = schedules.kernel;
  std::vector<Trial> trials(1);
  trials[0].schedule.schedule = schedules.selected;
  for (const std::string &candidate : schedules.candidates) {
    if (one.tuning.most != 0 && trials.size() > one.tuning.most)
      break;
    trials.emplace_back();
    trials.back().schedule.schedule = candidate;
  }
  if (one.tuning.progress)
    one.tuning.progress(fmt::format("compiling {} schedules of {}", trials.size(), tuned.kernel));
  compileTrials(one.program, one.options, one.dims, tuned.kernel, one.tuning.threads, trials);
  Trial &selected = trials[0];
  if (!selected.executable)
    return makeError(Stage::Compile, selected.schedule.why);

  // The kernel's first launch stands for all.
  const Layout &layout = *selected.layout;
  const auto &infos = selected.executable->kernels(layout.indexBits);
  size_t position = 0;
  while (position < layout.launches.size() &&
         (infos[layout.launches[position].kernel].name != tuned.kernel ||
          layout.launches[position].blocks == 0))
    ++position;
  if (position == layout.launches.size())
    return {};
  std::vector<TensorType> types;
  for (const LaunchTensor &tensor : layout.launches[position].inputs)
    types.push_back(tensor.type);

  std::set<std::string> sources;
  for (Trial &trial : trials) {
    if (!trial.executable)
      continue;
    if (!sources.insert(trial.source).second) {
      trial.schedule.outcome = Outcome::Same;
      continue;
    }
    if (trial.spills && !selected.spills) {
      trial.schedule.why = "it spills registers";
      continue;
    }
    auto planned = trial.executable->planLaunch(device, *trial.layout, position);
    if (!planned) {
      trial.schedule.why = planned.error().message.substr(0, 200);
      continue;
    }
    trial.launch = *planned;
  }

  // After an error that the driver never takes back nothing more can be measured.
  auto survived = [&](const std::vector<Trial *> &running) -> Status {
    Status healthy = device.health();
    if (healthy)
      return {};
    std::string which;
    for (const Trial *trial : running)
      which += (which.empty() ? "" : " or ") + trial->schedule.schedule;
    return makeError(Stage::Run, fmt::format("schedule {} of {} broke the device: {}", which,
                                             tuned.kernel, healthy.error().message));
  };
  auto judge = [&](Trial &trial) -> Status {
    if (!one.judge) {
      auto created = Judge::create(one.program, *trial.executable, *trial.layout);
      if (!created)
        return created.takeError();
      one.judge.emplace(std::move(*created));
    }
    auto plan = trial.executable->plan(device, one.dims);
    if (!plan)
      return plan.takeError();
    Status right = one.judge->check(device, *plan, *trial.layout, one.tuning.misalign);
    trial.schedule.outcome = right ? Outcome::Accepted : Outcome::Rejected;
    if (!right)
      trial.schedule.why = right.error().message.substr(0, 200);
    return survived({&trial});
  };
  auto time = [&](const std::vector<Trial *> &group, bool exactly) -> Status {
    std::vector<Plan> plans;
    for (Trial *trial : group)
      plans.push_back(*trial->launch);
    auto times = timer(plans, types, exactly);
    if (!times) {
      if (Status alive = survived(group); !alive)
        return alive;
      return times.takeError();
    }
    for (size_t i = 0; i < group.size(); ++i)
      group[i]->schedule.seconds = (*times)[i];
    return {};
  };

  std::vector<Trial *> ranked;
  for (Trial &trial : trials) {
    if (!trial.launch)
      continue;
    bool judgeNow = !timer || &trial == &selected || one.elements <= one.tuning.judgeAll;
    if (judgeNow)
      if (Status judged = judge(trial); !judged)
        return judged;
    if (!timer || (trial.schedule.outcome == Outcome::Rejected && &trial != &selected))
      continue;
    if (one.tuning.progress)
      one.tuning.progress(fmt::format("timing schedule {} of {} of {}", &trial - trials.data() + 1,
                                      trials.size(), tuned.kernel));
    if (!judgeNow)
      trial.schedule.outcome = Outcome::Timed;
    Status timed = time({&trial}, false);
    if (!timed && (&trial == &selected || !device.health()))
      return timed;
    if (!timed) {
      trial.schedule.outcome = Outcome::Unusable;
      trial.schedule.why = timed.error().message.substr(0, 200);
      continue;
    }
    ranked.push_back(&trial);
  }
  auto isFaster = [](const Trial *a, const Trial *b) {
    return a->schedule.seconds < b->schedule.seconds;
  };
  std::stable_sort(ranked.begin(), ranked.end(), isFaster);
  std::vector<Trial *> finalists{&selected};
  for (Trial *trial : ranked) {
    if (int(finalists.size()) > one.tuning.finalists)
      break;
    if (trial == &selected)
      continue;
    if (trial->schedule.outcome == Outcome::Timed)
      if (Status judged = judge(*trial); !judged)
        return judged;
    if (trial->schedule.outcome == Outcome::Accepted)
      finalists.push_back(trial);
  }
  if (!selected.launch)
    return makeError(Stage::Run, selected.schedule.why);
  if (timer)
    if (Status timed = time(finalists, true); !timed)
      return timed;

  // What only was timed alone is not comparable with finalists to the last per cent: it comes last.
  tuned.selected = selected.schedule;
  std::stable_sort(finalists.begin(), finalists.end(), isFaster);
  std::set<const Trial *> placed{&selected};
  auto place = [&](const Trial *trial) {
    if (placed.insert(trial).second)
      tuned.tried.push_back(trial->schedule);
  };
  for (const Trial *trial : finalists)
    place(trial);
  for (const Trial *trial : ranked)
    place(trial);
  for (const Trial &trial : trials)
    place(&trial);
  return {};
}

Expected<std::vector<TunedKernel>> Tuner::tune(const Program &program,
                                               const CompileOptions &options,
                                               const std::vector<Dims> &dims,
                                               const TuningOptions &tuning) const {
  Case one{program, options, dims, tuning, std::nullopt, 0};
  // Without what was tuned before, and without leaving hundreds of kernels on the disk.
  one.options.environment.tuned = false;
  one.options.shapes = dims;
  Options memory = options.environment;
  memory.cacheMode = CacheMode::Off;
  one.options.cache = std::make_shared<KernelCache>(memory);
  auto schedules = findSchedules(program, one.options);
  if (!schedules)
    return schedules.takeError();
  for (const Dims &shape : dims) {
    uint64_t count = 1;
    for (int64_t extent : shape)
      count *= uint64_t(extent);
    one.elements += count;
  }
  std::vector<TunedKernel> kernels;
  for (const KernelSchedules &ofKernel : *schedules) {
    kernels.emplace_back();
    if (Status tuned = tuneKernel(one, ofKernel, kernels.back()); !tuned)
      return tuned.takeError();
  }
  return kernels;
}
