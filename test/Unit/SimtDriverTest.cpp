//===- SimtDriverTest.cpp - The simulator as a device ---------------------===//
//
// The runtime's own classes on simulated devices: what a program that has been written for a GPU
// meets.
//
//===----------------------------------------------------------------------===//
#include "HostCompiler.h"
#include "SimtTestSupport.h"
#include "swage/Runtime/Plan.h"
#include "swage/Simt/Simulator.h"

#include <cstring>
#include <thread>

using namespace swage;
using namespace swage::simt;

namespace {
class SimtDriverTest : public ::testing::Test {
protected:
  void SetUp() override {
    if (auto found = HostCompiler::get(false); !found)
      GTEST_SKIP() << found.error().message;
  }

  static Device open(const std::string &text = "", const std::string &arch = "sm_90a") {
    auto device = openSimulator(*SimulatorOptions::parse(text), arch);
    EXPECT_TRUE(device) << device.error().str();
    return *device;
  }
  static KernelBinary compile(const std::string &entry, const std::string &source,
                              bool checked = false) {
    auto binary = (*HostCompiler::get(checked))->compile(kernelRequest(entry, source));
    EXPECT_TRUE(binary) << binary.error().str();
    return binary ? *binary : KernelBinary();
  }
  static std::shared_ptr<Kernel> load(const Device &device, const KernelBinary &binary) {
    auto kernel = Kernel::load(device.sharedDriver(), binary);
    EXPECT_TRUE(kernel) << kernel.error().str();
    return *kernel;
  }
  /// 100 elements of kTwice.
  static PlanSpec twiceSpec(std::shared_ptr<Kernel> kernel, uint64_t blocks = 2) {
    PlanSpec spec;
    spec.inputs = {{"x", 400, 16}};
    spec.outputs = {{"y", 400, 16}};
    LaunchSpec launch;
    launch.kernel = std::move(kernel);
    launch.grid[0] = blocks;
    launch.threads = 64;
    launch.arguments = {LaunchArgument::input(0), LaunchArgument::output(0),
                        LaunchArgument::of(100), LaunchArgument::of(0.5f)};
    spec.launches = {launch};
    return spec;
  }
};

/// x counts up from 0.
struct TwiceBuffers {
  explicit TwiceBuffers(const Device &device) : x(*device.allocate(400)), y(*device.allocate(400)) {
    for (int i = 0; i < 100; ++i)
      values[i] = float(i);
    EXPECT_TRUE(x.copyFrom(values, 400));
    inputs[0] = x.data();
    outputs[0] = y.data();
  }
  bool isTwice() {
    EXPECT_TRUE(y.copyTo(values, 400));
    for (int i = 0; i < 100; ++i)
      if (values[i] != 2 * float(i) + 0.5f)
        return false;
    return true;
  }
  Buffer x, y;
  float values[100];
  const void *inputs[1];
  void *outputs[1];
};
} // namespace

TEST(Simulator, HasThePropertiesOfItsArchitecture) {
  auto hopper = openSimulator({}, "sm_90a"), ampere = openSimulator({}, "sm_80");
  ASSERT_TRUE(hopper && ampere);
  auto expected = DeviceProperties::forArch("sm_90a");
  const DeviceProperties &properties = hopper->properties();
  EXPECT_EQ(properties.name, "simulator of NVIDIA H200");
  EXPECT_EQ(properties.arch, "sm_90a");
  EXPECT_EQ(properties.smCount, expected->smCount);
  EXPECT_EQ(properties.sharedBytesPerBlockOptIn, expected->sharedBytesPerBlockOptIn);
  EXPECT_EQ(properties.l2Bytes, expected->l2Bytes);
  EXPECT_EQ(properties.memoryBytes, expected->memoryBytes);
  EXPECT_NEAR(properties.memoryBandwidth, expected->memoryBandwidth, 1e6);
  EXPECT_EQ(ampere->properties().arch, "sm_80");
  EXPECT_TRUE(hopper->driver().isSimulator());
  auto unknown = openSimulator({}, "sm_42");
  ASSERT_FALSE(unknown);
  EXPECT_CONTAINS(unknown.error().message, "sm_42");
}

