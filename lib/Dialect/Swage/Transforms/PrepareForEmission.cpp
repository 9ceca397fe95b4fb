//===- PrepareForEmission.cpp - --swage-prepare-for-emission ---------------===//
//
// The last pass that changes IR: what the emitter prints is all here.
//
//===----------------------------------------------------------------------===//

#include "LaunchGeometry.h"
#include "ScoreTerms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/Analysis/Approximation.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/Analysis/Magnitude.h"
#include "swage/Dialect/Swage/Analysis/RowBounds.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/FlatSpace.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/RowStaging.h"
#include "swage/Dialect/Swage/Transforms/Passes.h"
#include "swage/Support/DeviceProperties.h"
#include "llvm/ADT/SetVector.h"

namespace swage {
#define GEN_PASS_DEF_PREPAREFOREMISSIONPASS
#include "swage/Dialect/Swage/Transforms/Passes.h.inc"
} // namespace swage

using namespace mlir;
using namespace swage;

namespace {

class Preparer {
public:
  Preparer(KernelOp kernel, const DeviceProperties &device)
      : kernel(kernel), device(device), context(kernel.getContext()) {}
  LogicalResult run();

private:
  void moveAsBits();
  void roundLast();
  void dropClamps();
  LogicalResult addPhases();
  LogicalResult addPhase(Phase kind, ArrayRef<Value> extra, std::optional<unsigned> vectorDim,
                         CollectiveOp collective = {}, unsigned between = 0);
  LogicalResult addBounds(RowBounds bounds);
  LogicalResult addAttentionPhases();
  int64_t accessOf(OperandRef operand, std::optional<unsigned> vectorDim);
  bool isTiled(Phase kind, unsigned input);
  /// Whether the copy engine stores an output.
  bool isTiledResult(unsigned output) {
    return output == 0 && kernel.isAttention() && AttentionProblem::of(kernel)->hasTiledResult;
  }

  KernelOp kernel;
  const DeviceProperties &device;
  MLIRContext *context;
  SmallVector<PhaseOp> phases;
  /// What attention's score functions are handed, the exponent's second, and what the softmax
  /// multiplies by.
  Value score, base;
  double scoreScale = 1;
};

} // namespace

/// Floats of 8 and 16 bits that are only moved go as bits: widening them and back would lose a
/// NaN's payload.
void Preparer::moveAsBits() {
  Block &body = kernel.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Attribute> inputs(kernel.getInputs().begin(), kernel.getInputs().end());
  SmallVector<Attribute> outputs(kernel.getOutputs().begin(), kernel.getOutputs().end());
  auto withBits = [&](Attribute attr) {
    auto view = cast<ViewAttr>(attr);
    Type bits = IntegerType::get(context, view.getElement().getIntOrFloatBitWidth());
    return ViewAttr::get(context, view.getTensor(), bits, view.getShape(), view.getAccess(),
                         view.getAlign(), view.getSource(), view.getExtents());
  };
  for (BlockArgument argument : body.getArguments()) {
    Type element = kernel.getInput(argument.getArgNumber()).getElement();
    bool moved = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 &&
                 llvm::all_of(argument.getUses(), [&](OpOperand &use) {
                   return use.getOwner() == yield &&
                          kernel.getOutput(use.getOperandNumber()).getElement() == element;
                 });
    if (!moved)
      continue;
    argument.setType(IntegerType::get(context, element.getIntOrFloatBitWidth()));
    inputs[argument.getArgNumber()] = withBits(inputs[argument.getArgNumber()]);
    for (OpOperand &use : argument.getUses())
      outputs[use.getOperandNumber()] = withBits(outputs[use.getOperandNumber()]);
  }
  Builder builder(context);
  kernel.setInputsAttr(builder.getArrayAttr(inputs));
  kernel.setOutputsAttr(builder.getArrayAttr(outputs));
}

