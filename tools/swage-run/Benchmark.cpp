//===- Benchmark.cpp - Times of plans -------------------------------------===//

#include "Benchmark.h"
#include "GuardedRun.h"

#include "swage/JIT/Nvrtc.h"
#include "swage/Support/Text.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <fmt/format.h>

using namespace swage;

/// The plainest kernels that reach the memory's rate.
static const char *const kStreams = R"(
struct alignas(16) Vector { unsigned x, y, z, w; };

extern "C" __global__ void __launch_bounds__(256)
swage_copy(const Vector *from, Vector *to, unsigned long long count) {
  unsigned long long at = blockIdx.x * 1024ull + threadIdx.x;
  Vector values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (at + i * 256 < count)
      values[i] = from[at + i * 256];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (at + i * 256 < count)
      to[at + i * 256] = values[i];
}

extern "C" __global__ void __launch_bounds__(256)
swage_read(const Vector *from, Vector *to, unsigned long long count) {
  unsigned long long at = blockIdx.x * 2048ull + threadIdx.x;
  Vector values[8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
    values[i] = at + i * 256 < count ? from[at + i * 256] : Vector{};
  unsigned mixed = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    mixed ^= values[i].x + values[i].y * 3 + values[i].z * 5 + values[i].w * 7;
  if (mixed == 0x9e3779b9u)
    to[0].x = mixed;
}
)";

Expected<Benchmark> Benchmark::create(const Device &device) {
  auto nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.takeError();
  std::shared_ptr<Kernel> kernels[2];
  const char *names[2] = {"swage_copy", "swage_read"};
  for (int i = 0; i < 2; ++i) {
    CompileRequest request;
    request.source = kStreams;
    request.name = "streams.cu";
    request.entry = names[i];
    request.arch = device.properties().arch;
    auto binary = (*nvrtc)->compile(request);
    if (!binary)
      return binary.takeError();
    auto kernel = Kernel::load(device.sharedDriver(), *binary);
    if (!kernel)
      return kernel.takeError();
    kernels[i] = *kernel;
  }
  auto stream = device.createStream();
  if (!stream)
    return stream.takeError();
  return Benchmark(device, std::move(*stream), kernels[0], kernels[1]);
}

Status Benchmark::fillRandom(Buffer &target, const TensorType &type) {
  std::string &random = randoms[type.element];
  if (random.empty()) {
    TensorType chunk = type;
    chunk.shape = {1 << 22};
    auto tensor = makeInput(chunk, reference::InputFamily::Dense, 1, 0);
    if (!tensor)
      return tensor.takeError();
    random.assign(tensor->data(), size_t(tensor->bytes()));
  }
  for (uint64_t done = 0, bytes = type.bytes(); done < bytes; done += random.size())
    if (Status copied =
            target.copyFrom(random.data(), std::min<uint64_t>(random.size(), bytes - done), done);
        !copied)
      return copied;
  return {};
}

