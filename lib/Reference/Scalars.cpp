//===- Scalars.cpp - arith and math ops as scalar functions ---------------===//
//
// Integers wrap. What MLIR leaves undefined has no right answer and is not judged: a division by
// zero, the quotient of the least number and -1, a shift by the width or more, a negative power of
// zero, a float outside of the integer that it is converted to.
//

#include "Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "swage/Dialect/Swage/IR/SwageDialect.h"
#include "swage/Reference/Interpreter.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace swage::reference {

/// Integers are kept sign extended to 64 bits, except bools, which are 0 and 1.
static int64_t wrap(int64_t value, unsigned width) {
  if (width == 1)
    return value & 1;
  return width >= 64
             ? value
             : static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - width)) >> (64 - width);
}

static uint64_t zeroExtend(int64_t value, unsigned width) {
  return width >= 64 ? static_cast<uint64_t>(value)
                     : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}

/// A bool as arith's signed ops see it: true is -1.
static int64_t asSigned(int64_t value, unsigned width) { return width == 1 ? -value : value; }

static unsigned widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

static Number integer(int64_t value, bool uncertain) {
  Number number;
  number.integer = value;
  number.error = uncertain ? kUncertain : 0;
  return number;
}

/// A scalar function of two integers that wraps to the result's width.
template <typename Combine> static Scalar integerOp(Operation *op, Combine combine) {
  unsigned width = widthOf(op->getResult(0).getType());
  return [=](const Number *x) {
    return integer(wrap(combine(x[0].integer, x[1].integer), width),
                   x[0].error > 0 || x[1].error > 0);
  };
}

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  }
  return false;
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b, unsigned width) {
  using P = arith::CmpIPredicate;
  uint64_t ua = zeroExtend(a, width), ub = zeroExtend(b, width);
  a = asSigned(a, width);
  b = asSigned(b, width);
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return ua < ub;
  case P::ule:
    return ua <= ub;
  case P::ugt:
    return ua > ub;
  case P::uge:
    return ua >= ub;
  }
  return false;
}

static Number select(const Number &condition, const Number &yes, const Number &no) {
  Number chosen = condition.integer ? yes : no;
  if (condition.error > 0)
    chosen.error = kUncertain;
  return chosen;
}

/// Float to integer, towards zero. What happens outside of the integer's range is undefined.
static Number toInteger(const Number &x, unsigned width, bool isSigned) {
  Number whole = roundToIntegral(Rounding::Trunc, x);
  double least = isSigned ? -std::ldexp(1.0, width - 1) : 0;
  double most = std::ldexp(1.0, isSigned ? width - 1 : width);
  double value = whole.reference;
  if (!(value >= least && value < most))
    return integer(0, true);
  int64_t converted = value >= 0x1p63 ? static_cast<int64_t>(static_cast<uint64_t>(value))
                                      : static_cast<int64_t>(value);
  return integer(wrap(converted, width), whole.error > 0);
}

/// A kernel converts to an 8 or 16-bit float through f32, and may so round twice. This is by how
/// much that moves the result.
static double roundedTwice(ElementType type, double value) {
  if (byteWidth(type) > 2)
    return 0;
  double once = roundTo(type, value), twice = roundTo(type, static_cast<float>(value));
  return once == twice || std::isnan(once) ? 0 : std::fabs(once - twice);
}

/// Integer to float: an explicit conversion, so the result is rounded to its type.
static Number toFloat(const Number &x, unsigned width, bool isSigned, ElementType type) {
  double value = isSigned ? static_cast<double>(asSigned(x.integer, width))
                          : static_cast<double>(zeroExtend(x.integer, width));
  double rounded = roundTo(type, value);
  return {rounded, x.error + roundedTwice(type, value), rounded};
}

static Number copySign(const Number &x, const Number &sign) {
  Number result = {std::copysign(x.reference, sign.reference), x.error,
                   std::copysign(x.honest, sign.honest)};
  if (mayVanish(sign))
    result.error = kUncertain;
  return result;
}

/// A float's class. `test` gets |x|; an error that reaches `border` leaves the answer open.
template <typename Test> static Scalar classOf(Test test, double border = 0) {
  return [=](const Number *x) {
    Number magnitude = {std::fabs(x[0].reference), x[0].error, 0};
    bool uncertain = isUncertain(x[0]) || (border > 0 && mayTie(magnitude, {border, 0, 0}));
    return integer(test(magnitude.reference), uncertain);
  };
}

