//===- SelectBoxSchedule.cpp - Boxes of a permutation ---------------------===//
//
// Boxes are grown along the input's and the output's dimensions until what a block reads and writes
// in one piece has a wanted number of bytes. Of all such boxes, of all ways to deal out windows to
// lanes, and of both layouts in shared memory that of least cost is taken. The cost is a model
// whose figures were fitted to 14,000 measurements of 680 permutations (docs/notes/permute.md):
// what memory makes of short and misaligned pieces, what threads do for an element, how often they
// wait for a bank of shared memory.
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

/// Of a block; more for large boxes, and for those of many windows (threadsOf).
constexpr int64_t kThreads = 256, kMoreThreads = 512;
/// Blocks of a multiprocessor that hide each other's waits.
constexpr double kBusyBlocks = 4;
/// Bytes of a box: from the first on more cost occupancy, below the second blocks have too little
/// to do; what is not exceeded, by the second not even where there are many; and what would be next
/// to nothing.
constexpr double kLargeBox = 15000, kSmallBox = 7800;
constexpr int64_t kLargestBox = 30000, kLargestOfMany = 37000, kLeastBox = 2048;

static bool isKnown(const BoxProblem &problem) { return !llvm::is_contained(problem.extents, 0); }

/// Whether each multiprocessor is sure to have as many blocks as keep it busy, and then as many
/// again.
static bool haveManyBlocks(const BoxProblem &problem, double blocks, double busy) {
  return blocks >= 2 * busy && isKnown(problem);
}

/// The share of a copy's speed that pieces of so many bytes reach, far from each other.
static double efficiency(bool isWrite, double bytes) {
  static constexpr double sizes[] = {16, 32, 64, 128, 256, 512, 1024},
                          reads[] = {.19, .5, .78, .89, .92, .96, 1},
                          writes[] = {.08, .33, .68, .89, .92, .96, 1};
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

/// What a schedule says.
struct Choice {
  Box box;
  int64_t lanes;
  bool skewed;
};

/// The search over the boxes of one problem. `others`: instructions of the kernel's body; `busy`:
/// blocks that keep the device busy.
class BoxSearch {
public:
  BoxSearch(const BoxProblem &problem, int64_t others, double busy)
      : problem(problem), others(others), busy(busy) {}
  std::optional<std::pair<Choice, double>> best() const;

private:
  std::vector<Box> boxes() const;
  void grow(Box &box, ArrayRef<int64_t> order, int64_t wanted, int64_t multiple) const;
  double cost(const Choice &choice, const BoxLayout &layout, double conflicts) const;
  struct Work;
  Work workOf(const Choice &choice, const BoxLayout &layout) const;
  double memory(const Choice &choice, const BoxLayout &layout, const Work &work) const;
  double instructions(const Choice &choice, const BoxLayout &layout, const Work &work) const;
  double waits(const Choice &choice, const BoxLayout &layout, const Work &work,
               double conflicts) const;
  double conflicts(const Choice &choice, const BoxLayout &layout) const;
  SmallVector<int64_t> runDims(const BoxLayout &layout) const;
  /// The mean bytes of an element.
  double width() const { return double(problem.principal().bytes + problem.out.bytes) / 2; }

  const BoxProblem &problem;
  int64_t others;
  double busy;
};
} // namespace

