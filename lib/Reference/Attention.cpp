//===- Attention.cpp - Weighted averages of values ------------------------===//
//
// For a row of scores s_j with errors E_j, m their maximum, p_j = exp(s_j - m), l = sum p_j and
// o = sum p_j v_j / l:
//
//   score     gamma(D) scale sum |q_d k_d|, and what its region adds
//   weight    relative error  e_j = exp(E_j + u (4 (m - s_j) + 4 |m| + 8)) - 1
//   l         relative error  sum p_j e_j / l + gamma(n)
//   o         E = (sum (p_j (e_j + w + gamma(n)) + t) |v_j|) / l + |o| (that of l + 3 u)
//   p_j / l   E = (p_j e_j + the smallest normal f32) / l + p_j / l (that of l + 3 u)
//
// 4 u (m - s_j) is the rounded difference, 4 u |m| its product with log2(e), which kernels round
// for the score and for the maximum apart, once for each maximum that they had on the way; 8 u is
// the exponential and the rescalings. w is half an ulp of 1 of the operands' type, to which weights
// are rounded for tensor cores, and t half the smallest number of that type, or what f32 flushes to
// 0; of values that are made of 8 bits f16's, which kernels may round weights to, as it holds such
// values. Kernels may keep a maximum that is too small by up to 2^8: that moves the rounding of a
// weight, but not its relative size. Operands that are no inputs are rounded to their type, for the
// same reason. No E is larger than the distance to the largest value and back.
//
// The honest evaluation adds up in f32, one key after another, and rounds weights to the operands'
// type. A value that is infinite or NaN counts for sure where its weight cannot vanish. A sink is
// a score without a value; its weight, and the maximum that it begins with, are 3 u more. A factor
// f of a weight, with an error F, makes it p_j f (e_j + w + gamma(n) + 2 u) + p_j F, and t f where
// it is taken apart and f > 1.
//
// Factors of f32 may be, for tensor cores, two numbers of tf32, of 11 bits each. Of an evaluation
// with them as they are, and one with what the two hold, the honest one is, for each element, the
// one that is farther off. The first number is infinite from 2^128 - 2^116 on, so that
// scores are uncertain where a query or key is finite beyond it; sums of such values are anyway.
// Of a number below 2^-112 the second one is denormal, without what is below 2^-136.
//
// Where scores are large, a row is one key's unless two of them are nearly the same, and then their
// rounding errors are all that the row's error comes from. So few rows hold the largest error of an
// evaluation, which is small by luck now and then. Of such rows of f32 more evaluations are made,
// whose scores begin with other products; for each element the one that is farthest off counts.
//
// With `tf32` there is the first number alone: the nearest one of queries and weights, and of keys
// and values the one that is left if the other bits are cut. E_j is then larger by
// scale (2^-11 + 2^-10) sum |q_d k_d|, w is 2^-11, and E by 2^-10 sum p_j |v_j| / l.
//
// Tensor cores add 16 products of 16-bit floats at once to a sum, and cut what comes of that to an
// f32, always towards zero. So does another honest evaluation of scores; the one that is farther
// off counts. (Measured: log-sum-exps of scores of 10^4, head dims of 200 and more, are 3 to 4 ulp
// too small on average, which one product after the other, rounded, does not show.)
//
// They add up products of 8-bit floats in steps of 32, in which they cut all terms 13 bits
// behind the first one of the largest. So does the honest evaluation, for 2112 products at most,
// sums of which it adds up in f64. gamma(n) is then c(n) = 2^-13 (17 / 32 m + 4 sqrt(m)) with
// m = min(n, 2112): each product and, twice a step, the sum lose up to 2^-13 of the sum of absolute
// values, all towards zero, half of that on average, from which they stray like sqrt(m). Weights of
// 8 bits are those of a maximum that is smaller by 2^4, so that more of them are normal numbers,
// and outputs are divided by the sum of what they were rounded to.
//
//===----------------------------------------------------------------------===//

#include "Ops.h"
#include "Rows.h"
#include "ScalarProgram.h"
#include "swage/Dialect/Swage/IR/AttentionProblem.h"
#include "swage/Reference/Parallel.h"
#include "llvm/ADT/bit.h"
#include <atomic>
#include <optional>