/// Floats are rounded to integers behind clamps to integers rather than in front of them: there the
/// conversion to an integer rounds too.
void Preparer::roundLast() {
  auto isInteger = [](Value value) {
    FloatAttr number;
    return matchPattern(value, m_Constant(&number)) && number.getValue().isInteger();
  };
  for (auto round :
       llvm::make_early_inc_range(kernel.getBody().front().getOps<math::RoundEvenOp>()))
    while (round->hasOneUse()) {
      Operation *clamp = *round->user_begin();
      if (!isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
               math::ClampFOp>(clamp) ||
          !llvm::all_of(clamp->getOperands(),
                        [&](Value x) { return x == round.getResult() || isInteger(x); }))
        break;
      round->replaceAllUsesWith(ValueRange{round.getOperand()});
      round->moveAfter(clamp);
      clamp->getResult(0).replaceAllUsesWith(round.getResult());
      round.setOperand(clamp->getResult(0));
    }
}

/// The maximum or minimum with a constant, `limit`, that a value is and nothing else uses; or null.
/// (Not maxnum and minnum, which make a number of NaN.)
static Operation *clampOf(Value value, double &limit) {
  Operation *clamp = value.getDefiningOp();
  FloatAttr number;
  if (!clamp || !clamp->hasOneUse() || !isa<arith::MaximumFOp, arith::MinimumFOp>(clamp) ||
      !matchPattern(clamp->getOperand(1), m_Constant(&number)))
    return nullptr;
  limit = number.getValueAsDouble();
  return clamp;
}

/// A conversion that rounds to i8 saturates, so that clamps to its range in front of it do nothing.
/// (NaN goes through them, and becomes 0.)
void Preparer::dropClamps() {
  for (auto round : kernel.getBody().front().getOps<math::RoundEvenOp>()) {
    if (!round.getType().isF32() || !llvm::all_of(round->getUsers(), [](Operation *user) {
          return isa<arith::FPToSIOp>(user) && user->getResult(0).getType().isInteger(8);
        }))
      continue;
    double limit = 0;
    OpOperand *at = &round->getOpOperand(0);
    while (Operation *clamp = clampOf(at->get(), limit)) {
      if (isa<arith::MaximumFOp>(clamp) ? limit != -128 : limit != 127) {
        at = &clamp->getOpOperand(0);
        continue;
      }
      at->set(clamp->getOperand(0));
      clamp->erase();
    }
  }
}

/// The elements of a schedule's widest vector.
static int64_t vectorOf(KernelOp kernel) {
  Attribute schedule = kernel.getScheduleAttr();
  if (auto pointwise = dyn_cast<PointwiseScheduleAttr>(schedule))
    return pointwise.getVector();
  if (auto permute = dyn_cast<PermuteScheduleAttr>(schedule))
    return permute.getKind() == PermuteClass::Tiles ? permute.getVectorOut() : 16;
  if (auto row = dyn_cast<RowScheduleAttr>(schedule))
    return row.getVector();
  if (kernel.isAttention())
    return 2;
  return cast<ReduceScheduleAttr>(schedule).getVector();
}

/// Whether elements that are neighbours in the iteration space may be in different rows.
static bool hasScatteredRows(KernelOp kernel, unsigned output, unsigned vectorDim) {
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  return kernel.getRowsOf(output) && !isSameAlong(kernel, yield.getValues()[output + 1], vectorDim);
}

