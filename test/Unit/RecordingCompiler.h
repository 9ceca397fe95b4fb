//===- RecordingCompiler.h - Keeps what it is asked to compile ------------===//
#ifndef SWAGE_TEST_UNIT_RECORDINGCOMPILER_H
#define SWAGE_TEST_UNIT_RECORDINGCOMPILER_H

#include "swage/Support/KernelCompiler.h"

#include <mutex>

namespace swage {

/// Seems to be the simulator's.  What it makes of a source is the source; of one with "#error", or
/// where it is told to fail, an error.
class RecordingCompiler : public KernelCompiler {
public:
  KernelTarget target() const override { return KernelTarget::Simulator; }
  std::string identity() const override { return "recorder 1"; }
  Expected<std::vector<std::string>> options(const CompileRequest &) const override {
    return std::vector<std::string>{"-O1"};
  }
  Expected<KernelBinary> compile(const CompileRequest &request) const override {
    std::lock_guard<std::mutex> lock(mutex);
    requests.push_back(request);
    if (fails || request.source.find("#error") != std::string::npos)
      return makeError(Stage::Compile, "as the test asked", "a log");
    KernelBinary binary;
    binary.name = request.entry;
    binary.arch = std::string(kSimulatedArch) + request.arch;
    binary.image = request.source;
    return binary;
  }

  bool fails = false;
  mutable std::mutex mutex;
  mutable std::vector<CompileRequest> requests;
};

} // namespace swage

#endif // SWAGE_TEST_UNIT_RECORDINGCOMPILER_H
