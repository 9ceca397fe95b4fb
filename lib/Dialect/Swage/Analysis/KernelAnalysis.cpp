//===- KernelAnalysis.cpp - What a kernel moves, and how ------------------===//

#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

using namespace mlir;
using namespace swage;

static AffineExpr extentOf(KernelOp kernel, unsigned dim) {
  return kernel.getExtents().getResult(dim);
}

std::optional<unsigned> swage::contiguousDim(KernelOp kernel, ViewAttr view) {
  // What is computed has no place in memory.
  if (view.getSource() != Source::Memory)
    return std::nullopt;
  LinearAccess access = *LinearAccess::of(view.getAccess());
  // The innermost of several, so that a stride that is 1 by chance does not win.
  for (unsigned dim = kernel.getRank(); dim-- > 0;)
    if (constantSize(access.strides[dim]) == 1 && constantSize(extentOf(kernel, dim)) != 1)
      return dim;
  return std::nullopt;
}

bool swage::variesInRow(KernelOp kernel, ViewAttr view) {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  return llvm::any_of(kernel.getReduced(), [&](int64_t dim) {
    return !access.isBroadcast(dim) && constantSize(extentOf(kernel, dim)) != 1;
  });
}

bool swage::dependsOn(Value value, Value source) { return dependsOnBeside(value, source, {}); }

bool swage::dependsOnBeside(Value value, ValueRange sources, ValueRange given) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (llvm::is_contained(given, next))
      continue;
    if (llvm::is_contained(sources, next))
      return true;
    // A collective's own operand belongs to the whole row, not to this point.
    Operation *op = next.getDefiningOp();
    if (op && seen.insert(next).second && !isa<CollectiveOp>(op))
      worklist.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

bool swage::isSameAlong(KernelOp kernel, Value value, unsigned dim) {
  return isSameAlong(kernel.getInputs().getValue(), value, dim);
}

bool swage::isSameAlong(ArrayRef<Attribute> inputs, Value value, unsigned dim) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (op ? isa<ContractOp, CollectiveOp>(op)
           : !LinearAccess::of(
                  cast<ViewAttr>(inputs[cast<BlockArgument>(next).getArgNumber()]).getAccess())
                  ->isBroadcast(dim))
      return false;
    if (op)
      worklist.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

/// Number of points of the iteration space along which a view moves; with rows that are only known
/// at run time it moves along all dimensions, or where attention adds them along its queries.
static AffineExpr touchedElements(KernelOp kernel, ViewAttr view, bool hasRows) {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  AffineMap extents = view.getExtentsOr(kernel.getExtents());
  AffineExpr count = getAffineConstantExpr(1, kernel.getContext());
  for (unsigned dim = 0; dim < kernel.getRank(); ++dim) {
    bool isOfRows = hasRows && (!kernel.isAttention() || dim == AttentionDim::Query);
    if ((isOfRows || !access.isBroadcast(dim)) && count)
      count = multiplySizes(count, extents.getResult(dim));
  }
  return count;
}

/// Whether a view moves in memory along every dimension that has more than one element.
static bool isFull(KernelOp kernel, ViewAttr view) {
  if (view.getSource() != Source::Memory)
    return false;
  LinearAccess access = *LinearAccess::of(view.getAccess());
  for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
    if (access.isBroadcast(dim) && constantSize(extentOf(kernel, dim)) != 1)
      return false;
  return true;
}

std::optional<unsigned> swage::principalDim(KernelOp kernel) {
  bool collective = !kernel.getReduced().empty();
  if (collective)
    for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
      if (isFull(kernel, view))
        if (std::optional<unsigned> dim = contiguousDim(kernel, view))
          return dim;
  std::optional<unsigned> first;
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (std::optional<unsigned> dim = contiguousDim(kernel, view);
        dim && (!collective || variesInRow(kernel, view))) {
      first = first ? first : dim;
      // Of outputs that lie across each other those count that lie as an input does.
      if (*dim == *first || collective)
        continue;
      for (ViewAttr input : kernel.getInputs().getAsRange<ViewAttr>())
        if (isFull(kernel, input))
          if (std::optional<unsigned> read = contiguousDim(kernel, input);
              read == first || read == dim)
            return read;
    }
  if (first)
    return first;
  // Parts that alternate are contiguous along no dimension: what each point reads decides.
  for (bool wantsFull : {true, false})
    for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
      if (std::optional<unsigned> dim = contiguousDim(kernel, view);
          dim && (isFull(kernel, view) || !wantsFull))
        return dim;
  return std::nullopt;
}

