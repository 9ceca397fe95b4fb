//===- SelectSchedule.cpp - --swage-select-schedule ------------------------===//
//
// The rules are those of the templates' essays: 16-byte accesses on the narrowest operand where
// shape and alignment allow, enough loads in flight, and rows on chip as long as a thread's share
// fits its registers.
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/Transforms/SelectSchedule.h"
#include "mlir/IR/OperationSupport.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/Analysis/RowBounds.h"
#include "swage/Dialect/Swage/Analysis/ShapeFacts.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

namespace swage {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

namespace {

/// Elements of a row that a thread keeps in f32 registers without spilling.
constexpr int64_t kRegisterElements = 32;
/// The same where the row waits in shared memory and not in registers.
constexpr int64_t kStagedElements = 52;
/// The same where one thread has the whole row.
constexpr int64_t kWholeRowElements = 88;
/// Shared memory that the system takes of a block.
constexpr int64_t kReservedBytes = 1024;
/// Elements of a row of which a multiprocessor's registers hold two.
constexpr int64_t kPairElements = 18432;
/// Offsets that a block may form beyond the last element.
constexpr int64_t kOvershoot = 1 << 20;

class Selector {
public:
  Selector(KernelOp kernel, const DeviceProperties &device, int64_t index)
      : kernel(kernel), device(device), facts(factsOf(kernel)) {
    this->index = index ? index : indexWidth();
  }
  SelectedSchedule run();

private:
  SelectedSchedule pointwise();
  SelectedSchedule runs();
  SelectedSchedule tiles();
  SelectedSchedule row();
  struct Rows;
  SelectedSchedule makeRow(const Rows &rows, RowClass kind, int64_t perRow, int64_t rowsPerBlock,
                           int64_t perThread, std::string reason, int64_t blocks = 1,
                           bool staged = false) const;
  std::optional<SelectedSchedule> stagedRows(const Rows &rows) const;
  std::optional<SelectedSchedule> groupedRows(const Rows &rows, bool few) const;
  int64_t blocksFor(const Rows &rows) const;
  std::optional<SelectedSchedule> blockRows(const Rows &rows, int64_t blocks, bool few) const;
  int64_t rowsBeside(const Rows &rows) const;
  std::optional<SelectedSchedule> shelvedRows(const Rows &rows) const;
  SelectedSchedule column();
  SelectedSchedule reduce();

  int64_t indexWidth() const;
  AffineExpr extent(unsigned dim) const { return kernel.getExtents().getResult(dim); }
  std::optional<int64_t> product(bool reduced) const;
  std::optional<int64_t> longestRow() const;
  int64_t narrowestAlong(unsigned dim) const;
  std::pair<int64_t, int64_t> streams() const;
  SmallVector<ViewAttr> views() const {
    SmallVector<ViewAttr> all;
    for (ArrayAttr array : {kernel.getInputs(), kernel.getOutputs()})
      for (ViewAttr view : array.getAsRange<ViewAttr>())
        if (view.getSource() == Source::Memory)
          all.push_back(view);
    return all;
  }
  MLIRContext *context() const { return const_cast<KernelOp &>(kernel).getContext(); }

  mutable KernelOp kernel;
  const DeviceProperties &device;
  SizeFacts facts;
  int64_t index;
};

} // namespace

/// A size that is only known at run time counts as small enough; the JIT checks it and asks for 64
/// bits otherwise.
int64_t Selector::indexWidth() const {
  for (AffineExpr offset : largestOffsets(kernel))
    if (std::optional<int64_t> constant = constantSize(offset);
        constant && *constant >= INT32_MAX - kOvershoot)
      return 64;
  return 32;
}

std::optional<int64_t> Selector::product(bool reduced) const {
  int64_t total = 1;
  for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
    if (llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(dim)) == reduced) {
      std::optional<int64_t> constant = constantSize(extent(dim));
      if (!constant || llvm::MulOverflow(total, *constant, total))
        return std::nullopt;
    }
  return total;
}