/// Extends `box` along `order` until one piece has `wanted` elements, by whole sectors of
/// `multiple` elements where it is not all of the first dimension.
void BoxSearch::grow(Box &box, ArrayRef<int64_t> order, int64_t wanted, int64_t multiple) const {
  int64_t run = 1;
  for (int64_t dim : order) {
    int64_t extent = problem.extents[dim];
    if (run >= wanted || extent == 0)
      return;
    auto round = [&](int64_t count) {
      return run == 1 ? int64_t(llvm::alignTo(count, multiple)) : count;
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

/// Whether all that is read and written in one piece is whole sectors, as far as lengths and the
/// outputs' strides say.
static bool hasWholePieces(const BoxProblem &problem, const BoxLayout &layout) {
  const BoxPart &part = layout.principal();
  int64_t written = layout.writeElements * problem.out.bytes,
          read = part.readElements * problem.principal().bytes;
  return part.readAligned && read % kSectorBytes == 0 && layout.writeAligned &&
         written % kSectorBytes == 0 && haveWholeSectors(problem.out.strides, problem.out.bytes);
}

/// Blocks along a dimension; none of one whose extent nobody knows.
static int64_t blocksAlong(const BoxProblem &problem, ArrayRef<int64_t> box, int64_t dim) {
  return llvm::divideCeil(problem.extents[dim], box[dim]);
}

/// The dimension along which what is read next lies, if blocks should follow that, or -1. Lines and
/// pages of memory that a piece shares with the next one should be met while they are on chip.
/// Where blocks follow what is read, what is written next is as many blocks away as there are along
/// that dimension: it pays where pieces that are read are short, and the next one would else be
/// much farther away.
static int64_t nextOfShortPieces(const BoxProblem &problem, const BoxLayout &layout,
                                 ArrayRef<int64_t> box) {
  constexpr int64_t kLine = 128, kShort = 256, kFarther = 32;
  const BoxPart &part = layout.principal();
  int64_t piece = part.readElements * problem.principal().bytes;
  if (piece >= kShort || (part.readAligned && piece % kLine == 0))
    return -1;
  for (int64_t dim : problem.principal().readOrder) {
    int64_t count = blocksAlong(problem, box, dim);
    if (count <= 1)
      continue;
    double away = 1;
    for (int64_t inner = dim + 1; inner < int64_t(problem.rank()); ++inner)
      away *= double(blocksAlong(problem, box, inner));
    return away >= double(kFarther * count) ? dim : -1;
  }
  return -1;
}

/// The same of whole pieces, whose neighbours need not be met at once. Blocks that run at the same
/// time are 1 to 4 % faster where they follow what is read, if what they write is not too far apart
/// and its neighbours come before they have left the chip. Not along what is written next anyway.
static int64_t nextOfWholePieces(const BoxProblem &problem, const BoxLayout &layout,
                                 ArrayRef<int64_t> box) {
  constexpr int64_t kNear = 8 << 10, kApart = 512 << 10, kMost = 128;
  if (!hasWholePieces(problem, layout))
    return -1;
  const BoxProblem::Input &in = problem.principal();
  int64_t writtenNext = -1;
  for (int64_t dim : llvm::seq<int64_t>(problem.rank()))
    if (blocksAlong(problem, box, dim) > 1)
      writtenNext = dim;
  for (int64_t dim : in.readOrder) {
    int64_t count = blocksAlong(problem, box, dim);
    if (dim != writtenNext && count > 1 && count <= kMost && in.strides[dim] * in.bytes <= kNear &&
        problem.out.strides[dim] * problem.out.bytes <= kApart)
      return dim;
  }
  return -1;
}

/// The dimension along which blocks follow each other, or -1: as the outputs lie, the next piece
/// that is written is the next block's.
static int64_t fastestDim(const BoxProblem &problem, const BoxLayout &layout,
                          ArrayRef<int64_t> box) {
  int64_t dim = nextOfShortPieces(problem, layout, box);
  return dim >= 0 ? dim : nextOfWholePieces(problem, layout, box);
}

/// Threads that have windows, in whole warps.
static int64_t threadsWithWindows(const BoxProblem &problem, const BoxLayout &layout,
                                  const Choice &choice) {
  int64_t runs = 1, windows = llvm::divideCeil(layout.writeElements, problem.vector());
  for (unsigned dim = 0; dim + layout.writeRun < problem.rank(); ++dim)
    runs *= layout.groups(problem, choice.box, dim);
  // Where runs of a thread begin at different places some have a window in front.
  bool hasMore = layout.turned > 1 && !layout.writeAligned;
  return llvm::divideCeil(runs, 32 / choice.lanes) *
         llvm::divideCeil(windows + hasMore, choice.lanes) * 32;
}

/// What a block has to do, and how many of them there are.
struct BoxSearch::Work {
  double points = 1, read = 1; ///< elements that are written, and read
  double bytes = 0;            ///< of all inputs in shared memory
  double blocks = 1;
  double waste = 1;    ///< of what boxes could hold over what there is
  int64_t windows = 1; ///< of a run
  int64_t threads = 1; ///< that have windows, in whole warps
  double each = 1;     ///< elements of a thread over `points`
  bool areMany;        ///< blocks
  bool isWhole;        ///< all pieces are whole sectors
};

BoxSearch::Work BoxSearch::workOf(const Choice &choice, const BoxLayout &layout) const {
  Work work;
  for (unsigned dim = 0; dim < problem.rank(); ++dim) {
    work.points *= double(choice.box[dim]);
    work.read *= double(layout.reach[dim]);
    int64_t extent = problem.extents[dim];
    work.blocks *= extent ? double(llvm::divideCeil(extent, choice.box[dim])) : busy;
    if (extent)
      work.waste *= double(llvm::alignTo(extent, choice.box[dim])) / double(extent);
  }
  for (auto [input, part] : llvm::zip_equal(problem.inputs, layout.parts))
    work.bytes += double(part.elements * input.bytes);
  work.windows = llvm::divideCeil(layout.writeElements, problem.vector());
  work.threads = threadsWithWindows(problem, layout, choice);
  work.each = double(problem.vector() * layout.turned) / work.points;
  work.areMany = haveManyBlocks(problem, work.blocks, busy);
  work.isWhole = hasWholePieces(problem, layout);
  return work;
}

/// What memory takes. Where lanes that write beside each other begin or end within a sector of 32
/// bytes, and where a piece does, it is written twice; whole sectors suffer less from being few,
/// above all where the other side has torn ones. So it is with reads, unless the next block finds
/// the rest of a sector in L2.
double BoxSearch::memory(const Choice &choice, const BoxLayout &layout, const Work &work) const {
  double ofShort = work.isWhole ? 0.06 : 0;
  auto side = [&](bool isWrite, int64_t bytes, bool isAligned, double ofTorn) {
    double whole = 1 / efficiency(isWrite, double(bytes));
    return isAligned && bytes % kSectorBytes == 0
               ? std::pow(whole, 0.85) * std::pow(std::max(1.0, 256 / double(bytes)), ofShort)
               : (isAligned ? 1 : 1 + ofTorn / double(bytes)) * whole;
  };
  const BoxProblem::Side &out = problem.out;
  const BoxPart &part = layout.principal();
  int64_t written = layout.writeElements * out.bytes,
          read = part.readElements * problem.principal().bytes;
  bool isFollowed = nextOfShortPieces(problem, layout, choice.box) >= 0;
  bool hasSectors =
      choice.lanes > 1 && layout.writeAligned && haveWholeSectors(out.strides, out.bytes);
  double beside = double(std::min(choice.lanes, work.windows)),
         torn = hasSectors ? 0.1 / beside : 1.6 / beside + 4 / double(written);
  return side(false, read, part.readAligned, isFollowed ? 0 : 24) +
         side(true, written, layout.writeAligned, 24) * (1 + torn) +
         0.3 * (work.read / work.points - 1) + 0.37 * (work.waste - 1);
}

/// What threads take, idle ones as well: for what they could write of elements, and read of chunks.
/// What a window costs a thread it does once for those that it makes together.
double BoxSearch::instructions(const Choice &choice, const BoxLayout &layout,
                               const Work &work) const {
  const BoxPart &part = layout.principal();
  int64_t bytes = problem.principal().bytes,
          chunks = llvm::divideCeil(part.readElements * bytes + (part.readAligned ? 0 : 15), 16) *
                   (part.elements / part.readElements);
  double together = double(layout.turned);
  bool isTurned = layout.turned > 1;
  double perElement = (isTurned ? 0.1 + 1.25 / together : 1) + 0.3 * double(others);
  if (choice.skewed && !isTurned)
    perElement += 0.2;
  if (layout.tabled)
    perElement += 0.1 / together;
  else if (!layout.straight)
    perElement += (choice.box.back() < problem.vector() ? 0.9 : 0.5) / together;
  return double(llvm::alignTo(work.threads, kThreads)) * work.each * perElement +
         0.2 * double(llvm::alignTo(chunks, kThreads)) * 16 / double(bytes) / work.points;
}

/// What shared memory takes for 16 bytes of elements: for chunks, and for the words of windows,
/// which are more than elements where those of several runs begin at different places.
double BoxSearch::waits(const Choice &choice, const BoxLayout &layout, const Work &work,
                        double conflicts) const {
  double words = 1, width = this->width();
  if (layout.turned > 1)
    words = (layout.writeAligned ? 1 : 1.75) / double(layout.turned) * (layout.split ? 2 : 1);
  return 0.6 * (0.3 + (choice.skewed ? 0.8 / std::max(4.0, width) : 0) +
                double(work.threads) * work.each * words * conflicts / width);
}

/// The time of an element, that of a copy about 2, were lanes to wait for a bank `conflicts` times.
double BoxSearch::cost(const Choice &choice, const BoxLayout &layout, double conflicts) const {
  Work work = workOf(choice, layout);
  if (work.bytes > double(work.areMany ? kLargestOfMany : kLargestBox) ||
      layout.sharedBytes > kDeclaredSharedBytes)
    return INFINITY;
  // The slowest of the three, and something of the others.
  constexpr double kPower = 5;
  double time = std::pow(std::pow(memory(choice, layout, work), kPower) +
                             std::pow(instructions(choice, layout, work) / width(), kPower) +
                             std::pow(waits(choice, layout, work, conflicts), kPower),
                         1 / kPower);
  if (!layout.writeAligned || layout.writeElements % problem.vector() != 0) {
    // Where a run of the output ends in a box, one thread does it.
    int64_t dim = problem.rank() - layout.writeRun;
    double ends = problem.extents[dim] ? double(choice.box[dim]) / double(problem.extents[dim]) : 1;
    time += ends / double(work.windows) * 12 / double(problem.out.bytes);
  }
  // Whole pieces take few instructions, for which fewer warps will do.
  double large = work.areMany && work.isWhole ? 0.04 : 0.08;
  return time * std::max(1.0, busy / work.blocks) *
         (1 + large / std::sqrt(width()) * std::max(0.0, work.bytes / kLargeBox - 1) +
          0.126 * std::max(0.0, kSmallBox / work.bytes - 1));
}

std::vector<Box> BoxSearch::boxes() const {
  SmallVector<int64_t> writeOrder = problem.writeOrder();
  static constexpr int64_t wanted[] = {32, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192};
  int64_t readMultiple = std::max(problem.vector(), 32 / problem.principal().bytes),
          writeMultiple = std::max(problem.vector(), 32 / problem.out.bytes);
  std::set<Box, std::less<>> seen;
  for (bool readFirst : {true, false})
    for (int64_t readBytes : wanted)
      for (int64_t writeBytes : wanted) {
        Box box(problem.rank(), 1);
        auto read = [&] {
          grow(box, problem.principal().readOrder,
               std::max<int64_t>(1, readBytes / problem.principal().bytes), readMultiple);
        };
        if (readFirst)
          read();
        grow(box, writeOrder, std::max<int64_t>(1, writeBytes / problem.out.bytes), writeMultiple);
        if (!readFirst)
          read();
        seen.insert(box);
      }
  return {seen.begin(), seen.end()};
}

/// The best choice and its cost. Conflicts take long to count: in the order of
/// what the cost is without any, until that is more than the least with them.
std::optional<std::pair<Choice, double>> BoxSearch::best() const {
  std::vector<std::pair<double, Choice>> choices;
  for (const Box &box : boxes())
    for (bool skewed : {false, true}) {
      BoxLayout layout = BoxLayout::of(problem, box, skewed);
      for (int64_t lanes : {1, 2, 4, 8, 16, 32}) {
        Choice choice{box, lanes, skewed};
        if (double without = cost(choice, layout, 1); std::isfinite(without))
          choices.emplace_back(without, std::move(choice));
      }
    }
  llvm::stable_sort(choices, llvm::less_first());
  std::optional<std::pair<Choice, double>> best;
  for (const auto &[without, choice] : choices) {
    if (best && without >= best->second)
      break;
    BoxLayout layout = BoxLayout::of(problem, choice.box, choice.skewed);
    double with = cost(choice, layout, conflicts(choice, layout));
    if (!best || with < best->second)
      best = {choice, with};
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

/// How many words of one bank a warp's loads of one element of each window touch: the mean of some
/// elements in the first two warps.
double BoxSearch::conflicts(const Choice &choice, const BoxLayout &layout) const {
  const auto &[box, lanes, skewed] = choice;
  SmallVector<int64_t> dims = runDims(layout);
  int64_t vector = problem.vector();
  int64_t across = llvm::divideCeil(llvm::divideCeil(layout.writeElements, vector), lanes);
  double sum = 0, count = 0;
  for (int64_t warp : {0, 1})
    for (int64_t number = 0; number < vector; number += llvm::divideCeil(vector, 3)) {
      SmallVector<int64_t> places;
      for (int64_t lane = 0; lane < 32; ++lane) {
        int64_t run = warp / across * (32 / lanes) + lane / lanes, place = 0, begin = 0;
        for (int64_t dim : dims) {
          int64_t groups = layout.groups(problem, box, dim);
          int64_t ahead = run % groups * layout.runsOfThread(problem, dim);
          place += ahead * layout.principal().steps[dim];
          begin += ahead * problem.out.strides[dim];
          run /= groups;
        }
        int64_t element = (warp % across * lanes + lane % lanes) * vector;
        if (run > 0 || element >= layout.writeElements)
          continue;
        if (!layout.writeAligned)
          element += (vector - begin % vector) % vector;
        element = std::min(element + number, layout.writeElements - 1);
        for (unsigned k = 1; k <= layout.writeRun; ++k) {
          unsigned dim = problem.rank() - k;
          int64_t coordinate = k == layout.writeRun ? element : element % box[dim];
          element /= box[dim];
          place += coordinate * layout.principal().steps[dim];
        }
        places.push_back(skewed ? skewedPlace(problem.principal(), place) : place);
      }
      if (places.empty())
        continue;
      sum += double(bankConflicts(places));
      ++count;
    }
  return count ? sum / count : 1;
}

/// The cost of runs that both sides share, were they moved by accesses of `movement` bytes each. Of
/// a run that memory's bursts of 64 bytes do not fit the rest is read again, unless the run beside
/// it is wanted soon.
static double costOfRuns(const BoxProblem &problem, int64_t movement) {
  constexpr int64_t kBurst = 64, kEach = 16, kSoon = 512 << 10, kShortest = 64;
  const BoxProblem::Input &in = problem.principal();
  int64_t run = problem.extents.back() * in.bytes;
  if (movement < 4 || run < kShortest)
    return INFINITY;
  double share = movement < 8 ? 0.89 : movement < 16 ? 0.93 : 0.97;
  int64_t aligned = std::gcd(kBurst, run), beside = -1;
  for (int64_t dim : in.readOrder)
    if (dim + 1 < int64_t(problem.rank()) && in.strides[dim] > 0 && problem.extents[dim] != 1) {
      aligned = std::gcd(aligned, in.strides[dim] * in.bytes);
      beside = beside < 0 ? dim : beside;
    }
  if (beside >= 0 && problem.out.strides[beside] * problem.out.bytes > kSoon)
    share /= 1 + 0.3 * double(kBurst - aligned + kEach) / double(run);
  // Boxes turn out 3 % slower than their cost says where they are compared with runs.
  return 2 * 0.97 / share;
}

/// More threads a block are up to a tenth faster where each would have nearly six windows one after
/// the other and moves them as they are, and 1 to 2 % where it is left with one or two and
/// multiprocessors have several such blocks in turn, which those of bytes lose by their registers.
/// So do all that are turned.  `others`: instructions of the kernel's body.
static int64_t threadsOf(const BoxProblem &problem, const BoxLayout &layout, const Choice &choice,
                         int64_t others, bool areMany) {
  constexpr int64_t kThreadsOfMany = 1440;
  if (layout.turned > 1)
    return kThreads;
  if (others == 0 && threadsWithWindows(problem, layout, choice) >= kThreadsOfMany)
    return kMoreThreads;
  int64_t bytes = problem.principal().bytes;
  bool isWide = bytes > 1 && problem.out.bytes > 1,
       isLarge = layout.principal().elements * bytes >= kLargeBox;
  return areMany && isWide && isLarge ? kMoreThreads : kThreads;
}

/// Nothing where blocks would have next to nothing to do, as along a dimension whose extent nobody
/// knows; of runs that could go by accesses of `movement` bytes, where that is as good, or boxes
/// leave multiprocessors idle.
std::optional<SelectedSchedule> ScheduleSelector::boxes(std::optional<int64_t> movement) {
  std::optional<BoxProblem> problem = BoxProblem::of(kernel);
  if (!problem)
    return std::nullopt;
  int64_t others = llvm::range_size(kernel.getBody().front().without_terminator());
  double busy = kBusyBlocks * device.smCount;
  auto best = BoxSearch(*problem, others, busy).best();
  if (!best || (movement && best->second >= costOfRuns(*problem, *movement)))
    return std::nullopt;
  const Choice &choice = best->first;
  int64_t bytes = problem->principal().bytes, blocks = 1;
  for (auto [extent, taken] : llvm::zip_equal(problem->extents, choice.box)) {
    bytes *= taken;
    blocks *= llvm::divideCeil(extent, taken);
  }
  if (isKnown(*problem) ? movement && blocks < device.smCount : bytes < kLeastBox)
    return std::nullopt;
  BoxLayout layout = BoxLayout::of(*problem, choice.box, choice.skewed);
  bool areMany = haveManyBlocks(*problem, double(blocks), busy);
  return SelectedSchedule{
      BoxScheduleAttr::get(context(), threadsOf(*problem, layout, choice, others, areMany),
                           choice.box, choice.lanes, choice.skewed, index,
                           fastestDim(*problem, layout, choice.box)),
      "boxes, of which " +
          std::to_string(layout.principal().readElements * problem->principal().bytes) +
          " bytes are read and " + std::to_string(layout.writeElements * problem->out.bytes) +
          " written in one piece"};
}
