//===- TrialCompiler.cpp - Kernels under many schedules -------------------===//

#include "TrialCompiler.h"

#include "swage/JIT/ProgramIR.h"

#include <algorithm>

using namespace swage;

void swage::compileTrial(const TrialProgram &one, const std::string &kernel, Trial &trial) {
  trial.schedule.outcome = TriedSchedule::Outcome::Unusable;
  CompileOptions options = one.options;
  options.schedules += kernel + "=" + trial.schedule.schedule + ";";
  auto executable = one.program.compile(options);
  if (!executable) {
    trial.schedule.why = executable.error().message.substr(0, 200);
    return;
  }
  auto layout = executable->layout(one.dims);
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

TrialCompiler::TrialCompiler(const TrialProgram &one, const std::string &kernel, unsigned threads,
                             std::vector<Trial *> trials)
    : one(one), kernel(kernel), trials(std::move(trials)) {
  for (unsigned i = 0; i < std::min<size_t>(threads, this->trials.size()); ++i)
    workers.emplace_back([this] { work(); });
}

TrialCompiler::~TrialCompiler() {
  begun = trials.size();
  for (std::thread &worker : workers)
    worker.join();
}

void TrialCompiler::work() {
  const ProgramIR &ir = *one.program.ir();
  ParseOptions parsing;
  parsing.filename = ir.filename;
  parsing.entry = ir.entryName;
  auto own = Program::parse(ir.text, parsing);
  const TrialProgram mine{own ? *own : one.program, one.options, one.dims};
  for (size_t i = begun++; i < trials.size(); i = begun++) {
    compileTrial(mine, kernel, *trials[i]);
    std::lock_guard<std::mutex> lock(mutex);
    done.push_back(trials[i]);
    changed.notify_one();
  }
}

Trial *TrialCompiler::next(Clock::time_point deadline) {
  std::unique_lock<std::mutex> lock(mutex);
  if (taken == trials.size() ||
      !changed.wait_until(lock, deadline, [&] { return !done.empty(); }))
    return nullptr;
  Trial *trial = done.front();
  done.pop_front();
  ++taken;
  return trial;
}
