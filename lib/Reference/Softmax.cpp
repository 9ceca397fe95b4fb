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
// another exponential, as online kernels do. `smallest` is for results that are denormal in f32.
// No error is larger than the distance to the ends of 0..1.
//
//===----------------------------------------------------------------------===//

#include "Ops.h"
#include "Rows.h"
#include "swage/Reference/Parallel.h"

namespace swage::reference {

static void softmaxRow(std::vector<Number> &row, Precision precision) {
  int64_t n = static_cast<int64_t>(row.size());
  double maximum = -HUGE_VAL, honestMaximum = -HUGE_VAL;
  bool uncertain = false, special = false;
  for (const Number &s : row) {
    maximum = std::max(maximum, s.reference);
    honestMaximum = std::max(honestMaximum, s.honest);
    uncertain |= std::isinf(s.error);
    special |= std::isnan(s.reference) || s.reference == HUGE_VAL;
  }
  if (uncertain || special || maximum == -HUGE_VAL) {
    std::fill(row.begin(), row.end(), Number{NAN, uncertain ? kUncertain : 0, NAN});
    return;
  }

  long double total = 0, weighted = 0;
  double honestTotal = 0;
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
    s = {exponential, relative, honest};
  }
  double sum = static_cast<double>(total);
  double summing = std::max(sumBound(n, precision), std::fabs(honestTotal - sum) / sum);
  double common = static_cast<double>(weighted) / sum + summing + 3 * precision.unit();
  for (Number &s : row) {
    double y = s.reference / sum;
    double error = 0;
    if (y > 0) {
      error = y * std::expm1(s.error + common) + 2 * precision.smallest();
      error = std::min(error, std::max(y, 1 - y) + precision.unit());
    }
    s = {y, error, precision.round(s.honest / honestTotal)};
  }
}

Value softmax(const Value &x, int64_t axis, std::optional<double> scale, ElementType type,
              Precision precision) {
  Value result(type, x.shape());
  if (!result.isAllocated() || result.size() == 0)
    return result;
  int64_t length = x.shape()[axis], stride = 1;
  for (int64_t extent : x.shape().drop_front(axis + 1))
    stride *= extent;
  int64_t rows = result.size() / length;
  Number factor = constant(scale.value_or(1), precision);
  parallelFor(rows, rowChunk(length), [&](int64_t begin, int64_t end) {
    std::vector<Number> row(length);
    for (int64_t r = begin; r < end; ++r) {
      int64_t first = r / stride * stride * length + r % stride;
      for (int64_t i = 0; i < length; ++i) {
        row[i] = x.load(first + i * stride);
        if (scale)
          row[i] = multiply(row[i], factor, precision);
      }
      softmaxRow(row, precision);
      for (int64_t i = 0; i < length; ++i)
        result.store(first + i * stride, row[i]);
    }
  });
  result.samples = std::min(x.samples, rows);
  result.simplify();
  return result;
}

} // namespace swage::reference
