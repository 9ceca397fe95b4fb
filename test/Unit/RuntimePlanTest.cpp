//===- RuntimePlanTest.cpp - What a frozen plan promises ------------------===//
//
// launch makes no driver call but cuLaunchKernel and allocates nothing; whatever is wrong with a
// plan is found when it is made, whatever is wrong with a caller's pointers is named.
//
//===----------------------------------------------------------------------===//
#include "FakeCudaTest.h"
#include "HotPath.h"
#include "swage/Runtime/Plan.h"

#include <chrono>
#include <cstring>
#include <thread>

using namespace swage;
using namespace swage::cuda;
using namespace swage::test;

namespace {
/// A parameter struct as the device declares it.
struct Sizes {
  int rows;
  unsigned divider[3];
};

class PlanTest : public FakeCudaTest {
protected:
  /// x -> row -> workspace -> column -> y, with sizes by value.
  PlanSpec twoLaunches(const Device &gpu) {
    fake->parameterSizes = {8, 8, sizeof(Sizes)};
    fake->knowsParameters = true;
    PlanSpec spec;
    spec.inputs = {{"x", 1024, 16}};
    spec.outputs = {{"y", 1024, 16}};
    spec.workspaceBytes = 512;
    LaunchSpec row;
    row.kernel = kernel(gpu, "row");
    row.grid[0] = 7;
    row.threads = 256;
    row.arguments = {LaunchArgument::input(0, 64), LaunchArgument::workspace(128),
                     LaunchArgument::of(Sizes{3, {1, 2, 3}})};
    LaunchSpec column = row;
    column.kernel = kernel(gpu, "column");
    column.grid[1] = 5;
    column.dynamicSharedBytes = 100000;
    column.arguments = {LaunchArgument::workspace(0), LaunchArgument::output(0),
                        LaunchArgument::of(Sizes{4, {5, 6, 7}})};
    spec.launches = {row, column};
    return spec;
  }

  /// As twoLaunches, but row takes maps: of 4 rows of 16 bf16 at byte 64 of x, and of as much at
  /// byte 128 of the workspace, which counts as one row of 128 bytes.
  PlanSpec withTensorMaps(const Device &gpu) {
    PlanSpec spec = twoLaunches(gpu);
    fake->parameterSizes = {sizeof(TensorMap), sizeof(TensorMap), sizeof(Sizes)};
    TensorTile rows{"bf16", 2, {16, 4}, {2, 48}, {16, 2}, 32};
    TensorTile row{"i16", 2, {64, 1, 1}, {2, 7, 0}, {64, 1, 8}, 128};
    spec.launches.pop_back();
    std::vector<LaunchArgument> &arguments = spec.launches[0].arguments;
    arguments[0] = LaunchArgument::tile(std::move(arguments[0]), rows);
    arguments[1] = LaunchArgument::tile(std::move(arguments[1]), row);
    return spec;
  }

  static FakeTensorMap tensorMap(const std::string &parameter) {
    FakeTensorMap map;
    std::memcpy(&map, parameter.data(), sizeof map);
    return map;
  }

  static std::string creationError(const Device &gpu, PlanSpec spec) {
    auto plan = Plan::create(gpu, std::move(spec));
    return plan ? "created" : plan.error().message;
  }

  static uint64_t address(const std::string &parameter) {
    uint64_t value = 0;
    std::memcpy(&value, parameter.data(), sizeof value);
    return value;
  }

  alignas(256) char x[1024], y[1024], work[512];
  const void *inputs[1] = {x};
  void *outputs[1] = {y};
};
} // namespace

TEST_F(PlanTest, LaunchesWithAddressesAndValues) {
  Device gpu = device();
  auto plan = Plan::create(gpu, twoLaunches(gpu));
  ASSERT_TRUE(plan) << plan.error().str();
  auto stream = gpu.createStream();
  ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
  ASSERT_EQ(fake->launches.size(), 2u);
  const FakeLaunch &row = fake->launches[0], &column = fake->launches[1];
  EXPECT_EQ(row.kernel, "row");
  EXPECT_EQ(row.grid[0], 7u);
  EXPECT_EQ(row.block[0], 256u);
  EXPECT_EQ(row.stream, stream->handle());
  EXPECT_EQ(address(row.parameters[0]), reinterpret_cast<uint64_t>(x + 64));
  EXPECT_EQ(address(row.parameters[1]), reinterpret_cast<uint64_t>(work + 128));
  Sizes sizes;
  std::memcpy(&sizes, row.parameters[2].data(), sizeof sizes);
  EXPECT_EQ(sizes.rows, 3);
  EXPECT_EQ(column.grid[1], 5u);
  EXPECT_EQ(column.sharedBytes, 100000u);
  EXPECT_EQ(address(column.parameters[1]), reinterpret_cast<uint64_t>(y));
  std::memcpy(&sizes, column.parameters[2].data(), sizeof sizes);
  EXPECT_EQ(sizes.divider[2], 7u);
}

