//===- ExpressionEmitter.cpp - Scalar arith and math as C++ ---------------===//
//
// Integer arithmetic wraps in the IR. int and long long are computed in as they are: NVRTC gives
// no meaning of its own to overflow; narrower integers are cast back after every operation.
//
//===----------------------------------------------------------------------===//

#include "ExpressionEmitter.h"
#include "TypeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;
using namespace swage;
using namespace swage::codegen;

/// What may be printed in place, rather than named.
static constexpr unsigned kInlineSize = 3;
static constexpr size_t kInlineLength = 48;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

static std::string parenthesised(const Expression &expr, bool needed) {
  return needed ? "(" + expr.text + ")" : expr.text;
}

static Expression callOf(StringRef function, const Twine &arguments, unsigned size) {
  return {(function + "(" + arguments + ")").str(), Precedence::Primary, size + 1};
}

bool swage::codegen::callsMath(StringRef text) {
  // What the templates declare for themselves (numeric.cuh, and device.cuh without math.cuh).
  static constexpr StringRef everywhere[] = {
      "abs",       "bitCast",       "differenceOf", "exp",           "leadingZeros",
      "maximum",   "maximumNumber", "minimum",      "minimumNumber", "popCount",
      "productOf", "roundTo",       "rsqrt",        "sumOf"};
  StringRef prefix = "swage::";
  for (size_t at = text.find(prefix); at != StringRef::npos; at = text.find(prefix)) {
    text = text.substr(at + prefix.size());
    StringRef name = text.take_while([](char c) { return llvm::isAlnum(c); });
    StringRef rest = text.substr(name.size());
    if ((rest.starts_with("(") || rest.starts_with("<")) && !llvm::is_contained(everywhere, name))
      return true;
  }
  return false;
}

static Expression castTo(StringRef type, const Expression &expr) {
  return callOf(("static_cast<" + type + ">").str(), expr.text, expr.size);
}

static Expression negate(const Expression &expr) {
  bool needed = expr.precedence < Precedence::Unary || StringRef(expr.text).starts_with("-");
  return {"-" + parenthesised(expr, needed), Precedence::Unary, expr.size + 1};
}

static Expression invert(const Expression &expr) {
  return {"!" + parenthesised(expr, expr.precedence < Precedence::Unary), Precedence::Unary,
          expr.size + 1};
}

static Expression combine(const Expression &a, StringRef symbol, const Expression &b,
                          Precedence precedence) {
  // Operators group from the left, and floating-point order matters.
  bool left = a.precedence < precedence, right = b.precedence <= precedence;
  return {parenthesised(a, left) + " " + symbol.str() + " " + parenthesised(b, right), precedence,
          a.size + b.size + 1};
}

static Expression literal(std::string text) {
  Precedence precedence =
      StringRef(text).starts_with("-") ? Precedence::Unary : Precedence::Primary;
  return {std::move(text), precedence, 0};
}

/// The shortest decimal number that reads back as `value`, always a floating-point literal.
template <class T> static std::string decimal(T value, StringRef suffix) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text + suffix.str();
}

static Expression floatLiteral(const APFloat &value, Type type) {
  APFloat exact = value;
  bool isDouble = type.isF64(), inexact = false;
  exact.convert(isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle(),
                APFloat::rmNearestTiesToEven, &inexact);
  if (!exact.isFinite()) {
    uint64_t bits = exact.bitcastToAPInt().getZExtValue();
    return literal(isDouble ? fmt::format("swage::bitCast<double>(0x{:016x}ull)", bits)
                            : fmt::format("swage::bitCast<float>(0x{:08x}u)", bits));
  }
  return literal(isDouble ? decimal(exact.convertToDouble(), "")
                          : decimal(exact.convertToFloat(), "f"));
}

static Expression integerLiteral(const APInt &value) {
  unsigned width = value.getBitWidth();
  if (width == 1)
    return literal(value.isOne() ? "true" : "false");
  // The least number is no literal: what stands behind its minus sign is too large.
  if (width == 32 && value.isMinSignedValue())
    return literal("swage::bitCast<int>(0x80000000u)");
  if (width == 64 && value.isMinSignedValue())
    return literal("swage::bitCast<long long>(0x8000000000000000ull)");
  return literal(std::to_string(value.getSExtValue()) + (width == 64 ? "ll" : ""));
}