/// The bits of one type as another. Without a meaning where the bits depend on a rounding or are
/// those of a NaN, of which there are many.
static Number bitcast(const Number &x, ElementType from, ElementType to) {
  bool uncertain = x.error > 0;
  uint64_t bits = static_cast<uint64_t>(x.integer);
  if (isFloat(from)) {
    uncertain |= std::isnan(x.reference) || roundTo(from, x.reference) != x.reference;
    bits = encode(from, x.reference);
  }
  if (!isFloat(to))
    return integer(wrap(static_cast<int64_t>(bits), 8 * byteWidth(to)), uncertain);
  double value = decode(to, zeroExtend(static_cast<int64_t>(bits), 8 * byteWidth(to)));
  return {value, uncertain ? kUncertain : 0, value};
}

/// A quotient or remainder. `combine` sees operands for which it is defined.
template <typename Combine>
static Scalar divisionOp(Operation *op, bool isSigned, Combine combine) {
  unsigned width = widthOf(op->getResult(0).getType());
  int64_t least = width == 1 ? -1 : wrap(int64_t(1) << (width - 1), width);
  return [=](const Number *x) {
    int64_t a = x[0].integer, b = x[1].integer;
    a = isSigned ? asSigned(a, width) : static_cast<int64_t>(zeroExtend(a, width));
    b = isSigned ? asSigned(b, width) : static_cast<int64_t>(zeroExtend(b, width));
    if (b == 0 || (isSigned && a == least && b == -1) || x[0].error > 0 || x[1].error > 0)
      return integer(0, true);
    return integer(wrap(combine(a, b), width), false);
  };
}

/// `shift` sees an amount below the width.
template <typename Shift> static Scalar shiftOp(Operation *op, Shift shift) {
  unsigned width = widthOf(op->getResult(0).getType());
  return [=](const Number *x) {
    uint64_t amount = zeroExtend(x[1].integer, width);
    if (amount >= width || x[0].error > 0 || x[1].error > 0)
      return integer(0, true);
    return integer(wrap(shift(x[0].integer, amount), width), false);
  };
}

/// The bits of an integer, without its sign extension, counted.
template <typename Count> static Scalar countOp(Operation *op, Count count) {
  unsigned width = widthOf(op->getResult(0).getType());
  return [=](const Number *x) {
    return integer(wrap(count(zeroExtend(x[0].integer, width), width), width), x[0].error > 0);
  };
}

/// Wraps; a negative power is 1 / base^-exponent, rounded towards zero.
static Number integerPower(const Number &x, const Number &y, unsigned width) {
  int64_t base = asSigned(x.integer, width), exponent = asSigned(y.integer, width);
  bool uncertain = x.error > 0 || y.error > 0;
  if (exponent < 0) {
    bool isOdd = exponent & 1;
    return integer(wrap(base == 1    ? 1
                        : base == -1 ? (isOdd ? -1 : 1)
                                     : 0,
                        width),
                   uncertain || base == 0);
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left; left >>= 1, factor *= factor)
    if (left & 1)
      result *= factor;
  return integer(wrap(static_cast<int64_t>(result), width), uncertain);
}

static Scalar divisionScalarOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](arith::DivSIOp) {
        return divisionOp(op, true, [](int64_t a, int64_t b) { return a / b; });
      })
      .Case([&](arith::RemSIOp) {
        return divisionOp(op, true, [](int64_t a, int64_t b) { return a % b; });
      })
      .Case([&](arith::FloorDivSIOp) {
        return divisionOp(op, true, [](int64_t a, int64_t b) {
          return a / b - (a % b != 0 && (a < 0) != (b < 0));
        });
      })
      .Case([&](arith::CeilDivSIOp) {
        return divisionOp(op, true, [](int64_t a, int64_t b) {
          return a / b + (a % b != 0 && (a < 0) == (b < 0));
        });
      })
      .Case([&](arith::DivUIOp) {
        return divisionOp(op, false, [](uint64_t a, uint64_t b) { return a / b; });
      })
      .Case([&](arith::RemUIOp) {
        return divisionOp(op, false, [](uint64_t a, uint64_t b) { return a % b; });
      })
      .Case([&](arith::CeilDivUIOp) {
        return divisionOp(op, false, [](uint64_t a, uint64_t b) { return a / b + (a % b != 0); });
      })
      .Default([](Operation *) { return Scalar(); });
}

