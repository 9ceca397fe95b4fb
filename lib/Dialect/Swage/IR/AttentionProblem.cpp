//===- AttentionProblem.cpp - Attention as a kernel -----------------------===//

#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/TensorTiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace swage;

ContractOp swage::scoresOf(KernelOp kernel) {
  return *kernel.getBody().getOps<ContractOp>().begin();
}
ContractOp swage::weightedValuesOf(KernelOp kernel) {
  return *std::next(kernel.getBody().getOps<ContractOp>().begin());
}

std::optional<int64_t> swage::queriesOf(KernelOp kernel) {
  AffineExpr queries = kernel.getExtents().getResult(AttentionDim::Query);
  std::optional<int64_t> known = constantSize(queries);
  if (!known && upperBound(queries, factsOf(kernel)) == 1)
    return 1;
  return known;
}

std::optional<int64_t> swage::unitsOf(KernelOp kernel, int64_t rowTiles) {
  std::optional<int64_t> batch = constantSize(kernel.getExtents().getResult(AttentionDim::Batch)),
                         heads = constantSize(kernel.getExtents().getResult(AttentionDim::KeyHead));
  if (!batch || !heads)
    return std::nullopt;
  return *batch * *heads * rowTiles;
}

bool swage::isOfKeys(ViewAttr view) {
  return !LinearAccess::of(view.getAccess())->isBroadcast(AttentionDim::Key);
}

SmallVector<Value> swage::weightTerms(KernelOp kernel) {
  SmallVector<Value> terms;
  Value weight = weightedValuesOf(kernel).getLhs();
  for (;;) {
    auto select = weight.getDefiningOp<arith::SelectOp>();
    if (auto product = weight.getDefiningOp<arith::MulFOp>()) {
      terms.push_back(product.getRhs());
      weight = product.getLhs();
    } else if (select && matchPattern(select.getFalseValue(), m_PosZeroFloat())) {
      terms.push_back(select.getCondition());
      weight = select.getTrueValue();
    } else {
      break;
    }
  }
  terms.push_back(weight);
  return terms;
}
BlockArgument swage::contractedInput(Value operand) {
  if (auto wide = operand.getDefiningOp<arith::SIToFPOp>())
    operand = wide.getIn();
  return dyn_cast<BlockArgument>(operand);
}

/// The largest power of two up to 16 that divides the bytes at which what lies along `inner`
/// begins, wherever in the view that is, if that is contiguous; or 0.
static int64_t vectorBytes(KernelOp kernel, ViewAttr view, unsigned inner) {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  if ((view.getSource() != Source::Memory && view.getSource() != Source::Shared) ||
      constantSize(access.strides[inner]) != 1)
    return 0;
  SizeFacts facts = factsOf(kernel);
  int64_t element = elementBytes(view.getElement());
  auto fits = [&](int64_t bytes) {
    int64_t vector = bytes / element;
    if (view.getAlign() < bytes || !isMultipleOf(access.offset, vector, facts))
      return false;
    for (unsigned dim = 0; dim < kernel.getRank(); ++dim)
      if (dim != inner && !isMultipleOf(access.strides[dim], vector, facts))
        return false;
    return true;
  };
  int64_t bytes = 16;
  while (bytes > element && !fits(bytes))
    bytes /= 2;
  return bytes > element ? bytes : 0;
}

/// Elements of a key that lie together, if its head dim is in runs: the keys' view has extents of
/// its own, in which HeadDim counts within a run and ValueDim, which keys do not have, runs. A run
/// is followed by the next key's. Or 0.
static std::optional<int64_t> keyRunOf(KernelOp kernel) {
  using Dim = AttentionDim;
  AffineMap own = kernel.getInput(AttentionInput::Keys).getExtents(), all = kernel.getExtents();
  if (!own || kernel.getInput(AttentionInput::Values).getExtents())
    return 0;
  for (unsigned dim : {Dim::Batch, Dim::KeyHead, Dim::Key})
    if (own.getResult(dim) != all.getResult(dim))
      return std::nullopt;
  std::optional<int64_t> run = constantSize(own.getResult(Dim::HeadDim));
  LinearAccess access = *LinearAccess::of(kernel.getInput(AttentionInput::Keys).getAccess());
  if (!run || *run < 1 || constantSize(access.strides[Dim::Key]) != run ||
      multiplySizes(own.getResult(Dim::ValueDim), own.getResult(Dim::HeadDim)) !=
          all.getResult(Dim::HeadDim))
    return std::nullopt;
  return run;
}

