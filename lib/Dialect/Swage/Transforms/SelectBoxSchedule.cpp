//===- SelectBoxSchedule.cpp - Boxes of a permutation ---------------------===//
//
// Boxes are grown along the input's and the output's dimensions until what a block reads and writes
// in one piece has a wanted number of bytes. Of all such boxes the one of least cost is taken: what
// memory makes of short and misaligned pieces, of what is read twice and of what lies beyond the
// tensor. Figures: docs/notes/permute.md.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSelector.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>
#include <set>

using namespace mlir;
using namespace swage;

constexpr int64_t kThreads = 256;
/// Bytes of a box: blocks of the smallest and largest good one, and what is never exceeded.
constexpr double kSmallBox = 8192, kLargeBox = 20000;
constexpr int64_t kLargestBox = 30000, kLeastBox = 2048;

/// The share of a copy's speed that pieces of so many bytes reach, far from each other.
static double efficiency(bool isWrite, double bytes) {
  static constexpr double sizes[] = {16, 32, 64, 128, 256, 512},
                          reads[] = {.19, .5, .78, .93, .985, 1},
                          writes[] = {.08, .33, .68, .92, .985, 1};
  const double *known = isWrite ? writes : reads;
  if (bytes <= sizes[0])
    return known[0] * bytes / sizes[0];
  for (unsigned i = 1; i < std::size(sizes); ++i)
    if (bytes <= sizes[i])
      return known[i - 1] + (known[i] - known[i - 1]) * std::log(bytes / sizes[i - 1]) /
                                std::log(sizes[i] / sizes[i - 1]);
  return 1;
}

namespace {
using Box = SmallVector<int64_t>;

/// The search over boxes of one problem.
class BoxSearch {
public:
  explicit BoxSearch(const BoxProblem &problem) : problem(problem) {}
  std::optional<Box> best();
  int64_t lanes(const Box &box) const;
  bool isBetterSkewed(const Box &box, int64_t lanes, int64_t others) const;

private:
  void grow(Box &box, ArrayRef<int64_t> order, int64_t wanted, int64_t multiple) const;
  double cost(const Box &box) const;
  int64_t conflicts(const Box &box, int64_t lanes, bool skewed) const;
  SmallVector<int64_t> runDims(const BoxLayout &layout) const;

  const BoxProblem &problem;
};
} // namespace

/// Extends `box` along `order` until one piece has `wanted` elements, by whole sectors of
/// `multiple` elements where it is not all of the first dimension, or nothing else is read.
void BoxSearch::grow(Box &box, ArrayRef<int64_t> order, int64_t wanted, int64_t multiple) const {
  int64_t run = 1;
  for (int64_t dim : order) {
    int64_t extent = problem.extents[dim];
    if (run >= wanted || extent == 0)
      return;
    auto round = [&](int64_t count) {
      bool isWhole = run == 1 || !problem.isGathered;
      return isWhole ? int64_t(llvm::alignTo(count, multiple / std::gcd(run, multiple))) : count;
    };
    if (box[dim] < extent) {
      int64_t grown = std::max<int64_t>(box[dim], llvm::divideCeil(wanted, run));
      if (2 * extent <= 3 * grown) {
        grown = extent;
      } else {
        grown = round(grown);
        // Boxes of about the same extent.
        int64_t even = round(llvm::divideCeil(extent, llvm::divideCeil(extent, grown)));
        grown = std::min(even, extent);
      }
      box[dim] = grown;
    }
    run *= box[dim];
    if (box[dim] != extent)
      return;
  }
}