static Scalar bitScalarOf(Operation *op) {
  unsigned width = widthOf(op->getResult(0).getType());
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](arith::ShLIOp) {
        return shiftOp(op, [](uint64_t a, uint64_t amount) { return a << amount; });
      })
      .Case([&](arith::ShRSIOp) {
        return shiftOp(op,
                       [=](int64_t a, uint64_t amount) { return asSigned(a, width) >> amount; });
      })
      .Case([&](arith::ShRUIOp) {
        return shiftOp(op,
                       [=](int64_t a, uint64_t amount) { return zeroExtend(a, width) >> amount; });
      })
      .Case([&](math::CtPopOp) {
        return countOp(op, [](uint64_t bits, unsigned) { return llvm::popcount(bits); });
      })
      .Case([&](math::CountLeadingZerosOp) {
        return countOp(op, [](uint64_t bits, unsigned width) {
          return llvm::countl_zero(bits) - (64 - static_cast<int>(width));
        });
      })
      .Case([&](math::CountTrailingZerosOp) {
        return countOp(op, [](uint64_t bits, unsigned width) {
          return std::min<int>(llvm::countr_zero(bits), static_cast<int>(width));
        });
      })
      .Case([&](math::IPowIOp) -> Scalar {
        return [=](const Number *x) { return integerPower(x[0], x[1], width); };
      })
      .Default([](Operation *) { return Scalar(); });
}

static Scalar integerScalarOf(Operation *op) {
  if (Scalar scalar = divisionScalarOf(op))
    return scalar;
  if (Scalar scalar = bitScalarOf(op))
    return scalar;
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](arith::AddIOp) {
        return integerOp(op, [](uint64_t a, uint64_t b) { return a + b; });
      })
      .Case([&](arith::SubIOp) {
        return integerOp(op, [](uint64_t a, uint64_t b) { return a - b; });
      })
      .Case([&](arith::MulIOp) {
        return integerOp(op, [](uint64_t a, uint64_t b) { return a * b; });
      })
      .Case(
          [&](arith::AndIOp) { return integerOp(op, [](int64_t a, int64_t b) { return a & b; }); })
      .Case([&](arith::OrIOp) { return integerOp(op, [](int64_t a, int64_t b) { return a | b; }); })
      .Case(
          [&](arith::XOrIOp) { return integerOp(op, [](int64_t a, int64_t b) { return a ^ b; }); })
      .Case([&](arith::MaxSIOp) {
        unsigned width = widthOf(op->getResult(0).getType());
        return integerOp(op, [=](int64_t a, int64_t b) {
          return asSigned(a, width) > asSigned(b, width) ? a : b;
        });
      })
      .Case([&](arith::MinSIOp) {
        unsigned width = widthOf(op->getResult(0).getType());
        return integerOp(op, [=](int64_t a, int64_t b) {
          return asSigned(a, width) < asSigned(b, width) ? a : b;
        });
      })
      .Case([&](arith::MaxUIOp) {
        return integerOp(op, [](uint64_t a, uint64_t b) { return a > b ? a : b; });
      })
      .Case([&](arith::MinUIOp) {
        return integerOp(op, [](uint64_t a, uint64_t b) { return a < b ? a : b; });
      })
      .Case([&](arith::CmpIOp compareOp) -> Scalar {
        unsigned width = widthOf(compareOp.getLhs().getType());
        return [=, predicate = compareOp.getPredicate()](const Number *x) {
          return integer(compare(predicate, x[0].integer, x[1].integer, width),
                         x[0].error > 0 || x[1].error > 0);
        };
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
            arith::IndexCastUIOp>([&](Operation *) -> Scalar {
        unsigned from = widthOf(op->getOperand(0).getType());
        unsigned to = widthOf(op->getResult(0).getType());
        bool isUnsigned = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op);
        return [=](const Number *x) {
          int64_t value = isUnsigned ? static_cast<int64_t>(zeroExtend(x[0].integer, from))
                                     : asSigned(x[0].integer, from);
          return integer(wrap(value, to), x[0].error > 0);
        };
      })
      .Case([&](math::AbsIOp) -> Scalar {
        unsigned width = widthOf(op->getResult(0).getType());
        return [=](const Number *x) {
          uint64_t value = static_cast<uint64_t>(x[0].integer);
          return integer(wrap(x[0].integer < 0 ? -value : value, width), x[0].error > 0);
        };
      })
      .Default([](Operation *) { return Scalar(); });
}