/// Whether the kernel makes its queries itself.
static bool hasSharedQueries(KernelOp kernel) {
  return kernel.getInput(AttentionInput::Queries).getSource() == Source::Shared;
}

/// Positions of a page of the kernel's keys and values, which go through the table in input 3; 0:
/// they are in no pages.
static std::optional<int64_t> pageSizeOf(KernelOp kernel) {
  using Input = AttentionInput;
  auto extentsOf = [&](unsigned input) { return kernel.getInput(input).getExtents(); };
  bool isPaged = static_cast<bool>(extentsOf(Input::Values));
  unsigned own = Input::Count + isPaged;
  if (kernel.getInputs().size() < own)
    return std::nullopt;
  // What queries and new rows are made of in pieces has extents, too.
  bool isStep = hasSharedQueries(kernel) || kernel.writesRows();
  for (unsigned input = 0; input < (isStep ? own : kernel.getInputs().size()); ++input)
    if ((isPaged || input != Input::Keys) &&
        static_cast<bool>(extentsOf(input)) != (isPaged && input > 0 && input < own))
      return std::nullopt;
  if (!isPaged)
    return 0;
  if (!kernel.getInput(Input::Table).getElement().isSignlessInteger(32))
    return std::nullopt;
  AffineExpr batches = kernel.getExtents().getResult(AttentionDim::Batch),
             keys = kernel.getExtents().getResult(AttentionDim::Key),
             page = extentsOf(Input::Keys).getResult(AttentionDim::Key);
  std::optional<int64_t> size = constantSize(page);
  if (!size || *size < 1 || extentsOf(Input::Values).getResult(AttentionDim::Key) != page ||
      extentsOf(Input::Table).getResult(AttentionDim::Batch) != batches ||
      multiplySizes(extentsOf(Input::Table).getResult(AttentionDim::Key), page) != keys)
    return std::nullopt;
  return size;
}

/// Whether the view of values is what that of keys is, but that ValueDim takes HeadDim's place.
static bool hasValuesInKeys(KernelOp kernel) {
  ViewAttr keys = kernel.getInput(AttentionInput::Keys),
           values = kernel.getInput(AttentionInput::Values);
  LinearAccess ofKeys = *LinearAccess::of(keys.getAccess()),
               ofValues = *LinearAccess::of(values.getAccess());
  std::swap(ofValues.strides[AttentionDim::HeadDim], ofValues.strides[AttentionDim::ValueDim]);
  return keys.getSource() == values.getSource() && keys.getTensor() == values.getTensor() &&
         ofKeys.offset == ofValues.offset && ofKeys.strides == ofValues.strides;
}

/// Whether views are the pieces of what has so many columns along a dimension, next to each other
/// or one column after the other by turns, each an even number of them: the template makes pairs.
static bool arePieces(KernelOp kernel, ArrayRef<ViewAttr> views, unsigned dim, int64_t columns) {
  int64_t count = views.size();
  if (count == 0 || columns % (2 * count) != 0)
    return false;
  LinearAccess first = *LinearAccess::of(views[0].getAccess());
  auto is = [&](AffineExpr offset, int64_t behind) {
    return offset == addSizes(first.offset, getAffineConstantExpr(behind, kernel.getContext()));
  };
  for (auto [i, view] : llvm::enumerate(views)) {
    LinearAccess access = *LinearAccess::of(view.getAccess());
    std::optional<int64_t> step = constantSize(access.strides[dim]);
    bool follow = step == 1 && is(access.offset, i * (columns / count)),
         alternate = count > 1 && step == count && is(access.offset, i);
    if ((!follow && !alternate) || step != constantSize(first.strides[dim]) ||
        view.getExtents() != views[0].getExtents() || view.getElement() != views[0].getElement() ||
        constantSize(view.getExtentsOr(kernel.getExtents()).getResult(dim)) != columns / count)
      return false;
    access.strides[dim] = first.strides[dim];
    if (access.strides != first.strides)
      return false;
  }
  return true;
}