static bool isBool(Type type) { return type.isInteger(1); }

/// Operands reinterpreted as unsigned; what is narrower than int is widened there with zeros.
static Expression asUnsigned(const Expression &expr, Type type) {
  return castTo(unsignedName(type), expr);
}

//===----------------------------------------------------------------------===//
// Operators and calls
//===----------------------------------------------------------------------===//

Expression ExpressionEmitter::infix(Operation &op, StringRef symbol, Precedence precedence) const {
  Expression expr = combine(operand(op, 0), symbol, operand(op, 1), precedence);
  return op.getResult(0).getType().isInteger(8) ? castTo("signed char", expr) : expr;
}

Expression ExpressionEmitter::unsignedInfix(Operation &op, StringRef symbol,
                                            Precedence precedence) const {
  Type type = op.getOperand(0).getType();
  Expression expr = combine(asUnsigned(operand(op, 0), type), symbol,
                            asUnsigned(operand(op, 1), type), precedence);
  return isBool(op.getResult(0).getType()) ? expr : castTo(valueName(type), expr);
}

Expression ExpressionEmitter::call(Operation &op, StringRef function) const {
  std::string arguments;
  unsigned size = 0;
  for (unsigned i = 0; i < op.getNumOperands(); ++i) {
    arguments += (i ? ", " : "") + operand(op, i).text;
    size += operand(op, i).size;
  }
  return callOf(function, arguments, size);
}

std::string ExpressionEmitter::atom(Operation &op, unsigned i) const {
  return parenthesised(operand(op, i), operand(op, i).precedence < Precedence::Primary);
}

/// Whether the expression of `op` names some operand more than once, so that it must be cheap.
static bool repeatsOperands(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return compare.getPredicate() == arith::CmpFPredicate::ONE ||
           compare.getPredicate() == arith::CmpFPredicate::UEQ;
  return isa<arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             math::CountTrailingZerosOp, math::IsNormalOp>(op);
}

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

/// Functions of the templates that take the operands as they are.
static StringRef floatFunction(Operation &op) {
  return llvm::StringSwitch<StringRef>(op.getName().getStringRef())
      .Case("arith.remf", "swage::remainder")
      .Case("arith.maximumf", "swage::maximum")
      .Case("arith.minimumf", "swage::minimum")
      .Case("arith.maxnumf", "swage::maximumNumber")
      .Case("arith.minnumf", "swage::minimumNumber")
      .Case("math.absf", "swage::abs")
      .Case("math.ceil", "swage::ceil")
      .Case("math.floor", "swage::floor")
      .Case("math.round", "swage::round")
      .Case("math.trunc", "swage::trunc")
      .Case("math.exp", "swage::exp")
      .Case("math.exp2", "swage::exp2")
      .Case("math.expm1", "swage::expm1")
      .Case("math.log", "swage::log")
      .Case("math.log2", "swage::log2")
      .Case("math.log10", "swage::log10")
      .Case("math.log1p", "swage::log1p")
      .Case("math.sqrt", "swage::sqrt")
      .Case("math.rsqrt", "swage::rsqrt")
      .Case("math.cbrt", "swage::cbrt")
      .Case("math.sin", "swage::sin")
      .Case("math.cos", "swage::cos")
      .Case("math.tan", "swage::tan")
      .Case("math.asin", "swage::asin")
      .Case("math.acos", "swage::acos")
      .Case("math.atan", "swage::atan")
      .Case("math.atan2", "swage::atan2")
      .Case("math.sinh", "swage::sinh")
      .Case("math.cosh", "swage::cosh")
      .Case("math.tanh", "swage::tanh")
      .Case("math.asinh", "swage::asinh")
      .Case("math.acosh", "swage::acosh")
      .Case("math.atanh", "swage::atanh")
      .Case("math.erf", "swage::erf")
      .Case("math.erfc", "swage::erfc")
      .Case("math.powf", "swage::pow")
      .Case("math.fma", "swage::fma")
      .Case("math.copysign", "swage::copySign")
      .Case("math.isfinite", "swage::isFinite")
      .Case("math.isinf", "swage::isInfinite")
      .Case("math.isnan", "swage::isNaN")
      .Default("");
}

