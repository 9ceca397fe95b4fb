//===- RuntimeGpuTest.cpp - The runtime on a real device ------------------===//
//
// What the stand-in driver cannot show: that kernels compute, that the first launch may be
// captured, and what a launch costs beside the driver's own.  Skipped, with the reason, without a
// GPU or NVRTC.
//
//===----------------------------------------------------------------------===//
#include "swage/JIT/Nvrtc.h"
#include "swage/Runtime/Plan.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace swage;
using namespace swage::cuda;

namespace {
class GpuTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto opened = Device::open();
    if (!opened)
      GTEST_SKIP() << opened.error().message;
    device = *opened;
    auto nvrtc = Nvrtc::get();
    if (!nvrtc)
      GTEST_SKIP() << nvrtc.error().message;
    auto compiled = compile("scale",
                            "extern \"C\" __global__ void scale(const float *x, float *y, float by) {\n"
                            "  extern __shared__ float row[];\n"
                            "  row[threadIdx.x] = x[threadIdx.x];\n"
                            "  y[threadIdx.x] = row[threadIdx.x] * by;\n"
                            "}\n");
    ASSERT_TRUE(compiled) << compiled.error().str();
    binary = *compiled;
  }

  /// One kernel, for the device.
  Expected<KernelBinary> compile(const std::string &entry, const std::string &source) const {
    auto nvrtc = Nvrtc::get();
    if (!nvrtc)
      return nvrtc.takeError();
    CompileRequest request;
    request.name = entry + ".cu";
    request.entry = entry;
    request.arch = device->properties().arch;
    request.source = source;
    return (*nvrtc)->compile(request);
  }

  Plan plan(unsigned dynamicSharedBytes = 65536) {
    auto kernel = Kernel::load(device->sharedDriver(), binary);
    EXPECT_TRUE(kernel) << kernel.error().str();
    PlanSpec spec;
    spec.inputs = {{"x", 1024, 16}};
    spec.outputs = {{"y", 1024, 16}};
    LaunchSpec launch;
    launch.kernel = *kernel;
    launch.threads = 256;
    launch.dynamicSharedBytes = dynamicSharedBytes;
    launch.arguments = {LaunchArgument::input(0), LaunchArgument::output(0),
                        LaunchArgument::of(3.0f)};
    spec.launches = {launch};
    auto plan = Plan::create(*device, spec);
    EXPECT_TRUE(plan) << plan.error().str();
    return *plan;
  }

  std::optional<Device> device;
  KernelBinary binary;
};
} // namespace

TEST_F(GpuTest, ComputesAlsoWhenTheFirstLaunchIsCaptured) {
  Plan scale = plan();
  auto x = device->allocate(1024), y = device->allocate(1024);
  auto stream = device->createStream();
  ASSERT_TRUE(x && y && stream);
  std::vector<float> host(256);
  for (int i = 0; i < 256; ++i)
    host[i] = float(i);
  ASSERT_TRUE(x->copyFrom(host.data(), 1024));
  ASSERT_TRUE(y->fill(0));
  const void *inputs[] = {x->data()};
  void *outputs[] = {y->data()};

  ASSERT_TRUE(stream->beginCapture());
  Status captured = scale.launch(stream->handle(), inputs, outputs);
  EXPECT_TRUE(captured) << captured.error().str();
  auto graph = stream->endCapture();
  ASSERT_TRUE(graph) << graph.error().str();
  auto exec = graph->instantiate();
  ASSERT_TRUE(exec);
  ASSERT_TRUE(exec->launch(stream->handle()));
  ASSERT_TRUE(stream->synchronize());
  std::vector<float> result(256);
  ASSERT_TRUE(y->copyTo(result.data(), 1024));
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(result[i], 3.0f * i);
}

TEST_F(GpuTest, AThreadWithoutAContextMayLaunchOnAStream) {
  Plan scale = plan();
  auto x = device->allocate(1024), y = device->allocate(1024);
  auto stream = device->createStream();
  const void *inputs[] = {x->data()};
  void *outputs[] = {y->data()};
  std::thread([&] {
    Status launched = scale.launch(stream->handle(), inputs, outputs);
    EXPECT_TRUE(launched) << launched.error().str();
    ASSERT_TRUE(device->makeCurrent());
    EXPECT_TRUE(scale.launch(nullptr, inputs, outputs));
  }).join();
  EXPECT_TRUE(device->synchronize());
}

