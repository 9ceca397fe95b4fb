//===- Tuner.cpp - The fastest right schedule of each kernel --------------===//

#include "Tuner.h"
#include "Table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <future>
#include <limits>
#include <map>
#include <set>
#include <sstream>

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
  std::string left = untried == 0 ? "" : fmt::format("; no time for {} others", untried);
  return fmt::format(
      "{}: the selected schedule is within {:.1f} % of the best of {} ({:.2f} us, {}){}", kernel,
      behind() * 100, timed, best().seconds * 1e6, compactSchedule(best().schedule), left);
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
  case TriedSchedule::Outcome::Untried:
    return "no time for it";
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
                                   const std::vector<InputSpec> &inputs, Effort effort,
                                   double limit) {
        Conditions conditions;
        conditions.misalign = misalign;
        conditions.rounds = effort == Effort::Measure ? 5 : effort == Effort::Look ? 3 : 1;
        conditions.seconds = effort == Effort::Measure ? 0.1 : 0.01;
        conditions.limit = effort == Effort::Glance ? limit : 0;
        return benchmark.compare(plans, inputs, conditions);
      }) {}

/// How unlike two schedules are: the fields' ratios as powers of two, and names that differ.  What moves
/// narrower vectors is rarely fast.
static double distance(const std::string &a, const std::string &b) {
  auto fieldsOf = [](const std::string &schedule) {
    std::map<std::string, std::string> fields;
    std::istringstream words(compactSchedule(schedule));
    for (std::string word; words >> word;)
      fields[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    return fields;
  };
  auto left = fieldsOf(a), right = fieldsOf(b);
  left.merge(fieldsOf(b)); // a field that only one of them prints has its default in the other
  double sum = 0;
  for (const auto &[name, value] : left) {
    double x = std::atof(value.c_str()), y = std::atof(right[name].c_str());
    if (x > 0 || y > 0)
      sum += std::abs(std::log2(std::max(x, 1.0) / std::max(y, 1.0))) *
             (name.compare(0, 6, "vector") == 0 && name.size() == 6 ? 2 : 1);
    else
      sum += value != right[name];
  }
  return sum;
}

namespace {
using Clock = TrialCompiler::Clock;
using Outcome = TriedSchedule::Outcome;
using Effort = Tuner::Effort;

/// What the kernels of a program share while they are tuned.
struct Case {
  const Device &device;
  const Tuner::Timer &timer;
  const TuningOptions &tuning;
  TrialProgram program;
  std::optional<Judge> judge;
};

/// The search for one kernel's schedule.
class Search {
public:
  Search(Case &one, const KernelSchedules &schedules, TunedKernel &tuned);
  Status run();

private:
  Trial &selected() { return trials.front(); }
  Status begin();
  bool prepare(Trial &trial);
  Status tryAll();
  Status time(const std::vector<Trial *> &group, Effort effort, double limit = 0);
  Status judge(Trial &trial);
  Status survived(const std::vector<Trial *> &running) const;
  std::vector<Trial *> fastest(size_t count) const;
  Status chooseWinner();
  void report();
  void say(const std::string &what) const {
    if (one.tuning.progress)
      one.tuning.progress(what);
  }

  Case &one;
  TunedKernel &tuned;
  const Clock::time_point start = Clock::now();
  std::vector<Trial> trials; ///< the selected schedule first
  size_t position = 0;       ///< of the kernel's first launch, which stands for all
  std::vector<InputSpec> inputs;
  std::set<std::string> sources;
  std::future<Expected<Judge>> judging; ///< the reference takes as long as many compiles
  std::vector<Trial *> ranked, finalists;
};
} // namespace

Search::Search(Case &one, const KernelSchedules &schedules, TunedKernel &tuned)
    : one(one), tuned(tuned) {
  std::vector<std::string> candidates = schedules.candidates;
  std::map<std::string, double> far;
  for (const std::string &candidate : candidates)
    far[candidate] = distance(candidate, schedules.selected);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const std::string &a, const std::string &b) { return far[a] < far[b]; });
  if (one.tuning.most != 0 && candidates.size() > one.tuning.most)
    candidates.resize(one.tuning.most);
  trials.resize(1 + candidates.size());
  selected().schedule.schedule = schedules.selected;
  for (size_t i = 0; i < candidates.size(); ++i)
    trials[i + 1].schedule.schedule = candidates[i];
  tuned.kernel = schedules.kernel;
}

