//===- ScheduleCandidates.cpp - What an autotuner may try -----------------===//
//
// Fields that follow from the others are not searched: where a thread keeps its share of the row,
// the threads of a row are the fewest that cover it.
//
//===----------------------------------------------------------------------===//

#include "swage/Dialect/Swage/Transforms/ScheduleCandidates.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/FlatSpace.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace swage;

/// Elements of a row that a thread keeps without spilling, in the widest case.
static constexpr int64_t kRegisterElements = 64;
static constexpr int64_t kPowers[] = {1, 2, 4, 8, 16}, kWidths[] = {16, 8, 4, 2, 1};

static bool isAccepted(KernelOp kernel) {
  ScopedDiagnosticHandler silence(kernel.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(kernel, /*verifyRecursively=*/false));
}

/// The same schedule with offsets as wide as another one's.
static Attribute withIndexOf(Attribute schedule, Attribute other) {
  MLIRContext *context = schedule.getContext();
  int64_t index = indexBitsOf(other);
  return llvm::TypeSwitch<Attribute, Attribute>(schedule)
      .Case([&](PointwiseScheduleAttr s) {
        return PointwiseScheduleAttr::get(context, s.getThreads(), s.getVector(), s.getUnroll(),
                                          s.getTail(), index);
      })
      .Case([&](PermuteScheduleAttr s) {
        return PermuteScheduleAttr::get(
            context, s.getKind(), s.getThreads(), s.getMovement(), s.getUnroll(), s.getTransposed(),
            s.getTileIn(), s.getTileOut(), s.getVectorIn(), s.getVectorOut(), index, s.getMerged());
      })
      .Case([&](BoxScheduleAttr s) {
        return BoxScheduleAttr::get(context, s.getThreads(), s.getBox(), s.getLanes(),
                                    s.getSkewed(), index, s.getFastest());
      })
      .Case([&](RowScheduleAttr s) {
        return RowScheduleAttr::get(context, s.getKind(), s.getThreadsPerRow(), s.getRowsPerBlock(),
                                    s.getVector(), s.getVectorsPerThread(), index,
                                    s.getBlocksPerRow(), s.getStaged(), s.getShelvedSteps(),
                                    s.getBypassL1(), s.getAligned(), s.getResident());
      })
      .Case([&](ReduceScheduleAttr s) {
        return ReduceScheduleAttr::get(context, s.getLanes(), s.getRowGroups(), s.getVector(),
                                       s.getUnroll(), index);
      })
      .Case([&](AttentionScheduleAttr s) {
        return AttentionScheduleAttr::get(
            context, s.getGroups(), s.getKeys(), s.getStages(), s.getQuerySlots(), s.getPatience(),
            s.getEager(), s.getHoldsQuery(), s.getDynamic(), s.getSection(), s.getTail(), index,
            s.getRun(), s.getParts(), s.getScoreStages());
      })
      .Case([&](DecodeScheduleAttr s) {
        return DecodeScheduleAttr::get(context, s.getWarps(), s.getKeys(), s.getStages(),
                                       s.getPatience(), s.getBlocks(), s.getSpans(), s.getBulk(),
                                       index, s.getAtoms(), s.getLinear(), s.getChunk(),
                                       s.getParts());
      })
      .Case([&](PortableAttentionScheduleAttr s) {
        return PortableAttentionScheduleAttr::get(context, s.getWarps(), s.getAtoms(), s.getKeys(),
                                                  s.getStages(), s.getPatience(), s.getHoldsQuery(),
                                                  s.getSection(), s.getTail(), index);
      })
      .Default([](Attribute) { return Attribute(); });
}

/// Whether what has one schedule can have the other: a kernel of one family has no phases for
/// another.  Tiles and boxes are of one.
static bool areOfOneFamily(Attribute a, Attribute b) {
  auto turns = [](Attribute schedule) {
    auto permute = dyn_cast<PermuteScheduleAttr>(schedule);
    return isa<BoxScheduleAttr>(schedule) || (permute && permute.getKind() == PermuteClass::Tiles);
  };
  return a.getTypeID() == b.getTypeID() || (turns(a) && turns(b));
}

bool swage::tryReplaceSchedule(KernelOp kernel, Attribute schedule) {
  Attribute before = kernel.getScheduleAttr();
  Attribute fitted = before && schedule ? withIndexOf(schedule, before) : Attribute();
  if (!fitted || !areOfOneFamily(fitted, before))
    return false;
  kernel.setScheduleAttr(fitted);
  if (isAccepted(kernel))
    return true;
  kernel.setScheduleAttr(before);
  return false;
}

