//===- SimulatorObjects.h - What the driver's handles point to ------------===//
//
// Shared by the files that fill the simulator's driver table.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_SIMULATOROBJECTS_H
#define SWAGE_LIB_SIMT_SIMULATOROBJECTS_H

#include "GlobalMemory.h"
#include "Module.h"
#include "swage/Runtime/Driver.h"
#include "swage/Simt/SimulatorOptions.h"
#include "swage/Support/DeviceProperties.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace swage::simt {
struct SimulatedDevice;
/// Work on a stream.
using Operation = std::function<cuda::Result()>;
} // namespace swage::simt

struct CUctx_st {
  swage::simt::SimulatedDevice *device;
};
struct CUfunc_st {
  CUkern_st *kernel;
  swage::simt::SimulatedDevice *device;
};
struct CUkern_st {
  std::shared_ptr<swage::simt::Module> module;
  const swage::simt::KernelInfo *info;
  unsigned dynamicSharedLimit;
  bool takesLargeClusters;
  std::deque<CUfunc_st> functions; ///< one for each device that asked
};
struct CUlib_st {
  std::shared_ptr<swage::simt::Module> module;
  std::deque<CUkern_st> kernels;
};
struct CUstream_st {
  swage::simt::SimulatedDevice *device;
  swage::cuda::CaptureStatus capture = swage::cuda::kCaptureNone;
  std::vector<swage::simt::Operation> captured;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};
struct CUgraph_st {
  std::vector<swage::simt::Operation> operations;
};
struct CUgraphExec_st {
  std::vector<swage::simt::Operation> operations;
};

namespace swage::simt {

struct SimulatedDevice {
  int number;
  SimulatorOptions options;
  DeviceProperties properties;
  CUctx_st context;
};

/// What the whole process shares; never destroyed, as buffers may be freed until its end.
struct Global {
  std::mutex mutex; ///< of devices, and of the kernels and functions of libraries
  std::deque<SimulatedDevice> devices;
  GlobalMemory memory;
};

Global &global();

SimulatedDevice &deviceAt(cuda::DeviceOrdinal number);
/// That of the context which is current on this thread; null: there is none.
SimulatedDevice *currentDevice();

constexpr cuda::Result kNotSupported = cuda::Result(801);

/// A result with what there is to say about it, which Driver::failure takes.
cuda::Result fail(cuda::Result result, std::string text);
/// Does it now, or keeps it where the stream captures.
cuda::Result put(cuda::StreamHandle stream, Operation operation);

/// The functions of each file, into the table.
void addStreamFunctions(cuda::Driver &driver); // memory, streams, events, graphs
void addKernelFunctions(cuda::Driver &driver); // modules and launches

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_SIMULATOROBJECTS_H
