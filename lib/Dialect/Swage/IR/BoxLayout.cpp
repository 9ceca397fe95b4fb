//===- BoxLayout.cpp - Boxes of a permutation -----------------------------===//
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

static std::optional<BoxProblem::Side> sideOf(KernelOp kernel, ViewAttr view) {
  int64_t bytes = elementBytes(view.getElement());
  LinearAccess access = *LinearAccess::of(view.getAccess());
  if (view.getSource() != Source::Memory || bytes > 8)
    return std::nullopt;
  SizeFacts facts = factsOf(kernel);
  BoxProblem::Side side{
      {}, bytes, view.getAlign() >= 16 && isMultipleOf(access.offset, 16 / bytes, facts)};
  for (AffineExpr stride : access.strides) {
    std::optional<int64_t> constant = constantSize(stride);
    if (!constant || *constant < 1)
      return std::nullopt;
    side.strides.push_back(*constant);
  }
  return side;
}

std::optional<BoxProblem> BoxProblem::of(KernelOp kernel) {
  if (!kernel.getReduced().empty() || kernel.getInputs().size() != 1 ||
      kernel.getOutputs().size() != 1 || kernel.getRank() == 0)
    return std::nullopt;
  // What ignores its input has nothing to gather.
  Block &body = kernel.getBody().front();
  PhaseOp phase = kernel.getPhase(Phase::Body);
  if (phase ? phase.getLoads().size() != 1
            : body.getNumArguments() != 1 || body.getArgument(0).use_empty())
    return std::nullopt;
  std::optional<Side> in = sideOf(kernel, kernel.getInput(0)),
                      out = sideOf(kernel, kernel.getOutput(0));
  if (!in || !out || out->strides.back() != 1)
    return std::nullopt;
  BoxProblem problem{{}, std::move(*in), std::move(*out), {}};
  for (AffineExpr extent : kernel.getExtents().getResults())
    problem.extents.push_back(constantSize(extent).value_or(0));
  problem.readOrder = llvm::to_vector(llvm::seq<int64_t>(0, problem.rank()));
  // Strides of dimensions that have one element mean nothing.
  llvm::stable_sort(problem.readOrder, [&](int64_t a, int64_t b) {
    return std::pair(problem.extents[a] == 1, problem.in.strides[a]) <
           std::pair(problem.extents[b] == 1, problem.in.strides[b]);
  });
  int64_t fastest = problem.readOrder.front();
  if (problem.in.strides[fastest] != 1 || problem.extents[fastest] == 1)
    return std::nullopt;
  return problem;
}

SmallVector<int64_t> BoxProblem::writeOrder() const {
  SmallVector<int64_t> order;
  for (int64_t dim = rank(); dim-- > 0;)
    order.push_back(dim);
  return order;
}

/// How many dimensions of `order` are one piece of memory: whole ones, of which there is one box,
/// and the next.
static unsigned runOf(ArrayRef<int64_t> order, ArrayRef<int64_t> extents, ArrayRef<int64_t> strides,
                      ArrayRef<int64_t> box, ArrayRef<int64_t> taken) {
  unsigned count = 1;
  for (; count < order.size(); ++count) {
    int64_t inner = order[count - 1], outer = order[count];
    if (box[inner] != extents[inner] || taken[outer] == 1 ||
        strides[outer] != strides[inner] * extents[inner])
      break;
  }
  return count;
}

/// Whether all runs begin at multiples of 16 bytes, wherever the box does.
static bool isAligned(const BoxProblem::Side &side, ArrayRef<int64_t> extents,
                      ArrayRef<int64_t> box, ArrayRef<int64_t> run) {
  return side.beginsAligned &&
         llvm::all_of(llvm::seq<int64_t>(0, extents.size()), [&](int64_t dim) {
           if (extents[dim] == 1)
             return true;
           bool isInRun = llvm::is_contained(run, dim);
           int64_t between = side.strides[dim] * (isInRun ? box[dim] : 1) * side.bytes;
           return between % 16 == 0 || (isInRun && box[dim] == extents[dim]);
         });
}

static int64_t product(ArrayRef<int64_t> dims, ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= extents[dim];
  return count;
}

int64_t swage::skewedPlace(const BoxProblem &problem, int64_t place) {
  return place + place / 128 * std::max<int64_t>(4, problem.in.bytes);
}

BoxLayout BoxLayout::of(const BoxProblem &problem, ArrayRef<int64_t> box, bool skewed) {
  BoxLayout layout;
  ArrayRef<int64_t> extents = problem.extents;
  SmallVector<int64_t> writeOrder = problem.writeOrder();
  layout.writeRun = runOf(writeOrder, extents, problem.out.strides, box, box);
  ArrayRef<int64_t> written = ArrayRef(writeOrder).take_front(layout.writeRun);
  layout.writeElements = product(written, box);
  layout.writeAligned = isAligned(problem.out, extents, box, written);

  // The last vectors of a run may reach over the box's end.
  layout.reach.assign(box.begin(), box.end());
  if (int64_t outermost = written.back();
      !layout.writeAligned && box[outermost] != extents[outermost]) {
    int64_t inner = layout.writeElements / box[outermost];
    layout.reach[outermost] += llvm::divideCeil(problem.vector() - 1, inner);
    if (extents[outermost] != 0)
      layout.reach[outermost] = std::min(layout.reach[outermost], extents[outermost]);
  }
  layout.readRun = runOf(problem.readOrder, extents, problem.in.strides, box, layout.reach);
  ArrayRef<int64_t> read = ArrayRef(problem.readOrder).take_front(layout.readRun);
  layout.readElements = product(read, layout.reach);
  layout.readAligned = isAligned(problem.in, extents, box, read);

  // Modulo 16 as in the input; aligned chunks that cover a run must not meet the next run's.
  layout.steps.assign(problem.rank(), 0);
  int64_t needed = problem.in.bytes;
  for (int64_t dim : read) {
    layout.steps[dim] = needed;
    needed *= layout.reach[dim];
  }
  needed += layout.readAligned ? 0 : 30;
  int64_t last = problem.in.bytes + 45;
  for (int64_t dim : ArrayRef(problem.readOrder).drop_front(layout.readRun))
    if (layout.reach[dim] > 1) {
      int64_t rest = problem.in.strides[dim] * problem.in.bytes % 16 - needed % 16;
      layout.steps[dim] = needed + (rest + 16) % 16;
      needed = layout.steps[dim] * layout.reach[dim];
    }
  for (unsigned dim = 0; dim < problem.rank(); ++dim)
    last += layout.steps[dim] * (layout.reach[dim] - 1);
  layout.sharedBytes = llvm::alignTo(skewed ? skewedPlace(problem, last) : last, 16);
  return layout;
}