TEST_F(PlanTest, ClustersReachTheDriver) {
  Device gpu = device();
  PlanSpec spec = twoLaunches(gpu);
  spec.launches[0].grid[0] = 8;
  spec.launches[0].clusterSize = 4;
  auto plan = Plan::create(gpu, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  auto stream = gpu.createStream();
  ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
  ASSERT_EQ(fake->launches.size(), 2u);
  const FakeLaunch &row = fake->launches[0], &column = fake->launches[1];
  EXPECT_EQ(fake->count("cuLaunchKernelEx"), 1u);
  EXPECT_EQ(row.cluster, 4u);
  EXPECT_EQ(row.grid[0], 8u);
  EXPECT_EQ(row.block[0], 256u);
  EXPECT_EQ(row.stream, stream->handle());
  EXPECT_EQ(address(row.parameters[0]), reinterpret_cast<uint64_t>(x + 64));
  EXPECT_EQ(column.cluster, 1u);
  fake->failures["cuLaunchKernelEx"] = {701};
  Status status = plan->launch(stream->handle(), inputs, outputs, work);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "kernel @row, 8x1x1 blocks of 256 threads, clusters of 4, 0 bytes of shared memory: "
            "cuLaunchKernelEx: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): as the test asked");

  spec.launches[0].clusterSize = 3;
  EXPECT_EQ(
      creationError(gpu, spec),
      "cannot make a plan: kernel @row has clusters of 3 blocks; needed: 1 to 16, a divisor of "
      "its 8 blocks along x");
  spec.launches[0].clusterSize = 32;
  EXPECT_NE(creationError(gpu, spec).find("has clusters of 32 blocks"), std::string::npos);
  fake->ccMajor = 8;
  Device old = device();
  spec.launches[0].clusterSize = 2;
  EXPECT_EQ(creationError(old, spec), "cannot make a plan: kernel @row has clusters of 2 blocks; "
                                      "Fake GPU 0 (sm_80) has none, needed: sm_90");
}

TEST_F(PlanTest, LargeClustersAreAskedForAndMustFit) {
  Device gpu = device();
  PlanSpec spec = twoLaunches(gpu);
  spec.launches[0].grid[0] = 32;
  spec.launches[0].clusterSize = 8;
  spec.launches[0].dynamicSharedBytes = 60000;
  fake->calls.clear();
  ASSERT_TRUE(Plan::create(gpu, spec));
  EXPECT_EQ(fake->count("cuKernelSetAttribute 14=1 on 0"), 0u);
  spec.launches[0].clusterSize = 16;
  for (int repeat = 0; repeat < 2; ++repeat)
    ASSERT_TRUE(Plan::create(gpu, spec));
  EXPECT_EQ(fake->count("cuKernelSetAttribute 14=1 on 0"), 1u) << "once for each kernel and device";
  EXPECT_EQ(fake->count("cuKernelSetAttribute 8=60000 on 0"), 1u);

  fake->largestCluster = 8;
  EXPECT_EQ(creationError(gpu, spec),
            "cannot make a plan: kernel @row has clusters of 16 blocks of 256 threads and 60000 "
            "bytes of shared memory, of which Fake GPU 0 (sm_90a) holds none");
  fake->failures["cuOccupancyMaxActiveClusters"] = {1};
  EXPECT_NE(creationError(gpu, spec).find("holds none: cuOccupancyMaxActiveClusters: "
                                          "CUDA_ERROR_INVALID_VALUE (1)"),
            std::string::npos);
  spec.launches[0].clusterSize = 1;
  EXPECT_EQ(creationError(gpu, spec), "created") << "nothing is asked where there are no clusters";
}

