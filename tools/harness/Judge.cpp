//===- Judge.cpp - A program against the reference ------------------------===//

#include "Judge.h"

#include "swage/JIT/ProgramIR.h"
#include "swage/Reference/Acceptance.h"
#include "swage/Reference/Interpreter.h"

#include <fmt/format.h>

using namespace swage;

Expected<Judge> Judge::create(const Program &program, const Executable &executable,
                              const Layout &layout) {
  Judge judge;
  std::vector<const reference::Tensor *> pointers;
  for (const InputSpec &spec : inputSpecs(program, layout.inputs)) {
    auto input = spec.make(reference::InputFamily::Dense, 1, judge.inputs.size());
    if (!input)
      return input.takeError();
    judge.inputs.push_back(std::move(*input));
  }
  for (const reference::Tensor &input : judge.inputs)
    pointers.push_back(&input);
  ProgramIR &ir = *program.ir();
  std::lock_guard<std::mutex> lock(ir.mutex);
  DiagnosticCollector diagnostics(ir.context);
  reference::EvaluateOptions options;
  const auto &stored = executable.storedLocations(layout.indexBits);
  options.stored.insert(stored.begin(), stored.end());
  auto expected = reference::evaluate(ir.entry, pointers, options);
  if (mlir::failed(expected))
    return diagnostics.take(Stage::Run, "the reference could not be evaluated");
  judge.expected = std::move(*expected);
  return judge;
}

Status Judge::check(const Device &device, const Plan &plan, const Layout &layout,
                    int64_t misalign) const {
  GuardedOptions options;
  options.misalign = misalign;
  auto actual = runGuarded(device, plan, layout, inputs, options);
  if (!actual)
    return actual.takeError();
  for (size_t i = 0; i < actual->size(); ++i) {
    std::string name = fmt::format("result {}", i);
    reference::AcceptanceOptions judging;
    judging.name = name;
    auto verdict = reference::judge((*actual)[i], expected[i], judging);
    if (!verdict.accepted())
      return makeError(Stage::Run, verdict.line());
  }
  return {};
}