namespace swage::reference {

namespace {

/// What honest evaluations take of an f32: all of it; what two numbers of tf32 hold, the nearest
/// one and the first bits of the rest; the nearest one alone; or the first bits.
enum class Factors { Whole, TwoParts, Nearest, Cut };

float factorOf(float x, Factors kind) {
  auto bits = [](float y) { return llvm::bit_cast<uint32_t>(y); };
  auto first = [](uint32_t bits) { return llvm::bit_cast<float>(bits & 0xffffe000u); };
  if (kind == Factors::Whole || !std::isfinite(x))
    return x;
  if (kind == Factors::Cut)
    return first(bits(x));
  float high = first(bits(x) + 0x1000);
  if (kind == Factors::Nearest)
    return high;
  return std::isfinite(high) ? high + first(bits(x - high)) : x;
}
/// Of two honest evaluations, the one that is farther off.
void takeFarther(Number &one, const Number &other) {
  if (std::fabs(other.honest - other.reference) > std::fabs(one.honest - one.reference))
    one.honest = other.honest;
}
/// Honest evaluations of a row of f32: of one whose log-sum-exp is large, and of any other.
constexpr int64_t kDraws = 8, kOrdinaryDraws = 2;
constexpr double kLargeScore = 256;
/// The least magnitude of which the nearest tf32 is infinite.
constexpr double kBeyondParts = 0x1p128 - 0x1p116;
/// What they leave out of a number that is as small as can be.
constexpr double kBelowParts = 0x1p-136;

/// A matrix whose rows the loops below walk through; `Real` is what honest evaluations compute in.
template <typename Real> struct Matrix {
  int64_t columns;
  std::vector<double> reference, error; ///< errors only where there are some
  std::vector<Real> honest;

  /// Element (i, j) is element `at(i, j)` of x, rounded to its type.
  template <typename At>
  Matrix(const Value &x, int64_t rows, int64_t columns, Factors factors, At at)
      : columns(columns), reference(rows * columns), error(x.isExact() ? 0 : rows * columns),
        honest(rows * columns) {
    parallelFor(rows, rowChunk(columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          Number number = x.load(at(i, j));
          if (!x.isExact())
            number = storedAs(x.type(), number);
          reference[i * columns + j] = number.reference;
          Real &factor = honest[i * columns + j] = static_cast<Real>(number.honest);
          if (factors != Factors::Whole)
            factor = factorOf(factor, factors);
          if (!x.isExact())
            error[i * columns + j] = number.error;
        }
    });
  }
  double errorAt(int64_t i) const { return error.empty() ? 0 : error[i]; }
};

/// `sum` and products of 8-bit floats, no more than 32, as one step of tensor cores adds them up.
double addStep(double sum, llvm::ArrayRef<double> products) {
  double largest = std::fabs(sum), plain = sum;
  for (double product : products) {
    largest = std::max(largest, std::fabs(product));
    plain += product;
  }
  if (plain == 0 && largest == 0)
    return 0;
  if (!std::isfinite(plain))
    return plain;
  auto cut = [](double x, int exponent) {
    return std::ldexp(static_cast<double>(static_cast<int64_t>(std::ldexp(x, 13 - exponent))),
                      exponent - 13);
  };
  int exponent = std::ilogb(largest);
  double total = cut(sum, exponent);
  for (double product : products)
    total += cut(product, exponent);
  return total == 0 ? 0 : cut(total, std::ilogb(total));
}

/// term(0) + ... + term(n - 1) by such steps.
template <typename Term> double sumOfSteps(int64_t n, Term term) {
  double total = 0, sum = 0;
  std::array<double, 32> products;
  for (int64_t begin = 0; begin < n; begin += 32) {
    if (begin % AttentionProblem::kMostRun == 0)
      total += std::exchange(sum, 0);
    int64_t count = std::min<int64_t>(32, n - begin);
    for (int64_t i = 0; i < count; ++i)
      products[i] = term(begin + i);
    sum = addStep(sum, llvm::ArrayRef(products).take_front(count));
  }
  return total + sum;
}

/// The f32 that is not farther from zero.
float cutToFloat(double x) {
  float rounded = static_cast<float>(x);
  return std::fabs(static_cast<double>(rounded)) > std::fabs(x) ? std::nextafter(rounded, 0.0f)
                                                                : rounded;
}

/// The attention of the queries that share a head of keys and values.
template <typename Real> class Head {
public:
  Head(Matrix<Real> q, Matrix<Real> k, Matrix<Real> v, const AttentionOptions &options,
       ElementType type, Precision precision, Factors weightFactors)
      : q(std::move(q)), k(std::move(k)), v(std::move(v)), options(options), precision(precision),
        type(type), keys(this->k.columns), width(this->v.columns), weightFactors(weightFactors) {
    FloatFormat format = formatOf(type);
    bool isNarrow = byteWidth(type) < 4;
    inSteps = byteWidth(type) == 1;
    weightScale = inSteps ? 16 : 1;
    weightUnit = isNarrow ? std::ldexp(1.0, -format.precision) : 0;
    weightFloor = std::max(
        precision.smallestNormal(),
        isNarrow ? std::ldexp(1.0, format.minExponent - format.precision) / weightScale : 0);
    if (options.ofCache && isNarrow && !inSteps) {
      FloatFormat half = formatOf(ElementType::F16);
      weightFloor = std::max(weightFloor, std::ldexp(1.0, half.minExponent - half.precision));
    }
    if (options.tf32) {
      weightUnit = 0x1p-11;
      valueUnit = 0x1p-10;
      scoreUnit = weightUnit + valueUnit + 0x1p-20; // and their product
    }
    if (type == ElementType::F32 && !precision.wide) {
      double most = 0;
      for (const Matrix<Real> *matrix : {&this->q, &this->k})
        for (double number : matrix->reference)
          if (std::isfinite(number))
            most = std::max(most, std::fabs(number));
      isBeyond = most >= kBeyondParts;
      scoreFloor = 2 * static_cast<double>(this->q.columns) * most * kBelowParts;
      valueFloor = kBelowParts;
    }
    largest.assign(width, 0);
    for (int64_t i = 0; i < keys * width; ++i) {
      double magnitude = std::fabs(this->v.reference[i]) + this->v.errorAt(i);
      double &known = largest[i % width];
      known = std::isnan(magnitude) ? HUGE_VAL : std::max(known, magnitude);
    }
  }

  /// Evaluates row `row` of q, whose coordinates but the key are `at`; returns its log-sum-exp.
  /// `probabilities`, which may be null, are those of its keys.
  Number evaluate(int64_t row, llvm::ArrayRef<int64_t> at, std::vector<Number> &result,
                  std::vector<Number> *probabilities) const;

private:
  /// What adding up n products costs.
  double productBound(int64_t n) const {
    double terms = static_cast<double>(std::min(n, AttentionProblem::kMostRun));
    return inSteps ? std::ldexp(terms * 17 / 32 + 4 * std::sqrt(terms), -13)
                   : sumBound(n, precision);
  }
  void computeScores(int64_t row, llvm::ArrayRef<int64_t> at, std::vector<Number> &scores) const;
  std::vector<Number> factorsOf(llvm::ArrayRef<int64_t> at,
                                const std::vector<Number> &scores) const;
  Number special(int64_t column, const std::vector<Number> &weights) const;

  Matrix<Real> q, k, v; ///< k transposed: a row for each d
  const AttentionOptions &options;
  Precision precision;
  ElementType type;
  int64_t keys, width;
  Factors weightFactors;          ///< what the honest evaluation takes of weights
  bool inSteps, isBeyond = false; ///< whether a query or key is finite, but not as tf32
  double weightUnit, weightFloor, weightScale; ///< w, t, and what weights are multiplied by
  double scoreUnit = 0, valueUnit = 0;         ///< of products, and of values, in tf32
  double scoreFloor = 0, valueFloor = 0;       ///< what is left out of small factors of f32
  std::vector<double> largest;    ///< by column of v
};

/// What is masked is -inf, without an error.
template <typename Real>
void Head<Real>::computeScores(int64_t row, llvm::ArrayRef<int64_t> at,
                               std::vector<Number> &scores) const {
  int64_t depth = q.columns;
  std::vector<double> sums(keys), absolute(keys), errors(keys);
  std::vector<Real> honest(keys);
  constexpr int64_t kStep = 16;
  bool isCut = byteWidth(type) == 2;
  std::vector<double> step(isCut ? keys : 0); ///< with what the steps before have left
  for (int64_t d = 0; d < depth; ++d) {
    double x = q.reference[row * depth + d], xError = q.errorAt(row * depth + d);
    Real xHonest = q.honest[row * depth + d];
    const double *y = &k.reference[d * keys];
    const Real *yHonest = &k.honest[d * keys];
    for (int64_t j = 0; j < keys; ++j) {
      double product = x * y[j];
      sums[j] += product;
      absolute[j] += std::fabs(product);
      honest[j] += xHonest * yHonest[j];
    }
    if (isCut) {
      for (int64_t j = 0; j < keys; ++j)
        step[j] += static_cast<double>(xHonest) * static_cast<double>(yHonest[j]);
      if (d % kStep == kStep - 1 || d == depth - 1)
        for (double &sum : step)
          sum = cutToFloat(sum);
    }
    if (xError > 0 || !k.error.empty())
      for (int64_t j = 0; j < keys; ++j) {
        double yError = k.errorAt(d * keys + j);
        errors[j] += std::fabs(x) * yError + std::fabs(y[j]) * xError + xError * yError;
      }
  }

  for (int64_t j = 0; isCut && j < keys; ++j)
    if (std::fabs(step[j] - sums[j]) > std::fabs(static_cast<double>(honest[j]) - sums[j]))
      honest[j] = static_cast<Real>(step[j]);
  for (int64_t j = 0; inSteps && j < keys; ++j)
    honest[j] = static_cast<Real>(sumOfSteps(depth, [&](int64_t d) -> double {
      return q.honest[row * depth + d] * k.honest[d * keys + j];
    }));

  Number factor = constant(options.scale, precision);
  double gamma = productBound(depth);
  std::vector<Number> maskRegisters, scoreRegisters;
  auto start = [&](const ScalarProgram *program, std::vector<Number> &registers, int64_t first) {
    if (program)
      registers = program->makeRegisters();
    for (size_t i = 0; program && i < at.size(); ++i)
      registers[first + i].integer = at[i];
  };
  start(options.mask, maskRegisters, 0);
  start(options.score, scoreRegisters, 1);
  for (int64_t j = 0; j < keys; ++j) {
    scores[j] = {-HUGE_VAL, 0, -HUGE_VAL};
    if (options.mask) {
      maskRegisters[at.size()].integer = j;
      Number keeps = options.mask->run(maskRegisters);
      if (keeps.error > 0)
        scores[j].error = kUncertain;
      if (keeps.error > 0 || !keeps.integer)
        continue;
    }
    double error = std::isnan(errors[j]) ? kUncertain : errors[j];
    if (absolute[j] > 0 && std::isfinite(absolute[j]))
      error += std::max((gamma + scoreUnit) * absolute[j] + scoreFloor + precision.smallest(),
                        std::fabs(static_cast<double>(honest[j]) - sums[j]));
    if (std::isfinite(sums[j]) && absolute[j] > precision.largest()) // on the way
      error = kUncertain;
    if (isBeyond)
      error = kUncertain;
    Number dot = checked(sums[j], error, static_cast<double>(honest[j]), precision);
    scores[j] = options.scale == 1 ? dot : multiply(dot, factor, precision);
    if (options.score) {
      scoreRegisters[0] = scores[j];
      scoreRegisters[1 + at.size()].integer = j;
      scores[j] = options.score->run(scoreRegisters);
    }
  }
}

/// What the weights are multiplied by; nothing where that is 1, and 1 where there is no weight.
template <typename Real>
std::vector<Number> Head<Real>::factorsOf(llvm::ArrayRef<int64_t> at,
                                          const std::vector<Number> &scores) const {
  if (!options.weight)
    return {};
  // Times what a weight is with a late maximum.
  double most = (type == ElementType::F16 ? 65280 : precision.largest()) * 0x1p-8;
  std::vector<Number> factors(keys, Number{1, 0, 1}), registers = options.weight->makeRegisters();
  for (size_t i = 0; i < at.size(); ++i)
    registers[i].integer = at[i];
  for (int64_t j = 0; j < keys; ++j) {
    if (scores[j].reference == -HUGE_VAL)
      continue;
    registers[at.size()].integer = j;
    factors[j] = options.weight->run(registers);
    if (!(std::fabs(factors[j].reference) <= most))
      factors[j].error = kUncertain;
  }
  return factors;
}

/// The sum over a column of values that are not all finite, or not all known.
template <typename Real>
Number Head<Real>::special(int64_t column, const std::vector<Number> &weights) const {
  double sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    double value = v.reference[j * width + column];
    bool isKnown = std::isfinite(v.errorAt(j * width + column));
    if (isKnown && std::isfinite(value))
      continue;
    if (!isKnown || std::fabs(weights[j].reference) <= 4 * weightFloor)
      return {NAN, kUncertain, NAN};
    sum += weights[j].reference < 0 ? -value : value;
  }
  return {sum, 0, sum};
}

