//===- Nvrtc.h - CUDA source to machine code ------------------------------===//
//
// NVRTC through dlopen.  Source and headers come from memory and the options are a closed list made
// here, so that nothing of the machine but NVRTC itself decides the result; the cache key relies on
// it.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_JIT_NVRTC_H
#define SWAGE_JIT_NVRTC_H

#include "swage/Support/KernelCompiler.h"

#include <memory>
#include <string>
#include <vector>

namespace swage {

struct NvrtcVersion {
  int major = 0;
  int minor = 0;
  int build = 0; ///< of the compiler: patched releases differ in nothing else

  std::string str() const; ///< "13.0.88"
};

class Nvrtc : public KernelCompiler {
public:
  /// The library named by SWAGE_NVRTC, or the first of the usual places; opened on the first call.
  /// The outcome is kept for the life of the process.
  static Expected<std::shared_ptr<const Nvrtc>> get();
  /// The same for who may not need to compile: opened by the first compile, where its file tells
  /// which build it is.  An error is that of `get`, then or now.
  static Expected<std::shared_ptr<const KernelCompiler>> compiler();
  /// `path`: a file; a directory that holds it, directly or as a toolkit or Python's site-packages
  /// lay it out; or empty for the usual places.
  static Expected<std::shared_ptr<const Nvrtc>> load(const std::string &path);
  ~Nvrtc() override;

  /// The first call takes a short compile.
  const NvrtcVersion &version() const;
  const std::string &path() const;
  /// "sm_75", ...: without suffixes.
  const std::vector<std::string> &supportedArchs() const;

  KernelTarget target() const override { return KernelTarget::Gpu; }
  /// By the build-id of the library or, where it has none, its version.
  std::string identity() const override;
  Expected<std::vector<std::string>> options(const CompileRequest &request) const override;
  /// A kernel that spills registers is compiled again, for one block a multiprocessor.
  Expected<KernelBinary> compile(const CompileRequest &request) const override;

private:
  Expected<KernelBinary> compileOnce(const CompileRequest &request) const;
  struct State;
  explicit Nvrtc(std::unique_ptr<State> state);
  Status checkArch(const std::string &arch) const;
  std::unique_ptr<State> state;
};

/// The report of `ptxas -v` about `entry`; zeros when there is none in the log.
KernelResources parsePtxasReport(const std::string &log, const std::string &entry);

} // namespace swage

#endif // SWAGE_JIT_NVRTC_H
