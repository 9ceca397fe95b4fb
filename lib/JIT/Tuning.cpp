//===- Tuning.cpp - What an autotuner may try -----------------------------===//

#include "swage/JIT/Tuning.h"

#include "BuildVariant.h"
#include "ExecutableState.h"
#include "swage/Dialect/Swage/Transforms/ScheduleCandidates.h"
#include "swage/Runtime/TunedSchedules.h"

using namespace swage;

static std::string textOf(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

std::string swage::schedulesFor(const CompileOptions &options) {
  // Of two for one kernel the last counts.
  return TunedSchedules::load(options.environment).forDevice(options.arch, options.device) +
         options.schedules;
}

Expected<std::vector<KernelSchedules>> swage::findSchedules(const Program &program,
                                                            const CompileOptions &options) {
  if (!program.ir())
    return makeError(Stage::Input, "a program from a bundle has no schedules to choose from");
  auto request = requestFor(program, options);
  if (!request)
    return request.takeError();
  ProgramIR &ir = *program.ir();
  std::lock_guard<std::mutex> lock(ir.mutex);
  LoweredModule lowered;
  if (Status filled = lowerProgram(ir, *request, /*schedules=*/"", lowered); !filled)
    return filled.takeError();
  std::vector<KernelSchedules> all;
  for (KernelOp kernel : lowered.kernels) {
    KernelSchedules schedules;
    schedules.kernel = kernel.getSymName().str();
    schedules.selected = textOf(kernel.getScheduleAttr());
    for (mlir::Attribute candidate : scheduleCandidates(kernel))
      schedules.candidates.push_back(textOf(candidate));
    all.push_back(std::move(schedules));
  }
  return all;
}
