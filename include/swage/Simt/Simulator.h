//===- Simulator.h - Generated kernels on the CPU -------------------------===//
//
// The simulator compiles the exact text of a kernel with the host's compiler against the CPU twin
// of the device layer and runs each CUDA thread as a fiber.  It is a device like any other, for
// trying, testing and checking kernels without a GPU; its times mean nothing.
//
//   auto options = swage::simt::SimulatorOptions::parse("check,order=random");
//   auto device = swage::simt::openSimulator(*options);
//   swage::CompileOptions compile;
//   compile.compiler = *swage::simt::simulatorCompiler(*options);
//   auto plan = program->compile(compile)->plan(*device, shapes);
//
// What it finds (SimulatorOptions::check) ends the launch with an error whose message and log are
// the report.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SIMT_SIMULATOR_H
#define SWAGE_SIMT_SIMULATOR_H

#include "swage/Runtime/Device.h"
#include "swage/Simt/SimulatorOptions.h"
#include "swage/Support/Api.h"
#include "swage/Support/KernelCompiler.h"

#include <memory>
#include <string_view>

namespace swage::simt {

/// A device that runs kernels with these options and says that it is the representative GPU of
/// `arch`.  Memory is the host's; streams are done with whatever is put on them when the call
/// returns.
SWAGE_API Expected<Device> openSimulator(const SimulatorOptions &options,
                                         std::string_view arch = "sm_90a");

/// What kernels for such a device are compiled with: the compiler that SWAGE_HOST_COMPILER names,
/// or g++ or clang++.  Found once per process.
SWAGE_API Expected<std::shared_ptr<const KernelCompiler>>
simulatorCompiler(const SimulatorOptions &options);

} // namespace swage::simt

#endif // SWAGE_SIMT_SIMULATOR_H
