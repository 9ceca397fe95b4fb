//===- SwageKernelOps.cpp - Verifiers of the kernel-level ops -------------===//
//
// Labels in comments are those of SwageKernelOps.td. K5 is in KernelSchedules.cpp.
//
//===----------------------------------------------------------------------===//

#include "KernelSchedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Dialect/Swage/IR/TensorTiles.h"

using namespace mlir;
using namespace swage;

int64_t swage::elementBytes(Type element) {
  return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

bool swage::isNorm(Collective kind) {
  return kind == Collective::LayerNorm || kind == Collective::RmsNorm;
}

bool swage::hasElementResult(Collective kind) {
  return isNorm(kind) || kind == Collective::Softmax || kind == Collective::LogSoftmax;
}

unsigned swage::statisticsOf(Collective kind) {
  return kind == Collective::LayerNorm || kind == Collective::Softmax ||
                 kind == Collective::LogSoftmax
             ? 2
             : 1;
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

/// What the fuser makes is far smaller; more would take a compiler minutes, and the stack of
/// whoever follows its values.
static constexpr size_t kMaxKernelOps = 4096, kMaxKernelViews = 256;

bool KernelOp::isAttention() {
  return isa_and_nonnull<AttentionScheduleAttr, PortableAttentionScheduleAttr, DecodeScheduleAttr>(
             getScheduleAttr()) ||
         !getBody().getOps<ContractOp>().empty();
}

SmallVector<CollectiveOp, 4> KernelOp::getCollectives() {
  return llvm::to_vector<4>(getBody().getOps<CollectiveOp>());
}

CollectiveOp KernelOp::getCollective() {
  auto collectives = getBody().getOps<CollectiveOp>();
  return collectives.empty() ? CollectiveOp() : *collectives.begin();
}

unsigned KernelOp::countCollectives() {
  if (PhaseOp prologue = getPhase(Phase::Prologue))
    return (prologue.getCollective() ? 1 : 0) + getBetweenPhases().size();
  return llvm::range_size(getBody().getOps<CollectiveOp>());
}

bool KernelOp::hasGroups() {
  return getPhase(Phase::GroupFinish) ||
         llvm::any_of(getBody().getOps<CollectiveOp>(),
                      [](CollectiveOp collective) { return collective.getDims().has_value(); });
}

PhaseOp KernelOp::getPhase(Phase kind) {
  for (auto phase : getBody().getOps<PhaseOp>())
    if (phase.getKind() == kind)
      return phase;
  return {};
}

SmallVector<PhaseOp, 4> KernelOp::getBetweenPhases() {
  return llvm::to_vector<4>(llvm::make_filter_range(getBody().getOps<PhaseOp>(), [](PhaseOp phase) {
    return phase.getKind() == Phase::Between;
  }));
}

ViewAttr KernelOp::getRowsOf(unsigned i) {
  if (i + 1 >= getOutputs().size() || !isRow(getOutput(i + 1).getSource()))
    return {};
  return getOutput(i + 1);
}

bool KernelOp::writesRows() {
  return llvm::any_of(getOutputs().getAsRange<ViewAttr>(),
                      [](ViewAttr view) { return isRow(view.getSource()); });
}

std::string KernelOp::findOutOfBounds(ArrayRef<int64_t> sizes) {
  std::optional<SmallVector<int64_t>> all = evaluateSizes(getExtents(), sizes);
  if (!all)
    return "an extent beyond 64 bits";
  if (llvm::is_contained(*all, 0))
    return {};
  auto check = [&](ViewAttr view, Twine what, ViewAttr rows = {}) -> std::string {
    if (view.getSource() != Source::Memory)
      return {};
    std::optional<SmallVector<int64_t>> shape = evaluateSizes(view.getShape(), sizes),
                                        extents =
                                            evaluateSizes(view.getExtentsOr(getExtents()), sizes);
    if (!extents)
      return (what + " has an extent beyond 64 bits").str();
    if (llvm::is_contained(*extents, 0))
      return {};
    LinearAccess access = *LinearAccess::of(view.getAccess());
    std::optional<int64_t> first = evaluateSize(access.offset, sizes);
    int64_t elements = 1, last = first.value_or(0);
    bool fits = shape && first && *first >= 0;
    for (int64_t extent : shape ? *shape : SmallVector<int64_t>())
      fits &= extent >= 0 && !llvm::MulOverflow(elements, extent, elements);
    for (auto [stride, extent] : llvm::zip_equal(access.strides, *extents)) {
      std::optional<int64_t> step = evaluateSize(stride, sizes);
      int64_t reach;
      fits &= step && *step >= 0 && extent >= 0 && !llvm::MulOverflow(*step, extent - 1, reach) &&
              !llvm::AddOverflow(last, reach, last);
    }
    if (rows) { // it goes as far as to the last one
      std::optional<int64_t> count = evaluateSize(rows.getShape().getResult(0), sizes),
                             together = evaluateSize(rows.getShape().getResult(1), sizes),
                             step = evaluateSize(rows.getAccess().getResult(0), sizes);
      int64_t reach;
      if (count && together && *together > *count)
        return (what + " has " + Twine(*together) + " rows for a tensor that has " + Twine(*count))
            .str();
      fits &= count && step && *count > 0 && *step >= 0 &&
              !llvm::MulOverflow(*step, *count - 1, reach) && !llvm::AddOverflow(last, reach, last);
    }
    if (fits && last < elements)
      return {};
    return (what + " reaches " +
            (fits ? "element " + Twine(last).str() : "beyond 64 bits or before its first element") +
            " of a tensor of " + Twine(elements))
        .str();
  };
  for (auto [i, view] : llvm::enumerate(getInputs().getAsRange<ViewAttr>()))
    if (std::string problem = check(view, "input " + Twine(i)); !problem.empty())
      return problem;
  for (auto [i, view] : llvm::enumerate(getOutputs().getAsRange<ViewAttr>()))
    if (std::string problem = check(view, "output " + Twine(i), getRowsOf(i)); !problem.empty())
      return problem;
  return {};
}

SizeFacts swage::factsOf(KernelOp kernel) {
  return {kernel.getMultiples().value_or(ArrayRef<int64_t>()),
          kernel.getLimits().value_or(ArrayRef<int64_t>())};
}

void swage::setFacts(KernelOp kernel, const SizeFacts &facts) {
  auto attribute = [&](ArrayRef<int64_t> numbers, int64_t nothing) {
    bool any = llvm::any_of(numbers, [&](int64_t number) { return number != nothing; });
    return any ? DenseI64ArrayAttr::get(kernel.getContext(), numbers) : DenseI64ArrayAttr();
  };
  DenseI64ArrayAttr multiples = attribute(facts.multiples, 1), limits = attribute(facts.limits, 0);
  kernel.setMultiplesAttr(multiples);
  kernel.setLimitsAttr(limits);
}

static LogicalResult verifyView(KernelOp kernel, ViewAttr view, StringRef what) {
  if (view.getAccess().getNumDims() != kernel.getRank() ||
      view.getAccess().getNumSymbols() != kernel.getSymbols())
    return kernel.emitOpError() << what << " has an access of " << view.getAccess().getNumDims()
                                << " coordinates and " << view.getAccess().getNumSymbols()
                                << " sizes, but the kernel has " << kernel.getRank() << " and "
                                << kernel.getSymbols();
  if (!LinearAccess::of(view.getAccess())) // K1
    return kernel.emitOpError() << what << " has an access that is not linear in the coordinates";
  return success();
}

SmallVector<PhaseOp, 4> PhaseOp::getPhasesBehind() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  SmallVector<PhaseOp, 4> all{kernel.getPhase(Phase::Prologue)};
  all.append(kernel.getBetweenPhases());
  switch (getKind()) {
  case Phase::Between:
    return {all.begin(), llvm::find(all, *this)};
  case Phase::GroupFinish:
    return {all.back()};
  case Phase::Finish:
    if (kernel.getPhase(Phase::GroupFinish))
      all.pop_back();
    return all;
  default:
    return all;
  }
}

/// What a phase is handed and hands back beside its loads and stores, and whether the kernel has
/// such a phase.
static LogicalResult verifyPhase(KernelOp kernel, PhaseOp phase) {
  if ((phase.getKind() == Phase::Body) != kernel.getReduced().empty())
    return phase.emitOpError() << "is of kind " << stringifyPhase(phase.getKind())
                               << ", but the kernel reduces " << kernel.getReduced().size()
                               << " dimensions";
  PhaseOp prologue = kernel.getPhase(Phase::Prologue);
  if (!kernel.getReduced().empty() && (!prologue || !prologue.getCollective()))
    return phase.emitOpError() << "belongs to a kernel without a prologue for a collective";
  for (auto [positions, count, what] :
       {std::tuple(phase.getLoads(), kernel.getInputs().size(), "load"),
        std::tuple(phase.getStores(), kernel.getOutputs().size(), "store")})
    for (int64_t position : positions)
      if (position < 0 || position >= static_cast<int64_t>(count))
        return phase.emitOpError()
               << "has " << what << " " << position << ", but the kernel has " << count;
  Phase kind = phase.getKind();
  SmallVector<PhaseOp, 4> betweens = kernel.getBetweenPhases();
  bool isGrouped = kernel.getPhase(Phase::GroupFinish) != nullptr;
  if (betweens.empty() ? isGrouped : llvm::any_of(betweens, [](PhaseOp between) {
        return !between.getCollective();
      }))
    return phase.emitOpError() << "belongs to a kernel without a phase for its last collective";
  bool isScore = kernel.isAttention() && (kind == Phase::Prologue || kind == Phase::Inside ||
                                          kind == Phase::Alike || isExponent(kind)),
       isPerElement = isScore || kind == Phase::Between || kind == Phase::Epilogue ||
                      kind == Phase::Weight || kind == Phase::Probability;
  if (!kernel.isAttention() && kind >= Phase::Inside)
    return phase.emitOpError() << "belongs to a kernel that has no contractions";
  if (phase.getStatistics() && (isScore || kind >= Phase::Weight || !isPerElement))
    return phase.emitOpError() << "has statistics, but " << stringifyPhase(kind)
                               << " takes none or has them anyway";
  if (kind >= Phase::Query)
    for (int64_t position : phase.getLoads())
      if (position < AttentionInput::Count)
        return phase.emitOpError() << "loads input " << position
                                   << ", but is made of what is beside attention's operands";
  if (isExponent(kind) != phase.getReach().has_value())
    return phase.emitOpError() << (phase.getReach()
                                       ? "is for all scores, but has a reach"
                                       : "has no reach, within which it is for scores");
  if (PhaseOp wider = kernel.getPhase(Phase::Exponent);
      kind == Phase::NearExponent &&
      !(wider && wider.getReach() && *phase.getReach() < *wider.getReach()))
    return phase.emitOpError() << "has no exponent beside it that reaches further";
  if (kind == Phase::NearExponent)
    for (int64_t position : phase.getLoads())
      if (auto access = LinearAccess::of(kernel.getInput(position).getAccess());
          !access || !access->isBroadcast(AttentionDim::Query))
        return phase.emitOpError()
               << "loads input " << position << ", but is the same for all queries";
  if (kind == Phase::Probability && (!phase.getLoads().empty() || phase.getStores().size() != 1))
    return phase.emitOpError() << "has " << phase.getLoads().size() << " loads and "
                               << phase.getStores().size()
                               << " stores, but probabilities take none and go to one output";
  bool isResult = kernel.isAttention() && kind == Phase::Epilogue,
       isPair = kind == Phase::Bounds || kind == Phase::Agree,
       isOne = isScore || isResult || kind == Phase::Prologue || kind == Phase::Between ||
               kind == Phase::Sink || kind == Phase::Offset || kind == Phase::Weight;
  size_t taken = isPair ? 2 : isOne ? 1 : 0, given = isExponent(kind) ? 2 : isPerElement ? 1 : 0;
  if (phase.getStatistics() || kind == Phase::Finish || kind == Phase::GroupFinish)
    for (PhaseOp of : phase.getPhasesBehind())
      given += statisticsOf(*of.getCollective());
  Block &body = phase.getBody().front();
  if (body.getNumArguments() != given + phase.getLoads().size())
    return phase.emitOpError() << "has " << body.getNumArguments() << " arguments, but must have "
                               << given << " and one for each of " << phase.getLoads().size()
                               << " loads";
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getValues().size() != taken + phase.getStores().size())
    return phase.emitOpError() << "yields " << (yield ? yield.getValues().size() : 0)
                               << " values, but must yield " << taken << " and one for each of "
                               << phase.getStores().size() << " stores";
  return success();
}

