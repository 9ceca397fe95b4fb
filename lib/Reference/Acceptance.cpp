//===- Acceptance.cpp - Whether a kernel's result is right ----------------===//

#include "swage/Reference/Acceptance.h"
#include "Arithmetic.h"
#include "Examine.h"
#include "swage/Reference/Parallel.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <vector>

namespace swage::reference {

/// Fewer roundings than this say nothing about the size of other roundings.
static constexpr int64_t kFewSamples = 64;

Element expectedElement(const Value &expected, int64_t i) {
  if (!isFloat(expected.type()))
    return {0, expected.load(i).integer};
  return {roundTo(expected.type(), expected.reference(i)), 0};
}

double distance(ElementType type, const Element &a, const Element &b) {
  if (isFloat(type))
    return std::fabs(a.real - b.real);
  return std::fabs(static_cast<double>(a.integer) - static_cast<double>(b.integer));
}

namespace {

/// What one range of elements adds to the statistics; ranges are merged in order, so that the
/// result does not depend on threads.
struct Partial {
  ErrorStatistics s;
  double sumError = 0, sumHonest = 0, sumUlp = 0, sumAllowance = 0, sumErrorUlp = 0;
  int64_t finite = 0;
  int rule = 0; ///< of the first element that breaks one
  int64_t worst = -1;
  double severity = -1;

  void violate(int broken) { rule = rule ? rule : broken; }
  void see(int64_t i, double how) {
    if (how > severity) {
      severity = how;
      worst = i;
    }
  }

  void merge(const Partial &p) {
    s.judged += p.s.judged;
    s.uncertain += p.s.uncertain;
    s.bitEqual += p.s.bitEqual;
    s.zeros += p.s.zeros;
    s.nans += p.s.nans;
    s.infinities += p.s.infinities;
    s.exact += p.s.exact;
    s.maxError = std::max(s.maxError, p.s.maxError);
    s.maxHonest = std::max(s.maxHonest, p.s.maxHonest);
    s.maxReference = std::max(s.maxReference, p.s.maxReference);
    s.maxAllowance = std::max(s.maxAllowance, p.s.maxAllowance);
    s.normError += p.s.normError;
    s.normHonest += p.s.normHonest;
    s.normReference += p.s.normReference;
    s.normAllowance += p.s.normAllowance;
    sumError += p.sumError;
    sumHonest += p.sumHonest;
    sumUlp += p.sumUlp;
    sumAllowance += p.sumAllowance;
    sumErrorUlp += p.sumErrorUlp;
    finite += p.finite;
    violate(p.rule);
    if (p.worst >= 0)
      see(p.worst, p.severity);
  }
};

class Examiner {
public:
  Examiner(const Value &expected) : type(expected.type()), format(formatOf(type)) {
    fewSamples = std::min(expected.samples, expected.size()) < kFewSamples;
  }

  void examineReal(int64_t i, const Number &x, double y, Partial &p) const {
    count(y, p);
    double r = x.reference, rounded = roundTo(format, r);
    if (mayBeEither(x)) {
      ++p.s.uncertain;
      return;
    }
    ++p.s.judged;
    p.s.exact += x.error == 0;
    bool equal = y == rounded || (std::isnan(y) && std::isnan(r));
    p.s.bitEqual += equal;
    if (!std::isfinite(rounded) || !std::isfinite(y)) {
      if (!equal)
        violate(i, 1, HUGE_VAL, p);
      return;
    }
    double error = std::fabs(y - r), spacing = ulp(format, r);
    if (x.error == 0) {
      if (!equal)
        violate(i, 6, HUGE_VAL, p);
    } else if (error > spacing + kSlack * x.error) {
      violate(i, 2, error / (spacing + kSlack * x.error), p);
    }
    p.see(i, error / (spacing + kSlack * x.error));

    double honest = roundTo(format, x.honest);
    double honestError = std::isfinite(honest) ? std::fabs(honest - r) : 0;
    double allowance = fewSamples ? x.error : std::min(x.error, spacing);
    ++p.finite;
    p.s.maxError = std::max(p.s.maxError, error);
    p.s.maxHonest = std::max(p.s.maxHonest, honestError);
    p.s.maxReference = std::max(p.s.maxReference, std::fabs(r));
    p.s.maxAllowance = std::max(p.s.maxAllowance, allowance);
    p.s.normError += error * error;
    p.s.normHonest += honestError * honestError;
    p.s.normReference += r * r;
    p.s.normAllowance += allowance * allowance;
    p.sumError += error;
    p.sumHonest += honestError;
    p.sumUlp += spacing;
    p.sumAllowance += allowance;
    p.sumErrorUlp += error / spacing;
  }

