//===- SpecEmitter.cpp - A prepared kernel as a Spec ----------------------===//

#include "SpecEmitter.h"
#include "TypeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/RowAlignment.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace swage;
using namespace swage::codegen;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// What a hand-edited module may lack. Everything later relies on it.
LogicalResult SpecEmitter::check() {
  if (!isIdentifier(kernel.getSymName()))
    return kernel.emitOpError() << "has a symbol that cannot be the name of a CUDA kernel";
  std::optional<Attribute> schedule = kernel.getSchedule();
  if (!schedule || !kernel.getGeometry())
    return kernel.emitOpError() << "is not prepared; run --swage-prepare-for-emission first";
  if (!isa<PointwiseScheduleAttr, PermuteScheduleAttr, BoxScheduleAttr, RowScheduleAttr,
           ReduceScheduleAttr, AttentionScheduleAttr, PortableAttentionScheduleAttr,
           DecodeScheduleAttr>(*schedule))
    return kernel.emitOpError() << "has a schedule of no template";
  bool isRow = isa<RowScheduleAttr, ReduceScheduleAttr>(*schedule),
       isAttention = kernel.isAttention();
  auto permute = dyn_cast<PermuteScheduleAttr>(*schedule);
  bool isTiles =
      isa<BoxScheduleAttr>(*schedule) || (permute && permute.getKind() == PermuteClass::Tiles);
  unsigned spaces = isRow || isTiles ? 2 : 1;
  LaunchAttr geometry = *kernel.getGeometry();
  if (geometry.getSpaces().size() != spaces)
    return kernel.emitOpError() << "has " << geometry.getSpaces().size()
                                << " lists of extents in its geometry, but its template takes "
                                << spaces;
  unsigned rank = 0;
  for (Attribute space : geometry.getSpaces()) {
    auto map = dyn_cast<AffineMapAttr>(space);
    if (!map || map.getValue().getNumDims() ||
        map.getValue().getNumSymbols() != kernel.getSymbols())
      return kernel.emitOpError() << "has a list of extents that is no map from its "
                                  << kernel.getSymbols() << " sizes";
    rank += map.getValue().getNumResults();
    for (AffineExpr expr : map.getValue().getResults().drop_front())
      if (!isAttention && !constantSize(expr) &&
          !llvm::is_contained(geometry.getDividers().getResults(), expr))
        return kernel.emitOpError() << "has a runtime extent behind the first that is no divider";
  }
  if (rank != kernel.getRank() * (isTiles ? 2 : 1) || rank == 0)
    return kernel.emitOpError() << "has " << rank << " extents in its geometry, but rank "
                                << kernel.getRank();
  static constexpr Phase rowPhases[] = {Phase::Prologue, Phase::Epilogue, Phase::Finish},
                         attentionPhases[] = {Phase::Prologue, Phase::Inside, Phase::Finish},
                         bodyPhases[] = {Phase::Body};
  for (Phase kind : isRow         ? ArrayRef<Phase>(rowPhases)
                    : isAttention ? ArrayRef<Phase>(attentionPhases)
                                  : ArrayRef<Phase>(bodyPhases))
    if (!kernel.getPhase(kind))
      return kernel.emitOpError() << "has no phase '" << stringifyPhase(kind) << "'";
  PhaseOp between = kernel.getPhase(Phase::Between);
  if (between && !between.getCollective())
    return between.emitOpError() << "names no collective";
  if (isRow && !kernel.getPhase(Phase::Prologue).getCollective())
    return kernel.getPhase(Phase::Prologue).emitOpError() << "names no collective";
  index = indexBitsOf(*schedule) == 64 ? "long long" : "int";
  return success();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Operand *SpecEmitter::find(bool isOutput, unsigned position, Access access) {
  for (Operand &operand : operands)
    if (operand.isOutput == isOutput && operand.position == position && operand.access == access)
      return &operand;
  return nullptr;
}

LogicalResult SpecEmitter::collectOperands() {
  // What the template reads and writes by itself, not through a phase.
  if (isa<PortableAttentionScheduleAttr, DecodeScheduleAttr>(*kernel.getSchedule())) {
    AttentionProblem problem = *AttentionProblem::of(kernel);
    for (unsigned i = 0; i < AttentionInput::Count; ++i)
      if (!kernel.getGeometry()->tileOf(false, i) && hasTensor(kernel.getInput(i).getSource()))
        operands.push_back({kernel.getInput(i), false, i, Access::Vector, {}});
    if (unsigned table = AttentionInput::Table; problem.pageSize)
      operands.push_back({kernel.getInput(table), false, table, Access::Splat, {}});
    if (problem.hasTiledResult)
      operands.push_back({kernel.getOutput(0), true, 0, Access::Vector, {}});
  }
  for (PhaseOp phase : kernel.getBody().getOps<PhaseOp>()) {
    auto collect = [&](ArrayRef<int64_t> positions, ArrayRef<int64_t> accesses, ArrayAttr views,
                       bool isOutput) -> LogicalResult {
      for (auto [position, number] : llvm::zip_equal(positions, accesses)) {
        std::optional<Access> access = symbolizeAccess(static_cast<uint32_t>(number));
        if (position < 0 || position >= static_cast<int64_t>(views.size()) || !access)
          return phase.emitOpError()
                 << "names operand " << position << " with access " << number << ", but there are "
                 << views.size() << (isOutput ? " outputs" : " inputs");
        auto view = cast<ViewAttr>(views[position]);
        if (isa<BoxScheduleAttr>(*kernel.getSchedule()) && !isOutput &&
            (*access == Access::Boxed) != (BoxProblem::of(kernel)->find(position) != nullptr))
          return phase.emitOpError() << "has access " << number << " to input " << position
                                     << ", which its schedule of boxes has not";
        if (elementName(view.getElement()).empty())
          return phase.emitOpError()
                 << "has an operand of type " << view.getElement() << ", which has no CUDA form";
        if (!find(isOutput, position, *access))
          operands.push_back({view, isOutput, static_cast<unsigned>(position), *access, {}});
      }
      return success();
    };
    ArrayRef<int64_t> accesses = phase.getAccess();
    size_t loads = phase.getLoads().size();
    if (failed(collect(phase.getLoads(), accesses.take_front(loads), kernel.getInputs(), false)) ||
        failed(collect(phase.getStores(), accesses.drop_front(loads), kernel.getOutputs(), true)))
      return failure();
  }
  llvm::stable_sort(operands, [](const Operand &a, const Operand &b) {
    return std::tie(a.isOutput, a.position) < std::tie(b.isOutput, b.position);
  });
  return success();
}

void SpecEmitter::nameOperands() {
  NameTable values, structs;
  values.reserve("element");
  for (PhaseOp phase : kernel.getBody().getOps<PhaseOp>())
    if (phase.getKind() != Phase::Body)
      for (const std::string &given : givenNames(phase))
        values.reserve(given);
  if (kernel.getPhase(Phase::Bounds))
    for (StringRef name : boundNames)
      values.reserve(name);
  if (kernel.getPhase(Phase::Agree))
    for (StringRef name : agreeNames)
      values.reserve(name);
  auto name = [&](unsigned count, StringRef fallback, bool isOutput) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < count; ++i) {
      std::string wanted;
      for (PhaseOp phase : kernel.getBody().getOps<PhaseOp>()) {
        ArrayRef<int64_t> list = isOutput ? phase.getStores() : phase.getLoads();
        const auto *it = llvm::find(list, static_cast<int64_t>(i));
        if (!wanted.empty() || it == list.end())
          continue;
        Block &body = phase.getBody().front();
        size_t fromEnd = list.end() - it;
        Value value = isOutput ? body.back().getOperand(body.back().getNumOperands() - fromEnd)
                               : body.getArgument(body.getNumArguments() - fromEnd);
        // An output that is passed through has no name of its own.
        if (isOutput && phase.getKind() == Phase::Query)
          wanted = "newQuery";
        else if (isOutput && phase.getKind() == Phase::KeyRow)
          wanted = "newKey";
        else if (isOutput && phase.getKind() == Phase::ValueRow)
          wanted = "newValue";
        else if (!isOutput || value.getDefiningOp())
          wanted = nameOf(value.getLoc());
      }
      if (isOutput && isRow(kernel.getOutput(i).getSource()))
        wanted = names.back() + "Row";
      if (wanted.empty())
        wanted = (fallback + Twine(i)).str();
      names.push_back(values.unique(valueCase(toIdentifier(wanted))));
    }
    return names;
  };
  if (kernel.isAttention())
    for (StringRef tile : tileNames)
      values.reserve(tile);
  bool isPaged = kernel.isAttention() && AttentionProblem::of(kernel)->pageSize;
  if (isPaged)
    values.reserve("table");
  inputNames = name(kernel.getInputs().size(), "input", false);
  outputNames = name(kernel.getOutputs().size(), "output", true);
  if (kernel.isAttention()) {
    std::copy_n(tileNames, AttentionInput::Count, inputNames.begin());
    if (isPaged)
      inputNames[AttentionInput::Table] = "table";
    if (AttentionProblem::of(kernel)->hasTiledResult)
      outputNames.front() = tileNames[AttentionInput::Count];
    structs.reserve("Element");
    structs.reserve("Result");
  }
  for (Operand &operand : operands)
    operand.structName = structs.unique(kernel.isAttention() && valueOf(operand) == "result"
                                            ? "Results" // beside the type of its elements
                                            : typeCase(valueOf(operand)));
}

