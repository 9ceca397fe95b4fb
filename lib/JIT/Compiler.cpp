//===- Compiler.cpp - A module to machine code ----------------------------===//
//
// Passes and emission run on one thread, because MLIR's context belongs to one; the compiler, which
// takes nearly all of the time, runs for several kernels at once.
//
//===----------------------------------------------------------------------===//
#include "Dump.h"
#include "ExecutableState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "swage/Codegen/EmitCuda.h"
#include "swage/Codegen/TemplateLibrary.h"
#include "swage/JIT/CompileKernel.h"
#include "swage/JIT/Nvrtc.h"
#include "swage/JIT/Progress.h"
#include "swage/Pipelines/Pipelines.h"
#include "swage/Support/Text.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <thread>

using namespace swage;

//===----------------------------------------------------------------------===//
// Reading the prepared module
//===----------------------------------------------------------------------===//

int swage::indexBitsOf(KernelOp kernel) {
  return llvm::TypeSwitch<mlir::Attribute, int>(kernel.getScheduleAttr())
      .Case<PointwiseScheduleAttr, PermuteScheduleAttr, RowScheduleAttr, ReduceScheduleAttr>(
          [](auto schedule) { return int(schedule.getIndex()); })
      .Default([](mlir::Attribute) { return 32; });
}

static std::string familyName(KernelOp kernel) {
  mlir::Attribute schedule = kernel.getScheduleAttr();
  if (auto row = mlir::dyn_cast_or_null<RowScheduleAttr>(schedule))
    return "row " + stringifyRowClass(row.getKind()).str();
  if (auto permute = mlir::dyn_cast_or_null<PermuteScheduleAttr>(schedule))
    return "permute " + stringifyPermuteClass(permute.getKind()).str();
  return mlir::isa_and_nonnull<ReduceScheduleAttr>(schedule) ? "reduce" : "pointwise";
}

/// What a kernel was made from: the graph's ops at the locations that its loc lists.
static std::vector<std::string> provenance(KernelOp kernel, Program::State &program) {
  std::map<mlir::Location, mlir::Operation *, bool (*)(mlir::Location, mlir::Location)> at(
      [](mlir::Location a, mlir::Location b) {
        return a.getAsOpaquePointer() < b.getAsOpaquePointer();
      });
  program.entry.walk([&](mlir::Operation *op) { at[op->getLoc()] = op; });
  std::vector<std::string> ops;
  kernel.getLoc()->walk([&](mlir::Location location) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(location);
    auto op = at.find(location);
    if (!file || op == at.end() || mlir::isa<mlir::arith::ConstantOp>(op->second))
      return mlir::WalkResult::advance();
    std::string text = fmt::format("{} at {}:{}", op->second->getName().getStringRef().str(),
                                   file.getLine(), file.getColumn());
    if (!llvm::is_contained(ops, text))
      ops.push_back(text);
    return mlir::WalkResult::advance();
  });
  return ops;
}

/// The argument's extent that a launch gets as a runtime size.
static std::optional<SymbolicLaunch::Size> sizeOf(mlir::Value value) {
  auto dim = value.getDefiningOp<mlir::tensor::DimOp>();
  auto argument = dim ? mlir::dyn_cast<mlir::BlockArgument>(dim.getSource()) : nullptr;
  llvm::APInt index;
  if (!argument || !mlir::matchPattern(dim.getIndex(), mlir::m_ConstantInt(&index)))
    return std::nullopt;
  return SymbolicLaunch::Size{argument.getArgNumber(), unsigned(index.getZExtValue())};
}

static mlir::Value behindCasts(mlir::Value value) {
  while (auto cast = value.getDefiningOp<mlir::tensor::CastOp>())
    value = cast.getSource();
  return value;
}