/// An unordered comparison is what the opposite ordered one is not.
static Expression compareFloats(arith::CmpFPredicate predicate, const Expression &a,
                                const Expression &b) {
  using P = arith::CmpFPredicate;
  auto relation = [&](StringRef symbol) { return combine(a, symbol, b, Precedence::Relation); };
  auto eitherIsNaN = [&] {
    return combine(callOf("swage::isNaN", a.text, a.size), "||",
                   callOf("swage::isNaN", b.text, b.size), Precedence::Or);
  };
  auto differ = [&] { return combine(relation("<"), "||", relation(">"), Precedence::Or); };
  switch (predicate) {
  case P::AlwaysFalse:
    return literal("false");
  case P::AlwaysTrue:
    return literal("true");
  case P::OEQ:
    return combine(a, "==", b, Precedence::Equality);
  case P::UNE:
    return combine(a, "!=", b, Precedence::Equality);
  case P::OGT:
    return relation(">");
  case P::OGE:
    return relation(">=");
  case P::OLT:
    return relation("<");
  case P::OLE:
    return relation("<=");
  case P::ULE:
    return invert(relation(">"));
  case P::ULT:
    return invert(relation(">="));
  case P::UGE:
    return invert(relation("<"));
  case P::UGT:
    return invert(relation("<="));
  case P::ONE:
    return differ();
  case P::UEQ:
    return invert(differ());
  case P::UNO:
    return eitherIsNaN();
  case P::ORD:
    return invert(eitherIsNaN());
  }
  return literal("false");
}

/// Whether a float is rounded only to become an int of as many bits or fewer, which is one
/// instruction: then the conversion rounds.
static bool isConverted(Operation &op) {
  return isa<math::RoundEvenOp>(op) && op.getResult(0).getType().isF32() &&
         llvm::all_of(op.getUsers(), [](Operation *user) {
           return isa<arith::FPToSIOp>(user) &&
                  user->getResult(0).getType().getIntOrFloatBitWidth() > 1 &&
                  user->getResult(0).getType().getIntOrFloatBitWidth() <= 32;
         });
}

/// Whether an approximation will do, and there is one.
static bool isFlagged(Operation &op, arith::FastMathFlags flag) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags &&
         isa<arith::DivFOp, math::ExpOp, math::Exp2Op, math::ExpM1Op, math::Log1pOp, math::TanhOp,
             math::ErfOp>(op) &&
         op.getResult(0).getType().isF32() &&
         arith::bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(), flag);
}

std::optional<Expression> ExpressionEmitter::printFloat(Operation &op) {
  using Result = std::optional<Expression>;
  if (StringRef function = floatFunction(op); !function.empty())
    return call(op, isFlagged(op, arith::FastMathFlags::afn) ? function.str() + "Fast"
                                                             : function.str());
  return llvm::TypeSwitch<Operation *, Result>(&op)
      .Case<arith::AddFOp>([&](auto) { return infix(op, "+", Precedence::Sum); })
      .Case<arith::SubFOp>([&](auto) { return infix(op, "-", Precedence::Sum); })
      .Case<arith::MulFOp>([&](auto) { return infix(op, "*", Precedence::Product); })
      .Case<arith::DivFOp>([&](auto) {
        if (isFlagged(op, arith::FastMathFlags::arcp | arith::FastMathFlags::afn))
          return call(op, "swage::divideByMore");
        if (isFlagged(op, arith::FastMathFlags::arcp | arith::FastMathFlags::contract))
          return call(op, "swage::divideClosely");
        return isFlagged(op, arith::FastMathFlags::arcp) ? call(op, "swage::divideFast")
                                                         : infix(op, "/", Precedence::Product);
      })
      .Case<arith::NegFOp>([&](auto) { return negate(operand(op, 0)); })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
        return compareFloats(compare.getPredicate(), operand(op, 0), operand(op, 1));
      })
      .Case<math::ClampFOp>([&](auto) {
        Expression raised =
            callOf("swage::maximum", operand(op, 0).text + ", " + operand(op, 1).text,
                   operand(op, 0).size + operand(op, 1).size);
        return callOf("swage::minimum", raised.text + ", " + operand(op, 2).text,
                      raised.size + operand(op, 2).size);
      })
      .Case<math::FPowIOp>([&](auto) -> Result {
        if (op.getOperand(1).getType().isInteger(32))
          return call(op, "swage::powInteger");
        return std::nullopt;
      })
      .Case<math::RoundEvenOp>(
          [&](auto) { return isConverted(op) ? operand(op, 0) : call(op, "swage::roundEven"); })
      .Case<math::IsNormalOp>([&](auto) {
        bool isDouble = op.getOperand(0).getType().isF64();
        Expression least =
            floatLiteral(APFloat::getSmallestNormalized(isDouble ? APFloat::IEEEdouble()
                                                                 : APFloat::IEEEsingle()),
                         op.getOperand(0).getType());
        Expression large = combine(callOf("swage::abs", operand(op, 0).text, 0), ">=", least,
                                   Precedence::Relation);
        return combine(callOf("swage::isFinite", operand(op, 0).text, 0), "&&", large,
                       Precedence::And);
      })
      .Default([](Operation *) { return Result(); });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Bools: arithmetic modulo two, and true is -1 where a sign matters.
