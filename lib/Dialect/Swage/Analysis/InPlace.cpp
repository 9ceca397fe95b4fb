//===- InPlace.cpp - Outputs that may take an input's memory --------------===//

#include "swage/Dialect/Swage/Analysis/InPlace.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace swage;

/// Whether no two points of the iteration space share an element of a view, which has no gaps.
static bool isDense(KernelOp kernel, ViewAttr view) {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  SmallVector<std::pair<AffineExpr, AffineExpr>> left; // stride, extent
  for (auto [stride, extent] : llvm::zip_equal(access.strides, kernel.getExtents().getResults()))
    if (constantSize(extent) != 1)
      left.push_back({stride, extent});
  AffineExpr run = getAffineConstantExpr(1, kernel.getContext());
  while (!left.empty() && run) {
    auto next = llvm::find_if(left, [&](auto &dim) { return dim.first == run; });
    if (next == left.end())
      return false;
    run = multiplySizes(run, next->second);
    left.erase(next);
  }
  return left.empty() && constantSize(access.offset) == 0;
}

/// Whether no other view of the list is of the same tensor.
static bool isAlone(ArrayAttr views, ViewAttr view) {
  return llvm::count_if(views.getAsRange<ViewAttr>(),
                        [&](ViewAttr other) { return other.getTensor() == view.getTensor(); }) == 1;
}

static bool isPerElement(PhaseOp phase) {
  switch (phase.getKind()) {
  case Phase::Body:
  case Phase::Prologue:
  case Phase::Between:
  case Phase::Epilogue:
    return true;
  default:
    return false;
  }
}

/// Whether the template evaluates the prologue anew for each later phase, and reads an input that
/// does not wait on chip again for it; or another block of a crowd may do so.
static bool readsAgain(KernelOp kernel, int64_t input) {
  auto row = dyn_cast<RowScheduleAttr>(kernel.getScheduleAttr());
  if (!row || (row.getKind() != RowClass::Looped && row.getKind() != RowClass::Column))
    return false;
  // Only what the prologue reads waits on chip.
  bool isReadLater = llvm::any_of(kernel.getBody().getOps<PhaseOp>(), [&](PhaseOp phase) {
    return phase.getKind() != Phase::Prologue && llvm::is_contained(phase.getLoads(), input);
  });
  bool mayBeOutOfStep =
      row.getAligned() && !isInStep(kernel, {false, unsigned(input)}, row.getVector());
  return isReadLater || row.getShelvedSteps() > 0 || row.meetsInMemory() || mayBeOutOfStep ||
         !isShelved(kernel, row, unsigned(input));
}

/// Whether the thread that writes an element of the output has read that of the input by then, for
/// the last time and for sure: a load that nothing written depends on may be moved behind the
/// write by the compiler.
static bool isReadBeforeWritten(KernelOp kernel, int64_t input, int64_t output) {
  SmallVector<PhaseOp> phases(kernel.getBody().getOps<PhaseOp>());
  auto writes = llvm::find_if(
      phases, [&](PhaseOp phase) { return llvm::is_contained(phase.getStores(), output); });
  if (writes == phases.end() || !isPerElement(*writes))
    return false;
  PhaseOp writer = *writes;
  Block &body = writer.getBody().front();
  auto indexIn = [](ArrayRef<int64_t> list, int64_t number) {
    return unsigned(llvm::find(list, number) - list.begin());
  };
  ArrayRef<int64_t> stores = writer.getStores(), loads = writer.getLoads();
  OperandRange yielded = body.getTerminator()->getOperands();
  Value written = yielded[yielded.size() - stores.size() + indexIn(stores, output)];
  bool again = readsAgain(kernel, input);
  if (again && writer.getKind() != Phase::Epilogue)
    return false;
  // Those that run once per element stand in the order in which they run.
  for (auto reader = phases.begin(); reader != phases.end(); ++reader) {
    if (!llvm::is_contained(reader->getLoads(), input))
      continue;
    if (!isPerElement(*reader) || reader > writes)
      return false;
    if (reader == writes) {
      unsigned first = body.getNumArguments() - loads.size();
      if (!dependsOn(written, body.getArgument(first + indexIn(loads, input))))
        return false;
    } else if (again && !dependsOn(written, body.getArgument(0))) {
      return false;
    }
  }
  return true;
}

SmallVector<std::pair<unsigned, unsigned>> swage::inPlacePairs(KernelOp kernel) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  ArrayRef<Attribute> outputs = kernel.getOutputs().getValue();
  if (!isa_and_nonnull<PointwiseScheduleAttr, RowScheduleAttr>(kernel.getScheduleAttr()))
    outputs = {};
  for (auto [o, attr] : llvm::enumerate(outputs)) {
    auto output = cast<ViewAttr>(attr);
    if (isRow(output.getSource()) || kernel.getRowsOf(o))
      continue;
    if (!isDense(kernel, output) || !isAlone(kernel.getOutputs(), output))
      continue;
    for (auto [i, input] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>()))
      if (input.getSource() == Source::Memory && isAlone(kernel.getInputs(), input) &&
          input.getAccess() == output.getAccess() && input.getShape() == output.getShape() &&
          elementBytes(input.getElement()) == elementBytes(output.getElement()) &&
          isReadBeforeWritten(kernel, i, o))
        pairs.push_back({unsigned(output.getTensor()), unsigned(input.getTensor())});
  }
  // What keeps most of an operand may be that operand, if nothing of it is read, or, as attention's
  // keys and values, behind the rows that are written.
  for (auto [output, kept] : keptPairs(kernel))
    if (kernel.isAttention() ||
        llvm::none_of(kernel.getInputs().getAsRange<ViewAttr>(),
                      [kept = kept](ViewAttr view) { return view.getTensor() == int64_t(kept); }))
      pairs.push_back({output, kept});
  return pairs;
}

SmallVector<std::pair<unsigned, unsigned>> swage::keptPairs(KernelOp kernel) {
  llvm::SmallSetVector<std::pair<unsigned, unsigned>, 4> pairs;
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    if (ViewAttr rows = kernel.getRowsOf(i))
      pairs.insert({unsigned(kernel.getOutput(i).getTensor()), unsigned(rows.getTensor())});
  return pairs.takeVector();
}

int64_t swage::elementsPerBlock(KernelOp kernel) {
  auto schedule = dyn_cast_or_null<PointwiseScheduleAttr>(kernel.getScheduleAttr());
  return schedule ? schedule.getThreads() * schedule.getVector() * schedule.getUnroll() : 0;
}