/// Outputs of source `shared` are all columns of the queries, in the rows that the template
/// multiplies; rows of keys and values are all columns of these, in the caches that inputs 1 and 2
/// read, at one place. What else the kernel reads is no such cache: rows are there before they are
/// read as keys and values only.
static const char *piecesProblem(KernelOp kernel, const AttentionProblem &problem) {
  using Dim = AttentionDim;
  SmallVector<ViewAttr> queries, keys, values, rows;
  for (auto [i, view] : llvm::enumerate(kernel.getOutputs().getAsRange<ViewAttr>())) {
    if (view.getSource() == Source::Shared)
      queries.push_back(view);
    if (isRow(view.getSource()))
      rows.push_back(view);
    if (ViewAttr row = kernel.getRowsOf(i)) {
      bool isOfKeys = !LinearAccess::of(view.getAccess())->isBroadcast(Dim::HeadDim);
      (isOfKeys ? keys : values).push_back(view);
      unsigned input = isOfKeys ? AttentionInput::Keys : AttentionInput::Values;
      if (row.getTensor() != kernel.getInput(input).getTensor() ||
          view.getTensor() != (isOfKeys ? keys : values).front().getTensor())
        return "rows are added to attention's keys and values";
    }
  }
  if (problem.makesQueries) {
    ViewAttr all = kernel.getInput(AttentionInput::Queries);
    LinearAccess place = AttentionProblem::queryPlace(
        problem.headColumns, getAffineConstantExpr(*queriesOf(kernel), kernel.getContext()));
    auto isPlace = [&](ViewAttr view) {
      LinearAccess access = *LinearAccess::of(view.getAccess());
      access.strides[Dim::HeadDim] = place.strides[Dim::HeadDim];
      return access.strides == place.strides && access.offset == place.offset;
    };
    if (!arePieces(kernel, queries, Dim::HeadDim, problem.headColumns) || !isPlace(queries[0]) ||
        !arePieces(kernel, all, Dim::HeadDim, problem.headColumns) || !isPlace(all) ||
        queries[0].getElement() != all.getElement())
      return "queries that the kernel makes are rows in shared memory, all columns of them";
  }
  if (!problem.addsRows)
    return nullptr;
  if (!arePieces(kernel, keys, Dim::HeadDim, problem.headColumns) ||
      !arePieces(kernel, values, Dim::ValueDim, problem.valueColumns))
    return "new keys and values have all of their columns";
  if (keys[0].getTensor() == values[0].getTensor())
    return "new keys and values are rows of two caches";
  for (ViewAttr row : rows)
    if (row.getSource() == Source::PagedRow || row.getSource() != rows[0].getSource() ||
        row.getShape() != rows[0].getShape())
      return "new keys and values are added at one position of caches as long as each other";
  for (auto [i, view] : llvm::enumerate(kernel.getInputs().getAsRange<ViewAttr>()))
    for (unsigned cache : {AttentionInput::Keys, AttentionInput::Values})
      if (i != AttentionInput::Keys && i != AttentionInput::Values && hasTensor(view.getSource()) &&
          view.getTensor() == kernel.getInput(cache).getTensor())
        return "a cache that rows are added to is read as keys and values only";
  return nullptr;
}

/// All queries that share a key head are one unit of work, and all have 16 bits.
const char *AttentionProblem::stepProblem(KernelOp kernel) const {
  if (isNarrow() || isWide() || hasNarrowCache())
    return "queries are made, and rows added, where they and the cache have 16 bits";
  if (sharing == 0 || sharing > mostSharingOfStep())
    return "queries are made, and rows added, where up to 16 queries share a key head, of head "
           "dims above 128 up to 4, above 192 up to 2";
  if (pageSize || keyRun)
    return "queries are made, and rows added, where keys and values follow each other in memory";
  if (const char *problem = piecesProblem(kernel, *this))
    return problem;
  // Of a prepared kernel phases yield what its outputs are.
  PhaseOp place = kernel.getPhase(Phase::Place);
  auto yield = dyn_cast<YieldOp>((place ? place.getBody() : kernel.getBody()).front().back());
  SmallVector<Value> places;
  for (auto [i, view] : llvm::enumerate(kernel.getOutputs().getAsRange<ViewAttr>()))
    if (isRow(view.getSource()) && yield && !place)
      places.push_back(yield.getValues()[i]);
  if (place && yield)
    places.assign(yield.getValues().begin(), yield.getValues().end());
  return llvm::all_equal(places) ? nullptr : "new keys and values are added at one position";
}

