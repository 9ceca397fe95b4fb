//===- Arithmetic.cpp - Numbers with error bounds -------------------------===//

#include "Arithmetic.h"
#include <algorithm>

using namespace swage::reference;

namespace swage::reference {

Number checked(double reference, double error, double honest, Precision precision) {
  // An operand that is itself infinite, and certainly so, does not make the error infinite.
  if (!std::isfinite(reference))
    return {reference, std::isnan(error) ? 0 : error, honest};
  if (std::isnan(error) || std::fabs(reference) + kSlack * error > precision.largest() ||
      !std::isfinite(honest))
    error = kUncertain;
  return {reference, error, honest};
}

Number add(const Number &a, const Number &b, Precision precision) {
  double r = a.reference + b.reference;
  double honest = precision.round(a.honest + b.honest);
  if (!std::isfinite(r))
    return {r, specialError(isUncertain(a) || isUncertain(b)), honest};
  double error = a.error + b.error;
  // In f64 the result holds itself, so ask for the rounding error of the addition (two-sum).
  double part = r - a.reference;
  double lost = (a.reference - (r - part)) + (b.reference - part);
  if (error > 0 || (precision.wide ? lost != 0 : !precision.holds(r)))
    error += precision.rounding(r);
  return checked(r, error, honest, precision);
}

Number subtract(const Number &a, const Number &b, Precision precision) {
  return add(a, {-b.reference, b.error, -b.honest}, precision);
}

Number multiply(const Number &a, const Number &b, Precision precision) {
  double r = a.reference * b.reference;
  double honest = precision.round(a.honest * b.honest);
  if (!std::isfinite(r))
    return {r, specialError(isUncertain(a) || isUncertain(b) || mayVanish(a) || mayVanish(b)),
            honest};
  double error =
      std::fabs(a.reference) * b.error + std::fabs(b.reference) * a.error + a.error * b.error;
  bool exact = precision.wide ? std::fma(a.reference, b.reference, -r) == 0 : precision.holds(r);
  // A product that underflows in f64 is no zero in the sense of exactness.
  exact &= r != 0 || a.reference == 0 || b.reference == 0;
  if (error > 0 || !exact)
    error += precision.rounding(r == 0 && !exact ? precision.smallest() : r);
  return checked(r, error, honest, precision);
}

Number divide(const Number &a, const Number &b, Precision precision) {
  double r = a.reference / b.reference;
  double honest = precision.round(a.honest / b.honest);
  if (mayVanish(b) || isUncertain(a) || isUncertain(b))
    return {r, kUncertain, honest};
  if (!std::isfinite(r))
    return {r, specialError(mayVanish(a)), honest};
  double error = (a.error + std::fabs(r) * b.error) / (std::fabs(b.reference) - b.error);
  bool exact = precision.wide ? std::fma(r, b.reference, -a.reference) == 0 : precision.holds(r);
  exact &= r != 0 || a.reference == 0 || std::isinf(b.reference);
  if (error > 0 || !exact)
    error += precision.rounding(r == 0 && !exact ? precision.smallest() : r);
  return checked(r, error, honest, precision);
}

Number fusedMultiplyAdd(const Number &a, const Number &b, const Number &c, Precision precision) {
  double r = std::fma(a.reference, b.reference, c.reference);
  double honest = precision.wide
                      ? std::fma(a.honest, b.honest, c.honest)
                      : std::fma(static_cast<float>(a.honest), static_cast<float>(b.honest),
                                 static_cast<float>(c.honest));
  bool uncertain = isUncertain(a) || isUncertain(b) || isUncertain(c);
  if (!std::isfinite(r))
    return {r, specialError(uncertain || mayVanish(a) || mayVanish(b)), honest};
  // Whether a kernel rounds the product is its own business: exact only where both ways agree.
  Number separate = add(multiply(a, b, precision), c, precision);
  return checked(r, separate.error, honest, precision);
}

Number squareRoot(const Number &x, Precision precision) {
  double r = std::sqrt(x.reference);
  double honest = precision.round(std::sqrt(x.honest));
  if (mayVanish(x) || isUncertain(x))
    return {r, kUncertain, honest};
  if (!std::isfinite(r))
    return {r, 0, honest};
  double error = x.error > 0 ? x.error / r : 0; // twice the derivative: safe up to E = x
  bool exact = precision.wide ? std::fma(r, r, -x.reference) == 0 : precision.holds(r);
  if (error > 0 || !exact)
    error += precision.rounding(r);
  return checked(r, error, honest, precision);
}

static Number extremum(const Number &a, const Number &b, bool takeFirst, bool propagateNaN) {
  if (std::isnan(a.reference) || std::isnan(b.reference)) {
    Number chosen = std::isnan(a.reference) == propagateNaN ? a : b;
    if (isUncertain(a) || isUncertain(b))
      chosen.error = kUncertain;
    return chosen;
  }
  Number chosen = takeFirst ? a : b;
  if (mayTie(a, b))
    chosen.error = std::max(a.error, b.error);
  return chosen;
}

Number maximum(const Number &a, const Number &b, bool propagateNaN) {
  Number chosen = extremum(a, b, a.reference > b.reference, propagateNaN);
  if (mayTie(a, b))
    chosen.honest = std::max(a.honest, b.honest);
  return chosen;
}

Number minimum(const Number &a, const Number &b, bool propagateNaN) {
  Number chosen = extremum(a, b, a.reference < b.reference, propagateNaN);
  if (mayTie(a, b))
    chosen.honest = std::min(a.honest, b.honest);
  return chosen;
}

static double roundValue(Rounding rounding, double x) {
  switch (rounding) {
  case Rounding::Floor:
    return std::floor(x);
  case Rounding::Ceil:
    return std::ceil(x);
  case Rounding::Trunc:
    return std::trunc(x);
  case Rounding::HalfAway:
    return std::round(x);
  case Rounding::HalfEven:
    return std::nearbyint(x);
  }
  return x;
}

Number roundToIntegral(Rounding rounding, const Number &x) {
  Number result = {roundValue(rounding, x.reference), 0, roundValue(rounding, x.honest)};
  if (x.error > 0 && !(roundValue(rounding, x.reference - kSlack * x.error) ==
                       roundValue(rounding, x.reference + kSlack * x.error)))
    result.error = kUncertain;
  return result;
}

Number castTo(ElementType type, const Number &x) {
  FloatFormat format = formatOf(type);
  Number result = {roundTo(format, x.reference), x.error, roundTo(format, x.honest)};
  if (x.error == 0 || isUncertain(x) || std::isnan(x.reference))
    return result;
  double low = roundTo(format, x.reference - kSlack * x.error);
  double high = roundTo(format, x.reference + kSlack * x.error);
  if (std::isfinite(low) != std::isfinite(high))
    result.error = kUncertain; // it may overflow
  else if (!std::isfinite(result.reference))
    result.error = 0;
  else if (low != high)
    result.error += ulp(format, result.reference);
  return result;
}

Number storedAs(ElementType type, const Number &x) {
  FloatFormat format = formatOf(type);
  Number result = {x.reference, x.error, roundTo(format, x.honest)};
  if (!std::isfinite(x.reference))
    return result;
  if (!std::isfinite(roundTo(format, std::fabs(x.reference) + kSlack * x.error)))
    result.error = kUncertain; // finite in f32, but perhaps not in storage
  else if (x.error > 0 || roundTo(format, x.reference) != x.reference)
    result.error += ulp(format, x.reference) / 2;
  return result;
}

Number constant(double value, Precision precision) {
  double rounded = precision.round(value);
  return {value, std::fabs(value - rounded), rounded};
}

} // namespace swage::reference
