//===- Examine.h - Rules 1 to 6 of acceptance -------------------*- C++ -*-===//

#ifndef SWAGE_LIB_REFERENCE_EXAMINE_H
#define SWAGE_LIB_REFERENCE_EXAMINE_H

#include "swage/Reference/Acceptance.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace swage::reference {

/// An element of an answer, in the member that its type uses.
struct Element {
  double real = 0;
  int64_t integer = 0;
};

using Answer = llvm::function_ref<Element(int64_t)>;

/// The right answer, rounded to the type.
Element expectedElement(const Value &expected, int64_t i);

/// Distance between two elements of a tensor of this type.
double distance(ElementType type, const Element &a, const Element &b);

struct Examination {
  int rule = 0; ///< the first of rules 1 to 6 that failed, or 0
  std::string reason;
  ErrorStatistics statistics;
  int64_t worst = -1;
};

/// Holds an answer against the expected value. With `stopAtFirst` it ends at the first element that
/// breaks a rule; the statistics are then those of a part.
Examination examine(const Value &expected, Answer answer, double maximumFactor, bool stopAtFirst);

/// Rule 7. Counts the planted errors that apply; returns the first that is not rejected, or "".
std::string findAcceptedPlant(const Value &expected, double maximumFactor, int &applied);

} // namespace swage::reference

#endif // SWAGE_LIB_REFERENCE_EXAMINE_H