std::optional<AttentionProblem> AttentionProblem::of(KernelOp kernel, std::string *why) {
  using Dim = AttentionDim;
  auto refuse = [&](const Twine &text) {
    if (why)
      *why = text.str();
    return std::nullopt;
  };
  static constexpr int64_t reduced[] = {Dim::Key, Dim::HeadDim};
  if (kernel.getRank() != Dim::Count || kernel.getReduced() != ArrayRef<int64_t>(reduced) ||
      kernel.getInputs().size() < AttentionInput::Count || kernel.getOutputs().empty())
    return refuse("attention is a sum over the last two of seven dimensions, with queries, keys "
                  "and values");
  AttentionProblem problem;
  problem.element = kernel.getInput(AttentionInput::Queries).getElement();
  if (!problem.element.isF16() && !problem.element.isBF16() && !problem.isNarrow() &&
      !problem.isWide())
    return refuse("attention's operands hold f16, bf16, f32 or f8E4M3FN");
  problem.cache = kernel.getInput(AttentionInput::Keys).getElement();
  auto columns = [&](unsigned dim) {
    return constantSize(kernel.getExtents().getResult(dim)).value_or(0);
  };
  problem.headColumns = columns(Dim::HeadDim);
  problem.valueColumns = columns(Dim::ValueDim);
  // Of a team each warp has whole steps of both.
  bool isOfTeam = std::max(problem.headColumns, problem.valueColumns) > kMostDimOfWarp;
  for (int64_t dim : {problem.headColumns, problem.valueColumns})
    if (dim < 8 || dim > kMostDim || dim % (isOfTeam || dim > kMostDimOfMany ? 32 : 2))
      return refuse("attention's head dims are known even numbers from 8 to " +
                    Twine(kMostDimOfMany) + ", or for few queries multiples of 32 up to " +
                    Twine(kMostDim) + ", both where one is above " + Twine(kMostDimOfWarp));
  if (problem.isWide())
    for (int64_t dim : {problem.headColumns, problem.valueColumns})
      if (dim % 8 || dim > kMostDimOfMany)
        return refuse("attention's head dims of f32 are multiples of 8 up to " +
                      Twine(kMostDimOfMany));
  problem.headDim = llvm::alignTo(problem.headColumns, 8);
  problem.valueDim = llvm::alignTo(problem.valueColumns, 8);
  if (std::optional<int64_t> keys = constantSize(kernel.getExtents().getResult(Dim::Key))) {
    if (*keys == 0)
      return refuse("attention has no keys");
    problem.keys = *keys;
  }
  if (problem.isNarrow() && problem.columns() > kMostDimOfMany)
    return refuse("attention's values of 8 bits have up to 240 columns");
  static constexpr unsigned inner[] = {Dim::HeadDim, Dim::HeadDim, Dim::ValueDim};
  static constexpr const char *names[] = {"queries", "keys", "values"};
  if (kernel.getInput(AttentionInput::Values).getElement() != problem.cache)
    return refuse("attention's keys and values are of two types");
  int64_t least = problem.isNarrow() || problem.isWide() || problem.hasNarrowCache() ? 16 : 4;
  for (unsigned i = 0; i < AttentionInput::Count; ++i) {
    int64_t bytes = vectorBytes(kernel, kernel.getInput(i), inner[i]);
    if (bytes < least)
      return refuse(Twine(names[i]) + " are not contiguous along the head dim, from multiples of " +
                    Twine(least) + " bytes on");
    // Rows that follow each other may be shorter than that.
    int64_t columns = i == AttentionInput::Values ? problem.valueColumns : problem.headColumns;
    while (least < 16 && 2 * columns % bytes != 0)
      bytes /= 2;
    problem.copyBytes = std::min(problem.copyBytes, bytes);
  }
  std::optional<int64_t> pageSize = pageSizeOf(kernel);
  if (!pageSize)
    return refuse("attention's keys and values are in pages of one size, through a table of them "
                  "in input 3, or nothing is");
  problem.pageSize = *pageSize;
  if (problem.isWide() && problem.pageSize)
    return refuse("attention's keys and values of f32 are in no pages");
  std::optional<int64_t> run = keyRunOf(kernel);
  if (!run || (*run && (*run * elementBytes(problem.cache) != 16 || problem.hasNarrowCache() ||
                        problem.isWide() || problem.headColumns % 8 || problem.copyBytes < 16)))
    return refuse("keys whose head dim is in runs are of 16 bits, and these of 16 bytes, one key's "
                  "behind the other's");
  problem.keyRun = *run;
  std::optional<int64_t> group = constantSize(kernel.getExtents().getResult(Dim::Group)),
                         queries = queriesOf(kernel);
  if (group && queries)
    problem.sharing = *group * *queries;
  // Where there are many queries it is better to copy operands than to read them like this.
  bool areFew = problem.sharing > 0 && problem.sharing <= kMostSharing && *queries <= kFewQueries,
       areWhole =
           problem.headDim == problem.headColumns && problem.valueDim == problem.valueColumns;
  int64_t ofKeys = llvm::count_if(kernel.getOutputs().getAsRange<ViewAttr>(), isOfKeys);
  problem.hasProbabilities = ofKeys > 0;
  if (ofKeys > 1)
    return refuse("attention writes its probabilities once");
  if (ofKeys && (!areFew || problem.isNarrow() || problem.isWide()))
    return refuse("attention writes its probabilities where queries have 16 bits, and are known to "
                  "be up to " +
                  Twine(kFewQueries) + " of a head, and " + Twine(kMostSharing) +
                  " that share a key head");
  if (problem.keyRun && !areFew)
    return refuse("keys whose head dim is in runs are for few queries that share a key head");
  if (problem.copyBytes < 16 && areWhole && !areFew)
    return refuse("operands of many queries are not contiguous along the head dim, from multiples "
                  "of 16 bytes on");
  problem.makesQueries = hasSharedQueries(kernel);
  problem.addsRows = kernel.writesRows();
  if (problem.makesQueries || problem.addsRows)
    if (const char *reason = problem.stepProblem(kernel))
      return refuse(reason);
  if (problem.hasNarrowCache())
    if (const char *reason = problem.cacheProblem(kernel))
      return refuse(reason);
  for (unsigned i = problem.ownInputs(); i < kernel.getInputs().size(); ++i) {
    ViewAttr view = kernel.getInput(i);
    if (view.getSource() != Source::Memory || view.getExtents())
      continue;
    LinearAccess access = *LinearAccess::of(view.getAccess());
    int64_t element = elementBytes(view.getElement());
    if (constantSize(access.strides[Dim::Key]) == 1 && !access.isBroadcast(Dim::Query) &&
        element <= 4)
      problem.scoreTiles.push_back(
          {i, element, std::max(vectorBytes(kernel, view, Dim::Key), element)});
  }
  auto isAdjacent = [&](unsigned input, int64_t columns) {
    LinearAccess access = *LinearAccess::of(kernel.getInput(input).getAccess());
    return constantSize(access.strides[Dim::Key]) == columns;
  };
  problem.areValuesInKeys = !problem.keyRun && !problem.hasNarrowCache() &&
                            problem.valueDim <= problem.headDim && problem.valueColumns % 8 == 0 &&
                            hasValuesInKeys(kernel);
  problem.areRowsAdjacent = !problem.areValuesInKeys && !problem.pageSize && !problem.keyRun &&
                            problem.copyBytes == 16 &&
                            isAdjacent(AttentionInput::Keys, problem.headDim) &&
                            isAdjacent(AttentionInput::Values, problem.valueDim);
  PhaseOp prologue = kernel.getPhase(Phase::Prologue);
  auto contractions = kernel.getBody().getOps<ContractOp>();
  problem.isTf32 =
      prologue ? prologue.getTf32() : !contractions.empty() && (*contractions.begin()).getTf32();
  problem.result = kernel.getOutput(0).getElement();
  problem.hasTiledResult = (problem.result.isF16() || problem.result.isBF16()) &&
                           vectorBytes(kernel, kernel.getOutput(0), Dim::ValueDim) == 16;
  // Of a tile that blocks share each has some columns.
  if (auto schedule = dyn_cast_if_present<AttentionScheduleAttr>(kernel.getScheduleAttr());
      schedule && schedule.getParts() > 1)
    problem.hasTiledResult = false;
  return problem;
}