namespace {
class Grid {
public:
  explicit Grid(KernelOp kernel) : kernel(kernel), context(kernel.getContext()) {}
  SmallVector<Attribute> collect();

private:
  void rows(RowScheduleAttr known);
  void residents(RowScheduleAttr known);
  void rowsOnChip(int64_t vector, int64_t length, bool bypassL1, bool aligned);
  void crowds(RowScheduleAttr known, int64_t length);
  void columnsOfCluster(int64_t vector, int64_t length, bool bypassL1);
  void columnsOfCrowd(RowScheduleAttr known, int64_t vector);
  void pointwise(PointwiseScheduleAttr known);
  void permute(PermuteScheduleAttr known);
  void tiles(int64_t in);
  void fewTiles(int64_t in);
  void addTiles(int64_t threads, int64_t in, int64_t tileIn, int64_t tileOut, int64_t vectorIn,
                int64_t vectorOut, int64_t merged) {
    addChecked<PermuteScheduleAttr>(PermuteClass::Tiles, threads, int64_t(1), int64_t(1), in,
                                    tileIn, tileOut, vectorIn, vectorOut, int64_t(32), merged);
  }
  void boxes(BoxScheduleAttr known);
  void boxesLike(PermuteScheduleAttr known);
  void reduce(ReduceScheduleAttr known);
  void attention(AttentionScheduleAttr known);
  void attention(PortableAttentionScheduleAttr known);
  void attention(DecodeScheduleAttr known);
  void add(Attribute schedule) {
    if (schedule)
      found.insert(schedule);
  }
  template <class Attr, class... Fields> void addChecked(Fields... fields) {
    ScopedDiagnosticHandler silence(context, [](Diagnostic &) { return success(); });
    add(Attr::getChecked([&] { return mlir::emitError(kernel.getLoc()); }, context, fields...));
  }

  KernelOp kernel;
  MLIRContext *context;
  llvm::SetVector<Attribute> found;
};
} // namespace

/// The same, with the compiler told how many blocks a multiprocessor is to hold, of its 2048
/// threads at most and 128 registers each, or not told.
void Grid::residents(RowScheduleAttr known) {
  int64_t threads = known.getThreadsPerRow() * known.getRowsPerBlock();
  for (int64_t blocks = 0; blocks * threads <= 2048; ++blocks)
    if (blocks == 0 || blocks * threads >= 512)
      addChecked<RowScheduleAttr>(
          known.getKind(), known.getThreadsPerRow(), known.getRowsPerBlock(), known.getVector(),
          known.getVectorsPerThread(), int64_t(32), known.getBlocksPerRow(), known.getStaged(),
          known.getShelvedSteps(), known.getBypassL1(), known.getAligned(), blocks);
}

/// One row in the registers of a part of a warp, of a block, or of a cluster.
void Grid::rowsOnChip(int64_t vector, int64_t length, bool bypassL1, bool aligned) {
  int64_t vectors = std::max<int64_t>(1, length / vector) + (aligned ? 2 : 0),
          most = kRegisterElements + (aligned ? 16 : 0);
  for (int64_t perThread = 1; perThread * vector <= most; ++perThread) {
    int64_t threads = llvm::divideCeil(vectors, perThread);
    if (int64_t lanes = int64_t(llvm::PowerOf2Ceil(uint64_t(threads))); lanes <= 32)
      for (int64_t block : {64, 128, 256, 512})
        for (bool staged : {false, true})
          addChecked<RowScheduleAttr>(RowClass::Group, lanes, block / lanes, vector, perThread,
                                      int64_t(32), int64_t(1), staged, int64_t(0), bypassL1,
                                      aligned, int64_t(0));
    for (int64_t blocks : kPowers) {
      int64_t share = int64_t(llvm::alignTo(uint64_t(llvm::divideCeil(threads, blocks)), 32));
      // Blocks that would have less than a warp's work for each warp are left out.
      if (share > 1024 || (blocks > 1 && share < 128))
        continue;
      for (bool staged : {false, true})
        addChecked<RowScheduleAttr>(RowClass::Block, share, int64_t(1), vector, perThread,
                                    int64_t(32), blocks, staged, int64_t(0), bypassL1, aligned,
                                    int64_t(0));
    }
  }
}

