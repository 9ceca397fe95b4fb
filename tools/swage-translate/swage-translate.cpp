//===- swage-translate.cpp - From IR to CUDA, PTX and machine code --------===//
//
// Takes a graph, which goes through the kernel pipeline first, or kernels that are prepared already
// and are printed as they stand. Nothing here needs a GPU.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "swage/Codegen/EmitCuda.h"
#include "swage/Codegen/TemplateLibrary.h"
#include "swage/JIT/Nvrtc.h"
#include "swage/Pipelines/Pipelines.h"
#include "swage/Support/Text.h"
#include "swage/Support/TextGuard.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using swage::Expected;
using swage::KernelSource;
using swage::Stage;
using swage::Status;
namespace cl = llvm::cl;

namespace {

enum class Action { None, ToCuda, ToPtx, ToCubin, ToReport, CompileCu };

struct Options {
  cl::OptionCategory category{"swage-translate"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<input file>"), cl::init("-"),
                             cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Where to write (- for standard output)"),
                              cl::value_desc("file"), cl::init("-"), cl::cat(category)};
  cl::opt<Action> action{
      cl::desc("What to do:"), cl::init(Action::None), cl::cat(category),
      cl::values(clEnumValN(Action::ToCuda, "swage-to-cuda", "Print CUDA source"),
                 clEnumValN(Action::ToPtx, "swage-to-ptx", "Print PTX"),
                 clEnumValN(Action::ToCubin, "swage-to-cubin", "Write one kernel's cubin"),
                 clEnumValN(Action::ToReport, "swage-to-report",
                            "Print registers, spills and shared memory of each kernel"),
                 clEnumValN(Action::CompileCu, "swage-compile-cu",
                            "The same for the kernels of a .cu file over the templates"))};
  cl::opt<std::string> arch{"arch", cl::desc("GPU to schedule and compile for"),
                            cl::value_desc("sm_90a"), cl::init("sm_90a"), cl::cat(category)};
  cl::opt<int> index{"index", cl::desc("Index width in bits; 0 for the least that is enough"),
                     cl::init(0), cl::cat(category)};
  cl::opt<swage::Overlap> overlap{
      "overlap", cl::desc("Which kernels may overlap those before them"),
      cl::init(swage::Overlap::Auto), cl::cat(category),
      cl::values(clEnumValN(swage::Overlap::Off, "off", "none"),
                 clEnumValN(swage::Overlap::On, "on", "all"),
                 clEnumValN(swage::Overlap::Auto, "auto", "those that are over soon"))};
  cl::opt<std::string> kernel{"kernel", cl::desc("Only the kernel of this name"),
                              cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> templateDir{"template-dir",
                                   cl::desc("Templates to use instead of the embedded ones"),
                                   cl::value_desc("directory"), cl::cat(category)};
  cl::opt<bool> remarks{"remarks", cl::desc("Show what passes remark"), cl::cat(category)};
};

} // namespace

static swage::Error inputError(const std::string &message) {
  return swage::makeError(Stage::Input, message);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static Expected<swage::KernelBinary> compile(const Options &options, const KernelSource &source,
                                             const std::string &file) {
  std::vector<swage::TemplateFile> templates = swage::embeddedTemplates();
  if (!options.templateDir.empty()) {
    Expected<std::vector<swage::TemplateFile>> loaded = swage::loadTemplates(options.templateDir);
    if (!loaded)
      return loaded.takeError();
    templates = std::move(*loaded);
  }
  swage::CompileRequest request;
  request.source = source.text;
  request.name = file;
  request.entry = source.name;
  request.headers = swage::headersFor(swage::KernelTarget::Gpu, templates);
  request.arch = options.arch;
  request.wantPtx = options.action == Action::ToPtx;
  Expected<std::shared_ptr<const swage::Nvrtc>> nvrtc = swage::Nvrtc::get();
  if (!nvrtc)
    return nvrtc.takeError();
  return (*nvrtc)->compile(request);
}

static std::string report(const std::string &name, const std::string &arch,
                          const swage::KernelResources &resources) {
  std::string text;
  llvm::raw_string_ostream(text) << name << " " << arch << ": " << resources.registers
                                 << " registers, " << resources.spillStores << " bytes spilled, "
                                 << resources.stackFrame << " bytes of stack, "
                                 << resources.sharedBytes << " bytes of shared memory\n";
  return text;
}

static Expected<std::string> compileCu(const Options &options) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer)
    return inputError("cannot read '" + swage::printable(options.input.getValue()) +
                      "': " + buffer.getError().message());
  std::string file = llvm::sys::path::filename(options.input).str();
  Expected<swage::KernelBinary> binary =
      compile(options, {"", (*buffer)->getBuffer().str()}, file == "-" ? "input.cu" : file);
  if (!binary)
    return binary.takeError();
  std::string text;
  StringRef log = binary->log, marker = "Compiling entry function '";
  for (size_t at = log.find(marker); at != StringRef::npos; at = log.find(marker, at + 1)) {
    std::string name =
        log.substr(at + marker.size()).take_until([](char c) { return c == '\''; }).str();
    text += report(name, options.arch, swage::parsePtxasReport(binary->log, name));
  }
  if (text.empty())
    return swage::makeError(Stage::Compile, "'" + file + "' holds no kernel");
  // Where ptxas makes the matrix instructions wait for each other, it says so: C7510 to C7519.
  SmallVector<StringRef> lines;
  log.split(lines, '\n', -1, false);
  for (StringRef line : lines)
    if (line.contains("(C751"))
      text += line.str() + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static bool isPrepared(ModuleOp module) {
  auto kernels = module.getOps<swage::KernelOp>();
  return !kernels.empty() &&
         llvm::all_of(kernels, [](swage::KernelOp kernel) { return bool(kernel.getGeometry()); });
}

/// The kernels that the command line asks for, as CUDA; nothing after a diagnostic.
static std::optional<std::vector<KernelSource>> emitKernels(ModuleOp module,
                                                            const Options &options) {
  if (!isPrepared(module)) {
    PassManager manager(module.getContext());
    swage::KernelPipelineOptions pipeline;
    pipeline.arch = options.arch.getValue();
    pipeline.index = static_cast<int64_t>(options.index.getValue());
    pipeline.overlap = options.overlap.getValue();
    swage::buildKernelPipeline(manager, pipeline);
    if (failed(manager.run(module)))
      return std::nullopt;
  }
  std::vector<KernelSource> sources;
  for (auto kernel : module.getOps<swage::KernelOp>()) {
    if (!options.kernel.empty() && kernel.getSymName() != options.kernel)
      continue;
    FailureOr<KernelSource> source = swage::emitCuda(kernel);
    if (failed(source))
      return std::nullopt;
    sources.push_back(std::move(*source));
  }
  return sources;
}

static Expected<std::string> translate(ModuleOp module, const Options &options) {
  std::optional<std::vector<KernelSource>> sources = emitKernels(module, options);
  if (!sources)
    return swage::makeError(Stage::Lower, "the module has no CUDA form");
  if (sources->empty() && !options.kernel.empty()) {
    std::vector<std::string> names;
    for (auto kernel : module.getOps<swage::KernelOp>())
      names.push_back(kernel.getSymName().str());
    return inputError("no kernel '" + swage::printable(options.kernel.getValue()) + "'; there is " +
                      (names.empty() ? "none" : swage::join(names, ", ")));
  }
  if (options.action == Action::ToCubin && sources->size() != 1) {
    std::vector<std::string> names;
    for (const KernelSource &source : *sources)
      names.push_back(source.name);
    return inputError(
        "a cubin holds one kernel, but there are " + std::to_string(names.size()) +
        (names.empty() ? "" : ": " + swage::join(names, ", ") + "; choose with --kernel"));
  }
  std::string text;
  for (const KernelSource &source : *sources) {
    if (options.action == Action::ToCuda) {
      text += (text.empty() ? "" : "\n") + source.text;
      continue;
    }
    Expected<swage::KernelBinary> binary = compile(options, source, source.name + ".cu");
    if (!binary)
      return binary.takeError();
    if (options.action == Action::ToPtx)
      text += (text.empty() ? "" : "\n") + binary->ptx;
    else if (options.action == Action::ToCubin)
      text = binary->image;
    else
      text += report(source.name, options.arch, binary->resources);
  }
  return text;
}

static Expected<std::string> translateFile(const Options &options) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, tensor::TensorDialect,
                  swage::SwageDialect>();
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer)
    return inputError("cannot read '" + swage::printable(options.input.getValue()) +
                      "': " + buffer.getError().message());
  StringRef text = (*buffer)->getBuffer(), name = (*buffer)->getBufferIdentifier();
  if (Status safe = swage::guardText({text.data(), text.size()}, {name.data(), name.size()}); !safe)
    return safe.takeError();
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  // The last handler is asked first; what it takes is not printed.
  ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
    return success(!options.remarks && diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return swage::makeError(Stage::Parse, "'" + swage::printable(options.input.getValue()) +
                                              "' is no valid module");
  return translate(*module, options);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// All of it or nothing: a temporary file takes the output's name when it is complete.
static Status write(StringRef path, StringRef bytes) {
  if (path == "-") {
    llvm::outs() << bytes;
    llvm::outs().flush();
    return {};
  }
  auto problem = [&](const std::string &message) {
    return inputError("cannot write '" + swage::printable(path.str()) + "': " + message);
  };
  // Devices and pipes cannot be replaced.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return swage::writeFile(path.str(), std::string_view(bytes.data(), bytes.size()));
  llvm::Expected<llvm::sys::fs::TempFile> file = llvm::sys::fs::TempFile::create(path + ".%%%%%%");
  if (!file)
    return problem(llvm::toString(file.takeError()));
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << bytes;
  stream.flush();
  if (stream.has_error()) {
    std::string message = stream.error().message();
    stream.clear_error();
    llvm::consumeError(file->discard());
    return problem(message);
  }
  if (llvm::Error error = file->keep(path))
    return problem(llvm::toString(std::move(error)));
  return {};
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(argc, argv, "Swage translator: IR to CUDA, PTX and machine code\n");
  Expected<std::string> result = [&]() -> Expected<std::string> {
    if (options.action == Action::None)
      return inputError("nothing to do: give --swage-to-cuda, --swage-to-ptx, --swage-to-cubin, "
                        "--swage-to-report or --swage-compile-cu");
    if (options.index != 0 && options.index != 32 && options.index != 64)
      return inputError("--index is " + std::to_string(options.index) +
                        ", but must be 0, 32 or 64");
    return options.action == Action::CompileCu ? compileCu(options) : translateFile(options);
  }();
  Status status = result ? write(options.output, *result) : Status(result.takeError());
  if (status)
    return 0;
  llvm::errs() << "swage-translate: " << status.error().str() << "\n";
  return 1;
}
