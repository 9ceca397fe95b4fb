//===- swage-run.cpp - Compiles a graph, runs it, checks and times it -----===//
//
// The main job in one command: swage-run model.mlir --check --benchmark.  Without a GPU the same
// kernels run on the simulator.  Exit code 0: nothing failed and every checked result was
// accepted.
//
//===----------------------------------------------------------------------===//
#include "Benchmark.h"
#include "GuardedRun.h"
#include "RunOptions.h"
#include "RunReport.h"
#include "SimulateScripts.h"
#include "Tuner.h"

#include "swage/JIT/ProgramIR.h"
#include "swage/JIT/Progress.h"
#include "swage/Reference/Acceptance.h"
#include "swage/Reference/Interpreter.h"
#include "swage/Reference/Npy.h"
#include "swage/Simt/Simulator.h"
#include "swage/Support/Text.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>

using namespace swage;
using namespace swage::options;
namespace cl = llvm::cl;

namespace {
class Runner {
public:
  Status run();
  bool allAccepted() const { return accepted; }

private:
  Status checkOutputs() const;
  Status checkSteps() const;
  Status chooseDevice();
  Status chooseSimulator();
  Expected<std::vector<Dims>> chooseDims() const;
  Expected<std::vector<reference::Tensor>> makeInputs(reference::InputFamily family,
                                                      const std::vector<TensorType> &types,
                                                      unsigned step = 0) const;
  Expected<std::vector<reference::Value>>
  evaluateReference(const std::vector<reference::Tensor> &inputs,
                    const reference::EvaluateOptions &options) const;
  Status runReference(reference::InputFamily family, const std::vector<Dims> &dims) const;
  Status runFamily(reference::InputFamily family);
  Status checkReplay(const std::vector<std::vector<reference::Tensor>> &inputs,
                     const std::vector<reference::Tensor> &expected);
  Expected<std::vector<reference::Tensor>> runPlan(const std::vector<reference::Tensor> &inputs);
  Status judgeResults(const std::vector<reference::Tensor> &inputs,
                      const std::vector<reference::Tensor> &actual, const std::string &family);
  Status timeKernels();
  Status tuneKernels(const CompileOptions &options, const std::vector<Dims> &dims) const;
  Status saveOutputs(const std::vector<reference::Tensor> &results) const;

  static void say(const std::string &line) {
    std::fprintf(stderr, "swage-run: %s\n", line.c_str());
  }

  std::string executableArch() const {
    return !arch.empty() ? arch.getValue() : device ? device->properties().arch : "sm_90a";
  }
  const std::vector<KernelInfo> &kernels() const { return executable->kernels(layout->indexBits); }
  bool isSimulated() const { return device && device->driver().isSimulator(); }

  std::optional<Device> device;
  std::string whyNoDevice;
  simt::SimulatorOptions simulation;
  std::shared_ptr<const KernelCompiler> compiler; ///< null: NVRTC
  std::optional<Program> program;
  std::optional<Executable> executable;
  std::optional<Layout> layout;
  std::optional<Plan> plan;
  RunReport report;
  double runSeconds = 0; ///< of the host
  bool accepted = true;
};
} // namespace

/// What cannot be written is said before anything takes long.
Status Runner::checkOutputs() const {
  if (!jsonFile.empty())
    if (Status writable = checkWritable(jsonFile); !writable)
      return writable;
  if (outputDir.empty() || (!device && deviceName != "reference"))
    return {};
  std::error_code error;
  std::filesystem::create_directories(outputDir.getValue(), error);
  if (error)
    return makeError(Stage::Input, fmt::format("cannot create '{}': {}",
                                               printable(outputDir.getValue()), error.message()));
  return checkWritable(outputDir + "/result0.npy");
}

/// What goes from step to step is a result and an argument.
Status Runner::checkSteps() const {
  if (steps == 0)
    return makeError(Stage::Input, "--steps is 0; needed: at least 1");
  for (auto [result, argument] : layout->aliases)
    if (const TensorType &from = layout->results[result], &to = layout->inputs[argument];
        steps > 1 && (from.shape != to.shape || from.element != to.element))
      return makeError(Stage::Input,
                       fmt::format("--steps: result {} ({}) is to be argument {} ({}) "
                                   "of the next step",
                                   result, from.str(), argument, to.str()));
  return {};
}

