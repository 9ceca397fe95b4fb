//===- AnySource.h - A compiler that takes every source -------------------===//
//
// For tests of everything that comes before machine code, on machines without NVRTC.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_ANYSOURCE_H
#define SWAGE_TEST_LIB_ANYSOURCE_H

#include "swage/JIT/Program.h"

namespace swage {

/// What it makes is a text that the stand-in driver takes.
class AnySource : public KernelCompiler {
public:
  KernelTarget target() const override { return KernelTarget::Gpu; }
  std::string identity() const override { return "none"; }
  Expected<std::vector<std::string>> options(const CompileRequest &) const override {
    return std::vector<std::string>();
  }
  Expected<KernelBinary> compile(const CompileRequest &request) const override {
    KernelBinary binary;
    binary.name = request.entry;
    binary.arch = request.arch;
    binary.image = "kernels: " + request.entry;
    binary.ptx = request.wantPtx ? "// PTX" : "";
    return binary;
  }
};

/// Passes and emission, nothing else; what is compiled is kept nowhere.
inline CompileOptions withoutMachineCode() {
  CompileOptions options;
  options.compiler = std::make_shared<const AnySource>();
  options.threads = 1;
  Options memoryOnly;
  memoryOnly.cacheMode = CacheMode::Off;
  options.cache = std::make_shared<KernelCache>(memoryOnly);
  return options;
}

} // namespace swage

#endif // SWAGE_TEST_LIB_ANYSOURCE_H
