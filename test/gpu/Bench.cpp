//===- Bench.cpp - The families of bench/peers.py -------------------------===//

#include "BenchCases.h"
#include "Benchmark.h"
#include "GuardedRun.h"
#include "Modes.h"

#include "swage/JIT/ProgramIR.h"
#include "swage/Reference/Acceptance.h"
#include "swage/Reference/Interpreter.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;
using namespace swage::test;

static Expected<Executable> compile(const Device &device, const BenchCase &test,
                                    std::optional<Program> &program) {
  ParseOptions parsing;
  parsing.filename = test.family;
  auto parsed = Program::parse(test.text, parsing);
  if (!parsed)
    return parsed.takeError();
  program = *parsed;
  CompileOptions options;
  options.arch = device.properties().arch;
  return program->compile(options);
}

/// Judges a case at its full size on dense inputs.
static Status judgeCase(const Device &device, const Program &program, const Executable &executable,
                        const std::vector<Dims> &dims, const Plan &plan) {
  auto layout = executable.layout(dims);
  if (!layout)
    return layout.takeError();
  std::vector<reference::Tensor> inputs;
  std::vector<const reference::Tensor *> pointers;
  for (size_t i = 0; i < layout->inputs.size(); ++i) {
    auto input = makeInput(layout->inputs[i], reference::InputFamily::Dense, 1, i);
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  for (const reference::Tensor &input : inputs)
    pointers.push_back(&input);
  auto actual = runGuarded(device, plan, *layout, inputs);
  if (!actual)
    return actual.takeError();
  DiagnosticCollector diagnostics(program.ir()->context);
  reference::EvaluateOptions options;
  options.stored.insert(executable.storedLocations().begin(), executable.storedLocations().end());
  auto expected = reference::evaluate(program.ir()->entry, pointers, options);
  if (mlir::failed(expected))
    return diagnostics.take(Stage::Run, "the reference could not be evaluated");
  for (size_t i = 0; i < actual->size(); ++i) {
    auto verdict = reference::judge((*actual)[i], (*expected)[i]);
    if (!verdict.accepted())
      return makeError(Stage::Run, verdict.line());
  }
  return {};
}

Status swage::test::runBench(const Device &device, const std::vector<std::string> &groups,
                             const std::string &json, bool check) {
  auto bench = Benchmark::create(device);
  if (!bench)
    return bench.takeError();
  std::vector<Record> records;
  int failures = 0;
  for (const BenchCase &test : benchCases()) {
    if (!groups.empty() && std::find(groups.begin(), groups.end(), test.group) == groups.end())
      continue;
    auto measure = [&]() -> Status {
      std::optional<Program> program;
      auto executable = compile(device, test, program);
      if (!executable)
        return executable.takeError();
      std::vector<Dims> dims;
      for (const TensorType &type : program->inputs())
        dims.push_back(type.shape);
      auto plan = executable->plan(device, dims);
      if (!plan)
        return plan.takeError();
      if (check)
        if (Status judged = judgeCase(device, *program, *executable, dims, *plan); !judged)
          return judged;
      auto seconds = bench->seconds(*plan, program->inputs());
      if (!seconds)
        return seconds.takeError();
      auto stream =
          test.readsOnly ? bench->readSeconds(test.bytes) : bench->copySeconds(test.bytes);
      if (!stream)
        return stream.takeError();
      Record record{test.family, test.name, *seconds, test.bytes, *stream / *seconds};
      std::string schedule;
      for (const KernelInfo &kernel : executable->kernels())
        schedule += (schedule.empty() ? "" : " ") + kernel.schedule;
      std::printf("%-16s %-44s %10.2f us %8.0f GB/s %5.2f of %s  %s\n", record.family.c_str(),
                  record.caseName.c_str(), *seconds * 1e6, double(test.bytes) / *seconds / 1e9,
                  record.share, test.readsOnly ? "a read" : "a copy", schedule.c_str());
      std::fflush(stdout);
      records.push_back(std::move(record));
      return {};
    };
    if (Status measured = measure(); !measured) {
      ++failures;
      std::printf("%-16s %-44s FAILED %s\n", test.family.c_str(), test.name.c_str(),
                  measured.error().str().c_str());
      std::fflush(stdout);
    }
  }
  if (!json.empty())
    if (Status written = writeRecords(json, records); !written)
      return written;
  if (failures)
    return makeError(Stage::Run, fmt::format("{} cases failed", failures));
  return {};
}
