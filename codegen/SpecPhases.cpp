//===- SpecPhases.cpp - A phase as a scalar function of a Spec ------------===//

#include "ExpressionEmitter.h"
#include "SpecEmitter.h"
#include "TypeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

using namespace mlir;
using namespace swage;
using namespace swage::codegen;

std::vector<std::string> SpecEmitter::givenNames(PhaseOp phase) const {
  Phase kind = phase.getKind();
  std::vector<std::string> given;
  if (kind == Phase::Between || kind == Phase::Epilogue)
    given.push_back("element");
  if (kernel.isAttention() && (kind == Phase::Prologue || kind == Phase::Inside ||
                               kind == Phase::Alike || isExponent(kind)))
    given.push_back("score");
  if (isExponent(kind))
    given.push_back("base");
  if (kind == Phase::Weight)
    given.push_back("weight");
  if (kind == Phase::Probability)
    given.push_back("probability");
  NameTable names;
  if (phase.getStatistics() || kind == Phase::Finish || kind == Phase::GroupFinish)
    for (PhaseOp of : phase.getPhasesBehind())
      for (StringRef name : statisticNames(*of.getCollective()))
        given.push_back(names.unique(name));
  return given;
}

/// A further collective, with what is between it and the one before.
LogicalResult SpecEmitter::emitLater(PhaseOp phase, StringRef name) {
  out.line("struct " + name.str() + " {");
  out.indent();
  emitLaterConstants(phase);
  if (failed(emitPhase(phase)))
    return failure();
  out.dedent();
  out.line("};");
  return success();
}