const char *AttentionProblem::cacheProblem(KernelOp kernel) const {
  if (isNarrow() || isWide() ||
      (!cache.isInteger(8) && !isa<Float8E4M3FNType, Float8E5M2Type>(cache)))
    return "attention's operands are of several types";
  if (!sharing || sharing > kMostSharing ||
      *queriesOf(kernel) > kFewQueries)
    return "keys and values of 8 bits are for few queries that share a key head";
  if (headDim % 16 || valueDim % 16 || team() > 1)
    return "keys and values of 8 bits have head dims that are multiples of 16, up to 320";
  // Such a weight may be beyond f16.
  if (element.isF16() && kernel.getBody().front().getOps<PhaseOp>().empty() &&
      weightTerms(kernel).size() > 1)
    return "weights of f16 are multiplied by no factors of keys";
  return nullptr;
}

/// Tiles lie in shared memory as panels, rows of which have that many bytes, which are swizzled.
static constexpr int64_t kPanelRow = 128;
/// What is in front of them: barriers, the queue of tiles.
static constexpr int64_t kBarrierBytes = 1024;

static int64_t panelsOf(Type element, int64_t columns) {
  return llvm::divideCeil(columns * elementBytes(element), kPanelRow);
}

bool AttentionProblem::isNarrow() const { return isa<Float8E4M3FNType>(element); }
int64_t AttentionProblem::keysTogether(int64_t keys) const {
  return pageSize ? std::gcd(pageSize, keys) : keyRun ? std::gcd(kMostBox / keyRun, keys) : keys;
}
int64_t AttentionProblem::columns() const { return valueDim + (isNarrow() ? 8 : 0); }