/// Only the last of several may go over fewer dimensions.
static LogicalResult verifyCollectives(KernelOp kernel) {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  if (collectives.size() > kMaxCollectives)
    return kernel.emitOpError() << "has " << collectives.size() << " collectives, but may have "
                                << kMaxCollectives;
  for (CollectiveOp collective : collectives) {
    if (collective.getSink() && !kernel.isAttention())
      return collective.emitOpError() << "has a sink, but is in a kernel without contractions";
    std::optional<ArrayRef<int64_t>> dims = collective.getDims();
    if (!dims)
      continue;
    if (collectives.size() == 1 || collective != collectives.back())
      return collective.emitOpError() << "has dims, but is not the last of several of its kernel";
    if (collective.isPerElement(0))
      return collective.emitOpError() << "gives elements, but has dims";
    ArrayRef<int64_t> reduced = kernel.getReduced();
    if (dims->empty() || dims->size() > reduced.size() || reduced.take_back(dims->size()) != *dims)
      return collective.emitOpError() << "has dims " << collective.getDimsAttr()
                                      << ", but they must be the last of those that the kernel "
                                         "reduces: "
                                      << kernel.getReducedAttr();
  }
  return success();
}

/// None, or the two of attention.
static LogicalResult verifyContractions(KernelOp kernel) {
  auto contractions = kernel.getBody().getOps<ContractOp>();
  if (contractions.empty())
    return success();
  if (size_t count = llvm::range_size(contractions); count != 2)
    return kernel.emitOpError() << "has " << count << " contractions, but must have none or 2";
  CollectiveOp softmax = kernel.getCollective();
  if (!softmax || softmax.getKind() != Collective::Softmax || kernel.getCollectives().size() > 1)
    return kernel.emitOpError() << "has contractions, but must have a softmax between them";
  ContractOp scores = scoresOf(kernel), result = weightedValuesOf(kernel);
  if (scores.getTf32() != result.getTf32() ||
      (scores.getTf32() && !kernel.getInput(AttentionInput::Queries).getElement().isF32()))
    return scores.emitOpError() << "has tf32, which both contractions of f32 have, or none";
  auto isInput = [&](Value value, unsigned position) {
    BlockArgument argument = contractedInput(value);
    return argument && argument.getArgNumber() == position;
  };
  if (!isInput(scores.getLhs(), AttentionInput::Queries) ||
      !isInput(scores.getRhs(), AttentionInput::Keys) || scores.getDim() != AttentionDim::HeadDim)
    return scores.emitOpError() << "must be of inputs 0 and 1 over dimension "
                                << unsigned(AttentionDim::HeadDim);
  if (weightTerms(kernel).back() != softmax.getValues()[0] ||
      !isInput(result.getRhs(), AttentionInput::Values) || result.getDim() != AttentionDim::Key)
    return result.emitOpError() << "must be of the softmax and input 2 over dimension "
                                << unsigned(AttentionDim::Key);
  return success();
}