/// Launches and kernels of the entry function, in order.
static Status readLaunches(Program::State &program, Variant &variant) {
  auto entry = variant.module->lookupSymbol<mlir::func::FuncOp>(program.entryName);
  auto failure = [&](mlir::Operation *op, const char *why) {
    return makeError(Stage::Lower, fmt::format("{}: '{}' {}", describeLocation(op->getLoc()),
                                               op->getName().getStringRef().str(), why));
  };
  llvm::DenseMap<mlir::Value, SymbolicLaunch::Place> places;
  for (mlir::BlockArgument argument : entry.getArguments())
    places[argument] = {BufferKind::Input, argument.getArgNumber()};
  mlir::Operation *terminator = entry.getBody().front().getTerminator();
  for (mlir::OpOperand &operand : terminator->getOpOperands()) {
    mlir::Value value = behindCasts(operand.get());
    if (!value.getDefiningOp<LaunchOp>() || places.count(value))
      return failure(terminator, "returns a value that no kernel writes");
    places[value] = {BufferKind::Output, operand.getOperandNumber()};
  }
  for (mlir::Operation &op : entry.getBody().front()) {
    auto launch = mlir::dyn_cast<LaunchOp>(op);
    if (!launch) {
      if (mlir::isa<mlir::tensor::DimOp, mlir::tensor::CastOp, mlir::arith::ConstantOp,
                    mlir::func::ReturnOp>(op))
        continue;
      return failure(&op, "is left over: no kernel computes it");
    }
    SymbolicLaunch symbolic;
    auto kernel = variant.module->lookupSymbol<KernelOp>(launch.getKernel());
    auto known = llvm::find(variant.ops, kernel);
    symbolic.kernel = unsigned(known - variant.ops.begin());
    if (known == variant.ops.end())
      variant.ops.push_back(kernel);
    for (mlir::Value size : launch.getSizes()) {
      auto place = sizeOf(size);
      if (!place)
        return failure(launch, "has a size that is no extent of an argument");
      symbolic.sizes.push_back(*place);
    }
    for (mlir::Value tensor : launch.getTensors()) {
      auto place = places.find(behindCasts(tensor));
      if (place == places.end())
        return failure(launch, "reads a value that no kernel writes");
      symbolic.inputs.push_back(place->second);
    }
    for (mlir::Value output : launch.getOutputs()) {
      auto place = places.try_emplace(
          output, SymbolicLaunch::Place{BufferKind::Workspace, variant.workspaceValues});
      variant.workspaceValues += place.second;
      symbolic.outputs.push_back(place.first->second);
    }
    if (auto stored = launch->getAttrOfType<mlir::ArrayAttr>("swage.stored"))
      for (mlir::Attribute attr : stored)
        if (auto location = mlir::dyn_cast<mlir::LocationAttr>(attr))
          mlir::Location(location)->walk([&](mlir::Location inner) {
            auto file = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
            if (!file)
              return mlir::WalkResult::advance();
            variant.stored.push_back(fmt::format("{}:{}", file.getLine(), file.getColumn()));
            return mlir::WalkResult::interrupt();
          });
    variant.launches.push_back(std::move(symbolic));
  }
  return {};
}

/// A value that the graph computes twice, once to return it, is computed once; then both uses see
/// what is stored. Adds the places of such twins to what the reference must know of.
static void addTwins(Program::State &program, Variant &variant) {
  std::map<std::vector<const void *>, mlir::Operation *> first;
  llvm::DenseMap<mlir::Value, mlir::Value> classOf;
  auto leaderOf = [&](mlir::Value value) {
    auto known = classOf.find(value);
    return known == classOf.end() ? value : known->second;
  };
  llvm::DenseSet<mlir::Value> kept; // leaders of classes with a returned or stored member
  auto lineAndColumn = [](mlir::Operation *op) {
    auto file = mlir::dyn_cast<mlir::FileLineColLoc>(op->getLoc());
    return file ? fmt::format("{}:{}", file.getLine(), file.getColumn()) : std::string();
  };
  mlir::Block &block = program.entry.getBody().front();
  for (mlir::Operation &op : block) {
    std::vector<const void *> key{op.getName().getAsOpaquePointer(),
                                  op.getAttrDictionary().getAsOpaquePointer()};
    for (mlir::Value operand : op.getOperands())
      key.push_back(leaderOf(operand).getAsOpaquePointer());
    for (mlir::Type type : op.getResultTypes())
      key.push_back(type.getAsOpaquePointer());
    mlir::Operation *leader = first.try_emplace(std::move(key), &op).first->second;
    bool isStored = llvm::is_contained(variant.stored, lineAndColumn(&op));
    for (auto [own, leading] : llvm::zip(op.getResults(), leader->getResults())) {
      classOf[own] = leading;
      if (isStored || llvm::is_contained(block.getTerminator()->getOperands(), own))
        kept.insert(leading);
    }
  }
  auto isTwin = [&](mlir::Value result) {
    return kept.contains(leaderOf(result)) &&
           !llvm::is_contained(block.getTerminator()->getOperands(), result);
  };
  for (mlir::Operation &op : block)
    if (std::string place = lineAndColumn(&op); !place.empty() &&
                                                llvm::any_of(op.getResults(), isTwin) &&
                                                !llvm::is_contained(variant.stored, place))
      variant.stored.push_back(place);
}

