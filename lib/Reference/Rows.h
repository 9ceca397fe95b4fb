//===- Rows.h - Sums over rows with error bounds ----------------*- C++ -*-===//
//
// Kernels add up a row in an order of their choice. The error is at most sumBound(n) * sum |x_i|,
// called gamma(n) in the formulas of the other files:
//
//     gamma(n) = u * min(n, 64 + 4 sqrt(n))
//
// n * u holds for any order, but is worthless for long rows. The kernels keep several partial sums
// per thread, combine threads in trees, and roundings are no conspiracy: their sum grows like the
// square root of their number (Higham and Mary 2019). The one order in which a bias can show, one
// after another over a constant row, is also that of the honest evaluation; so a bound is never
// less than what the honest evaluation missed.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_LIB_REFERENCE_ROWS_H
#define SWAGE_LIB_REFERENCE_ROWS_H

#include "Arithmetic.h"
#include <algorithm>
#include <vector>

namespace swage::reference {

inline double sumBound(int64_t n, Precision precision) {
  double terms = static_cast<double>(n);
  return precision.unit() * std::min(terms, 64 + 4 * std::sqrt(terms));
}

/// A sum, what of its error is due to adding up, and sum |x_i|.
struct Sum {
  Number number;
  double rounding = 0;
  double absolute = 0;
};

/// The sum of term(0), ..., term(n-1). Exact where all terms are exact multiples of a power of two
/// that is large enough for every partial sum, in any order, to be representable.
template <typename Term> Sum sum(int64_t n, Term term, Precision precision) {
  long double reference = 0, absolute = 0, error = 0;
  double honest = 0;
  int lowestBit = 2000;
  for (int64_t i = 0; i < n; ++i) {
    Number x = term(i);
    reference += x.reference;
    absolute += std::fabs(x.reference);
    error += x.error;
    honest = precision.round(honest + x.honest);
    if (x.reference != 0) {
      int exponent = static_cast<int>((bitsOf(x.reference) >> 52) & 0x7ff);
      uint64_t mantissa = (bitsOf(x.reference) & ((1ull << 52) - 1)) | (exponent ? 1ull << 52 : 0);
      lowestBit = std::min(lowestBit, std::max(exponent, 1) - 1075 + __builtin_ctzll(mantissa));
    }
  }
  double r = static_cast<double>(reference);
  if (!std::isfinite(r)) // an infinity or NaN among the terms, or an overflow of f64
    return {{r, std::isinf(static_cast<double>(error)) ? kUncertain : 0, honest}, 0, 0};
  bool exact = error == 0 && absolute < std::ldexp(1.0L, lowestBit + (precision.wide ? 53 : 24));
  double rounding = 0;
  if (!exact && absolute > 0) {
    rounding = sumBound(n, precision) * static_cast<double>(absolute) + precision.smallest();
    rounding = std::max(rounding, std::fabs(honest - r) - static_cast<double>(error));
  }
  if (absolute > precision.largest()) // some order of adding may overflow
    error = kUncertain;
  return {checked(r, static_cast<double>(error) + rounding, honest, precision), rounding,
          static_cast<double>(absolute)};
}

/// sum / n. A kernel may divide or multiply by 1/n: that is exact only for powers of two and 0.
inline Number meanOf(const Sum &sum, int64_t n, Precision precision) {
  double count = static_cast<double>(n);
  double r = sum.number.reference / count;
  double honest = precision.round(sum.number.honest / precision.round(count));
  double error = sum.number.error / count;
  bool exact = error == 0 && ((n & (n - 1)) == 0 || r == 0) && precision.holds(r);
  if (!std::isfinite(r))
    return {r, sum.number.error, honest};
  return checked(r, exact ? 0 : error + precision.rounding(r, 2), honest, precision);
}

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_ROWS_H