TEST_F(PlanTest, AllButTheFirstLaunchMayOverlap) {
  Device gpu = device();
  PlanSpec spec = twoLaunches(gpu);
  LaunchSpec empty = spec.launches[0];
  empty.grid[0] = 0;
  spec.launches = {empty, spec.launches[0], spec.launches[1], spec.launches[0]};
  spec.launches[2].grid[0] = 8;
  spec.launches[2].clusterSize = 2;
  for (LaunchSpec &launch : spec.launches)
    launch.overlap = true;
  auto stream = gpu.createStream();
  auto overlaps = [&](const Device &device) {
    auto plan = Plan::create(device, spec);
    EXPECT_TRUE(plan) << plan.error().str();
    fake->launches.clear();
    EXPECT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
    std::string text;
    for (const FakeLaunch &launch : fake->launches)
      text += launch.overlap ? 'o' : '-';
    return text;
  };
  EXPECT_EQ(overlaps(gpu), "-oo") << "before the first there is what the caller did";
  EXPECT_EQ(fake->launches[1].cluster, 2u);
  EXPECT_EQ(fake->launches[1].sharedBytes, 100000u);

  // One that does not wait is in stream order, and the next may overlap it all the same.
  spec.launches[2].overlap = false;
  EXPECT_EQ(overlaps(gpu), "--o");
  spec.launches[2].overlap = true;
  fake->failures["cuLaunchKernelEx"] = {701};
  auto plan = Plan::create(gpu, spec);
  Status status = plan->launch(stream->handle(), inputs, outputs, work);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cuLaunchKernelEx"), std::string::npos);
  fake->failures.clear();

  spec.launches[2].clusterSize = 1;
  fake->ccMajor = 8;
  EXPECT_EQ(overlaps(device()), "---");
}