Expected<double> Benchmark::seconds(const Plan &plan, const std::vector<TensorType> &inputs) {
  constexpr double kTargetSeconds = 0.03;
  uint64_t inputBytes = 0, allBytes = plan.workspaceBytes();
  for (const BufferSpec &buffer : plan.inputs())
    inputBytes += buffer.bytes;
  allBytes += inputBytes;
  for (const BufferSpec &buffer : plan.outputs())
    allBytes += buffer.bytes;
  uint64_t cache = std::max<uint64_t>(60 << 20, uint64_t(device.properties().l2Bytes));
  uint64_t wanted = (3 * cache + inputBytes) / std::max<uint64_t>(inputBytes, 1);
  auto available = device.freeMemory();
  if (!available)
    return available.takeError();
  uint64_t possible = uint64_t(double(*available) * 0.8) / std::max<uint64_t>(allBytes, 1);
  if (possible < 1)
    return makeError(Stage::Run,
                     fmt::format("the buffers need {} bytes; {} are free", allBytes, *available));
  uint64_t count = std::min(std::max<uint64_t>(2, std::min<uint64_t>(64, wanted)), possible);

  struct Set {
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    void *workspace = nullptr;
  };
  std::vector<Buffer> buffers;
  std::vector<Set> sets(count);
  auto allocate = [&](uint64_t bytes) -> Expected<void *> {
    auto buffer = device.allocate(size_t(std::max<uint64_t>(bytes, 1)));
    if (!buffer)
      return buffer.takeError();
    buffers.push_back(std::move(*buffer));
    return buffers.back().data();
  };
  for (Set &set : sets) {
    for (size_t i = 0; i < plan.inputs().size(); ++i) {
      auto pointer = allocate(plan.inputs()[i].bytes);
      if (!pointer)
        return pointer.takeError();
      if (Status filled = fillRandom(buffers.back(), inputs[i]); !filled)
        return filled.takeError();
      set.inputs.push_back(*pointer);
    }
    for (const BufferSpec &output : plan.outputs()) {
      auto pointer = allocate(output.bytes);
      if (!pointer)
        return pointer.takeError();
      set.outputs.push_back(*pointer);
    }
    auto workspace = allocate(plan.workspaceBytes());
    if (!workspace)
      return workspace.takeError();
    set.workspace = *workspace;
  }

  auto launchAll = [&]() -> Status {
    for (const Set &set : sets)
      if (Status launched =
              plan.launch(stream.handle(), set.inputs.data(), set.outputs.data(), set.workspace);
          !launched)
        return launched;
    return {};
  };
  if (Status launched = launchAll(); !launched)
    return launched.takeError();
  if (Status done = stream.synchronize(); !done)
    return done.takeError();
  if (Status begun = stream.beginCapture(); !begun)
    return begun.takeError();
  Status launched = launchAll();
  auto graph = stream.endCapture();
  if (!launched)
    return launched.takeError();
  if (!graph)
    return graph.takeError();
  auto exec = graph->instantiate();
  auto start = device.createEvent(), stop = device.createEvent();
  if (!exec)
    return exec.takeError();
  if (!start || !stop)
    return (start ? stop : start).takeError();
  auto replay = [&]() -> Expected<double> {
    for (Status status : {start->record(stream.handle()), exec->launch(stream.handle()),
                          stop->record(stream.handle()), stream.synchronize()})
      if (!status)
        return status.takeError();
    auto elapsed = stop->elapsedSince(*start);
    if (!elapsed)
      return elapsed.takeError();
    return double(*elapsed) * 1e-3;
  };
  double once = 0;
  for (int warm = 0; warm < 3; ++warm) {
    auto time = replay();
    if (!time)
      return time;
    once = *time;
  }
  int repetitions = std::clamp(int(kTargetSeconds / std::max(once, 1e-6)), 5, 200);
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    auto time = replay();
    if (!time)
      return time;
    times.push_back(*time / double(count));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Expected<double> Benchmark::streamSeconds(uint64_t bytes, bool writes) {
  uint64_t vectors = std::max<uint64_t>(1, bytes / (writes ? 32 : 16));
  auto found = known.find({vectors, writes});
  if (found != known.end())
    return found->second;
  PlanSpec spec;
  spec.inputs = {{"from", vectors * 16, 16}};
  spec.outputs = {{"to", writes ? vectors * 16 : 16, 16}};
  LaunchSpec launch;
  launch.kernel = writes ? copy : read;
  launch.threads = 256;
  launch.grid[0] = writes ? (vectors + 1023) / 1024 : (vectors + 2047) / 2048;
  launch.arguments = {LaunchArgument::input(0), LaunchArgument::output(0),
                      LaunchArgument::of<unsigned long long>(vectors)};
  spec.launches = {launch};
  auto plan = Plan::create(device, std::move(spec));
  if (!plan)
    return plan.takeError();
  TensorType type;
  type.element = "f32";
  type.elementBytes = 4;
  type.shape = {int64_t(vectors * 4)};
  auto time = seconds(*plan, {type});
  if (time)
    known[{vectors, writes}] = *time;
  return time;
}

Expected<double> Benchmark::copySeconds(uint64_t bytes) { return streamSeconds(bytes, true); }
Expected<double> Benchmark::readSeconds(uint64_t bytes) { return streamSeconds(bytes, false); }

Status swage::writeRecords(const std::string &path, const std::vector<Record> &records) {
  llvm::json::Array array;
  for (const Record &record : records)
    array.push_back(llvm::json::Object{{"family", record.family},
                                       {"case", record.caseName},
                                       {"peer", "swage"},
                                       {"us", record.seconds * 1e6},
                                       {"GBs", double(record.bytes) / record.seconds / 1e9},
                                       {"share", record.share}});
  return writeFile(path, llvm::formatv("{0:2}\n", llvm::json::Value(std::move(array))).str());
}
