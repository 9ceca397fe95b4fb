//===- GraphBuilder.cpp - Graphs from C++ ---------------------------------===//
//
// Ops become lines of text, so that there is one way into the compiler and one verifier; only what
// the text itself needs is checked here, and what would have no place to point at.
//
//===----------------------------------------------------------------------===//
#include "swage/JIT/GraphBuilder.h"

#include "swage/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace swage;

static std::string typeText(const TensorType &type) { return "tensor<" + type.str() + ">"; }
static std::string name(GraphValue value) { return fmt::format("%v{}", value.number); }

static std::string list(const Dims &dims) {
  std::vector<std::string> texts;
  for (int64_t dim : dims)
    texts.push_back(std::to_string(dim));
  return "[" + join(texts, ", ") + "]";
}

static TensorType makeType(ElementType element, Dims shape) {
  return {elementName(element), elementBytes(element), std::move(shape)};
}

static ElementType elementOf(const TensorType &type) {
  return elementNamed(type.element).value_or(ElementType::F32);
}

static bool isFloat(const TensorType &type) { return elementOf(type) >= ElementType::F16; }

//===----------------------------------------------------------------------===//
// Bookkeeping
//===----------------------------------------------------------------------===//

GraphBuilder::GraphBuilder(std::string entry) : entry(std::move(entry)) {}

GraphValue GraphBuilder::fail(const std::string &message) {
  if (failure)
    failure = makeError(Stage::Verify, fmt::format("op {} ({}): {}", opNumber, opName, message));
  return {};
}

bool GraphBuilder::begin(const char *op, std::initializer_list<GraphValue> operands) {
  ++opNumber;
  opName = op;
  for (GraphValue operand : operands)
    if (operand.number == 0 || operand.number > types.size())
      return bool(fail(operand.number == 0 ? "an operand is no value"
                                           : "an operand is of another builder"));
  return bool(failure);
}

GraphValue GraphBuilder::define(TensorType type, const std::string &op) {
  types.push_back(std::move(type));
  GraphValue value{unsigned(types.size())};
  body += fmt::format("  {} = {} loc(\"op {} ({})\":{}:1)\n", name(value), op, opNumber, opName,
                      opNumber);
  return value;
}

bool GraphBuilder::checkFloat(GraphValue x) {
  if (isFloat(type(x)))
    return true;
  return bool(fail(fmt::format("the operand is {}; needed: floats", type(x).str())));
}

bool GraphBuilder::checkSameType(GraphValue a, GraphValue b) {
  if (type(a).str() == type(b).str())
    return true;
  return bool(fail(
      fmt::format("the operands are {} and {}; needed: one type", type(a).str(), type(b).str())));
}

bool GraphBuilder::checkAxis(GraphValue x, int64_t axis) {
  if (axis >= 0 && axis < int64_t(type(x).shape.size()))
    return true;
  return bool(fail(fmt::format("axis {} of {}; needed: less than {}", axis, type(x).str(),
                               type(x).shape.size())));
}

bool GraphBuilder::checkDistinct(const Dims &dims, size_t below) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < 0 || size_t(dims[i]) >= below ||
        std::find(dims.begin(), dims.begin() + long(i), dims[i]) != dims.begin() + long(i))
      return bool(fail(
          fmt::format("dimensions {}; needed: different ones less than {}", list(dims), below)));
  return true;
}

/// " sizes(%d1, %d2)" for dynamic extents that are those of some tensor; empty where the op finds
/// all of them by itself.
std::string GraphBuilder::sizesOf(const Extents &shape, bool &ok) {
  std::vector<std::string> sizes;
  size_t dynamic = 0;
  for (const Extent &extent : shape) {
    ok &= extent.size >= 0 || extent.size == TensorType::kDynamic;
    if (extent.size != TensorType::kDynamic)
      continue;
    ++dynamic;
    if (!extent.of)
      continue;
    if (extent.of.number > types.size() || extent.dim >= type(extent.of).shape.size()) {
      ok = bool(fail("an extent is of no dimension of a value"));
      return {};
    }
    std::string size = fmt::format("%d{}_{}", opNumber, sizes.size());
    std::string constant = fmt::format("%c{}_{}", opNumber, sizes.size());
    body +=
        fmt::format("  {} = arith.constant {} : index\n  {} = tensor.dim {}, {} : {}\n", constant,
                    extent.dim, size, name(extent.of), constant, typeText(type(extent.of)));
    sizes.push_back(size);
  }
  if (!ok)
    fail("an extent is negative");
  else if (!sizes.empty() && sizes.size() != dynamic)
    ok = bool(fail("some dynamic extents are those of a tensor and some are to be found; needed: "
                   "one or the other"));
  return sizes.empty() ? "" : fmt::format(" sizes({})", join(sizes, ", "));
}