double BoxSearch::cost(const Box &box) const {
  BoxLayout layout = BoxLayout::of(problem, box, /*skewed=*/true);
  double points = 1, read = 1, waste = 1, bytes = 0;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    points *= double(box[dim]);
    read *= double(layout.reach[dim]);
    if (int64_t extent = problem.extents[dim])
      waste *= double(llvm::divideCeil(extent, box[dim]) * box[dim]) / double(extent);
  }
  for (auto [input, part] : llvm::zip_equal(problem.inputs, layout.parts))
    bytes += double(part.elements * input.bytes);
  // What else there is to read lies as the outputs do.
  int64_t readElements = layout.principal().readElements, readBytes = problem.principal().bytes;
  bool readAligned = layout.principal().readAligned;
  if (!problem.isGathered) {
    bytes = std::max(bytes, points * double(problem.out.bytes));
    readElements = layout.writeElements;
    readBytes = problem.out.bytes;
    readAligned = layout.writeAligned;
  }
  if (bytes > double(kLargestBox) || layout.sharedBytes > kDeclaredSharedBytes)
    return INFINITY;
  auto side = [](bool isWrite, double bytes, bool isAligned) {
    return (isAligned ? 1 : (bytes + 24) / bytes) / efficiency(isWrite, bytes);
  };
  double cost = side(false, double(readElements * readBytes), readAligned) +
                side(true, double(layout.writeElements * problem.out.bytes), layout.writeAligned);
  cost += 0.5 * (read / points - 1) + 0.3 * (waste - 1);
  bool isNarrow = problem.out.bytes <= 2;
  if (!layout.writeAligned) {
    // Where a run of the output ends in a box, one thread does it.
    int64_t dim = problem.rank() - layout.writeRun;
    double ends = problem.extents[dim] ? double(box[dim]) / double(problem.extents[dim]) : 1;
    cost += 6.0 * double(problem.vector() - 1) / double(layout.writeElements) * ends *
            (isNarrow ? 1.2 : 0.6);
  }
  if (layout.writeRun > 1 && box.back() % problem.vector() != 0 && isNarrow)
    cost += problem.out.bytes == 2 ? 0.06 : 0.15;
  if (bytes < kSmallBox)
    cost *= 1 + 0.1 * (kSmallBox / bytes - 1);
  if (bytes > kLargeBox)
    cost *= 1 + 0.04 * (bytes / kLargeBox - 1);
  return cost;
}

std::optional<Box> BoxSearch::best() {
  SmallVector<int64_t> writeOrder = problem.writeOrder();
  static constexpr int64_t wanted[] = {32, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192};
  int64_t readMultiple = std::max(problem.vector(), 32 / problem.principal().bytes),
          writeMultiple = std::max(problem.vector(), 32 / problem.out.bytes);
  std::set<Box, std::less<>> seen;
  std::optional<Box> best;
  double least = INFINITY;
  for (bool readFirst : {true, false})
    for (int64_t readBytes : wanted)
      for (int64_t writeBytes : wanted) {
        Box box(problem.rank(), 1);
        auto read = [&] {
          if (!problem.isGathered)
            return;
          grow(box, problem.principal().readOrder,
               std::max<int64_t>(1, readBytes / problem.principal().bytes), readMultiple);
        };
        if (readFirst)
          read();
        grow(box, writeOrder, std::max<int64_t>(1, writeBytes / problem.out.bytes), writeMultiple);
        if (!readFirst)
          read();
        if (!seen.insert(box).second)
          continue;
        if (double candidate = cost(box); candidate < least) {
          least = candidate;
          best = box;
        }
      }
  return best;
}

/// The dimensions by which write runs are counted, as the template does.
SmallVector<int64_t> BoxSearch::runDims(const BoxLayout &layout) const {
  SmallVector<int64_t> dims;
  for (int64_t dim : problem.principal().readOrder)
    if (dim < int64_t(problem.rank() - layout.writeRun))
      dims.push_back(dim);
  return dims;
}

/// Eight lanes beside each other write 128 bytes, and neighbouring runs share words of shared
/// memory; other splits where that leaves lanes idle.
int64_t BoxSearch::lanes(const Box &box) const {
  BoxLayout layout = BoxLayout::of(problem, box, false);
  int64_t windows = llvm::divideCeil(layout.writeElements, problem.vector()), runs = 1;
  for (int64_t dim : runDims(layout))
    runs *= box[dim];
  std::pair<double, int64_t> best(INFINITY, 8);
  for (auto [lanes, penalty] :
       {std::pair(8, 0.0), {4, .06}, {16, .05}, {32, .1}, {2, .2}, {1, .3}}) {
    int64_t others = 32 / lanes;
    double used = double(llvm::alignTo(windows, lanes)) / double(windows) *
                  double(llvm::alignTo(runs, others)) / double(runs);
    best = std::min(best, std::pair(used + penalty, int64_t(lanes)));
  }
  return best.second;
}

