//===- Compiler.cpp - A module to machine code ----------------------------===//
//
// Passes and emission run on one thread, because MLIR's context belongs to one; the compiler, which
// takes nearly all of the time, runs for several kernels at once.
//
//===----------------------------------------------------------------------===//
#include "BuildVariant.h"
#include "Dump.h"
#include "ExecutableState.h"
#include "Override.h"
#include "VariantCache.h"

#include "mlir/Pass/PassManager.h"
#include "swage/Codegen/EmitCuda.h"
#include "swage/Codegen/TemplateLibrary.h"
#include "swage/Dialect/Swage/Analysis/ShapeFacts.h"
#include "swage/JIT/CompileKernel.h"
#include "swage/JIT/Disassembler.h"
#include "swage/JIT/Nvrtc.h"
#include "swage/JIT/Progress.h"
#include "swage/Pipelines/Pipelines.h"
#include "swage/Runtime/Trace.h"
#include "swage/Support/ShapeClass.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>

using namespace swage;

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

KernelCache &swage::cacheOf(const CompileOptions &options, const Context &context) {
  return options.cache ? *options.cache : context.cache();
}

namespace {
/// Another compiler, and whether it was asked.
class Watched : public KernelCompiler {
public:
  explicit Watched(const KernelCompiler &compiler) : compiler(compiler) {}

  KernelTarget target() const override { return compiler.target(); }
  std::string identity() const override { return compiler.identity(); }
  Expected<std::vector<std::string>> options(const CompileRequest &request) const override {
    return compiler.options(request);
  }
  Expected<KernelBinary> compile(const CompileRequest &request) const override {
    wasAsked = true;
    return compiler.compile(request);
  }

  mutable bool wasAsked = false;

private:
  const KernelCompiler &compiler;
};

/// Compiles the kernels of a variant, several at once.
class MachineCode {
public:
  MachineCode(const VariantRequest &variant, const Context &context, const KernelCompiler &compiler,
              const std::vector<TemplateFile> &templates, Artifact *artifact)
      : variant(variant), options(variant.options), context(context), compiler(compiler),
        headers(headersFor(compiler.target(), templates)), artifact(artifact) {}

  /// `failed`: the first kernel that the compiler refused, if that is the error.
  Status run(std::vector<KernelInfo> &kernels, const std::vector<uint8_t> &skip,
             std::optional<size_t> &failed);

private:
  CompileRequest requestFor(const KernelInfo &kernel) const;
  Expected<std::shared_ptr<const KernelBinary>> compile(const KernelInfo &kernel) const;
  void describe(const std::vector<KernelInfo> &kernels) const;

  const VariantRequest &variant;
  const CompileOptions &options;
  const Context &context;
  const KernelCompiler &compiler;
  const std::vector<std::pair<std::string, std::string>> headers;
  Artifact *artifact;
};
} // namespace

CompileRequest MachineCode::requestFor(const KernelInfo &kernel) const {
  CompileRequest request;
  request.source = kernel.source;
  // Messages of the compiler name the file that a person can edit.
  request.name = kernel.overriddenBy.empty() ? kernel.name + ".cu" : kernel.overriddenBy;
  request.entry = kernel.name;
  request.arch = options.arch;
  request.headers = headers;
  request.wantPtx = (artifact || options.environment.dump.wants(DumpPtx)) &&
                    compiler.target() == KernelTarget::Gpu;
  return request;
}

Expected<std::shared_ptr<const KernelBinary>> MachineCode::compile(const KernelInfo &kernel) const {
  TraceSpan span(context, TraceEvent::Kind::Compile, kernel.name, options.arch, variant.reason);
  if (!kernel.overriddenBy.empty())
    span.event.detail += ", from " + kernel.overriddenBy;
  Watched watched(compiler);
  auto binary = compileKernel(watched, cacheOf(options, context), requestFor(kernel));
  if (!watched.wasAsked)
    span.event.kind = TraceEvent::Kind::CacheHit;
  if (!binary)
    span.cancel();
  return binary;
}