template <typename Real>
Number Head<Real>::evaluate(int64_t row, llvm::ArrayRef<int64_t> at, std::vector<Number> &result,
                            std::vector<Number> *probabilities) const {
  std::vector<Number> scores(keys);
  computeScores(row, at, scores);
  double maximum = -HUGE_VAL, honestMaximum = -HUGE_VAL;
  bool uncertain = false, isSpecial = false;
  if (options.sinks) {
    scores.push_back(options.sinks->load(at[at.size() - 2]));
    double sink = scores.back().reference;
    uncertain = std::isnan(sink) || sink == HUGE_VAL;
  }
  for (const Number &s : scores) {
    maximum = std::max(maximum, s.reference);
    honestMaximum = std::max(honestMaximum, s.honest);
    uncertain |= isUncertain(s);
    isSpecial |= std::isnan(s.reference) || s.reference == HUGE_VAL;
  }
  if (uncertain || isSpecial) {
    Number none{NAN, uncertain ? kUncertain : 0, NAN};
    std::fill(result.begin(), result.end(), none);
    if (probabilities)
      probabilities->assign(keys, none);
    return none;
  }

  double unit = precision.unit(), gamma = sumBound(keys, precision), product = productBound(keys);
  double sum = 0, sumError = 0;
  Real honestSum = 0;
  double mostFactor = 1;
  std::vector<Number> factors = factorsOf(at, scores);
  std::vector<double> numerator(width), error(width);
  std::vector<Real> honest(width);
  std::vector<double> honestWeights(scores.size());
  if (probabilities)
    probabilities->assign(keys, {});
  for (int64_t j = 0; j < static_cast<int64_t>(scores.size()); ++j) {
    Number &s = scores[j];
    if (s.reference == -HUGE_VAL) {
      s = {};
      continue;
    }
    double distance = maximum - s.reference, p = std::exp(-distance);
    double slip = s.error + unit * (4 * distance + 4 * std::fabs(maximum) + 8);
    double pError = p > 0 ? p * std::expm1(slip) : std::exp(slip - distance);
    Real honestP = std::exp(static_cast<Real>(s.honest) - static_cast<Real>(honestMaximum));
    sum += p;
    sumError += pError;
    honestSum += honestP;
    honestWeights[j] = static_cast<double>(honestP) * weightScale;
    if (j == keys) // a sink
      break;
    if (probabilities)
      (*probabilities)[j] = {p, pError, static_cast<double>(honestP)};
    Number factor = factors.empty() ? Number{1, 0, 1} : factors[j];
    honestP = static_cast<Real>(roundTo(type, honestWeights[j] * factor.honest));
    if (weightFactors != Factors::Whole)
      honestP = factorOf(honestP, weightFactors);
    honestWeights[j] = static_cast<double>(honestP);
    double magnitude = std::fabs(factor.reference), most = magnitude + factor.error;
    mostFactor = std::max(mostFactor, most);
    double share = magnitude * (pError + p * (weightUnit + valueUnit + product)) +
                   weightFloor * std::max(1.0, magnitude) + (p + pError) * factor.error;
    if (!factors.empty())
      share += 2 * unit * p * magnitude;
    p *= factor.reference;
    const double *y = &v.reference[j * width];
    const Real *yHonest = &v.honest[j * width];
    for (int64_t d = 0; d < width; ++d) {
      numerator[d] += p * y[d];
      error[d] += share * std::fabs(y[d]);
      honest[d] += honestP * yHonest[d];
    }
    for (int64_t d = 0; !v.error.empty() && d < width; ++d)
      error[d] += (std::fabs(p) + share) * v.error[j * width + d];
    s = {p, 0, 0};
  }

  double divisor = static_cast<double>(honestSum);
  double empty = options.nanRows && !options.sinks ? NAN : 0,
         common = sum > 0 ? sumError / sum + gamma + (options.sinks ? 6 : 3) * unit : 0;
  if (probabilities)
    for (Number &p : *probabilities) {
      if (sum == 0) {
        p = {empty, 0, empty};
        continue;
      }
      if (p.reference == 0 && p.error == 0) // masked
        continue;
      double weight = p.reference / sum,
             bound = (p.error + precision.smallestNormal()) / sum + weight * common;
      bound = std::min(bound, weight + 1 + gamma + 6 * unit);
      double honestP = static_cast<double>(static_cast<Real>(p.honest) / honestSum);
      p = checked(weight, bound, honestP, precision);
    }
  if (inSteps) { // what the results are divided by is a sum of rounded weights
    double floor = static_cast<double>(keys) * weightFloor;
    common += sum > 0 ? weightUnit + product + floor / sum : 0;
    divisor = std::accumulate(honestWeights.begin(), honestWeights.end(), 0.0);
  }
  for (int64_t d = 0; d < width; ++d) {
    if (std::isinf(largest[d])) {
      result[d] = special(d, scores);
      continue;
    }
    if (std::isinf(mostFactor)) {
      result[d] = {NAN, kUncertain, NAN};
      continue;
    }
    if (sum == 0) { // masked or -inf throughout
      result[d] = {empty, 0, empty};
      continue;
    }
    double r = numerator[d] / sum;
    double bound =
        error[d] / sum + std::fabs(r) * common + mostFactor * valueFloor + 2 * precision.smallest();
    bound = std::min(bound,
                     std::fabs(r) + mostFactor * largest[d] * (1 + 4 * weightUnit + 4 * product));
    constexpr double kLate = 256; // weights of a kernel whose maximum is too small
    if (kLate * mostFactor * sum * largest[d] > precision.largest())
      bound = kUncertain;
    if (inSteps)
      honest[d] = static_cast<Real>(
          sumOfSteps(keys, [&](int64_t j) { return honestWeights[j] * v.honest[j * width + d]; }));
    double honestResult = static_cast<double>(honest[d] / static_cast<Real>(divisor));
    result[d] = checked(r, bound, honestResult, precision);
  }
  if (sum == 0)
    return {-HUGE_VAL, 0, -HUGE_VAL};
  Number logSum = apply(Function::Log,
                        {sum, sumError + gamma * sum, static_cast<double>(honestSum)}, precision);
  return add({maximum, 0, honestMaximum}, logSum, precision);
}

