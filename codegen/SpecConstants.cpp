//===- SpecConstants.cpp - A schedule as constants of a Spec --------------===//

#include "SpecEmitter.h"
#include "TypeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace swage;
using namespace swage::codegen;

// A variable, constant or not, would have a place in the GPU's memory, which the driver allocates
// and fills when it loads the kernel: a quarter of a millisecond.
void SpecEmitter::constant(StringRef name, int64_t value) {
  out.line("enum : int { " + name + " = " + Twine(value) + " };");
}
void SpecEmitter::flag(const Twine &name, bool value) {
  out.line("enum : bool { " + name + (value ? " = true };" : " = false };"));
}
void SpecEmitter::numbers(StringRef name, ArrayRef<int64_t> list) {
  out.line("using " + name + " = swage::Numbers<" +
           llvm::join(llvm::map_range(list, [](int64_t n) { return std::to_string(n); }), ", ") +
           ">;");
}
void SpecEmitter::named(StringRef name, const Twine &value) {
  out.line("static constexpr __device__ auto " + name + "() { return " + value + "; }");
}

/// The vector of a permutation by runs, which is scheduled by bytes.
static int64_t runVector(KernelOp kernel, PermuteScheduleAttr schedule) {
  return schedule.getMovement() / elementBytes(kernel.getOutput(0).getElement());
}

/// Whether nothing sees the elements of a phase's softmax but rounded to 16 bits or fewer.
static bool isRounded(KernelOp kernel, PhaseOp phase) {
  PhaseOp epilogue = kernel.getPhase(Phase::Epilogue);
  auto collective = *phase.getCollective();
  if ((collective != Collective::Softmax && collective != Collective::LogSoftmax) || !epilogue ||
      epilogue.getPhasesBehind().back() != phase)
    return false;
  auto isNarrow = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 16;
  };
  BlockArgument element = epilogue.getBody().front().getArgument(0);
  auto isUseNarrow = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<YieldOp>(user)) {
      int64_t output = epilogue.getStores()[use.getOperandNumber()];
      return isNarrow(kernel.getOutput(unsigned(output)).getElement());
    }
    return isa<arith::TruncFOp>(user) && isNarrow(user->getResult(0).getType());
  };
  return element.getType().isF32() && !element.use_empty() &&
         llvm::all_of(element.getUses(), isUseNarrow);
}

Type codegen::collectedType(PhaseOp phase) {
  Operation &yield = phase.getBody().front().back();
  return yield.getNumOperands() ? yield.getOperand(0).getType() : Type();
}

/// A number of type double.
static std::string numberText(double number) {
  std::string text = fmt::format("{}", number);
  return text + (text.find_first_of(".e") == std::string::npos ? ".0" : "");
}

bool SpecEmitter::doBoundsVary(ArrayRef<unsigned> dims) const {
  PhaseOp bounds = kernel.getPhase(Phase::Bounds);
  return bounds && llvm::any_of(bounds.getLoads(), [&](int64_t input) {
           LinearAccess access = *LinearAccess::of(kernel.getInput(input).getAccess());
           return llvm::any_of(dims, [&](unsigned dim) {
             return constantSize(kernel.getExtents().getResult(dim)) != 1 &&
                    !access.isBroadcast(dim);
           });
         });
}

/// Keys and values of 8 bits as matrix instructions know them.
static StringRef cacheName(Type type) {
  return type.isInteger(8)             ? "swage::s8"
         : isa<Float8E4M3FNType>(type) ? "swage::e4m3"
                                       : "swage::e5m2";
}

