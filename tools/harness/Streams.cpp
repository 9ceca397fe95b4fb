//===- Streams.cpp - The fastest way to move so many bytes ----------------===//

#include "Streams.h"

#include "swage/JIT/Nvrtc.h"

#include <cmath>
#include <fmt/format.h>

using namespace swage;

static constexpr unsigned kThreads = 256;
static constexpr uint64_t kVectorBytes = 16;

/// A block reads THREADS * READS neighbouring vectors and writes THREADS * WRITES.  What is written
/// depends on what is read, and what is only read on nothing that the compiler knows.
static const char *const kStream = R"(
struct alignas(16) Vector { unsigned x, y, z, w; };

extern "C" __global__ void __launch_bounds__(THREADS)
swage_stream(const Vector *from, Vector *to, unsigned long long reads, unsigned long long writes) {
  unsigned long long source = blockIdx.x * (unsigned long long)(THREADS * READS) + threadIdx.x;
  unsigned long long target = blockIdx.x * (unsigned long long)(THREADS * WRITES) + threadIdx.x;
  constexpr int kValues = READS > WRITES ? READS : WRITES;
  Vector values[kValues] = {};
#pragma unroll
  for (int i = 0; i < READS; ++i)
    if (source + i * THREADS < reads)
      values[i] = from[source + i * THREADS];
#pragma unroll
  for (int i = READS; i < WRITES; ++i)
    values[i] = values[READS == 0 ? i : i % (READS ? READS : 1)];
#pragma unroll
  for (int i = 0; i < WRITES; ++i) {
#pragma unroll
    for (int j = i + WRITES; j < READS; j += WRITES)
      values[i].x ^= values[j].x, values[i].y ^= values[j].y, values[i].z ^= values[j].z, values[i].w ^= values[j].w;
    if (target + i * THREADS < writes)
      to[target + i * THREADS] = values[i];
  }
  if (WRITES == 0) {
    unsigned mixed = 0;
#pragma unroll
    for (int i = 0; i < READS; ++i)
      mixed ^= values[i].x + values[i].y * 3 + values[i].z * 5 + values[i].w * 7;
    if (mixed == 0x9e3779b9u)
      to[0].x = mixed;
  }
}
)";

/// The proportion in numbers up to 4; all or nothing where one side is less than a sixteenth.
static StreamShape proportionOf(const Traffic &traffic) {
  if (traffic.written * 16 < traffic.read)
    return {1, 0};
  if (traffic.read * 16 < traffic.written)
    return {0, 1};
  StreamShape best;
  double nearest = HUGE_VAL;
  for (unsigned sum = 2; sum <= 8; ++sum)
    for (unsigned reads = 1; reads < sum; ++reads) {
      unsigned writes = sum - reads;
      if (reads > 4 || writes > 4)
        continue;
      double distance = std::fabs(std::log(double(traffic.read) * writes) -
                                  std::log(double(traffic.written) * reads));
      // Of equal proportions the one in lowest terms comes first.
      if (distance < nearest - 1e-3) {
        nearest = distance;
        best = {reads, writes};
      }
    }
  return best;
}

std::vector<StreamShape> Streams::shapesFor(const Traffic &traffic) {
  StreamShape proportion = proportionOf(traffic);
  std::vector<StreamShape> shapes;
  for (unsigned times = 1; times * std::max(proportion.reads, proportion.writes) <= 8; times *= 2)
    shapes.push_back({proportion.reads * times, proportion.writes * times});
  return shapes;
}

Expected<Plan> Streams::plan(StreamShape shape, uint64_t bytes) {
  std::shared_ptr<Kernel> &kernel = kernels[shape];
  if (!kernel) {
    auto nvrtc = Nvrtc::get();
    if (!nvrtc)
      return nvrtc.takeError();
    CompileRequest request;
    request.source = fmt::format("#define THREADS {}\n#define READS {}\n#define WRITES {}\n{}",
                                 kThreads, shape.reads, shape.writes, kStream);
    request.name = "stream.cu";
    request.entry = "swage_stream";
    request.arch = device.properties().arch;
    auto binary = (*nvrtc)->compile(request);
    if (!binary)
      return binary.takeError();
    auto loaded = Kernel::load(device.sharedDriver(), *binary);
    if (!loaded)
      return loaded.takeError();
    kernel = *loaded;
  }
  uint64_t vectors = shape.reads + shape.writes;
  uint64_t threads = std::max<uint64_t>(1, bytes / (kVectorBytes * vectors));
  unsigned long long reads = threads * shape.reads, writes = threads * shape.writes;
  PlanSpec spec;
  spec.inputs = {{"from", std::max<uint64_t>(reads, 1) * kVectorBytes, kVectorBytes}};
  spec.outputs = {{"to", std::max<uint64_t>(writes, 1) * kVectorBytes, kVectorBytes}};
  LaunchSpec launch;
  launch.kernel = kernel;
  launch.threads = kThreads;
  launch.grid[0] = (threads + kThreads - 1) / kThreads;
  launch.arguments = {LaunchArgument::input(0), LaunchArgument::output(0),
                      LaunchArgument::of(reads), LaunchArgument::of(writes)};
  spec.launches = {launch};
  return Plan::create(device, std::move(spec));
}