LogicalResult KernelOp::verify() {
  size_t ops = 0, views = getInputs().size() + getOutputs().size();
  getBody().walk([&](Operation *) { ++ops; });
  if (ops > kMaxKernelOps)
    return emitOpError() << "has " << ops << " ops, but may have " << kMaxKernelOps;
  if (views > kMaxKernelViews)
    return emitOpError() << "has " << views << " views, but may have " << kMaxKernelViews;
  if (getExtents().getNumDims() != 0 || getExtents().getNumSymbols() != getSymbols())
    return emitOpError() << "extents take " << getExtents().getNumDims() << " coordinates and "
                         << getExtents().getNumSymbols() << " sizes, but must take 0 and "
                         << getSymbols();
  for (auto [what, numbers, least] :
       {std::tuple("multiples", getMultiples(), 1), std::tuple("limits", getLimits(), 0)}) { // K7
    if (!numbers)
      continue;
    if (static_cast<int64_t>(numbers->size()) != static_cast<int64_t>(getSymbols()))
      return emitOpError() << "has " << numbers->size() << " " << what << ", but takes "
                           << getSymbols() << " sizes";
    for (int64_t number : *numbers)
      if (number < least)
        return emitOpError() << what << " has " << number << ", but must be at least " << least;
  }
  if (getOutputs().empty() && getBody().front().getOps<PhaseOp>().empty())
    return emitOpError() << "has no outputs";
  for (AffineExpr extent : getExtents().getResults())
    if (std::optional<int64_t> constant = constantSize(extent); constant && *constant < 0)
      return emitOpError() << "has extent " << *constant;
  for (auto [i, view] : llvm::enumerate(getInputs().getAsRange<ViewAttr>()))
    if (failed(verifyView(*this, view, ("input " + Twine(i)).str())))
      return failure();
  for (auto [i, view] : llvm::enumerate(getOutputs().getAsRange<ViewAttr>()))
    if (failed(verifyView(*this, view, ("output " + Twine(i)).str())))
      return failure();
  for (auto [i, view] : llvm::enumerate(getInputs().getAsRange<ViewAttr>())) // K10
    if (view.getSource() == Source::Shared && (i != AttentionInput::Queries || !isAttention()))
      return emitOpError() << "input " << i << " is of source " << stringifySource(Source::Shared)
                           << ", but only attention's queries are";
  for (auto [i, view] : llvm::enumerate(getOutputs().getAsRange<ViewAttr>()))
    if (isRow(view.getSource())) { // K9
      if (i == 0 || getOutput(i - 1).getSource() != Source::Memory)
        return emitOpError() << "output " << i << " is the row of no output in front of it";
      bool isStep = isAttention() && (!getSchedule() || isa<DecodeScheduleAttr>(*getSchedule()));
      if (!isStep && getSchedule() && !isa<PointwiseScheduleAttr, RowScheduleAttr>(*getSchedule()))
        return emitOpError() << "output " << i
                             << " is a row, which pointwise kernels, those of rows and attention "
                                "of few queries write";
    } else if (view.getSource() == Source::Shared) { // K10
      if (!isAttention() || getInput(AttentionInput::Queries).getSource() != Source::Shared)
        return emitOpError() << "output " << i << " is of source "
                             << stringifySource(view.getSource())
                             << ", but input 0 is no such queries";
    } else if (view.getSource() != Source::Memory) {
      return emitOpError() << "output " << i << " is of source "
                           << stringifySource(view.getSource()) << ", but must be in memory";
    }
  if (getSymbols() == 0) // K6
    if (std::string problem = findOutOfBounds({}); !problem.empty())
      return emitOpError() << problem;
  int64_t previous = -1;
  for (int64_t dim : getReduced()) {
    if (dim <= previous || dim >= getRank()) // K4
      return emitOpError() << "reduces dimension " << dim << " after " << previous
                           << ", but dimensions must increase and stay below the rank "
                           << getRank();
    previous = dim;
  }
  Block &body = getBody().front();
  for (PhaseOp phase : body.getOps<PhaseOp>())
    if (failed(verifyPhase(*this, phase)))
      return failure();
  if (body.getOps<PhaseOp>().empty()) {
    if (body.getNumArguments() != getInputs().size()) // K2
      return emitOpError() << "body has " << body.getNumArguments() << " arguments, but there are "
                           << getInputs().size() << " inputs";
    auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
    if (!yield || yield.getValues().size() != getOutputs().size()) // K3
      return emitOpError() << "body yields " << (yield ? yield.getValues().size() : 0)
                           << " values, but there are " << getOutputs().size() << " outputs";
    if (static_cast<bool>(getCollective()) == getReduced().empty()) // K4
      return emitOpError() << "reduces " << getReduced().size() << " dimensions, but the body has "
                           << (getCollective() ? "a" : "no") << " collective";
    if (failed(verifyCollectives(*this)) || failed(verifyContractions(*this)))
      return failure();
  }
  if (std::string problem = findBadTile(*this); !problem.empty()) // K8
    return emitOpError() << problem;
  return verifySchedule(*this); // K5
}