/// Whether all outputs are empty whatever the runtime sizes are.
static bool isAlwaysEmpty(KernelOp kernel) {
  for (auto [dim, extent] : llvm::enumerate(kernel.getExtents().getResults()))
    if (!llvm::is_contained(kernel.getReduced(), int64_t(dim)))
      if (auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(extent);
          constant && constant.getValue() == 0)
        return true;
  return false;
}

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
  bool simulated = options.compiler && options.compiler->target() == KernelTarget::Simulator;
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

/// Passes, emission and machine code. On an error, `variant` and `snapshots` hold what there is.
static Status fillVariant(Program::State &program, const CompileOptions &options, int indexBits,
                          Variant &variant, IRSnapshots &snapshots) {
  std::vector<TemplateFile> fromDirectory;
  if (!options.templateDir.empty()) {
    auto loaded = loadTemplates(options.templateDir);
    if (!loaded)
      return loaded.takeError();
    fromDirectory = std::move(*loaded);
  }
  variant.module = program.module->clone();
  auto entry = variant.module->lookupSymbol<mlir::func::FuncOp>(program.entryName);
  for (auto function : llvm::make_early_inc_range(variant.module->getOps<mlir::func::FuncOp>()))
    if (function != entry)
      function.erase();
  if (Status aligned = setAlignment(entry, options.alignment); !aligned)
    return aligned;

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
    if (mlir::failed(manager.run(*variant.module)))
      return diagnostics.take(Stage::Lower, program.filename + ": the passes failed");
    variant.remarks = std::move(diagnostics.remarks);
  }
  if (Status read = readLaunches(program, variant); !read)
    return read;
  addTwins(program, variant);

  std::vector<bool> skip;
  for (KernelOp kernel : variant.ops) {
    DiagnosticCollector diagnostics(program.context);
    mlir::FailureOr<KernelSource> source = emitCuda(kernel);
    if (mlir::failed(source))
      return diagnostics.take(Stage::Lower, "kernel @" + kernel.getSymName().str() +
                                                " cannot be printed as CUDA");
    KernelInfo info;
    info.name = source->name;
    info.source = std::move(source->text);
    info.family = familyName(kernel);
    llvm::raw_string_ostream(info.schedule) << kernel.getScheduleAttr();
    info.ops = provenance(kernel, program);
    info.threads = unsigned(kernel.getGeometryAttr().getThreads());
    info.indexBits = indexBitsOf(kernel);
    skip.push_back(isAlwaysEmpty(kernel));
    variant.kernels.push_back(std::move(info));
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

Expected<Variant> swage::compileVariant(Program::State &program, const CompileOptions &options,
                                        int indexBits) {
  if (auto known = DeviceProperties::forArch(options.arch); !known)
    return known.takeError();
  if (!options.dumpDir.empty())
    if (Status usable = checkDumpDir(options.dumpDir); !usable)
      return usable.takeError();
  Variant variant;
  IRSnapshots snapshots;
  Status filled = fillVariant(program, options, indexBits, variant, snapshots);
  if (filled) {
    if (!options.dumpDir.empty())
      if (Status written = writeDump(options.dumpDir, snapshots, variant); !written)
        return written.takeError();
    return variant;
  }
  Error error = filled.takeError();
  if (!options.dumpDir.empty())
    if (Status written = writeDump(options.dumpDir, snapshots, variant, &error); !written)
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
    executable->options.dumpDir = Options::get().dumpDir;
  auto variant = compileVariant(*state, executable->options, options.indexBits);
  if (!variant)
    return variant.takeError();
  executable->narrow = std::move(*variant);
  return Executable(std::move(executable));
}
