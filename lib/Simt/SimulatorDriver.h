//===- SimulatorDriver.h - The driver's functions, by the simulator -------===//
//
// A cuda::Driver whose table is filled with functions of the simulator, so that Device, Plan and
// the rest of lib/Runtime run on it unchanged.  There is one for the process; each configuration of
// options and architecture is one of its devices.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_SIMULATORDRIVER_H
#define SWAGE_LIB_SIMT_SIMULATORDRIVER_H

#include "swage/Runtime/Driver.h"
#include "swage/Simt/SimulatorOptions.h"
#include "swage/Support/DeviceProperties.h"

namespace swage::simt {

std::shared_ptr<const cuda::Driver> simulatorDriver();

/// The device of simulatorDriver that has these options and properties.
int simulatedDevice(const SimulatorOptions &options, const DeviceProperties &properties);

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_SIMULATORDRIVER_H