static Scalar castScalarOf(Operation *op) {
  std::optional<ElementType> to = elementTypeOf(getElementTypeOrSelf(op->getResult(0).getType()));
  unsigned from = widthOf(op->getOperand(0).getType());
  if (!to)
    return nullptr;
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](arith::TruncFOp) -> Scalar {
        return [to](const Number *x) {
          Number result = castTo(*to, x[0]);
          result.error += roundedTwice(*to, x[0].reference);
          return result;
        };
      })
      .Case([&](arith::ExtFOp) -> Scalar { return [](const Number *x) { return x[0]; }; })
      .Case([&](arith::BitcastOp) -> Scalar {
        auto source = elementTypeOf(getElementTypeOrSelf(op->getOperand(0).getType()));
        if (!source)
          return nullptr;
        return [=](const Number *x) { return bitcast(x[0], *source, *to); };
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([&](Operation *) -> Scalar {
        bool isSigned = isa<arith::SIToFPOp>(op);
        return [=](const Number *x) { return toFloat(x[0], from, isSigned, *to); };
      })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([&](Operation *) -> Scalar {
        bool isSigned = isa<arith::FPToSIOp>(op);
        unsigned width = widthOf(op->getResult(0).getType());
        return [=](const Number *x) { return toInteger(x[0], width, isSigned); };
      })
      .Default([](Operation *) { return Scalar(); });
}

template <Function function> static Scalar functionScalar(Precision precision) {
  return [precision](const Number *x) { return apply(function, x[0], precision); };
}

template <Rounding rounding> static Scalar roundingScalar() {
  return [](const Number *x) { return roundToIntegral(rounding, x[0]); };
}

static Scalar mathScalarOf(Operation *op, Precision p) {
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](math::ExpOp) { return functionScalar<Function::Exp>(p); })
      .Case([&](math::Exp2Op) { return functionScalar<Function::Exp2>(p); })
      .Case([&](math::ExpM1Op) { return functionScalar<Function::Expm1>(p); })
      .Case([&](math::LogOp) { return functionScalar<Function::Log>(p); })
      .Case([&](math::Log2Op) { return functionScalar<Function::Log2>(p); })
      .Case([&](math::Log10Op) { return functionScalar<Function::Log10>(p); })
      .Case([&](math::Log1pOp) { return functionScalar<Function::Log1p>(p); })
      .Case([&](math::TanhOp) { return functionScalar<Function::Tanh>(p); })
      .Case([&](math::ErfOp) { return functionScalar<Function::Erf>(p); })
      .Case([&](math::RsqrtOp) { return functionScalar<Function::Rsqrt>(p); })
      .Case([&](math::SinOp) { return functionScalar<Function::Sin>(p); })
      .Case([&](math::CosOp) { return functionScalar<Function::Cos>(p); })
      .Case([&](math::CbrtOp) { return functionScalar<Function::Cbrt>(p); })
      .Case([&](math::TanOp) { return functionScalar<Function::Tan>(p); })
      .Case([&](math::AsinOp) { return functionScalar<Function::Asin>(p); })
      .Case([&](math::AcosOp) { return functionScalar<Function::Acos>(p); })
      .Case([&](math::AtanOp) { return functionScalar<Function::Atan>(p); })
      .Case([&](math::SinhOp) { return functionScalar<Function::Sinh>(p); })
      .Case([&](math::CoshOp) { return functionScalar<Function::Cosh>(p); })
      .Case([&](math::AsinhOp) { return functionScalar<Function::Asinh>(p); })
      .Case([&](math::AcoshOp) { return functionScalar<Function::Acosh>(p); })
      .Case([&](math::AtanhOp) { return functionScalar<Function::Atanh>(p); })
      .Case([&](math::ErfcOp) { return functionScalar<Function::Erfc>(p); })
      .Case([&](math::FloorOp) { return roundingScalar<Rounding::Floor>(); })
      .Case([&](math::CeilOp) { return roundingScalar<Rounding::Ceil>(); })
      .Case([&](math::TruncOp) { return roundingScalar<Rounding::Trunc>(); })
      .Case([&](math::RoundOp) { return roundingScalar<Rounding::HalfAway>(); })
      .Case([&](math::RoundEvenOp) { return roundingScalar<Rounding::HalfEven>(); })
      .Case([&](math::SqrtOp) -> Scalar {
        return [p](const Number *x) { return squareRoot(x[0], p); };
      })
      .Case([&](math::PowFOp) -> Scalar {
        return [p](const Number *x) { return power(x[0], x[1], p); };
      })
      .Case([&](math::FPowIOp) -> Scalar {
        return [p](const Number *x) { return integerPower(x[0], x[1], p); };
      })
      .Case([&](math::Atan2Op) -> Scalar {
        return [p](const Number *x) { return arcTangent(x[0], x[1], p); };
      })
      .Case([&](math::ClampFOp) -> Scalar {
        return [](const Number *x) { return minimum(maximum(x[0], x[1], true), x[2], true); };
      })
      .Case([&](math::IsNaNOp) { return classOf([](double x) { return std::isnan(x); }); })
      .Case([&](math::IsInfOp) { return classOf([](double x) { return std::isinf(x); }); })
      .Case([&](math::IsFiniteOp) { return classOf([](double x) { return std::isfinite(x); }); })
      .Case([&](math::IsNormalOp) {
        // In the numbers in which kernels compute: a 16-bit float that is denormal in its own type
        // is a normal f32.
        double least = p.smallestNormal();
        return classOf([=](double x) { return x >= least && std::isfinite(x); }, least);
      })
      .Case([&](math::FmaOp) -> Scalar {
        return [p](const Number *x) { return fusedMultiplyAdd(x[0], x[1], x[2], p); };
      })
      .Case([&](math::AbsFOp) -> Scalar {
        return [](const Number *x) {
          return Number{std::fabs(x[0].reference), x[0].error, std::fabs(x[0].honest)};
        };
      })
      .Case([&](math::CopySignOp) -> Scalar {
        return [](const Number *x) { return copySign(x[0], x[1]); };
      })
      .Default([](Operation *) { return Scalar(); });
}

