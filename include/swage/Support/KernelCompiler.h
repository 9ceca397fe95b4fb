//===- KernelCompiler.h - Who makes a kernel of its source ----------------===//
//
// NVRTC for a GPU (swage/JIT/Nvrtc.h), the compiler of the host for the simulator
// (swage/Simt/Simulator.h).  The JIT and the kernel cache know this interface only.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_SUPPORT_KERNELCOMPILER_H
#define SWAGE_SUPPORT_KERNELCOMPILER_H

#include "swage/Support/Error.h"
#include "swage/Support/KernelBinary.h"

#include <string>
#include <utility>
#include <vector>

namespace swage {

struct CompileRequest {
  std::string source;
  std::string name;  ///< file name in messages: "row_3f2a91c0.cu"
  std::string entry; ///< extern "C" kernel whose resources are reported
  std::vector<std::pair<std::string, std::string>> headers; ///< name as in #include, text
  std::string arch;                                         ///< "sm_90a"
  bool wantPtx = false;                                     ///< ignored by a compiler that has none
};

/// Safe to use from several threads, which really compile in parallel.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  virtual KernelTarget target() const = 0;
  /// Name and exact build, "NVRTC 65be0db3...": part of the cache key.
  virtual std::string identity() const = 0;
  /// What decides, beside the request and the identity, how compile goes about it: the complete
  /// list of options.  Part of the cache key.
  virtual Expected<std::vector<std::string>> options(const CompileRequest &request) const = 0;
  virtual Expected<KernelBinary> compile(const CompileRequest &request) const = 0;
};

} // namespace swage

#endif // SWAGE_SUPPORT_KERNELCOMPILER_H
