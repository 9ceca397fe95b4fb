//===- Driver.h - The CUDA driver, opened at run time ---------------------===//
//
// libcuda through dlopen and a table of the functions that Swage uses, with its own declarations:
// the project builds without a CUDA toolkit and its tools start without a driver.  The least driver
// is 12.0, the first with libraries that belong to no context.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_DRIVER_H
#define SWAGE_RUNTIME_DRIVER_H

#include "swage/Support/Api.h"
#include "swage/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// The names that cuda.h gives to its opaque types, so that a CUstream of the host program is our
// Stream.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace swage::cuda {

using DeviceOrdinal = int;
using DevicePointer = unsigned long long;
using ContextHandle = CUctx_st *;
using StreamHandle = CUstream_st *;
using EventHandle = CUevent_st *;
using LibraryHandle = CUlib_st *;
using KernelHandle = CUkern_st *;
using FunctionHandle = CUfunc_st *;
using GraphHandle = CUgraph_st *;
using GraphExecHandle = CUgraphExec_st *;

/// CUresult: the values that are treated specially somewhere.
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchFailed = 719,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureImplicit = 906,
};

/// CUdevice_attribute, the part that is read.
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedMemoryPerBlock = 8,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedMemoryPerBlockOptIn = 97,
  kMaxBlocksPerMultiprocessor = 106,
};

/// CUfunction_attribute, the part that is used.
enum FunctionAttribute : int {
  kMaxDynamicSharedSizeBytes = 8,
  kNonPortableClusterSizeAllowed = 14,
};

/// CUlaunchAttribute, the part that is used.
struct LaunchAttribute {
  enum Id : int { kClusterDimension = 4, kProgrammaticStreamSerialization = 6 };

  /// Clusters of `blocks` along x.
  static LaunchAttribute clusterOf(unsigned blocks) {
    LaunchAttribute attribute{kClusterDimension, 0, {}};
    attribute.cluster[0] = blocks;
    attribute.cluster[1] = attribute.cluster[2] = 1;
    return attribute;
  }
  /// The launch may start when the kernel before it allows that or ends.
  static LaunchAttribute overlap() {
    LaunchAttribute attribute{kProgrammaticStreamSerialization, 0, {}};
    attribute.isAllowed = 1;
    return attribute;
  }

  Id id;
  int padding;
  union {
    char bytes[64];
    unsigned cluster[3]; ///< blocks along x, y, z
    int isAllowed;
  };
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56, "as in cuda.h");

/// CUtensorMap: what the copy engine knows of a tensor.
struct alignas(64) TensorMap {
  char bytes[128];
};

/// CUtensorMapDataType, the part that is used.
enum TensorMapElement : int {
  kTensorMapU8 = 0,
  kTensorMapU16 = 1,
  kTensorMapU32 = 2,
  kTensorMapI32 = 3,
  kTensorMapU64 = 4,
  kTensorMapI64 = 5,
  kTensorMapF16 = 6,
  kTensorMapF32 = 7,
  kTensorMapF64 = 8,
  kTensorMapBF16 = 9,
};
/// CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion and CUtensorMapFloatOOBfill,
/// the parts that are used.
enum TensorMapInterleave : int { kNoInterleave = 0 };
enum TensorMapSwizzle : int { kNoSwizzle = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3 };
enum TensorMapPromotion : int { kNoPromotion = 0 };
enum TensorMapFill : int { kFillZeros = 0 };

enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2 };
enum EventFlags : unsigned { kEventDefault = 0, kEventDisableTiming = 2 };