TEST_F(GpuTest, ClustersAreLaunched) {
  if (device->properties().ccMajor < 9)
    GTEST_SKIP() << "needs sm_90";
  auto compiled = compile("cluster",
                          "extern \"C\" __global__ void cluster(unsigned *out) {\n"
                          "  unsigned rank, size;\n"
                          "  asm(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(rank));\n"
                          "  asm(\"mov.u32 %0, %%cluster_nctarank;\" : \"=r\"(size));\n"
                          "  if (threadIdx.x == 0)\n"
                          "    out[blockIdx.x] = size * 100 + rank;\n"
                          "}\n");
  ASSERT_TRUE(compiled) << compiled.error().str();
  auto kernel = Kernel::load(device->sharedDriver(), *compiled);
  ASSERT_TRUE(kernel) << kernel.error().str();
  for (unsigned size : {1u, 2u, 4u, 8u, 16u}) {
    PlanSpec spec;
    spec.outputs = {{"out", 64, 4}};
    LaunchSpec launch;
    launch.kernel = *kernel;
    launch.grid[0] = 16;
    launch.threads = 64;
    launch.clusterSize = size;
    launch.dynamicSharedBytes = 100000;
    launch.arguments = {LaunchArgument::output(0)};
    spec.launches = {launch};
    auto plan = Plan::create(*device, spec);
    ASSERT_TRUE(plan) << plan.error().str();
    auto out = device->allocate(64);
    auto stream = device->createStream();
    void *outputs[] = {out->data()};
    Status launched = plan->launch(stream->handle(), nullptr, outputs);
    ASSERT_TRUE(launched) << launched.error().str();
    ASSERT_TRUE(stream->synchronize());
    unsigned values[16];
    ASSERT_TRUE(out->copyTo(values, 64));
    for (unsigned i = 0; i < 16; ++i)
      EXPECT_EQ(values[i], size * 100 + i % size);
  }
}

// A chain of kernels that add one to every element, each reading what other blocks wrote, back and
// forth between two buffers: an access too early, of what is still to be written or still to be
// read, leaves a number too small or too large.
TEST_F(GpuTest, OverlappingLaunchesSeeWhatThoseBeforeWrote) {
  if (device->properties().ccMajor < 9)
    GTEST_SKIP() << "needs sm_90";
  auto compiled = compile("step",
                          "extern \"C\" __global__ void step(const unsigned *in, unsigned *out) {\n"
                          "  asm volatile(\"griddepcontrol.wait;\" : : : \"memory\");\n"
                          "  asm volatile(\"griddepcontrol.launch_dependents;\" : : : \"memory\");\n"
                          "  unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
                          "  out[i] = in[(i * 7919 + 12345) % (gridDim.x * 256)] + 1;\n"
                          "}\n");
  ASSERT_TRUE(compiled) << compiled.error().str();
  auto kernel = Kernel::load(device->sharedDriver(), *compiled);
  ASSERT_TRUE(kernel) << kernel.error().str();
  constexpr unsigned kSteps = 33;
  for (unsigned blocks : {8u, 1024u, 16384u}) {
    const uint64_t bytes = uint64_t(blocks) * 1024;
    PlanSpec spec;
    spec.inputs = {{"x", bytes, 16}};
    spec.outputs = {{"y", bytes, 16}};
    spec.workspaceBytes = 2 * bytes;
    for (unsigned i = 0; i < kSteps; ++i) {
      LaunchSpec launch;
      launch.kernel = *kernel;
      launch.grid[0] = blocks;
      launch.threads = 256;
      launch.overlap = true;
      launch.arguments = {
          i == 0 ? LaunchArgument::input(0) : LaunchArgument::workspace((i - 1) % 2 * bytes),
          i + 1 == kSteps ? LaunchArgument::output(0) : LaunchArgument::workspace(i % 2 * bytes)};
      spec.launches.push_back(launch);
    }
    auto plan = Plan::create(*device, spec);
    ASSERT_TRUE(plan) << plan.error().str();
    auto x = device->allocate(bytes), y = device->allocate(bytes),
         work = device->allocate(2 * bytes);
    auto stream = device->createStream();
    ASSERT_TRUE(x && y && work && stream);
    const void *inputs[] = {x->data()};
    void *outputs[] = {y->data()};
    ASSERT_TRUE(stream->beginCapture());
    ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work->data()));
    auto graph = stream->endCapture();
    ASSERT_TRUE(graph) << graph.error().str();
    auto exec = graph->instantiate();
    ASSERT_TRUE(exec) << exec.error().str();
    std::vector<unsigned> values(blocks * 256);
    // Other numbers each time, so that what a run before left behind is wrong too.
    for (unsigned run = 0; run < 12; ++run) {
      std::fill(values.begin(), values.end(), 1000 * run);
      ASSERT_TRUE(x->copyFrom(values.data(), bytes));
      ASSERT_TRUE(device->makeCurrent());
      Status launched = run % 3 == 0 ? exec->launch(stream->handle())
                        : run % 3 == 1
                            ? plan->launch(stream->handle(), inputs, outputs, work->data())
                            : plan->launch(nullptr, inputs, outputs, work->data());
      ASSERT_TRUE(launched) << launched.error().str();
      ASSERT_TRUE(device->synchronize());
      ASSERT_TRUE(y->copyTo(values.data(), bytes));
      for (unsigned value : values)
        ASSERT_EQ(value, 1000 * run + kSteps) << blocks << " blocks, run " << run;
    }
  }
}

