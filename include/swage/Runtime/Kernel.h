//===- Kernel.h - Machine code that is loaded -----------------------------===//
//
// A kernel is loaded once per process, in no context, and prepared once per device: preparing
// forces the lazy loading of the driver, so that the first launch neither loads nor waits, also
// under stream capture.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_KERNEL_H
#define SWAGE_RUNTIME_KERNEL_H

#include "swage/Runtime/Device.h"
#include "swage/Support/Api.h"
#include "swage/Support/KernelBinary.h"

#include <memory>
#include <mutex>
#include <vector>

namespace swage {

class SWAGE_API Kernel {
public:
  /// Loads the image and finds the entry point `binary.name`.  The bytes are copied by the driver.
  static Expected<std::shared_ptr<Kernel>> load(std::shared_ptr<const cuda::Driver> driver,
                                                const KernelBinary &binary);
  ~Kernel();
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  const std::string &name() const { return entryName; }
  const std::string &arch() const { return targetArch; }
  /// What the compiler reported.
  const KernelResources &resources() const { return reported; }

  /// What every device with clusters takes; larger ones are asked for.
  static constexpr unsigned kPortableClusterSize = 8;

  /// The function to launch on `device`, loaded, with at least `dynamicSharedBytes` of dynamic
  /// shared memory and clusters of `clusterSize` blocks allowed.  Thread-safe; a repeated call
  /// costs a lookup.
  Expected<cuda::FunctionHandle> prepare(const Device &device, unsigned dynamicSharedBytes,
                                         unsigned clusterSize = 1);

  /// Whether prepare with no more shared memory and no larger clusters would only look up.
  bool isPrepared(const Device &device) const;

  /// Size in bytes of parameter `index`, 0 past the last one; an error where the driver
  /// (before 12.4) cannot say.
  Expected<size_t> parameterBytes(const Device &device, size_t index) const;

private:
  Kernel(std::shared_ptr<const cuda::Driver> driver, const KernelBinary &binary);

  struct Prepared {
    Device device; ///< keeps the context alive
    cuda::FunctionHandle function;
    unsigned dynamicSharedBytes = 0;
    bool takesLargeClusters = false;
  };

  std::shared_ptr<const cuda::Driver> driver;
  std::string entryName;
  std::string targetArch;
  KernelResources reported;
  unsigned generation; ///< of the process that loaded it
  cuda::LibraryHandle library = nullptr;
  cuda::KernelHandle kernel = nullptr;
  mutable std::mutex mutex;
  std::vector<Prepared> prepared;
};

} // namespace swage

#endif // SWAGE_RUNTIME_KERNEL_H
