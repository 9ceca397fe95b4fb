//===- swage-bench.cpp - Families, sweeps and graphs beside a copy --------===//
//
//   swage-bench                                       what bench/peers.py measures
//   swage-bench ln softmax --json=swage.json          two groups of it
//   swage-bench --case='layernorm bytes=256M cols=1..300000/60 bf16' --svg=sweep.svg
//   swage-bench --cases=FILE model.mlir               what a file says (CaseFile.h), and a graph
//
// Each case takes turns with a plain kernel that reads and writes the same bytes; the share is that
// kernel's time over the case's.  Exit code 0: every case was measured, and right if it was
// checked.
//
//===----------------------------------------------------------------------===//
#include "CaseFile.h"
#include "Judge.h"
#include "Records.h"
#include "Table.h"
#include "Tuner.h"

#include "swage/Simt/Simulator.h"
#include "swage/Support/Text.h"
#include "llvm/Support/CommandLine.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("swage-bench options");
static cl::list<std::string>
    what(cl::Positional,
         cl::desc("[copy|pointwise|reduce|ln|softmax|permute|attn|decode|FILE.mlir...]"),
         cl::cat(category));
static cl::list<std::string> caseLines("case", cl::desc("a line of a case file; repeat for more"),
                                       cl::cat(category));
static cl::list<std::string> caseFiles("cases", cl::desc("a file of cases; repeat for more"),
                                       cl::cat(category));
static cl::opt<std::string> filter("filter", cl::desc("only cases with this in family or name"),
                                   cl::cat(category));
static cl::opt<std::string> jsonFile("json", cl::desc("file for the records"), cl::cat(category));
static cl::opt<std::string> svgFile("svg", cl::desc("file for a plot of the shares"),
                                    cl::cat(category));
static cl::opt<std::string> listFile("list",
                                     cl::desc("file for the cases themselves, which "
                                              "torch_peers.py reads; nothing is measured"),
                                     cl::cat(category));
static cl::opt<bool> check("check", cl::desc("judge the results against the f64 reference"),
                           cl::cat(category));
static cl::opt<uint64_t> checkLimit("check-limit",
                                    cl::desc("elements beyond which a case is not judged (default "
                                             "2^24): the reference is slow"),
                                    cl::init(1 << 24), cl::cat(category));
static cl::opt<bool> autotune("autotune",
                              cl::desc("try the schedules of each case's kernels, report how far "
                                       "the selected one is from the best, and keep what is "
                                       "faster and right (SWAGE_TUNED); on the simulator: judge "
                                       "every one"),
                              cl::cat(category));
static cl::opt<double> budget("budget",
                              cl::desc("seconds for the schedules of each kernel (default 12; 0: "
                                       "until all have been tried)"),
                              cl::init(12), cl::cat(category));
static cl::opt<bool> tuned("tuned",
                           cl::desc("use what was kept; default: what the heuristic selects"),
                           cl::cat(category));
static cl::opt<int> rounds("rounds", cl::desc("in which the copy and the case take turns"),
                           cl::init(5), cl::cat(category));
static cl::opt<std::string>
    outputs("outputs",
            cl::desc("reuse (default): one set of outputs, as a framework's "
                     "allocator gives; rotate: as many as of inputs"),
            cl::init("reuse"), cl::cat(category));
static cl::opt<std::string> deviceName("device",
                                       cl::desc("gpu (default); sim: the simulator, which judges "
                                                "and does not time"),
                                       cl::init("gpu"), cl::cat(category));
static cl::opt<std::string> arch("arch",
                                 cl::desc("what kernels are made for; default: the device's. sm_90 "
                                          "on an sm_90a: as devices without its own instructions "
                                          "have them"),
                                 cl::cat(category));

//===----------------------------------------------------------------------===//
// One case
//===----------------------------------------------------------------------===//

namespace {
class Bench {
public:
  Status chooseDevice();
  Status prepare();
  /// Measures a case and prints its line.
  Status run(const BenchCase &one);
  bool isTimed() const { return benchmark.has_value(); }

  std::vector<Record> records;
  std::optional<Device> device;
  Table tunings{{"us", "best us", "ratio", "tried", "case", "fastest schedule"}};

private:
  Expected<Program> parse(const BenchCase &one) const;
  CompileOptions optionsFor(const BenchCase &one, const Program &program) const;
  Status tune(const Program &program, const CompileOptions &options, const std::vector<Dims> &dims,
              int64_t misalign, Record &record);

  std::shared_ptr<const KernelCompiler> compiler; ///< null: NVRTC
  std::optional<Benchmark> benchmark;             ///< none: nothing is timed
};
} // namespace

