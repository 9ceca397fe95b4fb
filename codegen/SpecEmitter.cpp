//===- SpecEmitter.cpp - A prepared kernel as a Spec ----------------------===//

#include "SpecEmitter.h"
#include "TypeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
  unsigned wanted = kernel.getRank() - unsigned(mergedDims() - 1);
  if (rank != wanted * (isTiles ? 2 : 1) || rank == 0)
    return kernel.emitOpError() << "has " << rank << " extents in its geometry, but rank "
                                << wanted;
  static constexpr Phase rowPhases[] = {Phase::Prologue, Phase::Epilogue, Phase::Finish},
                         attentionPhases[] = {Phase::Prologue, Phase::Inside, Phase::Finish},
                         bodyPhases[] = {Phase::Body};
  for (Phase kind : isRow         ? ArrayRef<Phase>(rowPhases)
                    : isAttention ? ArrayRef<Phase>(attentionPhases)
                                  : ArrayRef<Phase>(bodyPhases))
    if (!kernel.getPhase(kind))
      return kernel.emitOpError() << "has no phase '" << stringifyPhase(kind) << "'";
  for (PhaseOp between : kernel.getBetweenPhases())
    if (!between.getCollective())
      return between.emitOpError() << "names no collective";
  if (isRow && !kernel.getPhase(Phase::Prologue).getCollective())
    return kernel.getPhase(Phase::Prologue).emitOpError() << "names no collective";
  index = indexBitsOf(*schedule) == 64 ? "long long" : "int";
  return success();
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
  auto pointwise = dyn_cast<PointwiseScheduleAttr>(schedule);
  return {"swage/pointwise.cuh", "pointwise",
          pointwise && pointwise.getTail() ? ArrayRef(whole) : ArrayRef(vectors)};
}

/// How many of the last dimensions are one coordinate.
int64_t SpecEmitter::mergedDims() const {
  auto permute = dyn_cast<PermuteScheduleAttr>(*kernel.getSchedule());
  return permute ? permute.getMerged() : 1;
}

void SpecEmitter::emitSpaces() {
  ArrayRef<StringRef> names = std::get<2>(templateOf(kernel));
  for (auto [name, space] : llvm::zip_equal(names, kernel.getGeometry()->getSpaces()))
    emitExtents(name, cast<AffineMapAttr>(space).getValue());
  if (kernel.isAttention() && AttentionProblem::of(kernel)->pageSize) {
    for (auto [name, input] : {std::pair("keyPages", AttentionInput::Keys),
                               std::pair("valuePages", AttentionInput::Values)})
      if (!kernel.getGeometry()->tileOf(false, input)) // the copy engine knows
        out.function(fmt::format("static __device__ Index {}(const Sizes &sizes)", name),
                     print(kernel.getInput(input).getExtents().getResult(AttentionDim::Batch)));
  }
  if (int64_t merged = mergedDims(); merged > 1) {
    auto inner = kernel.getExtents().getResults().take_back(size_t(merged));
    std::vector<std::string> texts;
    for (AffineExpr extent : inner)
      texts.push_back(print(extent));
    out.line("// The last coordinate counts through " + llvm::join(texts, " x ") + ".");
  }
  out.line("using Coord = swage::Coord<Index, " + Twine(kernel.getRank() - mergedDims() + 1) +
           ">;");
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
  auto parameter = [&](ViewAttr view, bool isOutput, unsigned position, StringRef name) {
    if (!hasParameter(view.getSource()))
      return;
    StringRef qualifier = isOutput ? "" : "const ";
    StringRef element =
        view.getSource() == Source::Random ? "long long" : elementOf(view, isOutput, position);
    parameters.push_back((qualifier + element + " *" + name).str());
  };
  LaunchAttr geometry = *kernel.getGeometry();
  std::string leading; // what the template takes in front of pointers
  for (bool isOutput : {false, true}) {
    ArrayAttr views = isOutput ? kernel.getOutputs() : kernel.getInputs();
    for (auto [position, view] : llvm::enumerate(views.getAsRange<ViewAttr>())) {
      const std::string &name = (isOutput ? outputNames : inputNames)[position];
      if (!geometry.tileOf(isOutput, int64_t(position))) {
        parameter(view, isOutput, unsigned(position), name);
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
  } else if (isa<DecodeScheduleAttr>(*kernel.getSchedule())) {
    trailing = ", nullptr"; // the blocks of clusters merge without any
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
  // many registers warpgroups ask for; what spills is compiled twice. Of heads longer than 128 some
  // spill with the number, and not without.
  if (std::optional<AttentionProblem> problem = AttentionProblem::of(kernel)) {
    bool isLong = std::max(problem->headDim, problem->valueDim) > 128;
    bool isOne = isa<AttentionScheduleAttr>(*kernel.getSchedule())
                     ? !isLong || kernel.getPhase(Phase::Weight)
                     : isa<PortableAttentionScheduleAttr>(*kernel.getSchedule()) &&
                           (problem->isWide() || kernel.getPhase(Phase::Agree));
    if (isOne)
      atOnce = 1;
  }
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

/// The widths of a kernel's matrix instructions; others are not compiled.
static std::string matrixShapes(AttentionScheduleAttr schedule, const AttentionProblem &problem) {
  // Of 8 bits sums of weights have eight columns (AttentionLayout).
  int64_t columns = problem.valueDim + (problem.isNarrow() ? 8 : 0);
  std::string text =
      fmt::format("#define SWAGE_WGMMA_SHAPES(X) SWAGE_WGMMA_N{}(X)", schedule.getKeys());
  if (columns != schedule.getKeys())
    text += fmt::format(" SWAGE_WGMMA_N{}(X)", columns);
  return text;
}

LogicalResult SpecEmitter::emit() {
  if (failed(check()) || failed(collectOperands()))
    return failure();
  nameOperands();
  auto [header, function, lists] = templateOf(kernel);
  templateName = header.str();
  functionName = function.str();
  emitHeader();
  if (auto schedule = dyn_cast<AttentionScheduleAttr>(*kernel.getSchedule()))
    out.line(matrixShapes(schedule, *AttentionProblem::of(kernel)));
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
  std::vector<std::string> tiles;
  for (const Operand &operand : operands)
    if (operand.access == Access::Tiled)
      tiles.push_back(operand.structName);
  if (!tiles.empty())
    out.list("using ScoreTiles = swage::List<", tiles, ">;");
  out.blank();
  size_t betweens = kernel.getBetweenPhases().size();
  std::vector<std::string> later;
  for (PhaseOp phase : kernel.getBody().getOps<PhaseOp>()) {
    if (phase.getKind() != Phase::Between) {
      if (failed(emitPhase(phase)))
        return failure();
      continue;
    }
    static constexpr const char *names[kMaxCollectives - 1] = {"Second", "Third", "Fourth"};
    later.push_back(names[later.size()]);
    if (failed(emitLater(phase, later.back())))
      return failure();
    if (later.size() == betweens)
      out.list("using Later = swage::List<", later, ">;");
  }
  out.dedent();
  out.line("};");
  out.line("} // namespace");
  emitEntry();
  if (needsMath)
    out.insertLine(includes, "#include \"swage/math.cuh\"");
  if (llvm::any_of(kernel.getBody().getOps<PhaseOp>(),
                   [](PhaseOp phase) { return phase.getCollective() == Collective::LogSoftmax; }))
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