TEST_F(GpuTest, ArgumentsAreCheckedAgainstTheKernel) {
  auto kernel = Kernel::load(device->sharedDriver(), binary);
  ASSERT_TRUE(kernel);
  if (device->driver().version() < 12040)
    GTEST_SKIP() << "needs a driver for CUDA 12.4";
  auto third = (*kernel)->parameterBytes(*device, 2),
       fourth = (*kernel)->parameterBytes(*device, 3);
  ASSERT_TRUE(third && fourth) << (third ? fourth : third).error().str();
  EXPECT_EQ(*third, 4u);
  EXPECT_EQ(*fourth, 0u);
  PlanSpec spec;
  spec.inputs = {{"x", 1024, 16}};
  LaunchSpec launch;
  launch.kernel = *kernel;
  launch.arguments = {LaunchArgument::input(0), LaunchArgument::input(0), LaunchArgument::of(3.0)};
  spec.launches = {launch};
  auto plan = Plan::create(*device, spec);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "cannot make a plan: argument 2 of kernel @scale has 8 bytes; the kernel declares 4");
}

/// Copies a box of 16 x 16 floats.
static const char kTakeBox[] = R"(
struct alignas(64) TensorMap { char bytes[128]; };
extern "C" __global__ void take(const __grid_constant__ TensorMap map, float *y) {
  __shared__ alignas(128) float box[256];
  __shared__ alignas(8) unsigned long long arrived;
  const unsigned to = __cvta_generic_to_shared(box), bar = __cvta_generic_to_shared(&arrived);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;\n"
                 "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%1], [%2, {0, 0}], [%0];" ::"r"(bar), "r"(to), "l"(&map) : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra again; }" ::"r"(bar) : "memory");
  y[threadIdx.x] = box[threadIdx.x];
}
)";

TEST_F(GpuTest, TensorMapsLeadToTheCallersMemory) {
  if (device->properties().ccMajor < 9)
    GTEST_SKIP() << device->properties().name << " has no tensor maps";
  auto compiled = compile("take", kTakeBox);
  ASSERT_TRUE(compiled) << compiled.error().str();
  auto kernel = Kernel::load(device->sharedDriver(), *compiled);
  ASSERT_TRUE(kernel) << kernel.error().str();
  auto x = device->allocate(4096), other = device->allocate(4096), y = device->allocate(1024);
  auto stream = device->createStream();
  std::vector<float> values(1024);
  for (int i = 0; i < 1024; ++i)
    values[size_t(i)] = float(i);
  ASSERT_TRUE(x->copyFrom(values.data(), 4096));
  for (float &value : values)
    value = -value;
  ASSERT_TRUE(other->copyFrom(values.data(), 4096));
  // 20 floats a row; every row the same; one row, along which there is no stride; nothing.
  const std::pair<unsigned, unsigned> tiles[] = {{12, 80}, {16, 0}, {1, 7}, {0, 80}};
  for (auto [rows, stride] : tiles) {
    PlanSpec spec;
    spec.inputs = {{"x", rows == 0 ? 0u : 4096u, 16}};
    spec.outputs = {{"y", 1024, 4}};
    LaunchSpec launch;
    launch.kernel = *kernel;
    launch.threads = 256;
    TensorTile tile{"f32", 4, {12, rows}, {4, stride}, {16, 16}, 0};
    launch.arguments = {LaunchArgument::tile(LaunchArgument::input(0, rows ? 128 : 0), tile),
                        LaunchArgument::output(0)};
    spec.launches = {launch};
    auto plan = Plan::create(*device, spec);
    ASSERT_TRUE(plan) << plan.error().str();
    if (rows == 0)
      continue; // a kernel would not look
    for (const Buffer *from : {&*x, &*other}) {
      const void *inputs[] = {from->data()};
      void *outputs[] = {y->data()};
      Status launched = plan->launch(stream->handle(), inputs, outputs);
      ASSERT_TRUE(launched) << launched.error().str();
      ASSERT_TRUE(stream->synchronize());
      float box[256];
      ASSERT_TRUE(y->copyTo(box, 1024));
      float sign = from == &*x ? 1 : -1;
      for (unsigned i = 0; i < 256; ++i) {
        unsigned row = i / 16, column = i % 16;
        bool isInside = row < rows && column < 12;
        ASSERT_EQ(box[i], isInside ? sign * float(32 + row * stride / 4 + column) : 0.0f)
            << i << " of " << rows << " rows";
      }
    }
  }
}