/// Columns in the registers of a cluster's blocks, or read again.
void Grid::columnsOfCluster(int64_t vector, int64_t length, bool bypassL1) {
  for (int64_t lanes : {4, 8, 16, 32})
    for (int64_t threads : {128, 256, 512, 1024})
      for (int64_t blocks : {2, 4, 8, 16}) {
        int64_t perRow = threads / lanes, each = llvm::divideCeil(length, perRow * blocks);
        addChecked<RowScheduleAttr>(RowClass::Column, perRow, lanes, vector,
                                    each > 0 && each <= 64 && each * vector <= 100 ? each
                                                                                   : int64_t(8),
                                    int64_t(32), blocks, /*staged=*/false, int64_t(0), bypassL1,
                                    /*aligned=*/false, int64_t(0));
      }
}

/// Columns of more blocks than a cluster has, of as many in all as before or twice as many.
void Grid::columnsOfCrowd(RowScheduleAttr known, int64_t vector) {
  int64_t count = mostElements(kernel, false, factsOf(kernel)).value_or(0);
  auto stripsOf = [&](int64_t lanes, int64_t vector) {
    return std::max<int64_t>(1, llvm::divideCeil(count, lanes * vector));
  };
  int64_t all = known.getBlocksPerRow() * stripsOf(known.getRowsPerBlock(), known.getVector());
  for (int64_t lanes : {4, 8, 16, 32})
    for (int64_t threads : {256, 512, 1024})
      for (int64_t unroll : {4, 8})
        for (int64_t most : {all, 2 * all})
          if (int64_t blocks = most / stripsOf(lanes, vector); blocks > kLargestCluster)
            addChecked<RowScheduleAttr>(RowClass::Column, threads / lanes, lanes, vector, unroll,
                                        int64_t(32), blocks, /*staged=*/false, int64_t(0),
                                        known.getBypassL1(), /*aligned=*/false, int64_t(0));
}

/// A row on chip in more blocks than a cluster has, or as much of it as fits in as many as before.
void Grid::crowds(RowScheduleAttr known, int64_t length) {
  int64_t vectors = llvm::divideCeil(length, known.getVector());
  for (int64_t threads : {256, 512, 1024})
    for (int64_t unroll : {1, 2, 4})
      for (int64_t steps : {1, 2, 3, 4, 6, 8, 12})
        for (int64_t blocks :
             {int64_t(llvm::divideCeil(vectors, threads * unroll * steps)), known.getBlocksPerRow()})
          if (blocks > kLargestCluster && unroll * known.getVector() <= kRegisterElements)
            addChecked<RowScheduleAttr>(RowClass::Looped, threads, int64_t(1), known.getVector(),
                                        unroll, int64_t(32), blocks, /*staged=*/true, steps,
                                        known.getBypassL1(), known.getAligned(),
                                        known.getResident());
}

void Grid::rows(RowScheduleAttr known) {
  residents(known);
  bool bypassL1 = known.getBypassL1();
  int64_t length = mostElements(kernel, true, factsOf(kernel)).value_or(0);
  if (length != 0 && known.getKind() != RowClass::Column &&
      known.getBlocksPerRow() >= kLargestCluster)
    crowds(known, length);
  for (int64_t vector : kWidths) {
    if (known.getKind() == RowClass::Column) {
      for (int64_t lanes : {4, 8, 16, 32, 64})
        for (int64_t perRow : {1, 2, 4, 8, 16, 32, 64})
          for (int64_t unroll : {1, 2, 4, 8, 16})
            for (bool staged : {false, true})
              addChecked<RowScheduleAttr>(RowClass::Column, perRow, lanes, vector, unroll,
                                          int64_t(32), int64_t(1), staged, int64_t(0), bypassL1,
                                          /*aligned=*/false, int64_t(0));
      if (known.getBlocksPerRow() > 1)
        columnsOfCluster(vector, length, bypassL1);
      if (known.getBlocksPerRow() >= kLargestCluster)
        columnsOfCrowd(known, vector);
      continue;
    }
    if (length != 0)
      rowsOnChip(vector, length, bypassL1, /*aligned=*/false);
    if (length != 0 && known.getAligned())
      rowsOnChip(vector, length, bypassL1, /*aligned=*/true);
    // Threads of a row that is made of short runs have as many of each.
    int64_t run = std::max<int64_t>(1, vectorsOfRun(kernel, vector));
    bool isWoven = known.getRowsPerBlock() > 1 && !llvm::isPowerOf2_64(run);
    SmallVector<int64_t> sizes = {128, 256, 512, 768, 1024};
    for (int64_t lanes = 2 * run; isWoven && lanes <= 1024; lanes *= 2)
      sizes.push_back(lanes);
    for (int64_t threads : sizes)
      for (int64_t unroll : {1, 2, 4, 8})
        for (int64_t blocks : kPowers)
          for (int64_t beside : {1, 2, 4, 8})
            for (bool staged : {false, true})
              if (unroll * vector <= kRegisterElements)
                addChecked<RowScheduleAttr>(RowClass::Looped, threads / beside, beside, vector,
                                            unroll, int64_t(32), blocks, staged, int64_t(0),
                                            bypassL1,
                                            /*aligned=*/false, int64_t(0));
  }
}

