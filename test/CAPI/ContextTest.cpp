//===- ContextTest.cpp - Errors, contexts and devices of the C API --------===//

#include "CApiTest.h"

#include <cstring>

//===----------------------------------------------------------------------===//
// Version, errors, elements
//===----------------------------------------------------------------------===//

extern "C" size_t swageHeaderInC(void);

TEST(CApi, HeaderInC) {
  EXPECT_EQ(swageHeaderInC(), sizeof(SwageContextOptions) + sizeof(SwagePlanOptions) + 4);
}

TEST(CApi, Version) { EXPECT_EQ(text(swageGetVersion()), SWAGE_VERSION); }

TEST(CApi, ErrorHasItsParts) {
  SwageProgram program;
  SwageParseOptions options = {};
  options.size = sizeof options;
  options.filename = swageStringRef("bad.mlir");
  SwageError error = swageProgramParse(swageProcessContext(), swageStringRef("func.func @main("),
                                       &options, &program);
  ASSERT_TRUE(swageIsError(error));
  EXPECT_EQ(program.ptr, nullptr);
  EXPECT_EQ(swageErrorGetStage(error), SwageStageParse);
  EXPECT_NE(text(swageErrorGetMessage(error)).find("bad.mlir:1:"), std::string::npos);
  EXPECT_EQ(text(swageErrorGetText(error)).find("parse error: "), 0u);
  EXPECT_EQ(text(swageErrorGetLog(error)), "");
  EXPECT_EQ(text(swageErrorGetSourcePath(error)), "");
  EXPECT_EQ(text(swageErrorGetReproduce(error)), "");
  swageErrorDestroy(error);
}

TEST(CApi, NoErrorHasEmptyParts) {
  EXPECT_EQ(swageErrorGetStage({}), SwageStageInput);
  for (auto get : {swageErrorGetMessage, swageErrorGetLog, swageErrorGetSourcePath,
                   swageErrorGetReproduce, swageErrorGetText})
    EXPECT_EQ(text(get({})), "");
  swageErrorDestroy({});
}

