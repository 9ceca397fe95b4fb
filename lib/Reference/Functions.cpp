//===- Functions.cpp - Functions with a documented error ------------------===//
//
// What the device's math functions promise is listed in templates/swage/device/cuda/math.cuh, in
// units in the last place. Here it is a number of u, which is half such a unit just above a power
// of two; with the factor 4 that the acceptance rule grants, n of them cover n units.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include <algorithm>

namespace swage::reference {

namespace {

template <typename T> T evaluate(Function function, T x) {
  switch (function) {
  case Function::Exp:
    return std::exp(x);
  case Function::Exp2:
    return std::exp2(x);
  case Function::Expm1:
    return std::expm1(x);
  case Function::Log:
    return std::log(x);
  case Function::Log2:
    return std::log2(x);
  case Function::Log10:
    return std::log10(x);
  case Function::Log1p:
    return std::log1p(x);
  case Function::Cbrt:
    return std::cbrt(x);
  case Function::Rsqrt:
    return T(1) / std::sqrt(x);
  case Function::Sin:
    return std::sin(x);
  case Function::Cos:
    return std::cos(x);
  case Function::Tan:
    return std::tan(x);
  case Function::Asin:
    return std::asin(x);
  case Function::Acos:
    return std::acos(x);
  case Function::Atan:
    return std::atan(x);
  case Function::Sinh:
    return std::sinh(x);
  case Function::Cosh:
    return std::cosh(x);
  case Function::Tanh:
    return std::tanh(x);
  case Function::Asinh:
    return std::asinh(x);
  case Function::Acosh:
    return std::acosh(x);
  case Function::Atanh:
    return std::atanh(x);
  case Function::Erf:
    return std::erf(x);
  case Function::Erfc:
    return std::erfc(x);
  }
  return x;
}

/// The documented error; never less than that of a function of 2 units, so that no function is
/// judged harder than the host's own.
double unitsOf(Function function) {
  switch (function) {
  case Function::Tan:
  case Function::Acos:
  case Function::Sinh:
  case Function::Cosh:
  case Function::Asinh:
  case Function::Acosh:
  case Function::Atanh:
  case Function::Erfc:
    return 4;
  default:
    return 2;
  }
}

/// How far f(x + e) can be from r = f(x) for |e| <= error; error > 0.
double propagated(Function function, double x, double r, double error) {
  constexpr double kLn2 = 0.6931471805599453, kLn10 = 2.302585092994046;
  double magnitude = std::fabs(x), farthest = magnitude + error;
  double nearest = std::max(0.0, magnitude - error); // where most functions are steepest
  auto exponential = [](double value, double e) {
    return value * (e < 0x1p-10 ? e * (1 + e) : std::expm1(e));
  };
  switch (function) {
  case Function::Exp:
    return exponential(r, error);
  case Function::Exp2:
    return exponential(r, kLn2 * error);
  case Function::Expm1:
    return exponential(r + 1, error);
  case Function::Log:
    return error / (x - error);
  case Function::Log2:
    return error / (x - error) / kLn2;
  case Function::Log10:
    return error / (x - error) / kLn10;
  case Function::Log1p:
    return error / (1 + x - error);
  case Function::Cbrt: {
    // Through zero the slope has no bound, but the difference has.
    double root = std::cbrt(nearest);
    return std::min(error / (3 * root * root), std::cbrt(4 * error));
  }
  case Function::Rsqrt:
    return 1 / std::sqrt(x - error) - r;
  case Function::Sin:
  case Function::Cos:
    return error;
  case Function::Tan: {
    double low = std::tan(x - error), high = std::tan(x + error);
    return error * (1 + std::max(low * low, high * high));
  }
  case Function::Asin:
  case Function::Acos:
    return error / std::sqrt(1 - farthest * farthest);
  case Function::Atan:
    return error / (1 + nearest * nearest);
  case Function::Sinh:
    return error * std::cosh(farthest);
  case Function::Cosh:
    return error * std::sinh(farthest);
  case Function::Tanh: {
    double value = std::tanh(nearest);
    return error * (1 - value * value);
  }
  case Function::Asinh:
    return error / std::sqrt(1 + nearest * nearest);
  case Function::Acosh:
    return error / std::sqrt((x - error) * (x - error) - 1);
  case Function::Atanh:
    return error / (1 - farthest * farthest);
  case Function::Erf:
  case Function::Erfc:
    return error * 1.1283791670955126 * std::exp(-nearest * nearest);
  }
  return kUncertain;
}

/// The argument may leave the function's domain or reach its pole.
bool nearPole(Function function, const Number &x) {
  auto reaches = [&](double border) {
    return x.error > 0 && std::fabs(x.reference - border) <= kSlack * x.error;
  };
  switch (function) {
  case Function::Log:
  case Function::Log2:
  case Function::Log10:
  case Function::Rsqrt:
    return mayVanish(x);
  case Function::Log1p:
    return reaches(-1);
  case Function::Asin:
  case Function::Acos:
  case Function::Atanh:
    return reaches(-1) || reaches(1);
  case Function::Acosh:
    return reaches(1);
  case Function::Tan: {
    auto branch = [](double angle) { return std::floor(angle / 3.141592653589793 + 0.5); };
    return x.error > 0 &&
           branch(x.reference - kSlack * x.error) != branch(x.reference + kSlack * x.error);
  }
  default:
    return false;
  }
}

} // namespace

Number apply(Function function, const Number &x, Precision precision) {
  double r = evaluate(function, x.reference);
  double honest = precision.wide ? evaluate(function, x.honest)
                                 : evaluate(function, static_cast<float>(x.honest));
  if (isUncertain(x) || nearPole(function, x))
    return {r, kUncertain, honest};
  if (!std::isfinite(r))
    return {r, 0, honest};
  double error = precision.rounding(r, unitsOf(function));
  if (x.error > 0)
    error += std::fabs(propagated(function, x.reference, r, x.error));
  return checked(r, error, honest, precision);
}

Number power(const Number &a, const Number &b, Precision precision) {
  double r = std::pow(a.reference, b.reference);
  double honest = precision.wide
                      ? std::pow(a.honest, b.honest)
                      : std::pow(static_cast<float>(a.honest), static_cast<float>(b.honest));
  if (isUncertain(a) || isUncertain(b) || mayVanish(a) || (a.reference < 0 && b.error > 0))
    return {r, kUncertain, honest};
  if (!std::isfinite(r))
    return {r, specialError(mayVanish(b)), honest};
  double relative = 0;
  if (a.error > 0)
    relative += std::fabs(b.reference / a.reference) * a.error;
  if (b.error > 0)
    relative += std::fabs(std::log(std::fabs(a.reference))) * b.error;
  double error = std::fabs(r) * std::expm1(relative) + precision.rounding(r, 4);
  return checked(r, error, honest, precision);
}

Number arcTangent(const Number &y, const Number &x, Precision precision) {
  double r = std::atan2(y.reference, x.reference);
  double honest = precision.wide
                      ? std::atan2(y.honest, x.honest)
                      : std::atan2(static_cast<float>(y.honest), static_cast<float>(x.honest));
  // The angle jumps where y changes its sign at a negative x, and at the origin.
  bool uncertain = isUncertain(x) || isUncertain(y) ||
                   (mayVanish(y) && !(x.reference > kSlack * x.error)) ||
                   (mayVanish(x) && y.reference == 0);
  if (uncertain)
    return {r, kUncertain, honest};
  if (!std::isfinite(r))
    return {r, 0, honest};
  double error = precision.rounding(r, 4);
  if (x.error > 0 || y.error > 0) {
    double nearX = std::max(0.0, std::fabs(x.reference) - x.error),
           nearY = std::max(0.0, std::fabs(y.reference) - y.error);
    error += (std::fabs(x.reference) * y.error + std::fabs(y.reference) * x.error) /
             (nearX * nearX + nearY * nearY);
  }
  return checked(r, error, honest, precision);
}

/// x^n by squaring; `exact` says whether nothing was rounded in f64.
static double powerBySquaring(double x, uint64_t n, bool &exact) {
  double result = 1;
  auto multiply = [&](double a, double b) {
    double product = a * b;
    exact = exact && std::isfinite(product) && std::fma(a, b, -product) == 0 &&
            (product != 0 || a == 0 || b == 0);
    return product;
  };
  for (; n; n >>= 1) {
    if (n & 1)
      result = multiply(result, x);
    if (n > 1)
      x = multiply(x, x);
  }
  return result;
}

Number integerPower(const Number &x, const Number &exponent, Precision precision) {
  int64_t n = exponent.integer;
  bool isReciprocal = n < 0, exact = true, ignored = true;
  uint64_t count = isReciprocal ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  double positive = powerBySquaring(x.reference, count, exact);
  if (!exact)
    positive = std::pow(x.reference, static_cast<double>(count));
  double honest = powerBySquaring(x.honest, count, ignored);
  double r = isReciprocal ? 1 / positive : positive;
  honest = precision.round(isReciprocal ? 1 / precision.round(honest) : honest);
  if (isUncertain(x) || exponent.error > 0 || (isReciprocal && mayVanish(x)))
    return {r, kUncertain, honest};
  // The reciprocal of what left the range has lost its value.
  double magnitude = std::fabs(positive);
  if (isReciprocal && std::isfinite(x.reference) && x.reference != 0 &&
      (magnitude > precision.largest() || magnitude < precision.smallestNormal()))
    return {r, kUncertain, honest};
  if (!std::isfinite(r))
    return {r, specialError(std::isfinite(x.reference) && x.reference != 0), honest};
  if (count == 0 || !std::isfinite(x.reference))
    return {r, 0, honest};
  exact = exact && x.error == 0 && precision.holds(positive) && precision.holds(r) &&
          (!isReciprocal || std::fma(r, positive, -1) == 0);
  if (exact)
    return {r, 0, honest};
  // A rounding for each product and for the reciprocal; squares double the error so far, so that
  // the sum is that of n - 1 products.
  double relative = static_cast<double>(count) * precision.unit();
  if (x.error > 0 && x.reference != 0)
    relative += static_cast<double>(count) * x.error / std::fabs(x.reference);
  double error = std::fabs(r) * std::expm1(relative) + precision.rounding(r);
  if (x.reference == 0 || mayVanish(x)) // the relative error means nothing
    error += std::pow(std::fabs(x.reference) + x.error, static_cast<double>(count));
  if (r == 0 && x.reference != 0)
    error += precision.smallest();
  return checked(r, error, honest, precision);
}

Number remainder(const Number &a, const Number &b, Precision precision) {
  double r = std::fmod(a.reference, b.reference);
  double honest = precision.round(std::fmod(a.honest, b.honest));
  if (isUncertain(a) || isUncertain(b) || mayVanish(b))
    return {r, kUncertain, honest};
  if (!std::isfinite(r) || (a.error == 0 && b.error == 0))
    return {r, 0, honest};
  double dividend = std::fabs(a.reference), divisor = std::fabs(b.reference);
  double least =
             std::floor(std::max(0.0, dividend - kSlack * a.error) / (divisor + kSlack * b.error)),
         most = std::floor((dividend + kSlack * a.error) / (divisor - kSlack * b.error));
  // Other multiples may be taken, or so many that their number is not exact.
  if (least != most || most >= 0x1p52)
    return {r, kUncertain, honest};
  return checked(r, a.error + most * b.error, honest, precision);
}

} // namespace swage::reference