std::optional<unsigned> swage::transposedDim(KernelOp kernel) {
  if (!kernel.getReduced().empty())
    return std::nullopt;
  std::optional<unsigned> principal = principalDim(kernel);
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>()) {
    std::optional<unsigned> dim = contiguousDim(kernel, view);
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (dim && principal && *dim != *principal && !access.isBroadcast(*principal))
      return dim;
  }
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (std::optional<unsigned> dim = contiguousDim(kernel, view); dim && dim != principal)
      return dim;
  return std::nullopt;
}

/// Whether the body only moves elements.
static bool isPureMovement(KernelOp kernel) {
  return kernel.getInputs().size() == 1 && kernel.getOutputs().size() == 1 &&
         kernel.getInput(0).getElement() == kernel.getOutput(0).getElement() &&
         kernel.getInput(0).getAccess() != kernel.getOutput(0).getAccess() &&
         kernel.getBody().front().getOperations().size() == 1;
}

/// Whether an output is made of the results of collectives and of elements.
static bool makesElements(KernelOp kernel) {
  return llvm::any_of(llvm::seq<unsigned>(0, kernel.getOutputs().size()),
                      [&](unsigned i) { return phaseOf(kernel, i) == Phase::Epilogue; });
}

Family swage::familyOf(KernelOp kernel) {
  if (kernel.isAttention())
    return Family::Attention;
  if (kernel.getReduced().empty()) {
    if (kernel.writesRows())
      return Family::Pointwise;
    if (transposedDim(kernel))
      return Family::Tiles;
    return isPureMovement(kernel) ? Family::Runs : Family::Pointwise;
  }
  std::optional<unsigned> principal = principalDim(kernel);
  if (!principal || llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(*principal)) ||
      hasElementResult(kernel.getCollective().getKind()))
    return Family::Row;
  // What makes elements of a row's results keeps the row, or reads it again, as a norm does; not
  // where its length is unknown, for which schedules have few threads.
  SizeFacts facts = factsOf(kernel);
  bool isKnown = llvm::all_of(kernel.getReduced(), [&](int64_t dim) {
    return upperBound(extentOf(kernel, dim), facts).has_value();
  });
  return isKnown && makesElements(kernel) ? Family::Row : Family::Reduce;
}

static Value yieldedFor(KernelOp kernel, unsigned output) {
  return cast<YieldOp>(kernel.getBody().front().getTerminator()).getValues()[output];
}

unsigned swage::collectivesBehind(KernelOp kernel, Value value) {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  unsigned count = collectives.size();
  while (count > 0 && !dependsOnBeside(value, collectives[count - 1].getValues(), {}))
    --count;
  return count;
}

unsigned swage::betweenOf(KernelOp kernel, unsigned output) {
  return collectivesBehind(kernel, yieldedFor(kernel, output)) - 1;
}

Phase swage::phaseOf(KernelOp kernel, unsigned output) {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  Value value = yieldedFor(kernel, output);
  ViewAttr view = kernel.getOutput(output);
  if (kernel.isAttention()) {
    if (view.getSource() == Source::Shared)
      return Phase::Query;
    if (isRow(view.getSource()))
      return Phase::Place;
    if (kernel.getRowsOf(output))
      return LinearAccess::of(view.getAccess())->isBroadcast(AttentionDim::HeadDim)
                 ? Phase::ValueRow
                 : Phase::KeyRow;
    if (isOfKeys(view))
      return Phase::Probability;
  }
  if (isRow(view.getSource()))
    return phaseOf(kernel, output - 1);
  // A row of one element: its output does not vary, but it is an element all the same.
  bool isElement = llvm::any_of(collectives, [&](CollectiveOp collective) {
    return collective.isPerElement(0) && dependsOn(value, collective.getValues()[0]);
  });
  if (!isElement && !variesInRow(kernel, view))
    return Phase::Finish;
  if (kernel.hasGroups() && !isElement) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    if (llvm::all_of(*collectives.back().getDims(),
                     [&](int64_t dim) { return access.isBroadcast(dim); }))
      return Phase::GroupFinish;
  }
  unsigned behind = collectivesBehind(kernel, value);
  return behind == 0                    ? Phase::Prologue
         : behind == collectives.size() ? Phase::Epilogue
                                        : Phase::Between;
}