TEST(CApi, Elements) {
  EXPECT_EQ(text(swageElementGetName(SwageElementBF16)), "bf16");
  EXPECT_EQ(swageElementGetBytes(SwageElementBF16), 2u);
  EXPECT_EQ(text(swageElementGetName(SwageElementF8E4M3FN)), "f8E4M3FN");
  EXPECT_EQ(swageElementGetBytes(SwageElementF8E5M2), 1u);
  EXPECT_EQ(swageElementGetBytes(SwageElementI1), 1u);
  EXPECT_EQ(swageElementGetBytes(SwageElementF64), 8u);
  for (int unknown : {10, 255}) {
    EXPECT_EQ(swageElementGetBytes(SwageElementType(unknown)), 0u);
    EXPECT_EQ(text(swageElementGetName(SwageElementType(unknown))), "");
  }
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static SwageError create(const SwageContextOptions &options) {
  SwageContext context;
  SwageError error = swageContextCreate(&options, &context);
  EXPECT_EQ(context.ptr == nullptr, swageIsError(error));
  swageContextDestroy(context);
  return error;
}

static SwageError createWith(std::vector<const char *> settings) {
  settings.push_back(nullptr);
  SwageContextOptions options = {};
  options.size = sizeof options;
  options.settings = settings.data();
  return create(options);
}

TEST(CApiContext, Settings) {
  EXPECT_TRUE(ok(createWith({})));
  EXPECT_TRUE(ok(createWith({"SWAGE_CACHE=off", "SWAGE_CACHE_LIMIT=1G"})));
  EXPECT_TRUE(refused(createWith({"SWAGE_CACHE"}), "needed: NAME=value"));
  EXPECT_TRUE(refused(createWith({"SWAGE_CAHCE=off"}), "did you mean SWAGE_CACHE?"));
  EXPECT_TRUE(refused(createWith({"SWAGE_CACHE=maybe"}), "expected read-write|"));
  EXPECT_TRUE(refused(createWith({"HOME=/tmp"}), "unknown environment variable HOME"));
  EXPECT_TRUE(refused(createWith({"SWAGE_NVRTC=/tmp"}), "the whole process shares"));
}

TEST(CApiContext, SettingsComeBeforeTheEnvironment) {
  TemporaryDirectory directory;
  std::string setting = "SWAGE_CACHE_DIR=" + directory.path;
  const char *settings[] = {setting.c_str(), nullptr};
  SwageContextOptions options = {};
  options.size = sizeof options;
  options.settings = settings;
  SwageContext context;
  ASSERT_TRUE(ok(swageContextCreate(&options, &context)));
  EXPECT_EQ(text(swageContextGetCacheDirectory(context)), directory.path);
  swageContextDestroy(context);

  options.settings = nullptr;
  options.ignoreEnvironment = true;
  ASSERT_TRUE(ok(swageContextCreate(&options, &context)));
  EXPECT_EQ(text(swageContextGetCacheDirectory(context)), "");
  EXPECT_EQ(text(swageContextGetWarnings(context)), "");
  swageContextDestroy(context);
}

TEST(CApiContext, WarningsOfTheEnvironment) {
  // By CMakeLists.txt: SWAGE_CACHE_LIMIT=much.
  EXPECT_NE(text(swageContextGetWarnings(swageProcessContext())).find("SWAGE_CACHE_LIMIT='much'"),
            std::string::npos);
}

TEST(CApiContext, OptionsOfOtherVersions) {
  struct Newer {
    SwageContextOptions options;
    uint64_t more;
  } newer = {};
  newer.options.size = sizeof newer;
  EXPECT_TRUE(ok(create(newer.options)));
  newer.more = 1;
  EXPECT_TRUE(refused(create(newer.options), "this version (" SWAGE_VERSION ") does not have"));
  for (size_t size : {size_t(0), sizeof(SwageContextOptions) - 1, size_t(5000), ~size_t(0)}) {
    SwageContextOptions options = {};
    options.size = size;
    EXPECT_TRUE(
        refused(create(options), "'size' of SwageContextOptions is " + std::to_string(size)));
  }
}

TEST(CApiContext, ProcessContextIsNotDestroyed) {
  SwageContext context = swageProcessContext();
  swageContextDestroy(context);
  EXPECT_EQ(swageProcessContext().ptr, context.ptr);
  SwageContextStats stats = {};
  stats.size = sizeof stats;
  EXPECT_TRUE(ok(swageContextGetStats(context, &stats)));
}

TEST(CApiContext, StatsOfOtherVersions) {
  struct Newer {
    SwageContextStats stats;
    uint64_t more;
  } newer;
  std::memset(&newer, 0xff, sizeof newer);
  newer.stats.size = sizeof newer;
  ASSERT_TRUE(ok(swageContextGetStats(swageProcessContext(), &newer.stats)));
  EXPECT_EQ(newer.stats.size, sizeof newer);
  EXPECT_EQ(newer.more, 0u);
  EXPECT_EQ(newer.stats.launches, 0u);
  newer.stats.size = 8;
  EXPECT_TRUE(refused(swageContextGetStats(swageProcessContext(), &newer.stats),
                      "'size' of SwageContextStats is 8"));
}

TEST(CApiContext, WrongSimulatorOptions) {
  SwageContextOptions options = {};
  options.size = sizeof options;
  options.simulator = true;
  options.simulatorOptions = swageStringRef("chekc");
  EXPECT_TRUE(refused(create(options), "chekc"));
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

class CApiDevice : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(ok(swageDeviceOpenSimulator(swageStringRef("check"), swageStringRef(""), &device)));
  }
  void TearDown() override { swageDeviceDestroy(device); }
  SwageDevice device = {};
};

TEST_F(CApiDevice, Properties) {
  SwageDeviceProperties properties = {};
  properties.size = sizeof properties;
  ASSERT_TRUE(ok(swageDeviceGetProperties(device, &properties)));
  EXPECT_EQ(text(properties.arch), "sim:sm_90a");
  EXPECT_NE(text(properties.name), "");
  EXPECT_TRUE(properties.isSimulator);
  EXPECT_GT(properties.multiprocessors, 0);
  EXPECT_GT(properties.memoryBytes, 0u);
  properties.size = 1;
  EXPECT_TRUE(refused(swageDeviceGetProperties(device, &properties), "'size'"));
}