// SWAGE_DRIVER_FUNCTION(symbol in libcuda, parameters): the functions that every driver since 12.0
// has.
#define SWAGE_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)                                              \
  SWAGE_DRIVER_FUNCTION(cuInit, (unsigned))                                                        \
  SWAGE_DRIVER_FUNCTION(cuDriverGetVersion, (int *))                                               \
  SWAGE_DRIVER_FUNCTION(cuGetErrorName, (Result, const char **))                                   \
  SWAGE_DRIVER_FUNCTION(cuGetErrorString, (Result, const char **))                                 \
  SWAGE_DRIVER_FUNCTION(cuDeviceGetCount, (int *))                                                 \
  SWAGE_DRIVER_FUNCTION(cuDeviceGet, (DeviceOrdinal *, int))                                       \
  SWAGE_DRIVER_FUNCTION(cuDeviceGetName, (char *, int, DeviceOrdinal))                             \
  SWAGE_DRIVER_FUNCTION(cuDeviceGetAttribute, (int *, DeviceAttribute, DeviceOrdinal))             \
  SWAGE_DRIVER_FUNCTION(cuDeviceTotalMem_v2, (size_t *, DeviceOrdinal))                            \
  SWAGE_DRIVER_FUNCTION(cuDevicePrimaryCtxRetain, (ContextHandle *, DeviceOrdinal))                \
  SWAGE_DRIVER_FUNCTION(cuDevicePrimaryCtxRelease_v2, (DeviceOrdinal))                             \
  SWAGE_DRIVER_FUNCTION(cuCtxGetCurrent, (ContextHandle *))                                        \
  SWAGE_DRIVER_FUNCTION(cuCtxSetCurrent, (ContextHandle))                                          \
  SWAGE_DRIVER_FUNCTION(cuCtxPushCurrent_v2, (ContextHandle))                                      \
  SWAGE_DRIVER_FUNCTION(cuCtxPopCurrent_v2, (ContextHandle *))                                     \
  SWAGE_DRIVER_FUNCTION(cuCtxSynchronize, ())                                                      \
  SWAGE_DRIVER_FUNCTION(cuMemGetInfo_v2, (size_t *, size_t *))                                     \
  SWAGE_DRIVER_FUNCTION(cuMemAlloc_v2, (DevicePointer *, size_t))                                  \
  SWAGE_DRIVER_FUNCTION(cuMemFree_v2, (DevicePointer))                                             \
  SWAGE_DRIVER_FUNCTION(cuMemcpyHtoD_v2, (DevicePointer, const void *, size_t))                    \
  SWAGE_DRIVER_FUNCTION(cuMemcpyDtoH_v2, (void *, DevicePointer, size_t))                          \
  SWAGE_DRIVER_FUNCTION(cuMemcpyDtoDAsync_v2, (DevicePointer, DevicePointer, size_t, StreamHandle)) \
  SWAGE_DRIVER_FUNCTION(cuMemsetD8Async, (DevicePointer, unsigned char, size_t, StreamHandle))     \
  SWAGE_DRIVER_FUNCTION(cuStreamCreate, (StreamHandle *, unsigned))                                \
  SWAGE_DRIVER_FUNCTION(cuStreamDestroy_v2, (StreamHandle))                                        \
  SWAGE_DRIVER_FUNCTION(cuStreamSynchronize, (StreamHandle))                                       \
  SWAGE_DRIVER_FUNCTION(cuStreamBeginCapture_v2, (StreamHandle, CaptureMode))                      \
  SWAGE_DRIVER_FUNCTION(cuStreamEndCapture, (StreamHandle, GraphHandle *))                         \
  SWAGE_DRIVER_FUNCTION(cuStreamIsCapturing, (StreamHandle, CaptureStatus *))                      \
  SWAGE_DRIVER_FUNCTION(cuEventCreate, (EventHandle *, unsigned))                                  \
  SWAGE_DRIVER_FUNCTION(cuEventDestroy_v2, (EventHandle))                                          \
  SWAGE_DRIVER_FUNCTION(cuEventRecord, (EventHandle, StreamHandle))                                \
  SWAGE_DRIVER_FUNCTION(cuEventSynchronize, (EventHandle))                                         \
  SWAGE_DRIVER_FUNCTION(cuEventElapsedTime, (float *, EventHandle, EventHandle))                   \
  SWAGE_DRIVER_FUNCTION(cuGraphInstantiateWithFlags,                                               \
                        (GraphExecHandle *, GraphHandle, unsigned long long))                      \
  SWAGE_DRIVER_FUNCTION(cuGraphGetNodes, (GraphHandle, CUgraphNode_st **, size_t *))               \
  SWAGE_DRIVER_FUNCTION(cuGraphLaunch, (GraphExecHandle, StreamHandle))                            \
  SWAGE_DRIVER_FUNCTION(cuGraphDestroy, (GraphHandle))                                             \
  SWAGE_DRIVER_FUNCTION(cuGraphExecDestroy, (GraphExecHandle))                                     \
  SWAGE_DRIVER_FUNCTION(cuLibraryLoadData, (LibraryHandle *, const void *, void *, void **,        \
                                            unsigned, void *, void **, unsigned))                  \
  SWAGE_DRIVER_FUNCTION(cuLibraryUnload, (LibraryHandle))                                          \
  SWAGE_DRIVER_FUNCTION(cuLibraryGetKernel, (KernelHandle *, LibraryHandle, const char *))         \
  SWAGE_DRIVER_FUNCTION(cuKernelGetFunction, (FunctionHandle *, KernelHandle))                     \
  SWAGE_DRIVER_FUNCTION(cuKernelSetAttribute,                                                      \
                        (FunctionAttribute, int, KernelHandle, DeviceOrdinal))                     \
  SWAGE_DRIVER_FUNCTION(cuLaunchKernel,                                                            \
                        (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                         unsigned, unsigned, StreamHandle, void **, void **))                      \
  SWAGE_DRIVER_FUNCTION(cuLaunchKernelEx,                                                          \
                        (const LaunchConfig *, FunctionHandle, void **, void **))                  \
  SWAGE_DRIVER_FUNCTION(cuOccupancyMaxActiveClusters,                                              \
                        (int *, FunctionHandle, const LaunchConfig *))