int64_t Preparer::accessOf(OperandRef operand, std::optional<unsigned> vectorDim) {
  bool store = operand.isOutput;
  ViewAttr view = store ? kernel.getOutput(operand.position) : kernel.getInput(operand.position);
  LinearAccess access = *LinearAccess::of(view.getAccess());
  Access kind = Access::Gather;
  auto rowSchedule = dyn_cast_or_null<RowScheduleAttr>(kernel.getScheduleAttr());
  bool aligned = rowSchedule && rowSchedule.getAligned() && vectorDim == kernel.getRank() - 1;
  auto pointwise = dyn_cast_or_null<PointwiseScheduleAttr>(kernel.getScheduleAttr());
  bool counted = pointwise && pointwise.getTail();
  if (view.getSource() != Source::Memory) {
    // Random words come four at a time, so a vector of them starts at a multiple of itself. Those
    // of four keys may be made by one lane for several.
    bool isRandom = view.getSource() == Source::Random,
         isOfKeys = isRandom && kernel.isAttention() && !vectorDim;
    if (isOfKeys)
      vectorDim = AttentionDim::Key;
    int64_t words = isOfKeys ? 4 : vectorOf(kernel);
    bool whole =
        vectorDim && constantSize(access.strides[*vectorDim]) == 1 && !(aligned && isRandom);
    for (unsigned dim = 0; dim < kernel.getRank() && isRandom && !counted; ++dim)
      whole =
          whole && (dim == vectorDim || isMultipleOf(access.strides[dim], words, factsOf(kernel)));
    if (isRandom)
      whole = whole && isMultipleOf(access.offset, words, factsOf(kernel));
    if (counted && kernel.getRank() > 1)
      whole = whole && isFlat(kernel, view);
    if (whole)
      kind = Access::Vector;
    else if (counted ? countedAccess(kernel, view) == Access::Splat
                     : !vectorDim || access.isBroadcast(*vectorDim))
      kind = Access::Splat;
    return static_cast<int64_t>(kind);
  }
  // A thread has pairs of elements of attention's result, and of probabilities four at the end.
  auto isWhole = [&](int64_t elements) {
    bool fits = constantSize(access.strides[*vectorDim]) == 1 &&
                isMultipleOf(access.offset, elements, factsOf(kernel)) &&
                view.getAlign() >= elements * elementBytes(view.getElement());
    for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
      fits &= dim == vectorDim || isMultipleOf(access.strides[dim], elements, factsOf(kernel));
    return fits;
  };
  if (kernel.isAttention() && vectorDim && !access.isBroadcast(*vectorDim))
    return static_cast<int64_t>(isWhole(vectorDim == AttentionDim::Key ? 4 : 2) ? Access::Vector
                                                                                : Access::Gather);
  if (isa_and_nonnull<BoxScheduleAttr>(kernel.getScheduleAttr()))
    kind = store || BoxProblem::of(kernel)->find(operand.position) ? Access::Boxed : Access::Vector;
  else if (auto permute = dyn_cast_or_null<PermuteScheduleAttr>(kernel.getScheduleAttr());
           permute && permute.getKind() == PermuteClass::Tiles &&
           access.isTransposed(unsigned(permute.getTransposed()), *vectorDim))
    kind = Access::Transposed;
  else if (aligned && constantSize(access.strides[*vectorDim]) == 1)
    kind = isInStep(kernel, operand, rowSchedule.getVector())        ? Access::Aligned
           : store                                                   ? Access::Gather
           : beginsAligned(kernel, operand, rowSchedule.getVector()) ? Access::Shifted
                                                                     : Access::Anywhere;
  else if (counted)
    kind = countedAccess(kernel, view);
  else if (rowSchedule && vectorDim == kernel.getRank() - 1 && isInSlab(kernel, rowSchedule, view))
    kind = Access::Staged;
  else if (vectorDim && constantSize(access.strides[*vectorDim]) == 1)
    kind = store && hasScatteredRows(kernel, operand.position, *vectorDim) ? Access::Gather
                                                                           : Access::Vector;
  else if (!store && (!vectorDim || access.isBroadcast(*vectorDim)))
    kind = Access::Splat;
  return static_cast<int64_t>(kind);
}

/// Whether scores or weights read an input from shared memory.
bool Preparer::isTiled(Phase kind, unsigned input) {
  auto schedule = dyn_cast_or_null<AttentionScheduleAttr>(kernel.getScheduleAttr());
  bool isOfScores =
      llvm::is_contained({Phase::Prologue, Phase::Inside, Phase::Alike, Phase::Weight}, kind);
  return schedule && schedule.getScoreStages() > 0 && isOfScores &&
         AttentionProblem::of(kernel)->scoreTileOf(input);
}