/// The selected schedule, which the others are compared with.
Status Search::begin() {
  compileTrial(one.program, tuned.kernel, selected());
  if (!selected().executable)
    return makeError(Stage::Compile, selected().schedule.why);
  const Layout &layout = *selected().layout;
  const auto &infos = selected().executable->kernels(layout.indexBits);
  while (position < layout.launches.size() &&
         (infos[layout.launches[position].kernel].name != tuned.kernel ||
          layout.launches[position].blocks == 0))
    ++position;
  if (position == layout.launches.size())
    return {};
  inputs = inputSpecs(one.program.program, layout.launches[position]);
  if (!one.judge)
    judging = std::async(std::launch::async, [this] {
      return Judge::create(one.program.program, *selected().executable, *selected().layout);
    });
  if (!prepare(selected()))
    return makeError(Stage::Run, selected().schedule.why);
  return {};
}

/// Whether it can be launched, and is not what came before.
bool Search::prepare(Trial &trial) {
  TriedSchedule &schedule = trial.schedule;
  if (!trial.executable)
    return false;
  if (!sources.insert(trial.source).second) {
    schedule.outcome = Outcome::Same;
    return false;
  }
  if (trial.spills && !selected().spills) {
    schedule.why = "it spills registers";
    return false;
  }
  auto planned = trial.executable->planLaunch(one.device, *trial.layout, position);
  if (!planned) {
    schedule.why = planned.error().message.substr(0, 200);
    return false;
  }
  trial.launch = *planned;
  return true;
}

/// After an error that the driver never takes back nothing more can be measured.
Status Search::survived(const std::vector<Trial *> &running) const {
  Status healthy = one.device.health();
  if (healthy)
    return {};
  std::string which;
  for (const Trial *trial : running)
    which += (which.empty() ? "" : " or ") + trial->schedule.schedule;
  return makeError(Stage::Run, fmt::format("schedule {} of {} broke the device: {}", which,
                                           tuned.kernel, healthy.error().message));
}

Status Search::judge(Trial &trial) {
  if (!one.judge) {
    auto created = judging.get();
    if (!created)
      return created.takeError();
    one.judge.emplace(std::move(*created));
  }
  auto plan = trial.executable->plan(one.device, one.program.dims);
  if (!plan)
    return plan.takeError();
  Status right = one.judge->check(one.device, *plan, *trial.layout, one.tuning.misalign);
  trial.schedule.outcome = right ? Outcome::Accepted : Outcome::Rejected;
  if (!right)
    trial.schedule.why = right.error().message.substr(0, 200);
  return survived({&trial});
}

Status Search::time(const std::vector<Trial *> &group, Effort effort, double limit) {
  std::vector<Plan> plans;
  for (Trial *trial : group)
    plans.push_back(*trial->launch);
  auto times = one.timer(plans, inputs, effort, limit);
  if (!times) {
    if (Status alive = survived(group); !alive)
      return alive;
    return times.takeError();
  }
  for (size_t i = 0; i < group.size(); ++i) {
    group[i]->schedule.seconds = (*times)[i];
    if (effort == Effort::Glance)
      group[i]->schedule.outcome = Outcome::Timed;
  }
  return {};
}

/// Times every trial at a glance, or judges it where nothing is timed, while others are compiled. Three
/// quarters of the budget are for this.
Status Search::tryAll() {
  const double share = one.tuning.budget * 0.75;
  const auto deadline = start + (share > 0 ? std::chrono::milliseconds(int64_t(share * 1000))
                                           : std::chrono::hours(24));
  unsigned cores = std::clamp(std::thread::hardware_concurrency(), 2u, 17u) - 1;
  std::vector<Trial *> others;
  for (Trial &trial : trials)
    if (&trial != &selected())
      others.push_back(&trial);
  TrialCompiler compiler(one.program, tuned.kernel, one.tuning.threads ? one.tuning.threads : cores,
                         others);
  size_t count = 0;
  double least = std::numeric_limits<double>::infinity();
  auto attempt = [&](Trial &trial) -> Status {
    say(fmt::format("schedule {} of {} of {}", ++count, trials.size(), tuned.kernel));
    if (!one.timer)
      return judge(trial);
    if (Status timed = time({&trial}, Effort::Glance, 2 * least); !timed) {
      if (&trial == &selected() || !one.device.health())
        return timed;
      trial.schedule.outcome = Outcome::Unusable;
      trial.schedule.why = timed.error().message.substr(0, 200);
      return {};
    }
    least = std::min(least, trial.schedule.seconds);
    ranked.push_back(&trial);
    return {};
  };
  if (Status done = attempt(selected()); !done)
    return done;
  while (Trial *trial = compiler.next(deadline))
    if (prepare(*trial))
      if (Status done = attempt(*trial); !done)
        return done;
  return {};
}