Status Runner::chooseSimulator() {
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

Status Runner::chooseDevice() {
  if (deviceName != "" && deviceName != "gpu" && deviceName != "sim" && deviceName != "reference" &&
      deviceName != "none")
    return makeError(Stage::Input,
                     fmt::format("--device is '{}'; needed: gpu, sim, reference or none",
                                 printable(deviceName.getValue())));
  if (simText.getNumOccurrences() != 0 && deviceName != "" && deviceName != "sim")
    return makeError(Stage::Input,
                     fmt::format("--sim is given with --device={}", deviceName.getValue()));
  auto parsed = simt::SimulatorOptions::parse(simText);
  if (!parsed)
    return parsed.takeError();
  simulation = *parsed;
  if (deviceName == "sim" || simText.getNumOccurrences() != 0)
    return chooseSimulator();
  if (deviceName == "none" || deviceName == "reference") {
    whyNoDevice = "--device=" + deviceName;
    return {};
  }
  auto opened = Device::open();
  if (opened) {
    device = *opened;
    return {};
  }
  if (deviceName == "gpu")
    return opened.takeError();
  whyNoDevice = opened.error().message;
  Status simulator = chooseSimulator();
  if (simulator)
    std::printf("no GPU (%s): the kernels run on the simulator\n", whyNoDevice.c_str());
  else if (simulator.error().stage == Stage::Input)
    return simulator;
  else
    whyNoDevice += "; nor is there a simulator: " + simulator.error().message;
  return {};
}

/// The static shapes, --dims, or the shapes of the files.
Expected<std::vector<Dims>> Runner::chooseDims() const {
  std::vector<Dims> dims;
  for (const TensorType &type : program->inputs())
    dims.push_back(type.shape);
  if (!dimsText.empty()) {
    llvm::SmallVector<llvm::StringRef> lists;
    llvm::StringRef(dimsText).split(lists, ';');
    if (lists.size() != dims.size())
      return makeError(Stage::Input, fmt::format("--dims has {} lists; @{} has {} arguments",
                                                 lists.size(), entryName.getValue(), dims.size()));
    for (size_t i = 0; i < lists.size(); ++i) {
      if (lists[i].trim().empty())
        continue;
      dims[i].clear();
      llvm::SmallVector<llvm::StringRef> extents;
      lists[i].split(extents, ',');
      for (llvm::StringRef text : extents) {
        int64_t extent = 0;
        if (text.trim().getAsInteger(10, extent) || extent < 0)
          return makeError(Stage::Input,
                           fmt::format("--dims: '{}' is no extent; needed: a number from 0",
                                       printable(text.str())));
        dims[i].push_back(extent);
      }
    }
  } else {
    for (size_t i = 0; i < npyFiles.size() && i < dims.size(); ++i) {
      if (program->inputs()[i].isStatic())
        continue;
      auto tensor = reference::readNpy(npyFiles[i]);
      if (!tensor)
        return convert(tensor.takeError());
      dims[i].assign(tensor->shape().begin(), tensor->shape().end());
    }
  }
  for (size_t i = 0; i < dims.size(); ++i)
    for (int64_t extent : dims[i])
      if (extent == TensorType::kDynamic)
        return makeError(Stage::Input,
                         fmt::format("argument {} ({}) has dynamic extents; give them with --dims "
                                     "or --input",
                                     i, program->inputs()[i].str()));
  return dims;
}

static Expected<reference::Tensor> readGiven(size_t argument, const TensorType &type) {
  auto tensor = reference::readNpy(npyFiles[argument], elementTypeNamed(type.element), type.shape);
  if (!tensor)
    return convert(tensor.takeError());
  return std::move(*tensor);
}

Expected<std::vector<reference::Tensor>> Runner::makeInputs(reference::InputFamily family,
                                                            const std::vector<TensorType> &types,
                                                            unsigned step) const {
  std::vector<reference::Tensor> tensors;
  std::vector<InputSpec> specs = inputSpecs(*program, types);
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType &type = types[i];
    if (i < npyFiles.size()) {
      auto tensor = readGiven(i, type);
      if (!tensor)
        return tensor.takeError();
      tensors.push_back(std::move(*tensor));
      continue;
    }
    auto tensor = specs[i].make(family, seed + step, i);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Expected<std::vector<reference::Value>>
Runner::evaluateReference(const std::vector<reference::Tensor> &inputs,
                          const reference::EvaluateOptions &options) const {
  std::vector<const reference::Tensor *> pointers;
  for (const reference::Tensor &input : inputs)
    pointers.push_back(&input);
  DiagnosticCollector diagnostics(program->ir()->context);
  auto values = reference::evaluate(program->ir()->entry, pointers, options);
  if (mlir::failed(values))
    return diagnostics.take(Stage::Run, "the reference could not be evaluated");
  return std::move(*values);
}

/// What the graph means; its ops need no kernels.
Status Runner::runReference(reference::InputFamily family, const std::vector<Dims> &dims) const {
  std::vector<TensorType> types = program->inputs();
  for (size_t i = 0; i < types.size(); ++i)
    types[i].shape = dims[i];
  auto inputs = makeInputs(family, types);
  if (!inputs)
    return inputs.takeError();
  auto values = evaluateReference(*inputs, {});
  if (!values)
    return values.takeError();
  std::vector<reference::Tensor> results;
  for (const reference::Value &value : *values) {
    auto tensor = value.toTensor();
    if (!tensor)
      return convert(tensor.takeError());
    results.push_back(std::move(*tensor));
  }
  std::printf("evaluated %zu result%s by the reference; no kernel was made\n", results.size(),
              results.size() == 1 ? "" : "s");
  return outputDir.empty() ? Status() : saveOutputs(results);
}

Status Runner::judgeResults(const std::vector<reference::Tensor> &inputs,
                            const std::vector<reference::Tensor> &actual,
                            const std::string &family) {
  Progress progress(say, "evaluating the reference");
  reference::EvaluateOptions options;
  const auto &stored = executable->storedLocations(layout->indexBits);
  options.stored.insert(stored.begin(), stored.end());
  auto expected = evaluateReference(inputs, options);
  if (!expected)
    return expected.takeError();
  for (size_t i = 0; i < actual.size(); ++i) {
    progress.update(fmt::format("judging result {} of {}", i + 1, actual.size()));
    reference::AcceptanceOptions judging;
    std::string name = fmt::format("result {} on {} inputs", i, family);
    judging.name = name;
    reference::Verdict verdict = reference::judge(actual[i], (*expected)[i], judging);
    // Awkward values may leave too little to judge; the plain families may not.
    if (!report.results[i].add(verdict, inputKind == "nasty")) {
      accepted = false;
      std::printf("%s\n", verdict.line().c_str());
    }
  }
  return {};
}

/// Each step is judged by itself, from what the one before left on the device. Then all of them are
/// replays of one graph, which must end with the same bits.
Status Runner::runFamily(reference::InputFamily family) {
  std::vector<reference::Tensor> results;
  std::vector<std::vector<reference::Tensor>> all;
  for (unsigned step = 0; step < steps; ++step) {
    auto inputs = makeInputs(family, layout->inputs, step);
    if (!inputs)
      return inputs.takeError();
    for (auto [result, argument] : layout->aliases)
      if (step > 0)
        (*inputs)[argument] = std::move(results[result]);
    auto ran = runPlan(*inputs);
    if (!ran)
      return ran.takeError();
    results = std::move(*ran);
    if (step + 1 == steps && !outputDir.empty())
      if (Status saved = saveOutputs(results); !saved)
        return saved;
    std::string name = reference::name(family).str();
    if (steps > 1)
      name += fmt::format(" (step {})", step);
    if (check)
      if (Status judged = judgeResults(*inputs, results, name); !judged)
        return judged;
    if (steps == 1 || !check)
      continue;
    // What is carried comes from the replay itself.
    for (auto [result, argument] : layout->aliases)
      if (step > 0)
        (*inputs)[argument] = reference::Tensor();
    all.push_back(std::move(*inputs));
  }
  return all.empty() ? Status() : checkReplay(all, results);
}

Status Runner::checkReplay(const std::vector<std::vector<reference::Tensor>> &inputs,
                           const std::vector<reference::Tensor> &expected) {
  auto results = replaySteps(*device, *plan, *layout, inputs,
                             {reference::kPoisonNumber, offset, !simulation.check, true});
  if (!results)
    return results.takeError();
  for (size_t i = 0; i < expected.size(); ++i)
    if (int64_t at = reference::firstDifference((*results)[i].data(), expected[i].data(),
                                                expected[i].bytes());
        at >= 0)
      return makeError(Stage::Run, fmt::format("result {} of step {} is another when steps are "
                                               "replays of one graph: byte {} of {} differs",
                                               i, inputs.size() - 1, at, expected[i].bytes()));
  std::printf("%zu steps as replays of one captured graph: the same results\n", inputs.size());
  return {};
}

Expected<std::vector<reference::Tensor>>
Runner::runPlan(const std::vector<reference::Tensor> &inputs) {
  Progress progress(say, isSimulated() ? "running on the simulator" : "running");
  auto begin = std::chrono::steady_clock::now();
  bool bands = !simulation.check;
  auto results =
      check ? runTwice(*device, *plan, *layout, inputs, offset, bands)
            : runGuarded(*device, *plan, *layout, inputs, {reference::kPoisonNaN, offset, bands});
  runSeconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return results;
}

Status Runner::tuneKernels(const CompileOptions &options, const std::vector<Dims> &dims) const {
  if (!device || isSimulated())
    return makeError(Stage::Input, "--autotune needs a GPU: times of the simulator mean nothing");
  // What cannot be kept is said before minutes go by.
  if (Status place = TunedSchedules::checkPlace(options.environment); !place)
    return place;
  constexpr size_t kRows = 12; // of the table
  Progress progress(say, "tuning");
  auto bench = Benchmark::create(*device);
  if (!bench)
    return bench.takeError();
  TuningOptions tuning;
  tuning.misalign = offset;
  tuning.budget = budget;
  tuning.progress = [&](const std::string &stage) { progress.update(stage); };
  auto tuned = Tuner(*device, *bench, offset).tune(*program, options, dims, tuning);
  if (!tuned)
    return tuned.takeError();
  printTuning(*tuned, kRows);
  return storeTuning(options.environment, device->properties(), *tuned);
}

Status Runner::saveOutputs(const std::vector<reference::Tensor> &results) const {
  for (size_t i = 0; i < results.size(); ++i)
    if (llvm::Error failed = reference::writeNpy(
            fmt::format("{}/result{}.npy", outputDir.getValue(), i), results[i]))
      return convert(std::move(failed));
  return {};
}

Status Runner::timeKernels() {
  Progress progress(say, "measuring");
  auto bench = Benchmark::create(*device);
  if (!bench)
    return bench.takeError();
  Conditions conditions;
  conditions.misalign = offset;
  std::vector<reference::Tensor> given;
  for (size_t i = 0; i < npyFiles.size(); ++i) {
    auto tensor = readGiven(i, layout->inputs[i]);
    if (!tensor)
      return tensor.takeError();
    given.push_back(std::move(*tensor));
  }
  for (size_t i = 0; i < layout->launches.size(); ++i) {
    const LaunchInfo &launch = layout->launches[i];
    report.seconds.push_back(0);
    report.shares.push_back(0);
    if (launch.blocks == 0)
      continue;
    progress.update(fmt::format("measuring kernel {} of {}", i + 1, layout->launches.size()));
    auto single = executable->planLaunch(*device, *layout, i);
    if (!single)
      return single.takeError();
    uint64_t written = 0;
    for (const LaunchTensor &tensor : launch.outputs)
      written += tensor.type.bytes();
    written = std::min(written, launch.bytesMoved);
    std::vector<InputSpec> inputs = inputSpecs(*program, launch);
    for (auto [input, tensor] : llvm::zip_equal(inputs, launch.inputs))
      if (tensor.kind == BufferKind::Input && tensor.index < given.size() &&
          tensor.type.element == layout->inputs[tensor.index].element)
        input.given = &given[tensor.index];
    auto measured =
        bench->measure(*single, inputs, {{launch.bytesMoved - written, written}}, conditions);
    if (!measured)
      return measured.takeError();
    report.seconds[i] = measured->seconds;
    report.shares[i] = measured->share();
  }
  return {};
}

Status Runner::run() {
  std::vector<reference::InputFamily> families;
  if (inputKind == "random")
    families = {reference::InputFamily::Dense};
  else if (inputKind == "exact")
    families = {reference::InputFamily::Exact};
  else if (inputKind == "nasty")
    for (unsigned i = 2; i < reference::kInputFamilies; ++i)
      families.push_back(reference::InputFamily(i));
  else
    return makeError(Stage::Input, fmt::format("--inputs is '{}'; needed: random, exact or nasty",
                                               printable(inputKind.getValue())));
  // Beyond the guard bands' size an offset tests nothing more.
  if (int64_t most = reference::GuardedLayout().guardBytes; offset < 0 || offset > most)
    return makeError(Stage::Input,
                     fmt::format("--offset is {}; needed: 0 to {}", offset.getValue(), most));
  auto text = readFile(inputFile);
  if (!text)
    return text.takeError();
  ParseOptions parsing;
  parsing.filename = inputFile;
  parsing.entry = entryName;
  // Lines about what takes long are this tool's own.
  ContextOptions context;
  context.events = [](const TraceEvent &) {};
  auto parsed = Program::parse(*text, parsing, Context(std::move(context)));
  if (!parsed)
    return parsed.takeError();
  program = *parsed;
  if (npyFiles.size() > program->inputs().size())
    return makeError(Stage::Input,
                     fmt::format("{} files are given with --input; @{} has {} "
                                 "arguments",
                                 npyFiles.size(), entryName.getValue(), program->inputs().size()));
  // What may be wrong with the inputs is said before anything takes long.
  auto dims = chooseDims();
  if (!dims)
    return dims.takeError();
  for (size_t i = 0; i < npyFiles.size(); ++i) {
    auto file =
        reference::readNpy(npyFiles[i], elementTypeNamed(program->inputs()[i].element), (*dims)[i]);
    if (!file)
      return convert(file.takeError());
  }
  if (Status chosen = chooseDevice(); !chosen)
    return chosen;
  if (Status writable = checkOutputs(); !writable)
    return writable;
  if (deviceName == "reference")
    return runReference(families.front(), *dims);

  CompileOptions options;
  options.arch = executableArch();
  options.compiler = compiler;
  options.fuse = fuse;
  options.shapes = *dims;
  if (!dumpText.empty()) {
    auto request = parseDump(dumpText);
    if (!request)
      return makeError(Stage::Input, "--dump: " + request.takeError().message);
    options.environment.dump = std::move(*request);
  }
  if (alignment != 0)
    options.alignment = {alignment};
  options.progress = say;
  if (device)
    options.device = device->properties().name;
  if (autotune)
    if (Status tuned = tuneKernels(options, *dims); !tuned)
      return tuned;
  auto compiled = program->compile(options);
  if (!compiled)
    return compiled.takeError();
  executable = *compiled;
  auto laidOut = executable->layout(*dims);
  if (!laidOut)
    return laidOut.takeError();
  layout = std::move(*laidOut);
  if (remarks)
    for (const std::string &remark : executable->remarks(layout->indexBits))
      std::printf("%s\n", remark.c_str());
  report.results.resize(layout->results.size());
  if (Status carried = checkSteps(); !carried)
    return carried;

  if (device) {
    std::string how = simulation.str();
    std::printf("%s on the %s%s\n", inputFile.c_str(), device->properties().name.c_str(),
                how.empty() ? "" : (" (" + how + ")").c_str());
    auto planned = executable->plan(*device, *dims);
    if (!planned)
      return planned.takeError();
    plan = *planned;
    for (reference::InputFamily family : families)
      if (Status ran = runFamily(family); !ran)
        return ran;
    if (benchmark && isSimulated())
      std::printf("no times: those of the simulator would mean nothing\n");
    else if (benchmark)
      if (Status timed = timeKernels(); !timed)
        return timed;
  }
  report.isSimulated = isSimulated();
  report.printKernels(*layout, kernels());
  if (device)
    report.printResults(*layout);
  if (isSimulated())
    std::printf(
        "%zu kernel%s ran on the simulator for %.1f s, compiled by %s: the same text that a "
        "GPU runs.\nWith a GPU this command also times every kernel beside a copy of the same "
        "bytes.\n",
        kernels().size(), kernels().size() == 1 ? "" : "s", runSeconds,
        compiler->identity().c_str());
  else if (!device)
    std::printf("compiled %zu kernel%s for %s; nothing was run: %s.\nWith a GPU this command also "
                "runs the kernels; --check judges every result against the f64 reference and "
                "--benchmark times every kernel beside a copy of the same bytes.\n",
                kernels().size(), kernels().size() == 1 ? "" : "s", options.arch.c_str(),
                whyNoDevice.c_str());
  if (!device && !outputDir.empty())
    std::printf("nothing is saved in '%s': there are no results.\n", outputDir.c_str());
  // Of the launches, for the sources.
  const DumpRequest &dump = options.environment.dump;
  if (dump.wants(DumpLaunch) && dump.wants(DumpCuda))
    if (Status written = writeSimulateScripts(dump.directory, executableArch(), *layout, kernels());
        !written)
      return written;
  if (jsonFile.empty())
    return {};
  std::string model = std::filesystem::path(inputFile.getValue()).stem().string();
  return writeFile(jsonFile, report.json(model, *layout, kernels()));
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Compiles a graph, runs it, checks and times it\n");
  for (const std::string &warning : Options::get().warnings)
    std::fprintf(stderr, "swage-run: warning: %s\n", warning.c_str());
  Runner runner;
  if (Status ran = runner.run(); !ran) {
    std::fprintf(stderr, "swage-run: %s\n", ran.error().str().c_str());
    return 1;
  }
  return runner.allAccepted() ? 0 : 1;
}