/// Keys and disassembly.
void MachineCode::describe(const std::vector<KernelInfo> &kernels) const {
  for (const KernelInfo &kernel : kernels) {
    Artifact::OfKernel described;
    described.info = kernel;
    if (auto key = cacheKeyOf(compiler, requestFor(kernel)))
      described.key = key->hash.hex();
    if (!kernel.binary) {
      described.sassProblem = "there is nothing to compile";
    } else if (compiler.target() != KernelTarget::Gpu) {
      described.sassProblem = "it was compiled for the simulator";
    } else if (auto sass = disassemble(*kernel.binary, options.environment.disassembler)) {
      described.sass = std::move(*sass);
    } else {
      described.sassProblem = sass.error().message;
    }
    artifact->kernels.push_back(std::move(described));
  }
}

Status MachineCode::run(std::vector<KernelInfo> &kernels, const std::vector<uint8_t> &skip,
                        std::optional<size_t> &failed) {
  std::vector<Status> outcomes(kernels.size());
  std::atomic<size_t> next{0}, finished{0};
  Progress progress(options.progress,
                    fmt::format("compiling {} kernels for {}", kernels.size(), options.arch));
  auto work = [&] {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      if (!skip[i]) {
        auto binary = compile(kernels[i]);
        if (binary)
          kernels[i].binary = *binary;
        else
          outcomes[i] = binary.takeError();
      }
      progress.update(fmt::format("compiled {} of {} kernels for {}", ++finished, kernels.size(),
                                  options.arch));
    }
  };
  size_t count = options.threads ? options.threads : kernels.size();
  context.runAll(std::vector<std::function<void()>>(std::min(count, kernels.size()), work));
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (outcomes[i])
      continue;
    Error error = outcomes[i].takeError();
    std::string file = kernels[i].overriddenBy;
    if (!file.empty())
      file = fmt::format(" from '{}' (SWAGE_OVERRIDE)", printable(file));
    error.message = fmt::format("kernel @{}{}: {}", kernels[i].name, file, error.message);
    if (error.stage == Stage::Compile)
      failed = i;
    return error;
  }
  if (artifact)
    describe(kernels);
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

static double millisecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

static bool isSimulated(const CompileOptions &options) {
  return options.compiler && options.compiler->target() == KernelTarget::Simulator;
}

