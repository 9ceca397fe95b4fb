//===- Disassembler.cpp - Machine code as text ----------------------------===//

#include "swage/JIT/Disassembler.h"
#include "swage/Support/Subprocess.h"
#include "swage/Support/Text.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <vector>

using namespace swage;

static constexpr std::chrono::seconds kLimit(60);
/// A line of SASS has a hundred bytes; no kernel of ours has a hundred thousand lines.
static constexpr size_t kOutputLimit = 16 << 20;

static std::vector<std::string> commandOf(const std::string &program, const std::string &cubin) {
  std::string name = program.substr(program.rfind('/') + 1);
  if (name.compare(0, 9, "cuobjdump") == 0)
    return {program, "-sass", cubin};
  return {program, "-c", "-g", cubin};
}

static Error failed(const std::string &program, SubprocessOutcome outcome) {
  return makeError(Stage::Load, fmt::format("'{}' {}", printable(program), outcome.str()),
                   std::move(outcome.output));
}

Expected<std::string> swage::findDisassembler(const std::string &program) {
  std::vector<std::string> programs;
  if (!program.empty())
    programs.push_back(program);
  else
    for (const char *folder : {"", "/usr/local/cuda/bin/", "/opt/cuda/bin/"})
      for (const char *name : {"nvdisasm", "cuobjdump"})
        programs.push_back(std::string(folder) + name);
  for (const std::string &name : programs) {
    SubprocessOutcome outcome = runProgram({name, "--version"}, "", kLimit);
    if (outcome.succeeded())
      return name;
    bool isMissing = outcome.kind == SubprocessOutcome::Kind::NotStarted &&
                     (outcome.code == ENOENT || outcome.code == ENOTDIR);
    if (!isMissing || !program.empty())
      return failed(name, std::move(outcome));
  }
  return makeError(Stage::Load,
                   "there is no nvdisasm or cuobjdump on PATH, in /usr/local/cuda/bin or in "
                   "/opt/cuda/bin; needed for SASS: one of both, of the CUDA toolkit, or "
                   "SWAGE_NVDISASM naming it");
}

Expected<std::string> swage::disassemble(const KernelBinary &binary, const std::string &program) {
  if (binary.target() != KernelTarget::Gpu)
    return makeError(Stage::Input, fmt::format("kernel @{} was compiled for the simulator ({}); "
                                               "needed for SASS: one for a GPU",
                                               binary.name, binary.arch));
  auto name = findDisassembler(program);
  if (!name)
    return name;
  TemporaryDirectory directory;
  if (directory.path().empty())
    return makeError(Stage::Input, fmt::format("cannot create a directory for temporary files: {}",
                                               std::strerror(errno)));
  std::string cubin = directory.path() + "/kernel.cubin";
  if (Status written = writeFile(cubin, binary.image); !written)
    return written.takeError();
  SubprocessOutcome outcome = runProgram(commandOf(*name, cubin), "", kLimit, kOutputLimit);
  if (!outcome.succeeded())
    return failed(*name, std::move(outcome));
  return std::move(outcome.output);
}
