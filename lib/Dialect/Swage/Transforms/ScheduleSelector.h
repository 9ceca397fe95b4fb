//===- ScheduleSelector.h - Schedules of one kernel -------------*- C++ -*-===//
//
// The rules behind --swage-select-schedule. Those of rows are in Select*RowSchedule.cpp, of columns
// in SelectColumnSchedule.cpp, of boxes in SelectBoxSchedule.cpp, of attention in
// SelectAttentionSchedule.cpp and SelectDecodeSchedule.cpp, the others in SelectSchedule.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SCHEDULESELECTOR_H
#define SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SCHEDULESELECTOR_H

#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/Analysis/ShapeFacts.h"
#include "swage/Dialect/Swage/Transforms/SelectSchedule.h"

namespace swage {

struct AttentionProblem;
struct TileProblem;

/// The most words of one bank of shared memory that lanes touch which read the bytes at these
/// places: how often they wait for it.
int64_t bankConflicts(llvm::ArrayRef<int64_t> places);

/// What memory is written by.
constexpr int64_t kSectorBytes = 32;
/// Whether rows begin with sectors whose elements of so many bytes lie at these strides, the last
/// of which is along the row.
bool haveWholeSectors(llvm::ArrayRef<int64_t> strides, int64_t bytes);
/// The strides of a view, in elements; 0 where one is not known.
llvm::SmallVector<int64_t> constantStrides(ViewAttr view);

/// What an attention kernel reads beside attention's operands; positions are not read.
llvm::SmallVector<unsigned> furtherInputs(KernelOp kernel);
/// Whether scores or weights depend on something that is read for each key, which takes registers:
/// where that is `staged`, on more than what comes through shared memory.
bool readsForKeys(KernelOp kernel, bool staged = false);
/// Whether the same kernel is to be selected however many keys and sequences there are.
bool isInvariant(KernelOp kernel);

class ScheduleSelector {
public:
  ScheduleSelector(KernelOp kernel, const DeviceProperties &device, int64_t index)
      : kernel(kernel), device(device), facts(factsOf(kernel)) {
    this->index = index ? index : indexWidth();
  }
  SelectedSchedule run();

private:
  double linesOf(ViewAttr view, int64_t vector) const;
  int64_t countedVector(llvm::ArrayRef<ViewAttr> gathered) const;
  SelectedSchedule pointwise();
  SelectedSchedule runs();
  SelectedSchedule tiles(const TileProblem &problem);
  SelectedSchedule tilesOf(const TileProblem &problem, int64_t threads, int64_t tileIn,
                           int64_t tileOut, int64_t vectorIn, int64_t vectorOut) const;
  std::optional<SelectedSchedule> mergedTiles();
  bool tearsBytes(const SelectedSchedule &selected) const;
  SelectedSchedule boxesOr(const SelectedSchedule &plain);
  bool hasGoodTiles(const SelectedSchedule &selected) const;
  SelectedSchedule smallTiles(const SelectedSchedule &selected) const;
  std::optional<SelectedSchedule> boxes(std::optional<int64_t> movement = std::nullopt);
  SelectedSchedule row();
  struct Rows;
  SelectedSchedule rowOfClusters(const Rows &rows, int64_t length) const;
  SelectedSchedule makeRow(const Rows &rows, RowClass kind, int64_t perRow, int64_t rowsPerBlock,
                           int64_t perThread, std::string reason, int64_t blocks = 1,
                           bool staged = false, int64_t shelvedSteps = 0) const;
  bool beginAligned() const;
  std::optional<SelectedSchedule> alignedRows(Rows rows, bool few) const;
  std::optional<SelectedSchedule> stagedRows(const Rows &rows) const;
  int64_t lanesFor(const Rows &rows, int64_t least, int64_t perThread) const;
  std::optional<SelectedSchedule> groupedRows(const Rows &rows, bool few) const;
  SelectedSchedule shelve(const Rows &rows, int64_t blocks, int64_t threads, int64_t perThread,
                          int64_t steps = 0) const;
  int64_t shelfRegisters(const Rows &rows, int64_t perThread) const;
  SelectedSchedule spread(Rows rows, int64_t blocks, bool few) const;
  int64_t blocksOfFew(const Rows &rows) const;
  int64_t blocksFor(const Rows &rows) const;
  int64_t blocksWithInputs(const Rows &rows, int64_t threads, int64_t elements) const;
  std::optional<SelectedSchedule> blockRows(Rows rows, int64_t blocks, bool few) const;
  std::optional<SelectedSchedule> evenRows(const Rows &rows) const;
  int64_t runBeside(const Rows &rows) const;
  int64_t rowsBeside(const Rows &rows) const;
  std::optional<SelectedSchedule> wovenRows(const Rows &rows) const;
  std::optional<SelectedSchedule> shelvedRows(const Rows &rows) const;
  SelectedSchedule crowd(const Rows &rows, int64_t blocks, int64_t threads, int64_t perThread,
                         int64_t steps) const;
  struct Steps {
    int64_t count, bytes;
  };
  Steps crowdSteps(const Rows &rows, int64_t threads, int64_t perThread, int64_t room) const;
  std::optional<SelectedSchedule> fewRowsInCrowds(const Rows &rows, int64_t count,
                                                  double bytes) const;
  std::optional<SelectedSchedule> longRowsInCrowds(Rows rows, int64_t count, double bytesOfAll,
                                                   RowScheduleAttr otherwise) const;
  std::optional<SelectedSchedule> crowdedRows(Rows rows, RowScheduleAttr otherwise) const;
  SelectedSchedule makeColumn(int64_t perRow, int64_t lanes, int64_t vector, int64_t perThread,
                              bool staged, llvm::StringRef where, int64_t blocks = 1,
                              int64_t resident = 0) const;
  bool fitsTwice(const SelectedSchedule &staged) const;
  struct Columns;
  int64_t lanesOf(const Columns &columns, int64_t vector, int64_t perRow,
                  int64_t mostThreads) const;
  std::optional<SelectedSchedule> columnsInRegisters(const Columns &columns, int64_t vector) const;
  std::optional<SelectedSchedule> columnsByBlocks(const Columns &columns, int64_t vector,
                                                  int64_t threads, int64_t positions,
                                                  bool mustBeEven) const;
  std::optional<SelectedSchedule> shelvedColumns(const Columns &columns, int64_t widest) const;
  std::optional<SelectedSchedule> sharedColumns(const Columns &columns, int64_t widest) const;
  std::optional<SelectedSchedule> columnsInCrowds(const Columns &columns, int64_t widest,
                                                  bool inRounds) const;
  SelectedSchedule longColumns(const Columns &columns, int64_t widest) const;
  SelectedSchedule column();
  SelectedSchedule reduce();
  SelectedSchedule attention() const;
  SelectedSchedule hopperAttention() const;
  /// The one with so many places for what scores read for each query and key; or none.
  AttentionScheduleAttr hopperSchedule(const AttentionProblem &problem, int64_t scoreStages) const;
  SelectedSchedule portableAttention() const;
  SelectedSchedule wideAttention() const;
  std::optional<SelectedSchedule> decode() const;
  std::optional<int64_t> headsInAll() const;
  int64_t partsOf(const AttentionProblem &problem, int64_t rows, int64_t keys) const;
  double timeOfTiles(const AttentionProblem &problem, int64_t groups, int64_t keys,
                     bool areShared) const;
  bool isDecoding() const;
  struct WholeUnits {
    int64_t spans, most; ///< blocks, and units of a multiprocessor
  };
  WholeUnits dealUnits(int64_t units, int64_t blocks) const;
  struct Crowd {
    int64_t warps, blocks; ///< of a block, and of a multiprocessor
  };
  Crowd crowdOf(const AttentionProblem &problem) const;
  int64_t spansOf(const AttentionProblem &problem, int64_t rowTiles, int64_t blocks) const;
  int64_t clusterOf(const AttentionProblem &problem, int64_t rowTiles, int64_t warps,
                    int64_t tileKeys, int64_t spans) const;