TEST_F(PlanTest, OldDriversThatCannotCaptureOverlapDoNotOverlap) {
  fake->version = 12020;
  Device gpu = device();
  PlanSpec spec = twoLaunches(gpu);
  spec.launches[1].overlap = true;
  auto plan = Plan::create(gpu, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  auto stream = gpu.createStream();
  ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
  EXPECT_FALSE(fake->launches[1].overlap);
}

TEST_F(PlanTest, LaunchMakesNoOtherCall) {
  Device gpu = device();
  auto plan = Plan::create(gpu, twoLaunches(gpu));
  auto stream = gpu.createStream();
  ASSERT_TRUE(plan && stream);
  fake->calls.clear();
  for (int repeat = 0; repeat < 3; ++repeat)
    ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
  EXPECT_EQ(fake->calls.size(), 6u);
  EXPECT_EQ(fake->count("cuLaunchKernel"), 6u);
}

/// As the driver's, with no recording in the way.
static Result launchNothing(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, unsigned, StreamHandle, void **, void **) {
  return kSuccess;
}

TEST_F(PlanTest, LaunchAllocatesNothingLocksNothingAndCostsLittle) {
  auto quick = std::make_shared<Driver>(*driver());
  quick->cuLaunchKernel = launchNothing;
  auto gpu = Device::open(quick, 0);
  ASSERT_TRUE(gpu);
  auto plan = Plan::create(*gpu, twoLaunches(*gpu));
  ASSERT_TRUE(plan) << plan.error().str();
  HotPathCounts before = hotPathCounts();
  const int repeats = 100000;
  auto start = threadTime();
  for (int repeat = 0; repeat < repeats; ++repeat)
    ASSERT_TRUE(plan->launch(nullptr, inputs, outputs, work));
  auto elapsed = threadTime() - start;
  EXPECT_EQ(hotPathCounts().allocations, before.allocations);
  EXPECT_EQ(hotPathCounts().locks, before.locks);
  std::printf("Plan::launch of two kernels without the driver: %.0f ns\n",
              elapsed.count() / repeats);
  // A launch of the driver takes 3 us; the bound is loose for busy and unoptimised builds.
  EXPECT_LT(elapsed.count() / repeats, 2000);
}

TEST_F(PlanTest, TensorMapsGetTheCallersAddresses) {
  Device gpu = device();
  auto plan = Plan::create(gpu, withTensorMaps(gpu));
  ASSERT_TRUE(plan) << plan.error().str();
  auto stream = gpu.createStream();
  EXPECT_EQ(fake->count("cuTensorMapEncodeTiled"), 2u);
  fake->calls.clear();
  ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
  alignas(256) static char other[1024];
  const void *otherInputs[] = {other};
  ASSERT_TRUE(plan->launch(stream->handle(), otherInputs, outputs, work));
  EXPECT_EQ(fake->calls.size(), 10u) << "two addresses within a context, and a launch";
  ASSERT_EQ(fake->launches.size(), 2u);
  FakeTensorMap rows = tensorMap(fake->launches[0].parameters[0]);
  EXPECT_EQ(rows.address, x + 64);
  EXPECT_EQ(rows.rank, 2);
  EXPECT_EQ(rows.element, kTensorMapBF16);
  EXPECT_EQ(rows.swizzle, kSwizzle32);
  EXPECT_EQ(rows.extents[0], 16u);
  EXPECT_EQ(rows.extents[1], 4u);
  EXPECT_EQ(rows.strides[0], 48u);
  EXPECT_EQ(rows.box[0], 16);
  EXPECT_EQ(rows.box[1], 2);
  FakeTensorMap row = tensorMap(fake->launches[0].parameters[1]);
  EXPECT_EQ(row.address, work + 128);
  EXPECT_EQ(row.element, kTensorMapU16) << "bits";
  EXPECT_EQ(row.swizzle, kSwizzle128);
  EXPECT_EQ(row.extents[1], 1u);
  EXPECT_EQ(row.strides[0] % 16, 0u) << "along one row there is none, but the driver looks at it";
  EXPECT_EQ(tensorMap(fake->launches[1].parameters[0]).address, other + 64);
  EXPECT_EQ(tensorMap(fake->launches[1].parameters[1]).address, work + 128);
}

TEST_F(PlanTest, AMapOfNothingKeepsItsAddress) {
  Device gpu = device();
  PlanSpec spec = withTensorMaps(gpu);
  spec.inputs[0].bytes = 0;
  LaunchArgument &empty = spec.launches[0].arguments[0];
  empty.byteOffset = 0;
  empty.tensorMap->extents[1] = 0;
  auto plan = Plan::create(gpu, spec);
  ASSERT_TRUE(plan) << plan.error().str();
  auto stream = gpu.createStream();
  const void *nowhere[] = {nullptr};
  ASSERT_TRUE(plan->launch(stream->handle(), nowhere, outputs, work));
  EXPECT_EQ(fake->count("cuTensorMapReplaceAddress"), 1u) << "of the workspace";
  FakeTensorMap map = tensorMap(fake->launches[0].parameters[0]);
  EXPECT_NE(map.address, nullptr);
  EXPECT_EQ(map.extents[0], 1u);
  EXPECT_EQ(map.extents[1], 1u);
}

/// As the driver's, with no recording in the way.
static Result replaceAddress(TensorMap *map, void *address) {
  std::memcpy(map, &address, sizeof address);
  return kSuccess;
}
static Result pushContext(ContextHandle) { return kSuccess; }
static Result popContext(ContextHandle *) { return kSuccess; }

TEST_F(PlanTest, TensorMapsAllocateAndLockNothing) {
  auto quick = std::make_shared<Driver>(*driver());
  quick->cuLaunchKernel = launchNothing;
  quick->cuTensorMapReplaceAddress = replaceAddress;
  quick->cuCtxPushCurrent_v2 = pushContext;
  quick->cuCtxPopCurrent_v2 = popContext;
  auto gpu = Device::open(quick, 0);
  ASSERT_TRUE(gpu);
  auto plan = Plan::create(*gpu, withTensorMaps(*gpu));
  ASSERT_TRUE(plan) << plan.error().str();
  HotPathCounts before = hotPathCounts();
  for (int repeat = 0; repeat < 1000; ++repeat)
    ASSERT_TRUE(plan->launch(nullptr, inputs, outputs, work));
  EXPECT_EQ(hotPathCounts().allocations, before.allocations);
  EXPECT_EQ(hotPathCounts().locks, before.locks);
}

TEST_F(PlanTest, WhatTheCopyEngineDoesNotTakeIsFoundAtCreation) {
  Device gpu = device();
  PlanSpec good = withTensorMaps(gpu);
  auto with = [&](auto change) {
    PlanSpec spec = good;
    change(spec.launches[0].arguments[0], *spec.launches[0].arguments[0].tensorMap);
    return creationError(gpu, spec);
  };
  const std::string row = "cannot make a plan: argument 0 of kernel @row is to be a map ";
  EXPECT_EQ(with([](auto &, auto &) {}), "created");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.box.pop_back(); }),
            row + "of 2 extents, 2 strides and 1 numbers of a box; needed: as many of each, 1 to 5");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.byteStrides[0] = 4; }),
            row + "of 4 bytes from one element to the next; needed: 2");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.byteStrides[1] = 40; }),
            row + "of a stride of 40 bytes in dimension 1; needed: a multiple of 16 below 2^40");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.extents[1] = (uint64_t(1) << 32) + 1; }),
            row + "of 4294967297 elements in dimension 1; the limit is 2^32");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.box[1] = 257; }),
            row + "of a box of 257 elements in dimension 1; needed: 1 to 256");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.swizzle = 16; }),
            row + "of a swizzle of 16 bytes; needed: 0, 32, 64 or 128");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.box[0] = 24; }),
            row + "of a box of 48 bytes in dimension 0; needed: a multiple of 16 up to 32");
  EXPECT_EQ(with([](auto &, auto &tile) { tile.extents[1] = 21; }),
            row + "of 992 bytes from byte 64 of input 0 'x', which has 1024 bytes");
  EXPECT_EQ(with([](auto &, auto &tile) {
              tile.extents[1] = uint64_t(1) << 32;
              tile.byteStrides[1] = (uint64_t(1) << 40) - 16;
            }),
            row + "of more than 2^64 bytes from byte 64 of input 0 'x', which has 1024 bytes");
  EXPECT_EQ(with([](auto &argument, auto &) { argument.byteOffset = 72; }),
            row + "from byte 72 of input 0 'x', whose address is only known to be divisible by 16; "
                  "needed: 16");
  EXPECT_EQ(with([](auto &argument, auto &) { argument.index = 1; }),
            "cannot make a plan: argument 0 of kernel @row is input 1; the plan has 1");
  PlanSpec unaligned = good;
  unaligned.inputs[0].alignment = 8;
  EXPECT_EQ(creationError(gpu, unaligned),
            row + "from byte 64 of input 0 'x', whose address is only known to be divisible by 8; "
                  "needed: 16");
  PlanSpec many = good;
  many.launches[0].arguments.assign(33, good.launches[0].arguments[0]);
  EXPECT_EQ(creationError(gpu, many),
            "cannot make a plan: the arguments of kernel @row have 4224 bytes; the limit is 4096");

  fake->failures["cuTensorMapEncodeTiled"] = {1};
  EXPECT_EQ(creationError(gpu, good),
            row + "of cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE (1): as the test asked");
  auto old = std::make_shared<Driver>(*driver());
  old->cuTensorMapReplaceAddress = nullptr;
  EXPECT_NE(creationError(*Device::open(old, 0), good).find("of which the driver"),
            std::string::npos);
  fake->ccMajor = 8;
  EXPECT_EQ(creationError(device(), good),
            row + "of a box at a time, which Fake GPU 0 (sm_80) does not move; needed: sm_90");
}

