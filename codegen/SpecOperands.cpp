//===- SpecOperands.cpp - Views as operands of a Spec ---------------------===//

#include "SpecEmitter.h"
#include "TypeNames.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Dialect/Swage/IR/BoxLayout.h"
#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "swage/Dialect/Swage/IR/TileProblem.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace swage;
using namespace swage::codegen;

Operand *SpecEmitter::find(bool isOutput, unsigned position, Access access) {
  for (Operand &operand : operands)
    if (operand.isOutput == isOutput && operand.position == position && operand.access == access)
      return &operand;
  return nullptr;
}

/// An operand's element in memory: of outputs that no number is too large for, the one that stops
/// at its largest number, which takes fewer instructions.
StringRef SpecEmitter::elementOf(ViewAttr view, bool isOutput, unsigned position) {
  bool isBounded =
      isOutput && llvm::any_of(kernel.getBody().getOps<PhaseOp>(), [&](PhaseOp phase) {
        return phase.getBounded() && llvm::is_contained(*phase.getBounded(), int64_t(position));
      });
  if (isBounded && isa<Float8E4M3FNType>(view.getElement()))
    return "swage::e4m3";
  if (isBounded && isa<Float8E5M2Type>(view.getElement()))
    return "swage::e5m2";
  return elementName(view.getElement());
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
        auto attention = dyn_cast<AttentionScheduleAttr>(*kernel.getSchedule());
        if (*access == Access::Tiled &&
            (isOutput || !attention || attention.getScoreStages() == 0 ||
             !AttentionProblem::of(kernel)->scoreTileOf(unsigned(position))))
          return phase.emitOpError() << "has access " << number << " to operand " << position
                                     << ", which its schedule does not stage";
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

/// Where attention has what scores read for each query and key in shared memory.
void SpecEmitter::emitScoreTile(const Operand &operand) {
  AttentionProblem problem = *AttentionProblem::of(kernel);
  auto schedule = cast<AttentionScheduleAttr>(*kernel.getSchedule());
  const ScoreTile *tile = problem.scoreTileOf(operand.position);
  constant("kTileAt", problem.scoreTileAt(schedule, operand.position));
  constant("kTileRow", tile->rowBytes(schedule.getKeys()));
  constant("kAlign", tile->align);
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
    base = fmt::format("swage::{}{}<{}, {}{}>",
                       operand.view.getSource() == Source::Shared ? "Shared" : "",
                       operand.isOutput ? "Output" : "Input",
                       elementOf(operand.view, operand.isOutput, operand.position).str(),
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
  if (operand.access == Access::Tiled)
    emitScoreTile(operand);
  AffineExpr offset = operand.view.getAccess().getResult(0);
  if (auto permute = dyn_cast<PermuteScheduleAttr>(*kernel.getSchedule()))
    offset = TileProblem::of(kernel, unsigned(permute.getTransposed()), permute.getMerged())
                 .offset(operand.view);
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