Status Bench::chooseDevice() {
  if (deviceName == "gpu") {
    auto opened = Device::open();
    if (!opened)
      return opened.takeError();
    device = *opened;
    return {};
  }
  if (deviceName != "sim")
    return makeError(Stage::Input, fmt::format("--device is '{}'; needed: gpu or sim",
                                               printable(deviceName.getValue())));
  simt::SimulatorOptions simulation;
  simulation.check = autotune;
  auto found = simt::simulatorCompiler(simulation);
  if (!found)
    return found.takeError();
  auto opened = simt::openSimulator(simulation, arch.empty() ? "sm_90a" : arch.getValue());
  if (!opened)
    return opened.takeError();
  compiler = *found;
  device = *opened;
  return {};
}

Status Bench::prepare() {
  if (Status chosen = chooseDevice(); !chosen)
    return chosen;
  if (device->driver().isSimulator()) {
    std::printf("no times: those of the simulator would mean nothing\n");
    return {};
  }
  auto created = Benchmark::create(*device);
  if (!created)
    return created.takeError();
  benchmark.emplace(std::move(*created));
  std::printf("%s, median of %d rounds, outputs %s\n%-16s %-44s %10s %8s %6s %10s %8s  %s\n",
              device->properties().name.c_str(), int(rounds),
              outputs == "reuse" ? "reused" : "rotating", "family", "case", "us", "GB/s", "share",
              "copy us", "over us", "schedule");
  return {};
}

Expected<Program> Bench::parse(const BenchCase &one) const {
  std::string text = one.text;
  if (text.empty()) {
    auto read = readFile(one.file);
    if (!read)
      return read.takeError();
    text = withExtents(*read, one.extents);
  }
  ParseOptions parsing;
  parsing.filename = one.file.empty() ? one.family : one.file;
  auto program = Program::parse(text, parsing);
  if (!program)
    return program;
  for (const TensorType &type : program->inputs())
    if (!type.isStatic())
      return makeError(Stage::Input,
                       fmt::format("an argument is {}; needed: static shapes", type.str()));
  return program;
}

CompileOptions Bench::optionsFor(const BenchCase &one, const Program &program) const {
  CompileOptions options;
  options.arch = arch.empty() ? device->properties().arch : arch.getValue();
  options.device = device->properties().name;
  options.compiler = compiler;
  options.environment.tuned = tuned && options.environment.tuned;
  if (one.offset != 0 && !program.inputs().empty()) {
    int64_t bytes = one.offset * program.inputs()[0].elementBytes;
    options.alignment = {std::min<int64_t>(16, bytes & -bytes)};
  }
  return options;
}

/// Where nothing is timed: whether every schedule gives a right kernel.
static Status judgeSchedules(const std::vector<TunedKernel> &kernels) {
  size_t all = 0, wrong = 0;
  for (const TunedKernel &kernel : kernels) {
    std::vector<TriedSchedule> tried = kernel.tried;
    tried.push_back(kernel.selected);
    for (const TriedSchedule &one : tried) {
      ++all;
      if (one.outcome == TriedSchedule::Outcome::Accepted ||
          one.outcome == TriedSchedule::Outcome::Same)
        continue;
      ++wrong;
      std::printf("  %s: %s: %s\n", kernel.kernel.c_str(), compactSchedule(one.schedule).c_str(),
                  one.why.c_str());
    }
  }
  if (wrong != 0)
    return makeError(Stage::Run, fmt::format("{} of {} schedules are not right", wrong, all));
  std::printf("  all %zu schedules are right\n", all);
  return {};
}

/// Says how far the selected schedules are from the best.
Status Bench::tune(const Program &program, const CompileOptions &options,
                   const std::vector<Dims> &dims, int64_t misalign, Record &record) {
  TuningOptions tuning;
  tuning.misalign = misalign;
  tuning.budget = benchmark ? budget : 0;
  Tuner tuner = benchmark ? Tuner(*device, *benchmark, misalign) : Tuner(*device, nullptr);
  auto kernels = tuner.tune(program, options, dims, tuning);
  if (!kernels)
    return kernels.takeError();
  if (!benchmark)
    return judgeSchedules(*kernels);
  for (const TunedKernel &kernel : *kernels) {
    std::printf("  %s\n", kernel.summary().c_str());
    const TriedSchedule best = kernel.best();
    tunings.add(
        {fmt::format("{:.2f}", kernel.selected.seconds * 1e6),
         fmt::format("{:.2f}", best.seconds * 1e6), fmt::format("{:.3f}", 1 + kernel.behind()),
         fmt::format("{} of {}", 1 + kernel.tried.size(), 1 + kernel.tried.size() + kernel.untried),
         record.family + " " + record.caseName, compactSchedule(best.schedule)});
    record.behindBest = std::max(record.behindBest.value_or(0), kernel.behind());
    record.bestSchedule +=
        (record.bestSchedule.empty() ? "" : "; ") + compactSchedule(best.schedule);
  }
  Options keeping = options.environment;
  keeping.tuned = Options::get().tuned;
  return storeTuning(keeping, device->properties(), *kernels);
}