/// How many blocks are launched, or 0 where sizes at run time say so.
int64_t SpecEmitter::knownBlocks() const {
  std::optional<int64_t> least;
  for (AffineExpr count : kernel.getGeometry()->getBlocks().getResults()) {
    std::optional<int64_t> known = constantSize(count);
    if (!known)
      return 0;
    least = std::min(least.value_or(*known), *known);
  }
  return *least;
}

/// Whether some iteration dimension comes to the same elements again.
bool SpecEmitter::isReused(ViewAttr view) const {
  LinearAccess access = *LinearAccess::of(view.getAccess());
  for (auto [dim, extent] : llvm::enumerate(kernel.getExtents().getResults()))
    if (access.isBroadcast(dim) && constantSize(extent) != 1)
      return true;
  return false;
}

/// "operand 2: tensor<?x768xf16>"
static std::string describe(KernelOp kernel, const Operand &operand) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (operand.view.getSource() == Source::Coordinate)
    return "a coordinate";
  if (isRow(operand.view.getSource()))
    return "rows of result " + std::to_string(kernel.getOutput(operand.position - 1).getTensor()) +
           ", the others as in operand " + std::to_string(operand.view.getTensor());
  if (operand.view.getSource() == Source::Shared)
    return "queries in shared memory";
  if (operand.view.getSource() == Source::Random)
    return "random bits of the stream of operand " + std::to_string(operand.view.getTensor());
  stream << (operand.isOutput ? "result " : "operand ") << operand.view.getTensor() << ": tensor<";
  for (AffineExpr extent : operand.view.getShape().getResults()) {
    if (std::optional<int64_t> constant = constantSize(extent))
      stream << *constant << "x";
    else
      stream << "?x";
  }
  stream << operand.view.getElement() << ">";
  return text;
}