TEST(Simulator, IsOneDeviceForEachConfiguration) {
  SimulatorOptions checked;
  checked.check = true;
  auto a = openSimulator({}), b = openSimulator({}), c = openSimulator(checked);
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->ordinal(), b->ordinal());
  EXPECT_NE(a->ordinal(), c->ordinal());
  EXPECT_NE(a->context(), c->context());
}

TEST(Simulator, MemoryIsExact) {
  auto device = openSimulator({});
  ASSERT_TRUE(device);
  auto buffer = device->allocate(1000);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->handle() % 256, 0u);
  char bytes[1001] = {1, 2, 3};
  EXPECT_TRUE(buffer->copyFrom(bytes, 1000));
  char back[3] = {};
  EXPECT_TRUE(buffer->copyTo(back, 3));
  EXPECT_EQ(back[2], 3);
  EXPECT_TRUE(buffer->fill(7));
  EXPECT_TRUE(buffer->copyTo(back, 1, 999));
  EXPECT_EQ(back[0], 7);
  const cuda::Driver &driver = device->driver();
  ScopedContext scope(*device);
  auto result = driver.cuMemcpyHtoD_v2(buffer->handle(), bytes, 1001);
  EXPECT_EQ(result, cuda::kInvalidValue);
  EXPECT_CONTAINS(driver.failure(Stage::Run, "cuMemcpyHtoD", result).message, "1001 bytes at 0x");
  EXPECT_NE(driver.cuMemFree_v2(buffer->handle() + 16), cuda::kSuccess);
  auto huge = device->allocate(size_t(1) << 60);
  ASSERT_FALSE(huge);
  EXPECT_CONTAINS(huge.error().message, "out of memory");
  auto free = device->freeMemory();
  ASSERT_TRUE(free);
  EXPECT_GT(*free, 0u);
}

TEST_F(SimtDriverTest, RunsAPlan) {
  Device device = open();
  auto plan = Plan::create(device, twiceSpec(load(device, compile("twice", kTwice))));
  ASSERT_TRUE(plan) << plan.error().str();
  TwiceBuffers buffers(device);
  auto stream = device.createStream();
  ASSERT_TRUE(stream);
  Status launched = plan->launch(stream->handle(), buffers.inputs, buffers.outputs);
  ASSERT_TRUE(launched) << launched.error().str();
  EXPECT_TRUE(stream->synchronize());
  EXPECT_TRUE(buffers.isTwice());
  EXPECT_TRUE(device.synchronize());
}

/// Doubles a tensor, a box at a time; y lies in the same allocation as x.
static const char kDoubleBoxes[] =
    "#include \"swage/device/bulk.cuh\"\n"
    "#include \"swage/device/mbarrier.cuh\"\n"
    "#include \"swage/device/shared.cuh\"\n"
    "using namespace swage;\n"
    "extern \"C\" __global__ void k(const __grid_constant__ TensorMap x, const float *factor,\n"
    "                             const __grid_constant__ TensorMap y) {\n"
    "  auto *box = reinterpret_cast<float *>(arena<1024 + 8>());\n"
    "  const SharedAddress arrived = sharedAddress(box + 256);\n"
    "  if (threadIndex() == 0) {\n"
    "    mbarrierInit(arrived, 1);\n"
    "    mbarrierFenceInit();\n"
    "    mbarrierArriveExpect(arrived, 1024);\n"
    "    tensorLoad(sharedAddress(box), x, arrived, 0, 8 * blockIndex());\n"
    "  }\n"
    "  barrier();\n"
    "  mbarrierWait(arrived, 0);\n"
    "  for (int i = threadIndex(); i < 256; i += 32)\n"
    "    box[i] *= *factor;\n"
    "  fenceProxyAsync();\n"
    "  barrier();\n"
    "  if (threadIndex() == 0) {\n"
    "    tensorStore(y, sharedAddress(box), 0, 8 * blockIndex());\n"
    "    bulkCommit();\n"
    "    bulkWait<0>();\n"
    "  }\n"
    "}\n";

