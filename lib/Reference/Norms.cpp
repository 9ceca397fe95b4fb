//===- Norms.cpp - LayerNorm and RMSNorm ----------------------------------===//
//
// Error bounds, to first order, for a row x_1..x_n with errors E_i, u the unit of the precision:
//
//   mean m            E_m    = sum E_i / n + R_m,   R_m = gamma(n) sum |x_i| / n + 2 u |m|
//   deviation d_i     E_d    = E_i + E_m + u |d_i|
//   variance v        E_v    = 2/n sum |d_i| E_i + 2 sqrt(v) R_m + E_m^2 + (gamma(n) + 4 u) v
//   rstd q            E_q    = (v + eps - E_v - 2 u (v + eps))^(-1/2) - q + 3 u q
//   normalised d_i q  E      = E_d (q + E_q) + |d_i| E_q + u |d_i q|
//
// A wrong mean common to the whole row changes the variance in the second order only, since the
// deviations add up to 0: E_m^2. But kernels merge the moments of parts of a row, each about a
// mean of its own, and an error in the difference of two such means enters in the first order:
// 2 sqrt(v) R_m. A row whose mean is much larger than its deviation so gets the wide bound that it
// deserves. The errors that the inputs bring are independent of that: 2/n sum |d_i| E_i.
//
// For RMSNorm, s = sum x_i^2 / n has E_s = 2/n sum |x_i| E_i + sum E_i^2 / n + (gamma(n) + 3 u) s.
//
// gamma and beta are then applied as a multiplication and an addition.
//
//===----------------------------------------------------------------------===//

#include "Ops.h"
#include "Rows.h"
#include "swage/Reference/Parallel.h"

