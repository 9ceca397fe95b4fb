//===- ResultReport.h - A result over all input families ------------------===//
#ifndef SWAGE_TOOLS_HARNESS_RESULTREPORT_H
#define SWAGE_TOOLS_HARNESS_RESULTREPORT_H

#include "swage/Reference/Acceptance.h"
#include "swage/Support/Text.h"

#include <fmt/format.h>

namespace swage {

/// What is said about a result: the first family that was rejected, and where none was, the largest
/// distance.
struct ResultReport {
  std::string verdict = "-", worst = "-", bitEqual = "-";
  int64_t ulps = -1;
  bool accepted = true;
  bool weak = false; ///< some family left too little to judge

  /// Adds a family's verdict. Returns whether it is acceptable: of a family of awkward values, one
  /// that leaves too little to judge is.
  bool add(const reference::Verdict &family, bool awkward) {
    bool invalid = family.kind == reference::Verdict::Kind::Invalid;
    bool failed = !family.accepted() && !(invalid && awkward);
    weak |= invalid;
    if (!accepted)
      return !failed;
    if (family.ulpDistance >= ulps || failed) {
      ulps = family.ulpDistance;
      std::vector<std::string> index;
      for (int64_t position : family.worstIndex)
        index.push_back(std::to_string(position));
      worst = fmt::format("{} ulp at [{}]", ulps, join(index, ", "));
      uint64_t elements = uint64_t(family.statistics.elements);
      bitEqual = fmt::format("{:.2f}%", elements ? 100.0 * double(family.statistics.bitEqual) /
                                                       double(elements)
                                                 : 100.0);
    }
    accepted = !failed;
    if (failed)
      verdict = fmt::format("{} by rule {}", invalid ? "INVALID" : "REJECTED", family.rule);
    else
      verdict = weak ? "accepted (weak)" : "accepted";
    return !failed;
  }
};

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_RESULTREPORT_H