static Scalar floatScalarOf(Operation *op, Precision p) {
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](arith::AddFOp) -> Scalar {
        return [p](const Number *x) { return add(x[0], x[1], p); };
      })
      .Case([&](arith::SubFOp) -> Scalar {
        return [p](const Number *x) { return subtract(x[0], x[1], p); };
      })
      .Case([&](arith::MulFOp) -> Scalar {
        return [p](const Number *x) { return multiply(x[0], x[1], p); };
      })
      .Case([&](arith::DivFOp) -> Scalar {
        return [p](const Number *x) { return divide(x[0], x[1], p); };
      })
      .Case([&](arith::RemFOp) -> Scalar {
        return [p](const Number *x) { return remainder(x[0], x[1], p); };
      })
      .Case([&](arith::NegFOp) -> Scalar {
        return [](const Number *x) { return Number{-x[0].reference, x[0].error, -x[0].honest}; };
      })
      .Case([&](arith::MaximumFOp) -> Scalar {
        return [](const Number *x) { return maximum(x[0], x[1], true); };
      })
      .Case([&](arith::MinimumFOp) -> Scalar {
        return [](const Number *x) { return minimum(x[0], x[1], true); };
      })
      .Case([&](arith::MaxNumFOp) -> Scalar {
        return [](const Number *x) { return maximum(x[0], x[1], false); };
      })
      .Case([&](arith::MinNumFOp) -> Scalar {
        return [](const Number *x) { return minimum(x[0], x[1], false); };
      })
      .Case([&](arith::CmpFOp compareOp) -> Scalar {
        return [predicate = compareOp.getPredicate()](const Number *x) {
          return integer(compare(predicate, x[0].reference, x[1].reference),
                         mayTie(x[0], x[1]) || std::isinf(x[0].error) || std::isinf(x[1].error));
        };
      })
      .Case([&](arith::SelectOp) -> Scalar {
        return [](const Number *x) { return select(x[0], x[1], x[2]); };
      })
      .Default([](Operation *) { return Scalar(); });
}

Precision precisionOf(Operation *op) {
  Precision precision;
  auto isWide = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  precision.wide =
      llvm::any_of(op->getOperandTypes(), isWide) || llvm::any_of(op->getResultTypes(), isWide);
  return precision;
}

Scalar scalarOf(Operation *op, Precision precision) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return nullptr;
  if (Scalar scalar = floatScalarOf(op, precision))
    return scalar;
  if (Scalar scalar = mathScalarOf(op, precision))
    return scalar;
  if (Scalar scalar = integerScalarOf(op))
    return scalar;
  if (isa<CopyOp>(op))
    return [](const Number *x) { return x[0]; };
  if (isa<CastOpInterface>(op))
    return castScalarOf(op);
  return nullptr;
}

} // namespace swage::reference