namespace swage::reference {

/// 1 / sqrt(x + eps) for x >= 0.
static Number rstdOf(const Number &x, double epsilon, Precision precision) {
  Number eps = constant(epsilon, precision);
  double shifted = x.reference + epsilon;
  double r = 1 / std::sqrt(shifted);
  double honest =
      precision.round(1 / precision.round(std::sqrt(precision.round(x.honest + eps.honest))));
  if (std::isinf(x.error))
    return {r, kUncertain, honest};
  if (!std::isfinite(r) || r == 0) // NaN, or rsqrt(inf) = 0, or rsqrt(0) = inf
    return {r, std::isinf(r) && x.error > 0 ? kUncertain : 0, honest};
  double error = x.error + eps.error + precision.rounding(shifted);
  // x cannot fall below 0, whatever its error.
  double least = std::max(shifted - error, epsilon - eps.error - precision.rounding(epsilon));
  if (least <= 0)
    return {r, kUncertain, honest};
  double up = 1 / std::sqrt(least) - r, down = r - 1 / std::sqrt(shifted + error);
  return checked(r, std::max(up, down) + precision.rounding(r, 3), honest, precision);
}

/// d * q, where the deviation d has its own error bound.
static Number normalized(const Number &d, const Number &q, Precision precision) {
  double r = d.reference * q.reference;
  double honest = precision.round(d.honest * q.honest);
  if (!std::isfinite(r))
    return {r, std::isinf(d.error) || std::isinf(q.error) ? kUncertain : 0, honest};
  double error = d.error * (q.reference + q.error) + std::fabs(d.reference) * q.error;
  return checked(r, error + precision.rounding(r), honest, precision);
}

/// x - m, where the bound of the difference is absolute: it may be far above |x - m|.
static Number deviation(const Number &x, const Number &m, Precision precision) {
  double r = x.reference - m.reference;
  double error = x.error + m.error;
  if (error > 0 || !precision.holds(r))
    error += precision.rounding(r);
  return {r, error, precision.round(x.honest - m.honest)};
}

/// The mean and R_m. Kernels merge means of parts of the row, so an exact sum, unlike that of a
/// reduction, promises no exact mean.
static std::pair<Number, double> layerNormMean(const std::vector<Number> &row,
                                               Precision precision) {
  int64_t n = static_cast<int64_t>(row.size());
  Sum total = sum(
      n, [&](int64_t i) { return row[i]; }, precision);
  Number mean = meanOf(total, n, precision);
  double count = static_cast<double>(n);
  double summing = std::max(total.rounding, sumBound(n, precision) * total.absolute);
  double rounding = summing / count + precision.rounding(mean.reference, 2);
  if (std::isfinite(mean.reference))
    mean.error = std::max(mean.error, total.number.error / count + rounding);
  return {mean, rounding};
}

static Number layerNormVariance(const std::vector<Number> &row, const Number &mean,
                                double meanRounding, Precision precision) {
  double n = static_cast<double>(row.size());
  long double squares = 0, carried = 0;
  double honest = 0;
  for (const Number &x : row) {
    Number d = deviation(x, mean, precision);
    squares += static_cast<long double>(d.reference) * d.reference;
    // The square of the error counts where a row is constant but for its rounding.
    carried += (std::fabs(d.reference) + 0.5 * x.error) * x.error;
    honest = precision.round(honest + precision.round(d.honest * d.honest));
  }
  double v = static_cast<double>(squares) / n;
  honest = precision.round(honest / precision.round(n));
  if (!std::isfinite(v))
    return {v, std::isinf(mean.error) ? kUncertain : 0, honest};
  double error = 2 * static_cast<double>(carried) / n + 2 * std::sqrt(v) * meanRounding +
                 mean.error * mean.error +
                 (sumBound(row.size(), precision) + 4 * precision.unit()) * v;
  if (v > 0)
    error += precision.smallest();
  error = std::max(error, std::fabs(honest - v));
  if (static_cast<double>(squares) > precision.largest())
    error = kUncertain;
  return checked(v, error, honest, precision);
}

static Number meanSquare(const std::vector<Number> &row, Precision precision) {
  double n = static_cast<double>(row.size());
  long double squares = 0, carried = 0;
  double honest = 0;
  bool uncertain = false;
  for (const Number &x : row) {
    squares += static_cast<long double>(x.reference) * x.reference;
    carried += (2 * std::fabs(x.reference) + x.error) * x.error;
    uncertain |= std::isinf(x.error);
    honest = precision.round(honest + precision.round(x.honest * x.honest));
  }
  double s = static_cast<double>(squares) / n;
  honest = precision.round(honest / precision.round(n));
  if (!std::isfinite(s))
    return {s, uncertain ? kUncertain : 0, honest};
  double error = static_cast<double>(carried) / n +
                 (sumBound(row.size(), precision) + 3 * precision.unit()) * s;
  if (s > 0)
    error += precision.smallest();
  error = std::max(error, std::fabs(honest - s));
  if (uncertain || static_cast<double>(squares) > precision.largest())
    error = kUncertain;
  return checked(s, error, honest, precision);
}

/// Walks the rows over the dimensions from `axis` on: statistics first, then each element.
/// `center` gives mean and rstd of a row.
template <typename Center>
static NormResult normalizeRows(const Value &x, const Value *gamma, const Value *beta, int64_t axis,
                                ElementType type, std::optional<ElementType> statistics,
                                bool withMean, Precision precision, Center center) {
  llvm::ArrayRef<int64_t> outer = x.shape().take_front(axis);
  int64_t rows = elementCount(outer);
  int64_t length = elementCount(x.shape().drop_front(axis));
  NormResult results;
  results.result = Value(type, x.shape());
  if (statistics)
    results.rstd = Value(*statistics, outer);
  if (statistics && withMean)
    results.mean = Value(*statistics, outer);
  if (!results.result.isAllocated() || !results.rstd.isAllocated() || !results.mean.isAllocated())
    return results;

  parallelFor(rows, rowChunk(length), [&](int64_t begin, int64_t end) {
    std::vector<Number> row(length);
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t i = 0; i < length; ++i)
        row[i] = x.load(r * length + i);
      auto [mean, rstd] = center(row);
      for (int64_t i = 0; i < length; ++i) {
        Number d = withMean ? deviation(row[i], mean, precision) : row[i];
        Number y = normalized(d, rstd, precision);
        if (gamma)
          y = multiply(y, gamma->load(i), precision);
        if (beta)
          y = add(y, beta->load(i), precision);
        results.result.store(r * length + i, y);
      }
      if (statistics)
        results.rstd.store(r, rstd);
      if (statistics && withMean)
        results.mean.store(r, mean);
    }
  });
  for (Value *value : {&results.result, &results.mean, &results.rstd}) {
    value->samples = std::min(x.samples, rows);
    value->simplify();
  }
  return results;
}

NormResult layerNorm(const Value &x, const Value *gamma, const Value *beta, int64_t axis,
                     double epsilon, ElementType type, std::optional<ElementType> statistics,
                     Precision precision) {
  return normalizeRows(x, gamma, beta, axis, type, statistics, /*withMean=*/true, precision,
                       [&](const std::vector<Number> &row) {
                         auto [mean, rounding] = layerNormMean(row, precision);
                         Number variance = layerNormVariance(row, mean, rounding, precision);
                         // Of a row with an infinity the mean is NaN like all else, as PyTorch's.
                         if (std::isnan(variance.reference))
                           mean.reference = mean.honest = NAN;
                         return std::make_pair(mean, rstdOf(variance, epsilon, precision));
                       });
}

NormResult rmsNorm(const Value &x, const Value *gamma, int64_t axis, double epsilon,
                   ElementType type, std::optional<ElementType> statistics, Precision precision) {
  return normalizeRows(x, gamma, /*beta=*/nullptr, axis, type, statistics, /*withMean=*/false,
                       precision, [&](const std::vector<Number> &row) {
                         return std::make_pair(
                             Number(), rstdOf(meanSquare(row, precision), epsilon, precision));
                       });
}

} // namespace swage::reference
