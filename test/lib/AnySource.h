//===- AnySource.h - A compiler that takes every source -------------------===//
//
// For tests of everything that comes before machine code, on machines without NVRTC.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_ANYSOURCE_H
#define SWAGE_TEST_LIB_ANYSOURCE_H

#include "swage/Support/KernelCompiler.h"

namespace swage {

class AnySource final : public KernelCompiler {
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
    return binary;
  }
};

} // namespace swage

#endif // SWAGE_TEST_LIB_ANYSOURCE_H