static std::optional<Expression> printBool(Operation &op, const Expression &a,
                                           const Expression &b) {
  using P = arith::CmpIPredicate;
  // Not && and ||, which would branch.
  auto bits = [](const Expression &x, StringRef symbol, const Expression &y) {
    auto grouped = [](const Expression &expr) {
      return Expression{parenthesised(expr, expr.precedence < Precedence::Unary),
                        Precedence::Primary, expr.size};
    };
    return combine(grouped(x), symbol, grouped(y),
                   symbol == "&" ? Precedence::BitAnd : Precedence::BitOr);
  };
  auto isOnlyA = [&] { return bits(a, "&", invert(b)); };
  auto isOnlyB = [&] { return bits(invert(a), "&", b); };
  auto isNotOnlyA = [&] { return bits(invert(a), "|", b); };
  auto isNotOnlyB = [&] { return bits(a, "|", invert(b)); };
  auto isBoth = [&] { return bits(a, "&", b); };
  auto isEither = [&] { return bits(a, "|", b); };
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    switch (compare.getPredicate()) {
    case P::eq:
      return combine(a, "==", b, Precedence::Equality);
    case P::ne:
      return combine(a, "!=", b, Precedence::Equality);
    case P::slt:
    case P::ugt:
      return isOnlyA();
    case P::sgt:
    case P::ult:
      return isOnlyB();
    case P::sge:
    case P::ule:
      return isNotOnlyA();
    case P::sle:
    case P::uge:
      return isNotOnlyB();
    }
  }
  if (isa<arith::AndIOp, arith::MulIOp, arith::MaxSIOp, arith::MinUIOp>(op))
    return isBoth();
  if (isa<arith::OrIOp, arith::MinSIOp, arith::MaxUIOp>(op))
    return isEither();
  if (isa<arith::XOrIOp, arith::AddIOp, arith::SubIOp>(op))
    return combine(a, "!=", b, Precedence::Equality);
  return std::nullopt;
}

