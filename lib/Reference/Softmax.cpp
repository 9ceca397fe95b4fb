//===- Softmax.cpp - Softmax along an axis --------------------------------===//
//
// For a row s_i = scale * x_i with errors E_i, m its maximum, y_i = exp(s_i - m) / sum:
//
//   exponential   relative error  e_i = E_i + 4 u (m - s_i) + 6 u
//   sum           relative error  sum y_j e_j + gamma(n)
//   y_i           E = y_i (exp(e_i + sum y_j e_j + gamma(n) + 3 u) - 1) + smallest
//
// 4 u (m - s_i) is the rounded difference and its product with log2(e) in kernels that use exp2; an
// error of m itself is common to the row and cancels. 6 u is the exponential and one rescaling by
// another exponential, as online kernels do. `smallest` is for results that are denormal in f32, which
// kernels for 16-bit elements, bf16 among them, may also take for 0: their error is all of them.
// No error is larger than the distance to the ends of 0..1.
//
// The logarithm of the sum has the error of the sum, as an absolute one, and its own; log-softmax
// is (s_i - m) - log(sum), log-sum-exp m + log(sum). What is masked is -inf, without an error.
//
//===----------------------------------------------------------------------===//

#include "Ops.h"
#include "Rows.h"
#include "swage/Reference/Parallel.h"

namespace swage::reference {

/// Replaces a row by its softmax, or the logarithm of it, and returns its log-sum-exp. A row that
/// is -inf throughout becomes `empty`.
static Number softmaxRow(std::vector<Number> &row, bool log, double empty, Precision precision) {
  int64_t n = static_cast<int64_t>(row.size());
  double maximum = -HUGE_VAL, honestMaximum = -HUGE_VAL;
  bool uncertain = false, special = false;
  for (const Number &s : row) {
    maximum = std::max(maximum, s.reference);
    honestMaximum = std::max(honestMaximum, s.honest);
    uncertain |= std::isinf(s.error);
    special |= std::isnan(s.reference) || s.reference == HUGE_VAL;
  }
  if (uncertain || special) {
    Number none{NAN, uncertain ? kUncertain : 0, NAN};
    std::fill(row.begin(), row.end(), none);
    return none;
  }
  if (maximum == -HUGE_VAL) {
    std::fill(row.begin(), row.end(), Number{empty, 0, empty});
    return {-HUGE_VAL, 0, -HUGE_VAL};
  }

  long double total = 0, weighted = 0;
  double honestTotal = 0;
  std::vector<Number> distances;
  for (Number &s : row) {
    double distance = maximum - s.reference;
    double exponential = std::exp(-distance);
    total += exponential;
    double relative = 0;
    if (std::isfinite(distance)) {
      relative = s.error + precision.unit() * (4 * distance + 6);
      weighted += exponential * relative;
    }
    double difference = precision.round(s.honest - honestMaximum);
    double honest =
        precision.wide ? std::exp(difference) : std::exp(static_cast<float>(difference));
    honestTotal = precision.round(honestTotal + honest);
    if (log)
      distances.push_back({-distance, s.error + precision.rounding(distance), difference});
    s = {exponential, relative, honest};
  }
  double sum = static_cast<double>(total);
  double summing = std::max(sumBound(n, precision), std::fabs(honestTotal - sum) / sum);
  double summed = static_cast<double>(weighted) / sum + summing;
  double common = summed + 3 * precision.unit();
  Number logSum = apply(Function::Log, {sum, sum * summed, honestTotal}, precision);
  for (int64_t i = 0; i < n; ++i) {
    Number &s = row[i];
    if (log) {
      s = s.reference == 0 && std::isinf(distances[i].reference)
              ? Number{-HUGE_VAL, 0, -HUGE_VAL}
              : subtract(distances[i], logSum, precision);
      continue;
    }
    double y = s.reference / sum;
    double error = 0;
    if (y > 0) {
      error = y * std::expm1(s.error + common) + 2 * precision.smallest();
      if (!precision.wide && y < precision.smallestNormal())
        error += y;
      error = std::min(error, std::max(y, 1 - y) + precision.unit());
    }
    s = {y, error, precision.round(s.honest / honestTotal)};
  }
  return add({maximum, 0, honestMaximum}, logSum, precision);
}

SoftmaxResult softmax(const Value &x, const Value *mask, int64_t axis,
                      const SoftmaxOptions &options, ElementType type,
                      std::optional<ElementType> statistics, Precision precision) {
  Value result(type, x.shape()), logSumExp;
  if (statistics) {
    Shape kept(x.shape());
    kept.erase(kept.begin() + axis);
    logSumExp = Value(*statistics, kept);
  }
  if (!result.isAllocated() || !logSumExp.isAllocated())
    return {result, logSumExp};
  int64_t length = x.shape()[axis], stride = 1;
  for (int64_t extent : x.shape().drop_front(axis + 1))
    stride *= extent;
  int64_t rows = length ? result.size() / length : statistics ? logSumExp.size() : 0;
  Number factor = constant(options.scale.value_or(1), precision), masked{-HUGE_VAL, 0, -HUGE_VAL};
  double empty = !mask || options.nanRows ? NAN : options.log ? -HUGE_VAL : 0;
  parallelFor(rows, rowChunk(length), [&](int64_t begin, int64_t end) {
    std::vector<Number> row(length);
    for (int64_t r = begin; r < end; ++r) {
      int64_t first = r / stride * stride * length + r % stride;
      for (int64_t i = 0; i < length; ++i) {
        row[i] = x.load(first + i * stride);
        if (options.scale)
          row[i] = multiply(row[i], factor, precision);
        Number keeps = mask ? mask->load(first + i * stride) : Number();
        if (mask && (keeps.integer == 0 || keeps.error > 0))
          row[i] = masked;
        if (keeps.error > 0)
          row[i].error = kUncertain;
      }
      Number statistic = softmaxRow(row, options.log, empty, precision);
      for (int64_t i = 0; i < length; ++i)
        result.store(first + i * stride, row[i]);
      if (statistics)
        logSumExp.store(r, statistic);
    }
  });
  for (Value *value : {&result, &logSumExp}) {
    value->samples = std::min(x.samples, rows);
    value->simplify();
  }
  return {result, logSumExp};
}

} // namespace swage::reference