/// The bytes that a case must move, one stream for each kernel of a whole graph.
static std::vector<Traffic> trafficOf(const BenchCase &one, const Layout &layout) {
  if (!one.file.empty()) {
    std::vector<Traffic> all;
    for (const LaunchInfo &launch : layout.launches) {
      uint64_t written = 0;
      for (const LaunchTensor &output : launch.outputs)
        written += output.type.bytes();
      written = std::min(written, launch.bytesMoved);
      if (launch.blocks != 0)
        all.push_back({launch.bytesMoved - written, written});
    }
    return all;
  }
  Traffic traffic;
  for (const TensorType &input : layout.inputs)
    traffic.read += input.bytes();
  for (const TensorType &result : layout.results)
    traffic.written += result.bytes();
  traffic.read -= std::min(traffic.read, one.needlessBytes);
  return {traffic};
}

Status Bench::run(const BenchCase &one) {
  auto program = parse(one);
  if (!program)
    return program.takeError();
  CompileOptions options = optionsFor(one, *program);
  ContextStats before = program->context().stats();
  auto executable = program->compile(options);
  if (!executable)
    return executable.takeError();
  ContextStats after = program->context().stats();
  std::vector<Dims> dims;
  for (const TensorType &type : program->inputs())
    dims.push_back(type.shape);
  auto layout = executable->layout(dims);
  if (!layout)
    return layout.takeError();
  auto plan = executable->plan(*device, dims);
  if (!plan)
    return plan.takeError();
  Conditions conditions;
  conditions.rounds = rounds;
  conditions.reuseOutputs = outputs == "reuse";
  conditions.inPlace = layout->aliases;
  conditions.misalign = layout->inputs.empty() ? 0 : one.offset * layout->inputs[0].elementBytes;

  Record record;
  record.family = one.family;
  record.caseName = one.name;
  record.element = one.element;
  record.flops = one.countedFlops;
  if (one.shape.size() == 2 && one.permutation.empty()) {
    record.rows = one.shape[0];
    record.length = one.shape[1];
  }
  if (uint64_t compiled = after.kernelsCompiled - before.kernelsCompiled)
    record.compileMs = (after.compileMilliseconds - before.compileMilliseconds) / double(compiled);
  std::vector<Traffic> traffic = trafficOf(one, *layout);
  for (const Traffic &part : traffic)
    record.neededBytes += part.bytes();
  record.bytes = one.countedBytes ? one.countedBytes : record.neededBytes;
  for (const KernelInfo &kernel : executable->kernels(layout->indexBits)) {
    ++record.kernels;
    if (kernel.binary) {
      const KernelResources &resources = kernel.binary->resources;
      record.registers = std::max(record.registers, int(resources.registers));
      record.spills += int(resources.spillStores + resources.spillLoads);
    }
    record.schedule += (record.schedule.empty() ? "" : "; ") + compactSchedule(kernel.schedule);
  }
  uint64_t elements = 0;
  for (const auto &types : {layout->inputs, layout->results})
    for (const TensorType &type : types)
      elements += type.bytes() / uint64_t(std::max<int64_t>(1, type.elementBytes));
  if (check && elements <= checkLimit) {
    auto judge = Judge::create(*program, *executable, *layout);
    if (!judge)
      return judge.takeError();
    if (Status right = judge->check(*device, *plan, *layout, conditions.misalign); !right)
      return right;
    record.checked = true;
  }
  std::string checked = !check ? "" : record.checked ? "accepted  " : "not judged  ";
  if (record.spills != 0)
    checked += "SPILLS  ";
  if (!benchmark) {
    std::printf("%-16s %-44s %s%s\n", one.family.c_str(), one.name.c_str(), checked.c_str(),
                record.schedule.c_str());
    return autotune ? tune(*program, options, dims, conditions.misalign, record) : Status();
  }
  auto measured =
      benchmark->measure(*plan, inputSpecs(*program, program->inputs()), traffic, conditions);
  if (!measured)
    return measured.takeError();
  record.time = *measured;
  if (record.flops != 0)
    checked += fmt::format("{:.0f} TFLOP/s  ", record.flopsPerSecond() / 1e12);
  std::printf("%-16s %-44s %10.2f %8.0f %6.3f %10.2f %+8.2f  %s%s\n", one.family.c_str(),
              one.name.c_str(), record.time.seconds * 1e6, record.bytesPerSecond() / 1e9,
              record.time.share(), record.time.streamSeconds * 1e6,
              (record.time.seconds - record.time.streamSeconds) * 1e6, checked.c_str(),
              record.kernels > 1 ? fmt::format("{} kernels", record.kernels).c_str()
                                 : record.schedule.c_str());
  records.push_back(record);
  return autotune ? tune(*program, options, dims, conditions.misalign, records.back()) : Status();
}

