//===- RunReport.h - What a run says of kernels and results -----*- C++ -*-===//

#ifndef SWAGE_TOOLS_SWAGE_RUN_RUNREPORT_H
#define SWAGE_TOOLS_SWAGE_RUN_RUNREPORT_H

#include "ResultReport.h"

#include "swage/Runtime/Variant.h"

#include <string>
#include <vector>

namespace swage {

struct RunReport {
  std::vector<ResultReport> results;
  std::vector<double> seconds, shares; ///< of each launch, 0 where it was not timed; or none
  bool isSimulated = false;            ///< registers are none of a GPU's

  void printKernels(const Layout &layout, const std::vector<KernelInfo> &kernels) const;
  void printResults(const Layout &layout) const;
  /// Records in the form of bench/peers.py, one a launch.
  std::string json(const std::string &model, const Layout &layout,
                   const std::vector<KernelInfo> &kernels) const;
};

} // namespace swage

#endif // SWAGE_TOOLS_SWAGE_RUN_RUNREPORT_H