TEST_F(PlanTest, AnAddressThatAMapRefusesIsNamed) {
  Device gpu = device();
  auto plan = Plan::create(gpu, withTensorMaps(gpu));
  auto stream = gpu.createStream();
  fake->failures["cuTensorMapReplaceAddress"] = {1};
  Status status = plan->launch(stream->handle(), inputs, outputs, work);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().stage, Stage::Launch);
  EXPECT_EQ(status.error().message.find("kernel @row, argument 0 at 0x"), 0u)
      << status.error().message;
  EXPECT_TRUE(fake->launches.empty());
}

TEST_F(PlanTest, CapturedIntoAGraph) {
  Device gpu = device();
  auto plan = Plan::create(gpu, twoLaunches(gpu));
  auto stream = gpu.createStream();
  ASSERT_TRUE(plan && stream);
  ASSERT_TRUE(stream->beginCapture());
  auto capturing = stream->isCapturing();
  ASSERT_TRUE(capturing);
  EXPECT_TRUE(*capturing);
  ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
  auto graph = stream->endCapture();
  ASSERT_TRUE(graph);
  EXPECT_TRUE(fake->launches.empty());
  auto nodes = graph->nodeCount();
  ASSERT_TRUE(nodes);
  EXPECT_EQ(*nodes, 2u);
  auto exec = graph->instantiate();
  ASSERT_TRUE(exec);
  ASSERT_TRUE(exec->launch(stream->handle()));
  ASSERT_TRUE(exec->launch(stream->handle()));
  EXPECT_EQ(fake->launches.size(), 4u);
}