/// Copies of 16 bytes from multiples of that on, where that is no multiple one more. Rows lie an
/// odd number of groups of eight keys apart, or of 16 bytes where that is more: what the lanes of a
/// warp read at once is in different banks.
int64_t ScoreTile::rowBytes(int64_t keys) const {
  int64_t bytes = keys * elementBytes + (align < 16 ? 16 : 0),
          unit = std::max<int64_t>(16, 8 * elementBytes);
  return (llvm::divideCeil(bytes, unit) | 1) * unit;
}

static int64_t scoreTileBytes(AttentionScheduleAttr schedule, const ScoreTile &tile) {
  return 64 * schedule.getGroups() * schedule.getScoreStages() * tile.rowBytes(schedule.getKeys());
}

int64_t AttentionProblem::scoreTileBytes(AttentionScheduleAttr schedule) const {
  int64_t bytes = 0;
  for (const ScoreTile &tile : scoreTiles)
    bytes += ::scoreTileBytes(schedule, tile);
  return bytes;
}

int64_t AttentionProblem::scoreTileAt(AttentionScheduleAttr schedule, unsigned input) const {
  int64_t at = kBarrierBytes;
  for (const ScoreTile &tile : scoreTiles)
    if (tile.input < input)
      at += ::scoreTileBytes(schedule, tile);
  return at;
}

int64_t AttentionProblem::sharedBytes(AttentionScheduleAttr schedule) const {
  int64_t headPanels = panelsOf(element, headDim), valuePanels = panelsOf(element, valueDim),
          rows = 64 * schedule.getGroups(),
          resultRow = llvm::divideCeil(2 * valueDim, kPanelRow) * kPanelRow,
          queries = std::max(headPanels * kPanelRow, schedule.getRun() ? 0 : resultRow) * rows,
          // Results leave through them; and the maxima of each thread's two rows.
          sums = schedule.getRun() ? rows * (std::max(4 * valueDim, resultRow) + 16) : 0,
          transposed = isNarrow() ? schedule.getKeys() * columns() : 0,
          keys = (headPanels + valuePanels) * schedule.getKeys() * kPanelRow + transposed,
          // What the threads of a block leave for the others of the cluster: AttentionPart.
          part = schedule.getParts() > 1 ? 2 * rows * 16 * (1 + valueDim / 8) : 0;
  return kBarrierBytes + scoreTileBytes(schedule) + schedule.getQuerySlots() * queries +
         std::max(schedule.getStages() * keys + sums, part);
}

/// Rows lie an odd number of 16 bytes apart.
static int64_t paddedRow(int64_t elements) { return (elements / 8 | 1) * 16; }

