//===- Dump.cpp - Files that show how a kernel came to be -----------------===//

#include "Dump.h"
#include "BuildVariant.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "swage/JIT/Disassembler.h"
#include "swage/Support/Text.h"
#include "llvm/Support/JSON.h"

#include <filesystem>
#include <fmt/format.h>

using namespace swage;

namespace {
class Recorder : public mlir::PassInstrumentation {
public:
  explicit Recorder(IRSnapshots &snapshots) : snapshots(snapshots) {}

  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override { record(pass, op, ""); }
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *op) override {
    record(pass, op, "-failed");
  }

private:
  void record(mlir::Pass *pass, mlir::Operation *op, const char *suffix) {
    // The adaptor that runs passes on functions has no argument and no name of its own.
    if (pass->getArgument().empty())
      return;
    std::string file = fmt::format("{:02}-{}{}.mlir", ++count, pass->getArgument().str(), suffix);
    bool failed = *suffix != 0;
    snapshots.modules.push_back({file, print(op, failed)});
    if (auto module = mlir::dyn_cast<mlir::ModuleOp>(op))
      for (KernelOp kernel : module.getOps<KernelOp>())
        snapshots.kernels.push_back({kernel.getSymName().str(), file, print(kernel, failed)});
  }

  /// The generic form can show what does not verify.
  static std::string print(mlir::Operation *op, bool generic) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    op->print(stream, mlir::OpPrintingFlags().useLocalScope().printGenericOpForm(generic));
    stream << "\n";
    return text;
  }
  IRSnapshots &snapshots;
  int count = 0;
};
} // namespace

void swage::recordPasses(mlir::PassManager &manager, IRSnapshots &snapshots) {
  manager.addInstrumentation(std::make_unique<Recorder>(snapshots));
}

static Error cannotWrite(const std::string &path, const std::string &why) {
  return makeError(Stage::Input,
                   fmt::format("cannot write the dump into '{}': {}", printable(path), why));
}

Status swage::checkDumpDir(const std::string &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return cannotWrite(directory, error.message());
  if (Status writable = checkWritable(directory + "/launch.json"); !writable)
    return cannotWrite(directory, writable.error().message);
  return {};
}