/// The last argument of an input's type; none where it is the usual one.
std::string SpecEmitter::trafficOf(const Operand &operand) const {
  if (operand.isOutput)
    return "";
  if (kernel.getGeometry()->getOverlap())
    return ", swage::Traffic::Coherent";
  if (isReused(operand.view))
    return ", swage::Traffic::Reused";
  // A reduction has fewer results than elements.
  auto row = dyn_cast<RowScheduleAttr>(kernel.getScheduleAttr());
  bool scans =
      (row && row.getBypassL1()) ||
      (!kernel.writesRows() && llvm::all_of(kernel.getOutputs().getAsRange<ViewAttr>(),
                                            [&](ViewAttr view) { return isReused(view); }));
  return scans ? ", swage::Traffic::Scan" : "";
}

/// Where a box has an input in shared memory.
void SpecEmitter::emitPart(const Operand &operand) {
  auto boxes = cast<BoxScheduleAttr>(*kernel.getSchedule());
  BoxProblem problem = *BoxProblem::of(kernel);
  BoxLayout layout = BoxLayout::of(problem, boxes.getBox(), boxes.getSkewed());
  const BoxProblem::Input *input = problem.find(operand.position);
  const BoxPart &part = layout.parts[input - problem.inputs.begin()];
  numbers("Steps", part.steps);
  numbers("ReadOrder", input->readOrder);
  constant("kReadRun", part.readRun);
  flag("kReadAligned", part.readAligned);
  flag("kSkewed", boxes.getSkewed() && input == &problem.principal());
}