//===----------------------------------------------------------------------===//
// CollectiveOp, PhaseOp
//===----------------------------------------------------------------------===//

LogicalResult CollectiveOp::verify() {
  size_t expected = hasElementResult(getKind()) + statisticsOf(getKind());
  if (getValues().size() != expected)
    return emitOpError() << "has " << getValues().size() << " results, but "
                         << stringifyCollective(getKind()) << " gives " << expected;
  bool norm = isNorm(getKind());
  if (norm != getEpsilon().has_value())
    return emitOpError() << stringifyCollective(getKind()) << (norm ? " needs eps" : " has no eps");
  if (getZeroRows() && getKind() != Collective::Softmax && getKind() != Collective::LogSoftmax)
    return emitOpError() << stringifyCollective(getKind()) << " has no zero_rows";
  if (getBatchInvariant() && getKind() != Collective::Softmax)
    return emitOpError() << stringifyCollective(getKind()) << " has no batch_invariant";
  if (getSink() &&
      (getKind() != Collective::Softmax || getSink().getType() != getValue().getType()))
    return emitOpError() << stringifyCollective(getKind()) << " of " << getValue().getType()
                         << " has a sink of " << getSink().getType()
                         << ", which is for softmax and of its type";
  return success();
}

LogicalResult PhaseOp::verify() {
  if (getAccess().size() != getLoads().size() + getStores().size())
    return emitOpError() << "has " << getAccess().size() << " accesses, but " << getLoads().size()
                         << " loads and " << getStores().size() << " stores";
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyTensor(LaunchOp launch, KernelOp kernel, ViewAttr view, TypeRange types,
                                  StringRef what) {
  if (!hasParameter(view.getSource()))
    return success();
  if (view.getTensor() >= static_cast<int64_t>(types.size()))
    return launch.emitOpError() << "has " << types.size() << " " << what << "s, but a view of @"
                                << kernel.getSymName() << " needs number " << view.getTensor();
  auto type = cast<RankedTensorType>(types[view.getTensor()]);
  // Narrow floats that are only moved are moved as bits.
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  bool bits =
      width < 32 && view.getElement().isInteger(width) && isa<FloatType>(type.getElementType());
  if (view.getSource() == Source::Random) {
    if (!type.getElementType().isInteger(64))
      return launch.emitOpError() << what << " " << view.getTensor() << " has element type "
                                  << type.getElementType() << ", but a random state has i64";
  } else if (type.getElementType() != view.getElement() && !bits)
    return launch.emitOpError() << what << " " << view.getTensor() << " has element type "
                                << type.getElementType() << ", but the kernel has "
                                << view.getElement();
  if (type.getRank() != static_cast<int64_t>(view.getShape().getNumResults()))
    return launch.emitOpError() << what << " " << view.getTensor() << " has rank " << type.getRank()
                                << ", but the kernel has " << view.getShape().getNumResults();
  for (auto [i, expr] : llvm::enumerate(view.getShape().getResults()))
    if (std::optional<int64_t> extent = constantSize(expr))
      if (!type.isDynamicDim(i) && type.getDimSize(i) != *extent)
        return launch.emitOpError()
               << what << " " << view.getTensor() << " has extent " << type.getDimSize(i)
               << " in dimension " << i << ", but the kernel has " << *extent;
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel) // L1
    return emitOpError() << "launches @" << getKernel() << ", which is no kernel of this module";
  if (getSizes().size() != static_cast<size_t>(kernel.getSymbols())) // L2
    return emitOpError() << "has " << getSizes().size() << " sizes, but @" << getKernel()
                         << " takes " << kernel.getSymbols();
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>()) // L2
    if (failed(verifyTensor(*this, kernel, view, getTensors().getTypes(), "operand")))
      return failure();
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>()) // L2
    if (failed(verifyTensor(*this, kernel, view, getOutputs().getTypes(), "result")))
      return failure();
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    if (ViewAttr rows = kernel.getRowsOf(i)) {
      auto result = cast<RankedTensorType>(getOutputs()[kernel.getOutput(i).getTensor()].getType());
      auto kept = rows.getTensor() < static_cast<int64_t>(getTensors().size())
                      ? cast<RankedTensorType>(getTensors()[rows.getTensor()].getType())
                      : RankedTensorType();
      if (!kept || kept.getElementType() != result.getElementType() ||
          failed(verifyCompatibleShape(kept, result)))
        return emitOpError() << "result " << kernel.getOutput(i).getTensor() << " of type "
                             << result << " keeps elements of operand " << rows.getTensor()
                             << ", which is not like it";
    }
  return success();
}