/// The length of the longest row that there can be, where something bounds it.
std::optional<int64_t> Selector::longestRow() const {
  int64_t total = 1;
  for (int64_t dim : kernel.getReduced()) {
    std::optional<int64_t> bound = upperBound(extent(dim), facts);
    if (!bound || llvm::MulOverflow(total, *bound, total))
      return std::nullopt;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Pointwise and runs
//===----------------------------------------------------------------------===//

SelectedSchedule Selector::pointwise() {
  unsigned inner = kernel.getRank() - 1;
  int64_t vector = vectorAlong(kernel, inner, facts), narrow = 16;
  bool tail = false;
  if (mayHaveTail(kernel))
    if (int64_t wider = vectorAlong(kernel, inner, facts, /*tail=*/true); wider > vector) {
      vector = wider;
      tail = true;
    }
  for (ViewAttr view : views())
    if (!LinearAccess::of(view.getAccess())->isBroadcast(inner))
      narrow = std::min(narrow, elementBytes(view.getElement()));
  // Narrow accesses need more of them in flight: 16 bytes a thread, four accesses at most.
  // Many operands are in flight by themselves.
  int64_t unroll = views().size() > 12
                       ? 1
                       : std::clamp<int64_t>(16 / std::max<int64_t>(1, vector * narrow), 1, 4);
  // Two streams in flight fill a multiprocessor with half the threads a block, and more blocks even
  // out the end.
  int64_t streams = llvm::count_if(kernel.getInputs().getAsRange<ViewAttr>(), [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    return view.getSource() == Source::Memory &&
           llvm::none_of(llvm::seq<unsigned>(kernel.getRank()),
                         [&](unsigned dim) { return access.isBroadcast(dim); });
  });
  int64_t threads = streams > 1 ? 128 : 256;
  std::optional<int64_t> points = product(false);
  while (points && threads > 64 &&
         llvm::divideCeil(*points, vector * threads * unroll) < uint64_t(device.smCount))
    threads /= 2;
  std::string reason = "vectors of " + std::to_string(vector) + (tail ? " with a tail" : "") +
                       " along the innermost extent";
  return {PointwiseScheduleAttr::get(context(), threads, vector, unroll, tail, index), reason};
}

SelectedSchedule Selector::runs() {
  auto plain = cast<PointwiseScheduleAttr>(pointwise().schedule);
  int64_t movement = plain.getVector() * elementBytes(kernel.getOutput(0).getElement());
  if (plain.getTail())
    return {plain, "contiguous on both sides: a copy"};
  return {PermuteScheduleAttr::get(context(), PermuteClass::Runs, plain.getThreads(), movement,
                                   plain.getUnroll(), 0, 1, 1, 1, 1, index),
          "both sides share the innermost run, which moves by " + std::to_string(movement) +
              " bytes"};
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

SelectedSchedule Selector::tiles() {
  unsigned out = kernel.getRank() - 1, in = *transposedDim(kernel);
  int64_t bytes = 1, transposedInputs = 0;
  auto isTransposed = [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    return constantSize(access.strides[in]) == 1 && !access.isBroadcast(out);
  };
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
    if (view.getSource() == Source::Memory && isTransposed(view)) {
      bytes = std::max(bytes, elementBytes(view.getElement()));
      ++transposedInputs;
    }
  int64_t widest = 16 / bytes;
  int64_t vectorIn = std::min(widest, vectorAlong(kernel, in, facts, false, isTransposed));
  int64_t vectorOut = std::min(widest, vectorAlong(kernel, out, facts, false, [&](ViewAttr view) {
                                 return !isTransposed(view);
                               }));
  // Half a vector on the reading side of narrow elements: the register transposes need fewer
  // registers, so more blocks are resident.
  if (bytes <= 2 && vectorIn == widest)
    vectorIn /= 2;
  int64_t side = bytes == 8 ? 32 : bytes >= 4 ? 64 : 128;
  if (bytes == 16 || std::max(vectorIn, vectorOut) == 1)
    side = 32;
  int64_t tileIn = side, tileOut = side, threads = bytes == 2 && side == 128 ? 512 : 256;
  while (transposedInputs * tileIn * tileOut * bytes > 48 * 1024)
    (tileIn >= tileOut ? tileIn : tileOut) /= 2;
  // No larger than the tensor needs, and no smaller than one pass of the threads over the tile.
  auto shrink = [&](int64_t &tile, unsigned dim, int64_t least) {
    std::optional<int64_t> constant = constantSize(extent(dim));
    while (constant && tile / 2 >= *constant && tile / 2 >= least)
      tile /= 2;
  };
  shrink(tileIn, in, std::max<int64_t>(8, vectorIn));
  shrink(tileOut, out, std::max<int64_t>(8, vectorOut));
  int64_t rows = bytes == 1 ? std::min<int64_t>(4, vectorOut) : vectorOut;
  auto fits = [&] {
    return tileIn * tileOut / (vectorIn * rows) >= threads &&
           tileIn * tileOut / vectorOut >= threads;
  };
  while (!fits() && threads > 32)
    threads /= 2;
  while (!fits() && vectorIn * vectorOut > 1) {
    (vectorIn >= vectorOut ? vectorIn : vectorOut) /= 2;
    rows = bytes == 1 ? std::min<int64_t>(4, vectorOut) : vectorOut;
  }
  return {PermuteScheduleAttr::get(context(), PermuteClass::Tiles, threads, 1, 1, in, tileIn,
                                   tileOut, vectorIn, vectorOut, index),
          "input and output are contiguous along different dimensions: tiles of " +
              std::to_string(tileIn) + " by " + std::to_string(tileOut) + " through shared memory"};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Bytes of an element of the narrowest operand that changes along a dimension.
int64_t Selector::narrowestAlong(unsigned dim) const {
  int64_t narrow = 16;
  for (ViewAttr view : views())
    if (!LinearAccess::of(view.getAccess())->isBroadcast(dim))
      narrow = std::min(narrow, elementBytes(view.getElement()));
  return narrow;
}

/// Bytes of an element of the widest operand that has rows of its own, and of all of them.
std::pair<int64_t, int64_t> Selector::streams() const {
  int64_t widest = 1, all = 0;
  for (ViewAttr view : views()) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    unsigned kept = kernel.getReduced().front();
    if (access.isBroadcast(kernel.getRank() - 1) ||
        llvm::all_of(llvm::seq(kept), [&](unsigned dim) { return access.isBroadcast(dim); }))
      continue;
    widest = std::max(widest, elementBytes(view.getElement()));
    all += elementBytes(view.getElement());
  }
  return {widest, all};
}

/// What decides how rows are dealt out.
struct Selector::Rows {
  int64_t vector, vectors; ///< elements of a vector, vectors of the longest row
  int64_t bytes, widest;   ///< of the narrowest access; of the widest one of rows
  int64_t moved;           ///< bytes for each element of a row
  int64_t capacity;        ///< vectors that a thread's registers hold
  int64_t grouped;         ///< vectors of a group of a second collective, or 1
  std::optional<int64_t> count;
  std::string name; ///< "a row of 768"
};

SelectedSchedule Selector::makeRow(const Rows &rows, RowClass kind, int64_t perRow,
                                   int64_t rowsPerBlock, int64_t perThread, std::string reason,
                                   int64_t blocks, bool staged) const {
  // A group of a second collective is whole vectors of neighbouring lanes.
  perThread = llvm::alignTo(perThread, llvm::divideCeil(rows.grouped, 32));
  return {RowScheduleAttr::get(context(), kind, perRow, rowsPerBlock, rows.vector, perThread, index,
                               blocks, staged),
          reason};
}

/// The lanes that take a row by at most `perThread` vectors each, at least `least`; 0 if a warp is
/// too small.  A row costs each of its threads about as much as three vectors do, whether they are
/// there or not.
static int64_t lanesFor(int64_t vectors, int64_t least, int64_t perThread) {
  int64_t best = 0;
  auto cost = [&](int64_t threads) {
    int64_t each = llvm::divideCeil(vectors, threads);
    // Nothing beats one or two vectors that leave no lane idle.
    return each <= 2 && threads * each == vectors ? each : threads * (3 + each);
  };
  for (int64_t threads = least; threads <= 32; threads *= 2)
    if (vectors <= threads * perThread && (!best || cost(threads) < cost(best)))
      best = threads;
  return best;
}

/// Short rows that begin anywhere go by single elements, which only shared memory puts together to
/// whole accesses.  Rows of a few vectors, an odd number of them, leave lanes idle, and a thread for
/// each row finds its vectors in shared memory without conflicts.
std::optional<SelectedSchedule> Selector::stagedRows(const Rows &rows) const {
  bool anywhere = rows.bytes < 8,
       wholeRows = rows.vectors % 2 == 1 && rows.vectors > 1 &&
                   rows.vectors * rows.vector <= kWholeRowElements;
  int64_t threads = anywhere ? lanesFor(rows.vectors, 1, kStagedElements / rows.vector) : 1;
  // Norms of longer rows are as fast by single elements: gamma and beta go by them anyway.
  Collective kind = kernel.getCollective().getKind();
  bool norms = kind == Collective::LayerNorm || kind == Collective::RmsNorm;
  if ((!anywhere && !wholeRows) || rows.grouped > 1 || threads == 0 || threads > 8 ||
      (norms && rows.vectors > 352))
    return std::nullopt;
  for (int64_t block : {128, 64, 32}) {
    if (!anywhere && block > 64)
      continue;
    SelectedSchedule staged =
        makeRow(rows, RowClass::Group, threads, block / threads,
                llvm::divideCeil(rows.vectors, threads),
                rows.name + (anywhere ? " begins anywhere" : " is an odd number of vectors") +
                    ": through shared memory, threads for each: " + std::to_string(threads),
                /*blocks=*/1, /*staged=*/true);
    auto schedule = cast<RowScheduleAttr>(staged.schedule);
    if (stagedBytes(kernel, schedule) > 0 &&
        sharedBytes(kernel, schedule) <= device.sharedBytesPerBlock)
      return staged;
  }
  return std::nullopt;
}

/// Whether a mask leaves of each row one part, which is all that is read.
static bool isBounded(KernelOp kernel) {
  Block scratch;
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToEnd(&scratch);
  return bool(rowBounds(kernel, builder));
}

/// A warp takes rows of up to four vectors a lane, neighbouring lanes 64 bytes or more; with few
/// rows as many lanes as there are vectors.
std::optional<SelectedSchedule> Selector::groupedRows(const Rows &rows, bool few) const {
  int64_t perThread = rows.vector < 4 ? rows.capacity : std::min<int64_t>(rows.capacity, 4);
  // Two warps take what would fill one, with half the registers each; unless a mask leaves each warp
  // another part of the work, which they would wait for.
  bool fillsWarp =
      rows.vector >= 8 && rows.vectors >= 120 && rows.vectors <= 128 && !isBounded(kernel);
  if (rows.vectors > 32 * perThread || (few && rows.vectors > 64) || fillsWarp)
    return std::nullopt;
  int64_t all = std::min<int64_t>(32, llvm::PowerOf2Ceil(rows.vectors));
  int64_t least = std::max(std::clamp<int64_t>(64 / rows.bytes, 8, 32), rows.grouped);
  int64_t threads = few ? all : lanesFor(rows.vectors, std::min(least, all), perThread);
  int64_t each = llvm::divideCeil(rows.vectors, threads), block = each > 1 ? 64 : 128;
  return makeRow(rows, RowClass::Group, threads, block / threads, each,
                 rows.name + " fits the registers of " + std::to_string(threads) + " threads");
}

/// How many blocks share a row.  A cluster's blocks wait for each other: it is for rows that one
/// block cannot hold, and for few long ones.  Rows by narrow accesses have more to do than to wait
/// for memory.
int64_t Selector::blocksFor(const Rows &rows) const {
  int64_t blocks = 1;
  if (device.ccMajor < 9 || rows.bytes < 8)
    return blocks;
  int64_t one = 1024 * (rows.vector < 4 ? rows.capacity : std::min<int64_t>(rows.capacity, 4));
  if (rows.vectors > one)
    while (blocks < 16 && rows.vectors > blocks * 512 * rows.capacity)
      blocks *= 2;
  while (rows.count && blocks < 16 && 2 * blocks * *rows.count <= device.smCount &&
         rows.vectors >= 2 * blocks * 512)
    blocks *= 2;
  return blocks;
}

/// About how many blocks a multiprocessor holds: each quarter of it has registers for so many warps.
static int64_t residentBlocks(int64_t threads, int64_t registers) {
  int64_t warps = 4 * std::min<int64_t>(16, 512 / llvm::alignTo(registers, 8));
  return warps / (threads / 32);
}

/// Blocks that keep a row, or `share` vectors of it, in registers.
std::optional<SelectedSchedule> Selector::blockRows(const Rows &rows, int64_t blocks,
                                                    bool few) const {
  int64_t share = llvm::divideCeil(rows.vectors, blocks);
  if (share > 1024 * rows.capacity)
    return std::nullopt;
  // Too little of the rows on a multiprocessor costs most, then blocks of more than 512 threads,
  // then idle lanes. 16 elements a thread keep enough loads in flight; by narrow accesses, and where
  // two bytes become one, more of them pay for what a thread does once, and with few rows the more
  // threads the better.
  int64_t wanted = std::max<int64_t>(1, 16 / rows.vector), best = 0;
  if (rows.widest < 16)
    wanted = rows.vector == 1 ? 32 : std::max<int64_t>(1, 24 / rows.vector);
  else if (rows.bytes < rows.widest && rows.moved < 4)
    wanted = rows.capacity;
  if (few)
    wanted = 1;
  auto threadsFor = [&](int64_t perThread) {
    return std::max<int64_t>(64, llvm::alignTo(llvm::divideCeil(share, perThread), 32));
  };
  // How much a multiprocessor has of the rows at once, beside the one that waits at its barrier,
  // falls short of what keeps memory busy, in steps.  A LayerNorm that is not dealt out evenly waits
  // longer: its threads' statistics have counts.
  bool counts = kernel.getCollective().getKind() == Collective::LayerNorm;
  auto shortage = [&](int64_t perThread) {
    constexpr int64_t step = 8 << 10;
    int64_t threads = threadsFor(perThread), base = rows.vector == 1 || !counts ? 16 : 24;
    int64_t enough = (counts && threads * perThread != share ? 48 : 40) << 10;
    int64_t others = residentBlocks(threads, base + perThread * rows.vector) - 1;
    int64_t missing = enough - others * share * rows.widest;
    return few ? 0 : llvm::divideCeil(std::max<int64_t>(0, missing), step);
  };
  auto cost = [&](int64_t perThread) {
    int64_t threads = threadsFor(perThread);
    return std::tuple(shortage(perThread), !few && threads > 512,
                      (threads * perThread - share) * 3 / share, std::abs(perThread - wanted));
  };
  for (int64_t perThread = 1; perThread <= rows.capacity; ++perThread)
    if (threadsFor(perThread) <= 1024 && (!best || cost(perThread) < cost(best)))
      best = perThread;
  int64_t threads = threadsFor(best);
  bool exact = product(true) && blocks * threads * best == rows.vectors;
  return makeRow(rows, RowClass::Block, threads, 1, best,
                 rows.name + " fits the registers of " +
                     (blocks == 1 ? "one block" : std::to_string(blocks) + " blocks") +
                     (exact ? " exactly" : ""),
                 blocks);
}

/// How many rows, of short runs of memory, a block has beside each other so that it reads 128 bytes
/// together.
int64_t Selector::rowsBeside(const Rows &rows) const {
  unsigned inner = kernel.getRank() - 1, keptInner = kernel.getReduced().front() - 1;
  int64_t length = constantSize(extent(inner)).value_or(0), run = length / rows.vector,
          kept = constantSize(extent(keptInner)).value_or(1), beside = 1;
  bool areNeighbours = llvm::all_of(views(), [&](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    return access.isBroadcast(inner) || constantSize(access.strides[keptInner]) == length;
  });
  if (!areNeighbours || run == 0 || !llvm::isPowerOf2_64(run) || rows.grouped > 1)
    return 1;
  while (2 * beside * run <= 32 && beside * run * rows.bytes < 128 && kept % (2 * beside) == 0)
    beside *= 2;
  return beside;
}

/// Rows that wait in shared memory: those that lie beside each other, and those that one block's
/// registers cannot hold, unless a cluster's do: for few rows, and where elements do not grow there.
/// Six blocks share a multiprocessor if they can, so that memory is busy while some of them look at
/// their rows.
std::optional<SelectedSchedule> Selector::shelvedRows(const Rows &rows) const {
  int64_t beside = rowsBeside(rows), registers = 1024 * rows.capacity,
          one = std::min<int64_t>(registers, 1024 * (rows.vector < 4 ? rows.capacity : 4)),
          most = device.ccMajor < 9 ? 1 : 16, least = 1;
  bool grows = rows.bytes / rows.vector < 4;
  if (grows)
    one = std::min(one, kPairElements / rows.vector);
  if (!product(true) || rows.grouped > 1 || rows.bytes < 8)
    return std::nullopt;
  while (rows.count && 2 * least * *rows.count <= device.smCount * beside && least < most &&
         beside * rows.vectors >= 2 * least * 512)
    least *= 2;
  bool inRegisters = (least > 1 || !grows) && rows.vectors <= most * registers;
  if (beside == 1 && (rows.vectors <= one || inRegisters))
    return std::nullopt;
  for (int64_t resident : {6, 3, 2, 1})
    for (int64_t blocks = least; blocks <= most; blocks *= 2) {
      int64_t vectors = llvm::divideCeil(beside * rows.vectors, blocks);
      bool idle = rows.count && *rows.count * blocks < 4 * device.smCount * beside;
      int64_t threads = llvm::alignTo(llvm::divideCeil(vectors, idle ? 4 : 8), 32);
      threads = std::clamp<int64_t>(threads, 64, idle || resident == 1 ? 1024 : 512);
      SelectedSchedule shelved = makeRow(
          rows, RowClass::Looped, threads / beside, beside, std::max<int64_t>(2, 16 / rows.vector),
          rows.name + " waits in shared memory of " + std::to_string(blocks) + " blocks", blocks,
          /*staged=*/true);
      auto schedule = cast<RowScheduleAttr>(shelved.schedule);
      if (stagedBytes(kernel, schedule) == 0)
        return std::nullopt;
      if (sharedBytes(kernel, schedule) <= device.sharedBytesPerSm / resident - kReservedBytes)
        return shelved;
    }
  return std::nullopt;
}

/// How rows are dealt out.  The figures behind the numbers are in docs/notes/rows.md.
SelectedSchedule Selector::row() {
  unsigned inner = kernel.getRank() - 1;
  Rows rows;
  // Accesses of 8 bytes are as good as those of 16, which ones of 32 are not.
  rows.vector = vectorAlong(kernel, inner, facts);
  auto [widest, moved] = streams();
  if (narrowestAlong(inner) == 1 && widest > 1)
    rows.vector = std::min<int64_t>(rows.vector, 8);
  rows.bytes = rows.vector * narrowestAlong(inner);
  rows.widest = rows.vector * widest;
  rows.moved = moved;
  rows.capacity = std::max<int64_t>(1, kRegisterElements / rows.vector);
  CollectiveOp second = kernel.getSecondCollective();
  rows.grouped = second && second.getDims() ? *constantSize(extent(inner)) / rows.vector : 1;
  rows.count = product(false);
  // A runtime length takes the schedule of the longest: its end is masked.
  std::optional<int64_t> length = longestRow();
  int64_t looped = std::min<int64_t>(4, rows.capacity);
  if (!length || *length == 0)
    return makeRow(rows, RowClass::Looped, 512, 1, looped,
                   length ? "the row is empty" : "nothing bounds the row's length");
  rows.vectors = std::max<int64_t>(1, *length / rows.vector);
  rows.name = (product(true) ? "a row of " : "a row of at most ") + std::to_string(*length);
  // Few rows leave most of the GPU idle unless each row gets many threads.
  auto few = [&](int64_t blocks) { return rows.count && *rows.count * blocks < 4 * device.smCount; };
  if (!few(1))
    if (auto staged = stagedRows(rows))
      return *staged;
  if (auto grouped = groupedRows(rows, few(1)))
    return *grouped;
  if (auto shelved = shelvedRows(rows))
    return *shelved;
  int64_t blocks = blocksFor(rows);
  if (auto block = blockRows(rows, blocks, few(blocks)))
    return *block;
  return makeRow(rows, RowClass::Looped, few(blocks) ? 1024 : 512, 1, looped,
                 rows.name + " is too long for registers", blocks);
}

/// Norms along a dimension that is not innermost: neighbouring positions side by side, each walking
/// its own row.
SelectedSchedule Selector::column() {
  unsigned keptInner = kernel.getReduced().front() - 1;
  int64_t widest = vectorAlong(kernel, keptInner, facts), bytes = narrowestAlong(keptInner);
  std::optional<int64_t> length = product(true), inner = constantSize(extent(keptInner));
  auto make = [&](int64_t perRow, int64_t lanes, int64_t vector, int64_t perThread, bool staged,
                  StringRef where) {
    return SelectedSchedule{
        RowScheduleAttr::get(context(), RowClass::Column, perRow, lanes, vector, perThread, index,
                             /*blocks_per_row=*/1, staged),
        "the row runs across the contiguous dimension" + where.str()};
  };
  auto hasMore = [&](int64_t positions) { return !inner || positions < *inner; };
  if (length && *length > 0) {
    // A position's states cost an exchange: few positions a thread, and many coordinates. Side by
    // side 128 bytes, or better 256.
    int64_t vector = *length * widest <= kRegisterElements ? widest : std::min<int64_t>(widest, 4);
    int64_t lanes = 1;
    int64_t perRow = llvm::PowerOf2Ceil(llvm::divideCeil(*length, kRegisterElements / vector));
    while (lanes * perRow < 128 || (hasMore(lanes * vector) && lanes * vector * bytes < 128) ||
           (hasMore(lanes * vector) && lanes * vector * bytes < 256 && lanes * perRow < 512))
      lanes *= 2;
    if (lanes * perRow <= 512)
      return make(perRow, lanes, vector, llvm::divideCeil(*length, perRow), false, ", in registers");
    SelectedSchedule staged = make(32, 8, widest, 2, true, ", in shared memory");
    auto schedule = cast<RowScheduleAttr>(staged.schedule);
    if (stagedBytes(kernel, schedule) > 0 &&
        sharedBytes(kernel, schedule) <= device.sharedBytesPerSm / 2 - kReservedBytes)
      return staged;
  }
  int64_t perRow = 8, lanes = 32;
  while (lanes > 4 && !hasMore(lanes / 2 * widest))
    lanes /= 2;
  while (lanes * perRow < 128)
    perRow *= 2;
  return make(perRow, lanes, widest, 2, false, "");
}

//===----------------------------------------------------------------------===//
// Reductions over outer and middle dimensions
//===----------------------------------------------------------------------===//

SelectedSchedule Selector::reduce() {
  unsigned keptInner = kernel.getReduced().front() - 1;
  // 16 bytes of what is read; the few results may be narrower.
  int64_t narrow = 16;
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
    if (view.getSource() == Source::Memory)
      narrow = std::min(narrow, elementBytes(view.getElement()));
  int64_t vector = std::min(vectorAlong(kernel, keptInner, facts), 16 / narrow);
  std::optional<int64_t> length = product(true), kept = product(false),
                         inner = constantSize(extent(keptInner));
  // Sixteen lanes read 256 bytes side by side, which is as good as more and leaves more groups to
  // share the row. Fewer where that leaves multiprocessors idle.
  int64_t lanes = 16, groups = 16;
  while (inner && lanes > 1 && lanes / 2 * vector >= *inner)
    lanes /= 2;
  while (kept && lanes > 4 && *kept < 2 * device.smCount * lanes * vector &&
         lanes * vector * narrow > 128)
    lanes /= 2;
  groups = 256 / lanes;
  while (length && groups > 1 &&
         (groups > *length || (4 * groups > *length && groups * lanes > 128)))
    groups /= 2;
  lanes = std::max<int64_t>(lanes, 64 / groups);
  int64_t unroll = length && *length < 4 * groups ? 1 : length && *length < 8 * groups ? 4 : 8;
  return {ReduceScheduleAttr::get(context(), lanes, groups, vector, unroll, index),
          "the reduced dimensions lie outside the contiguous one"};
}

SelectedSchedule Selector::run() {
  switch (familyOf(kernel)) {
  case Family::Pointwise:
    return pointwise();
  case Family::Runs:
    return runs();
  case Family::Tiles:
    return tiles();
  case Family::Reduce:
    return reduce();
  case Family::Row: {
    std::optional<unsigned> principal = principalDim(kernel);
    return principal && !llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(*principal))
               ? column()
               : row();
  }
  }
  return {};
}

SelectedSchedule swage::selectSchedule(KernelOp kernel, const DeviceProperties &device,
                                       int64_t index) {
  return Selector(kernel, device, index).run();
}

/// Leaves the kernel only the facts that its schedule rests on, so that programs that know other
/// things share it.
static void dropUnusedFacts(KernelOp kernel, const DeviceProperties &device, int64_t index,
                            Attribute schedule) {
  SmallVector<int64_t> multiples(factsOf(kernel).multiples), limits(factsOf(kernel).limits);
  auto drop = [&](int64_t &fact, int64_t nothing) {
    int64_t known = std::exchange(fact, nothing);
    setFacts(kernel, {multiples, limits});
    if (known != nothing && selectSchedule(kernel, device, index).schedule != schedule) {
      fact = known;
      setFacts(kernel, {multiples, limits});
    }
  };
  for (int64_t &multiple : multiples)
    drop(multiple, 1);
  for (int64_t &limit : limits)
    drop(limit, 0);
}

static bool computesTheSame(KernelOp a, KernelOp b) {
  return a.getSymbols() == b.getSymbols() && a.getExtents() == b.getExtents() &&
         a.getReduced() == b.getReduced() && a.getInputs() == b.getInputs() &&
         a.getOutputs() == b.getOutputs() && a.getMultiplesAttr() == b.getMultiplesAttr() &&
         a.getLimitsAttr() == b.getLimitsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Gives a kernel that has lost facts the name of what is left. One that is there already takes
/// its launches over.
static void renameByFacts(KernelOp kernel, StringRef formerSuffix) {
  StringRef base = kernel.getSymName();
  if (!base.consume_back(formerSuffix) || factSuffix(kernel) == formerSuffix)
    return;
  auto module = kernel->getParentOfType<ModuleOp>();
  auto name = StringAttr::get(kernel.getContext(), base + factSuffix(kernel));
  auto other = module.lookupSymbol<KernelOp>(name);
  // A module that was written by hand may use the name for something else.
  if (other ? !computesTheSame(kernel, other) : module.lookupSymbol(name) != nullptr)
    return;
  if (failed(SymbolTable::replaceAllSymbolUses(kernel, name, module)))
    return;
  if (other)
    kernel.erase();
  else
    kernel.setSymName(name);
}

namespace {
struct SelectSchedulePass : swage::impl::SelectSchedulePassBase<SelectSchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    Expected<DeviceProperties> device = DeviceProperties::forArch(arch);
    if (!device) {
      emitError(getOperation().getLoc()) << device.takeError().message;
      return signalPassFailure();
    }
    if (index != 0 && index != 32 && index != 64) {
      emitError(getOperation().getLoc()) << "index is " << index << " bits, but must be 32 or 64";
      return signalPassFailure();
    }
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      if (kernel.getSchedule())
        continue;
      SelectedSchedule selected = selectSchedule(kernel, *device, index);
      kernel.emitRemark() << selected.reason;
      std::string suffix = factSuffix(kernel);
      dropUnusedFacts(kernel, *device, index, selected.schedule);
      kernel.setScheduleAttr(selected.schedule);
      renameByFacts(kernel, suffix);
    }
  }
};
} // namespace