/// The most words of one bank that a warp's loads of one element of each window touch, in the first
/// two warps.
int64_t BoxSearch::conflicts(const Box &box, int64_t lanes, bool skewed) const {
  BoxLayout layout = BoxLayout::of(problem, box, skewed);
  SmallVector<int64_t> dims = runDims(layout);
  int64_t across =
      llvm::divideCeil(llvm::divideCeil(layout.writeElements, problem.vector()), lanes);
  int64_t worst = 0;
  for (int64_t warp : {0, 1}) {
    SmallVector<int64_t> places;
    for (int64_t lane = 0; lane < 32; ++lane) {
      int64_t run = warp / across * (32 / lanes) + lane / lanes, place = 0;
      for (int64_t dim : dims) {
        place += run % box[dim] * layout.principal().steps[dim];
        run /= box[dim];
      }
      int64_t element = (warp % across * lanes + lane % lanes) * problem.vector();
      element = std::min(element + (layout.writeAligned ? 0 : 3), layout.writeElements - 1);
      for (unsigned k = 1; k <= layout.writeRun; ++k) {
        unsigned dim = problem.rank() - k;
        int64_t coordinate = k == layout.writeRun ? element : element % box[dim];
        element /= box[dim];
        place += coordinate * layout.principal().steps[dim];
      }
      places.push_back(skewed ? skewedPlace(problem.principal(), place) : place);
    }
    worst = std::max(worst, bankConflicts(places));
  }
  return worst;
}

/// Skewed places take three instructions more an element. `others`: those of the body.
bool BoxSearch::isBetterSkewed(const Box &box, int64_t lanes, int64_t others) const {
  BoxLayout layout = BoxLayout::of(problem, box, false);
  int64_t plain = conflicts(box, lanes, false), skewed = conflicts(box, lanes, true);
  if (problem.principal().bytes >= 4)
    return skewed < plain && plain > 2;
  bool isStraight =
      layout.writeRun == 1 || (layout.writeAligned && box.back() % problem.vector() == 0);
  // Four instructions a cycle, or one access without conflicts. Carries up to where the inner
  // dimensions repeat.
  int64_t inner = layout.writeElements / box[problem.rank() - layout.writeRun];
  double carries =
      isStraight ? 0 : 3.0 * double(std::min(inner, problem.vector())) / double(problem.vector());
  double instructions = 2.5 + carries + double(others);
  return std::max((instructions + 3) / 4, double(skewed)) <
         std::max(instructions / 4, double(plain));
}

/// Nothing where blocks would have next to nothing to do, as along a dimension whose extent nobody
/// knows, where nothing is gathered and yet their vectors are not aligned, or, if
/// `needsManyBlocks`, where they leave multiprocessors idle.
std::optional<SelectedSchedule> ScheduleSelector::boxes(bool needsManyBlocks) {
  std::optional<BoxProblem> problem = BoxProblem::of(kernel);
  if (!problem)
    return std::nullopt;
  BoxSearch search(*problem);
  std::optional<Box> box = search.best();
  if (!box)
    return std::nullopt;
  int64_t bytes = problem->principal().bytes, blocks = 1;
  bool isKnown = !llvm::is_contained(problem->extents, 0);
  for (auto [extent, taken] : llvm::zip_equal(problem->extents, *box)) {
    bytes *= taken;
    blocks *= llvm::divideCeil(extent, taken);
  }
  if (isKnown ? needsManyBlocks && blocks < device.smCount : bytes < kLeastBox)
    return std::nullopt;
  int64_t lanes = search.lanes(*box);
  int64_t others = llvm::range_size(kernel.getBody().front().without_terminator());
  BoxLayout layout = BoxLayout::of(*problem, *box, false);
  if (!problem->isGathered && !layout.writeAligned)
    return std::nullopt;
  return SelectedSchedule{
      BoxScheduleAttr::get(context(), kThreads, *box, lanes,
                           search.isBetterSkewed(*box, lanes, others), index),
      "boxes, of which " +
          std::to_string(layout.principal().readElements * problem->principal().bytes) +
          " bytes are read and " + std::to_string(layout.writeElements * problem->out.bytes) +
          " written in one piece"};
}