template <typename Schedule> void SpecEmitter::emitAttention(Schedule schedule) {
  constant("kKeys", schedule.getKeys());
  constant("kStages", schedule.getStages());
  constant("kPatience", schedule.getPatience());
  if constexpr (!std::is_same_v<Schedule, DecodeScheduleAttr>) {
    constant("kSection", schedule.getSection());
    constant("kTailHeads", schedule.getTail());
    flag("kHoldsQuery", schedule.getHoldsQuery());
  }
  AttentionProblem problem = *AttentionProblem::of(kernel);
  // Weights are rounded to what matrix instructions take, which has a largest number.
  out.line("using Element = " +
           (problem.isNarrow() ? "swage::e4m3" : elementName(problem.element)) + ";");
  if (problem.hasNarrowCache())
    out.line("using Cache = " + cacheName(problem.cache) + ";");
  if (problem.hasTiledResult)
    out.line("using Result = " + elementName(problem.result) + ";");
  constant("kHeadDim", problem.headDim);
  constant("kValueDim", problem.valueDim);
  PhaseOp prologue = kernel.getPhase(Phase::Prologue), inside = kernel.getPhase(Phase::Inside),
          bounds = kernel.getPhase(Phase::Bounds);
  // Without bounds no block is asked for its keys one by one, and ptxas orders the loop better if
  // it does not know that none would have to be (head dim 64: 4 %).
  std::optional<int64_t> keys = constantSize(kernel.getExtents().getResult(AttentionDim::Key));
  flag("kWholeBlocks", bounds && keys && *keys > 0 && *keys % schedule.getKeys() == 0);
  auto yielded = [](PhaseOp phase) { return phase.getBody().front().back().getOperand(0); };
  flag("kZeroRows", prologue.getZeroRows());
  flag("kInsideMasks", !isa<BlockArgument>(yielded(inside)));
  flag("kBeginsLater", bounds && !matchPattern(yielded(bounds), m_Zero()));
  flag("kScattered", bounds && bounds.getScattered());
  double scale = prologue.getScale() ? prologue.getScale()->convertToDouble() : 1.0;
  named("scale", numberText(scale));
  if (PhaseOp exponent = kernel.getPhase(Phase::Exponent))
    named("reach", numberText(exponent.getReach()->convertToDouble()));
  if (PhaseOp exponent = kernel.getPhase(Phase::NearExponent))
    named("nearReach", numberText(exponent.getReach()->convertToDouble()));
}

void SpecEmitter::emitBoundsUnits() {
  flag("kBoundsByBatch", doBoundsVary({AttentionDim::Batch}));
  flag("kBoundsByHead", doBoundsVary({AttentionDim::KeyHead, AttentionDim::Group}));
}

void SpecEmitter::emitSoftmaxFlags(PhaseOp phase) {
  if (phase.getZeroRows())
    flag("kZeroRows");
  if (isRounded(kernel, phase))
    flag("kRounded");
}

void SpecEmitter::emitLaterConstants(PhaseOp phase) {
  named("collective", qualifiedName(*phase.getCollective()));
  if (phase.getEpsilon())
    named("epsilon", numberText(phase.getEpsilon()->convertToDouble()));
  if (Type type = collectedType(phase); type != collectedType(kernel.getPhase(Phase::Prologue)))
    out.line("using Compute = " + valueName(type) + ";");
  emitSoftmaxFlags(phase);
}