/// Clones what the phase's outputs, and before them `extra`, need from the body. `collective`,
/// whose operand that is, is what the kernel does with it; `between`, which of these phases it is.
LogicalResult Preparer::addPhase(Phase kind, ArrayRef<Value> extra,
                                 std::optional<unsigned> vectorDim, CollectiveOp collective,
                                 unsigned between) {
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  SmallVector<unsigned> outputs;
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    if (kind == Phase::Body || (phaseOf(kernel, i) == kind && !isTiledResult(i) &&
                                (kind != Phase::Between || betweenOf(kernel, i) == between)))
      outputs.push_back(i);
  SmallVector<Value> results(extra);
  for (unsigned output : outputs)
    results.push_back(yield.getValues()[output]);
  // What the template hands in.
  SmallVector<Value> given;
  bool isPerElement = kind == Phase::Between || kind == Phase::Epilogue, takesStatistics = false;
  if (score && (kind == Phase::Prologue || kind == Phase::Inside || kind == Phase::Alike)) {
    given = {score};
  } else if (isExponent(kind)) {
    given = {score, base};
  } else if (kind == Phase::Weight || kind == Phase::Probability) {
    given = {kernel.getCollective().getValues()[0]};
  } else if (kind != Phase::Body) {
    given = handedStatistics(kernel, kind, between);
    if (isPerElement) {
      Value element = handedElement(kernel, kind, between);
      takesStatistics = llvm::any_of(
          results, [&](Value result) { return dependsOnBeside(result, given, element); });
      if (!takesStatistics)
        given.clear();
      given.insert(given.begin(), element);
    }
  }

  llvm::SetVector<Operation *> slice;
  llvm::SetVector<BlockArgument> used;
  SmallVector<Value> worklist(results);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (llvm::is_contained(given, value))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value))
      used.insert(argument);
    else if (auto made = value.getDefiningOp<CollectiveOp>())
      return made.emitOpError() << "has a result that the template does not hand to "
                                << stringifyPhase(kind);
    else if (slice.insert(value.getDefiningOp()))
      worklist.append(value.getDefiningOp()->operand_begin(), value.getDefiningOp()->operand_end());
  }
  SmallVector<BlockArgument> arguments(used.begin(), used.end());
  llvm::sort(arguments,
             [](BlockArgument a, BlockArgument b) { return a.getArgNumber() < b.getArgNumber(); });
  SmallVector<Operation *> ops(slice.begin(), slice.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });

  SmallVector<int64_t> loads, stores, access;
  auto row = dyn_cast_or_null<RowScheduleAttr>(kernel.getScheduleAttr());
  for (BlockArgument argument : arguments) {
    OperandRef input{false, argument.getArgNumber()};
    bool shelved = row && kind == Phase::Prologue && isShelved(kernel, row, input.position),
         inStep = shelved && (!row.getAligned() || isInStep(kernel, input, row.getVector()));
    loads.push_back(input.position);
    access.push_back(inStep                          ? static_cast<int64_t>(Access::Staged)
                     : shelved                       ? static_cast<int64_t>(Access::StagedInStep)
                     : isTiled(kind, input.position) ? static_cast<int64_t>(Access::Tiled)
                                                     : accessOf(input, vectorDim));
  }
  SmallVector<int64_t> bounded;
  for (unsigned output : outputs) {
    if (isWithinLargest(kernel, output))
      bounded.push_back(output);
    stores.push_back(output);
    access.push_back(accessOf({true, output}, vectorDim));
  }
  OpBuilder builder(yield);
  OperationState state(kernel.getLoc(), PhaseOp::getOperationName());
  state.addRegion();
  auto phase = cast<PhaseOp>(Operation::create(state));
  phase.setKind(kind);
  phase.setStatistics(takesStatistics);
  if (collective) {
    phase->setLoc(collective.getLoc());
    phase.setCollective(collective.getKind());
    phase.setEpsilonAttr(collective.getEpsilonAttr());
    phase.setZeroRows(collective.getZeroRows());
    if (scoreScale != 1)
      phase.setScale(APFloat(scoreScale));
    phase.setTf32(kernel.isAttention() && scoresOf(kernel).getTf32());
  }
  phase.setLoads(loads);
  phase.setStores(stores);
  phase.setAccess(access);
  if (!bounded.empty())
    phase.setBounded(bounded);
  Block &body = phase.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value value : given)
    mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
  for (BlockArgument argument : arguments)
    mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  for (Operation *op : ops)
    inner.clone(*op, mapping);
  SmallVector<Value> mapped;
  for (Value result : results)
    mapped.push_back(mapping.lookup(result));
  YieldOp::create(inner, yield.getLoc(), mapped);
  phases.push_back(phase);
  return success();
}

