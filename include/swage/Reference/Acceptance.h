//===- Acceptance.h - Whether a kernel's result is right --------*- C++ -*-===//
//
// The one gate for tests, fuzzers, autotuner and swage-run --check. With y the kernel's element,
// r the reference, E its error bound, b the honest evaluation rounded to the type T, and ulp the
// spacing of T at r, a result is accepted if
//
//   1. NaN stand where r is NaN, infinities, with their sign, where r rounded to T is infinite;
//   2. |y - r| <= 1 ulp + 4 E for every element;
//   3. max |y - r| <= 2 max |b - r| + 1 ulp(max |r|);
//   4. mean |y - r| <= 1.5 mean |b - r| + 0.25 mean ulp;
//   5. |y - r|_2 <= 4 |b - r|_2 + u |r|_2, u half an ulp of 1;
//   6. y is r rounded to nearest even wherever E = 0, signed zeros aside;
//   7. and the case could have noticed a fault: zeros, row means, rows shifted by one, the last
//      sixteenth of each row dropped, a transposed tile, and an exact element off by 8 ulp, all
//      built from r, must be rejected by rules 1 to 6. Otherwise the case is invalid.
//
// A planted error applies if it moves some element by more than 1/64 of the largest |r|. One that
// does not is no fault that inputs could show: permuting a tensor of one element, the mean of a
// constant row, the next row of a LayerNorm over two columns, which is 1, -1 like all others.
//
// Rules 3 to 5 compare with one draw of rounding errors; another correct order of evaluation is
// another draw. So each of them adds the same statistic of min(E, ulp): next to nothing for 16-bit
// types, whose ulp is far above E; a second ulp for f32. Where fewer than 64 independent roundings
// stand behind the result (one row, a scalar), luck decides the draw and they add E instead.
//
// Elements whose E is infinite are uncertain and not judged. If that leaves less than half of a
// tensor the case is invalid.
//
//===----------------------------------------------------------------------===//

#ifndef SWAGE_REFERENCE_ACCEPTANCE_H
#define SWAGE_REFERENCE_ACCEPTANCE_H

#include "swage/Reference/Value.h"
#include "llvm/ADT/StringRef.h"

namespace swage::reference {

struct AcceptanceOptions {
  double maximumFactor = 2;  ///< of rule 3; 3 for attention that rescales
  bool plantErrors = true;   ///< rule 7; for a second look at the same case it can be left out
  llvm::StringRef name = ""; ///< stands in front of the report
};

/// What the numbers say about a result; also of use without a verdict.
struct ErrorStatistics {
  int64_t elements = 0, judged = 0, uncertain = 0;
  int64_t bitEqual = 0; ///< equal to r rounded to the type
  int64_t zeros = 0, nans = 0, infinities = 0;
  int64_t exact = 0;                    ///< judged elements with E = 0
  double maxError = 0, maxHonest = 0;   ///< max |y - r|, max |b - r|
  double meanError = 0, meanHonest = 0; ///< over judged finite elements
  double normError = 0, normHonest = 0, normReference = 0;
  double maxReference = 0, meanUlp = 0;
  double maxAllowance = 0, meanAllowance = 0, normAllowance = 0;
  double meanErrorUlp = 0; ///< mean of |y - r| / ulp
};

struct Verdict {
  enum class Kind { Accepted, Rejected, Invalid } kind = Kind::Accepted;
  int rule = 0;       ///< the first rule that failed
  int planted = 0;    ///< how many planted errors applied, and were rejected
  std::string reason; ///< one sentence; empty if accepted
  ErrorStatistics statistics;

  /// The element with the largest |y - r| relative to its allowance; -1 for an empty tensor.
  int64_t worst = -1;
  Shape worstIndex;
  double reference = 0, honest = 0, actual = 0, error = 0;
  int64_t ulpDistance = 0;

  bool accepted() const { return kind == Kind::Accepted; }
  /// Everything that a log needs, on one line.
  std::string line() const;

  std::string name;
  ElementType type = ElementType::F32;
};

/// Judges what a kernel gave for `expected`.
Verdict judge(const Tensor &actual, const Value &expected, const AcceptanceOptions &options = {});

} // namespace swage::reference

#endif // SWAGE_REFERENCE_ACCEPTANCE_H