template <class T> static std::string text(T value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

static std::string launchDescription(const LoweredModule &lowered, unsigned index) {
  const Variant &variant = *lowered.variant;
  const KernelInfo &info = variant.kernels[index];
  KernelOp kernel = lowered.kernels[index];
  llvm::json::Object description{{"kernel", info.name},
                                 {"template", info.family},
                                 {"schedule", info.schedule},
                                 {"indexBits", info.indexBits},
                                 {"threads", int64_t(info.threads)},
                                 {"cluster", int64_t(info.clusterSize)},
                                 {"dynamicSharedBytes", int64_t(info.dynamicSharedBytes)},
                                 {"scratchBytes", int64_t(info.scratchBytes)},
                                 {"overlap", info.overlap}};
  if (LaunchAttr geometry = kernel.getGeometryAttr()) {
    description["blocks"] = text(geometry.getBlocks());
    description["dividers"] = text(geometry.getDividers());
    if (geometry.getTiles())
      description["tiles"] = text(geometry.getTiles());
  }
  llvm::json::Array ops;
  for (const std::string &op : info.ops)
    ops.push_back(op);
  description["ops"] = std::move(ops);
  auto views = [](mlir::ArrayAttr attrs) {
    llvm::json::Array list;
    for (ViewAttr view : attrs.getAsRange<ViewAttr>()) {
      std::string element;
      llvm::raw_string_ostream(element) << view.getElement();
      list.push_back(llvm::json::Object{{"tensor", view.getTensor()},
                                        {"element", element},
                                        {"shape", text(view.getShape())},
                                        {"access", text(view.getAccess())},
                                        {"source", stringifySource(view.getSource()).str()},
                                        {"alignment", view.getAlign()}});
    }
    return list;
  };
  description["inputs"] = views(kernel.getInputs());
  description["outputs"] = views(kernel.getOutputs());
  if (info.binary) {
    const KernelResources &resources = info.binary->resources;
    description["arch"] = info.binary->arch;
    description["registers"] = resources.registers;
    description["spillBytes"] = resources.spillStores + resources.spillLoads;
    description["sharedBytes"] = resources.sharedBytes;
  }
  llvm::json::Array launches;
  for (const SymbolicLaunch &launch : variant.launches) {
    if (launch.kernel != index)
      continue;
    llvm::json::Array sizes;
    for (SymbolicLaunch::Size size : launch.sizes)
      sizes.push_back(fmt::format("argument {} dimension {}", size.argument, size.dim));
    auto places = [](const std::vector<SymbolicLaunch::Place> &all) {
      llvm::json::Array list;
      for (SymbolicLaunch::Place place : all)
        list.push_back(fmt::format("{} {}",
                                   place.kind == BufferKind::Input    ? "input"
                                   : place.kind == BufferKind::Output ? "output"
                                                                      : "workspace value",
                                   place.index));
      return list;
    };
    launches.push_back(llvm::json::Object{{"sizes", std::move(sizes)},
                                          {"inputs", places(launch.inputs)},
                                          {"outputs", places(launch.outputs)}});
  }
  description["launches"] = std::move(launches);
  std::string json;
  llvm::raw_string_ostream(json) << llvm::formatv("{0:2}\n",
                                                  llvm::json::Value(std::move(description)));
  return json;
}

std::string swage::dumpedSource(const std::string &directory, const std::string &kernel) {
  return directory + "/" + kernel + "/" + kernel + ".cu";
}

/// The files of a kernel: (name, content).
static std::vector<std::pair<std::string, std::string>>
filesOf(unsigned index, const Options &environment, const IRSnapshots &snapshots,
        const LoweredModule &lowered, const std::string &failureLog) {
  const KernelInfo &kernel = lowered.variant->kernels[index];
  const DumpRequest &dump = environment.dump;
  std::vector<std::pair<std::string, std::string>> files;
  auto add = [&](DumpPart part, const std::string &extension, const std::string &bytes) {
    if (dump.wants(part))
      files.push_back({kernel.name + extension, bytes});
  };
  for (const IRSnapshots::OfKernel &snapshot : snapshots.kernels)
    if (snapshot.kernel == kernel.name)
      files.push_back({snapshot.file, snapshot.text});
  add(DumpCuda, ".cu", kernel.source);
  if (dump.wants(DumpLaunch))
    files.push_back({"launch.json", launchDescription(lowered, index)});
  if (lowered.failedKernel == index)
    add(DumpLog, ".log", failureLog);
  if (!kernel.binary)
    return files;
  const KernelBinary &binary = *kernel.binary;
  bool isSimulated = binary.target() == KernelTarget::Simulator;
  add(DumpCubin, isSimulated ? ".so" : ".cubin", binary.image);
  add(DumpLog, ".log", binary.log);
  if (isSimulated)
    return files;
  add(DumpPtx, ".ptx", binary.ptx);
  if (dump.wants(DumpSass)) {
    auto sass = disassemble(binary, environment.disassembler);
    add(DumpSass, ".sass", sass ? *sass : fmt::format("// no SASS: {}\n", sass.error().message));
  }
  return files;
}

Status swage::writeDump(const Options &environment, const IRSnapshots &snapshots,
                        const LoweredModule &lowered, const std::string &failureLog) {
  const std::string &directory = environment.dump.directory;
  for (const auto &[file, text] : snapshots.modules)
    if (Status written = writeFile(directory + "/" + file, text); !written)
      return cannotWrite(directory, written.error().message);
  for (unsigned i = 0; i < lowered.variant->kernels.size(); ++i) {
    auto files = filesOf(i, environment, snapshots, lowered, failureLog);
    if (files.empty())
      continue;
    std::string folder = directory + "/" + lowered.variant->kernels[i].name;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return cannotWrite(folder, error.message());
    for (const auto &[file, bytes] : files)
      if (Status written = writeFile(folder + "/" + file, bytes); !written)
        return cannotWrite(folder, written.error().message);
  }
  return {};
}