std::optional<Expression> ExpressionEmitter::printInteger(Operation &op) {
  using Result = std::optional<Expression>;
  Type type = op.getOperand(0).getType();
  if (isBool(type))
    return op.getNumOperands() == 2 ? printBool(op, operand(op, 0), operand(op, 1)) : std::nullopt;
  unsigned width = type.getIntOrFloatBitWidth();
  auto narrowed = [&](const Expression &expr) {
    return width == 8 ? castTo("signed char", expr) : expr;
  };
  // Bit counting takes unsigned or unsigned long long.
  auto bits = [&] {
    Expression expr = asUnsigned(operand(op, 0), type);
    return width == 8 ? castTo("unsigned", expr) : expr;
  };
  auto counted = [&](const Expression &expr) {
    return width == 32 ? expr : castTo(valueName(type), expr);
  };
  auto maximum = [&](StringRef function, bool isUnsigned) {
    if (!isUnsigned)
      return call(op, (function + "<" + valueName(type) + ">").str());
    Expression chosen =
        callOf((function + "<" + unsignedName(type) + ">").str(),
               asUnsigned(operand(op, 0), type).text + ", " + asUnsigned(operand(op, 1), type).text,
               operand(op, 0).size + operand(op, 1).size);
    return castTo(valueName(type), chosen);
  };
  // Integers wrap, which C++ must be told; narrow ones are computed in 32 bits.
  auto wraps = [&](auto typed) {
    return width >= 32 &&
           !bitEnumContainsAll(typed.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
  };
  return llvm::TypeSwitch<Operation *, Result>(&op)
      .Case<arith::AddIOp>([&](auto sum) {
        return wraps(sum) ? call(op, "swage::sumOf") : infix(op, "+", Precedence::Sum);
      })
      .Case<arith::SubIOp>([&](auto difference) {
        return wraps(difference) ? call(op, "swage::differenceOf")
                                 : infix(op, "-", Precedence::Sum);
      })
      .Case<arith::MulIOp>([&](auto product) {
        return wraps(product) ? call(op, "swage::productOf") : infix(op, "*", Precedence::Product);
      })
      .Case<arith::DivSIOp>([&](auto) { return infix(op, "/", Precedence::Product); })
      .Case<arith::RemSIOp>([&](auto) { return infix(op, "%", Precedence::Product); })
      .Case<arith::DivUIOp>([&](auto) { return unsignedInfix(op, "/", Precedence::Product); })
      .Case<arith::RemUIOp>([&](auto) { return unsignedInfix(op, "%", Precedence::Product); })
      .Case<arith::AndIOp>([&](auto) { return infix(op, "&", Precedence::BitAnd); })
      .Case<arith::OrIOp>([&](auto) { return infix(op, "|", Precedence::BitOr); })
      .Case<arith::XOrIOp>([&](auto) { return infix(op, "^", Precedence::BitXor); })
      .Case<arith::ShLIOp>([&](auto) { return infix(op, "<<", Precedence::Shift); })
      .Case<arith::ShRSIOp>([&](auto) { return infix(op, ">>", Precedence::Shift); })
      .Case<arith::ShRUIOp>([&](auto) { return unsignedInfix(op, ">>", Precedence::Shift); })
      .Case<arith::MaxSIOp>([&](auto) { return maximum("swage::maximum", false); })
      .Case<arith::MinSIOp>([&](auto) { return maximum("swage::minimum", false); })
      .Case<arith::MaxUIOp>([&](auto) { return maximum("swage::maximum", true); })
      .Case<arith::MinUIOp>([&](auto) { return maximum("swage::minimum", true); })
      .Case<arith::FloorDivSIOp, arith::CeilDivSIOp>([&](auto) {
        std::string a = atom(op, 0), b = atom(op, 1);
        bool isFloor = isa<arith::FloorDivSIOp>(op);
        std::string text = fmt::format("{0} / {1} {2} ({0} % {1} != 0 && ({0} ^ {1}) {3} 0)", a, b,
                                       isFloor ? "-" : "+", isFloor ? "<" : ">=");
        return narrowed({text, Precedence::Sum, 6});
      })
      .Case<arith::CeilDivUIOp>([&](auto) {
        std::string a = asUnsigned(operand(op, 0), type).text,
                    b = asUnsigned(operand(op, 1), type).text;
        return castTo(valueName(type),
                      {fmt::format("{0} / {1} + ({0} % {1} != 0)", a, b), Precedence::Sum, 6});
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp compare) -> Result {
        using P = arith::CmpIPredicate;
        switch (compare.getPredicate()) {
        case P::eq:
          return infix(op, "==", Precedence::Equality);
        case P::ne:
          return infix(op, "!=", Precedence::Equality);
        case P::slt:
          return infix(op, "<", Precedence::Relation);
        case P::sle:
          return infix(op, "<=", Precedence::Relation);
        case P::sgt:
          return infix(op, ">", Precedence::Relation);
        case P::sge:
          return infix(op, ">=", Precedence::Relation);
        case P::ult:
          return unsignedInfix(op, "<", Precedence::Relation);
        case P::ule:
          return unsignedInfix(op, "<=", Precedence::Relation);
        case P::ugt:
          return unsignedInfix(op, ">", Precedence::Relation);
        case P::uge:
          return unsignedInfix(op, ">=", Precedence::Relation);
        }
        return std::nullopt;
      })
      .Case<math::AbsIOp>([&](auto) { return narrowed(call(op, "swage::abs")); })
      .Case<math::IPowIOp>([&](auto) -> Result {
        if (width > 32)
          return std::nullopt;
        return narrowed(call(op, "swage::powInteger<int>"));
      })
      .Case<math::CtPopOp>([&](auto) { return counted(callOf("swage::popCount", bits().text, 1)); })
      .Case<math::CountLeadingZerosOp>([&](auto) {
        Expression count = callOf("swage::leadingZeros", bits().text, 1);
        return counted(width == 8 ? combine(count, "-", literal("24"), Precedence::Sum) : count);
      })
      .Case<math::CountTrailingZerosOp>([&](auto) {
        std::string mask = width == 8 ? " & 0xffu" : "";
        std::string text = fmt::format("~{0} & ({0} - 1u){1}", bits().text, mask);
        return counted(callOf("swage::popCount", text, 4));
      })
      .Default([](Operation *) { return Result(); });
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

std::optional<Expression> ExpressionEmitter::printConversion(Operation &op) {
  using Result = std::optional<Expression>;
  const Expression &x = operand(op, 0);
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  StringRef target = valueName(to);
  // Scalar code holds 8 and 16-bit floats widened, so that only what makes one rounds.
  bool isNarrow = isa<FloatType>(to) && to.getIntOrFloatBitWidth() < 32;
  auto rounded = [&](const Expression &value, Type type) {
    if (!isNarrow)
      return value;
    Expression single = type.isF32() ? value : castTo("float", value);
    return callOf(("swage::roundTo<" + elementName(to) + ">").str(), single.text, single.size);
  };
  auto converted = [&](const Expression &value) {
    return isNarrow ? rounded(value, from) : castTo(target, value);
  };
  return llvm::TypeSwitch<Operation *, Result>(&op)
      .Case<arith::ExtFOp>([&](auto) { return to.isF64() ? castTo(target, x) : x; })
      .Case<arith::TruncFOp>(
          [&](auto) { return to.isF32() ? castTo(target, x) : rounded(x, from); })
      .Case<arith::SIToFPOp>([&](auto) {
        Expression value = converted(x);
        return isBool(from) ? negate(value) : value;
      })
      .Case<arith::UIToFPOp>(
          [&](auto) { return converted(isBool(from) ? x : asUnsigned(x, from)); })
      .Case<arith::FPToSIOp>([&](auto) {
        if (auto rounding = op.getOperand(0).getDefiningOp(); rounding && isConverted(*rounding))
          return callOf(to.isInteger(8) ? "swage::roundToByte" : "swage::roundToInt", x.text,
                        x.size);
        if (!isBool(to))
          return castTo(target, x);
        return combine(callOf("swage::trunc", x.text, x.size), "!=", literal("0"),
                       Precedence::Equality);
      })
      .Case<arith::FPToUIOp>([&](auto) {
        if (!isBool(to))
          return castTo(target, castTo(unsignedName(to), x));
        return combine(callOf("swage::trunc", x.text, x.size), "!=", literal("0"),
                       Precedence::Equality);
      })
      .Case<arith::ExtSIOp>([&](auto) {
        Expression value = castTo(target, x);
        // The negative of a narrow integer is an int again.
        if (isBool(from))
          return to.isInteger(8) ? castTo(target, negate(value)) : negate(value);
        return value;
      })
      .Case<arith::ExtUIOp>(
          [&](auto) { return castTo(target, isBool(from) ? x : asUnsigned(x, from)); })
      .Case<arith::TruncIOp>([&](auto) {
        if (!isBool(to))
          return castTo(target, x);
        return combine({"(" + combine(x, "&", literal("1"), Precedence::BitAnd).text + ")",
                        Precedence::Primary, x.size + 1},
                       "!=", literal("0"), Precedence::Equality);
      })
      .Case<arith::BitcastOp>([&](auto) -> Result {
        if (from == to)
          return x;
        if (from.getIntOrFloatBitWidth() < 32)
          return std::nullopt;
        return callOf(("swage::bitCast<" + target + ">").str(), x.text, x.size);
      })
      .Default([](Operation *) { return Result(); });
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

std::optional<Expression> ExpressionEmitter::print(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      return floatLiteral(number.getValue(), number.getType());
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return integerLiteral(number.getValue());
    return std::nullopt;
  }
  if (op.getNumOperands() == 0)
    return std::nullopt;
  if (isa<arith::SelectOp>(op)) {
    const Expression &condition = operand(op, 0), &yes = operand(op, 1), &no = operand(op, 2);
    bool nested = yes.precedence == Precedence::Select, last = no.precedence == Precedence::Select;
    return Expression{parenthesised(condition, condition.precedence == Precedence::Select) + " ? " +
                          parenthesised(yes, nested) + " : " + parenthesised(no, last),
                      Precedence::Select, condition.size + yes.size + no.size + 1};
  }
  if (std::optional<Expression> expr = printConversion(op))
    return expr;
  // Arithmetic on narrow floats would have to round after every step; fusion widens instead.
  auto isNarrow = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  };
  if (llvm::any_of(op.getOperandTypes(), isNarrow) || llvm::any_of(op.getResultTypes(), isNarrow))
    return std::nullopt;
  return isa<FloatType>(op.getOperand(0).getType()) ? printFloat(op) : printInteger(op);
}

/// What the location calls the value, or the op: "add" for arith.addf.
static std::string wantedName(Operation &op) {
  if (std::string name = nameOf(op.getLoc()); !name.empty())
    return valueCase(toIdentifier(name));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return "rounded";
  StringRef mnemonic = op.getName().stripDialect();
  if (isa<arith::ArithDialect>(op.getDialect()) && !mnemonic.consume_back("f"))
    mnemonic.consume_back("i");
  return mnemonic.str();
}

LogicalResult ExpressionEmitter::emit(Block &body) {
  if (!shared.empty())
    for (Operation &op : body.without_terminator())
      if (llvm::all_of(op.getOperands(), [&](Value x) { return shared.contains(x); }))
        shared.insert_range(op.getResults());
  for (Operation &op : body.without_terminator()) {
    auto isScalar = [](Type type) { return !valueName(type).empty() && !type.isInteger(16); };
    bool known = op.getNumResults() == 1 && op.getNumRegions() == 0 &&
                 llvm::all_of(op.getOperandTypes(), isScalar) &&
                 llvm::all_of(op.getResultTypes(), isScalar);
    std::optional<Expression> expr = known ? print(op) : std::nullopt;
    if (!expr)
      return op.emitError() << "'" << op.getName() << "' has no CUDA form"
                            << (op.getNumOperands() && !known ? " on these types" : "");
    Value result = op.getResult(0);
    bool isFree = expr->size == 0; // a literal, or another value under a new type
    bool isSmall = expr->size <= kInlineSize && expr->text.size() <= kInlineLength;
    bool isRepeated = !result.hasOneUse() || repeatsOperands(*result.user_begin());
    // What elements have of the row's has a name there.
    bool isShared = shared.contains(result);
    bool isCaptured = isShared && llvm::any_of(result.getUsers(), [&](Operation *user) {
                        return user->getNumResults() == 0 || !shared.contains(user->getResult(0));
                      });
    // What only leaves the function has a line, and a name, there.
    if (!isRepeated && !isCaptured && result.user_begin()->hasTrait<OpTrait::IsTerminator>())
      isSmall = true;
    if (!isFree && (isRepeated || isCaptured || !isSmall) && !result.use_empty()) {
      std::string name = names.unique(wantedName(op));
      statements.push_back(
          {fmt::format("const {} {} = {};", valueName(result.getType()).str(), name, expr->text),
           op.getLoc(), isShared});
      expr = Expression{name, Precedence::Primary, 0};
    }
    values[result] = *expr;
  }
  return success();
}