void Grid::pointwise(PointwiseScheduleAttr known) {
  // Where nothing is gathered counting through changes nothing but what is left over.
  SmallVector<bool> tails = {known.getTail()};
  if (isFlatSpace(kernel) &&
      llvm::any_of(kernel.getInputs().getAsRange<ViewAttr>(),
                   [&](ViewAttr view) { return countedAccess(kernel, view) == Access::Gather; }))
    tails = {false, true};
  for (int64_t threads : {64, 128, 256, 512, 1024})
    for (int64_t vector : kWidths)
      for (int64_t unroll : {1, 2, 4, 8})
        for (bool tail : tails)
          if (unroll * vector <= kRegisterElements)
            addChecked<PointwiseScheduleAttr>(threads, vector, unroll, tail, int64_t(32));
}

void Grid::permute(PermuteScheduleAttr known) {
  if (known.getKind() == PermuteClass::Runs) {
    for (int64_t threads : {64, 128, 256, 512, 1024})
      for (int64_t movement : kWidths)
        for (int64_t unroll : {1, 2, 4, 8})
          addChecked<PermuteScheduleAttr>(PermuteClass::Runs, threads, movement, unroll, int64_t(0),
                                          int64_t(1), int64_t(1), int64_t(1), int64_t(1),
                                          int64_t(32), int64_t(1));
    return;
  }
  boxesLike(known);
  tiles(known.getTransposed());
}

/// Tiles with any number of last dimensions that can be one.
void Grid::tiles(int64_t in) {
  SmallVector<int64_t> counts;
  for (int64_t merged = 1; merged < int64_t(kernel.getRank()) - in; ++merged)
    if (TileProblem::of(kernel, unsigned(in), merged).canMerge())
      counts.push_back(merged);
  for (int64_t threads : {64, 128, 256, 512})
    for (int64_t tileIn : {16, 32, 64, 128})
      for (int64_t tileOut : {16, 32, 64, 128})
        for (int64_t vectorIn : kWidths)
          for (int64_t vectorOut : kWidths)
            for (int64_t merged : counts)
              addTiles(threads, in, tileIn, tileOut, vectorIn, vectorOut, merged);
}

/// A few tiles, with as many dimensions as can be one and the widest vectors along them.
void Grid::fewTiles(int64_t in) {
  TileProblem problem = TileProblem::merging(kernel, unsigned(in));
  for (int64_t tileIn : {32, 64, 128})
    for (int64_t tileOut : {32, 64, 128})
      for (int64_t vectorIn : kWidths)
        addTiles(256, in, tileIn, tileOut, vectorIn, problem.vectorOut(), problem.merged);
}

/// A few boxes of about a tile's extents.
void Grid::boxesLike(PermuteScheduleAttr known) {
  SmallVector<int64_t> box(kernel.getRank(), 1);
  for (unsigned dim = 0; dim < box.size(); ++dim)
    if (!constantSize(kernel.getExtents().getResult(dim)))
      return;
  auto extent = [&](size_t dim) { return *constantSize(kernel.getExtents().getResult(dim)); };
  for (int64_t side : {32, 64}) {
    std::fill(box.begin(), box.end(), 1);
    size_t in = size_t(known.getTransposed());
    box[in] = std::clamp<int64_t>(extent(in), 1, side);
    int64_t out = 256;
    for (size_t dim = box.size(); --dim > in && out > 1; out /= box[dim])
      box[dim] = std::clamp<int64_t>(extent(dim), 1, out);
    for (int64_t threads : {256, 512})
      for (int64_t lanes : {8, 16, 32})
        addChecked<BoxScheduleAttr>(threads, ArrayRef<int64_t>(box), lanes, true, int64_t(32),
                                    int64_t(-1));
  }
}

