//===- KernelBinary.h - One compiled kernel -------------------------------===//
//
// The plain data that NVRTC produces, the cache stores and the runtime loads.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_KERNELBINARY_H
#define SWAGE_SUPPORT_KERNELBINARY_H

#include <string>

namespace swage {

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
  std::string arch;  ///< "sm_90a"
  std::string cubin; ///< bytes of the ELF image
  std::string ptx;   ///< empty unless asked for
  std::string log;   ///< of the compiler, with the ptxas report
  KernelResources resources;
};

} // namespace swage

#endif // SWAGE_SUPPORT_KERNELBINARY_H
