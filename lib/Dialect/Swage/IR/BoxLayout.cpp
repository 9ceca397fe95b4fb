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
    if (!constant || *constant < 0)
      return std::nullopt;
    side.strides.push_back(*constant);
  }
  return side;
}

/// Whether the body takes anything from an input; what it ignores has nothing to gather.
static bool isLoaded(KernelOp kernel, unsigned position) {
  if (PhaseOp phase = kernel.getPhase(Phase::Body))
    return llvm::is_contained(phase.getLoads(), int64_t(position));
  Block &body = kernel.getBody().front();
  return position < body.getNumArguments() && !body.getArgument(position).use_empty();
}

std::optional<BoxProblem> BoxProblem::of(KernelOp kernel) {
  if (!kernel.getReduced().empty() || kernel.getRank() == 0 || kernel.getOutputs().empty())
    return std::nullopt;
  BoxProblem problem;
  for (AffineExpr extent : kernel.getExtents().getResults())
    problem.extents.push_back(constantSize(extent).value_or(0));
  auto hasStridesOf = [&](const Side &a, const Side &b) {
    return llvm::all_of(llvm::seq<unsigned>(0, problem.rank()), [&](unsigned dim) {
      return problem.extents[dim] == 1 || a.strides[dim] == b.strides[dim];
    });
  };
  bool areAligned = true;
  for (auto [i, view] : llvm::enumerate(kernel.getOutputs().getAsRange<ViewAttr>())) {
    std::optional<Side> side = sideOf(kernel, view);
    if (!side || side->strides.back() != 1 || llvm::is_contained(side->strides, 0) ||
        (i > 0 && !hasStridesOf(*side, problem.out)))
      return std::nullopt;
    areAligned &= side->beginsAligned;
    if (i == 0 || side->bytes > problem.out.bytes)
      problem.out = std::move(*side);
  }
  if (!areAligned && kernel.getOutputs().size() > 1)
    return std::nullopt;

  for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>())) {
    if (!isLoaded(kernel, unsigned(i)))
      continue;
    std::optional<Side> side = sideOf(kernel, view);
    if (!side)
      return std::nullopt;
    if (areAligned && side->beginsAligned && hasStridesOf(*side, problem.out))
      continue;
    Input input{std::move(*side), unsigned(i), {}};
    input.readOrder = llvm::to_vector(llvm::seq<int64_t>(0, problem.rank()));
    // Strides of dimensions that have one element mean nothing.
    auto rank = [&](int64_t dim) {
      return std::pair(problem.extents[dim] == 1 || input.strides[dim] == 0, input.strides[dim]);
    };
    llvm::stable_sort(input.readOrder, [&](int64_t a, int64_t b) { return rank(a) < rank(b); });
    // One that is the same everywhere has no first stride.
    int64_t fastest = input.readOrder.front();
    if (rank(fastest) != std::pair(false, int64_t(1)) && !rank(fastest).first)
      return std::nullopt;
    problem.inputs.push_back(std::move(input));
  }
  auto isFull = [&](const Input &input) {
    return llvm::all_of(llvm::seq<unsigned>(0, problem.rank()), [&](unsigned dim) {
      return problem.extents[dim] == 1 || input.strides[dim];
    });
  };
  auto size = [&](const Input &input) {
    double bytes = double(input.bytes);
    for (auto [extent, stride] : llvm::zip_equal(problem.extents, input.strides))
      if (stride != 0)
        bytes *= double(std::max<int64_t>(1, extent));
    return std::pair(isFull(input), bytes);
  };
  llvm::stable_sort(problem.inputs,
                    [&](const Input &a, const Input &b) { return size(a) > size(b); });
  if (problem.inputs.empty() || !isFull(problem.principal()))
    return std::nullopt;
  return problem;
}