TEST_F(SimtDriverTest, TensorMapsLeadToTheCallersMemory) {
  for (bool checked : {false, true}) {
    if (auto found = HostCompiler::get(checked); !found)
      continue;
    Device device = open(checked ? "check" : "");
    // 20 rows of 20 floats, 24 apart, behind a row of factors.
    PlanSpec spec;
    spec.inputs = {{"x", 21 * 96, 16}};
    spec.outputs = {{"y", 20 * 80, 16}};
    LaunchSpec launch;
    launch.kernel = load(device, compile("k", kDoubleBoxes, checked));
    launch.grid[0] = 3;
    launch.threads = 32;
    TensorTile x{"f32", 4, {20, 20}, {4, 96}, {32, 8}, 0}, y = x;
    y.byteStrides[1] = 80;
    launch.arguments = {LaunchArgument::tile(LaunchArgument::input(0, 96), x),
                        LaunchArgument::input(0),
                        LaunchArgument::tile(LaunchArgument::output(0), y)};
    spec.launches = {launch};
    auto plan = Plan::create(device, spec);
    ASSERT_TRUE(plan) << plan.error().str();
    auto stream = device.createStream();
    // Twice, with other addresses; the second time both lie in one allocation.
    for (bool together : {false, true}) {
      auto from = device.allocate(21 * 96 + 20 * 80), to = device.allocate(20 * 80);
      std::vector<float> values(21 * 24, 2.0f);
      for (size_t i = 24; i < values.size(); ++i)
        values[i] = float(i);
      ASSERT_TRUE(from->copyFrom(values.data(), 21 * 96));
      const void *inputs[] = {from->data()};
      void *outputs[] = {together ? static_cast<char *>(from->data()) + 21 * 96 : to->data()};
      Status launched = plan->launch(stream->handle(), inputs, outputs);
      ASSERT_TRUE(launched) << launched.error().str();
      std::vector<float> results(400);
      ASSERT_TRUE(together ? from->copyTo(results.data(), 1600, 21 * 96)
                           : to->copyTo(results.data(), 1600));
      for (int i = 0; i < 400; ++i)
        ASSERT_EQ(results[size_t(i)], 2 * float(24 + i / 20 * 24 + i % 20)) << i;
    }
  }
}

TEST_F(SimtDriverTest, WhatIsNoTensorMapIsRefused) {
  Device device = open();
  const cuda::Driver &driver = device.driver();
  cuda::TensorMap map = {};
  auto result = driver.cuTensorMapReplaceAddress(&map, nullptr);
  EXPECT_EQ(result, cuda::kInvalidValue);
  EXPECT_CONTAINS(driver.failure(Stage::Run, "call", result).message, "nothing was encoded there");
  TensorTile tile{"f32", 4, {20, 20}, {4, 96}, {32, 8}, 0};
  ASSERT_TRUE(tile.encode(device, map));
  result = driver.cuTensorMapReplaceAddress(&map, reinterpret_cast<void *>(0x1008));
  EXPECT_CONTAINS(driver.failure(Stage::Run, "call", result).message, "needed: a multiple of 16");
  tile.box = {256, 256};
  Status large = tile.encode(device, map);
  ASSERT_FALSE(large);
  EXPECT_CONTAINS(large.error().message, "a box of 262144 bytes; allowed: 233472");
}

TEST_F(SimtDriverTest, ParametersAreChecked) {
  Device device = open();
  PlanSpec spec = twiceSpec(load(device, compile("twice", kTwice)));
  spec.launches[0].arguments[2] = LaunchArgument::of(100.0);
  auto plan = Plan::create(device, spec);
  ASSERT_FALSE(plan);
  EXPECT_CONTAINS(plan.error().message,
                  "argument 2 of kernel @twice has 8 bytes; the kernel declares 4");
  spec.launches[0].arguments.pop_back();
  EXPECT_FALSE(Plan::create(device, spec));
}

