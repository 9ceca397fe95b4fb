//===- swage-sim.cpp - One kernel on the simulator ------------------------===//
//
// Runs a kernel that was dumped or written by hand over the device layer, with its grid and
// arguments on the command line, and reports what the simulator finds.  Exit code 0: it ran; 1:
// there is a finding; 2: it could not be run.
//
//===----------------------------------------------------------------------===//
#include "Arguments.h"
#include "HostCompiler.h"
#include "TensorMap.h"

#include "swage/Codegen/TemplateLibrary.h"
#include "swage/Reference/Npy.h"
#include "swage/Runtime/Plan.h"
#include "swage/Simt/Simulator.h"
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"
#include "llvm/Support/CommandLine.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

using namespace swage;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("swage-sim options");
static cl::opt<std::string> inputFile(cl::Positional, cl::Required, cl::desc("<kernel.cu>"),
                                      cl::cat(category));
static cl::opt<std::string> kernelName("kernel", cl::desc("which, where there are several"),
                                       cl::cat(category));
static cl::opt<unsigned> grid("grid", cl::desc("blocks"), cl::init(1), cl::cat(category));
static cl::opt<unsigned> block("block", cl::desc("threads in a block"), cl::init(32),
                               cl::cat(category));
static cl::opt<unsigned> cluster("cluster", cl::desc("blocks in a cluster"), cl::init(1),
                                 cl::cat(category));
static cl::opt<unsigned> shared("shared", cl::desc("bytes of dynamic shared memory"), cl::init(0),
                                cl::cat(category));
static cl::list<std::string> argumentTexts(
    "arg",
    cl::desc("an argument, in order: in:f32:64x768=random(1)|iota|zeros|ones|x.npy, "
             "inout:i32:1=zeros, out:f32:1024[=y.npy], same:0, i32:5, f32:0.5, bytes:0500, "
             "struct:i32:5,div32:768, map:f16:64x64:box=32x8:swizzle=128:of=0; buffer:in:... "
             "is no argument, but counts for of="),
    cl::cat(category));
static cl::opt<std::string> simText("sim",
                                    cl::desc("order=forward|reverse|random, "
                                             "async=eager|late|random, check, strict, seed=N, "
                                             "workers=N, with commas between"),
                                    cl::cat(category));
static cl::opt<std::string> arch("arch", cl::desc("whose limits hold"), cl::init("sm_90a"),
                                 cl::cat(category));
static cl::opt<std::string>
    templateDir("template-dir", cl::desc("directory to use instead of the built-in templates"),
                cl::cat(category));