const BoxProblem::Input *BoxProblem::find(unsigned position) const {
  const auto *found =
      llvm::find_if(inputs, [&](const Input &input) { return input.position == position; });
  return found == inputs.end() ? nullptr : found;
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

int64_t swage::skewedPlace(const BoxProblem::Side &side, int64_t place) {
  return place + place / 128 * std::max<int64_t>(4, side.bytes);
}

static BoxPart partOf(const BoxProblem &problem, const BoxProblem::Input &input,
                      ArrayRef<int64_t> box, ArrayRef<int64_t> boxReach, bool skewed) {
  BoxPart part;
  SmallVector<int64_t> reach(boxReach);
  for (auto [extent, stride] : llvm::zip_equal(reach, input.strides))
    if (stride == 0)
      extent = 1;
  part.readRun = runOf(input.readOrder, problem.extents, input.strides, box, reach);
  ArrayRef<int64_t> read = ArrayRef(input.readOrder).take_front(part.readRun);
  part.readElements = product(read, reach);
  part.elements = product(input.readOrder, reach);
  part.readAligned = isAligned(input, problem.extents, box, read);

  // Modulo 16 as in the input; aligned chunks that cover a run must not meet the next run's.
  part.steps.assign(problem.rank(), 0);
  int64_t needed = input.bytes;
  for (int64_t dim : read)
    if (reach[dim] > 1) {
      part.steps[dim] = needed;
      needed *= reach[dim];
    }
  needed += part.readAligned ? 0 : 30;
  int64_t last = input.bytes + 45;
  for (int64_t dim : ArrayRef(input.readOrder).drop_front(part.readRun))
    if (reach[dim] > 1) {
      int64_t rest = input.strides[dim] * input.bytes % 16 - needed % 16;
      part.steps[dim] = needed + (rest + 16) % 16;
      needed = part.steps[dim] * reach[dim];
    }
  for (unsigned dim = 0; dim < problem.rank(); ++dim)
    last += part.steps[dim] * (reach[dim] - 1);
  part.sharedBytes = llvm::alignTo(skewed ? skewedPlace(input, last) : last, 16);
  return part;
}

/// Elements of which places are worth a table: each costs some thread a sum over dimensions.
constexpr int64_t kMostTabled = 512;
/// Bytes of a run that is worth ends of its own.
constexpr int64_t kLongRun = 128;

/// What PlaceTable takes (templates/swage/box_places.cuh): two copies of places of 2 bytes.
static int64_t tableBytes(int64_t inner, int64_t vector) {
  return llvm::alignTo(4 * (inner + std::min(inner, 2 * vector)) + 8, 16);
}

namespace {
/// How elements of runs that neighbour each other along a dimension share words.
enum class Words { None, Aligned, Split };
} // namespace

static Words wordsAlong(const BoxProblem &problem, ArrayRef<int64_t> box, int64_t dim,
                        bool skewed) {
  const BoxProblem::Input &input = problem.principal();
  if (input.bytes >= 4 || input.strides[dim] != 1 || box[dim] < 4 / input.bytes)
    return Words::None;
  int64_t each = 4 / input.bytes;
  bool areAligned =
      input.beginsAligned && box[dim] % each == 0 &&
      llvm::all_of(llvm::seq<int64_t>(0, problem.rank()), [&](int64_t other) {
        return other == dim || problem.extents[other] == 1 || input.strides[other] % each == 0;
      });
  if (areAligned)
    return Words::Aligned;
  // Two words for two elements are no gain, and what is left free for banks would lie between.
  return input.bytes == 1 && !skewed ? Words::Split : Words::None;
}

BoxLayout BoxLayout::of(const BoxProblem &problem, ArrayRef<int64_t> box, bool skewed) {
  BoxLayout layout;
  ArrayRef<int64_t> extents = problem.extents;
  SmallVector<int64_t> writeOrder = problem.writeOrder();
  layout.writeRun = runOf(writeOrder, extents, problem.out.strides, box, box);

  int64_t bytes = problem.principal().bytes, fastest = problem.principal().readOrder.front();
  Words words = wordsAlong(problem, box, fastest, skewed);
  // Runs of bytes that are long without it end before the dimension along which they can be turned.
  ArrayRef<int64_t> without = ArrayRef(writeOrder).take_front(layout.writeRun - 1);
  if (words != Words::None && bytes == 1 && !without.empty() &&
      writeOrder[without.size()] == fastest &&
      product(without, box) * problem.out.bytes >= kLongRun)
    --layout.writeRun;
  ArrayRef<int64_t> written = ArrayRef(writeOrder).take_front(layout.writeRun);
  layout.writeElements = product(written, box);
  layout.writeAligned = isAligned(problem.out, extents, box, written);

  // The last vectors of a run may reach over the box's end.
  layout.reach.assign(box.begin(), box.end());
  int64_t outermost = written.back(), inner = layout.writeElements / box[outermost];
  if (!layout.writeAligned && box[outermost] != extents[outermost]) {
    layout.reach[outermost] += llvm::divideCeil(problem.vector() - 1, inner);
    if (extents[outermost] != 0)
      layout.reach[outermost] = std::min(layout.reach[outermost], extents[outermost]);
  }
  if (words != Words::None && fastest < int64_t(problem.rank() - layout.writeRun)) {
    layout.split = words == Words::Split;
    layout.turned = 4 / bytes;
    layout.apart = problem.out.strides[fastest];
  }
  layout.straight =
      layout.writeRun == 1 || (layout.writeAligned && box.back() % problem.vector() == 0);
  layout.tabled = !layout.straight && box.back() < problem.vector() && inner <= kMostTabled;
  for (const BoxProblem::Input &input : problem.inputs) {
    bool isSkewed = skewed && &input == &problem.principal();
    layout.parts.push_back(partOf(problem, input, box, layout.reach, isSkewed));
    layout.sharedBytes += layout.parts.back().sharedBytes;
    if (layout.tabled)
      layout.sharedBytes += tableBytes(inner, problem.vector());
  }
  return layout;
}