Value swage::handedElement(KernelOp kernel, Phase phase, unsigned between) {
  if (phase == Phase::Probability)
    return kernel.getCollective().getValues()[0];
  if (kernel.isAttention())
    return phase == Phase::Epilogue ? weightedValuesOf(kernel) : scoresOf(kernel);
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  CollectiveOp last = phase == Phase::Between ? collectives[between] : collectives.back();
  return last.isPerElement(0) ? last.getValues()[0] : last.getValue();
}

SmallVector<Value> swage::handedStatistics(KernelOp kernel, Phase phase, unsigned between) {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  ArrayRef<CollectiveOp> handed = collectives;
  if (phase == Phase::Between)
    handed = handed.take_front(between + 1);
  else if (phase == Phase::GroupFinish)
    handed = handed.take_back();
  else if (phase == Phase::Finish)
    handed = handed.drop_back(kernel.hasGroups() ? 1 : 0);
  else if (phase != Phase::Epilogue)
    handed = {};
  SmallVector<Value> statistics;
  for (CollectiveOp collective : handed)
    for (auto [i, value] : llvm::enumerate(collective.getValues()))
      if (!collective.isPerElement(i))
        statistics.push_back(value);
  return statistics;
}

/// All that the template can hand to a phase.
static SmallVector<Value> handedTo(KernelOp kernel, Phase phase, unsigned between) {
  SmallVector<Value> given = handedStatistics(kernel, phase, between);
  if (phase == Phase::Between || phase == Phase::Epilogue || phase == Phase::Probability)
    given.push_back(handedElement(kernel, phase, between));
  return given;
}

llvm::SetVector<unsigned> swage::inputsRead(KernelOp kernel, Value value, Phase phase,
                                            unsigned between) {
  llvm::SetVector<unsigned> inputs;
  SmallVector<Value> given = handedTo(kernel, phase, between);
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (llvm::is_contained(given, reached[i]))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(reached[i]))
      inputs.insert(argument.getArgNumber());
    else if (Operation *op = reached[i].getDefiningOp(); !isa<CollectiveOp>(op))
      reached.insert(op->operand_begin(), op->operand_end());
  }
  return inputs;
}

/// What a template cannot hand to the phase that writes an output, or that a further collective's
/// operand is computed in; empty if nothing.
static std::string phaseProblem(KernelOp kernel) {
  SmallVector<CollectiveOp, 4> collectives = kernel.getCollectives();
  SmallVector<Value> all;
  for (CollectiveOp collective : collectives)
    llvm::append_range(all, collective.getValues());
  auto lacks = [&](Value value, Phase phase, unsigned between) {
    return dependsOnBeside(value, all, handedTo(kernel, phase, between));
  };
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    Phase phase = phaseOf(kernel, i);
    if (lacks(value, phase, phase == Phase::Between ? betweenOf(kernel, i) : 0))
      return "an output is made of results that no phase has together";
  }
  for (unsigned i = 1; i < collectives.size(); ++i)
    if (lacks(collectives[i].getValue(), Phase::Between, i - 1))
      return "a further collective goes over what no phase makes";
  CollectiveOp last = collectives.back();
  if (last.getValue().getType() != collectives.front().getValue().getType())
    for (unsigned i = 0; i < yield.getValues().size(); ++i)
      if (phaseOf(kernel, i) == Phase::Epilogue)
        return "an output is made behind a collective of another type than the first";
  if (std::optional<ArrayRef<int64_t>> dims = last.getDims(); dims && dims->size() != 1)
    return "a group of a collective is no single dimension";
  return {};
}

/// Tiles turn some outputs on their way out where vectors of them and of the others fit the extents
/// and nothing else is turned.
static std::string turnedOutputProblem(KernelOp kernel) {
  std::optional<unsigned> principal = principalDim(kernel), turned;
  auto isVectors = [&](unsigned dim, ViewAttr view) {
    return isMultipleOf(extentOf(kernel, dim), 16 / elementBytes(view.getElement()),
                        factsOf(kernel));
  };
  // Parts that alternate element by element are contiguous along no dimension.
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (std::optional<unsigned> dim = contiguousDim(kernel, view);
        dim && dim != principal && isFull(kernel, view)) {
      if ((turned && turned != dim) || !isVectors(*dim, view) || !isVectors(*principal, view))
        return "outputs are contiguous along different dimensions";
      turned = dim;
    }
  if (turned)
    for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
      if (std::optional<unsigned> dim = contiguousDim(kernel, view);
          dim && isFull(kernel, view) && (dim != principal || !isVectors(*principal, view)))
        return "inputs and outputs are contiguous along different dimensions";
  return {};
}