// The functions of later drivers; null where the driver is older.
#define SWAGE_OPTIONAL_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)                                     \
  SWAGE_DRIVER_FUNCTION(cuFuncLoad, (FunctionHandle))                                              \
  SWAGE_DRIVER_FUNCTION(cuKernelGetParamInfo, (KernelHandle, size_t, size_t *, size_t *))          \
  SWAGE_DRIVER_FUNCTION(cuTensorMapEncodeTiled,                                                    \
                        (TensorMap *, TensorMapElement, uint32_t, void *, const uint64_t *,        \
                         const uint64_t *, const uint32_t *, const uint32_t *,                     \
                         TensorMapInterleave, TensorMapSwizzle, TensorMapPromotion,                \
                         TensorMapFill))                                                           \
  SWAGE_DRIVER_FUNCTION(cuTensorMapReplaceAddress, (TensorMap *, void *))

class SWAGE_API Driver {
public:
  static constexpr int kLeastVersion = 12000;

  /// The driver named by SWAGE_CUDA_DRIVER, or libcuda.so.1; opened and initialised on the first
  /// call.  The outcome is kept for the life of the process.
  static Expected<std::shared_ptr<const Driver>> get();
  /// Opens the library at `path` (empty: libcuda.so.1) and initialises it.
  static Expected<std::shared_ptr<const Driver>> load(const std::string &path);

  Driver() = default;
  /// A driver that is no libcuda but the simulator; the caller fills in the table.
  explicit Driver(std::string name, int version)
      : libraryPath(std::move(name)), driverVersion(version), simulates(true) {}

  const std::string &path() const { return libraryPath; }
  int version() const { return driverVersion; } ///< 1000 * major + 10 * minor
  bool isSimulator() const { return simulates; }
  /// "13.0".
  static std::string versionString(int version);

  Expected<int> deviceCount() const;

  /// The error for a failed call: the call's name, the driver's name for the result, and what
  /// usually causes it; of the simulator, its report.
  Error failure(Stage stage, const char *call, Result result) const;
  /// Success, or that error.
  Status check(Stage stage, const char *call, Result result) const {
    if (result == kSuccess)
      return {};
    return failure(stage, call, result);
  }

#define SWAGE_DRIVER_FUNCTION(NAME, PARAMETERS) Result(*NAME) PARAMETERS = nullptr;
  SWAGE_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)
  SWAGE_OPTIONAL_DRIVER_FUNCTIONS(SWAGE_DRIVER_FUNCTION)
#undef SWAGE_DRIVER_FUNCTION
  /// What the simulator knows about the last failure on this thread: one line, and possibly more
  /// after it.
  std::string (*takeReport)() = nullptr;

private:
  std::string libraryPath;
  int driverVersion = 0;
  bool simulates = false;
  int initProcess = 0; ///< the process that called cuInit: a forked child cannot use CUDA
};

} // namespace swage::cuda

#endif // SWAGE_RUNTIME_DRIVER_H