TEST_F(CApiDevice, OpeningWhatIsNotThere) {
  SwageDevice none = device;
  EXPECT_TRUE(
      refused(swageDeviceOpenSimulator(swageStringRef("order=sideways"), {}, &none), "sideways"));
  EXPECT_EQ(none.ptr, nullptr);
  none = device;
  SwageError error = swageDeviceOpenSimulator({}, swageStringRef("sm_1"), &none);
  EXPECT_NE(text(swageErrorGetMessage(error)).find("sm_1"), std::string::npos);
  EXPECT_EQ(none.ptr, nullptr);
  swageErrorDestroy(error);
}

// By CMakeLists.txt, the driver is the one of the tests.
TEST_F(CApiDevice, Gpu) {
  int count = 0;
  ASSERT_TRUE(ok(swageDeviceGetCount(&count)));
  ASSERT_GT(count, 0);
  SwageDevice gpu;
  ASSERT_TRUE(ok(swageDeviceOpen(0, &gpu)));
  SwageDeviceProperties properties = {};
  properties.size = sizeof properties;
  ASSERT_TRUE(ok(swageDeviceGetProperties(gpu, &properties)));
  EXPECT_FALSE(properties.isSimulator);
  EXPECT_EQ(text(properties.arch).find("sm_"), 0u);
  EXPECT_TRUE(ok(swageDeviceMakeCurrent(gpu)));
  EXPECT_TRUE(ok(swageDeviceSynchronize(gpu)));
  swageDeviceDestroy(gpu);
  for (int ordinal : {count, -1}) {
    SwageError error = swageDeviceOpen(ordinal, &gpu);
    EXPECT_TRUE(swageIsError(error)) << ordinal;
    EXPECT_EQ(gpu.ptr, nullptr);
    swageErrorDestroy(error);
  }
}

TEST_F(CApiDevice, Memory) {
  const std::vector<int> from = {1, 2, 3, 4};
  std::vector<int> to(4);
  void *memory = nullptr;
  ASSERT_TRUE(ok(swageDeviceAllocate(device, 16, &memory)));
  EXPECT_TRUE(ok(swageDeviceCopyToDevice(device, memory, from.data(), 16)));
  EXPECT_TRUE(ok(swageDeviceCopyToHost(device, to.data(), static_cast<int *>(memory) + 1, 12)));
  EXPECT_EQ(to, (std::vector<int>{2, 3, 4, 0}));
  EXPECT_TRUE(
      fails(swageDeviceCopyToDevice(device, memory, from.data(), 17), SwageStageRun, "17 bytes"));
  EXPECT_TRUE(refused(swageDeviceCopyToDevice(device, nullptr, from.data(), 4), "'to' is null"));
  EXPECT_TRUE(refused(swageDeviceCopyToHost(device, to.data(), nullptr, 4), "'from' is null"));
  EXPECT_TRUE(ok(swageDeviceCopyToHost(device, nullptr, nullptr, 0)));
  EXPECT_TRUE(ok(swageDeviceFree(device, memory)));
  EXPECT_TRUE(fails(swageDeviceFree(device, memory), SwageStageRun, "cuMemFree"));
  EXPECT_TRUE(ok(swageDeviceFree(device, nullptr)));
  EXPECT_TRUE(ok(swageDeviceAllocate(device, 0, &memory)));
  EXPECT_EQ(memory, nullptr);
  EXPECT_TRUE(fails(swageDeviceAllocate(device, size_t(1) << 60, &memory), SwageStageRun,
                    "bytes asked for"));
  EXPECT_EQ(memory, nullptr);
}

TEST_F(CApiDevice, Streams) {
  SwageStream stream = nullptr;
  ASSERT_TRUE(ok(swageDeviceCreateStream(device, &stream)));
  EXPECT_NE(stream, nullptr);
  EXPECT_TRUE(ok(swageDeviceSynchronizeStream(device, stream)));
  bool isCapturing = true;
  EXPECT_TRUE(ok(swageDeviceIsCapturing(device, stream, &isCapturing)));
  EXPECT_FALSE(isCapturing);
  EXPECT_TRUE(ok(swageDeviceDestroyStream(device, stream)));
  EXPECT_TRUE(ok(swageDeviceDestroyStream(device, nullptr)));
  EXPECT_TRUE(ok(swageDeviceSynchronizeStream(device, nullptr)));
}