TEST_F(GpuTest, AnotherArchitectureIsNamed) {
  auto nvrtc = Nvrtc::get();
  CompileRequest request;
  request.name = "empty.cu";
  request.entry = "empty";
  request.arch = device->properties().ccMajor == 8 ? "sm_90a" : "sm_80";
  request.source = "extern \"C\" __global__ void empty() {}\n";
  auto other = (*nvrtc)->compile(request);
  ASSERT_TRUE(other);
  auto kernel = Kernel::load(device->sharedDriver(), *other);
  std::string message;
  if (kernel) {
    auto function = (*kernel)->prepare(*device, 0);
    ASSERT_FALSE(function);
    message = function.error().message;
  } else {
    message = kernel.error().message;
  }
  EXPECT_NE(message.find(request.arch), std::string::npos) << message;
  EXPECT_NE(message.find("CUDA_ERROR_NO_BINARY_FOR_GPU"), std::string::npos) << message;
}

TEST_F(GpuTest, ALaunchCostsWhatTheDriverCosts) {
  Plan scale = plan(1024);
  auto x = device->allocate(1024), y = device->allocate(1024);
  auto stream = device->createStream();
  const void *inputs[] = {x->data()};
  void *outputs[] = {y->data()};
  auto kernel = Kernel::load(device->sharedDriver(), binary);
  auto function = (*kernel)->prepare(*device, 1024);
  ASSERT_TRUE(function);
  ASSERT_TRUE(device->makeCurrent());

  DevicePointer xAddress = x->handle(), yAddress = y->handle();
  float by = 3;
  void *parameters[] = {&xAddress, &yAddress, &by};
  auto nanoseconds = [&](auto launch) {
    double best = 1e9;
    for (int round = 0; round < 20; ++round) {
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < 500; ++i)
        launch();
      std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
      best = std::min(best, elapsed.count() / 500);
      EXPECT_TRUE(device->synchronize());
    }
    return best;
  };
  double raw = nanoseconds([&] {
    device->driver().cuLaunchKernel(*function, 1, 1, 1, 256, 1, 1, 1024, stream->handle(),
                                    parameters, nullptr);
  });
  double ours = nanoseconds([&] { EXPECT_TRUE(scale.launch(stream->handle(), inputs, outputs)); });
  std::printf("cuLaunchKernel %.0f ns, Plan::launch %.0f ns\n", raw, ours);
  EXPECT_LT(ours, raw + 500);
}

TEST_F(GpuTest, PropertiesMatchThePreset) {
  auto preset = DeviceProperties::forArch(device->properties().arch);
  if (!preset || preset->name != device->properties().name)
    GTEST_SKIP() << device->properties().name << " is no preset";
  const DeviceProperties &real = device->properties();
  EXPECT_EQ(preset->smCount, real.smCount);
  EXPECT_EQ(preset->maxThreadsPerSm, real.maxThreadsPerSm);
  EXPECT_EQ(preset->maxBlocksPerSm, real.maxBlocksPerSm);
  EXPECT_EQ(preset->sharedBytesPerSm, real.sharedBytesPerSm);
  EXPECT_EQ(preset->sharedBytesPerBlockOptIn, real.sharedBytesPerBlockOptIn);
  EXPECT_EQ(preset->l2Bytes, real.l2Bytes);
  std::printf("%s: %lld bytes, %.0f GB/s by clock and bus\n", real.name.c_str(),
              static_cast<long long>(real.memoryBytes), real.memoryBandwidth / 1e9);
}