/// The first so many of those that were timed, and the selected one before all.
std::vector<Trial *> Search::fastest(size_t count) const {
  std::vector<Trial *> group{const_cast<Trial *>(&trials.front())};
  for (Trial *trial : ranked)
    if (trial != group.front() && group.size() <= count)
      group.push_back(trial);
  return group;
}

/// The fastest take turns; those are judged that would win.
Status Search::chooseWinner() {
  auto isFaster = [](const Trial *a, const Trial *b) {
    return a->schedule.seconds < b->schedule.seconds;
  };
  std::stable_sort(ranked.begin(), ranked.end(), isFaster);
  std::vector<Trial *> shortlist = fastest(one.tuning.shortlist);
  if (Status timed = time(shortlist, Effort::Look); !timed)
    return timed;
  std::stable_sort(ranked.begin(), ranked.begin() + long(shortlist.size() - 1), isFaster);
  std::vector<Trial *> best = fastest(one.tuning.finalists);
  if (Status timed = time(best, Effort::Measure); !timed)
    return timed;
  std::stable_sort(best.begin(), best.end(), isFaster);
  if (Status judged = judge(selected()); !judged)
    return judged;
  for (Trial *trial : best) {
    if (trial == &selected() && trial->schedule.outcome == Outcome::Accepted)
      break;
    if (trial != &selected())
      if (Status judged = judge(*trial); !judged)
        return judged;
    if (trial->schedule.outcome == Outcome::Accepted)
      break;
  }
  finalists = std::move(best);
  return {};
}

/// What only was timed alone is not comparable with finalists to the last per cent: it comes last.
void Search::report() {
  tuned.selected = selected().schedule;
  std::set<const Trial *> placed{&selected()};
  auto place = [&](const Trial *trial) {
    if (!placed.insert(trial).second)
      return;
    if (trial->schedule.outcome == Outcome::Untried)
      ++tuned.untried;
    else
      tuned.tried.push_back(trial->schedule);
  };
  for (const Trial *trial : finalists)
    place(trial);
  for (const Trial *trial : ranked)
    place(trial);
  for (const Trial &trial : trials)
    place(&trial);
}

Status Search::run() {
  if (Status begun = begin(); !begun)
    return begun;
  if (inputs.empty() && position == selected().layout->launches.size())
    return {};
  if (Status tried = tryAll(); !tried)
    return tried;
  if (one.timer)
    if (Status chosen = chooseWinner(); !chosen)
      return chosen;
  report();
  return {};
}

Expected<std::vector<TunedKernel>> Tuner::tune(const Program &program,
                                               const CompileOptions &options,
                                               const std::vector<Dims> &dims,
                                               const TuningOptions &tuning) const {
  Case one{device, timer, tuning, {program, options, dims}, std::nullopt};
  CompileOptions &trying = one.program.options;
  // Without what was tuned before, and without leaving hundreds of kernels on the disk.
  trying.environment.tuned = false;
  trying.shapes = dims;
  trying.threads = 1;
  Options memory = trying.environment;
  memory.cacheMode = CacheMode::Off;
  trying.cache = std::make_shared<KernelCache>(memory);
  auto schedules = findSchedules(program, trying);
  if (!schedules)
    return schedules.takeError();
  std::vector<TunedKernel> kernels;
  for (const KernelSchedules &ofKernel : *schedules) {
    kernels.emplace_back();
    if (Status tuned = Search(one, ofKernel, kernels.back()).run(); !tuned)
      return tuned.takeError();
  }
  return kernels;
}