static Dims staticShape(const GraphBuilder::Extents &shape) {
  Dims dims;
  for (const GraphBuilder::Extent &extent : shape)
    dims.push_back(extent.size);
  return dims;
}

/// "(tensor<4xf32>) -> tensor<4xf32>".
std::string GraphBuilder::signature(const std::vector<GraphValue> &operands,
                                    const std::vector<TensorType> &results) const {
  std::vector<std::string> from, to;
  for (GraphValue operand : operands)
    from.push_back(typeText(type(operand)));
  for (const TensorType &result : results)
    to.push_back(typeText(result));
  return fmt::format("({}) -> ({})", join(from, ", "), join(to, ", "));
}

//===----------------------------------------------------------------------===//
// Inputs and constants
//===----------------------------------------------------------------------===//

GraphValue GraphBuilder::input(ElementType type, Dims shape) {
  begin("input", {});
  for (int64_t extent : shape)
    if (extent < 0 && extent != TensorType::kDynamic)
      fail(fmt::format("an extent is {}", extent));
  types.push_back(makeType(type, std::move(shape)));
  inputs.push_back({unsigned(types.size())});
  return inputs.back();
}

/// As MLIR reads it: infinities and NaN are given by their bits.
static std::string literal(ElementType type, double value) {
  if (type == ElementType::I1)
    return value != 0 ? "true" : "false";
  if (type < ElementType::F16)
    return fmt::format("{}", int64_t(value));
  if (std::isfinite(value))
    return fmt::format("{:.17e}", value);
  int kind = std::isnan(value) ? 2 : std::signbit(value);
  switch (type) {
  case ElementType::F16:
    return std::vector<const char *>{"0x7C00", "0xFC00", "0x7E00"}[size_t(kind)];
  case ElementType::BF16:
    return std::vector<const char *>{"0x7F80", "0xFF80", "0x7FC0"}[size_t(kind)];
  case ElementType::F8E4M3FN: // has no infinity; what is too large is NaN
    return std::vector<const char *>{"0x7F", "0xFF", "0x7F"}[size_t(kind)];
  case ElementType::F8E5M2:
    return std::vector<const char *>{"0x7C", "0xFC", "0x7E"}[size_t(kind)];
  case ElementType::F64:
    return std::vector<const char *>{"0x7FF0000000000000", "0xFFF0000000000000",
                                     "0x7FF8000000000000"}[size_t(kind)];
  default:
    return std::vector<const char *>{"0x7F800000", "0xFF800000", "0x7FC00000"}[size_t(kind)];
  }
}

GraphValue GraphBuilder::constant(ElementType element, const Extents &shape, double value) {
  bool ok = begin("constant", {});
  if (ok && element < ElementType::F16 &&
      !(std::abs(value) <= 9007199254740992.0 && value == std::floor(value)))
    return fail(fmt::format("{} is no integer of at most 53 bits", value));
  std::string sizes = ok ? sizesOf(shape, ok) : "";
  if (!ok)
    return {};
  TensorType result = makeType(element, staticShape(shape));
  TensorType scalar = makeType(element, {});
  bool isStatic = result.isStatic();
  GraphValue all = define(isStatic ? result : scalar,
                          fmt::format("arith.constant dense<{}> : {}", literal(element, value),
                                      typeText(isStatic ? result : scalar)));
  if (isStatic)
    return all;
  return define(result, fmt::format("swage.broadcast {} dims []{} : {} -> {}", name(all), sizes,
                                    typeText(scalar), typeText(result)));
}

