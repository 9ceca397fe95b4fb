//===- KernelBinary.h - One compiled kernel -------------------------------===//
//
// The plain data that a compiler produces, the cache stores and the runtime loads.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_KERNELBINARY_H
#define SWAGE_SUPPORT_KERNELBINARY_H

#include <string>
#include <string_view>

namespace swage {

/// What a kernel is compiled for.
enum class KernelTarget { Gpu, Simulator };

/// In front of the architecture that a kernel for the simulator was scheduled for: "sim:sm_90a".  A
/// GPU never takes such a kernel, nor the simulator one without it.
constexpr std::string_view kSimulatedArch = "sim:";

/// What ptxas reports about a kernel.
struct KernelResources {
  int registers = 0;
  int spillStores = 0; ///< bytes
  int spillLoads = 0;  ///< bytes
  int stackFrame = 0;  ///< bytes
  int sharedBytes = 0; ///< static shared memory
  int barriers = 0;
};

struct KernelBinary {
  std::string name;  ///< symbol of the entry point
  std::string arch;  ///< "sm_90a", "sim:sm_90a"
  std::string image; ///< bytes of the ELF file: a cubin, or a shared object for the simulator
  std::string ptx;   ///< empty unless asked for
  std::string log;   ///< of the compiler, with the ptxas report
  KernelResources resources;

  KernelTarget target() const {
    return arch.compare(0, kSimulatedArch.size(), kSimulatedArch) == 0 ? KernelTarget::Simulator
                                                                       : KernelTarget::Gpu;
  }
};

} // namespace swage

#endif // SWAGE_SUPPORT_KERNELBINARY_H
