//===- Checks.h - What is examined ----------------------------------------===//
#ifndef SWAGE_TOOLS_SWAGE_DOCTOR_CHECKS_H
#define SWAGE_TOOLS_SWAGE_DOCTOR_CHECKS_H

#include "Isolation.h"

#include <string>
#include <vector>

namespace swage::doctor {

/// In Finding::values, "yes" where a kernel was compiled, run and right: the machine can run Swage.
constexpr const char *kRuns = "runs";
/// The architecture of a device that is supported.
constexpr const char *kSupported = "supported";

// What kernels need.
void checkDriver(Report &report);
/// `archs`: of the devices; empty: of none, and another is tried.
void checkNvrtc(Report &report, const std::vector<std::string> &archs);
/// A kernel on each device.
void checkDevices(Report &report);
void checkSimulator(Report &report);

// What is around them.
void checkVersions(Report &report);
void checkEnvironment(Report &report);
void checkCache(Report &report);
void checkLimits(Report &report);
/// What shows how kernels came to be.
void checkDiagnosis(Report &report);

/// The value of a variable of this process; empty where it is not set.
std::string environmentVariable(std::string_view name);

} // namespace swage::doctor

#endif // SWAGE_TOOLS_SWAGE_DOCTOR_CHECKS_H
