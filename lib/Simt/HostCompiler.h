//===- HostCompiler.h - A kernel's text to a module of the simulator ------===//
//
// The only place that runs a compiler of the host: without a shell, in a directory of its own that
// is gone afterwards, with headers from memory and none of the system, so that nothing of the
// machine but the compiler itself decides the result; the cache key relies on it.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_HOSTCOMPILER_H
#define SWAGE_LIB_SIMT_HOSTCOMPILER_H

#include "swage/Support/KernelCompiler.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swage::simt {

class HostCompiler : public KernelCompiler {
public:
  using Seconds = std::chrono::duration<double>;

  /// The compiler named by SWAGE_HOST_COMPILER, or the first of the usual ones; looked for on the
  /// first call.  With `checked` its modules show their accesses to the checker.
  static Expected<std::shared_ptr<const HostCompiler>> get(bool checked);
  /// `name`: a file, or a name on PATH; empty: g++, clang++ or c++.
  static Expected<std::shared_ptr<const HostCompiler>>
  find(const std::string &name, bool checked, Seconds limit = std::chrono::minutes(2));

  KernelTarget target() const override { return KernelTarget::Simulator; }
  /// "g++ (Debian 12.2.0-14) 12.2.0 for x86-64": what it says about itself, and the machine.
  std::string identity() const override;
  Expected<std::vector<std::string>> options(const CompileRequest &request) const override;
  Expected<KernelBinary> compile(const CompileRequest &request) const override;

  const std::string &program() const { return name; }
  bool isChecked() const { return checked; }

private:
  HostCompiler(std::string name, std::string version, bool checked, Seconds limit)
      : name(std::move(name)), version(std::move(version)), checked(checked), limit(limit) {}

  std::string name;
  std::string version;
  bool checked;
  Seconds limit;
};

/// The names of the kernels that a source defines, in order.
std::vector<std::string> kernelNames(std::string_view source);

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_HOSTCOMPILER_H