/// The operand that says which rows of an output are written.
const Operand &SpecEmitter::rowsOf(const Operand &operand) const {
  return *llvm::find_if(operands, [&](const Operand &other) {
    return other.isOutput && other.position == operand.position + 1;
  });
}

void SpecEmitter::emitOperand(const Operand &operand) {
  std::string base;
  if (operand.view.getSource() == Source::Memory || operand.view.getSource() == Source::Shared)
    base = fmt::format(
        "swage::{}{}<{}, {}{}>", operand.view.getSource() == Source::Shared ? "Shared" : "",
        operand.isOutput ? "Output" : "Input", elementName(operand.view.getElement()).str(),
        qualifiedName(operand.access), trafficOf(operand));
  else if (operand.view.getSource() == Source::Random)
    base = fmt::format("swage::Random<{}{}>", qualifiedName(operand.access),
                       kernel.getGeometry()->getOverlap() ? ", swage::Traffic::Coherent" : "");
  else if (isRow(operand.view.getSource()))
    base = operand.view.getSource() == Source::CircularRow ? "swage::CircularRow"
           : operand.view.getSource() == Source::PagedRow  ? "swage::PagedRow"
                                                           : "swage::Row";
  else
    base = fmt::format("swage::Coordinate<{}>", qualifiedName(operand.access));
  std::string head = "struct " + operand.structName;
  if (std::string line = fmt::format("{} : {} {{", head, base);
      line.size() + 2 <= SourceText::kColumns) {
    out.line(line, describe(kernel, operand));
  } else {
    out.comment(describe(kernel, operand));
    out.line(head);
    out.line("    : " + base + " {");
  }
  out.indent();
  if (!operand.isOutput && operand.access == Access::Boxed)
    emitPart(operand);
  AffineExpr offset = operand.view.getAccess().getResult(0);
  if (isRow(operand.view.getSource())) {
    out.function("static __device__ Index count(const Sizes &sizes)",
                 print(operand.view.getShape().getResult(0)));
    out.function("static __device__ Index step(const Sizes &sizes)", print(offset));
    if (operand.view.getSource() == Source::PagedRow) {
      out.function("static __device__ Index ofPage(const Sizes &sizes)",
                   print(operand.view.getShape().getResult(1)));
      out.function("static __device__ Index apart(const Sizes &sizes)",
                   print(operand.view.getShape().getResult(2)));
    }
  } else {
    if (operand.isOutput && kernel.getRowsOf(operand.position))
      out.line("using Rows = " + rowsOf(operand).structName + ";");
    out.function("static __device__ Index offset(const Coord &d, const Sizes &sizes)",
                 print(offset));
  }
  out.dedent();
  out.line("};");
}

//===----------------------------------------------------------------------===//
// Sizes and spaces
//===----------------------------------------------------------------------===//

/// Coordinates and sizes are of type Index, so every operation on them is too.
std::string SpecEmitter::print(AffineExpr expr, bool nested) const {
  auto literal = [&](int64_t value) {
    bool isLong = value > INT32_MAX || value < INT32_MIN;
    return std::to_string(value) + (isLong ? "ll" : "");
  };
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return literal(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return fmt::format("d[{}]", cast<AffineDimExpr>(expr).getPosition());
  case AffineExprKind::SymbolId:
    return fmt::format("sizes.s{}", cast<AffineSymbolExpr>(expr).getPosition());
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr left = binary.getLHS(), right = binary.getRHS();
  std::string text;
  if (expr.getKind() == AffineExprKind::Add) {
    text = print(left);
    // a + b * -4 reads better as a - b * 4.
    std::optional<int64_t> constant = constantSize(right);
    auto product = dyn_cast<AffineBinaryOpExpr>(right);
    std::optional<int64_t> factor = product && right.getKind() == AffineExprKind::Mul
                                        ? constantSize(product.getRHS())
                                        : std::nullopt;
    if (constant && *constant < 0 && *constant != INT64_MIN)
      text += " - " + literal(-*constant);
    else if (factor && *factor == -1)
      text += " - " + print(product.getLHS(), true);
    else if (factor && *factor < 0 && *factor != INT64_MIN)
      text += " - " + print(product.getLHS(), true) + " * " + literal(-*factor);
    else
      text += " + " + print(right);
    return nested ? "(" + text + ")" : text;
  }
  std::string a = print(left, true), b = print(right, true);
  // All of these bind alike and group from the left: only a product on the right needs brackets.
  if (isa<AffineBinaryOpExpr>(right) && right.getKind() != AffineExprKind::Add)
    b = "(" + b + ")";
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return a + " * " + b;
  case AffineExprKind::FloorDiv:
    return a + " / " + b;
  case AffineExprKind::Mod:
    return a + " % " + b;
  default: // sizes are not negative, so rounding up is rounding down of what is larger
    if (std::optional<int64_t> divisor = constantSize(right))
      return fmt::format("({} + {}) / {}", print(left), literal(*divisor - 1), b);
    return fmt::format("({} + {} - 1) / {}", print(left), b, b);
  }
}