LogicalResult Preparer::addPhases() {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  if (collectives.empty())
    return addPhase(Phase::Body, {}, kernel.getRank() - 1);
  if (kernel.isAttention())
    return addAttentionPhases();
  unsigned keptInner = kernel.getReduced().front() - 1, rowInner = kernel.getRank() - 1;
  auto row = dyn_cast<RowScheduleAttr>(kernel.getScheduleAttr());
  bool inner = row && row.getKind() != RowClass::Column;
  unsigned vectorDim = inner ? rowInner : keptInner;
  for (auto [i, collective] : llvm::enumerate(collectives))
    if (failed(addPhase(i == 0 ? Phase::Prologue : Phase::Between, collective.getValue(), vectorDim,
                        collective, i == 0 ? 0 : i - 1)))
      return failure();
  if (failed(addPhase(Phase::Epilogue, {}, vectorDim)) ||
      failed(addPhase(Phase::Finish, {}, keptInner)))
    return failure();
  // A group's operands are taken one by one.
  if (kernel.hasGroups() && failed(addPhase(Phase::GroupFinish, {}, std::nullopt)))
    return failure();
  // What the prologue stores is wanted of every element.
  PhaseOp prologue = phases.front();
  if (!inner || !prologue.getStores().empty())
    return success();
  OpBuilder builder(kernel.getBody().front().getTerminator());
  return addBounds(rowBounds(kernel, builder));
}

/// What a mask leaves of a row is known before the row is read.
LogicalResult Preparer::addBounds(RowBounds bounds) {
  if (!bounds)
    return success();
  OpBuilder builder(kernel.getBody().front().getTerminator());
  auto orElse = [&](Value bound, int64_t number) -> Value {
    return bound ? bound
                 : arith::ConstantOp::create(builder, kernel.getCollective().getLoc(),
                                             builder.getI64IntegerAttr(number));
  };
  if (failed(addPhase(Phase::Bounds, {orElse(bounds.first, 0), orElse(bounds.last, INT64_MAX)},
                      std::nullopt)))
    return failure();
  phases.back().setScattered(bounds.isScattered);
  return success();
}

LogicalResult Preparer::addAttentionPhases() {
  ScoreTerms terms = splitScore(kernel);
  score = scoresOf(kernel);
  base = terms.base;
  scoreScale = terms.scale;
  CollectiveOp softmax = kernel.getCollective();
  OpBuilder builder(kernel.getBody().front().getTerminator());
  RowBounds bounds = rowBounds(kernel, builder);
  if (failed(addPhase(Phase::Prologue, softmax.getValue(), std::nullopt, softmax)) ||
      failed(addPhase(Phase::Inside, bounds.inside, std::nullopt)) ||
      failed(addPhase(Phase::Finish, {}, std::nullopt)) ||
      (terms.offset && failed(addPhase(Phase::Offset, terms.offset, std::nullopt))) ||
      (bounds.alike &&
       failed(addPhase(Phase::Agree, {bounds.ofQuery, bounds.ofKey}, std::nullopt))))
    return failure();
  // Of other templates a warp's scores are never within reach at once.
  if (terms.exponent && isa<AttentionScheduleAttr>(kernel.getScheduleAttr()) &&
      (bounds.alike ? bounds.alike : bounds.inside) == terms.visible) {
    for (auto [kind, exponent, reach] :
         {std::tuple(Phase::Exponent, terms.exponent, terms.reach),
          std::tuple(Phase::NearExponent, terms.nearExponent, terms.nearReach)}) {
      if (!exponent)
        continue;
      if (failed(addPhase(kind, exponent, std::nullopt)))
        return failure();
      phases.back().setReach(APFloat(reach));
    }
  } else if (bounds.alike && failed(addPhase(Phase::Alike, bounds.alike, std::nullopt))) {
    return failure();
  }
  if (Value sink = softmax.getSink()) {
    if (scoreScale != 1)
      sink = arith::DivFOp::create(
          builder, softmax.getLoc(), sink,
          arith::ConstantOp::create(builder, softmax.getLoc(),
                                    builder.getF32FloatAttr(static_cast<float>(scoreScale))));
    if (failed(addPhase(Phase::Sink, sink, std::nullopt)))
      return failure();
  }
  if (weightTerms(kernel).size() > 1 &&
      failed(addPhase(Phase::Weight, weightedValuesOf(kernel).getLhs(), std::nullopt)))
    return failure();
  const AttentionProblem problem = *AttentionProblem::of(kernel);
  if (problem.hasProbabilities && failed(addPhase(Phase::Probability, {}, AttentionDim::Key)))
    return failure();
  if (problem.makesQueries && failed(addPhase(Phase::Query, {}, AttentionDim::HeadDim)))
    return failure();
  if (problem.addsRows && (failed(addPhase(Phase::Place, {}, std::nullopt)) ||
                           failed(addPhase(Phase::KeyRow, {}, AttentionDim::HeadDim)) ||
                           failed(addPhase(Phase::ValueRow, {}, AttentionDim::ValueDim))))
    return failure();
  // What the copy engine takes is given back, the rest is stored.
  Value element = handedElement(kernel, Phase::Epilogue),
        result = isTiledResult(0)
                     ? cast<YieldOp>(kernel.getBody().front().getTerminator()).getValues()[0]
                     : element;
  bool stores = false;
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    stores |= !isTiledResult(i) && phaseOf(kernel, i) == Phase::Epilogue;
  if ((result != element || stores) &&
      failed(addPhase(Phase::Epilogue, result, AttentionDim::ValueDim)))
    return failure();
  return addBounds(bounds);
}