/// A few tiles; then boxes of twice and half the extent along each dimension; and for each
/// of these, blocks that follow each other along another one.
void Grid::boxes(BoxScheduleAttr known) {
  if (std::optional<unsigned> in = transposedDim(kernel))
    fewTiles(*in);
  SmallVector<SmallVector<int64_t>> shapes{SmallVector<int64_t>(known.getBox())};
  for (unsigned dim = 0; dim < known.getBox().size(); ++dim)
    for (size_t i = 0, count = shapes.size(); i < count && count < 100; ++i)
      for (int64_t extent : {shapes[i][dim] * 2, (shapes[i][dim] + 1) / 2}) {
        SmallVector<int64_t> shape(shapes[i]);
        std::optional<int64_t> most = constantSize(kernel.getExtents().getResult(dim));
        shape[dim] = std::min(extent, most.value_or(1));
        shapes.push_back(shape);
      }
  for (ArrayRef<int64_t> box : shapes)
    for (int64_t threads : {128, 256, 512})
      for (int64_t lanes : {4, 8, 16, 32})
        for (bool skewed : {false, true})
          addChecked<BoxScheduleAttr>(threads, box, lanes, skewed, int64_t(32), known.getFastest());
  for (ArrayRef<int64_t> box : shapes)
    for (int64_t fastest = -1; fastest + 1 < int64_t(box.size()); ++fastest)
      addChecked<BoxScheduleAttr>(known.getThreads(), box, known.getLanes(), known.getSkewed(),
                                  int64_t(32), fastest);
}

void Grid::reduce(ReduceScheduleAttr known) {
  for (int64_t lanes : {1, 4, 8, 16, 32, 64})
    for (int64_t groups : {1, 2, 4, 8, 16, 32, 64})
      for (int64_t vector : kWidths)
        for (int64_t unroll : {1, 2, 4, 8})
          if (lanes * groups >= 64)
            addChecked<ReduceScheduleAttr>(lanes, groups, vector, unroll, int64_t(32));
}

/// Kernels of attention compile for a second each: those that differ in one field come first, then
/// those in two, and no others. With other parts query slots and tickets are what these allow.
void Grid::attention(AttentionScheduleAttr known) {
  for (int64_t stages = 0; stages <= 2; ++stages)
    for (int64_t slots : {1, 2, 3})
      if (stages != known.getScoreStages())
        addChecked<AttentionScheduleAttr>(
            known.getGroups(), known.getKeys(), known.getStages(), slots, known.getPatience(),
            known.getEager(), known.getHoldsQuery(), known.getDynamic(), known.getSection(),
            known.getTail(), int64_t(32), known.getRun(), known.getParts(), stages);
  for (int64_t parts = 1; parts <= 8; ++parts)
    for (int64_t slots = parts == 1 ? 2 : 1; slots > 0 && parts != known.getParts(); --slots)
      addChecked<AttentionScheduleAttr>(
          known.getGroups(), known.getKeys(), known.getStages(), slots, known.getPatience(),
          known.getEager(), known.getHoldsQuery(), parts == 1, known.getSection(), known.getTail(),
          int64_t(32), known.getRun(), parts, known.getScoreStages());
  for (int64_t tail : {int64_t(1), known.getTail() / 4, known.getTail() * 4, known.getTail() * 16})
    addChecked<AttentionScheduleAttr>(known.getGroups(), known.getKeys(), known.getStages(),
                                      known.getQuerySlots(), known.getPatience(), known.getEager(),
                                      known.getHoldsQuery(), known.getDynamic(), known.getSection(),
                                      tail, int64_t(32), known.getRun(), known.getParts(),
                                      known.getScoreStages());
  for (int changes : {1, 2})
    for (int64_t keys : {48, 64, 80, 96, 112, 128, 144, 160, 176})
      for (int64_t groups : {2, 3})
        for (int64_t stages : {1, 2, 3, 4})
          for (int64_t slots : {1, 2, 3})
            for (int64_t patience : {0, 8})
              for (bool eager : {false, true})
                for (bool holds : {false, true})
                  for (bool dynamic : {false, true})
                    if ((keys != known.getKeys()) + (groups != known.getGroups()) +
                            (stages != known.getStages()) + (slots != known.getQuerySlots()) +
                            (patience != known.getPatience()) + (eager != known.getEager()) +
                            (holds != known.getHoldsQuery()) + (dynamic != known.getDynamic()) ==
                        changes)
                      addChecked<AttentionScheduleAttr>(groups, keys, stages, slots, patience,
                                                        eager, holds, dynamic, known.getSection(),
                                                        known.getTail(), int64_t(32),
                                                        known.getRun() * known.getKeys() / keys,
                                                        known.getParts(), known.getScoreStages());
}