std::string SpecEmitter::extent(AffineExpr expr, bool first) const {
  if (std::optional<int64_t> constant = constantSize(expr))
    return fmt::format("swage::Fixed<{}>{{}}", *constant);
  ArrayRef<AffineExpr> dividers = kernel.getGeometry()->getDividers().getResults();
  const auto *divider = llvm::find(dividers, expr);
  if (first || divider == dividers.end())
    return print(expr);
  return fmt::format("sizes.by{}", divider - dividers.begin());
}

void SpecEmitter::emitExtents(StringRef name, AffineMap space) {
  std::vector<std::string> extents;
  for (AffineExpr expr : space.getResults())
    extents.push_back(extent(expr, extents.empty()));
  std::string head = fmt::format("static __device__ auto {}(const Sizes &sizes)", name.str());
  std::string whole = fmt::format("swage::extents({})", llvm::join(extents, ", "));
  if (whole.size() + 12 <= SourceText::kColumns) // `    return ...;`
    return out.function(head, whole);
  out.line(head + " {");
  out.indent();
  out.list("return swage::extents(", extents, ");");
  out.dedent();
  out.line("}");
}

void SpecEmitter::emitSizes() {
  if (!hasSizes())
    return out.line("struct Sizes {};");
  out.line("struct Sizes {");
  out.indent();
  for (unsigned i = 0; i < kernel.getSymbols(); ++i)
    out.line("Index s" + Twine(i) + ";");
  for (unsigned i = 0; i < kernel.getGeometry()->getDividers().getNumResults(); ++i)
    out.line("swage::Divider<Index> by" + Twine(i) + ";");
  out.dedent();
  out.line("};");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

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

/// Whether nothing sees the elements of a softmax but rounded to 16 bits or fewer.
static bool isRounded(KernelOp kernel) {
  PhaseOp prologue = kernel.getPhase(Phase::Prologue), epilogue = kernel.getPhase(Phase::Epilogue);
  auto collective = *prologue.getCollective();
  if ((collective != Collective::Softmax && collective != Collective::LogSoftmax) || !epilogue ||
      kernel.getPhase(Phase::Between))
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
}

void SpecEmitter::emitConstants() {
  Attribute schedule = *kernel.getSchedule();
  int64_t threads = kernel.getGeometry()->getThreads();
  if (auto prologue = kernel.getPhase(Phase::Prologue)) {
    named("collective", qualifiedName(*prologue.getCollective()));
    if (auto row = dyn_cast<RowScheduleAttr>(schedule))
      named("rowClass", qualifiedName(row.getKind()));
    if (auto between = kernel.getPhase(Phase::Between)) {
      named("second", qualifiedName(*between.getCollective()));
      if (Type type = collectedType(between); type && type != collectedType(prologue))
        out.line("using SecondCompute = " + valueName(type) + ";");
    }
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
    constant("kTurned", layout.turned);
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
    if (kernel.getPhase(Phase::Prologue).getZeroRows())
      flag("kZeroRows");
    if (isRounded(kernel))
      flag("kRounded");
  } else if (auto attention = dyn_cast<AttentionScheduleAttr>(schedule)) {
    constant("kGroups", attention.getGroups());
    constant("kQuerySlots", attention.getQuerySlots());
    constant("kRun", attention.getRun());
    if (attention.getParts() > 1)
      constant("kParts", attention.getParts());
    flag("kEager", attention.getEager());
    flag("kDynamic", attention.getDynamic());
    emitAttention(attention);
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
    if (int64_t chunk = attention.getChunk()) {
      constant("kChunk", chunk / attention.getKeys());
      constant("kChunks", problem.mostChunks(attention));
    }
    emitAttention(attention);
    flag("kBoundsByBatch", doBoundsVary({AttentionDim::Batch}));
    flag("kBoundsByHead", doBoundsVary({AttentionDim::KeyHead, AttentionDim::Group}));
    flag("kBoundsByQuery", doBoundsVary({AttentionDim::Query}));
  } else {
    auto reduce = cast<ReduceScheduleAttr>(schedule);
    constant("kRowGroups", reduce.getRowGroups());
    constant("kVector", reduce.getVector());
    constant("kUnroll", reduce.getUnroll());
  }
}

/// The template's function and its lists of extents.
static std::tuple<StringRef, StringRef, ArrayRef<StringRef>> templateOf(KernelOp kernel) {
  Attribute schedule = *kernel.getSchedule();
  static const StringRef vectors[] = {"vectors"}, tiles[] = {"extents", "tiles"},
                         boxes[] = {"extents", "boxes"}, parts[] = {"kept", "reduced"},
                         whole[] = {"extents"};
  if (isa<AttentionScheduleAttr>(schedule))
    return {AttentionProblem::of(kernel)->isNarrow() ? "swage/attention_float8.cuh"
                                                     : "swage/attention_hopper.cuh",
            "attentionHopper", whole};
  if (isa<PortableAttentionScheduleAttr>(schedule))
    return {"swage/attention_portable.cuh", "attentionPortable", whole};
  if (isa<DecodeScheduleAttr>(schedule))
    return {"swage/attention_decode.cuh", "attentionDecode", whole};
  if (isa<RowScheduleAttr>(schedule))
    return {"swage/row.cuh", "row", parts};
  if (isa<ReduceScheduleAttr>(schedule))
    return {"swage/reduce.cuh", "reduce", parts};
  if (isa<BoxScheduleAttr>(schedule))
    return {"swage/permute_boxes.cuh", "permuteBoxes", boxes};
  auto permute = dyn_cast<PermuteScheduleAttr>(schedule);
  if (permute && permute.getKind() == PermuteClass::Tiles)
    return {"swage/permute.cuh", "permuteTiles", tiles};
  return {"swage/pointwise.cuh", "pointwise", vectors};
}

void SpecEmitter::emitSpaces() {
  ArrayRef<StringRef> names = std::get<2>(templateOf(kernel));
  for (auto [name, space] : llvm::zip_equal(names, kernel.getGeometry()->getSpaces()))
    emitExtents(name, cast<AffineMapAttr>(space).getValue());
  auto pointwise = dyn_cast<PointwiseScheduleAttr>(*kernel.getSchedule());
  if (pointwise && pointwise.getTail()) {
    AffineExpr rest = kernel.getExtents().getResults().back() % pointwise.getVector();
    out.function("static __device__ Index tail(const Sizes &sizes)", print(rest));
  }
  if (kernel.isAttention() && AttentionProblem::of(kernel)->pageSize) {
    for (auto [name, input] : {std::pair("keyPages", AttentionInput::Keys),
                               std::pair("valuePages", AttentionInput::Values)})
      if (!kernel.getGeometry()->tileOf(false, input)) // the copy engine knows
        out.function(fmt::format("static __device__ Index {}(const Sizes &sizes)", name),
                     print(kernel.getInput(input).getExtents().getResult(AttentionDim::Batch)));
  }
  out.line("using Coord = swage::Coord<Index, " + Twine(kernel.getRank()) + ">;");
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

void SpecEmitter::emitHeader() {
  // What was fused, by the lines it came from.
  llvm::MapVector<Attribute, std::vector<std::string>> ops;
  kernel.getLoc()->walk([&](Location loc) {
    if (isa<FileLineColLoc>(loc))
      ops[loc];
    return WalkResult::advance();
  });
  auto add = [&](Location loc, std::string name) {
    auto place = loc->findInstanceOf<FileLineColLoc>();
    if (auto *it = place ? ops.find(place) : ops.end(); it != ops.end())
      if (!llvm::is_contained(it->second, name))
        it->second.push_back(name);
  };
  for (PhaseOp phase : kernel.getBody().getOps<PhaseOp>()) {
    if (std::optional<Collective> collective = phase.getCollective())
      add(phase.getLoc(), kernel.isAttention()
                              ? AttentionOp::getOperationName().str()
                              : ("swage." + stringifyCollective(*collective)).str());
    for (Operation &op : phase.getBody().front().without_terminator())
      if (!op.hasTrait<OpTrait::ConstantLike>())
        add(op.getLoc(), op.getName().getStringRef().str());
  }
  std::vector<std::string> parts;
  for (const auto &[loc, names] : ops) {
    std::string place = fileAndLine(cast<LocationAttr>(loc));
    parts.push_back(names.empty() ? place : commentText(llvm::join(names, ", ")) + " at " + place);
  }
  std::string schedule;
  llvm::raw_string_ostream stream(schedule);
  kernel.getSchedule()->print(stream);

  out.comment("Generated by Swage; do not edit. Template: " + templateName);
  std::string symbol = "@" + commentText(kernel.getSymName());
  out.comment(parts.empty() ? symbol : symbol + ": " + llvm::join(parts, "; "));
  out.comment(commentText(schedule));
}

void SpecEmitter::emitEntry() {
  std::vector<std::string> parameters, structs, pointers;
  auto parameter = [&](ViewAttr view, StringRef name, StringRef qualifier) {
    if (!hasParameter(view.getSource()))
      return;
    StringRef element =
        view.getSource() == Source::Random ? "long long" : elementName(view.getElement());
    parameters.push_back((qualifier + element + " *" + name).str());
  };
  LaunchAttr geometry = *kernel.getGeometry();
  std::string leading; // what the template takes in front of pointers
  for (bool isOutput : {false, true}) {
    ArrayAttr views = isOutput ? kernel.getOutputs() : kernel.getInputs();
    for (auto [position, view] : llvm::enumerate(views.getAsRange<ViewAttr>())) {
      const std::string &name = (isOutput ? outputNames : inputNames)[position];
      if (!geometry.tileOf(isOutput, int64_t(position))) {
        parameter(view, name, isOutput ? "" : "const ");
        continue;
      }
      parameters.push_back("const __grid_constant__ swage::TensorMap " + name);
      leading += name + ", ";
    }
  }
  std::string trailing;
  if (geometry.getScratchBytes()) {
    parameters.push_back("void *scratch");
    trailing = ", scratch";
  }
  if (hasSizes())
    parameters.push_back("Spec::Sizes sizes");
  for (const Operand &operand : operands) {
    structs.push_back("Spec::" + operand.structName);
    pointers.push_back(hasParameter(operand.view.getSource()) ? valueOf(operand) : "{}");
  }
  auto row = dyn_cast<RowScheduleAttr>(*kernel.getSchedule());
  auto decode = dyn_cast<DecodeScheduleAttr>(*kernel.getSchedule());
  int64_t atOnce = row ? row.getResident() : decode ? decode.getBlocks() : 0;
  // Without a number ptxas aims for more blocks, and spills a few bytes for them, or ignores how
  // many registers warpgroups ask for.
  if ((isa<PortableAttentionScheduleAttr>(*kernel.getSchedule()) &&
       (AttentionProblem::of(kernel)->isWide() || kernel.getPhase(Phase::Agree))) ||
      (isa<AttentionScheduleAttr>(*kernel.getSchedule()) && kernel.getPhase(Phase::Weight)))
    atOnce = 1;
  std::string resident = atOnce ? fmt::format(", {}", atOnce) : "";
  out.line("extern \"C\" __global__ void __launch_bounds__(Spec::kThreads" + resident + ")");
  out.list(fmt::format("    {}(", kernel.getSymName().str()), parameters, ") {");
  out.indent();
  if (kernel.getGeometry()->getOverlap()) {
    out.line("swage::waitForPriorGrids();");
    out.line("swage::allowDependentGrids();");
  }
  out.list("using Pointers = swage::Bind<", structs, ">;");
  std::string last = trailing + (hasSizes() ? ", sizes);" : ", Spec::Sizes{});");
  if (leading.empty())
    out.list(fmt::format("swage::{}<Spec>(Pointers{{", functionName), pointers, "}" + last);
  else {
    out.list("const Pointers pointers{", pointers, "};");
    out.line(fmt::format("swage::{}<Spec>({}pointers{}", functionName, leading, last));
  }
  out.dedent();
  out.line("}");
}

/// Whether an 8-bit float is stored, or rounded to.
static bool holdsFloat8(KernelOp kernel) {
  auto isFloat8 = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
  };
  for (ArrayAttr views : {kernel.getInputs(), kernel.getOutputs()})
    for (ViewAttr view : views.getAsRange<ViewAttr>())
      if (isFloat8(view.getElement()))
        return true;
  return kernel
      .walk([&](arith::TruncFOp op) {
        return isFloat8(op.getType()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult SpecEmitter::emit() {
  if (failed(check()) || failed(collectOperands()))
    return failure();
  nameOperands();
  auto [header, function, lists] = templateOf(kernel);
  templateName = header.str();
  functionName = function.str();
  emitHeader();
  out.line("#include \"" + templateName + "\"");
  size_t includes = out.mark();
  out.line("namespace {");
  out.line("struct Spec {");
  out.indent();
  out.line("using Index = " + index + ";");
  if (PhaseOp prologue = kernel.getPhase(Phase::Prologue)) {
    if (!collectedType(prologue))
      return prologue.emitOpError() << "yields nothing for the collective";
    out.line("using Compute = " + valueName(collectedType(prologue)) + ";");
  }
  emitConstants();
  emitSizes();
  emitSpaces();
  out.blank();
  // An output's rows come in front of it.
  for (const Operand &operand : operands) {
    if (operand.isOutput && isRow(operand.view.getSource()))
      continue;
    if (operand.isOutput && kernel.getRowsOf(operand.position))
      emitOperand(rowsOf(operand));
    emitOperand(operand);
  }
  if (auto row = dyn_cast<RowScheduleAttr>(*kernel.getSchedule()); row && row.getAligned()) {
    std::optional<OperandRef> aligned = alignedOperand(kernel);
    const Operand *operand = nullptr;
    for (Access access : {Access::Aligned, Access::Staged})
      if (aligned && !operand)
        operand = find(aligned->isOutput, aligned->position, access);
    if (!operand)
      return kernel.emitOpError() << "has an aligned schedule, but no phase has an aligned operand";
    out.line("using Aligned = " + operand->structName + ";");
  }
  if (isa<BoxScheduleAttr>(*kernel.getSchedule())) {
    unsigned position = BoxProblem::of(kernel)->principal().position;
    const Operand *operand = find(false, position, Access::Boxed);
    if (!operand)
      return kernel.emitOpError() << "has a schedule of boxes, but no phase has input " << position
                                  << " in them";
    out.line("using Principal = " + operand->structName + ";");
  }
  out.blank();
  for (PhaseOp phase : kernel.getBody().getOps<PhaseOp>())
    if (failed(emitPhase(phase.getKind())))
      return failure();
  out.dedent();
  out.line("};");
  out.line("} // namespace");
  emitEntry();
  if (needsMath)
    out.insertLine(includes, "#include \"swage/math.cuh\"");
  if (PhaseOp prologue = kernel.getPhase(Phase::Prologue);
      prologue && *prologue.getCollective() == Collective::LogSoftmax)
    out.insertLine(includes, "#include \"swage/log_softmax.cuh\"");
  if (llvm::any_of(kernel.getInputs().getAsRange<ViewAttr>(),
                   [](ViewAttr view) { return view.getSource() != Source::Memory; }))
    out.insertLine(includes, "#include \"swage/computed.cuh\"");
  if (kernel.writesRows())
    out.insertLine(includes, "#include \"swage/rows.cuh\"");
  if (kernel.getGeometry()->getOverlap())
    out.insertLine(includes, "#include \"swage/device/launch_control.cuh\"");
  if (holdsFloat8(kernel))
    out.insertLine(includes, "#include \"swage/float8.cuh\"");
  return success();
}
