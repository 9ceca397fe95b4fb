//===- ApplySchedules.cpp - --swage-apply-schedules ------------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "swage/Dialect/Swage/Transforms/ScheduleCandidates.h"
#include "llvm/ADT/StringMap.h"

namespace swage {
#define GEN_PASS_DEF_APPLYSCHEDULESPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

namespace {
struct ApplySchedulesPass : swage::impl::ApplySchedulesPassBase<ApplySchedulesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<StringRef> entries;
    StringRef(schedules).split(entries, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    llvm::StringMap<StringRef> told;
    for (StringRef entry : entries) {
      auto [name, text] = entry.split('=');
      told[name.trim()] = text.trim(); // the last one counts
    }
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      auto found = told.find(kernel.getSymName());
      if (found == told.end() || !kernel.getScheduleAttr())
        continue;
      StringRef text = found->second;
      Attribute before = kernel.getScheduleAttr();
      bool applied;
      {
        ScopedDiagnosticHandler silence(&getContext(), [](Diagnostic &) { return success(); });
        applied = tryReplaceSchedule(kernel, parseAttribute(text, &getContext()));
      }
      if (applied)
        kernel.emitRemark() << "has schedule " << kernel.getScheduleAttr() << " instead of "
                            << before << ", as it was told";
      else
        kernel.emitRemark() << "cannot have the schedule that it was told, " << text
                            << ": it keeps its own";
    }
  }
};
} // namespace
