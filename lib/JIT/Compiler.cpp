//===- Compiler.cpp - A module to machine code ----------------------------===//
//
// Passes and emission run on one thread, because MLIR's context belongs to one; the compiler, which
// takes nearly all of the time, runs for several kernels at once.
//
//===----------------------------------------------------------------------===//
#include "BuildVariant.h"
#include "Dump.h"
#include "ExecutableState.h"

#include "mlir/Pass/PassManager.h"
#include "swage/Codegen/EmitCuda.h"
#include "swage/Codegen/TemplateLibrary.h"
#include "swage/JIT/CompileKernel.h"
#include "swage/JIT/Nvrtc.h"
#include "swage/JIT/Progress.h"
#include "swage/Pipelines/Pipelines.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <thread>

using namespace swage;

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

static std::shared_ptr<KernelCache> processCache() {
  static auto *cache =
      new std::shared_ptr<KernelCache>(std::make_shared<KernelCache>(Options::get()));
  return *cache;
}

namespace {
/// Compiles the kernels of a variant, several at once.
class MachineCode {
public:
  MachineCode(const CompileOptions &options, const KernelCompiler &compiler,
              const std::vector<TemplateFile> &templates)
      : options(options), compiler(compiler), headers(headersFor(compiler.target(), templates)),
        cache(options.cache ? options.cache : processCache()) {}

  Status run(std::vector<KernelInfo> &kernels, const std::vector<bool> &skip);

private:
  Expected<std::shared_ptr<const KernelBinary>> compile(const KernelInfo &kernel) const;

  const CompileOptions &options;
  const KernelCompiler &compiler;
  const std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<KernelCache> cache;
};
} // namespace

Expected<std::shared_ptr<const KernelBinary>> MachineCode::compile(const KernelInfo &kernel) const {
  CompileRequest request;
  request.source = kernel.source;
  request.name = kernel.name + ".cu";
  request.entry = kernel.name;
  request.arch = options.arch;
  request.headers = headers;
  request.wantPtx = !options.dumpDir.empty() && compiler.target() == KernelTarget::Gpu;
  return compileKernel(compiler, *cache, request);
}

Status MachineCode::run(std::vector<KernelInfo> &kernels, const std::vector<bool> &skip) {
  std::vector<Error> errors(kernels.size());
  std::vector<char> failed(kernels.size(), 0);
  std::atomic<size_t> next{0}, finished{0};
  Progress progress(options.progress,
                    fmt::format("compiling {} kernels for {}", kernels.size(), options.arch));
  auto work = [&] {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      if (!skip[i]) {
        auto binary = compile(kernels[i]);
        if (binary) {
          kernels[i].binary = *binary;
        } else {
          failed[i] = 1;
          errors[i] = binary.takeError();
        }
      }
      progress.update(fmt::format("compiled {} of {} kernels for {}", ++finished, kernels.size(),
                                  options.arch));
    }
  };
  unsigned cores = std::min(8u, std::max(1u, std::thread::hardware_concurrency()));
  unsigned count = options.threads ? options.threads : cores;
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<size_t>(count, kernels.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!failed[i])
      continue;
    Error &error = errors[i];
    error.message = fmt::format("kernel @{}: {}", kernels[i].name, error.message);
    if (!options.dumpDir.empty())
      error.sourcePath = dumpedSource(options.dumpDir, kernels[i].name);
    return std::move(error);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The whole way
//===----------------------------------------------------------------------===//

static Status setAlignment(mlir::func::FuncOp entry, const std::vector<int64_t> &alignment) {
  unsigned arguments = entry.getNumArguments(), results = entry.getNumResults();
  if (alignment.empty())
    return {};
  if (alignment.size() != 1 && alignment.size() != arguments + results)
    return makeError(Stage::Input,
                     fmt::format("{} alignments are given; needed: 1 or {}, one for each argument "
                                 "and then one for each result",
                                 alignment.size(), arguments + results));
  for (unsigned i = 0; i < arguments + results; ++i) {
    int64_t bytes = alignment[alignment.size() == 1 ? 0 : i];
    if (bytes <= 0 || (bytes & (bytes - 1)) != 0)
      return makeError(Stage::Input,
                       fmt::format("an alignment is {}; needed: a power of two", bytes));
    auto attr = mlir::IntegerAttr::get(mlir::IntegerType::get(entry.getContext(), 64), bytes);
    if (i < arguments)
      entry.setArgAttr(i, "swage.alignment", attr);
    else
      entry.setResultAttr(i - arguments, "swage.alignment", attr);
  }
  return {};
}

static bool isSimulated(const CompileOptions &options) {
  return options.compiler && options.compiler->target() == KernelTarget::Simulator;
}