void SpecEmitter::emitConstants() {
  Attribute schedule = *kernel.getSchedule();
  int64_t threads = kernel.getGeometry()->getThreads();
  if (auto prologue = kernel.getPhase(Phase::Prologue)) {
    named("collective", qualifiedName(*prologue.getCollective()));
    if (auto row = dyn_cast<RowScheduleAttr>(schedule))
      named("rowClass", qualifiedName(row.getKind()));
    if (kernel.getPhase(Phase::GroupFinish))
      constant("kGroup", *constantSize(kernel.getExtents().getResults().back()));
    named("epsilon",
          numberText(prologue.getEpsilon() ? prologue.getEpsilon()->convertToDouble() : 0.0));
  }
  constant("kThreads", threads);
  if (auto pointwise = dyn_cast<PointwiseScheduleAttr>(schedule)) {
    constant("kVector", pointwise.getVector());
    constant("kUnroll", pointwise.getUnroll());
    flag("kTail", pointwise.getTail());
  } else if (auto permute = dyn_cast<PermuteScheduleAttr>(schedule)) {
    if (permute.getKind() == PermuteClass::Runs) {
      constant("kVector", runVector(kernel, permute));
      constant("kUnroll", permute.getUnroll());
      flag("kTail", false);
      return;
    }
    constant("kTransposedDim", permute.getTransposed());
    constant("kTileIn", permute.getTileIn());
    constant("kTileOut", permute.getTileOut());
    constant("kVectorIn", permute.getVectorIn());
    constant("kVectorOut", permute.getVectorOut());
  } else if (auto boxes = dyn_cast<BoxScheduleAttr>(schedule)) {
    BoxLayout layout = BoxLayout::of(*BoxProblem::of(kernel), boxes.getBox(), boxes.getSkewed());
    numbers("Box", boxes.getBox());
    numbers("Reach", layout.reach);
    constant("kWriteRun", layout.writeRun);
    constant("kLanes", boxes.getLanes());
    constant("kFastest", boxes.fastestDim());
    flag("kWriteAligned", layout.writeAligned);
    flag("kTabled", layout.tabled);
    constant("kTurned", layout.turned);
    flag("kSplit", layout.split);
    constant("kApart", layout.apart % 16);
  } else if (auto row = dyn_cast<RowScheduleAttr>(schedule)) {
    constant("kThreadsPerRow", row.getThreadsPerRow());
    constant("kVector", row.getVector());
    constant("kVectorsPerThread", row.getVectorsPerThread());
    if (row.getBlocksPerRow() > 1)
      constant("kBlocksPerRow", row.getBlocksPerRow());
    if (row.getStaged())
      flag("kStaged");
    if (row.getShelvedSteps() > 0)
      constant("kShelvedSteps", row.getShelvedSteps());
    if (int64_t bytes = kernel.getGeometry()->getSharedBytes())
      constant("kSharedBytes", bytes);
    emitSoftmaxFlags(kernel.getPhase(Phase::Prologue));
  } else if (auto attention = dyn_cast<AttentionScheduleAttr>(schedule)) {
    constant("kGroups", attention.getGroups());
    constant("kQuerySlots", attention.getQuerySlots());
    constant("kRun", attention.getRun());
    if (attention.getParts() > 1)
      constant("kParts", attention.getParts());
    if (attention.getScoreStages() > 0) {
      constant("kScoreStages", attention.getScoreStages());
      constant("kScoreTileBytes", AttentionProblem::of(kernel)->scoreTileBytes(attention));
    }
    flag("kEager", attention.getEager());
    flag("kDynamic", attention.getDynamic());
    emitAttention(attention);
    emitBoundsUnits();
  } else if (auto attention = dyn_cast<PortableAttentionScheduleAttr>(schedule)) {
    constant("kAtoms", attention.getAtoms());
    if (AttentionProblem::of(kernel)->isTf32)
      flag("kTf32");
    emitAttention(attention);
  } else if (auto attention = dyn_cast<DecodeScheduleAttr>(schedule)) {
    AttentionProblem problem = *AttentionProblem::of(kernel);
    constant("kRows", problem.rowsTogether(attention));
    constant("kRowTiles", problem.rowTiles(attention));
    constant("kAtoms", attention.getAtoms());
    constant("kBlocks", knownBlocks());
    constant("kHeadColumns", problem.headColumns);
    constant("kValueColumns", problem.valueColumns);
    constant("kCopyBytes", problem.copyBytes);
    flag("kHoldsQuery", problem.holdsQuery(attention));
    for (auto [name, kind, dim] :
         {std::tuple("kQueryPiece", Phase::Query, AttentionDim::HeadDim),
          std::tuple("kKeyPiece", Phase::KeyRow, AttentionDim::HeadDim),
          std::tuple("kValuePiece", Phase::ValueRow, AttentionDim::ValueDim)})
      if (PhaseOp phase = kernel.getPhase(kind))
        constant(name, *constantSize(kernel.getOutput(unsigned(phase.getStores().front()))
                                         .getExtentsOr(kernel.getExtents())
                                         .getResult(dim)));
    flag("kBulk", attention.getBulk());
    flag("kLinear", attention.getLinear());
    if (problem.keyRun)
      constant("kKeyRun", problem.keyRun);
    if (problem.areValuesInKeys)
      flag("kValuesInKeys");
    if (problem.team() > 1)
      constant("kTeam", problem.team());
    if (problem.pageSize)
      constant("kPageSize", problem.pageSize);
    if (attention.getParts() > 1)
      constant("kParts", attention.getParts());
    if (int64_t chunk = attention.getChunk()) {
      constant("kChunk", chunk / attention.getKeys());
      constant("kChunks", problem.mostChunks(attention));
    }
    emitAttention(attention);
    emitBoundsUnits();
    flag("kBoundsByQuery", doBoundsVary({AttentionDim::Query}));
  } else {
    auto reduce = cast<ReduceScheduleAttr>(schedule);
    constant("kRowGroups", reduce.getRowGroups());
    constant("kVector", reduce.getVector());
    constant("kUnroll", reduce.getUnroll());
  }
}