/// Says of sums, differences and products of positions that they do not overflow, where that
/// follows from extents and constants.
static void markPositions(KernelOp kernel, PhaseOp phase) {
  llvm::DenseMap<Value, double> most; // in magnitude
  Block &body = phase.getBody().front();
  ArrayRef<int64_t> loads = phase.getLoads();
  unsigned first = body.getNumArguments() - loads.size();
  SmallVector<AffineExpr> largest = largestOffsets(kernel);
  auto rises = [](AffineExpr expr) { return constantSize(expr).value_or(-1) >= 0; };
  for (auto [i, load] : llvm::enumerate(loads)) {
    ViewAttr view = kernel.getInput(load);
    if (view.getSource() != Source::Coordinate)
      continue;
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (llvm::all_of(access.strides, rises) && rises(access.offset))
      most[body.getArgument(first + i)] =
          double(upperBound(largest[load], factsOf(kernel)).value_or(INT32_MAX));
  }
  for (Operation &op : body.without_terminator()) {
    APInt number;
    if (op.getNumResults() == 1 && matchPattern(op.getResult(0), m_ConstantInt(&number))) {
      most[op.getResult(0)] = std::abs(double(number.getSExtValue()));
      continue;
    }
    auto limit = [](Value x) {
      return std::ldexp(1, int(x.getType().getIntOrFloatBitWidth()) - 1);
    };
    if (isa<arith::ExtSIOp>(op))
      most.try_emplace(op.getOperand(0), limit(op.getOperand(0)));
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::ExtSIOp>(op) ||
        !llvm::all_of(op.getOperands(), [&](Value x) { return most.contains(x); }))
      continue;
    double a = most[op.getOperand(0)], b = most[op.getOperands().back()];
    double bound = isa<arith::MulIOp>(op)                  ? a * b
                   : isa<arith::AddIOp, arith::SubIOp>(op) ? a + b
                                                           : a;
    if (bound >= limit(op.getResult(0)))
      continue;
    most[op.getResult(0)] = bound;
    if (auto typed = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
      op.setAttr(
          typed.getIntegerOverflowAttrName(),
          arith::IntegerOverflowFlagsAttr::get(op.getContext(), arith::IntegerOverflowFlags::nsw));
  }
}

LogicalResult Preparer::run() {
  if (!kernel.getSchedule())
    return kernel.emitOpError() << "has no schedule; run --swage-select-schedule first";
  moveAsBits();
  roundLast();
  dropClamps();
  allowApproximations(kernel);
  if (failed(addPhases()))
    return failure();
  kernel.setGeometryAttr(geometryOf(kernel, device));
  Block &body = kernel.getBody().front();
  while (!body.empty())
    body.back().erase();
  body.eraseArguments(0, body.getNumArguments());
  for (PhaseOp phase : phases) {
    markPositions(kernel, phase);
    body.push_back(phase);
  }
  return success();
}

