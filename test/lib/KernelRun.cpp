//===- KernelRun.cpp - One launch of a kernel's text, anywhere ------------===//
#include "KernelRun.h"

#include "HostCompiler.h"
#include "Launch.h"
#include "TensorMap.h"

#include "swage/Codegen/TemplateLibrary.h"
#include "swage/JIT/Nvrtc.h"
#include "swage/Runtime/Plan.h"
#include "swage/Simt/Simulator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

using namespace swage;
using namespace swage::test;

unsigned swage::test::bytesOf(MapElement element) {
  switch (element) {
  case MapElement::U8:
    return 1;
  case MapElement::U16:
  case MapElement::F16:
  case MapElement::BF16:
    return 2;
  case MapElement::U32:
  case MapElement::S32:
  case MapElement::F32:
    return 4;
  case MapElement::U64:
  case MapElement::S64:
  case MapElement::F64:
    return 8;
  }
  return 0;
}

Expected<std::string> swage::test::readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return makeError(Stage::Input, "cannot read '" + path + "'");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

namespace {
constexpr size_t kAlignment = 1024;

/// The parameters of cuTensorMapEncodeTiled.
struct MapArguments {
  explicit MapArguments(const MapSpec &spec) : dims(spec.dims), box(spec.box) {
    strides = spec.strides;
    uint64_t stride = bytesOf(spec.element);
    for (size_t i = 0; spec.strides.empty() && i + 1 < dims.size(); ++i)
      strides.push_back(stride *= dims[i]);
    strides.resize(std::max<size_t>(strides.size(), 1));
    elementStrides = spec.elementStrides;
    elementStrides.resize(dims.size(), 1);
  }
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, elementStrides;
};

struct alignas(64) MapBytes {
  unsigned char bytes[128];
};

using EncodeTiled = int (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                            const uint32_t *, const uint32_t *, int, int, int, int);

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Compiles each text once, with all of its kernels.
class Compiled {
public:
  explicit Compiled(std::shared_ptr<const KernelCompiler> compiler)
      : compiler(std::move(compiler)) {}

  Expected<std::shared_ptr<const KernelBinary>> get(const KernelRun &run, RunReport *report) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (auto found = binaries.find(run.text); found != binaries.end()) {
        if (report)
          describe(*found->second, run.kernel, *report);
        return found->second;
      }
    }
    CompileRequest request;
    request.source = run.text;
    request.name = run.file;
    request.headers = headersFor(compiler->target(), embeddedTemplates());
    request.arch = "sm_90a";
    auto start = std::chrono::steady_clock::now();
    auto binary = compiler->compile(request);
    if (!binary)
      return binary.takeError();
    auto shared = std::make_shared<const KernelBinary>(std::move(*binary));
    if (report) {
      report->compileSeconds = secondsSince(start);
      describe(*shared, run.kernel, *report);
    }
    std::lock_guard<std::mutex> lock(mutex);
    return binaries[run.text] = shared;
  }

private:
  static void describe(const KernelBinary &binary, const std::string &kernel, RunReport &report) {
    report.log = binary.log;
    report.spillBytes = parsePtxasReport(binary.log, kernel).spillStores;
  }

  std::shared_ptr<const KernelCompiler> compiler;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const KernelBinary>> binaries;
};

//===----------------------------------------------------------------------===//
// Simulator
//===----------------------------------------------------------------------===//

/// Memory of exactly so many bytes, aligned as that of a device.
class HostBuffer {
public:
  explicit HostBuffer(const std::string &content) : bytes(content.size()) {
    memory = static_cast<char *>(
        std::aligned_alloc(kAlignment, (content.size() + kAlignment) / kAlignment * kAlignment));
    std::memcpy(memory, content.data(), bytes);
  }
  HostBuffer(HostBuffer &&other) noexcept
      : memory(std::exchange(other.memory, nullptr)), bytes(other.bytes) {}
  HostBuffer &operator=(HostBuffer &&other) = delete;
  ~HostBuffer() { std::free(memory); }

  char *memory;
  size_t bytes;
};

class SimulatorMachine : public Machine {
public:
  SimulatorMachine(const simt::SimulatorOptions &options,
                   std::shared_ptr<const KernelCompiler> compiler)
      : options(options), compiled(std::move(compiler)) {}

  std::string name() const override { return "the simulator"; }
  void simulate(const simt::SimulatorOptions &next) override { options = next; }
  Status compile(const KernelRun &run, RunReport *report) override {
    auto module = load(run, report);
    return module ? Status() : module.takeError();
  }
  Expected<std::vector<std::string>> run(const KernelRun &run, RunReport *report) override;

private:
  Expected<std::shared_ptr<simt::Module>> load(const KernelRun &run, RunReport *report) {
    auto binary = compiled.get(run, report);
    if (!binary)
      return binary.takeError();
    std::lock_guard<std::mutex> lock(mutex);
    auto &module = modules[binary->get()];
    if (!module) {
      auto loaded = simt::Module::load((*binary)->image);
      if (!loaded)
        return loaded.takeError();
      module = *loaded;
    }
    return module;
  }