/// What the template of attention does not do: outputs have an element for each of its result's, or
/// one for each query.
static std::string attentionProblem(KernelOp kernel) {
  std::string why;
  if (!AttentionProblem::of(kernel, &why))
    return why;
  auto isAcross = [](ViewAttr view) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    return view.getSource() == Source::Memory && !access.isBroadcast(AttentionDim::ValueDim) &&
           constantSize(access.strides[AttentionDim::ValueDim]) != 1;
  };
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  Value weighted = weightedValuesOf(kernel);
  for (Value term : llvm::drop_end(weightTerms(kernel)))
    if (!isSameAlong(kernel, term, AttentionDim::ValueDim))
      return "what weights are multiplied by differs along the head dim";
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    ViewAttr view = kernel.getOutput(i);
    if (phaseOf(kernel, i) >= Phase::Query)
      continue;
    if (phaseOf(kernel, i) == Phase::Probability) {
      if (value != handedElement(kernel, Phase::Probability) || !view.getElement().isF32())
        return "attention writes its probabilities as they are";
      continue;
    }
    bool isElement = dependsOn(value, weighted),
         hasElements = !LinearAccess::of(view.getAccess())->isBroadcast(AttentionDim::ValueDim) ||
                       constantSize(extentOf(kernel, AttentionDim::ValueDim)) == 1;
    if (isElement ? !hasElements || phaseOf(kernel, i) != Phase::Epilogue
                  : i == 0 || hasElements || phaseOf(kernel, i) != Phase::Finish)
      return "beside attention's result a kernel writes what is made of its elements, or of row "
             "results";
    if (isElement && isAcross(view))
      return "what is made of attention's result is not contiguous along the head dim";
  }
  for (ViewAttr view :
       llvm::drop_begin(kernel.getInputs().getAsRange<ViewAttr>(), AttentionInput::Count))
    if (isAcross(view))
      return "an operand would be read across attention's result";
  return phaseProblem(kernel);
}

/// Rows of caches are written behind a collective where short rows go by vectors: what goes any
/// other way writes elements that a thread has of several rows, or of parts of vectors.
static std::string cacheRowsProblem(KernelOp kernel) {
  constexpr int64_t kMostElements = 4096;
  std::optional<unsigned> principal = principalDim(kernel);
  if (kernel.getReduced().empty())
    return {};
  if (!principal || kernel.getReduced() != ArrayRef<int64_t>(*principal) || kernel.hasGroups())
    return "rows are added to a cache behind collectives over the head dim alone";
  SizeFacts facts = factsOf(kernel);
  std::optional<int64_t> length = constantSize(extentOf(kernel, *principal));
  if (!length || *length > kMostElements)
    return "rows are added to a cache behind collectives over " + std::to_string(kMostElements) +
           " elements at most";
  for (ArrayAttr views : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : views.getAsRange<ViewAttr>()) {
      LinearAccess access = *LinearAccess::of(view.getAccess());
      if (!hasTensor(view.getSource()) || access.isBroadcast(*principal))
        continue;
      int64_t vector = 16 / std::min<int64_t>(16, elementBytes(view.getElement()));
      auto fits = [&](AffineExpr size) { return isMultipleOf(size, vector, facts); };
      bool goesByVectors = *length % vector == 0 && view.getAlign() >= 16 && fits(access.offset);
      for (auto [dim, stride] : llvm::enumerate(access.strides))
        goesByVectors &= dim == *principal ? constantSize(stride) == 1 : fits(stride);
      if (!goesByVectors)
        return "rows are added to a cache behind collectives by whole vectors";
    }
  for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
    if (kernel.getRowsOf(i) && phaseOf(kernel, i) != Phase::Epilogue)
      return "what is added to a cache is made in front of a collective";
  return {};
}