//===----------------------------------------------------------------------===//
// All cases
//===----------------------------------------------------------------------===//

static Expected<std::vector<BenchCase>> chooseCases() {
  std::vector<BenchCase> cases;
  auto add = [&](Expected<std::vector<BenchCase>> more) -> Status {
    if (!more)
      return more.takeError();
    cases.insert(cases.end(), more->begin(), more->end());
    return {};
  };
  for (const std::string &file : caseFiles) {
    auto text = readFile(file);
    if (!text)
      return text.takeError();
    if (Status added = add(parseCases(*text, file)); !added)
      return added.takeError();
  }
  for (const std::string &line : caseLines)
    if (Status added = add(parseCases(line, "--case")); !added)
      return added.takeError();
  for (const std::string &word : what) {
    bool isFile = llvm::StringRef(word).ends_with(".mlir");
    if (Status added = add(parseCaseLine((isFile ? "graph " : "peers ") + word)); !added)
      return added.takeError();
  }
  if (what.empty() && caseFiles.empty() && caseLines.empty())
    if (Status added = add(parseCaseLine("peers")); !added)
      return added.takeError();
  cases.erase(std::remove_if(cases.begin(), cases.end(),
                             [](const BenchCase &one) {
                               return (one.family + " " + one.name).find(filter) ==
                                      std::string::npos;
                             }),
              cases.end());
  if (cases.empty())
    return makeError(Stage::Input, "there is no such case");
  return cases;
}

static Status runAll(bool &failed) {
  if (outputs != "reuse" && outputs != "rotate")
    return makeError(Stage::Input, fmt::format("--outputs is '{}'; needed: reuse or rotate",
                                               printable(outputs.getValue())));
  auto cases = chooseCases();
  if (!cases)
    return cases.takeError();
  // What cannot be written is said before anything takes long.
  for (const std::string &file : {jsonFile.getValue(), svgFile.getValue(), listFile.getValue()})
    if (!file.empty())
      if (Status writable = checkWritable(file); !writable)
        return writable;
  if (!listFile.empty())
    return writeFile(listFile, formatCases(*cases));
  Bench bench;
  if (Status prepared = bench.prepare(); !prepared)
    return prepared;
  if (autotune && bench.isTimed())
    if (Status place = TunedSchedules::checkPlace(Options::get()); !place)
      return place;
  for (const BenchCase &one : *cases) {
    if (Status measured = bench.run(one); !measured) {
      failed = true;
      std::printf("%-16s %-44s FAILED %s\n", one.family.c_str(), one.name.c_str(),
                  measured.error().str().c_str());
    }
    std::fflush(stdout);
    // What a lost device would say of every further case is no news.
    if (size_t left = size_t(&cases->back() - &one); left != 0 && !bench.device->health()) {
      std::printf("the device is lost: %zu more cases were not measured\n", left);
      break;
    }
  }
  if (autotune && bench.isTimed())
    bench.tunings.print();
  if (!jsonFile.empty())
    if (Status written = writeFile(jsonFile, formatRecords(bench.records)); !written)
      return written;
  if (svgFile.empty())
    return {};
  std::string title =
      fmt::format("Share of a copy of the same bytes, {}", bench.device->properties().name);
  return writeFile(svgFile, plotShares(bench.records, title));
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Times operations and graphs beside a copy\n");
  for (const std::string &warning : Options::get().warnings)
    std::fprintf(stderr, "swage-bench: warning: %s\n", warning.c_str());
  bool failed = false;
  if (Status ran = runAll(failed); !ran) {
    std::fprintf(stderr, "swage-bench: %s\n", ran.error().str().c_str());
    return 1;
  }
  return failed ? 1 : 0;
}