static cl::opt<bool> compileOnly("compile-only", cl::desc("do not run it"), cl::cat(category));

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static Expected<KernelBinary> compile(const simt::SimulatorOptions &options) {
  auto source = readFile(inputFile);
  if (!source)
    return source.takeError();
  std::vector<std::string> names = simt::kernelNames(*source);
  std::string chosen = kernelName;
  if (chosen.empty() && names.size() == 1)
    chosen = names.front();
  if (std::find(names.begin(), names.end(), chosen) == names.end())
    return makeError(Stage::Input,
                     names.empty()
                         ? fmt::format("'{}' holds no kernel", printable(inputFile.getValue()))
                         : fmt::format("--kernel is '{}'; '{}' holds {}",
                                       printable(kernelName.getValue()),
                                       printable(inputFile.getValue()), join(names, ", ")));
  CompileRequest request;
  request.source = std::move(*source);
  request.name = std::filesystem::path(inputFile.getValue()).filename().string();
  request.entry = chosen;
  request.arch = arch;
  std::vector<TemplateFile> templates;
  if (!templateDir.empty()) {
    auto loaded = loadTemplates(templateDir);
    if (!loaded)
      return loaded.takeError();
    templates = std::move(*loaded);
  }
  request.headers =
      headersFor(KernelTarget::Simulator, templateDir.empty() ? embeddedTemplates() : templates);
  auto compiler = simt::simulatorCompiler(options);
  if (!compiler)
    return compiler.takeError();
  return (*compiler)->compile(request);
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

namespace {
class KernelRun {
public:
  KernelRun(Device device, std::vector<Argument> arguments)
      : device(std::move(device)), arguments(std::move(arguments)) {}

  /// Success, or why it could not be run; a finding is an error of stage Launch.
  Status run(const KernelBinary &binary);
  Status showOutputs();

private:
  Status makeBuffers();
  Expected<LaunchArgument> launchArgument(size_t index, PlanSpec &spec);
  Expected<std::string> encodeMap(const Argument &argument);

  Device device;
  std::vector<Argument> arguments;
  std::vector<std::optional<Buffer>> buffers; ///< for each argument
  std::vector<LaunchArgument> launchArguments; ///< also of buffers that are no parameters
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
};
} // namespace

Status KernelRun::makeBuffers() {
  for (const Argument &argument : arguments) {
    buffers.emplace_back();
    if (!argument.isBuffer())
      continue;
    auto buffer = device.allocate(size_t(argument.tensor->bytes()));
    if (!buffer)
      return buffer.takeError();
    if (Status copied = buffer->copyFrom(argument.tensor->data(), buffer->size()); !copied)
      return copied;
    buffers.back() = std::move(*buffer);
  }
  return {};
}

Expected<std::string> KernelRun::encodeMap(const Argument &argument) {
  const TensorMapSpec &map = argument.map;
  if (map.of >= arguments.size() || !arguments[map.of].isBuffer())
    return makeError(Stage::Input, fmt::format("--arg '{}': argument {} is no buffer",
                                               printable(argument.text), map.of));
  static const unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  std::vector<uint64_t> strides = map.strides;
  uint64_t stride = bytes[map.type];
  for (size_t i = 0; map.strides.empty() && i + 1 < map.dims.size(); ++i)
    strides.push_back(stride *= map.dims[i]);
  std::vector<uint32_t> steps = map.steps;
  steps.resize(map.dims.size(), 1);
  alignas(64) char encoded[128];
  Status status = simt::encodeTensorMap(encoded, map.type, unsigned(map.dims.size()),
                                        static_cast<char *>(buffers[map.of]->data()) + map.at,
                                        map.dims.data(), strides.data(), map.box.data(),
                                        steps.data(), 0, map.swizzle, 0, 0);
  if (!status)
    return makeError(Stage::Input, fmt::format("--arg '{}': {}", printable(argument.text),
                                               status.error().message));
  return std::string(encoded, sizeof encoded);
}

Expected<LaunchArgument> KernelRun::launchArgument(size_t index, PlanSpec &spec) {
  const Argument &argument = arguments[index];
  if (argument.kind == Argument::Kind::Map) {
    auto map = encodeMap(argument);
    if (!map)
      return map.takeError();
    return LaunchArgument::value(std::move(*map));
  }
  if (argument.kind == Argument::Kind::Value)
    return LaunchArgument::value(argument.bytes);
  if (argument.kind == Argument::Kind::Same) {
    if (argument.same >= index || !arguments[argument.same].isBuffer())
      return makeError(Stage::Input,
                       fmt::format("--arg '{}': argument {} is no buffer in front of it",
                                   printable(argument.text), argument.same));
    return launchArguments[argument.same];
  }
  BufferSpec buffer{fmt::format("argument {}", index), buffers[index]->size(), 1};
  if (argument.isOutput()) {
    spec.outputs.push_back(buffer);
    outputs.push_back(buffers[index]->data());
    return LaunchArgument::output(unsigned(outputs.size() - 1));
  }
  spec.inputs.push_back(buffer);
  inputs.push_back(buffers[index]->data());
  return LaunchArgument::input(unsigned(inputs.size() - 1));
}

Status KernelRun::run(const KernelBinary &binary) {
  auto kernel = Kernel::load(device.sharedDriver(), binary);
  if (!kernel)
    return kernel.takeError();
  if (Status made = makeBuffers(); !made)
    return made;
  PlanSpec spec;
  LaunchSpec launch;
  launch.kernel = *kernel;
  launch.grid[0] = grid;
  launch.threads = block;
  launch.clusterSize = cluster;
  launch.dynamicSharedBytes = shared;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto argument = launchArgument(i, spec);
    if (!argument)
      return argument.takeError();
    if (arguments[i].isParameter)
      launch.arguments.push_back(*argument);
    launchArguments.push_back(std::move(*argument));
  }
  spec.launches = {launch};
  auto plan = Plan::create(device, std::move(spec));
  if (!plan)
    return plan.takeError();
  return plan->launch(nullptr, inputs.data(), outputs.data());
}

Status KernelRun::showOutputs() {
  for (size_t i = 0; i < arguments.size(); ++i) {
    Argument &argument = arguments[i];
    if (!argument.isOutput())
      continue;
    if (Status copied = buffers[i]->copyTo(argument.tensor->data(), buffers[i]->size()); !copied)
      return copied;
    if (argument.file.empty()) {
      std::printf("argument %zu, %s\n", i, summary(*argument.tensor).c_str());
      continue;
    }
    if (llvm::Error error = reference::writeNpy(argument.file, *argument.tensor))
      return makeError(Stage::Input, llvm::toString(std::move(error)));
    std::printf("argument %zu is in %s\n", i, argument.file.c_str());
  }
  return {};
}

static Status simulate() {
  auto options = simt::SimulatorOptions::parse(simText);
  if (!options)
    return options.takeError();
  std::vector<Argument> arguments;
  for (const std::string &text : argumentTexts) {
    auto argument = parseArgument(text, unsigned(arguments.size()));
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  auto device = simt::openSimulator(*options, arch);
  if (!device)
    return device.takeError();
  auto binary = compile(*options);
  if (!binary)
    return binary.takeError();
  if (compileOnly) {
    std::printf("compiled %s: %zu bytes\n", binary->name.c_str(), binary->image.size());
    return {};
  }
  KernelRun run(*device, std::move(arguments));
  if (Status ran = run.run(*binary); !ran)
    return ran;
  return run.showOutputs();
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Runs one kernel on the simulator\n");
  for (const std::string &warning : Options::get().warnings)
    std::fprintf(stderr, "swage-sim: warning: %s\n", warning.c_str());
  Status simulated = simulate();
  if (simulated)
    return 0;
  std::fprintf(stderr, "swage-sim: %s\n", simulated.error().str().c_str());
  return simulated.error().stage == Stage::Launch ? 1 : 2;
}