void Grid::attention(PortableAttentionScheduleAttr known) {
  for (int changes : {1, 2})
    for (int64_t keys : {16, 32, 48, 64, 80, 96})
      for (int64_t warps : {4, 8})
        for (int64_t atoms : {1, 2})
          for (int64_t stages : {1, 2})
            for (int64_t patience : {0, 8})
              for (bool holds : {false, true})
                if ((keys != known.getKeys()) + (warps != known.getWarps()) +
                        (atoms != known.getAtoms()) + (stages != known.getStages()) +
                        (patience != known.getPatience()) + (holds != known.getHoldsQuery()) ==
                    changes)
                  addChecked<PortableAttentionScheduleAttr>(warps, atoms, keys, stages, patience,
                                                            holds, known.getSection(),
                                                            known.getTail(), int64_t(32));
}

void Grid::attention(DecodeScheduleAttr known) {
  // With chunks what decides the order of sums stays.
  auto changesSums = [&](int64_t warps, int64_t keys, int64_t atoms) {
    return known.getChunk() && (warps != known.getWarps() || keys * warps != known.getKeys() ||
                                atoms != known.getAtoms());
  };
  // Parts of a unit among the blocks of a cluster, and spans where one block has a multiprocessor.
  SmallVector<std::pair<int64_t, int64_t>> deals = {{1, known.getSpans()},
                                                    {1, 4 * known.getSpans()}};
  if (int64_t units = known.getSpans() / known.getParts(); known.getParts() > 1)
    deals = {{known.getParts(), known.getSpans()},
             {1, known.getSpans()},
             {1, 2 * known.getSpans()},
             {2, 2 * units},
             {4, 4 * units},
             {8, 8 * units}};
  for (int64_t warps : {4, 8, 2, 1})
    for (int64_t keys : {16, 32})
      for (int64_t stages : {4, 3, 6, 2})
        for (int64_t blocks : {2, 1, 3, 4})
          for (bool bulk : {false, true})
            for (auto [parts, spans] : deals)
              for (int64_t atoms = 1; atoms <= known.getAtoms(); ++atoms)
                for (bool linear : {false, true})
                  if (linear <= bulk && bulk <= known.getBulk() &&
                      !changesSums(warps, keys, atoms) && (parts == 1 || blocks == 1))
                    addChecked<DecodeScheduleAttr>(warps, keys * warps, stages, known.getPatience(),
                                                   blocks, spans * blocks / known.getBlocks(), bulk,
                                                   int64_t(32), atoms, linear, known.getChunk(),
                                                   parts);
}

SmallVector<Attribute> Grid::collect() {
  Attribute known = kernel.getScheduleAttr();
  llvm::TypeSwitch<Attribute>(known)
      .Case([&](RowScheduleAttr row) { rows(row); })
      .Case([&](PointwiseScheduleAttr plain) { pointwise(plain); })
      .Case([&](PermuteScheduleAttr moves) { permute(moves); })
      .Case([&](BoxScheduleAttr moves) { boxes(moves); })
      .Case([&](ReduceScheduleAttr sums) { reduce(sums); })
      .Case([&](AttentionScheduleAttr tiles) { attention(tiles); })
      .Case([&](PortableAttentionScheduleAttr tiles) { attention(tiles); })
      .Case([&](DecodeScheduleAttr tiles) { attention(tiles); });
  SmallVector<Attribute> accepted;
  for (Attribute schedule : found) {
    if (!tryReplaceSchedule(kernel, schedule))
      continue;
    if (kernel.getScheduleAttr() != known)
      accepted.push_back(kernel.getScheduleAttr());
    kernel.setScheduleAttr(known);
  }
  // The plain ones first, for a search that stops early.
  llvm::stable_sort(accepted, [](Attribute a, Attribute b) {
    auto isPlain = [](Attribute schedule) {
      auto row = dyn_cast<RowScheduleAttr>(schedule);
      return !row || (row.getBlocksPerRow() == 1 && !row.getStaged());
    };
    return isPlain(a) && !isPlain(b);
  });
  return accepted;
}

SmallVector<Attribute> swage::scheduleCandidates(KernelOp kernel) {
  return kernel.getSchedule() ? Grid(kernel).collect() : SmallVector<Attribute>();
}