TEST_F(PlanTest, PreparingDuringCaptureIsAnError) {
  Device gpu = device();
  PlanSpec spec = twoLaunches(gpu);
  auto stream = gpu.createStream();
  ASSERT_TRUE(stream->beginCapture());
  EXPECT_NE(creationError(gpu, spec).find("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"),
            std::string::npos);
  ASSERT_TRUE(stream->endCapture());
}

TEST_F(PlanTest, EachDeviceHasItsOwnFunction) {
  fake->deviceCount = 2;
  Device first = device(0), second = device(1);
  PlanSpec spec = twoLaunches(first);
  auto a = Plan::create(first, spec), b = Plan::create(second, spec);
  ASSERT_TRUE(a && b);
  auto streamA = first.createStream(), streamB = second.createStream();
  ASSERT_TRUE(a->launch(streamA->handle(), inputs, outputs, work));
  ASSERT_TRUE(b->launch(streamB->handle(), inputs, outputs, work));
  EXPECT_EQ(fake->launches[0].device, 0);
  EXPECT_EQ(fake->launches[2].device, 1);
  EXPECT_EQ(fake->count("cuLibraryLoadData"), 2u);
}

TEST_F(PlanTest, TheNullStreamNeedsTheContext) {
  Device gpu = device();
  auto plan = Plan::create(gpu, twoLaunches(gpu));
  ASSERT_TRUE(plan);
  std::thread([&] {
    Status status = plan->launch(nullptr, inputs, outputs, work);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("Device::makeCurrent()"), std::string::npos);
    ASSERT_TRUE(gpu.makeCurrent());
    EXPECT_TRUE(plan->launch(nullptr, inputs, outputs, work));
  }).join();
}

TEST_F(PlanTest, ThreadsLaunchTogether) {
  Device gpu = device();
  auto plan = Plan::create(gpu, twoLaunches(gpu));
  auto stream = gpu.createStream();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 100; ++repeat)
        EXPECT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fake->launches.size(), 800u);
}

TEST_F(PlanTest, ALaunchErrorNamesTheKernelAndItsShape) {
  Device gpu = device();
  auto plan = Plan::create(gpu, twoLaunches(gpu));
  auto stream = gpu.createStream();
  fake->failures["cuLaunchKernel"] = {701};
  Status status = plan->launch(stream->handle(), inputs, outputs, work);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().stage, Stage::Launch);
  EXPECT_EQ(status.error().message,
            "kernel @row, 7x1x1 blocks of 256 threads, 0 bytes of shared memory: cuLaunchKernel: "
            "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): as the test asked");
  fake->failures.clear();
  EXPECT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
}

TEST_F(PlanTest, BadPointersAreNamed) {
  Device gpu = device();
  auto plan = Plan::create(gpu, twoLaunches(gpu));
  auto stream = gpu.createStream();
  fake->calls.clear();
  auto message = [&](const void *input, void *output, void *workspace) {
    const void *inputs[] = {input};
    void *outputs[] = {output};
    Status status = plan->launch(stream->handle(), inputs, outputs, workspace);
    return status ? std::string("launched") : status.error().message;
  };
  EXPECT_EQ(message(nullptr, y, work), "input 0 'x' is null; needed: 1024 bytes");
  EXPECT_EQ(message(x, y, nullptr), "workspace is null; needed: 512 bytes");
  EXPECT_NE(message(x, y + 8, work).find("output 0 'y' is at 0x"), std::string::npos);
  EXPECT_NE(message(x, y + 8, work).find("needed: an address divisible by 16"), std::string::npos);
  EXPECT_NE(message(x, y, work + 16).find("workspace is at"), std::string::npos);
  EXPECT_NE(message(x, x + 512, work).find("output 0 'y' (1024 bytes at"), std::string::npos);
  EXPECT_NE(message(x, x, work).find("overlaps input 0 'x'"), std::string::npos);
  EXPECT_NE(message(x, y, y + 256).find("workspace (512 bytes at"), std::string::npos);
  EXPECT_TRUE(fake->calls.empty());
  EXPECT_EQ(message(x, y, work), "launched");
}