  int64_t indexWidth() const;
  mlir::AffineExpr extent(unsigned dim) const { return kernel.getExtents().getResult(dim); }
  /// Points along the reduced dimensions, or along the others: how many there are at most by facts,
  /// by those of the kernel, and by none, which is their number.
  std::optional<int64_t> largest(bool reduced, const SizeFacts &facts) const;
  std::optional<int64_t> largest(bool reduced) const { return largest(reduced, facts); }
  std::optional<int64_t> product(bool reduced) const { return largest(reduced, {}); }
  int64_t narrowestAlong(unsigned dim) const;
  bool changesAlongRow(ViewAttr view) const;
  bool hasRows(ViewAttr view) const;
  int64_t mostWritten() const;
  int64_t writableVector(unsigned dim) const;
  bool readsAgain() const;
  bool turnsHalves() const;
  struct Streams {
    int64_t widest, bytes, count;
  };
  Streams streams() const;
  bool isNorm() const;
  bool isLayerNorm() const;
  bool isWideLayerNorm(const Rows &rows) const;
  bool staysInL2() const;
  bool fitsL2(const Rows &rows, int64_t fifths) const;
  llvm::SmallVector<ViewAttr> views() const {
    llvm::SmallVector<ViewAttr> all;
    for (mlir::ArrayAttr array : {kernel.getInputs(), kernel.getOutputs()})
      for (ViewAttr view : array.getAsRange<ViewAttr>())
        if (view.getSource() == Source::Memory)
          all.push_back(view);
    return all;
  }
  mlir::MLIRContext *context() const { return const_cast<KernelOp &>(kernel).getContext(); }

  mutable KernelOp kernel;
  const DeviceProperties &device;
  SizeFacts facts;
  int64_t index;
};

} // namespace swage

#endif // SWAGE_LIB_DIALECT_SWAGE_TRANSFORMS_SCHEDULESELECTOR_H