TEST_F(SimtDriverTest, ReplaysACapturedGraph) {
  Device device = open();
  auto plan = Plan::create(device, twiceSpec(load(device, compile("twice", kTwice))));
  ASSERT_TRUE(plan);
  TwiceBuffers buffers(device);
  auto stream = device.createStream();
  auto start = device.createEvent(), stop = device.createEvent();
  ASSERT_TRUE(buffers.y.fill(0));
  ASSERT_TRUE(stream->beginCapture());
  EXPECT_TRUE(*stream->isCapturing());
  ASSERT_TRUE(buffers.y.fill(1, stream->handle()));
  ASSERT_TRUE(plan->launch(stream->handle(), buffers.inputs, buffers.outputs));
  auto graph = stream->endCapture();
  ASSERT_TRUE(graph);
  EXPECT_EQ(*graph->nodeCount(), 2u);
  EXPECT_FALSE(buffers.isTwice()) << "capturing runs nothing";
  auto exec = graph->instantiate();
  ASSERT_TRUE(exec);
  ASSERT_TRUE(start->record(stream->handle()));
  ASSERT_TRUE(exec->launch(stream->handle()));
  ASSERT_TRUE(stop->record(stream->handle()));
  EXPECT_TRUE(buffers.isTwice());
  EXPECT_GT(*stop->elapsedSince(*start), 0);
}