std::string swage::accessProblem(KernelOp kernel) {
  if (kernel.isAttention())
    return attentionProblem(kernel);
  if (kernel.writesRows())
    if (std::string problem = cacheRowsProblem(kernel); !problem.empty())
      return problem;
  std::optional<unsigned> principal = principalDim(kernel);
  if (!principal || (kernel.writesRows() && kernel.getReduced().empty()))
    return {};
  if (kernel.getReduced().empty()) {
    std::optional<unsigned> transposed = transposedDim(kernel);
    if (std::string problem = turnedOutputProblem(kernel); !problem.empty())
      return problem;
    for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>()) {
      LinearAccess access = *LinearAccess::of(view.getAccess());
      std::optional<unsigned> dim = contiguousDim(kernel, view);
      if (isFull(kernel, view) && dim && dim != principal && dim != transposed)
        return "inputs are contiguous along three different dimensions";
    }
    return {};
  }
  for (ViewAttr view : kernel.getInputs().getAsRange<ViewAttr>())
    if (isFull(kernel, view) && contiguousDim(kernel, view) != principal)
      return "a row would be read against the grain";
  for (ViewAttr view : kernel.getOutputs().getAsRange<ViewAttr>())
    if (isFull(kernel, view) && contiguousDim(kernel, view) != principal)
      return "a row would be written against the grain";
  if (std::string problem = phaseProblem(kernel); !problem.empty())
    return problem;
  if (kernel.countCollectives() > 1 &&
      !llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(*principal)))
    return "two collectives need rows that are contiguous";
  if (familyOf(kernel) == Family::Reduce && makesElements(kernel))
    return "a reduction over outer dimensions of unknown extent makes no elements";
  return {};
}

AffineExpr swage::bytesMoved(KernelOp kernel) {
  AffineExpr total = getAffineConstantExpr(0, kernel.getContext());
  auto addAll = [&](ArrayAttr views) {
    std::map<int64_t, AffineExpr> perTensor;
    for (auto [i, view] : llvm::enumerate(views.getAsRange<ViewAttr>())) {
      if (view.getSource() != Source::Memory)
        continue;
      bool hasRows = views == kernel.getOutputs() && kernel.getRowsOf(i);
      AffineExpr touched = touchedElements(kernel, view, hasRows),
                 whole = getAffineConstantExpr(1, kernel.getContext());
      for (AffineExpr extent : view.getShape().getResults())
        whole = whole ? multiplySizes(whole, extent) : whole;
      if (!touched || !whole)
        continue;
      AffineExpr &sum = perTensor[view.getTensor()];
      sum = sum ? addSizes(sum, touched) : touched;
      // Several views of one tensor cannot touch more than all of it.
      std::optional<int64_t> a = constantSize(sum), b = constantSize(whole);
      if (!a || !b)
        sum = sum == whole ? sum : touched == whole ? whole : sum;
      else if (*a > *b)
        sum = whole;
    }
    for (auto &[tensor, count] : perTensor)
      for (ViewAttr view : views.getAsRange<ViewAttr>())
        if (view.getTensor() == tensor && view.getSource() == Source::Memory) {
          AffineExpr bytes = multiplySizes(
              count, getAffineConstantExpr(elementBytes(view.getElement()), kernel.getContext()));
          if (bytes)
            total = addSizes(total, bytes);
          break;
        }
  };
  addAll(kernel.getInputs());
  addAll(kernel.getOutputs());
  return total;
}

SmallVector<AffineExpr> swage::largestOffsets(KernelOp kernel) {
  AffineExpr minusOne = getAffineConstantExpr(-1, kernel.getContext());
  AffineExpr beyond = getAffineConstantExpr(INT64_MAX, kernel.getContext());
  SmallVector<AffineExpr> largest;
  for (ArrayAttr views : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : views.getAsRange<ViewAttr>()) {
      LinearAccess access = *LinearAccess::of(view.getAccess());
      AffineExpr offset = access.offset;
      AffineMap extents = view.getExtentsOr(kernel.getExtents());
      for (unsigned dim = 0; dim < kernel.getRank() && offset; ++dim) {
        AffineExpr last = addSizes(extents.getResult(dim), minusOne);
        AffineExpr term = last ? multiplySizes(access.strides[dim], last) : AffineExpr();
        offset = term ? addSizes(offset, term) : AffineExpr();
      }
      if (isRow(view.getSource())) {
        // The last row of the output in front.
        AffineExpr last = addSizes(view.getShape().getResult(0), minusOne);
        offset = last ? multiplySizes(last, access.offset) : AffineExpr();
        largest.back() = offset ? addSizes(largest.back(), offset) : AffineExpr();
        if (!largest.back())
          largest.back() = beyond;
        continue;
      }
      largest.push_back(offset ? offset : beyond);
    }
  // Positions are counted before they are taken apart, also along dimensions that no operand moves
  // along.
  for (bool reduced : {false, true}) {
    AffineExpr points = getAffineConstantExpr(1, kernel.getContext());
    for (unsigned dim = 0; dim < kernel.getRank() && points; ++dim)
      if (llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(dim)) == reduced)
        points = multiplySizes(points, extentOf(kernel, dim));
    largest.push_back(points ? points : beyond);
  }
  return largest;
}
