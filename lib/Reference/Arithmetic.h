//===- Arithmetic.h - Numbers with error bounds -----------------*- C++ -*-===//
//
// The scalar rules behind every op of the oracle: what the result is, by how much a kernel that
// evaluates in f32 (f64 for f64 types) may miss it, and what an honest evaluation gives.
//
// An op f adds to the errors of its operands, sum |df/dx_i| E_i, its own c * u * |r|, where
// u = 2^-24 (2^-53) and c is 1 for correctly rounded ops and as listed in Functions.cpp for
// functions. It adds nothing where all operands are exact and the correctly rounded result is r
// itself: sums and products of small integers are exact without anyone declaring them so.
//
// Where an error bound reaches a point at which the result jumps (a comparison, a division by
// zero, the end of the range of f32) the result is kUncertain. "Reaches" means within 4 E
// everywhere, which is what the acceptance rule grants.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_REFERENCE_ARITHMETIC_H
#define SWAGE_LIB_REFERENCE_ARITHMETIC_H

#include "swage/Reference/Value.h"

namespace swage::reference {

/// The numbers in which a kernel computes.
struct Precision {
  bool wide = false; ///< f64 instead of f32

  double unit() const { return wide ? 0x1p-53 : 0x1p-24; }
  double smallest() const { return wide ? 0x1p-1074 : 0x1p-149; }
  double smallestNormal() const { return wide ? 0x1p-1022 : 0x1p-126; }
  double largest() const { return wide ? kF64.largest : kF32.largest; }
  double round(double x) const { return wide ? x : static_cast<float>(x); }
  bool holds(double x) const { return round(x) == x; }

  /// Bound of one rounding, or of a function with `units` times that error.
  double rounding(double r, double units = 1) const {
    double magnitude = std::fabs(r);
    return units *
           (unit() * magnitude + (magnitude < smallestNormal() && magnitude > 0 ? smallest() : 0));
  }
};

constexpr double kSlack = 4; ///< what the acceptance rule grants, in E

/// The sign of x, or whether it is zero, is not known for sure.
inline bool mayVanish(const Number &x) {
  return x.error > 0 && std::fabs(x.reference) <= kSlack * x.error;
}

/// a < b is not known for sure.
inline bool mayTie(const Number &a, const Number &b) {
  double error = a.error + b.error;
  return error > 0 && !(std::fabs(a.reference - b.reference) > kSlack * error) &&
         !std::isnan(a.reference) && !std::isnan(b.reference);
}

/// Nothing is known of x.
inline bool isUncertain(const Number &x) { return std::isinf(x.error); }

/// The error of a result that is infinite or NaN: none if the operands decide that for sure.
inline double specialError(bool uncertain) { return uncertain ? kUncertain : 0; }

/// A number whose error bound may have left the range in which it means something.
Number checked(double reference, double error, double honest, Precision precision);

Number add(const Number &a, const Number &b, Precision precision);
Number subtract(const Number &a, const Number &b, Precision precision);
Number multiply(const Number &a, const Number &b, Precision precision);
Number divide(const Number &a, const Number &b, Precision precision);
Number fusedMultiplyAdd(const Number &a, const Number &b, const Number &c, Precision precision);
Number squareRoot(const Number &x, Precision precision);

/// NaN if either is (propagate), or the other one.
Number maximum(const Number &a, const Number &b, bool propagateNaN);
Number minimum(const Number &a, const Number &b, bool propagateNaN);

/// Functions of one operand with a documented error.
enum class Function {
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Cbrt,
  Rsqrt,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfc
};
Number apply(Function function, const Number &x, Precision precision);

Number power(const Number &a, const Number &b, Precision precision);
Number arcTangent(const Number &y, const Number &x, Precision precision);

/// x to an integer power by repeated squaring; a negative power is the reciprocal of a positive.
Number integerPower(const Number &x, const Number &exponent, Precision precision);

/// What is left of a after whole multiples of b, with the sign of a: exact, as long as no error
/// changes the number of multiples.
Number remainder(const Number &a, const Number &b, Precision precision);

/// Functions that give integral values: exact, or uncertain near a jump.
enum class Rounding { Floor, Ceil, Trunc, HalfAway, HalfEven };
Number roundToIntegral(Rounding rounding, const Number &x);

/// An explicit cast, or the use of a stored output: r is rounded. Where a tie is within the error a
/// kernel may round to another neighbour, so one ulp is added; elsewhere it rounds as r does.
Number castTo(ElementType type, const Number &x);

/// A value that the compiler chose to store between two kernels: only b and E know.
Number storedAs(ElementType type, const Number &x);

/// A constant that may not be representable in the precision (an attribute such as eps).
Number constant(double value, Precision precision);

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_ARITHMETIC_H