TEST_F(PlanTest, AnAliasMayBeTheSamePlaceButNotShifted) {
  Device gpu = device();
  PlanSpec spec = twoLaunches(gpu);
  spec.aliases = {{0, 0}};
  auto plan = Plan::create(gpu, spec);
  auto stream = gpu.createStream();
  void *same[] = {x}, *shifted[] = {x + 16};
  EXPECT_TRUE(plan->launch(stream->handle(), inputs, same, work));
  EXPECT_FALSE(plan->launch(stream->handle(), inputs, shifted, work));
}

TEST_F(PlanTest, EmptyLaunchesAreLeftOut) {
  Device gpu = device();
  PlanSpec spec = twoLaunches(gpu);
  spec.launches[0].grid[0] = 0;
  auto plan = Plan::create(gpu, spec);
  ASSERT_TRUE(plan);
  auto stream = gpu.createStream();
  ASSERT_TRUE(plan->launch(stream->handle(), inputs, outputs, work));
  EXPECT_EQ(fake->launches.size(), 1u);
  EXPECT_EQ(plan->kernels().size(), 1u);
}

TEST_F(PlanTest, EmptyBuffersMayBeNull) {
  Device gpu = device();
  PlanSpec spec;
  spec.inputs = {{"x", 0, 16}};
  spec.outputs = {{"y", 0, 16}};
  auto plan = Plan::create(gpu, spec);
  ASSERT_TRUE(plan);
  const void *inputs[] = {nullptr};
  void *outputs[] = {nullptr};
  EXPECT_TRUE(plan->launch(nullptr, inputs, outputs));
}

TEST_F(PlanTest, MistakesInTheSpecAreFoundAtCreation) {
  Device gpu = device();
  PlanSpec good = twoLaunches(gpu);
  auto with = [&](auto change) {
    PlanSpec spec = good;
    change(spec);
    return creationError(gpu, spec);
  };
  EXPECT_EQ(with([](PlanSpec &) {}), "created");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[1].threads = 1025; }),
            "cannot make a plan: kernel @column has 1025 threads per block; Fake GPU 0 allows 1 to "
            "1024");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[1].grid[1] = 65536; }),
            "cannot make a plan: kernel @column needs 65536 blocks along y; the limit is 65535");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[1].dynamicSharedBytes = 232449; }),
            "cannot make a plan: kernel @column needs 232449 bytes of shared memory; Fake GPU 0 "
            "allows 232448");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[0].arguments[0].index = 1; }),
            "cannot make a plan: argument 0 of kernel @row is input 1; the plan has 1");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[0].arguments[0].byteOffset = 1025; }),
            "cannot make a plan: argument 0 of kernel @row starts at byte 1025 of input 0 'x', "
            "which has 1024 bytes");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[0].arguments[2] = LaunchArgument::of(1); }),
            "cannot make a plan: argument 2 of kernel @row has 4 bytes; the kernel declares 16");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[0].arguments.pop_back(); }),
            "cannot make a plan: argument 2 of kernel @row has 0 bytes; the kernel declares 16");
  EXPECT_EQ(with([](PlanSpec &s) { s.inputs[0].alignment = 24; }),
            "cannot make a plan: the alignment of input 0 'x' is 24, not a power of two");
  EXPECT_EQ(with([](PlanSpec &s) { s.launches[0].kernel = nullptr; }),
            "cannot make a plan: a launch has no kernel");
  EXPECT_EQ(with([](PlanSpec &s) {
              s.launches[0].kernel = nullptr; // nor needs one
              s.launches[0].grid[0] = 0;
            }),
            "created");
}

TEST_F(PlanTest, APlanKeepsWhatItNeedsAlive) {
  auto plan = [&] {
    Device gpu = device();
    return Plan::create(gpu, twoLaunches(gpu));
  }();
  ASSERT_TRUE(plan);
  EXPECT_EQ(fake->count("cuLibraryUnload"), 0u);
  EXPECT_EQ(fake->count("cuDevicePrimaryCtxRelease"), 0u);
}
