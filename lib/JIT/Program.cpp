//===- Program.cpp - Text to a verified module ----------------------------===//
//
// Text is data from anywhere: it goes through the guard before MLIR's parser sees it, and nothing
// it contains may end the process.
//
//===----------------------------------------------------------------------===//
#include "JitSource.h"
#include "swage/JIT/ProgramIR.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "swage/Dialect/Swage/Analysis/KernelAnalysis.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Runtime/Trace.h"
#include "swage/Support/Text.h"
#include "swage/Support/TextGuard.h"

#include <fmt/format.h>

using namespace swage;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

template <class T> static std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

Expected<TensorType> swage::tensorTypeOf(mlir::Type type, const std::string &what) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  mlir::Type element = tensor ? tensor.getElementType() : mlir::Type();
  bool known = element && (element.isF16() || element.isBF16() || element.isF32() ||
                           mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(element) ||
                           element.isF64() || element.isInteger(1) || element.isInteger(8) ||
                           element.isInteger(32) || element.isInteger(64));
  if (!known)
    return makeError(Stage::Verify,
                     fmt::format("{} has type {}; needed: a ranked tensor of f16, bf16, f32, f64, "
                                 "f8E4M3FN, f8E5M2, i1, i8, i32 or i64",
                                 what, print(type)));
  TensorType result;
  result.element = print(element);
  result.elementBytes = elementBytes(element);
  for (int64_t extent : tensor.getShape())
    result.shape.push_back(mlir::ShapedType::isDynamic(extent) ? TensorType::kDynamic : extent);
  return result;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

std::string swage::describeLocation(mlir::Location location) {
  std::string text;
  location->walk([&](mlir::Location inner) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
    if (!file)
      return mlir::WalkResult::advance();
    text = fmt::format("{}:{}:{}", printable(file.getFilename().str()), file.getLine(),
                       file.getColumn());
    return mlir::WalkResult::interrupt();
  });
  return text;
}

/// As it may be shown: names in a graph are anybody's, and may hold escapes for a terminal.
static std::string describe(const mlir::Diagnostic &diagnostic) {
  std::string place = describeLocation(diagnostic.getLocation());
  std::string text = (place.empty() ? "" : place + ": ") + diagnostic.str(), shown;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    shown += (at ? "\n" : "") + printable(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return shown;
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext &context)
    : handler(&context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) {
          remarks.push_back(describe(diagnostic));
          return mlir::success();
        }
        errors += (errors.empty() ? "" : "\n") + describe(diagnostic);
        // The op that a note prints may be huge; its place says enough.
        for (const mlir::Diagnostic &note : diagnostic.getNotes())
          if (std::string text = describe(note); text.size() < 500)
            errors += "\n  " + text;
        return mlir::success();
      }) {}

Error DiagnosticCollector::take(Stage stage, const std::string &otherwise) const {
  return makeError(stage, errors.empty() ? printable(otherwise) : errors);
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// Kernels take no constants but splats, so that small ones matter only where arithmetic on them
/// folds to one; with large ones that arithmetic alone could take all time and memory.
static Status checkConstants(mlir::func::FuncOp entry) {
  constexpr int64_t kLargest = 4096;
  Status status;
  entry.walk([&](mlir::arith::ConstantOp op) {
    auto elements = mlir::dyn_cast<mlir::ElementsAttr>(op.getValue());
    if (!elements || elements.isSplat() || elements.getNumElements() <= kLargest)
      return mlir::WalkResult::advance();
    status = makeError(
        Stage::Verify,
        fmt::format("{}: a constant that is no splat has {} elements, but may have {}; pass such a "
                    "tensor as an argument",
                    describeLocation(op.getLoc()), elements.getNumElements(), kLargest));
    return mlir::WalkResult::interrupt();
  });
  return status;
}

static Expected<std::shared_ptr<ProgramIR>> parseIR(std::string_view text,
                                                    const ParseOptions &options) {
  if (Status guarded = guardText(text, options.filename); !guarded)
    return guarded.takeError();
  auto state = std::make_shared<ProgramIR>();
  state->context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                             mlir::math::MathDialect, mlir::tensor::TensorDialect, SwageDialect>();
  state->entryName = options.entry;
  state->filename = options.filename;
  state->text = text;
  DiagnosticCollector diagnostics(state->context);
  mlir::ParserConfig config(&state->context, /*verifyAfterParse=*/false);
  // MLIR's lexer looks for a NUL behind the text, which a view need not have.
  state->module = mlir::parseSourceString<mlir::ModuleOp>(state->text, config, options.filename);
  if (!state->module)
    return diagnostics.take(Stage::Parse, options.filename + ": cannot be parsed");
  if (mlir::failed(mlir::verify(*state->module)))
    return diagnostics.take(Stage::Verify, options.filename + ": is not valid");

  std::vector<std::string> names;
  for (auto function : state->module->getOps<mlir::func::FuncOp>()) {
    names.push_back(function.getName().str());
    if (names.back() == options.entry)
      state->entry = function;
  }
  if (!state->entry) {
    std::string message = fmt::format("{}: there is no function @{}", printable(options.filename),
                                      printable(options.entry));
    message += names.empty() ? "; the module has no functions"
                             : "; the module has @" + printable(join(names, ", @"));
    return makeError(Stage::Input, message);
  }
  auto place = describeLocation(state->entry.getLoc());
  if (state->entry.isDeclaration())
    return makeError(Stage::Verify,
                     fmt::format("{}: function @{} has no body", place, printable(options.entry)));
  if (Status small = checkConstants(state->entry); !small)
    return small.takeError();
  // Whatever else a module holds: only the entry function and its kernels are compiled.
  for (auto [index, type] : llvm::enumerate(state->entry.getArgumentTypes())) {
    auto tensor = tensorTypeOf(
        type, fmt::format("{}: argument {} of @{}", place, index, printable(options.entry)));
    if (!tensor)
      return tensor.takeError();
    state->inputs.push_back(std::move(*tensor));
  }
  for (auto [index, type] : llvm::enumerate(state->entry.getResultTypes())) {
    auto tensor = tensorTypeOf(
        type, fmt::format("{}: result {} of @{}", place, index, printable(options.entry)));
    if (!tensor)
      return tensor.takeError();
    state->results.push_back(std::move(*tensor));
  }
  return state;
}

Expected<Program> Program::parse(std::string_view text, const ParseOptions &options,
                                 const Context &context) {
  if (Status own = context.checkProcess(); !own)
    return own.takeError();
  TraceSpan span(context, TraceEvent::Kind::Parse, options.entry, options.filename);
  auto state = parseIR(text, options);
  if (!state) {
    span.cancel();
    return state.takeError();
  }
  ProgramIR &ir = **state;
  return create(ir.entryName, ir.inputs, ir.results, compilerSource(*state, context), context);
}