int64_t AttentionProblem::sharedBytes(PortableAttentionScheduleAttr schedule) const {
  int64_t words = elementBytes(element), // of 16 bits, for each two elements
      head = paddedRow(llvm::alignTo(headDim, 16) * words / 2),
          value = paddedRow(valueDim * words / 2);
  return schedule.getRows() * std::max(head, value) +
         schedule.getStages() * schedule.getKeys() * (head + value);
}

LinearAccess AttentionProblem::queryPlace(int64_t headDim, AffineExpr queries) {
  MLIRContext *context = queries.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context),
             row = getAffineConstantExpr(paddedRow(llvm::alignTo(headDim, 16)) / 2, context);
  LinearAccess place{SmallVector<AffineExpr>(AttentionDim::Count, zero), zero};
  place.strides[AttentionDim::Query] = row;
  place.strides[AttentionDim::Group] = multiplySizes(row, queries);
  place.strides[AttentionDim::HeadDim] = getAffineConstantExpr(1, context);
  return place;
}

int64_t AttentionProblem::rowTiles(DecodeScheduleAttr schedule) const {
  return llvm::divideCeil(sharing, 16 * schedule.getAtoms());
}
int64_t AttentionProblem::rowsTogether(DecodeScheduleAttr schedule) const {
  return llvm::divideCeil(sharing, rowTiles(schedule));
}

/// What a warp or a block knows of some keys, for so many rows: PartLayout in attention_merge.cuh.
static int64_t partBytes(const AttentionProblem &problem, int64_t rows) {
  return rows * (llvm::alignTo(problem.valueDim + 2 - 8, 32) + 8) * 4;
}

int64_t AttentionProblem::keyBytes() const {
  return elementBytes(cache) * (headDim + (areValuesInKeys ? 0 : valueDim));
}

int64_t AttentionProblem::cacheRow(bool bulk, bool linear) const {
  if (linear)
    return keyBytes();
  int64_t words = elementBytes(cache), // of 16 bits, for each two elements
      keys = keyRun ? 2 * headDim
             : bulk ? panelsOf(cache, headDim) * kPanelRow
                    : paddedRow(llvm::alignTo(headDim, 16) * words / 2),
      values = bulk ? panelsOf(cache, valueDim) * kPanelRow : paddedRow(valueDim * words / 2);
  return keys + (areValuesInKeys ? 0 : values);
}

/// What the blocks of a cluster send to one of them: UnitCluster in attention_cluster.cuh.
static int64_t clusterBytes(const AttentionProblem &problem, DecodeScheduleAttr schedule) {
  int64_t outputs = problem.rowsTogether(schedule) * problem.valueDim,
          threads = 32 * schedule.getWarps() * problem.team(),
          columns = outputs <= 2 * threads || problem.valueColumns % 4 ? 2 : 4,
          own = llvm::divideCeil(outputs / columns, schedule.getParts());
  return 16 + schedule.getParts() * own * (8 + 4 * columns);
}

int64_t AttentionProblem::sharedBytes(DecodeScheduleAttr schedule) const {
  int64_t meeting = schedule.getParts() > 1 ? clusterBytes(*this, schedule) : 16;
  int64_t ring = schedule.getStages() * schedule.getKeys() / schedule.getWarps() *
                 cacheRow(schedule.getBulk(), schedule.getLinear());
  if (schedule.getBulk() && keyRun) // where swizzled bytes repeat
    ring = llvm::alignTo(ring, 1024);
  return (schedule.getBulk() ? 1024 : 0) + schedule.getWarps() * ring +
         llvm::alignTo(schedule.getWarps() *
                               partBytes(*this, std::min<int64_t>(16, rowsTogether(schedule))) +
                           meeting + (hasProbabilities ? 8 * rowsTogether(schedule) : 0),
                       16) +
         (holdsQuery(schedule) && !makesQueries
              ? 0
              : 16 * schedule.getAtoms() * paddedRow(llvm::alignTo(headDim, 16))) +
         (team() > 1 ? schedule.getKeys() * team() * 64 : 0);
}

int64_t AttentionProblem::mostChunks(DecodeScheduleAttr schedule) const {
  return keys ? std::min<int64_t>(kMostChunks, llvm::divideCeil(keys, schedule.getChunk()))
              : kMostChunks;
}