  simt::SimulatorOptions options;
  Compiled compiled;
  std::mutex mutex;
  std::map<const KernelBinary *, std::shared_ptr<simt::Module>> modules;
};

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

constexpr size_t kGuardBytes = 4096;
constexpr char kGuard = '\xa5';

class DeviceMachine : public Machine {
public:
  DeviceMachine(std::optional<Device> device, std::shared_ptr<const KernelCompiler> compiler)
      : device(std::move(device)), compiled(std::move(compiler)) {}

  std::string name() const override { return device ? device->properties().name : "NVRTC"; }
  Status compile(const KernelRun &run, RunReport *report) override {
    auto binary = compiled.get(run, report);
    return binary ? Status() : binary.takeError();
  }
  Expected<std::vector<std::string>> run(const KernelRun &run, RunReport *report) override;

private:
  Expected<std::string> encode(const MapSpec &spec, void *memory) const;

  std::optional<Device> device;
  Compiled compiled;
};
} // namespace

Expected<std::vector<std::string>> SimulatorMachine::run(const KernelRun &run, RunReport *report) {
  auto module = load(run, report);
  if (!module)
    return module.takeError();
  simt::Launch launch;
  launch.module = module->get();
  launch.kernel = (*module)->find(run.kernel);
  if (!launch.kernel)
    return makeError(Stage::Launch, "there is no kernel @" + run.kernel);
  launch.blocks = run.blocks;
  launch.threads = run.threads;
  launch.clusterSize = run.clusterSize;
  launch.dynamicSharedBytes = run.dynamicSharedBytes;

  std::vector<HostBuffer> buffers;
  std::vector<simt::MemoryRange> memory;
  for (const std::string &content : run.buffers) {
    buffers.emplace_back(content);
    memory.push_back({buffers.back().memory, buffers.back().bytes,
                      fmt::format("buffer {}", buffers.size() - 1)});
  }
  std::sort(memory.begin(), memory.end(),
            [](const auto &a, const auto &b) { return a.begin < b.begin; });
  launch.memory = &memory;

  // Parameters are aligned as their types want.
  std::vector<std::unique_ptr<MapBytes[]>> values;
  std::vector<void *> pointers;
  for (const KernelArgument &argument : run.arguments) {
    size_t bytes = std::max<size_t>(argument.value.size(), sizeof(MapBytes));
    values.push_back(std::make_unique<MapBytes[]>((bytes + 127) / 128));
    void *value = values.back().get();
    if (argument.kind == KernelArgument::Kind::Value) {
      std::memcpy(value, argument.value.data(), argument.value.size());
    } else if (argument.kind == KernelArgument::Kind::Buffer) {
      std::memcpy(value, &buffers[argument.buffer].memory, sizeof(void *));
    } else {
      const MapSpec &spec = argument.map;
      MapArguments map(spec);
      Status encoded = simt::encodeTensorMap(
          value, unsigned(spec.element), unsigned(map.dims.size()), buffers[argument.buffer].memory,
          map.dims.data(), map.strides.data(), map.box.data(), map.elementStrides.data(), 0,
          unsigned(spec.swizzle), 0, 0);
      if (!encoded)
        return encoded.takeError();
    }
    pointers.push_back(value);
  }
  launch.arguments = pointers.data();

  auto start = std::chrono::steady_clock::now();
  std::optional<simt::Finding> finding = simt::run(launch, options);
  if (report)
    report->runSeconds = secondsSince(start);
  if (finding) {
    (*module)->describe(*finding);
    return makeError(Stage::Run, finding->str());
  }
  std::vector<std::string> results;
  for (const HostBuffer &buffer : buffers)
    results.emplace_back(buffer.memory, buffer.bytes);
  return results;
}

Expected<std::string> DeviceMachine::encode(const MapSpec &spec, void *memory) const {
  MapArguments map(spec);
  MapBytes bytes;
  if (device->driver().isSimulator()) {
    Status encoded =
        simt::encodeTensorMap(&bytes, unsigned(spec.element), unsigned(map.dims.size()), memory,
                              map.dims.data(), map.strides.data(), map.box.data(),
                              map.elementStrides.data(), 0, unsigned(spec.swizzle), 0, 0);
    if (!encoded)
      return encoded.takeError();
    return std::string(reinterpret_cast<const char *>(bytes.bytes), sizeof(bytes));
  }
  static const auto function = [&]() -> EncodeTiled {
    void *library = dlopen(device->driver().path().c_str(), RTLD_NOW | RTLD_NOLOAD);
    return library ? reinterpret_cast<EncodeTiled>(dlsym(library, "cuTensorMapEncodeTiled"))
                   : nullptr;
  }();
  if (!function)
    return makeError(Stage::Load, "the driver has no cuTensorMapEncodeTiled");
  ScopedContext scope(*device);
  if (!scope.status())
    return scope.status().error();
  int result = function(&bytes, int(spec.element), uint32_t(map.dims.size()), memory,
                        map.dims.data(), map.strides.data(), map.box.data(),
                        map.elementStrides.data(), 0, int(spec.swizzle), 0, 0);
  if (result != 0)
    return makeError(Stage::Launch, fmt::format("cuTensorMapEncodeTiled: error {}", result));
  return std::string(reinterpret_cast<const char *>(bytes.bytes), sizeof(bytes));
}