TEST_F(SimtDriverTest, ClustersAndDynamicSharedMemory) {
  const char source[] =
      "extern \"C\" __global__ void k(unsigned *out) {\n"
      "  const auto *view = swage::simt::abi->current();\n"
      "  if (swage::threadIndex() == 0)\n"
      "    out[swage::blockIndex()] = view->clusterSize * 1000000 + view->clusterRank * 100000 +\n"
      "                               view->dynamicSharedBytes / 100;\n"
      "}\n";
  Device device = open();
  PlanSpec spec;
  spec.outputs = {{"out", 16, 4}};
  LaunchSpec launch;
  launch.kernel = load(device, compile("k", source));
  launch.grid[0] = 4;
  launch.threads = 32;
  launch.clusterSize = 2;
  launch.dynamicSharedBytes = 100000;
  launch.arguments = {LaunchArgument::output(0)};
  spec.launches = {launch};
  auto plan = Plan::create(device, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  auto out = device.allocate(16);
  auto stream = device.createStream();
  void *outputs[] = {out->data()};
  Status launched = plan->launch(stream->handle(), nullptr, outputs);
  ASSERT_TRUE(launched) << launched.error().str();
  unsigned values[4];
  ASSERT_TRUE(out->copyTo(values, 16));
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(values[i], 2001000 + i % 2 * 100000);
}

TEST_F(SimtDriverTest, ClustersOfSixteenShareTheirMemory) {
  const char source[] =
      "#include \"swage/device/cluster.cuh\"\n"
      "#include \"swage/device/shared.cuh\"\n"
      "extern \"C\" __global__ void k(unsigned *out) {\n"
      "  auto *own = reinterpret_cast<unsigned *>(swage::arena<60000>());\n"
      "  const unsigned rank = swage::clusterRank();\n"
      "  if (swage::threadIndex() == 0)\n"
      "    own[14999] = swage::blockIndex() * 3;\n"
      "  swage::clusterBarrier();\n"
      "  const auto next = swage::mapShared(swage::sharedAddress(own + 14999), (rank + 1) % 16);\n"
      "  if (swage::threadIndex() == 0)\n"
      "    out[swage::blockIndex()] = swage::loadCluster<unsigned>(next);\n"
      "  swage::clusterBarrier();\n"
      "}\n";
  Device device = open();
  PlanSpec spec;
  spec.outputs = {{"out", 128, 4}};
  LaunchSpec launch;
  launch.kernel = load(device, compile("k", source));
  launch.grid[0] = 32;
  launch.threads = 32;
  launch.clusterSize = 16;
  launch.dynamicSharedBytes = 60000;
  launch.arguments = {LaunchArgument::output(0)};
  spec.launches = {launch};
  auto out = device.allocate(128);
  auto stream = device.createStream();
  void *outputs[] = {out->data()};
  auto plan = Plan::create(device, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  Status launched = plan->launch(stream->handle(), nullptr, outputs);
  ASSERT_TRUE(launched) << launched.error().str();
  unsigned values[32];
  ASSERT_TRUE(out->copyTo(values, 128));
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], 3 * (i / 16 * 16 + (i + 1) % 16));

  spec.launches[0].dynamicSharedBytes = 59999;
  plan = Plan::create(device, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  launched = plan->launch(stream->handle(), nullptr, outputs);
  ASSERT_FALSE(launched);
  EXPECT_NE(launched.error().message.find("arena<60000> in a launch that asks for 59999 bytes"),
            std::string::npos)
      << launched.error().message;
}

// x is doubled into the workspace, and that into out.
TEST_F(SimtDriverTest, OverlappingLaunchesMustWait) {
  auto run = [&](const char *options, const char *before, const char *after) {
    std::string source = "#include \"swage/device/launch_control.cuh\"\n"
                         "extern \"C\" __global__ void k(const int *x, int *out) {\n  ";
    source += before;
    source += "\n  out[swage::threadIndex()] = 2 * x[swage::threadIndex()];\n  ";
    source += after;
    source += "\n}\n";
    Device device = open(options);
    auto kernel = load(device, compile("k", source, *options != 0));
    PlanSpec spec;
    spec.inputs = {{"x", 128, 4}};
    spec.outputs = {{"out", 128, 4}};
    spec.workspaceBytes = 128;
    LaunchSpec first;
    first.kernel = kernel;
    first.threads = 32;
    first.overlap = true;
    LaunchSpec second = first;
    first.arguments = {LaunchArgument::input(0), LaunchArgument::workspace(0)};
    second.arguments = {LaunchArgument::workspace(0), LaunchArgument::output(0)};
    spec.launches = {first, second};
    auto plan = Plan::create(device, spec);
    EXPECT_TRUE(plan) << plan.error().str();
    int values[32];
    for (int i = 0; i < 32; ++i)
      values[i] = i;
    auto stream = device.createStream();
    auto x = device.allocate(128), work = device.allocate(256), out = device.allocate(128);
    EXPECT_TRUE(x->copyFrom(values, 128));
    const void *inputs[] = {x->data()};
    void *outputs[] = {out->data()};
    Status launched = plan->launch(stream->handle(), inputs, outputs, work->data());
    if (!launched)
      return launched.error().message;
    EXPECT_TRUE(out->copyTo(values, 128));
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(values[i], 4 * i);
    return std::string();
  };
  EXPECT_EQ(run("check", "swage::waitForPriorGrids(); swage::allowDependentGrids();", ""), "");
  EXPECT_NE(run("check", "", "swage::waitForPriorGrids();")
                .find("a read of global memory that grids before this one may still use"),
            std::string::npos);
  EXPECT_NE(run("check", "if (swage::threadIndex() < 16) swage::waitForPriorGrids();", "")
                .find("grids before this one may still use"),
            std::string::npos);
  EXPECT_NE(run("", "", "").find("no thread waits for them"), std::string::npos);
}

TEST_F(SimtDriverTest, AFindingIsTheErrorOfTheLaunch) {
  const char source[] = "extern \"C\" __global__ void k(int *p) {\n"
                        "  if (swage::threadIndex() < 32)\n"
                        "    swage::barrier(); // model.mlir:5\n"
                        "  else\n"
                        "    swage::barrier();\n"
                        "  if (swage::threadIndex() == 0)\n"
                        "    p[1 << 28] = 1;\n"
                        "}\n";
  Device device = open();
  PlanSpec spec;
  spec.outputs = {{"p", 4, 4}};
  LaunchSpec launch;
  launch.kernel = load(device, compile("k", source));
  launch.threads = 64;
  launch.arguments = {LaunchArgument::output(0)};
  spec.launches = {launch};
  auto plan = Plan::create(device, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  auto out = device.allocate(4);
  auto stream = device.createStream();
  void *outputs[] = {out->data()};
  for (int i = 0; i < 2; ++i) {
    Status launched = plan->launch(stream->handle(), nullptr, outputs);
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().stage, Stage::Launch);
    EXPECT_CONTAINS(launched.error().message,
                    "kernel @k, 1x1x1 blocks of 64 threads, 0 bytes of shared memory: ");
    EXPECT_EQ(launched.error().message.find('\n'), std::string::npos);
    EXPECT_CONTAINS(launched.error().log, "k.cu:");
  }
  // It is not sticky.
  auto good = Plan::create(device, twiceSpec(load(device, compile("twice", kTwice))));
  TwiceBuffers buffers(device);
  EXPECT_TRUE(good->launch(stream->handle(), buffers.inputs, buffers.outputs));
  EXPECT_TRUE(buffers.isTwice());
}

TEST_F(SimtDriverTest, AnAccessBeyondAnAllocationIsACrashAtLeast) {
  const char source[] = "extern \"C\" __global__ void k(int *p) { p[64] = 1; }\n";
  Device device = open();
  PlanSpec spec;
  spec.outputs = {{"p", 256, 4}};
  LaunchSpec launch;
  launch.kernel = load(device, compile("k", source));
  launch.threads = 1;
  launch.arguments = {LaunchArgument::output(0)};
  spec.launches = {launch};
  auto plan = Plan::create(device, spec);
  ASSERT_TRUE(plan);
  auto out = device.allocate(256), neighbour = device.allocate(256);
  auto stream = device.createStream();
  void *outputs[] = {out->data()};
  Status launched = plan->launch(stream->handle(), nullptr, outputs);
  ASSERT_FALSE(launched);
  EXPECT_CONTAINS(launched.error().message, "crash: ");
}

TEST_F(SimtDriverTest, KernelsOfAGpuAreRefused) {
  Device device = open();
  KernelBinary binary;
  binary.name = "row";
  binary.arch = "sm_90a";
  binary.image = "\177ELF";
  auto kernel = Kernel::load(device.sharedDriver(), binary);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, "cannot load kernel @row: it was compiled for a GPU (sm_90a) "
                                    "and the device is a simulator");
  binary.arch = "sim:sm_90a";
  binary.image = std::string("kernels: row") + std::string(100, '\0');
  kernel = Kernel::load(device.sharedDriver(), binary);
  ASSERT_FALSE(kernel);
  EXPECT_CONTAINS(kernel.error().message, "not a module for the simulator");
}

