//===- AttentionProblem.cpp - Attention as a kernel -----------------------===//

#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

ContractOp swage::scoresOf(KernelOp kernel) {
  return *kernel.getBody().getOps<ContractOp>().begin();
}
ContractOp swage::weightedValuesOf(KernelOp kernel) {
  return *std::next(kernel.getBody().getOps<ContractOp>().begin());
}

/// What the copy engine takes: vectors of 16 bytes along `inner`.
static bool isTiled(KernelOp kernel, ViewAttr view, unsigned inner) {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  int64_t vector = 16 / elementBytes(view.getElement());
  SizeFacts facts = factsOf(kernel);
  if (view.getSource() != Source::Memory || view.getAlign() < 16 ||
      constantSize(access.strides[inner]) != 1 || !isMultipleOf(access.offset, vector, facts))
    return false;
  for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
    if (dim != inner && !isMultipleOf(access.strides[dim], vector, facts))
      return false;
  return true;
}

std::optional<AttentionProblem> AttentionProblem::of(KernelOp kernel, std::string *why) {
  using Dim = AttentionDim;
  auto refuse = [&](const Twine &text) {
    if (why)
      *why = text.str();
    return std::nullopt;
  };
  static constexpr int64_t reduced[] = {Dim::Key, Dim::HeadDim};
  if (kernel.getRank() != Dim::Count || kernel.getReduced() != ArrayRef<int64_t>(reduced) ||
      kernel.getInputs().size() < AttentionInput::Count || kernel.getOutputs().empty())
    return refuse("attention is a sum over the last two of seven dimensions, with queries, keys "
                  "and values");
  AttentionProblem problem;
  problem.element = kernel.getInput(AttentionInput::Queries).getElement();
  if (!problem.element.isF16() && !problem.element.isBF16() && !problem.isNarrow())
    return refuse("attention's operands hold f16, bf16 or f8E4M3FN");
  problem.headDim = constantSize(kernel.getExtents().getResult(Dim::HeadDim)).value_or(0);
  problem.valueDim = constantSize(kernel.getExtents().getResult(Dim::ValueDim)).value_or(0);
  for (int64_t dim : {problem.headDim, problem.valueDim})
    if (dim < 8 || dim > 256 || dim % 8)
      return refuse("attention's head dims are known multiples of 8 up to 256");
  if (constantSize(kernel.getExtents().getResult(Dim::Key)) == 0)
    return refuse("attention has no keys");
  if (problem.columns() > 256)
    return refuse("attention's values of 8 bits have up to 240 columns");
  static constexpr unsigned inner[] = {Dim::HeadDim, Dim::HeadDim, Dim::ValueDim};
  static constexpr const char *names[] = {"queries", "keys", "values"};
  for (unsigned i = 0; i < AttentionInput::Count; ++i) {
    if (kernel.getInput(i).getElement() != problem.element)
      return refuse("attention's operands are of several types");
    if (!isTiled(kernel, kernel.getInput(i), inner[i]))
      return refuse(Twine(names[i]) + " are not contiguous along the head dim, from multiples of "
                                      "16 bytes on");
  }
  problem.result = kernel.getOutput(0).getElement();
  problem.hasTiledResult = (problem.result.isF16() || problem.result.isBF16()) &&
                           isTiled(kernel, kernel.getOutput(0), Dim::ValueDim);
  return problem;
}

/// Tiles lie in shared memory as panels, rows of which have that many bytes, which are swizzled.
static constexpr int64_t kPanelRow = 128;

static int64_t panelsOf(Type element, int64_t columns) {
  return llvm::divideCeil(columns * elementBytes(element), kPanelRow);
}

bool AttentionProblem::isNarrow() const { return isa<Float8E4M3FNType>(element); }
int64_t AttentionProblem::columns() const { return valueDim + (isNarrow() ? 8 : 0); }

int64_t AttentionProblem::sharedBytes(AttentionScheduleAttr schedule) const {
  int64_t headPanels = panelsOf(element, headDim), valuePanels = panelsOf(element, valueDim),
          rows = 64 * schedule.getGroups(),
          resultRow = llvm::divideCeil(2 * valueDim, kPanelRow) * kPanelRow,
          queries = std::max(headPanels * kPanelRow, schedule.getRun() ? 0 : resultRow) * rows,
          // Results leave through them; and the maxima of each thread's two rows.
          sums = schedule.getRun() ? rows * (std::max(4 * valueDim, resultRow) + 16) : 0,
          transposed = isNarrow() ? schedule.getKeys() * columns() : 0,
          keys = (headPanels + valuePanels) * schedule.getKeys() * kPanelRow + transposed;
  constexpr int64_t barriers = 1024;
  return barriers + schedule.getQuerySlots() * queries + schedule.getStages() * keys + sums;
}

/// Rows lie an odd number of 16 bytes apart.
static int64_t paddedRow(int64_t elements) { return (elements / 8 | 1) * 16; }

int64_t AttentionProblem::sharedBytes(PortableAttentionScheduleAttr schedule) const {
  int64_t head = paddedRow(llvm::alignTo(headDim, 16)), value = paddedRow(valueDim);
  return schedule.getRows() * std::max(head, value) +
         schedule.getStages() * schedule.getKeys() * (head + value);
}

SmallVector<Attribute> AttentionProblem::tiles(AttentionScheduleAttr schedule) const {
  using Dim = AttentionDim;
  SmallVector<Attribute> tiles;
  auto add = [&](bool isOutput, int64_t position, ArrayRef<int64_t> dims, int64_t rows) {
    SmallVector<int64_t> box(dims.size(), 1);
    box[0] = kPanelRow / elementBytes(isOutput ? result : element);
    box[1] = rows;
    tiles.push_back(TileAttr::get(schedule.getContext(), isOutput, position, dims, box, kPanelRow));
  };
  add(false, AttentionInput::Queries,
      {Dim::HeadDim, Dim::Query, Dim::Group, Dim::KeyHead, Dim::Batch}, 64 * schedule.getGroups());
  add(false, AttentionInput::Keys, {Dim::HeadDim, Dim::Key, Dim::KeyHead, Dim::Batch},
      schedule.getKeys());
  add(false, AttentionInput::Values, {Dim::ValueDim, Dim::Key, Dim::KeyHead, Dim::Batch},
      schedule.getKeys());
  // Each warp sends its own rows.
  if (hasTiledResult)
    add(true, 0, {Dim::ValueDim, Dim::Query, Dim::Group, Dim::KeyHead, Dim::Batch}, 16);
  return tiles;
}

int64_t AttentionProblem::registers(AttentionScheduleAttr schedule) const {
  int64_t bytes = elementBytes(element),
          held = schedule.getHoldsQuery() ? llvm::divideCeil(headDim * bytes, 32) * 4 : 0;
  return schedule.getKeys() / 2 + schedule.getKeys() * bytes / 8 + columns() / 2 + held;
}

int64_t AttentionProblem::registers(PortableAttentionScheduleAttr schedule) const {
  int64_t held = schedule.getHoldsQuery() ? llvm::divideCeil(headDim, 16) * 4 : 0;
  return schedule.getAtoms() * (schedule.getKeys() / 2 + valueDim / 2 + held);
}