std::string swage::archOf(const CompileOptions &options) {
  return (isSimulated(options) ? std::string(kSimulatedArch) : "") + options.arch;
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
static std::string reproduction(const ProgramIR &program, const CompileOptions &options,
                                int indexBits, const std::vector<Guards::Extent> &promised,
                                const Error &error) {
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
  const std::vector<int64_t> &alignment = options.alignment;
  bool sameAlignment = std::adjacent_find(alignment.begin(), alignment.end(),
                                          std::not_equal_to<>()) == alignment.end();
  if (program.filename.empty() || program.filename.front() == '<' || !options.templateDir.empty() ||
      indexBits == 64 || !sameAlignment)
    return {};
  std::string line =
      fmt::format("swage-run {} --device={} --entry={} --arch={}", quoted(program.filename),
                  simulated ? "sim" : "none", quoted(program.entryName), options.arch);
  if (!options.fuse)
    line += " --fuse=false";
  if (!alignment.empty() && alignment.front() != 16)
    line += fmt::format(" --align={}", alignment.front());
  std::vector<std::string> dims;
  bool dynamic = false;
  size_t next = 0;
  // An extent of the class will do, of which the largest is in no other: kernels are compiled
  // before it counts.
  auto ofClass = [&]() -> int64_t {
    if (next >= promised.size())
      return 1;
    const Guards::Extent &extent = promised[next++];
    int64_t most = extent.atMost ? extent.atMost : std::end(kLengthLimits)[-1] + extent.multipleOf;
    return std::max(most / extent.multipleOf, int64_t(1)) * extent.multipleOf;
  };
  for (const TensorType &type : program.inputs) {
    std::vector<std::string> extents;
    for (int64_t extent : type.shape)
      extents.push_back(std::to_string(extent == TensorType::kDynamic ? ofClass() : extent));
    dims.push_back(type.isStatic() ? "" : join(extents, ","));
    dynamic |= !type.isStatic();
  }
  if (dynamic)
    line += " --dims=" + quoted(join(dims, ";"));
  return line;
}

/// Says of the arguments what guards promise; what the graph promises itself is among it.
static void setPromises(mlir::func::FuncOp entry, const std::vector<Guards::Extent> &extents) {
  size_t next = 0;
  mlir::Builder builder(entry.getContext());
  for (unsigned i = 0; i < entry.getNumArguments() && next < extents.size(); ++i) {
    auto type = mlir::cast<mlir::RankedTensorType>(entry.getArgumentTypes()[i]);
    llvm::SmallVector<int64_t> multiples(size_t(type.getRank()), 1), limits(multiples.size(), 0);
    for (unsigned dim = 0; dim < type.getRank() && next < extents.size(); ++dim)
      if (type.isDynamicDim(dim)) {
        multiples[dim] = extents[next].multipleOf;
        limits[dim] = extents[next++].atMost;
      }
    if (llvm::any_of(multiples, [](int64_t multiple) { return multiple != 1; }))
      entry.setArgAttr(i, SwageDialect::kMultipleOf, builder.getDenseI64ArrayAttr(multiples));
    if (llvm::any_of(limits, [](int64_t limit) { return limit != 0; }))
      entry.setArgAttr(i, SwageDialect::kAtMost, builder.getDenseI64ArrayAttr(limits));
  }
}

/// The passes. On an error, `lowered` and `snapshots` hold what there is.
static Status lower(ProgramIR &program, const VariantRequest &request,
                    const std::string &schedules, bool wantsSnapshots, LoweredModule &lowered,
                    IRSnapshots &snapshots) {
  const CompileOptions &options = request.options;
  lowered.module = program.module->clone();
  auto entry = lowered.module->lookupSymbol<mlir::func::FuncOp>(program.entryName);
  for (auto function : llvm::make_early_inc_range(lowered.module->getOps<mlir::func::FuncOp>()))
    if (function != entry)
      function.erase();
  if (Status aligned = setAlignment(entry, options.alignment); !aligned)
    return aligned;
  setPromises(entry, request.extents);

  {
    Progress progress(options.progress, "running the passes");
    DiagnosticCollector diagnostics(program.context);
    // Of a diagnostic only the place and the words are kept: no op needs to be printed for it.
    program.context.printOpOnDiagnostic(false);
    mlir::PassManager manager(&program.context);
    KernelPipelineOptions pipeline;
    pipeline.arch = options.arch;
    pipeline.index = request.indexBits;
    pipeline.fuse = options.fuse;
    pipeline.overlap = options.environment.overlap;
    pipeline.schedules = schedules;
    buildKernelPipeline(manager, pipeline);
    if (wantsSnapshots)
      recordPasses(manager, snapshots);
    if (mlir::failed(manager.run(*lowered.module)))
      return diagnostics.take(Stage::Lower, program.filename + ": the passes failed");
    lowered.variant->remarks = std::move(diagnostics.remarks);
  }
  return buildVariant(program, archOf(options), request.indexBits, lowered);
}

Status swage::lowerProgram(ProgramIR &program, const VariantRequest &request,
                           const std::string &schedules, LoweredModule &lowered) {
  IRSnapshots none;
  return lower(program, request, schedules, /*wantsSnapshots=*/false, lowered, none);
}

/// The kernels' texts.
static Status emit(ProgramIR &program, const CompileOptions &options, LoweredModule &lowered) {
  Variant &variant = *lowered.variant;
  for (size_t i = 0; i < lowered.kernels.size(); ++i) {
    DiagnosticCollector diagnostics(program.context);
    mlir::FailureOr<KernelSource> source = emitCuda(lowered.kernels[i]);
    if (mlir::failed(source))
      return diagnostics.take(Stage::Lower, fmt::format("kernel @{} cannot be printed as CUDA",
                                                        variant.kernels[i].name));
    variant.kernels[i].source = std::move(source->text);
  }
  return applyOverrides(
      options.environment.overrides, variant.kernels,
      [](const std::string &line) { std::fprintf(stderr, "swage: %s\n", line.c_str()); });
}

using Compiler = std::shared_ptr<const KernelCompiler>;

static Expected<Compiler> compilerFor(const CompileOptions &options, const Context &context) {
  if (options.compiler)
    return options.compiler;
  if (context.options().compiler)
    return context.options().compiler;
  return Nvrtc::compiler();
}

static Status compileKernels(const Context &context, const VariantRequest &request,
                             const KernelCompiler &compiler, const std::vector<uint8_t> &skip,
                             LoweredModule &lowered, Artifact *artifact) {
  const CompileOptions &options = request.options;
  std::vector<TemplateFile> fromDirectory;
  if (!options.templateDir.empty()) {
    auto loaded = loadTemplates(options.templateDir);
    if (!loaded)
      return loaded.takeError();
    fromDirectory = std::move(*loaded);
  }
  MachineCode code(request, context, compiler,
                   options.templateDir.empty() ? embeddedTemplates() : fromDirectory, artifact);
  return code.run(lowered.variant->kernels, skip, lowered.failedKernel);
}

/// What the cache has instead of passes and emission.
static std::optional<LoweredVariant> find(const ProgramIR &program, const Context &context,
                                          const VariantRequest &request, KernelCache &cache,
                                          const CacheKey &key) {
  TraceSpan span(context, TraceEvent::Kind::VariantHit, program.entryName, request.options.arch,
                 request.reason);
  std::optional<LoweredVariant> found = findLowered(program, cache, key);
  if (!found)
    span.cancel();
  return found;
}

Expected<std::shared_ptr<const Variant>> swage::compileVariant(ProgramIR &program,
                                                               const Context &context,
                                                               const VariantRequest &request,
                                                               Artifact *artifact) {
  const CompileOptions &options = request.options;
  if (auto known = DeviceProperties::forArch(options.arch); !known)
    return known.takeError();
  const DumpRequest &dump = options.environment.dump;
  if (!dump.directory.empty())
    if (Status usable = checkDumpDir(dump.directory); !usable)
      return usable.takeError();
  std::string schedules = schedulesFor(options);
  KernelCache &cache = cacheOf(options, context);
  // Whoever wants to look at the passes, or changes what they made, has them run.
  std::optional<CacheKey> key;
  if (!artifact && dump.directory.empty() && options.environment.overrides.empty())
    key = resultKey(program, request, "variant", schedules);
  std::optional<LoweredVariant> known =
      key ? find(program, context, request, cache, *key) : std::nullopt;
  // Held for all that touches the graph's context, the end of `lowered` too; not for the compiler.
  std::unique_lock<std::mutex> lock(program.mutex);
  LoweredModule lowered;
  IRSnapshots snapshots;
  Status filled;
  std::vector<uint8_t> isEmpty; // of each kernel
  std::string toKeep;
  Expected<Compiler> compiler = Compiler();
  // To open NVRTC, where that must be, takes as long as the passes do.
  auto open = [&] { compiler = compilerFor(options, context); };
  auto lowerAndEmit = [&] {
    TraceSpan span(context, TraceEvent::Kind::Lower, program.entryName, options.arch,
                   request.reason);
    filled = lower(program, request, schedules, artifact || dump.wants(DumpIR), lowered, snapshots);
    if (filled)
      filled = emit(program, options, lowered);
    if (!filled)
      span.cancel();
    if (artifact)
      artifact->lowerMilliseconds = millisecondsSince(span.event.begin);
  };
  if (known) {
    lowered.variant = std::move(known->variant);
    isEmpty = std::move(known->isEmpty);
    open();
  } else {
    context.runAll({lowerAndEmit, open});
    for (KernelOp kernel : lowered.kernels)
      isEmpty.push_back(isAlwaysEmpty(kernel));
    if (filled && key)
      toKeep = serializeLowered({lowered.variant, isEmpty});
  }
  if (filled && !compiler)
    filled = compiler.takeError();
  if (filled) {
    lock.unlock();
    auto begin = std::chrono::steady_clock::now();
    filled = compileKernels(context, request, **compiler, isEmpty, lowered, artifact);
    // The compiler may prove to be another than its file said when it is opened.
    if (!filled)
      if (auto opened = compilerFor(options, context);
          opened && (*opened)->identity() != (*compiler)->identity())
        filled = compileKernels(context, request, **opened, isEmpty, lowered, artifact);
    if (filled && !toKeep.empty())
      cache.keepVariant(*key, program.entryName, archOf(options), std::move(toKeep));
    if (artifact)
      artifact->compileMilliseconds = millisecondsSince(begin);
    lock.lock();
  }
  if (artifact)
    artifact->passes = snapshots.modules;
  if (filled) {
    if (!dump.directory.empty())
      if (Status written = writeDump(options.environment, snapshots, lowered); !written)
        return written.takeError();
    return std::shared_ptr<const Variant>(std::move(lowered.variant));
  }
  Error error = filled.takeError();
  // That a dump was not written matters less than what failed.
  bool isDumped =
      !dump.directory.empty() && writeDump(options.environment, snapshots, lowered, error.log);
  if (lowered.failedKernel) {
    const KernelInfo &kernel = lowered.variant->kernels[*lowered.failedKernel];
    if (!kernel.overriddenBy.empty())
      error.sourcePath = kernel.overriddenBy;
    else if (isDumped && dump.wants(DumpCuda))
      error.sourcePath = dumpedSource(dump.directory, kernel.name);
    else
      error.sourcePath = cache.keepFailedSource(kernel.source, error.log);
  }
  if (error.stage == Stage::Lower || error.stage == Stage::Compile)
    error.reproduce = reproduction(program, options, request.indexBits, request.extents, error);
  return error;
}

Expected<std::vector<ExtentNeeds>> swage::analyzeNeeds(ProgramIR &program, KernelCache &cache) {
  std::vector<SymbolicLaunch::Size> places = dynamicExtents(program.inputs);
  std::vector<ExtentNeeds> needs(places.size());
  if (places.empty())
    return needs;
  const VariantRequest any;
  std::optional<CacheKey> key = resultKey(program, any, "needs", /*schedules=*/"");
  if (auto known = key ? findNeeds(program, cache, *key) : std::nullopt)
    return std::move(*known);
  std::lock_guard<std::mutex> lock(program.mutex);
  LoweredModule lowered;
  // What no kernel takes of any number, pages of an unknown number of queries perhaps, one may take
  // of few; or it fails again where a variant is made, which tells it with all there is to say.
  bool isLowered = bool(lowerProgram(program, any, /*schedules=*/"", lowered));
  auto entry = program.module->lookupSymbol<mlir::func::FuncOp>(program.entryName);
  std::vector<Guards::Extent> promises =
      isLowered ? lowered.variant->guards.extents : promisesOf(entry);
  for (size_t extent = 0; extent < places.size(); ++extent) {
    needs[extent].promised = promises[extent];
    needs[extent].multiple = needs[extent].limit = needs[extent].count = !isLowered;
  }
  if (!isLowered)
    return needs;
  for (const SymbolicLaunch &launch : lowered.variant->launches) {
    auto ofKernel = symbolNeeds(lowered.kernels[launch.kernel]);
    for (size_t i = 0; i < std::min<size_t>(ofKernel.size(), launch.sizes.size()); ++i)
      for (size_t extent = 0; extent < places.size(); ++extent)
        if (places[extent].argument == launch.sizes[i].argument &&
            places[extent].dim == launch.sizes[i].dim) {
          needs[extent].multiple |= ofKernel[i].multiple;
          needs[extent].limit |= ofKernel[i].limit;
          needs[extent].count |= ofKernel[i].count;
        }
  }
  if (key)
    cache.keepVariant(*key, program.entryName, any.options.arch, serializeNeeds(needs));
  return needs;
}