TEST_F(SimtDriverTest, ADamagedModuleIsAnError) {
  Device device = open();
  KernelBinary good = compile("twice", kTwice);
  KernelBinary other = good;
  other.name = "thrice";
  auto kernel = Kernel::load(device.sharedDriver(), other);
  ASSERT_FALSE(kernel);
  EXPECT_CONTAINS(kernel.error().message, "cannot load kernel @thrice (sim:sm_90a");
  EXPECT_CONTAINS(kernel.error().message, "there is no kernel of this name");
}

TEST_F(SimtDriverTest, ChecksNeedTheirOwnModules) {
  Device device = open("check"), unchecked = open();
  PlanSpec spec = twiceSpec(load(device, compile("twice", kTwice)));
  auto plan = Plan::create(device, spec);
  ASSERT_FALSE(plan);
  EXPECT_CONTAINS(plan.error().message,
                  "it was compiled without checks and the simulator runs with checks");
  spec = twiceSpec(load(device, compile("twice", kTwice, true)));
  EXPECT_FALSE(Plan::create(unchecked, spec));
  plan = Plan::create(device, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  TwiceBuffers buffers(device);
  auto stream = device.createStream();
  Status launched = plan->launch(stream->handle(), buffers.inputs, buffers.outputs);
  EXPECT_TRUE(launched) << launched.error().str();
  EXPECT_TRUE(buffers.isTwice());
}

TEST_F(SimtDriverTest, OnlyOneDimensionIsSimulated) {
  Device device = open();
  PlanSpec spec = twiceSpec(load(device, compile("twice", kTwice)));
  spec.launches[0].grid[1] = 2;
  auto plan = Plan::create(device, spec);
  ASSERT_TRUE(plan);
  TwiceBuffers buffers(device);
  Status launched = plan->launch(nullptr, buffers.inputs, buffers.outputs);
  ASSERT_FALSE(launched);
  EXPECT_CONTAINS(launched.error().message, "grids and blocks of one dimension only");
}

TEST_F(SimtDriverTest, ThreadsLaunchTogether) {
  Device device = open("workers=1");
  auto kernel = load(device, compile("twice", kTwice));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto plan = Plan::create(device, twiceSpec(kernel));
      ASSERT_TRUE(plan);
      TwiceBuffers buffers(device);
      auto stream = device.createStream();
      for (int j = 0; j < 20; ++j)
        EXPECT_TRUE(plan->launch(stream->handle(), buffers.inputs, buffers.outputs));
      EXPECT_TRUE(buffers.isTwice());
    });
  for (std::thread &thread : threads)
    thread.join();
}