LogicalResult SpecEmitter::emitPhase(PhaseOp phase) {
  Phase kind = phase.getKind();
  Block &body = phase.getBody().front();
  auto yield = dyn_cast<YieldOp>(body.back());
  bool isBounds = kind == Phase::Bounds, isPair = isBounds || kind == Phase::Agree,
       returns = kind == Phase::Prologue || kind == Phase::Between ||
                 (kind == Phase::Epilogue && kernel.isAttention()) ||
                 (kind >= Phase::Inside && kind < Phase::Probability && !isPair);
  ArrayRef<StringRef> pairNames = isBounds ? ArrayRef<StringRef>(boundNames)
                                  : isPair ? ArrayRef<StringRef>(agreeNames)
                                           : ArrayRef<StringRef>();
  size_t taken = isPair ? 2 : returns ? 1 : 0;
  std::vector<std::string> given;
  if (kind != Phase::Body)
    given = givenNames(phase);
  size_t loads = phase.getLoads().size(), stores = phase.getStores().size();
  if (body.getNumArguments() != given.size() + loads)
    return phase.emitOpError() << "has " << body.getNumArguments() << " arguments, but takes "
                               << given.size() + loads;
  if (!yield || yield.getValues().size() != stores + taken)
    return phase.emitOpError() << "yields " << (yield ? yield.getValues().size() : 0)
                               << " values, but gives " << stores + taken;

  static constexpr const char *prefixes[] = {
      "",       "Prologue",    "Epilogue", "Finish", "",       "GroupFinish", "Bounds",
      "Inside", "Agree",       "Alike",    "Sink",   "Offset", "Exponent",    "NearExponent",
      "Weight", "Probability", "Query",    "Place",  "KeyRow", "ValueRow"};
  StringRef prefix = prefixes[static_cast<unsigned>(kind)];
  std::vector<std::string> loadNames, storeNames, parameters, rowParameters;
  NameTable names;
  for (const std::string &name : inputNames)
    names.reserve(name);
  for (const std::string &name : outputNames)
    names.reserve(name);
  for (StringRef name : pairNames)
    names.reserve(name);
  ExpressionEmitter scalar(names);
  for (const auto &[name, argument] : llvm::zip_first(given, body.getArguments())) {
    names.reserve(name);
    scalar.bind(argument, name);
    bool isRow = phase.getStatistics() && argument.getArgNumber() > 0;
    if (isRow)
      scalar.share(argument);
    (isRow ? rowParameters : parameters)
        .push_back(fmt::format("{} {}", valueName(argument.getType()).str(), name));
  }
  ArrayRef<int64_t> accesses = phase.getAccess();
  for (auto [i, position] : llvm::enumerate(phase.getLoads())) {
    Operand &operand = *find(false, position, static_cast<Access>(accesses[i]));
    BlockArgument argument = body.getArgument(given.size() + i);
    StringRef type = valueName(operand.view.getElement());
    if (type != valueName(argument.getType()))
      return phase.emitOpError() << "takes " << argument.getType() << " from input " << position
                                 << ", which holds " << operand.view.getElement();
    scalar.bind(argument, valueOf(operand));
    loadNames.push_back(operand.structName);
    parameters.push_back(fmt::format("{} {}", type.str(), valueOf(operand)));
  }
  for (auto [i, position] : llvm::enumerate(phase.getStores())) {
    Operand &operand = *find(true, position, static_cast<Access>(accesses[loads + i]));
    Type given = yield.getValues()[taken + i].getType();
    StringRef type = valueName(operand.view.getElement());
    if (type != valueName(given))
      return phase.emitOpError() << "gives " << given << " to output " << position
                                 << ", which holds " << operand.view.getElement();
    storeNames.push_back(operand.structName);
    parameters.push_back(fmt::format("{} &{}", type.str(), valueOf(operand)));
  }
  out.list("using " + prefix.str() + "Loads = swage::List<", loadNames, ">;");
  if (!isBounds)
    out.list("using " + prefix.str() + "Stores = swage::List<", storeNames, ">;");
  if (storeNames.empty() && taken == 0)
    return success();
  for (StringRef name : pairNames)
    parameters.push_back(("long long &" + name).str());

  if (failed(scalar.emit(body)))
    return failure();
  if (phase.getStatistics())
    flag("k" + prefix + "Statistics");
  static constexpr const char *functions[] = {
      "body",   "prologue",    "epilogue", "finish", "between", "groupFinish", "bounds",
      "inside", "agree",       "alike",    "sink",   "offset",  "exponent",    "nearExponent",
      "weight", "probability", "query",    "place",  "keyRow",  "valueRow"};
  const char *type = "void", *function = functions[static_cast<unsigned>(kind)];
  if (returns)
    type = "Compute";
  auto printStatements = [&](bool shared) {
    for (const Statement &statement : scalar.getStatements())
      if (statement.isShared == shared)
        out.line(statement.text, fileAndLine(statement.loc));
  };
  if (phase.getStatistics()) {
    out.list(fmt::format("static __device__ auto {}(", function), rowParameters, ") {");
    out.indent();
    printStatements(true);
    out.list("return [=](", parameters, returns ? fmt::format(") -> {} {{", type) : ") {");
  } else {
    out.list(fmt::format("static __device__ {} {}(", type, function), parameters, ") {");
  }
  out.indent();
  for (const Statement &statement : scalar.getStatements())
    needsMath |= callsMath(statement.text);
  for (Value value : yield.getValues())
    needsMath |= callsMath(scalar.textOf(value));
  printStatements(false);
  auto place = [](Value value) {
    Operation *op = value.getDefiningOp();
    return op ? fileAndLine(op->getLoc()) : std::string();
  };
  for (auto [i, position] : llvm::enumerate(phase.getStores())) {
    Value value = yield.getValues()[taken + i];
    out.line(outputNames[position] + " = " + scalar.textOf(value) + ";", place(value));
  }
  if (returns) {
    Value value = yield.getValues()[0];
    out.line("return " + scalar.textOf(value) + ";", place(value));
  }
  if (isPair)
    for (auto [name, value] : llvm::zip_equal(pairNames, yield.getValues()))
      out.line(name + " = " + scalar.textOf(value) + ";", place(value));
  if (phase.getStatistics()) {
    out.dedent();
    out.line("};");
  }
  out.dedent();
  out.line("}");
  return success();
}