/// Whether more than one key has a share of a row. Others give 1 and 0, in which no rounding shows.
bool isShared(llvm::ArrayRef<Number> probabilities) {
  double largest = 0;
  for (const Number &p : probabilities)
    largest = std::max(largest, p.reference);
  return largest > 0 && largest < 1 - 0x1p-10;
}

template <typename Real>
void attentionOf(const Value &q, const Value &k, const Value &v, const AttentionOptions &options,
                 AttentionResult &results, Precision precision) {
  llvm::ArrayRef<int64_t> shape = q.shape();
  size_t leading = shape.size() - 3;
  int64_t keyHeads = k.shape()[leading], keys = k.shape()[leading + 1], depth = shape.back(),
          width = v.shape().back(), queries = shape[leading + 1];
  int64_t group = keyHeads ? shape[leading] / keyHeads : 0;
  int64_t heads = elementCount(k.shape().take_front(leading + 1)), rows = group * queries;
  bool hasStatistic = !results.logSumExp.shape().empty(),
       hasProbabilities = !results.probabilities.shape().empty();
  int64_t draws = q.type() == ElementType::F32 && !precision.wide ? kDraws : 1;
  std::atomic<int64_t> sharedRows{0};
  for (int64_t head = 0; head < heads; ++head) {
    auto drawOf = [&](int64_t draw) {
      Factors ofLeft = Factors::Whole, ofRight = Factors::Whole;
      if (draw % 2) {
        ofLeft = options.tf32 ? Factors::Nearest : Factors::TwoParts;
        ofRight = options.tf32 ? Factors::Cut : Factors::TwoParts;
      }
      auto product = [=](int64_t d) { return (d + draw * depth / kDraws) % depth; };
      return Head<Real>(
          Matrix<Real>(
              q, rows, depth, ofLeft,
              [&](int64_t i, int64_t d) { return (head * rows + i) * depth + product(d); }),
          Matrix<Real>(
              k, depth, keys, ofRight,
              [&](int64_t d, int64_t j) { return (head * keys + j) * depth + product(d); }),
          Matrix<Real>(v, keys, width, ofRight,
                       [&](int64_t j, int64_t d) { return (head * keys + j) * width + d; }),
          options, q.type(), precision, ofLeft);
    };
    std::vector<char> isLarge(rows);
    for (int64_t draw = 0; draw < draws; ++draw) {
      bool ofAll = draw < kOrdinaryDraws;
      if (!ofAll && !llvm::is_contained(isLarge, true))
        break;
      const Head<Real> one = drawOf(draw);
      auto keep = [&](Value &value, int64_t i, Number number) {
        if (draw > 0) {
          Number known = value.load(i);
          takeFarther(known, number);
          number = known;
        }
        value.store(i, number);
      };
      parallelFor(rows, rowChunk(keys * (depth + width)), [&](int64_t begin, int64_t end) {
        std::vector<Number> result(width), weights;
        Shape at(leading + 2);
        for (int64_t i = begin; i < end; ++i) {
          if (!ofAll && !isLarge[i])
            continue;
          int64_t row = head * rows + i, rest = row;
          for (size_t dim = leading + 2; dim-- > 0; rest /= shape[dim])
            at[dim] = rest % shape[dim];
          Number statistic = one.evaluate(i, at, result, hasProbabilities ? &weights : nullptr);
          isLarge[i] =
              std::isfinite(statistic.reference) && std::fabs(statistic.reference) >= kLargeScore;
          for (int64_t d = 0; d < width; ++d)
            keep(results.result, row * width + d, result[d]);
          if (hasStatistic)
            keep(results.logSumExp, row, statistic);
          sharedRows += draw == 0 && hasProbabilities && isShared(weights);
          for (auto [j, weight] : llvm::enumerate(weights))
            keep(results.probabilities, row * keys + static_cast<int64_t>(j), weight);
        }
      });
    }
  }
  results.probabilities.samples = sharedRows;
}

} // namespace

AttentionResult attention(const Value &q, const Value &k, const Value &v,
                          const AttentionOptions &options, ElementType type,
                          std::optional<ElementType> statistics,
                          std::optional<ElementType> probabilities, Precision precision) {
  Shape shape(q.shape());
  shape.back() = v.shape().back();
  AttentionResult results = {Value(type, shape), Value(), Value()};
  if (statistics)
    results.logSumExp = Value(*statistics, q.shape().drop_back());
  shape.back() = k.shape()[shape.size() - 2];
  if (probabilities)
    results.probabilities = Value(*probabilities, shape);
  if (!results.result.isAllocated() || !results.logSumExp.isAllocated() ||
      !results.probabilities.isAllocated())
    return results;
  if (precision.wide)
    attentionOf<double>(q, k, v, options, results, precision);
  else
    attentionOf<float>(q, k, v, options, results, precision);
  int64_t rows = elementCount(q.shape().drop_back());
  for (Value *value : {&results.result, &results.logSumExp, &results.probabilities}) {
    value->samples = std::min({value->samples, q.samples, k.samples, v.samples, rows});
    value->simplify();
  }
  return results;
}

} // namespace swage::reference