Expected<std::vector<std::string>> DeviceMachine::run(const KernelRun &run, RunReport *report) {
  if (!device)
    return makeError(Stage::Load, "there is no GPU");
  auto binary = compiled.get(run, report);
  if (!binary)
    return binary.takeError();
  KernelBinary named = **binary;
  named.name = run.kernel;
  auto kernel = Kernel::load(device->sharedDriver(), named);
  if (!kernel)
    return kernel.takeError();

  // Every buffer lies between guard bands.
  std::vector<Buffer> buffers;
  for (const std::string &content : run.buffers) {
    auto buffer = device->allocate(content.size() + 2 * kGuardBytes);
    if (!buffer)
      return buffer.takeError();
    std::string bytes(content.size() + 2 * kGuardBytes, kGuard);
    std::memcpy(&bytes[kGuardBytes], content.data(), content.size());
    if (Status copied = buffer->copyFrom(bytes.data(), bytes.size()); !copied)
      return copied.takeError();
    buffers.push_back(std::move(*buffer));
  }
  auto address = [&](unsigned index) {
    return static_cast<char *>(buffers[index].data()) + kGuardBytes;
  };
  PlanSpec spec;
  LaunchSpec launch;
  launch.kernel = *kernel;
  launch.grid[0] = run.blocks;
  launch.threads = run.threads;
  launch.clusterSize = run.clusterSize;
  launch.dynamicSharedBytes = run.dynamicSharedBytes;
  for (const KernelArgument &argument : run.arguments) {
    if (argument.kind == KernelArgument::Kind::Value) {
      launch.arguments.push_back(LaunchArgument::value(argument.value));
    } else if (argument.kind == KernelArgument::Kind::Buffer) {
      launch.arguments.push_back(LaunchArgument::of(address(argument.buffer)));
    } else {
      auto map = encode(argument.map, address(argument.buffer));
      if (!map)
        return map.takeError();
      launch.arguments.push_back(LaunchArgument::value(*map));
    }
  }
  spec.launches.push_back(std::move(launch));
  auto plan = Plan::create(*device, std::move(spec));
  if (!plan)
    return plan.takeError();
  auto stream = device->createStream();
  if (!stream)
    return stream.takeError();
  auto start = std::chrono::steady_clock::now();
  if (Status launched = plan->launch(stream->handle(), nullptr, nullptr); !launched)
    return launched.takeError();
  if (Status done = stream->synchronize(); !done)
    return done.takeError();
  if (report)
    report->runSeconds = secondsSince(start);

  std::vector<std::string> results;
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::string bytes(buffers[i].size(), 0);
    if (Status copied = buffers[i].copyTo(bytes.data(), bytes.size()); !copied)
      return copied.takeError();
    size_t end = bytes.size() - kGuardBytes;
    if (bytes.find_first_not_of(kGuard) < kGuardBytes ||
        bytes.find_first_not_of(kGuard, end) != std::string::npos)
      return makeError(Stage::Run, fmt::format("@{}: a write beside buffer {}", run.kernel, i));
    results.push_back(bytes.substr(kGuardBytes, end - kGuardBytes));
  }
  return results;
}

Expected<std::unique_ptr<Machine>> Machine::simulator(const simt::SimulatorOptions &options) {
  auto compiler = simt::HostCompiler::get(options.check);
  if (!compiler)
    return compiler.takeError();
  return std::unique_ptr<Machine>(std::make_unique<SimulatorMachine>(options, *compiler));
}

Expected<std::unique_ptr<Machine>> Machine::simulatedDevice(const simt::SimulatorOptions &options) {
  auto compiler = simt::simulatorCompiler(options);
  if (!compiler)
    return compiler.takeError();
  auto device = simt::openSimulator(options);
  if (!device)
    return device.takeError();
  return std::unique_ptr<Machine>(std::make_unique<DeviceMachine>(*device, *compiler));
}

Expected<std::unique_ptr<Machine>> Machine::gpu() {
  auto device = Device::open();
  if (!device)
    return device.takeError();
  auto nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.takeError();
  return std::unique_ptr<Machine>(std::make_unique<DeviceMachine>(*device, *nvrtc));
}

Expected<std::unique_ptr<Machine>> Machine::gpuCompiler() {
  auto nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.takeError();
  return std::unique_ptr<Machine>(std::make_unique<DeviceMachine>(std::nullopt, *nvrtc));
}
