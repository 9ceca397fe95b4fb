//===- KernelRun.h - One launch of a kernel's text, anywhere ----*- C++ -*-===//
//
// What the tests of the device layer share: a launch over buffers whose bytes are given, on the
// simulator or on a GPU, so that the same case runs on both and the bytes can be compared.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_KERNELRUN_H
#define SWAGE_TEST_LIB_KERNELRUN_H

#include "swage/Simt/SimulatorOptions.h"
#include "swage/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swage::test {

/// As the driver counts them: CUtensorMapDataType, CUtensorMapSwizzle.
enum class MapElement { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16 };
enum class MapSwizzle { None = 0, B32 = 1, B64 = 2, B128 = 3 };
unsigned bytesOf(MapElement element);

/// A tensor map over a buffer, innermost dimension first.
struct MapSpec {
  MapElement element = MapElement::U8;
  std::vector<uint64_t> dims;
  std::vector<uint64_t> strides; ///< bytes, from the second dimension on; empty: contiguous
  std::vector<uint32_t> box;
  std::vector<uint32_t> elementStrides; ///< empty: ones
  MapSwizzle swizzle = MapSwizzle::None;
};

struct KernelArgument {
  enum class Kind { Buffer, Map, Value } kind = Kind::Value;
  unsigned buffer = 0;
  MapSpec map;
  std::string value;

  static KernelArgument ofBuffer(unsigned index) { return {Kind::Buffer, index, {}, {}}; }
  static KernelArgument ofMap(unsigned index, MapSpec map) {
    return {Kind::Map, index, std::move(map), {}};
  }
  template <class T> static KernelArgument of(const T &value) {
    return {Kind::Value, 0, {}, std::string(reinterpret_cast<const char *>(&value), sizeof(T))};
  }
};

struct KernelRun {
  std::string file; ///< for messages
  std::string text;
  std::string kernel;
  unsigned blocks = 1, threads = 32, clusterSize = 1, dynamicSharedBytes = 0;
  std::vector<std::string> buffers; ///< their bytes before the launch
  std::vector<KernelArgument> arguments;
};

/// What a run took and said.
struct RunReport {
  double compileSeconds = 0; ///< 0: the kernel was compiled before
  double runSeconds = 0;
  std::string log; ///< of the compiler
  int spillBytes = 0;
};

/// Where kernels run.  Compiled kernels are kept; thread-safe.
class Machine {
public:
  virtual ~Machine() = default;
  virtual std::string name() const = 0;
  /// Compiles only.
  virtual Status compile(const KernelRun &run, RunReport *report = nullptr) = 0;
  /// The bytes of the buffers after the launch.
  virtual Expected<std::vector<std::string>> run(const KernelRun &run,
                                                 RunReport *report = nullptr) = 0;

  static Expected<std::unique_ptr<Machine>> simulator(const simt::SimulatorOptions &options);
  /// Of a simulator: how the next runs are done; what is compiled stays, so `check` must too.
  virtual void simulate(const simt::SimulatorOptions &options) {}
  /// The simulator as a device, through all that a GPU is used through.
  static Expected<std::unique_ptr<Machine>> simulatedDevice(const simt::SimulatorOptions &options);
  /// The first GPU; an error where there is none, or no NVRTC.
  static Expected<std::unique_ptr<Machine>> gpu();
  /// No GPU: compiles with NVRTC and refuses to run.
  static Expected<std::unique_ptr<Machine>> gpuCompiler();
};

Expected<std::string> readText(const std::string &path);

} // namespace swage::test

#endif // SWAGE_TEST_LIB_KERNELRUN_H