  void examineInteger(int64_t i, const Number &x, int64_t y, Partial &p) const {
    p.s.zeros += y == 0;
    if (x.error > 0) {
      ++p.s.uncertain;
      return;
    }
    ++p.s.judged;
    ++p.s.exact;
    p.s.bitEqual += y == x.integer;
    double error = distance(type, {0, x.integer}, {0, y});
    p.s.maxError = std::max(p.s.maxError, error);
    p.see(i, 0);
    if (y != x.integer)
      violate(i, 6, error, p);
  }

private:
  static void count(double y, Partial &p) {
    p.s.zeros += y == 0;
    p.s.nans += std::isnan(y);
    p.s.infinities += std::isinf(y);
  }

  static void violate(int64_t i, int rule, double severity, Partial &p) {
    p.violate(rule);
    p.see(i, severity);
  }

  /// A NaN or a number, or overflowing or not.
  bool mayBeEither(const Number &x) const {
    if (std::isinf(x.error))
      return true;
    if (x.error == 0 || std::fabs(x.reference) + kSlack * x.error < format.largest)
      return false;
    return std::isfinite(roundTo(format, x.reference - kSlack * x.error)) !=
           std::isfinite(roundTo(format, x.reference + kSlack * x.error));
  }

  ElementType type;
  FloatFormat format;
  bool fewSamples;
};

Partial examineAll(const Value &expected, Answer answer, bool stopAtFirst) {
  Examiner examiner(expected);
  std::vector<Partial> partials((expected.size() + kElementChunk - 1) / kElementChunk);
  std::atomic<bool> stop{false};
  parallelFor(expected.size(), kElementChunk, [&](int64_t begin, int64_t end) {
    if (stop)
      return;
    Partial &p = partials[begin / kElementChunk];
    for (int64_t i = begin; i < end; ++i) {
      Number x = expected.load(i);
      if (isFloat(expected.type()))
        examiner.examineReal(i, x, answer(i).real, p);
      else
        examiner.examineInteger(i, x, answer(i).integer, p);
      if (stopAtFirst && p.rule) {
        stop = true;
        return;
      }
    }
  });
  Partial all;
  for (const Partial &p : partials)
    all.merge(p);
  return all;
}

const char *ruleText(int rule) {
  static const char *const texts[] = {
      "",
      "NaN or infinity stands where the reference has a number, or the reverse",
      "an element is further from the reference than 1 ulp + 4 E",
      "the largest error is more than an honest evaluation's",
      "the mean error is more than an honest evaluation's",
      "the relative norm of the error is more than an honest evaluation's",
      "an element that is exact in any evaluation differs",
  };
  return texts[rule];
}

} // namespace

Examination examine(const Value &expected, Answer answer, double maximumFactor, bool stopAtFirst) {
  Partial all = examineAll(expected, answer, stopAtFirst);
  ErrorStatistics &s = all.s;
  s.elements = expected.size();
  double count = all.finite > 0 ? static_cast<double>(all.finite) : 1;
  s.meanError = all.sumError / count;
  s.meanHonest = all.sumHonest / count;
  s.meanUlp = all.sumUlp / count;
  s.meanAllowance = all.sumAllowance / count;
  s.meanErrorUlp = all.sumErrorUlp / count;
  for (double *norm : {&s.normError, &s.normHonest, &s.normReference, &s.normAllowance})
    *norm = std::sqrt(*norm);

  Examination result = {all.rule, "", s, all.worst};
  if (result.rule == 0 && isFloat(expected.type()) && all.finite > 0) {
    FloatFormat format = formatOf(expected.type());
    double largest = maximumFactor * s.maxHonest + ulp(format, s.maxReference) + s.maxAllowance;
    double mean = 1.5 * s.meanHonest + 0.25 * s.meanUlp + s.meanAllowance;
    double norm =
        4 * s.normHonest + std::ldexp(s.normReference, -format.precision) + s.normAllowance;
    auto exceeds = [&](int rule, double found, double allowed) {
      if (result.rule || !(found > allowed))
        return;
      result.rule = rule;
      result.reason = llvm::formatv("{0}: {1:e2} > {2:e2}", ruleText(rule), found, allowed);
    };
    exceeds(3, s.maxError, largest);
    exceeds(4, s.meanError, mean);
    exceeds(5, s.normError, norm);
  } else {
    result.reason = ruleText(result.rule);
  }
  return result;
}

Verdict judge(const Tensor &actual, const Value &expected, const AcceptanceOptions &options) {
  Verdict verdict;
  verdict.name = options.name.str();
  verdict.type = expected.type();
  auto end = [&](Verdict::Kind kind, int rule, std::string reason) {
    verdict.kind = kind;
    verdict.rule = rule;
    verdict.reason = std::move(reason);
    return verdict;
  };
  if (actual.type() != expected.type() || actual.shape() != expected.shape())
    return end(Verdict::Kind::Rejected, 1,
               "the result is " + describe(actual.shape(), actual.type()) +
                   ", but the reference is " + describe(expected.shape(), expected.type()));

  auto answer = [&](int64_t i) -> Element {
    if (isFloat(actual.type()))
      return {actual.real(i), 0};
    return {0, actual.integer(i)};
  };
  Examination found = examine(expected, answer, options.maximumFactor, /*stopAtFirst=*/false);
  verdict.statistics = found.statistics;
  verdict.worst = found.worst;
  if (found.worst >= 0) {
    int64_t rest = found.worst;
    verdict.worstIndex.assign(expected.shape().begin(), expected.shape().end());
    for (int64_t &extent : llvm::reverse(verdict.worstIndex)) {
      int64_t at = rest % extent;
      rest /= extent;
      extent = at;
    }
    Number x = expected.load(found.worst);
    verdict.error = x.error;
    if (isFloat(expected.type())) {
      verdict.reference = x.reference;
      verdict.honest = roundTo(expected.type(), x.honest);
      verdict.actual = actual.real(found.worst);
      verdict.ulpDistance = ulpDistance(expected.type(), x.reference, verdict.actual);
    } else {
      verdict.reference = verdict.honest = static_cast<double>(x.integer);
      verdict.actual = static_cast<double>(actual.integer(found.worst));
      verdict.ulpDistance = std::llabs(x.integer - actual.integer(found.worst));
    }
  }
  if (found.rule)
    return end(Verdict::Kind::Rejected, found.rule, found.reason);
  if (found.statistics.uncertain > found.statistics.judged)
    return end(Verdict::Kind::Invalid, 7,
               "inputs too weak: more than half of the elements are uncertain");
  if (options.plantErrors) {
    std::string weakness = findAcceptedPlant(expected, options.maximumFactor, verdict.planted);
    if (!weakness.empty())
      return end(Verdict::Kind::Invalid, 7,
                 "inputs too weak: a planted error would be accepted: " + weakness);
  }
  return verdict;
}

std::string Verdict::line() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const ErrorStatistics &s = statistics;
  if (!name.empty())
    os << name << ": ";
  os << (kind == Kind::Accepted ? "accepted" : kind == Kind::Rejected ? "REJECTED" : "INVALID");
  if (kind != Kind::Accepted)
    os << " by rule " << rule << " (" << reason << ")";
  if (worst >= 0) {
    os << "; worst at [";
    llvm::interleaveComma(worstIndex, os);
    os << llvm::formatv("] r={0} b={1} y={2} E={3}", llvm::format("%.9g", reference),
                        llvm::format("%.9g", honest), llvm::format("%.9g", actual),
                        llvm::format("%.3g", error));
    if (ulpDistance != INT64_MAX)
      os << " (" << ulpDistance << " ulp)";
  }
  double elements = s.elements > 0 ? static_cast<double>(s.elements) : 1;
  os << llvm::formatv("; {0}: {1} elements, {2}% bit-equal, {3} zero, {4} NaN, {5} inf, "
                      "{6} uncertain, {7} exact",
                      reference::name(type), s.elements,
                      llvm::format("%.4g", 100 * static_cast<double>(s.bitEqual) / elements),
                      s.zeros, s.nans, s.infinities, s.uncertain, s.exact);
  os << llvm::formatv("; error max {0} mean {1} ({2} ulp), honest max {3} mean {4}",
                      llvm::format("%.3g", s.maxError), llvm::format("%.3g", s.meanError),
                      llvm::format("%.3g", s.meanErrorUlp), llvm::format("%.3g", s.maxHonest),
                      llvm::format("%.3g", s.meanHonest));
  return text;
}

} // namespace swage::reference