/// A word of a command line for a shell.
static std::string quoted(const std::string &word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789_./=:,-+") == std::string::npos)
    return word;
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// A command line that fails in the same way: of the kernel alone where its source was kept, else
/// of the whole graph where its text is a file; nothing where there is no such command.
static std::string reproduction(const Program::State &program, const CompileOptions &options,
                                int indexBits, const Error &error) {
  bool simulated = isSimulated(options);
  if (!error.sourcePath.empty()) {
    std::string line = simulated ? "swage-sim --compile-only " + quoted(error.sourcePath)
                                 : fmt::format("swage-translate --swage-compile-cu {} --arch={}",
                                               quoted(error.sourcePath), options.arch);
    if (!options.templateDir.empty())
      line += " --template-dir=" + quoted(options.templateDir);
    return line;
  }
  // swage-run compiles with these templates, with 32 bits, and one alignment.
  bool sameAlignment = options.alignment.size() <= 1;
  if (program.filename.empty() || program.filename.front() == '<' || !options.templateDir.empty() ||
      indexBits == 64 || !sameAlignment)
    return {};
  std::string line =
      fmt::format("swage-run {} --device={} --entry={} --arch={}", quoted(program.filename),
                  simulated ? "sim" : "none", quoted(program.entryName), options.arch);
  if (!options.fuse)
    line += " --fuse=false";
  if (!options.alignment.empty())
    line += fmt::format(" --align={}", options.alignment.front());
  std::vector<std::string> dims;
  bool dynamic = false;
  for (const TensorType &type : program.inputs) {
    std::vector<std::string> extents;
    for (int64_t extent : type.shape) // any extent will do: kernels are compiled before it counts
      extents.push_back(std::to_string(extent == TensorType::kDynamic ? 1 : extent));
    dims.push_back(type.isStatic() ? "" : join(extents, ","));
    dynamic |= !type.isStatic();
  }
  if (dynamic)
    line += " --dims=" + quoted(join(dims, ";"));
  return line;
}

/// Passes, emission and machine code. On an error, `lowered` and `snapshots` hold what there is.
static Status fillVariant(Program::State &program, const CompileOptions &options, int indexBits,
                          LoweredModule &lowered, IRSnapshots &snapshots) {
  std::vector<TemplateFile> fromDirectory;
  if (!options.templateDir.empty()) {
    auto loaded = loadTemplates(options.templateDir);
    if (!loaded)
      return loaded.takeError();
    fromDirectory = std::move(*loaded);
  }
  lowered.module = program.module->clone();
  auto entry = lowered.module->lookupSymbol<mlir::func::FuncOp>(program.entryName);
  for (auto function : llvm::make_early_inc_range(lowered.module->getOps<mlir::func::FuncOp>()))
    if (function != entry)
      function.erase();
  if (Status aligned = setAlignment(entry, options.alignment); !aligned)
    return aligned;

  Variant &variant = *lowered.variant;
  {
    Progress progress(options.progress, "running the passes");
    DiagnosticCollector diagnostics(program.context);
    mlir::PassManager manager(&program.context);
    KernelPipelineOptions pipeline;
    pipeline.arch = options.arch;
    pipeline.index = indexBits;
    pipeline.fuse = options.fuse;
    buildKernelPipeline(manager, pipeline);
    if (!options.dumpDir.empty())
      recordPasses(manager, snapshots);
    if (mlir::failed(manager.run(*lowered.module)))
      return diagnostics.take(Stage::Lower, program.filename + ": the passes failed");
    variant.remarks = std::move(diagnostics.remarks);
  }
  std::string arch = (isSimulated(options) ? std::string(kSimulatedArch) : "") + options.arch;
  if (Status built = buildVariant(program, arch, indexBits, lowered); !built)
    return built;

  std::vector<bool> skip;
  for (size_t i = 0; i < lowered.kernels.size(); ++i) {
    DiagnosticCollector diagnostics(program.context);
    mlir::FailureOr<KernelSource> source = emitCuda(lowered.kernels[i]);
    if (mlir::failed(source))
      return diagnostics.take(Stage::Lower, fmt::format("kernel @{} cannot be printed as CUDA",
                                                        variant.kernels[i].name));
    variant.kernels[i].source = std::move(source->text);
    skip.push_back(isAlwaysEmpty(lowered.kernels[i]));
  }

  std::shared_ptr<const KernelCompiler> compiler = options.compiler;
  if (!compiler) {
    auto nvrtc = Nvrtc::get();
    if (!nvrtc)
      return nvrtc.takeError();
    compiler = *nvrtc;
  }
  MachineCode code(options, *compiler,
                   options.templateDir.empty() ? embeddedTemplates() : fromDirectory);
  return code.run(variant.kernels, skip);
}

Expected<std::shared_ptr<const Variant>>
swage::compileVariant(Program::State &program, const CompileOptions &options, int indexBits) {
  if (auto known = DeviceProperties::forArch(options.arch); !known)
    return known.takeError();
  if (!options.dumpDir.empty())
    if (Status usable = checkDumpDir(options.dumpDir); !usable)
      return usable.takeError();
  LoweredModule lowered;
  IRSnapshots snapshots;
  Status filled = fillVariant(program, options, indexBits, lowered, snapshots);
  if (filled) {
    if (!options.dumpDir.empty())
      if (Status written = writeDump(options.dumpDir, snapshots, lowered); !written)
        return written.takeError();
    return std::shared_ptr<const Variant>(std::move(lowered.variant));
  }
  Error error = filled.takeError();
  if (!options.dumpDir.empty())
    if (Status written = writeDump(options.dumpDir, snapshots, lowered, &error); !written)
      error.sourcePath.clear(); // what failed matters more than that it was not written
  if (error.stage == Stage::Lower || error.stage == Stage::Compile)
    error.reproduce = reproduction(program, options, indexBits, error);
  return error;
}

Expected<Executable> Program::compile(const CompileOptions &options) const {
  std::lock_guard<std::mutex> lock(state->mutex);
  auto executable = std::make_shared<Executable::State>();
  executable->program = state;
  executable->options = options;
  if (options.dumpDir.empty())
    executable->options.dumpDir = Options::get().dump.directory;
  auto variant = compileVariant(*state, executable->options, options.indexBits);
  if (!variant)
    return variant.takeError();
  executable->narrow = std::move(*variant);
  return Executable(std::move(executable));
}