int64_t AttentionProblem::scratchBytes(DecodeScheduleAttr schedule) const {
  if (schedule.getParts() > 1)
    return 0;
  bool hasChunks = schedule.getChunk() > 0;
  int64_t counters = schedule.getSpans() * (hasChunks ? 2 : 3), // PartOf
      places = counters * (hasChunks ? mostChunks(schedule) : 1);
  return llvm::alignTo(
      llvm::alignTo(counters * 8, 16) + places * partBytes(*this, rowsTogether(schedule)), 16);
}

/// A box of `rows` rows of a panel.
static TileAttr tileOf(MLIRContext *context, bool isOutput, int64_t position, Type element,
                       ArrayRef<int64_t> dims, int64_t rows) {
  SmallVector<int64_t> box(dims.size(), 1);
  box[0] = kPanelRow / elementBytes(element);
  box[1] = rows;
  return TileAttr::get(context, isOutput, position, dims, box, kPanelRow);
}

/// Of keys, and of values.
static std::pair<TileAttr, TileAttr> keyTiles(MLIRContext *context, Type element, int64_t rows) {
  using Dim = AttentionDim;
  return {tileOf(context, false, AttentionInput::Keys, element,
                 {Dim::HeadDim, Dim::Key, Dim::KeyHead, Dim::Batch}, rows),
          tileOf(context, false, AttentionInput::Values, element,
                 {Dim::ValueDim, Dim::Key, Dim::KeyHead, Dim::Batch}, rows)};
}

SmallVector<Attribute> AttentionProblem::tiles(AttentionScheduleAttr schedule) const {
  using Dim = AttentionDim;
  MLIRContext *context = schedule.getContext();
  auto [keys, values] = keyTiles(context, element, schedule.getKeys());
  SmallVector<Attribute> tiles = {
      tileOf(context, false, AttentionInput::Queries, element,
             {Dim::HeadDim, Dim::Query, Dim::Group, Dim::KeyHead, Dim::Batch},
             64 * schedule.getGroups()),
      keys, values};
  // Each warp sends its own rows.
  if (hasTiledResult)
    tiles.push_back(tileOf(context, true, 0, result,
                           {Dim::ValueDim, Dim::Query, Dim::Group, Dim::KeyHead, Dim::Batch}, 16));
  return tiles;
}

SmallVector<Attribute> AttentionProblem::tiles(DecodeScheduleAttr schedule) const {
  using Dim = AttentionDim;
  MLIRContext *context = schedule.getContext();
  int64_t rows = keysTogether(schedule.getKeys() / schedule.getWarps());
  auto [keys, values] = keyTiles(context, cache, rows);
  if (keyRun) // all runs of these keys, those of one behind those of another
    keys = TileAttr::get(context, false, AttentionInput::Keys,
                         {Dim::Key, Dim::ValueDim, Dim::KeyHead, Dim::Batch},
                         {rows, headDim / keyRun, 1, 1}, 0);
  return {keys, values};
}

int64_t AttentionProblem::registers(AttentionScheduleAttr schedule) const {
  int64_t bytes = elementBytes(element),
          held = schedule.getHoldsQuery() ? llvm::divideCeil(headDim * bytes, 32) * 4 : 0;
  return schedule.getKeys() / 2 + schedule.getKeys() * bytes / 8 + columns() / 2 + held;
}

int64_t AttentionProblem::registers(PortableAttentionScheduleAttr schedule) const {
  int64_t held =
      schedule.getHoldsQuery() ? llvm::divideCeil(headDim * elementBytes(element), 32) * 4 : 0;
  // Of f32 scores have a second sum, and weights are cut in two.
  int64_t parts = isWide() && !isTf32 ? schedule.getKeys() * 3 / 2 : 0;
  return schedule.getAtoms() * (schedule.getKeys() / 2 + valueDim / 2 + held + parts);
}

int64_t AttentionProblem::registers(DecodeScheduleAttr schedule) const {
  // Rows in eights, and keys as the rows of what is summed up.
  if (hasNarrowCache())
    return llvm::divideCeil(rowsTogether(schedule), 8) *
           (schedule.getKeys() / schedule.getWarps() / 2 + valueDim / 4 +
            (holdsQuery(schedule) ? headDim / 8 : 0));
  return schedule.getAtoms() *
             (schedule.getKeys() / schedule.getWarps() / 2 + valueDim / team() / 2) +
         (holdsQuery(schedule) ? llvm::divideCeil(headDim, 16) / team() * 4 : 0);
}