GraphValue GraphBuilder::constantLike(GraphValue x, double value) {
  if (!begin("constantLike", {x}))
    return {};
  Extents shape;
  for (unsigned dim = 0; dim < type(x).shape.size(); ++dim) {
    int64_t size = type(x).shape[dim];
    shape.push_back(size == TensorType::kDynamic ? Extent(x, dim) : Extent(size));
  }
  --opNumber;
  return constant(elementOf(type(x)), shape, value);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

GraphValue GraphBuilder::unary(UnaryOp op, GraphValue x) {
  static constexpr const char *kNames[] = {"arith.negf", "math.absf",  "math.exp",   "math.exp2",
                                           "math.log",   "math.log2",  "math.log1p", "math.sqrt",
                                           "math.rsqrt", "math.sin",   "math.cos",   "math.tanh",
                                           "math.erf",   "math.floor", "math.ceil"};
  const char *mnemonic = kNames[size_t(op)];
  if (!begin(mnemonic, {x}) || !checkFloat(x))
    return {};
  return define(type(x), fmt::format("{} {} : {}", mnemonic, name(x), typeText(type(x))));
}

GraphValue GraphBuilder::binary(BinaryOp op, GraphValue a, GraphValue b) {
  static constexpr const char *kFloats[] = {
      "arith.addf",     "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf",
      "arith.minimumf", "math.powf",  nullptr,      nullptr,      nullptr};
  static constexpr const char *kIntegers[] = {
      "arith.addi",  "arith.subi", "arith.muli", "arith.divsi", "arith.maxsi",
      "arith.minsi", "math.ipowi", "arith.andi", "arith.ori",   "arith.xori"};
  if (!begin("binary", {a, b}) || !checkSameType(a, b))
    return {};
  const char *mnemonic = (isFloat(type(a)) ? kFloats : kIntegers)[size_t(op)];
  if (!mnemonic)
    return fail(fmt::format("{} on {}; needed: integers", kIntegers[size_t(op)], type(a).str()));
  opName = mnemonic;
  return define(type(a),
                fmt::format("{} {}, {} : {}", mnemonic, name(a), name(b), typeText(type(a))));
}

GraphValue GraphBuilder::compare(Comparison op, GraphValue a, GraphValue b) {
  static constexpr const char *kFloats[] = {"oeq", "une", "olt", "ole", "ogt", "oge"};
  static constexpr const char *kSigned[] = {"eq", "ne", "slt", "sle", "sgt", "sge"};
  static constexpr const char *kBool[] = {"eq", "ne", "ult", "ule", "ugt", "uge"};
  if (!begin("compare", {a, b}) || !checkSameType(a, b))
    return {};
  auto &names = isFloat(type(a))                        ? kFloats
                : elementOf(type(a)) == ElementType::I1 ? kBool
                                                        : kSigned;
  return define(makeType(ElementType::I1, type(a).shape),
                fmt::format("arith.cmp{} {}, {}, {} : {}", isFloat(type(a)) ? "f" : "i",
                            names[size_t(op)], name(a), name(b), typeText(type(a))));
}

GraphValue GraphBuilder::select(GraphValue condition, GraphValue ifTrue, GraphValue ifFalse) {
  if (!begin("select", {condition, ifTrue, ifFalse}) || !checkSameType(ifTrue, ifFalse))
    return {};
  TensorType wanted = makeType(ElementType::I1, type(ifTrue).shape);
  if (type(condition).str() != wanted.str())
    return fail(
        fmt::format("the condition is {}; needed: {}", type(condition).str(), wanted.str()));
  return define(type(ifTrue),
                fmt::format("arith.select {}, {}, {} : {}, {}", name(condition), name(ifTrue),
                            name(ifFalse), typeText(wanted), typeText(type(ifTrue))));
}

GraphValue GraphBuilder::cast(GraphValue x, ElementType to) {
  if (!begin("cast", {x}))
    return {};
  ElementType from = elementOf(type(x));
  if (from == to)
    return x;
  TensorType result = makeType(to, type(x).shape);
  bool fromFloat = from >= ElementType::F16, toFloat = to >= ElementType::F16;
  auto convert = [&](GraphValue value, const char *op, const TensorType &target) {
    return define(target, fmt::format("{} {} : {} to {}", op, name(value), typeText(type(value)),
                                      typeText(target)));
  };
  if (fromFloat && to == ElementType::I1)
    return fail(fmt::format("from {} to i1; needed: a comparison", elementName(from)));
  if (fromFloat && toFloat) {
    // Of the same size: by way of a type that holds both.
    if (elementBytes(from) == elementBytes(to)) {
      x = convert(x, "arith.extf", makeType(ElementType::F32, type(x).shape));
      return convert(x, "arith.truncf", result);
    }
    return convert(x, elementBytes(from) < elementBytes(to) ? "arith.extf" : "arith.truncf",
                   result);
  }
  bool isBool = from == ElementType::I1;
  if (toFloat)
    return convert(x, isBool ? "arith.uitofp" : "arith.sitofp", result);
  if (fromFloat)
    return convert(x, "arith.fptosi", result);
  bool widens = isBool || (to != ElementType::I1 && elementBytes(from) < elementBytes(to));
  return convert(x, !widens ? "arith.trunci" : isBool ? "arith.extui" : "arith.extsi", result);
}

//===----------------------------------------------------------------------===//
// Along dimensions
//===----------------------------------------------------------------------===//

GraphValue GraphBuilder::layerNorm(GraphValue x, GraphValue gamma, GraphValue beta, int64_t axis,
                                   double epsilon, GraphValue *mean, GraphValue *rstd) {
  if (!begin("layer_norm", {x}) || !checkFloat(x) || !checkAxis(x, axis))
    return {};
  std::vector<GraphValue> operands{x};
  std::string text = "swage.layer_norm " + name(x);
  for (auto [operand, keyword] : {std::pair(gamma, " gamma "), std::pair(beta, " beta ")})
    if (operand) {
      if (operand.number > types.size())
        return fail("an operand is of another builder");
      operands.push_back(operand);
      text += keyword + name(operand);
    }
  std::vector<TensorType> results{type(x)};
  bool wantsStats = mean || rstd;
  if (wantsStats) {
    ElementType wide = elementOf(type(x)) == ElementType::F64 ? ElementType::F64 : ElementType::F32;
    Dims outer(type(x).shape.begin(), type(x).shape.begin() + axis);
    results.resize(3, makeType(wide, outer));
  }
  text += fmt::format(" axis {} eps {:.17e} : {}", axis, epsilon, signature(operands, results));
  if (!wantsStats)
    return define(results[0], text);
  return defineSeveral(results, text, {mean, rstd});
}

GraphValue GraphBuilder::rmsNorm(GraphValue x, GraphValue gamma, int64_t axis, double epsilon,
                                 GraphValue *rstd) {
  if (!begin("rms_norm", {x}) || !checkFloat(x) || !checkAxis(x, axis))
    return {};
  std::vector<GraphValue> operands{x};
  std::string text = "swage.rms_norm " + name(x);
  if (gamma) {
    if (gamma.number > types.size())
      return fail("an operand is of another builder");
    operands.push_back(gamma);
    text += " gamma " + name(gamma);
  }
  std::vector<TensorType> results{type(x)};
  if (rstd) {
    ElementType wide = elementOf(type(x)) == ElementType::F64 ? ElementType::F64 : ElementType::F32;
    results.push_back(makeType(wide, Dims(type(x).shape.begin(), type(x).shape.begin() + axis)));
  }
  text += fmt::format(" axis {} eps {:.17e} : {}", axis, epsilon, signature(operands, results));
  return rstd ? defineSeveral(results, text, {rstd}) : define(results[0], text);
}

GraphValue GraphBuilder::softmax(GraphValue x, int64_t axis, double scale) {
  if (!begin("softmax", {x}) || !checkFloat(x) || !checkAxis(x, axis))
    return {};
  if (!std::isfinite(scale))
    return fail(fmt::format("the scale is {}", scale));
  std::string scaled = scale == 1 ? "" : fmt::format(" scale {:.17e}", scale);
  return define(type(x), fmt::format("swage.softmax {} axis {}{} : {} -> {}", name(x), axis, scaled,
                                     typeText(type(x)), typeText(type(x))));
}

GraphValue GraphBuilder::reduce(ReduceOp op, GraphValue x, Dims dims) {
  static constexpr const char *kNames[] = {"sum", "max", "min", "mean"};
  if (!begin("reduce", {x}) || !checkDistinct(dims, type(x).shape.size()))
    return {};
  std::sort(dims.begin(), dims.end());
  TensorType result = type(x);
  result.shape.clear();
  for (size_t dim = 0; dim < type(x).shape.size(); ++dim)
    if (std::find(dims.begin(), dims.end(), int64_t(dim)) == dims.end())
      result.shape.push_back(type(x).shape[dim]);
  return define(result, fmt::format("swage.reduce {} {} dims {} : {} -> {}", kNames[size_t(op)],
                                    name(x), list(dims), typeText(type(x)), typeText(result)));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

GraphValue GraphBuilder::permute(GraphValue x, Dims permutation) {
  if (!begin("permute", {x}) || !checkDistinct(permutation, type(x).shape.size()))
    return {};
  if (permutation.size() != type(x).shape.size())
    return fail(fmt::format("permutation {} of {}; needed: {} dimensions", list(permutation),
                            type(x).str(), type(x).shape.size()));
  TensorType result = type(x);
  for (size_t dim = 0; dim < permutation.size(); ++dim)
    result.shape[dim] = type(x).shape[size_t(permutation[dim])];
  return define(result, fmt::format("swage.permute {} {} : {} -> {}", name(x), list(permutation),
                                    typeText(type(x)), typeText(result)));
}

GraphValue GraphBuilder::reshape(GraphValue x, const Extents &shape) {
  bool ok = begin("reshape", {x});
  std::string sizes = ok ? sizesOf(shape, ok) : "";
  if (!ok)
    return {};
  TensorType result = makeType(elementOf(type(x)), staticShape(shape));
  return define(result, fmt::format("swage.reshape {}{} : {} -> {}", name(x), sizes,
                                    typeText(type(x)), typeText(result)));
}

GraphValue GraphBuilder::broadcast(GraphValue x, Dims dims, const Extents &shape) {
  bool ok = begin("broadcast", {x}) && checkDistinct(dims, shape.size());
  std::string sizes = ok ? sizesOf(shape, ok) : "";
  if (!ok)
    return {};
  TensorType result = makeType(elementOf(type(x)), staticShape(shape));
  return define(result, fmt::format("swage.broadcast {} dims {}{} : {} -> {}", name(x), list(dims),
                                    sizes, typeText(type(x)), typeText(result)));
}

GraphValue GraphBuilder::slice(GraphValue x, int64_t axis, int64_t from, int64_t size,
                               int64_t step) {
  if (!begin("slice", {x}) || !checkAxis(x, axis))
    return {};
  if (size < 0)
    return fail(fmt::format("size {}", size));
  TensorType result = type(x);
  result.shape[size_t(axis)] = size;
  std::string steps = step == 1 ? "" : fmt::format(" step {}", step);
  return define(result, fmt::format("swage.slice {} axis {} from {} size {}{} : {} -> {}", name(x),
                                    axis, from, size, steps, typeText(type(x)), typeText(result)));
}

GraphValue GraphBuilder::concat(const std::vector<GraphValue> &parts, int64_t axis) {
  bool ok = begin("concat", {});
  if (ok && parts.empty())
    return fail("there are no parts");
  std::vector<std::string> names;
  for (GraphValue part : parts) {
    if (!ok || !part || part.number > types.size())
      return fail("a part is no value of this builder");
    if (!checkSameType(parts[0], part))
      return {};
    names.push_back(name(part));
  }
  if (!ok || !checkAxis(parts[0], axis))
    return {};
  TensorType result = type(parts[0]);
  int64_t &extent = result.shape[size_t(axis)];
  if (extent == TensorType::kDynamic || __builtin_mul_overflow(extent, parts.size(), &extent))
    return fail(fmt::format("axis {} of {}; needed: a static extent", axis, type(parts[0]).str()));
  return define(result, fmt::format("swage.concat {} axis {} : {}", join(names, ", "), axis,
                                    signature(parts, {result})));
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

GraphValue GraphBuilder::defineSeveral(const std::vector<TensorType> &results,
                                       const std::string &op,
                                       std::initializer_list<GraphValue *> others) {
  std::vector<std::string> names;
  std::vector<GraphValue> values;
  for (const TensorType &result : results) {
    types.push_back(result);
    values.push_back({unsigned(types.size())});
    names.push_back(name(values.back()));
  }
  size_t next = results.size() - others.size();
  for (GraphValue *other : others) {
    if (other)
      *other = values[next];
    ++next;
  }
  body += fmt::format("  {} = {} loc(\"op {} ({})\":{}:1)\n", join(names, ", "), op, opNumber,
                      opName, opNumber);
  return values[0];
}

void GraphBuilder::output(GraphValue value) {
  if (begin("output", {value}))
    outputs.push_back(value);
}

TensorType GraphBuilder::typeOf(GraphValue value) const {
  return value && value.number <= types.size() ? type(value) : TensorType();
}

Expected<std::string> GraphBuilder::text() const {
  if (!failure)
    return failure.error();
  for (char c : entry)
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_') ||
        std::isdigit(static_cast<unsigned char>(entry[0])))
      return makeError(
          Stage::Input,
          fmt::format("the entry is called '{}'; needed: letters, digits and _", printable(entry)));
  if (outputs.empty() || entry.empty())
    return makeError(Stage::Input, entry.empty() ? "the entry has no name" : "there is no output");
  std::vector<std::string> arguments, results, values;
  for (GraphValue value : inputs)
    arguments.push_back(name(value) + ": " + typeText(type(value)));
  for (GraphValue value : outputs) {
    results.push_back(typeText(type(value)));
    values.push_back(name(value));
  }
  return fmt::format("func.func @{}({}) -> ({}) {{\n{}  return {} : {}\n}}\n", entry,
                     join(arguments, ", "), join(results, ", "), body, join(values, ", "),
                     join(results, ", "));
}

Expected<Program> GraphBuilder::finish(const Context &context) const {
  auto text = this->text();
  if (!text)
    return text.takeError();
  ParseOptions options;
  options.filename = "<graph>";
  options.entry = entry;
  return Program::parse(*text, options, context);
}