static LaunchAttr withOverlap(LaunchAttr geometry, bool overlap) {
  return LaunchAttr::get(geometry.getContext(), geometry.getBlocks(), geometry.getThreads(),
                         geometry.getSpaces(), geometry.getDividers(), geometry.getCluster(),
                         overlap, geometry.getSharedBytes(), geometry.getTiles(),
                         geometry.getScratchBytes());
}

/// The kernels that have another one in front of them, or behind: one that is alone has nothing to
/// overlap with.
static DenseSet<StringRef> kernelsInSequence(ModuleOp module) {
  DenseSet<StringRef> kernels;
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<LaunchOp> launches;
    function.walk([&](LaunchOp launch) { launches.push_back(launch); });
    if (launches.size() > 1)
      for (LaunchOp launch : launches)
        kernels.insert(launch.getKernel());
  }
  return kernels;
}

/// Whether a GPU holds all blocks of a launch at once, and those of the next one beside them. It
/// then takes about as long as a block, of which the time between two launches is a part, and has
/// ended before blocks that wait for that would take a place. Loads that are in order, as behind a
/// wait they are, cost nothing to speak of there, nor where keys and values come by copies. With half
/// of the threads in place of a third, norms of 4096 rows of 768 took 7 % more (docs/notes/rows.md).
static bool isOneWave(KernelOp kernel, const DeviceProperties &device) {
  if (isa<DecodeScheduleAttr>(kernel.getScheduleAttr()))
    return true;
  LaunchAttr geometry = *kernel.getGeometry();
  if (kernel.isAttention() || geometry.getBlocks().getNumResults() != 1)
    return false;
  std::optional<int64_t> blocks = constantSize(geometry.getBlocks().getResult(0));
  return blocks && *blocks * geometry.getThreads() <=
                       int64_t(device.smCount) * device.maxThreadsPerSm / 3;
}

/// What a hand-edited module may ask of a device that does not have it.
static LogicalResult verifyDevice(KernelOp kernel, const DeviceProperties &device) {
  LaunchAttr geometry = *kernel.getGeometry();
  if (geometry.getCluster() > 1 && device.ccMajor < 9)
    return kernel.emitOpError() << "has clusters of " << geometry.getCluster() << " blocks, but "
                                << device.arch << " has none";
  if (geometry.getOverlap() && device.ccMajor < 9)
    return kernel.emitOpError() << "overlaps the kernels before it, which " << device.arch
                                << " cannot";
  if (geometry.getSharedBytes() > device.sharedBytesPerBlockOptIn)
    return kernel.emitOpError() << "needs " << geometry.getSharedBytes()
                                << " bytes of shared memory, but " << device.arch << " has "
                                << device.sharedBytesPerBlockOptIn;
  return success();
}

namespace {
struct PrepareForEmissionPass : swage::impl::PrepareForEmissionPassBase<PrepareForEmissionPass> {
  using Base::Base;
  void runOnOperation() override {
    Expected<DeviceProperties> device = DeviceProperties::forArch(arch);
    if (!device) {
      emitError(getOperation().getLoc()) << device.error().message;
      return signalPassFailure();
    }
    DenseSet<StringRef> inSequence;
    if (overlap != Overlap::Off && device->ccMajor >= 9)
      inSequence = kernelsInSequence(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      // A kernel that is prepared already may have been edited: its launch must still be the
      // schedule's.
      if (std::optional<LaunchAttr> geometry = kernel.getGeometry()) {
        LaunchAttr expected;
        if (kernel.getSchedule())
          expected = withOverlap(geometryOf(kernel, *device), geometry->getOverlap());
        if (*geometry != expected) {
          kernel.emitOpError() << "has geometry " << *geometry << ", but its schedule needs "
                               << expected;
          return signalPassFailure();
        }
      } else if (failed(Preparer(kernel, *device).run())) {
        return signalPassFailure();
      } else if (inSequence.contains(kernel.getSymName()) &&
                 (overlap == Overlap::On || isOneWave(kernel, *device))) {
        kernel.setGeometryAttr(withOverlap(kernel.getGeometryAttr(), true));
      }
      if (failed(verifyDevice(kernel, *device)))
        return signalPassFailure();
    }
  }
};
} // namespace
